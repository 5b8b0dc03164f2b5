/* SPDX-License-Identifier: MIT */
/* http.c - answers of OTLP over plain HTTP. */
#include "http.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

static bool is_of_type(const char *type, const char *wanted)
{
    const size_t size = strlen(wanted);

    return strncasecmp(type, wanted, size) == 0 &&
           (type[size] == '\0' || type[size] == ';' || type[size] == ' ');
}

/* Some collectors answer in JSON whatever they were asked in: what it says of
 * rejected spans is then not read. Some say nothing at all. */
static void read_answer(const char *type, const unsigned char *body,
                        size_t size, struct takt_otel_outcome *out)
{
    struct takt_otel_answer answer = {0};

    out->fate = TAKT_OTEL_DELIVERED;
    if (size == 0 || is_of_type(type, "application/json"))
        return;
    if ((type[0] != '\0' && !is_of_type(type, "application/x-protobuf")) ||
        !takt__otel_answer(body, size, &answer)) {
        out->fate = TAKT_OTEL_REFUSED;
        snprintf(out->problem, sizeof out->problem,
                 "the answer is not one of OTLP, but %.80s",
                 type[0] != '\0' ? type : "something else");
        return;
    }
    if (answer.rejected > 0)
        out->rejected = (uint64_t)answer.rejected;
    snprintf(out->problem, sizeof out->problem, "%s", answer.message);
}

void takt__otel_http_outcome(long http_status, const char *type,
                             double retry_after_s, const unsigned char *body,
                             size_t size, struct takt_otel_outcome *out)
{
    *out = (struct takt_otel_outcome){TAKT_OTEL_REFUSED, -1, 0, ""};
    if (http_status >= 200 && http_status < 300) {
        read_answer(type, body, size, out);
        return;
    }
    snprintf(out->problem, sizeof out->problem, "HTTP status %ld", http_status);
    if (http_status == 429 || (http_status >= 502 && http_status <= 504)) {
        out->fate = TAKT_OTEL_PUT_OFF;
        out->asked_s = retry_after_s;
    }
}
