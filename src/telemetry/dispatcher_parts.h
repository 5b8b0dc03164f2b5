/* SPDX-License-Identifier: MIT */
/* dispatcher_parts.h - what a dispatcher is made of, for this folder only. */
#pragma once

#include "base/fork.h"
#include "base/lock.h"
#include "telemetry/dispatcher.h"
#include "telemetry/hot_ops.h"

/* Ticks as nanoseconds since 1970. The rate of the ticks is known better as
 * time goes by. The offset between the two clocks is taken once, so that no
 * span ends before it begins when the time is set. */
struct takt_span_clock {
    uint64_t first_ticks, first_ns; /* of CLOCK_MONOTONIC */
    int64_t since_1970_ns;          /* of CLOCK_REALTIME, beyond that */
    double ns_per_tick;
};
void takt__span_clock_set(struct takt_span_clock *clock);
uint64_t takt__span_clock_at(const struct takt_span_clock *clock,
                             uint64_t ticks);

enum { TAKT_METERS = 1024 }; /* pairs of an op and an expert; a power of two */

/* The durations of one op on one expert. */
struct takt_meter {
    uint16_t op; /* its number, and one more; 0: free */
    uint8_t expert;
    takt_duration_metric metric; /* without names */
};

/* The learner adds, the dispatcher copies; no caller waits for the lock. */
struct takt_meters {
    pthread_mutex_t lock;
    struct takt_meter of[TAKT_METERS]; /* by a hash of the pair */
};

/* Taken and left under the lock. The sink is called without it, by the
 * dispatcher alone. */
struct takt_sink_slot {
    takt_sink sink;
    _Atomic bool is_taken;
    uint64_t next_metrics_ns;
};

struct takt_dispatcher {
    pthread_mutex_t lock; /* slots, settings, flushes, has_thread */
    pthread_cond_t flushed;
    struct takt_worker worker;
    _Atomic bool is_finished;
    _Atomic bool is_debugging; /* every sink gets every call */
    uint64_t flush_wanted, flush_done;
    struct takt_dispatcher_names names;
    _Atomic bool is_shown; /* callers see the tap */
    unsigned deadline_ms;
    struct takt_sink_slot slot[TAKT_MAX_SINKS];
    struct takt_tap_settings settings;
    struct takt_fork_entry fork;

    struct takt_tap *tap; /* NULL until there is a sink */
    struct takt_span_clock clock;
    uint64_t begun_ns, next_slide_ns; /* of CLOCK_MONOTONIC */
    struct takt_hot_ops hot;

    /* From the learner. */
    struct takt_meters meters;
    struct takt_learning_counts counts, counts_at_first; /* meters.lock */

    /* What the last metrics are made of. */
    takt_metrics metrics;
    takt_op_metric op_metric[TAKT_OP_NUMBERS];
    takt_duration_metric duration_metric[TAKT_METERS];
    struct takt_meter meter[TAKT_METERS];
    uint64_t calls[TAKT_OP_NUMBERS];
};

/* ---- process.c ----------------------------------------------------------- */

/* Registers a dispatcher for fork() and exit(). */
void takt__dispatcher_enlist(struct takt_dispatcher *dispatcher);

/* ---- metrics.c ----------------------------------------------------------- */

/* Starts all counts anew: for the first sink. */
void takt__dispatcher_begin(struct takt_dispatcher *dispatcher);

/* The same in the child of a fork(), with the lock. */
void takt__dispatcher_reset(struct takt_dispatcher *dispatcher);

/* Sets the tap to what sinks and settings need. With the lock. */
void takt__dispatcher_adjust(struct takt_dispatcher *dispatcher);

/* Finds out which ops are hot, if it is time. */
void takt__dispatcher_watch(struct takt_dispatcher *dispatcher,
                            uint64_t now_ns);

/* All metrics; valid until the next time. By the dispatcher. */
const takt_metrics *
takt__dispatcher_measure(struct takt_dispatcher *dispatcher);
