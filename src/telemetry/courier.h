/* SPDX-License-Identifier: MIT */
/*
 * courier.h - the thread that carries what calls left to those who want it.
 *
 * It takes notes out of the tap, makes events of them and hands them to the
 * sinks; watches how often each op is called; and gives metrics now and then.
 * It is started by the first sink, looks every few milliseconds while there are
 * notes, and sleeps when there are none.
 *
 * Threads: every function may be called from any thread, and none is for the
 * path of a call.
 */
#ifndef TAKT_TELEMETRY_COURIER_H
#define TAKT_TELEMETRY_COURIER_H

#include "model/sample.h"
#include "telemetry/tap.h"

struct takt_courier;

/* What the courier has to ask about names. */
struct takt_courier_names {
    void *self;
    /* Fills in all of an event that is not a time. */
    void (*describe)(void *self, const struct takt_note *note, takt_event *out);
    const char *(*op)(void *self, unsigned number);
    const char *(*arm)(void *self, unsigned arm, takt_backend *backend);
    /* Shows callers the tap, or (NULL) that nobody wants to know. */
    void (*show)(void *self, struct takt_tap *tap);
    /* Learns from all calls that have returned, so that metrics know them.
     * `is_last`: what is not known by then never will be. */
    void (*settle)(void *self, bool is_last);
};

struct takt_courier_options {
    struct takt_courier_names names;
    unsigned deadline_ms; /* for what is sent at the end */
};

/* To be made before the learner of the context: fork() then takes their locks
 * in the order in which the learner does. NULL: no memory. */
struct takt_courier *
takt__courier_create(const struct takt_courier_options *options);

/* Carries what is left and closes the sinks. Nobody is told of anything from
 * then on. */
void takt__courier_finish(struct takt_courier *courier);

/* After finish(); NULL is allowed. */
void takt__courier_destroy(struct takt_courier *courier);

/* As takt_ctx_add_sink(). */
takt_status takt__courier_add(struct takt_courier *courier,
                              const takt_sink *sink);

/* Sees to it that what is left at exit() is carried before whatever the sink
 * that was just added needs has ended. */
void takt__courier_carry_at_exit(void);

/* As takt_ctx_trace(), with all numbers given. */
struct takt_tap_settings {
    double threshold_s, rate, hot_rate;
    bool is_debugging;
};
void takt__courier_set(struct takt_courier *courier,
                       const struct takt_tap_settings *settings);

/* Carries all there is, and has the sinks send it. */
void takt__courier_flush(struct takt_courier *courier);

/* What was learned: a sample, and the counters of the model after it. By the
 * learner. `before_s` is what was expected, for the case that it changed. */
struct takt_lesson_counts {
    uint64_t alarms, samples_dropped;
    double explored_s;
};
void takt__courier_heed(struct takt_courier *courier,
                        const struct takt_sample *sample, double before_s,
                        const struct takt_lesson_counts *counts);

void takt__courier_report(struct takt_courier *courier, takt_telemetry *out);

#endif
