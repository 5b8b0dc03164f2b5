/* SPDX-License-Identifier: MIT */
/*
 * config.h - where telemetry goes and how, by options and by the environment.
 * Nothing else of the exporter reads the environment.
 *
 * The rules are those of OpenTelemetry: an empty variable is one that is not
 * set, a form for one signal wins over the form for all, and what cannot be
 * understood is said and done without. Options win over all of them, and what
 * cannot be there is an error.
 *
 * A signal is exported when an endpoint for it or for all is named, when its
 * exporter is named "otlp", when there is a file, or when there are options;
 * never when its exporter is "none".
 */
#ifndef TAKT_OTEL_CONFIG_H
#define TAKT_OTEL_CONFIG_H

#include <takt/otlp.h>

#include "encode.h"
#include "sampler.h"

enum { TAKT_OTEL_SIGNALS = 2 };

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

struct takt_otel_config {
    struct takt_otel_target target[TAKT_OTEL_SIGNALS];
    char *file;         /* instead of the targets' addresses; NULL: none */
    char *service_name; /* NULL: as the attributes say, or the usual */
    struct takt_otel_pairs attributes;
    struct takt_otel_sampler sampler;
    unsigned queue_size, batch_size, delay_ms;
    unsigned metrics_ms;      /* between two exports */
    unsigned shutdown_ms;     /* at most, whatever the caller grants */
    takt_span_context parent; /* of the process; all zero: none */
    char state[512];          /* W3C tracestate that belongs to it */
};

/* `options` may be NULL, `diag` too. Whatever is returned, free *out.
 * TAKT_ENOENT: nothing is to be exported.
 * TAKT_EINVAL: an option that cannot be. TAKT_EIO: a certificate cannot be
 * read. TAKT_ENOMEM. */
takt_status takt__otel_config_read(const takt_otlp_options *options,
                                   struct takt_otel_config *out,
                                   takt_diag *diag);
void takt__otel_config_free(struct takt_otel_config *config);

/* Adds a sentence to what is said already, as far as there is room. */
void takt__otel_say(takt_diag *diag, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Reads "key=value,key2=value2": blanks around both are left out, both are
 * percent-decoded, the last value of a key counts. Returns how many members
 * were not understood and left out; SIZE_MAX: no memory. *out is set and to be
 * freed in any case. */
size_t takt__otel_pairs_read(const char *text, struct takt_otel_pairs *out);
void takt__otel_pairs_free(struct takt_otel_pairs *pairs);

/* Takes a pair out and gives its value, which the caller frees; NULL: there is
 * none. */
char *takt__otel_pairs_take(struct takt_otel_pairs *pairs, const char *key);

/* Decodes "%41" to "A" in place. False: it is malformed, or holds a NUL. */
bool takt__otel_percent_decode(char *text);

#endif
