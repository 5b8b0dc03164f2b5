/* SPDX-License-Identifier: MIT */
/* connection.c - libcurl, set up for one target. */
#include "connection.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#include <takt/version.h>

#include "base/descriptor.h"

enum {
    MOST_BYTES = 1048576, /* of an answer, before we hang up */
    HEADER_BYTES = 65536  /* of all its headers */
};

/* ---- what libcurl calls -------------------------------------------------- */

static size_t take_body(char *at, size_t one, size_t size, void *self)
{
    struct takt_otel_connection *link = self;
    const size_t room = sizeof link->kept - link->size;
    const size_t taken = size < room ? size : room;

    (void)one;
    memcpy(link->kept + link->size, at, taken);
    link->size += taken;
    link->seen += size;
    link->is_endless = link->seen > MOST_BYTES;
    return link->is_endless ? 0 : size;
}

static void forget_headers(struct takt_otel_connection *link)
{
    link->grpc = TAKT_OTEL_GRPC_SILENT;
    link->type[0] = '\0';
}

/* A line, with its end: a header or a trailer. */
static size_t take_header(char *line, size_t one, size_t size, void *self)
{
    static const char type[] = "content-type";
    struct takt_otel_connection *link = self;
    size_t end = size;

    (void)one;
    link->header_size += size;
    link->is_endless = link->header_size > HEADER_BYTES;
    if (link->is_endless)
        return 0;
    if (size >= 5 && strncasecmp(line, "HTTP/", 5) == 0)
        forget_headers(link); /* those were of an interim answer */
    const char *colon = memchr(line, ':', size);
    if (colon == NULL || colon == line)
        return size;
    const size_t name_size = (size_t)(colon - line);
    size_t begin = name_size + 1;
    while (begin < end && (line[begin] == ' ' || line[begin] == '\t'))
        begin++;
    while (end > begin && strchr(" \t\r\n", line[end - 1]) != NULL)
        end--;
    if (name_size == sizeof type - 1 && strncasecmp(line, type, name_size) == 0)
        snprintf(link->type, sizeof link->type, "%.*s", (int)(end - begin),
                 line + begin);
    takt__otel_grpc_header(&link->grpc, line, name_size, line + begin,
                           end - begin);
    return size;
}

static curl_socket_t open_socket(void *self, curlsocktype purpose,
                                 struct curl_sockaddr *address)
{
    struct takt_otel_connection *link = self;
    const int opened = takt__descriptor_move_up(socket(
        address->family, address->socktype | SOCK_CLOEXEC, address->protocol));

    (void)purpose;
    for (int i = 0; i < TAKT_OTEL_SOCKETS && opened >= 0; i++)
        if (link->socket[i] < 0) {
            link->socket[i] = opened;
            break;
        }
    return opened < 0 ? CURL_SOCKET_BAD : opened;
}

static int close_socket(void *self, curl_socket_t closed)
{
    struct takt_otel_connection *link = self;

    for (int i = 0; i < TAKT_OTEL_SOCKETS; i++)
        if (link->socket[i] == closed)
            link->socket[i] = -1;
    return close(closed);
}

/* ---- starting and stopping ----------------------------------------------- */

/* libcurl before 8 fails every second request on a plaintext HTTP/2 connection
 * that is used again (curl#10634). */
static bool may_reuse(const struct takt_otel_target *target)
{
    return !target->is_grpc || target->is_tls ||
           curl_version_info(CURLVERSION_NOW)->version_num >= 0x080000;
}

static long http_version(const struct takt_otel_target *target)
{
    if (!target->is_grpc)
        return CURL_HTTP_VERSION_1_1;
    return target->is_tls ? CURL_HTTP_VERSION_2TLS
                          : CURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE;
}

static void set_protocols(CURL *easy)
{
#if LIBCURL_VERSION_NUM >= 0x075500
    curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
#else
    curl_easy_setopt(easy, CURLOPT_PROTOCOLS,
                     (long)(CURLPROTO_HTTP | CURLPROTO_HTTPS));
#endif
#if LIBCURL_VERSION_NUM >= 0x075700
    curl_easy_setopt(easy, CURLOPT_QUICK_EXIT, 1L); /* no wait for names */
#endif
}

static void set_callbacks(struct takt_otel_connection *link)
{
    CURL *easy = link->easy;

    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, take_body);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, link);
    curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, take_header);
    curl_easy_setopt(easy, CURLOPT_HEADERDATA, link);
    curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, open_socket);
    curl_easy_setopt(easy, CURLOPT_OPENSOCKETDATA, link);
    curl_easy_setopt(easy, CURLOPT_CLOSESOCKETFUNCTION, close_socket);
    curl_easy_setopt(easy, CURLOPT_CLOSESOCKETDATA, link);
    curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, link->curl_problem);
}

static bool configure(struct takt_otel_connection *link)
{
    const struct takt_otel_target *target = link->target;
    CURL *easy = link->easy;
    char agent[64];

    snprintf(agent, sizeof agent, "OTel-OTLP-Exporter-takt/%s", takt_version());
    set_protocols(easy);
    set_callbacks(link);
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, http_version(target));
    curl_easy_setopt(easy, CURLOPT_FORBID_REUSE, (long)!may_reuse(target));
    curl_easy_setopt(easy, CURLOPT_NOPROXY,
                     target->no_proxy != NULL ? target->no_proxy : "");
    if (target->is_grpc && target->proxy != NULL)
        curl_easy_setopt(easy, CURLOPT_HTTPPROXYTUNNEL, 1L);
    if (target->certificate != NULL)
        curl_easy_setopt(easy, CURLOPT_CAINFO, target->certificate);
    if (target->client_certificate != NULL)
        curl_easy_setopt(easy, CURLOPT_SSLCERT, target->client_certificate);
    if (target->client_key != NULL)
        curl_easy_setopt(easy, CURLOPT_SSLKEY, target->client_key);
    return curl_easy_setopt(easy, CURLOPT_USERAGENT, agent) == CURLE_OK &&
           curl_easy_setopt(easy, CURLOPT_PROXY,
                            target->proxy != NULL ? target->proxy : "") ==
               CURLE_OK &&
           curl_easy_setopt(easy, CURLOPT_URL, target->url) == CURLE_OK;
}

void takt__otel_connection_stop(void *self)
{
    struct takt_otel_connection *link = self;

    curl_easy_cleanup(link->easy);
    curl_multi_cleanup(link->multi);
    link->easy = NULL;
    link->multi = NULL;
}

bool takt__otel_connection_start(void *self)
{
    struct takt_otel_connection *link = self;

    link->multi = curl_multi_init();
    link->easy = curl_easy_init();
    if (link->multi != NULL && link->easy != NULL && configure(link))
        return true;
    takt__otel_connection_stop(link);
    return false;
}

/* What a parent has is kept where leak checkers see it. */
static struct parents_handles {
    CURLM *multi;
    CURL *easy;
    struct parents_handles *next;
} * inherited;

void takt__otel_connection_forget(void *self)
{
    struct takt_otel_connection *link = self;
    struct parents_handles *kept = malloc(sizeof *kept);

    if (kept != NULL) {
        *kept = (struct parents_handles){link->multi, link->easy, inherited};
        inherited = kept;
    }
    link->multi = NULL;
    link->easy = NULL;
    for (int i = 0; i < TAKT_OTEL_SOCKETS; i++) {
        if (link->socket[i] >= 0)
            close(link->socket[i]);
        link->socket[i] = -1;
    }
}

void takt__otel_connection_clear(struct takt_otel_connection *link)
{
    forget_headers(link);
    link->size = link->seen = link->header_size = 0;
    link->is_endless = false;
    link->curl_problem[0] = '\0';
}
