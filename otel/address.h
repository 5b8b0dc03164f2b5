/* SPDX-License-Identifier: MIT */
/* address.h - what an endpoint means: the address that requests go to. */
#pragma once

#include "encode.h"

/* How an endpoint is to be read. */
struct takt_otel_reading {
    enum takt_otel_signal signal;
    bool is_grpc;     /* its path is gRPC's own */
    bool is_insecure; /* a gRPC endpoint without a scheme is not TLS */
    bool is_base;     /* HTTP: the path of the signal is appended */
};

struct takt_otel_address {
    char *url;   /* to post to */
    char *shown; /* for people: no password */
    bool is_tls;
};

/* The caller frees both strings. False: that cannot be an endpoint, or no
 * memory; *out is zero. */
bool takt__otel_address_read(const char *endpoint,
                             const struct takt_otel_reading *how,
                             struct takt_otel_address *out);
