/* SPDX-License-Identifier: MIT */
/* transport.c - one POST at a time, which can be abandoned at any moment. */
#define _GNU_SOURCE /* asprintf(), environ */
#include "transport.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "connection.h"

enum { LONGEST_POLL_MS = 60000 };

static CURLcode global_code;

/* A privileged program must not write where its caller says: libcurl writes the
 * keys of connections to the file that a variable names, and reads that now. So
 * the environment lacks it meanwhile. The list stays, as other threads may be
 * reading it. */
static CURLcode begin_without_keys(void)
{
    static const char variable[] = "SSLKEYLOGFILE=";
    static char **list;
    char **const before = environ;
    size_t count = 0, kept = 0;

    while (before != NULL && before[count] != NULL)
        count++;
    list = malloc((count + 1) * sizeof *list);
    if (list == NULL)
        return CURLE_OUT_OF_MEMORY;
    for (size_t i = 0; i < count; i++)
        if (strncmp(before[i], variable, sizeof variable - 1) != 0)
            list[kept++] = before[i];
    list[kept] = NULL;
    environ = list;
    const CURLcode code = curl_global_init(CURL_GLOBAL_DEFAULT);
    if (environ == list)
        environ = before;
    return code;
}

/* OpenSSL's, where libcurl uses that. Its handler of atexit() frees what a
 * thread may be at that is still here, and Takt's that waits for such a thread
 * was set before it. */
extern int OPENSSL_init_crypto(uint64_t options, const void *settings)
    __attribute__((weak));

static void begin_once(void)
{
    static const uint64_t no_atexit = 0x80000;

    if (OPENSSL_init_crypto != NULL)
        (void)OPENSSL_init_crypto(no_atexit, NULL);
    global_code = getauxval(AT_SECURE) != 0
                      ? begin_without_keys()
                      : curl_global_init(CURL_GLOBAL_DEFAULT);
}

bool takt__otel_transport_begin(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, begin_once);
    return global_code == CURLE_OK;
}

/* The bytes to post: the request itself, or what gRPC or gzip make of it. */
static const struct takt_otel_bytes *pack(struct takt_otel_connection *link,
                                          const struct takt_otel_bytes *request)
{
    const struct takt_otel_target *target = link->target;
    const size_t prefix = target->is_grpc ? TAKT_OTEL_GRPC_PREFIX : 0;
    struct takt_otel_bytes *posted = &link->posted;

    if (!target->is_grpc && !target->is_gzip)
        return request;
    takt__otel_bytes_clear(posted);
    takt__otel_bytes_append(posted, "\0\0\0\0", prefix);
    if (posted->is_short)
        return NULL;
    if (!target->is_gzip)
        takt__otel_bytes_append(posted, request->at, request->size);
    else if (!takt__otel_gzip(request->at, request->size, posted))
        return NULL;
    if (posted->is_short || posted->size - prefix > UINT32_MAX)
        return NULL;
    if (target->is_grpc)
        takt__otel_grpc_prefix(posted->at, target->is_gzip,
                               (uint32_t)(posted->size - prefix));
    return posted;
}

static bool add(struct curl_slist **list, const char *line)
{
    struct curl_slist *longer = curl_slist_append(*list, line);

    if (longer != NULL)
        *list = longer;
    return longer != NULL;
}

/* libcurl takes a name with nothing after its colon for one to be left out. */
static bool add_pair(struct curl_slist **list,
                     const struct takt_otel_pair *pair)
{
    char *line;

    if (asprintf(&line, "%s%s%s", pair->key,
                 pair->value[0] != '\0' ? ": " : ";", pair->value) < 0)
        return false;
    const bool is_added = add(list, line);
    free(line);
    return is_added;
}

static struct curl_slist *make_headers(const struct takt_otel_target *target,
                                       uint64_t left_ns)
{
    struct curl_slist *list = NULL;
    char timeout[64];
    bool is_whole = add(&list, "Expect:") && add(&list, "Accept:");

    if (target->is_grpc) {
        snprintf(timeout, sizeof timeout, "grpc-timeout: %llum",
                 (unsigned long long)(left_ns / 1000000 + 1));
        is_whole = is_whole && add(&list, "Content-Type: application/grpc") &&
                   add(&list, "TE: trailers") && add(&list, timeout) &&
                   (!target->is_gzip || add(&list, "grpc-encoding: gzip"));
    } else {
        is_whole = is_whole &&
                   add(&list, "Content-Type: application/x-protobuf") &&
                   (!target->is_gzip || add(&list, "Content-Encoding: gzip"));
    }
    for (size_t i = 0; i < target->headers.count; i++)
        is_whole = is_whole && add_pair(&list, &target->headers.pair[i]);
    if (is_whole)
        return list;
    curl_slist_free_all(list);
    return NULL;
}

/* Whether the transfer is still going on. libcurl 7.88 may have read an answer
 * of HTTP/2 to its end and neither finish nor ask to be called again; nothing
 * more comes through the socket then, and curl_multi_poll() waits until the try
 * is out of time. Seen on busy machines where all of an answer came at once.
 * One more call finishes it, so calls go on until two have changed nothing. */
static bool advance(struct takt_otel_connection *link)
{
    int running = 1;

    for (int idle = 0; running && idle < 2; idle++) {
        const size_t before = link->header_size + link->seen;
        if (curl_multi_perform(link->multi, &running) != CURLM_OK)
            return false;
        if (link->header_size + link->seen != before)
            idle = -1;
    }
    return running;
}

/* Until it is done or out of time: CURLE_OPERATION_TIMEDOUT. */
static CURLcode perform(struct takt_otel_connection *link,
                        const struct takt_otel_watch *watch)
{
    CURLcode code = CURLE_OPERATION_TIMEDOUT;
    int queued;

    if (curl_multi_add_handle(link->multi, link->easy) != CURLM_OK)
        return CURLE_OUT_OF_MEMORY;
    while (advance(link)) {
        const uint64_t now_ns = takt__now_ns();
        const uint64_t until_ns = watch->until_ns(watch->self);
        if (now_ns >= until_ns)
            break;
        const uint64_t left_ms = (until_ns - now_ns) / 1000000 + 1;
        watch->release(watch->self);
        curl_multi_poll(
            link->multi, NULL, 0,
            left_ms < LONGEST_POLL_MS ? (int)left_ms : LONGEST_POLL_MS, NULL);
        watch->acquire(watch->self);
    }
    const CURLMsg *message = curl_multi_info_read(link->multi, &queued);
    if (message != NULL && message->msg == CURLMSG_DONE)
        code = message->data.result;
    curl_multi_remove_handle(link->multi, link->easy);
    return code;
}

static CURLcode post(struct takt_otel_connection *link,
                     const struct takt_otel_bytes *posted,
                     const struct takt_otel_watch *watch, long *http_status)
{
    const uint64_t now_ns = takt__now_ns();
    const uint64_t until_ns = watch->until_ns(watch->self);

    if (now_ns >= until_ns)
        return CURLE_OPERATION_TIMEDOUT;
    struct curl_slist *headers = make_headers(link->target, until_ns - now_ns);
    if (headers == NULL)
        return CURLE_OUT_OF_MEMORY;
    curl_easy_setopt(link->easy, CURLOPT_HTTPHEADER, headers);
    curl_easy_setopt(link->easy, CURLOPT_POSTFIELDSIZE_LARGE,
                     (curl_off_t)posted->size);
    curl_easy_setopt(link->easy, CURLOPT_POSTFIELDS, (const char *)posted->at);
    const CURLcode code = perform(link, watch);
    curl_easy_getinfo(link->easy, CURLINFO_RESPONSE_CODE, http_status);
    curl_easy_setopt(link->easy, CURLOPT_POSTFIELDS, NULL);
    curl_easy_setopt(link->easy, CURLOPT_HTTPHEADER, NULL);
    curl_slist_free_all(headers);
    return code;
}

/* What came back. */
static void judge_answer(struct takt_otel_connection *link, long http_status,
                         struct takt_otel_outcome *out)
{
    curl_off_t after_s = 0;
    long version = 0;
    char problem[sizeof out->problem];

    curl_easy_getinfo(link->easy, CURLINFO_RETRY_AFTER, &after_s);
    curl_easy_getinfo(link->easy, CURLINFO_HTTP_VERSION, &version);
    const double asked_s = after_s > 0 ? (double)after_s : -1;
    if (link->target->is_grpc)
        takt__otel_grpc_outcome(&link->grpc, http_status, link->kept,
                                link->size, out);
    else
        takt__otel_http_outcome(http_status, link->type, asked_s, link->kept,
                                link->size, out);
    if (out->result == TAKT_OTEL_PUT_OFF && out->asked_s < 0)
        out->asked_s = asked_s;
    if (out->result == TAKT_OTEL_REFUSED && link->target->is_grpc &&
        version != CURL_HTTP_VERSION_2)
        strcpy(out->problem, "it does not speak HTTP/2, as gRPC does");
    if (out->rejected > 0)
        snprintf(problem, sizeof problem, "%s: %llu rejected%s%.120s",
                 link->target->shown, (unsigned long long)out->rejected,
                 out->problem[0] != '\0' ? ": " : "", out->problem);
    else
        snprintf(problem, sizeof problem, "%.100s: %.150s", link->target->shown,
                 out->problem);
    if (out->problem[0] != '\0' || out->rejected > 0)
        memcpy(out->problem, problem, sizeof problem);
}

/* Whether the same request may get through another time. */
static bool may_pass(CURLcode code)
{
    switch (code) {
    case CURLE_COULDNT_RESOLVE_PROXY:
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_CONNECT:
    case CURLE_PARTIAL_FILE:
    case CURLE_OPERATION_TIMEDOUT:
    case CURLE_SSL_CONNECT_ERROR:
    case CURLE_GOT_NOTHING:
    case CURLE_SEND_ERROR:
    case CURLE_RECV_ERROR:
    case CURLE_HTTP2:
    case CURLE_HTTP2_STREAM:
        return true;
    default:
        return false;
    }
}

static const char *explain(struct takt_otel_connection *link, CURLcode code,
                           char *room, size_t size)
{
    long number = 0;

    curl_easy_getinfo(link->easy, CURLINFO_OS_ERRNO, &number);
    if (code == CURLE_OPERATION_TIMEDOUT)
        return "no answer in time";
    /* libcurl calls a header too long for it a lack of memory. */
    if (link->is_endless ||
        (code == CURLE_OUT_OF_MEMORY && link->header_size > 0))
        return "its answer has no end";
    if (code == CURLE_COULDNT_CONNECT && number != 0 &&
        strerror_r((int)number, room, size) == 0) {
        if (room[0] >= 'A' && room[0] <= 'Z')
            room[0] = (char)(room[0] - 'A' + 'a');
        return room;
    }
    return link->curl_problem[0] != '\0' ? link->curl_problem
                                         : curl_easy_strerror(code);
}

/* Ports are easily mistaken: 4317 is for one, 4318 for the other. */
static const char *guess(const struct takt_otel_connection *link, CURLcode code)
{
    if (link->target->is_grpc &&
        (code == CURLE_HTTP2 || code == CURLE_HTTP2_STREAM ||
         code == CURLE_WEIRD_SERVER_REPLY))
        return " (is it one for http/protobuf?)";
    if (!link->target->is_grpc && code == CURLE_UNSUPPORTED_PROTOCOL)
        return " (is it one for grpc?)";
    return "";
}

static void judge_failure(struct takt_otel_connection *link, CURLcode code,
                          struct takt_otel_outcome *out)
{
    char room[128];

    out->result = may_pass(code) && !link->is_endless ? TAKT_OTEL_PUT_OFF
                                                      : TAKT_OTEL_REFUSED;
    snprintf(out->problem, sizeof out->problem, "cannot reach %.80s: %.120s%s",
             link->target->shown, explain(link, code, room, sizeof room),
             guess(link, code));
}

static void send_request(void *self, const struct takt_otel_bytes *request,
                         const struct takt_otel_watch *watch,
                         struct takt_otel_outcome *out)
{
    struct takt_otel_connection *link = self;
    const struct takt_otel_bytes *posted = pack(link, request);
    long http_status = 0;

    *out = (struct takt_otel_outcome){TAKT_OTEL_REFUSED, -1, 0,
                                      "no memory to send with"};
    if (posted == NULL)
        return;
    takt__otel_connection_clear(link);
    const CURLcode code = post(link, posted, watch, &http_status);
    /* A collector that refuses may hang up before it has read all of it. */
    if (code == CURLE_OK || http_status >= 400 || link->grpc.status > 0)
        judge_answer(link, http_status, out);
    else
        judge_failure(link, code, out);
}

static void wake(void *self)
{
    curl_multi_wakeup(((struct takt_otel_connection *)self)->multi);
}

static void destroy(void *self)
{
    struct takt_otel_connection *link = self;

    takt__otel_bytes_free(&link->posted);
    free(link);
}

bool takt__otel_transport_open(const struct takt_otel_target *target,
                               struct takt_otel_transport *out)
{
    struct takt_otel_connection *link = calloc(1, sizeof *link);

    if (link == NULL)
        return false;
    link->target = target;
    for (int i = 0; i < TAKT_OTEL_SOCKETS; i++)
        link->socket[i] = -1;
    *out = (struct takt_otel_transport){
        .self = link,
        .format = TAKT_OTEL_PROTOBUF,
        .start = takt__otel_connection_start,
        .send = send_request,
        .wake = wake,
        .stop = takt__otel_connection_stop,
        .forget = takt__otel_connection_forget,
        .destroy = destroy,
    };
    return true;
}
