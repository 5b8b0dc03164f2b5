/* SPDX-License-Identifier: MIT */
/*
 * dispatcher.h - the telemetry thread, which hands events to sinks.
 *
 * It takes event records out of the tap, makes events of them and hands them to
 * the sinks, finds out which ops are hot, and gives metrics now and then. It is
 * started by the first sink, looks every few milliseconds while there are
 * records, and sleeps when there are none.
 *
 * Threads: every function may be called from any thread, and none is for the
 * path of a call.
 */
#pragma once

#include "model/sample.h"
#include "telemetry/tap.h"

struct takt_dispatcher;

/* What the dispatcher needs of its context. */
struct takt_dispatcher_names {
    void *self;
    /* Fills in all of an event that is not a time. */
    void (*describe)(void *self, const struct takt_event_record *record,
                     takt_event *out);
    const char *(*op)(void *self, unsigned number);
    const char *(*expert)(void *self, unsigned expert, takt_backend *backend);
    /* Gives callers the tap, or (NULL) takes it away: there is no sink. */
    void (*show)(void *self, struct takt_tap *tap);
    /* Learns from all calls that have returned, so that metrics count them.
     * `is_last`: for the last time. */
    void (*settle)(void *self, bool is_last);
};

/* To be made before the learner of the context: fork() then takes their locks
 * in the order in which the learner does. Sinks have `deadline_ms` to send what
 * is left at the end. NULL: no memory. */
struct takt_dispatcher *
takt__dispatcher_create(const struct takt_dispatcher_names *names,
                        unsigned deadline_ms);

/* Hands over what is left and closes the sinks. Nothing is emitted from then
 * on. */
void takt__dispatcher_finish(struct takt_dispatcher *dispatcher);

/* After finish(); NULL is allowed. */
void takt__dispatcher_destroy(struct takt_dispatcher *dispatcher);

/* As takt_ctx_add_sink(). */
takt_status takt__dispatcher_add(struct takt_dispatcher *dispatcher,
                                 const takt_sink *sink);

/* Has exit() flush before the libraries end that the sink added last needs. */
void takt__dispatcher_flush_at_exit(void);

/* As takt_ctx_trace(), with all numbers given. */
struct takt_tap_settings {
    double threshold_s, rate, hot_rate;
    bool is_debugging;
};
void takt__dispatcher_set(struct takt_dispatcher *dispatcher,
                          const struct takt_tap_settings *settings);

/* Hands over all there is, and has the sinks send it. */
void takt__dispatcher_flush(struct takt_dispatcher *dispatcher);

/* By the learner: a sample that was learned from, and the counters of the model
 * after it. `before_s` was expected, in case the speed has changed. */
struct takt_learning_counts {
    uint64_t alarms, samples_dropped;
    double explored_s;
};
void takt__dispatcher_add_sample(struct takt_dispatcher *dispatcher,
                                 const struct takt_sample *sample,
                                 double before_s,
                                 const struct takt_learning_counts *counts);

void takt__dispatcher_report(struct takt_dispatcher *dispatcher,
                             takt_telemetry *out);
