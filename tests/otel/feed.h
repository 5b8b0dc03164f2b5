/* SPDX-License-Identifier: MIT */
/*
 * feed.h - made-up events and metrics, as varied as real ones can be, and how
 * they are told to whoever compares them with what a collector got.
 *
 * What is told is one JSON object per line. Strings are told byte by byte, as
 * if they were Latin-1, because some of them are not UTF-8.
 */
#pragma once

#include <stdio.h>

#include <takt/telemetry.h>

#define FEED_OPS 4
#define FEED_DURATIONS 5

/* Event number `index` of a run that began at `base_ns`: the same every time,
 * and no two with the same start. Every eleventh is a change of speed, every
 * seventh has a parent of its own. */
void feed_event(unsigned index, uint64_t base_ns, takt_event *out);

struct feed_metrics {
    takt_metrics metrics;
    takt_op_metric op[FEED_OPS];
    takt_duration_metric duration[FEED_DURATIONS];
};

/* Metrics that grow with each `round`. */
void feed_metrics(unsigned round, uint64_t base_ns, struct feed_metrics *out);

/* How many spans come of an event. */
unsigned feed_spans(const takt_event *event);

void tell_text(FILE *out, const char *key, const char *text);
void tell_event(FILE *out, const takt_event *event);
void tell_metrics(FILE *out, const takt_metrics *metrics);
void tell_machine(FILE *out, const takt_machine *machine);
