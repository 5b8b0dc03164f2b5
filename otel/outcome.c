/* SPDX-License-Identifier: MIT */
/* outcome.c - answers of OTLP over gRPC and over plain HTTP. */
#include "outcome.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "pairs.h"

enum { UNKNOWN = 2, RESOURCE_EXHAUSTED = 8, STATUSES = 17 };

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
    static const struct {
        int http, grpc;
    } table[] = {{400, 13}, {401, 16}, {403, 7},  {404, 12},
                 {429, 14}, {502, 14}, {503, 14}, {504, 14}};

    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (table[i].http == http_status)
            return table[i].grpc;
    return UNKNOWN;
}

/* False: it is not an answer of OTLP. */
static bool read_answer(const unsigned char *body, size_t size,
                        struct takt_otel_outcome *out)
{
    struct takt_otel_answer answer;

    if (!takt__otel_answer(body, size, &answer)) {
        out->result = TAKT_OTEL_REFUSED;
        return false;
    }
    out->result = TAKT_OTEL_DELIVERED;
    out->rejected = (uint64_t)answer.rejected;
    snprintf(out->problem, sizeof out->problem, "%s", answer.message);
    return true;
}

/* ---- gRPC ----------------------------------------------------------------*/

static void read_grpc(const unsigned char *body, size_t size,
                      struct takt_otel_outcome *out)
{
    const size_t prefix = TAKT_OTEL_GRPC_PREFIX;
    uint64_t length = 0;

    for (size_t i = 1; i < prefix && size >= prefix; i++)
        length = length << 8 | body[i];
    if (size == 0)
        out->result = TAKT_OTEL_DELIVERED;
    else if (size < prefix || body[0] != 0 || length != size - prefix ||
             !read_answer(body + prefix, size - prefix, out))
        snprintf(out->problem, sizeof out->problem,
                 "the answer is not one of OTLP");
}

/* libcurl 7.88 loses trailers when the connection is closed right behind them.
 * A message then counts as status 0: a server that fails sends no message.
 * Without one, all that is known is that the answer was cut short. */
static void judge_silence(const unsigned char *body, size_t size,
                          struct takt_otel_outcome *out)
{
    if (size > 0) {
        read_grpc(body, size, out);
        return;
    }
    out->result = TAKT_OTEL_PUT_OFF;
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
        read_grpc(body, size, out);
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
        out->result = TAKT_OTEL_PUT_OFF;
        out->asked_s = grpc->retry_after_s;
    }
}

/* ---- plain HTTP ----------------------------------------------------------*/

static bool is_of_type(const char *type, const char *wanted)
{
    const size_t size = strlen(wanted);

    return strncasecmp(type, wanted, size) == 0 &&
           (type[size] == '\0' || type[size] == ';' || type[size] == ' ');
}

/* Some collectors answer in JSON whatever they were asked in: what it says of
 * rejected spans is then not read. Some say nothing at all. */
static void read_http(const char *type, const unsigned char *body, size_t size,
                      struct takt_otel_outcome *out)
{
    if (size == 0 || is_of_type(type, "application/json"))
        out->result = TAKT_OTEL_DELIVERED;
    else if ((type[0] != '\0' && !is_of_type(type, "application/x-protobuf")) ||
             !read_answer(body, size, out))
        snprintf(out->problem, sizeof out->problem,
                 "the answer is not one of OTLP, but %.80s",
                 type[0] != '\0' ? type : "something else");
}

void takt__otel_http_outcome(long http_status, const char *type,
                             double retry_after_s, const unsigned char *body,
                             size_t size, struct takt_otel_outcome *out)
{
    *out = (struct takt_otel_outcome){TAKT_OTEL_REFUSED, -1, 0, ""};
    if (http_status >= 200 && http_status < 300) {
        read_http(type, body, size, out);
        return;
    }
    snprintf(out->problem, sizeof out->problem, "HTTP status %ld", http_status);
    if (http_status == 429 || (http_status >= 502 && http_status <= 504)) {
        out->result = TAKT_OTEL_PUT_OFF;
        out->asked_s = retry_after_s;
    }
}
