/* SPDX-License-Identifier: MIT */
/* inside.h - what a courier is made of, for the files of this folder only. */
#ifndef TAKT_TELEMETRY_INSIDE_H
#define TAKT_TELEMETRY_INSIDE_H

#include "base/fork.h"
#include "base/lock.h"
#include "telemetry/courier.h"
#include "telemetry/meter.h"
#include "telemetry/window.h"

/* Ticks as nanoseconds since 1970. The rate of the ticks is found out ever
 * better as time goes by; how the two clocks stand to each other is taken once,
 * so that no span ends before it begins when somebody sets the time. */
struct takt_span_clock {
    uint64_t first_ticks, first_ns; /* of CLOCK_MONOTONIC */
    int64_t since_1970_ns;          /* of CLOCK_REALTIME, beyond that */
    double ns_per_tick;
};
void takt__span_clock_start(struct takt_span_clock *clock);
void takt__span_clock_set(struct takt_span_clock *clock);
uint64_t takt__span_clock_at(const struct takt_span_clock *clock,
                             uint64_t ticks);

/* A sink, or room for one. */
struct takt_seat {
    takt_sink sink;
    bool is_taken;
    uint64_t next_metrics_ns;
};

struct takt_courier {
    pthread_mutex_t lock; /* seats, settings, flushes, the thread's being */
    pthread_cond_t flushed;
    struct takt_worker worker;
    _Atomic bool is_finished;
    _Atomic bool is_debugging; /* every sink gets every call */
    uint64_t flush_wanted, flush_done;
    struct takt_courier_names names;
    _Atomic bool is_shown; /* callers see the tap */
    unsigned deadline_ms;
    struct takt_seat seat[TAKT_MAX_SINKS];
    struct takt_tap_settings settings;
    struct takt_fork_entry fork;

    struct takt_tap *tap; /* NULL until there is a sink */
    struct takt_span_clock clock;
    uint64_t begun_ns, next_slide_ns; /* of CLOCK_MONOTONIC */
    struct takt_window window;

    /* From the learner. */
    struct takt_meters meters;
    struct takt_lesson_counts counts, counts_at_first; /* meters.lock */

    /* What the last metrics are made of. */
    takt_metrics metrics;
    takt_op_metric op_metric[TAKT_OP_NUMBERS];
    takt_duration_metric duration_metric[TAKT_METERS];
    struct takt_meter meter[TAKT_METERS];
    uint64_t calls[TAKT_OP_NUMBERS];
};

/* ---- process.c -------------------------------------------------------------
 */

/* Registers a courier for fork() and exit(). */
void takt__courier_enlist(struct takt_courier *courier);

/* ---- measure.c -------------------------------------------------------------
 */

/* The first sink has come: everything is counted from here on. */
void takt__courier_begin(struct takt_courier *courier);

/* The same in the child of a fork(), with the lock. */
void takt__courier_reset(struct takt_courier *courier);

/* Tells callers what sinks and settings want of them. With the lock. */
void takt__courier_adjust(struct takt_courier *courier);

/* Notes how often ops are called, if it is time. */
void takt__courier_watch(struct takt_courier *courier, uint64_t now_ns);

/* Everything that is known, until the next time. By the courier. */
const takt_metrics *takt__courier_measure(struct takt_courier *courier);

#endif
