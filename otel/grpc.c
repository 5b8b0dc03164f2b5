/* SPDX-License-Identifier: MIT */
/* grpc.c - prefixes and statuses, as gRPC has them over HTTP/2. */
#include "grpc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "pairs.h"

enum { UNKNOWN = 2, RESOURCE_EXHAUSTED = 8, INTERNAL = 13, STATUSES = 17 };

static const struct {
    const char *name;
    bool may_pass; /* the same request may succeed later */
} statuses[STATUSES] = {
    {"ok", false},
    {"cancelled", true},
    {"unknown", false},
    {"invalid argument", false},
    {"deadline exceeded", true},
    {"not found", false},
    {"already exists", false},
    {"permission denied", false},
    {"resource exhausted", false}, /* but with a RetryInfo */
    {"failed precondition", false},
    {"aborted", true},
    {"out of range", true},
    {"unimplemented", false},
    {"internal", false},
    {"unavailable", true},
    {"data loss", true},
    {"unauthenticated", false},
};

void takt__otel_grpc_prefix(unsigned char out[TAKT_OTEL_GRPC_PREFIX],
                            bool is_compressed, uint32_t size)
{
    out[0] = is_compressed;
    for (int i = 0; i < 4; i++)
        out[1 + i] = (unsigned char)(size >> (24 - 8 * i));
}

static int base64_value(char c)
{
    static const char digits[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const char *at = c != '\0' ? strchr(digits, c) : NULL;

    return at != NULL ? (int)(at - digits) : -1;
}

/* Padded or not, as gRPC allows. Returns how many bytes it is; stops at what is
 * not base64, or when there is no room. */
static size_t decode_base64(const char *at, size_t size, unsigned char *out,
                            size_t room)
{
    uint32_t bits = 0;
    unsigned held = 0;
    size_t written = 0;

    for (size_t i = 0; i < size && written < room; i++) {
        const int value = base64_value(at[i]);
        if (value < 0)
            break;
        bits = bits << 6 | (uint32_t)value;
        held += 6;
        if (held >= 8) {
            held -= 8;
            out[written++] = (unsigned char)(bits >> held);
        }
    }
    return written;
}

static bool is_named(const char *name, size_t size, const char *wanted)
{
    return size == strlen(wanted) && strncasecmp(name, wanted, size) == 0;
}

static void take_details(struct takt_otel_grpc *grpc, const char *value,
                         size_t size)
{
    unsigned char details[2048];
    const size_t length = decode_base64(value, size, details, sizeof details);

    grpc->retry_after_s = takt__otel_retry_delay_s(details, length);
}

static int read_status(const char *value, size_t size)
{
    int status = 0;

    if (size == 0 || size > 4)
        return UNKNOWN;
    for (size_t i = 0; i < size; i++) {
        if (value[i] < '0' || value[i] > '9')
            return UNKNOWN;
        status = status * 10 + (value[i] - '0');
    }
    return status;
}

void takt__otel_grpc_header(struct takt_otel_grpc *grpc, const char *name,
                            size_t name_size, const char *value,
                            size_t value_size)
{
    if (is_named(name, name_size, "grpc-status")) {
        grpc->status = read_status(value, value_size);
    } else if (is_named(name, name_size, "grpc-message")) {
        char encoded[sizeof grpc->message];
        snprintf(encoded, sizeof encoded, "%.*s", (int)value_size, value);
        strcpy(grpc->message, encoded);
        if (!takt__otel_percent_decode(grpc->message))
            strcpy(grpc->message, encoded); /* as it came */
    } else if (is_named(name, name_size, "grpc-status-details-bin")) {
        take_details(grpc, value, value_size);
    } else if (is_named(name, name_size, "content-type")) {
        static const char type[] = "application/grpc";
        grpc->is_typed = value_size >= sizeof type - 1 &&
                         strncasecmp(value, type, sizeof type - 1) == 0;
    }
}

/* gRPC's table for answers that come from something else on the way. */
static int status_of_http(long http_status)
{
    switch (http_status) {
    case 400:
        return INTERNAL;
    case 401:
        return 16;
    case 403:
        return 7;
    case 404:
        return 12;
    case 429:
    case 502:
    case 503:
    case 504:
        return 14;
    default:
        return UNKNOWN;
    }
}

static void read_answer(const unsigned char *body, size_t size,
                        struct takt_otel_outcome *out)
{
    const size_t prefix = TAKT_OTEL_GRPC_PREFIX;
    struct takt_otel_answer answer = {0};
    uint64_t length = 0;

    for (size_t i = 1; i < prefix && size >= prefix; i++)
        length = length << 8 | body[i];
    if (size > 0 &&
        (size < prefix || body[0] != 0 || length != size - prefix ||
         !takt__otel_answer(body + prefix, size - prefix, &answer))) {
        out->fate = TAKT_OTEL_REFUSED;
        snprintf(out->problem, sizeof out->problem,
                 "the answer is not one of OTLP");
        return;
    }
    out->fate = TAKT_OTEL_DELIVERED;
    if (answer.rejected > 0)
        out->rejected = (uint64_t)answer.rejected;
    snprintf(out->problem, sizeof out->problem, "%s", answer.message);
}

/* libcurl 7.88 loses trailers when the connection is closed right behind them.
 * A message then counts as status 0: a server that fails sends no message.
 * Without one, all that is known is that the answer was cut short. */
static void judge_silence(const unsigned char *body, size_t size,
                          struct takt_otel_outcome *out)
{
    if (size > 0) {
        read_answer(body, size, out);
        return;
    }
    out->fate = TAKT_OTEL_PUT_OFF;
    snprintf(out->problem, sizeof out->problem,
             "the answer has no gRPC status");
}

void takt__otel_grpc_outcome(const struct takt_otel_grpc *grpc,
                             long http_status, const unsigned char *body,
                             size_t size, struct takt_otel_outcome *out)
{
    int status = grpc->status;

    *out = (struct takt_otel_outcome){TAKT_OTEL_REFUSED, -1, 0, ""};
    if (status == 0 && http_status == 200) {
        read_answer(body, size, out);
        return;
    }
    if (status < 0 && http_status == 200 && grpc->is_typed) {
        judge_silence(body, size, out);
        return;
    }
    if (status <= 0 && http_status != 200) {
        status = status_of_http(http_status);
        snprintf(out->problem, sizeof out->problem, "HTTP status %ld",
                 http_status);
    } else if (status < 0) {
        status = UNKNOWN;
        snprintf(out->problem, sizeof out->problem,
                 "the answer has no gRPC status");
    } else {
        snprintf(out->problem, sizeof out->problem, "%s (%d)%s%s",
                 status < STATUSES ? statuses[status].name : "unknown", status,
                 grpc->message[0] != '\0' ? ": " : "", grpc->message);
    }
    if (status >= STATUSES)
        status = UNKNOWN;
    const bool is_asked = grpc->retry_after_s >= 0;
    if (statuses[status].may_pass ||
        (status == RESOURCE_EXHAUSTED && is_asked)) {
        out->fate = TAKT_OTEL_PUT_OFF;
        out->asked_s = grpc->retry_after_s;
    }
}
