/* SPDX-License-Identifier: MIT */
/*
 * stats.h - shared statistics: a file in which all processes of a program count
 * their calls, for the report of `takt run`.
 *
 * Every process maps it and adds to it, so nothing is lost when a process
 * crashes, is killed or replaces itself: nothing has to be written at the end.
 * `takt run` makes the file, empty but for the title, and reads it when its
 * child has ended. All counts are whole numbers, changed by relaxed additions.
 *
 * The size of a call is one number: the third root of m n k for products, the
 * square root of m n for matrices with vectors, n for vectors. Its class is the
 * binary logarithm of that: class 6 is 64 to 127.
 */
#pragma once

#include <stdatomic.h>
#include <stdint.h>

#include "routine.h"

/* The variable in which a process finds the file. */
#define TAKT_STATS_VARIABLE "TAKT_RUN_STATS"

#define TAKT_STATS_TITLE "takt stats 7\n"

enum {
    TAKT_STATS_CLASSES = 32,
    TAKT_STATS_LIBRARIES = 8,
    TAKT_STATS_TEXT = 256, /* bytes of a text, with its end */
    TAKT_STATS_LOOPS = 96,
    TAKT_STATS_LOOP_NAME = 28, /* bytes of a name, with its end */
    TAKT_STATS_SLOTS = 100,
    TAKT_STATS_SLOT_NS = 100000000 /* so 10 seconds in all */
};

/* Where a call ran. */
enum takt_destination {
    TAKT_DESTINATION_PASS_THROUGH, /* the baseline library, undecided */
    TAKT_DESTINATION_BASELINE,     /* the baseline library, by decision */
    TAKT_DESTINATION_SCALAR,
    TAKT_DESTINATION_SIMD, /* Takt's own kernels, or another library */
    TAKT_DESTINATION_GPU,
    TAKT_DESTINATIONS
};

/* Why a call did not run on a GPU. Up to NO_ROUTER: it was passed through,
 * without a decision, on a machine with a GPU or without. */
enum takt_why {
    TAKT_WHY_SMALL,     /* too small for it to matter */
    TAKT_WHY_SETTLED,   /* recent answers were the baseline library */
    TAKT_WHY_STARTING,  /* so little was computed until then that opening the
                         * router would not have paid */
    TAKT_WHY_FORM,      /* strides, overlaps or a stack (stack.h) that only the
                         * library takes */
    TAKT_WHY_ROUTINE,   /* a routine or type that is always passed through */
    TAKT_WHY_NESTED,    /* called by the baseline library inside of another
                         * call; counted with that one, so always 0 */
    TAKT_WHY_EMPTY,     /* nothing to multiply: a size or a factor is 0, as in
                         * many calls of LAPACK's */
    TAKT_WHY_WRONG,     /* wrong arguments: left to the library's own error */
    TAKT_WHY_NO_ROUTER, /* libtakt could not be opened: see `trouble` */
    TAKT_WHY_NO_GPU,    /* there is none, or it was not wanted */
    TAKT_WHY_ASLEEP,    /* it was not open (yet), and opening takes time */
    TAKT_WHY_SLOWER,    /* it would have taken longer, transfers included */
    TAKT_WHY_LOST,      /* it failed or refused, and is not used for a while */
    TAKT_WHY_POLICY,    /* a rule or a pin file decided */
    TAKT_WHY_TRIED,     /* another expert was explored */
    TAKT_WHYS
};

/* The calls of one routine, type and class. */
struct takt_stats_cell {
    _Atomic uint64_t calls[TAKT_DESTINATIONS];
    /* Those that were timed: all that were routed, and some of those that were
     * passed through. */
    _Atomic uint64_t timed[TAKT_DESTINATIONS], ns[TAKT_DESTINATIONS];
    /* Of routed calls: in ns[], what moving operands and waiting took. */
    _Atomic uint64_t transfer_ns, wait_ns;
    /* Calls that ran elsewhere than in the baseline library, of kinds that it
     * ran too in this process: what it would have taken by that, the standard
     * error of it, and what they took. */
    _Atomic uint64_t compared, baseline_ns, error_ns, instead_ns;
    _Atomic uint64_t why[TAKT_WHYS];
    /* Calls that did not run on a GPU for TAKT_WHY_SLOWER or ASLEEP; what a GPU
     * was expected to take, and what they took. */
    _Atomic uint64_t judged, gpu_ns, own_ns;
};

/* A text that is written once: 0 empty, 1 being written, 2 there. */
struct takt_stats_text {
    _Atomic uint32_t state;
    char text[TAKT_STATS_TEXT];
};

/* What the last process found out that compared both sides; ratio and error
 * in millionths. */
struct takt_stats_result {
    _Atomic uint64_t probes, ratio, error;
    _Atomic uint64_t is_routed, is_clear;
    _Atomic uint64_t history; /* enum takt_history, of the last process */
    _Atomic uint64_t own_ns;  /* in opening libtakt, of all processes */
};

/* What Takt changed in the steps of the program (effect.h): slices of time in
 * which it was off; what steps with Takt gained (a signed number), what they
 * would have taken without, what their calls and loops took, and the variance
 * of the gain. Calls of LAPACK that are steps: what is in their cells, too. */
struct takt_stats_effect {
    _Atomic uint64_t slices, gain_ns, baseline_ns, covered_ns, variance_us2;
    _Atomic uint64_t lapack_baseline_ns, lapack_error_ns, lapack_instead_ns;
};

/* When timed calls were made, by CLOCK_MONOTONIC: from the start of the first
 * one to the end of the last one, of all threads; and the sum of what that is
 * of each thread. So many threads called at once, on average. */
struct takt_stats_span {
    _Atomic uint64_t first_ns, last_ns;
    _Atomic uint64_t threads_ns;
};

/* Loops of NumPy's that are not short, of one ufunc, types and class of their
 * lengths: [0] whole, [1] split over threads. Or calls of LAPACK, of one
 * routine, type and class: [0] on the threads that the program has, [1] on
 * fewer, by Takt's kernels or on a GPU; "whole" is the former, "split" the
 * latter. */
struct takt_stats_loop_cell {
    _Atomic uint64_t calls[2], timed[2], ns[2];
    /* Split ones of which it is known what they take whole: that, the standard
     * error of it, and what they took. */
    _Atomic uint64_t compared, baseline_ns, error_ns, instead_ns;
};

struct takt_stats_loop {
    _Atomic uint32_t state;          /* as that of a text */
    char name[TAKT_STATS_LOOP_NAME]; /* "add ff->f" */
    struct takt_stats_loop_cell cell[TAKT_STATS_CLASSES];
};

/* What the timeline keeps apart. */
enum takt_track {
    TAKT_TRACK_BASELINE,
    TAKT_TRACK_CPU, /* routed, as is the next one */
    TAKT_TRACK_GPU,
    TAKT_TRACK_LAPACK,
    TAKT_TRACK_LOOPS,
    TAKT_TRACKS
};

/* The first seconds: nanoseconds of calls and loops, of all threads, that fell
 * into each slot. Loops that were not timed are not in it; a short call that
 * was timed stands for others. `takt run` writes when the program began, by
 * CLOCK_MONOTONIC; 0: there is no timeline. */
struct takt_stats_timeline {
    uint64_t start_ns;
    _Atomic uint64_t ns[TAKT_STATS_SLOTS][TAKT_TRACKS];
};

struct takt_stats {
    char title[16]; /* TAKT_STATS_TITLE, then zeros */
    uint64_t size;  /* of this structure: a file of another size is refused */
    _Atomic uint64_t processes; /* that made a call */
    _Atomic uint64_t routers;   /* of those, that opened libtakt */
    struct takt_stats_text library[TAKT_STATS_LIBRARIES]; /* files */
    struct takt_stats_text trouble; /* the first thing that went wrong */
    struct takt_stats_text gpu;     /* its name */
    struct takt_stats_result result;
    struct takt_stats_effect effect;
    struct takt_stats_span span;
    struct takt_stats_cell cell[TAKT_ROUTINES][TAKT_BLAS_TYPES]
                               [TAKT_STATS_CLASSES];
    struct takt_stats_loop loop[TAKT_STATS_LOOPS]; /* the last: all others */
    /* Of s and d. Calls of BLAS that LAPACK makes by name are not in it. */
    struct takt_stats_loop_cell lapack[TAKT_LAPACKS][2][TAKT_STATS_CLASSES];
    struct takt_stats_timeline timeline;
};
