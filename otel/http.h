/* SPDX-License-Identifier: MIT */
/*
 * http.h - what an answer of OTLP over plain HTTP means. Knows no connection.
 */
#ifndef TAKT_OTEL_HTTP_H
#define TAKT_OTEL_HTTP_H

#include "channel.h"
#include "encode.h"

/* `type` is the Content-Type of the answer, "" when there is none;
 * `retry_after_s` what its Retry-After says, negative when it has none. */
void takt__otel_http_outcome(long http_status, const char *type,
                             double retry_after_s, const unsigned char *body,
                             size_t size, struct takt_otel_outcome *out);

#endif
