/* SPDX-License-Identifier: MIT */
/*
 * outcome.h - what the answer to a request means, over plain HTTP and over
 * gRPC, which adds to HTTP/2 a prefix before each message, and a status in the
 * trailers. Uses no connection.
 */
#pragma once

#include "channel.h"

enum { TAKT_OTEL_GRPC_PREFIX = 5 };

/* What the headers and trailers of an answer say. */
struct takt_otel_grpc {
    int status;           /* negative: not said */
    char message[200];    /* "": none */
    double retry_after_s; /* out of a RetryInfo; negative: there is none */
    bool is_typed;        /* it calls itself gRPC */
};

#define TAKT_OTEL_GRPC_SILENT \
    ((struct takt_otel_grpc){.status = -1, .retry_after_s = -1})

/* The prefix of a message of `size` bytes. */
void takt__otel_grpc_prefix(unsigned char out[TAKT_OTEL_GRPC_PREFIX],
                            bool is_compressed, uint32_t size);

/* Takes a header or a trailer in; it need not be gRPC's. The value has no line
 * end. Names are in any case. */
void takt__otel_grpc_header(struct takt_otel_grpc *grpc, const char *name,
                            size_t name_size, const char *value,
                            size_t value_size);

/* What became of a request. `http_status` is that of the answer, `body` its
 * message with its prefix. */
void takt__otel_grpc_outcome(const struct takt_otel_grpc *grpc,
                             long http_status, const unsigned char *body,
                             size_t size, struct takt_otel_outcome *out);

/* `type` is the Content-Type of the answer, "" when there is none;
 * `retry_after_s` what its Retry-After says, negative when it has none. */
void takt__otel_http_outcome(long http_status, const char *type,
                             double retry_after_s, const unsigned char *body,
                             size_t size, struct takt_otel_outcome *out);
