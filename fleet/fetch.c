/* SPDX-License-Identifier: MIT */
/* fetch.c - the few functions and options of libcurl that are needed. */
#include "fleet/fetch.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/library.h"
#include "base/say.h"

/* Their numbers in libcurl 7. */
enum option {
    TIMEOUT_S = 13,
    FAIL_ON_ERROR = 45,
    FOLLOW = 52,
    MOST_REDIRECTIONS = 68,
    CONNECT_TIMEOUT_S = 78,
    NO_SIGNAL = 99,
    PROTOCOLS = 181,
    PROTOCOLS_OF_REDIRECTIONS = 182,
    WRITE_DATA = 10001,
    ADDRESS = 10002,
    PROBLEM = 10010,
    WRITE_FUNCTION = 20011
};

enum { http = 1, https = 2, problem_size = 256 };

struct curl {
    void *(*init)(void);
    int (*set)(void *handle, int option, ...);
    int (*perform)(void *handle);
    void (*cleanup)(void *handle);
    const char *(*error)(int code);
};

struct body {
    unsigned char *bytes;
    size_t length, room, limit;
    bool is_too_large;
    char problem[problem_size]; /* as libcurl says it; it may say nothing */
};

bool takt__is_address(const char *text)
{
    return strncmp(text, "https://", 8) == 0 ||
           strncmp(text, "http://", 7) == 0;
}

static bool load(struct curl *out, takt_diag *diag)
{
    static const char *const files[] = {"libcurl.so.4", "libcurl-gnutls.so.4"};
    static const char *const names[] = {
        "curl_easy_init", "curl_easy_setopt", "curl_easy_perform",
        "curl_easy_cleanup", "curl_easy_strerror"};
    void *library = NULL, *found[5];

    for (size_t i = 0; library == NULL && i < 2; i++)
        library = takt__library_open(files[i]);
    for (size_t i = 0; i < 5; i++) {
        found[i] = library == NULL ? NULL : dlsym(library, names[i]);
        if (found[i] == NULL) {
            takt__say(diag, TAKT_OK, "libcurl is needed: install libcurl4 (%s)",
                      takt__library_problem());
            return false;
        }
    }
    memcpy(out, found, sizeof *out);
    return true;
}

/* Less than what came: libcurl ends the transfer. */
static size_t take(const void *bytes, size_t size, size_t count, void *self)
{
    struct body *body = self;
    const size_t more = size * count;

    body->is_too_large = more > body->limit - body->length;
    if (body->is_too_large)
        return 0;
    if (!takt__grow(&body->bytes, &body->room, body->length + more + 1, 1))
        return 0;
    memcpy(body->bytes + body->length, bytes, more);
    body->length += more;
    return more;
}

static void set_up(const struct curl *curl, void *handle, const char *address,
                   unsigned most_s, struct body *body)
{
    size_t (*const function)(const void *, size_t, size_t, void *) = take;

    curl->set(handle, ADDRESS, address);
    curl->set(handle, WRITE_FUNCTION, function);
    curl->set(handle, WRITE_DATA, body);
    curl->set(handle, PROTOCOLS, (long)(http | https));
    curl->set(handle, PROTOCOLS_OF_REDIRECTIONS, (long)(http | https));
    curl->set(handle, FOLLOW, 1L);
    curl->set(handle, MOST_REDIRECTIONS, 3L);
    curl->set(handle, FAIL_ON_ERROR, 1L);
    curl->set(handle, CONNECT_TIMEOUT_S, 3L);
    curl->set(handle, TIMEOUT_S, (long)most_s);
    curl->set(handle, PROBLEM, body->problem);
    curl->set(handle, NO_SIGNAL, 1L);
}

static const char *explain(const struct curl *curl, int code,
                           const struct body *body)
{
    return code == 0                  ? "it is empty"
           : body->is_too_large       ? "it is too large"
           : body->problem[0] != '\0' ? body->problem
                                      : curl->error(code);
}

unsigned char *takt__fetch(const char *address, size_t limit, unsigned most_s,
                           size_t *length, takt_diag *diag)
{
    struct body body = {.limit = limit};
    struct curl curl;

    if (!load(&curl, diag))
        return NULL;
    void *handle = curl.init();
    if (handle == NULL) {
        takt__say(diag, TAKT_OK, "there is not enough memory");
        return NULL;
    }
    set_up(&curl, handle, address, most_s, &body);
    const int code = curl.perform(handle);
    curl.cleanup(handle);
    *length = body.length;
    if (code == 0 && body.bytes != NULL)
        return body.bytes;
    free(body.bytes);
    takt__say(diag, TAKT_OK, "%.200s: %s", address,
              explain(&curl, code, &body));
    return NULL;
}
