/* SPDX-License-Identifier: MIT */
/*
 * sampler.h - which traces are exported: OTEL_TRACES_SAMPLER.
 *
 * The share of traces is drawn by their ids, by the rule of most
 * implementations: the last 8 bytes, less their lowest bit, against the share
 * of 2^63. So all exporters of a trace decide alike, and a larger share holds
 * every smaller one.
 */
#pragma once

#include <stdbool.h>

#include <takt/telemetry.h>

struct takt_otel_sampler {
    bool asks_parent; /* where there is one, it decides */
    double share;     /* of the other traces: 0 none, 1 all */
};

/* The usual: as the parent, else all. */
#define TAKT_OTEL_SAMPLER_USUAL ((struct takt_otel_sampler){true, 1})

/* Reads the name of a sampler, in any case. False: there is no such sampler;
 * *out is the usual. */
bool takt__otel_sampler_read(const char *name, struct takt_otel_sampler *out,
                             bool *takes_share);

/* Reads its argument. False: it is not between 0 and 1; *share is 1. */
bool takt__otel_share_read(const char *text, double *share);

/* Whether a trace is exported. `parent` NULL: it begins here. */
bool takt__otel_sampled(const struct takt_otel_sampler *sampler,
                        const takt_span_context *parent,
                        const unsigned char trace_id[16]);
