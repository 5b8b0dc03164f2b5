/* SPDX-License-Identifier: MIT */
/* target.h - where a signal goes, over what, and with which headers. */
#pragma once

#include "pairs.h"
#include "setting.h"

/* Where one signal goes. Strings are owned; NULL: none. */
struct takt_otel_target {
    bool is_on;
    bool is_grpc, is_tls, is_gzip;
    char *url;   /* that requests are posted to */
    char *shown; /* the same for people: no path of gRPC's, no password */
    struct takt_otel_pairs headers;
    char *certificate, *client_certificate, *client_key;
    char *proxy, *no_proxy;
    unsigned timeout_ms; /* of one try */
    unsigned export_ms;  /* of all tries of a batch */
};

/* Reads the target of a signal into *out, which is zero at first. */
void takt__otel_target_read(struct takt_otel_reader *reader,
                            enum takt_otel_signal signal,
                            struct takt_otel_target *out);
void takt__otel_target_free(struct takt_otel_target *target);
