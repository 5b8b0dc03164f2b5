/* SPDX-License-Identifier: MIT */
/*
 * switchback.h - whether this program is faster with routing, by measurement.
 *
 * The name is that of the experiment: one subject gets both treatments in
 * turns. Time is cut into slices. In a slice all calls run on one side: in the
 * baseline library, or routed. Two pools of threads on the same processors
 * disturb each other for as long as the idle one spins (a BLAS library does for
 * some 30 ms), so calls of both sides must not take turns; and what follows a
 * change of sides is not measured.
 *
 * A program stays on the side that was measured to be faster, and the other
 * side is probed now and then. If routing is not faster with confidence, the
 * program stays in the baseline library. What a side does to the rest of the
 * program is in the gaps between its calls, which are compared too.
 */
#pragma once

#include "sides.h"

/* The side on which calls run now. */
extern _Atomic unsigned takt__side_now;

/* Whether nothing is routed now. */
static inline bool takt__side_is_baseline(void)
{
    return atomic_load_explicit(&takt__side_now, memory_order_relaxed) ==
           TAKT_SIDE_BASELINE;
}

/* Whether this is a probe of the baseline library: all else that Takt does is
 * to be off, too (effect.h), so that calls take what they take without it. */
bool takt__side_wants_off(void);

/* Where a call of a kind is to run. */
static inline enum takt_side takt__side_of(const struct takt_kind *kind)
{
    return atomic_load_explicit(&kind->is_kept, memory_order_relaxed)
               ? TAKT_SIDE_BASELINE
               : (enum takt_side)atomic_load_explicit(&takt__side_now,
                                                      memory_order_relaxed);
}

/* Whether sides were changed so lately that calls are disturbed by that. */
bool takt__side_is_settling(uint64_t now_ns);

/* A call ran on a side. */
struct takt_switchback_call {
    struct takt_kind *kind;
    enum takt_side side;
    bool is_gpu;   /* a GPU ran it */
    bool is_trial; /* it ran where it did in order to learn */
    bool is_off;   /* in an off slice: what is between calls is no part of
                    * routing */
    double work;
    double weight; /* calls that it stands for */
    uint64_t start_ns, end_ns;
};
void takt__switchback_add(const struct takt_switchback_call *call);

/* Before a large call: it may begin on the side of the last run. */
void takt__switchback_begin_call(uint64_t now_ns);

/* A call of this thread was not timed: what follows it is no gap. */
void takt__switchback_skip(void);

/* ---- the start ----------------------------------------------------------- */

/* What earlier runs of the program have shown. */
enum takt_history {
    TAKT_HISTORY_NONE,
    TAKT_HISTORY_BASELINE, /* routing is no faster: probe it late */
    TAKT_HISTORY_ROUTED,   /* it is: begin on that side */
    TAKT_HISTORY_GPU       /* it is with a GPU: begin when one is open */
};

struct takt_switchback_options {
    unsigned threads;    /* of the baseline library; 0: not known */
    unsigned spin_power; /* for how many cycles, as a power of two, its threads
                          * spin when they are idle */
    double price_factor; /* random, 0 to 1: the price of the first probe is
                          * multiplied by it. Short runs that cannot afford one
                          * make it in a part of them, and over many runs
                          * probes cost their share */
    enum takt_history history;
    double pace; /* of routed calls in earlier runs: with it, a program that
                  * gained begins routed, before the library's threads are
                  * awake; 0: not known */
    /* CPU time of the process: what it takes beyond one thread while calls run
     * in the library is threads that spin. NULL: all of them are taken to. */
    uint64_t (*cpu_ns)(void);
    /* Called now and then. Ready: it is open, and the model has it. */
    bool (*is_gpu_ready)(uint64_t now_ns);
    void (*keep)(const struct takt_switchback_result *result);
};

/* Routing has become possible in this process. Takes effect when the next call
 * has ended, or with the next large one, or at once where the pace is known; of
 * several, the first counts. */
void takt__switchback_open(const struct takt_switchback_options *options);
