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
#pragma once

#include <takt/otlp.h>

#include "sampler.h"
#include "target.h"

enum { TAKT_OTEL_SIGNALS = 2 };

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
