/* SPDX-License-Identifier: MIT */
/*
 * stats.h - what `takt run` is told of the calls of a tree of processes.
 *
 * A file that all of them map and add to, so that nothing is lost when one of
 * them crashes, is killed or replaces itself: there is no last moment at which
 * anything has to be written. `takt run` makes it, empty but for the title, and
 * reads it when its child has ended. Everything is counted in whole numbers, by
 * relaxed additions.
 *
 * The size of a call is one number: the third root of m n k for products, the
 * square root of m n for matrices with vectors, n for vectors. Its class is the
 * binary logarithm of that: class 6 is 64 to 127.
 */
#ifndef TAKT_DROPIN_STATS_H
#define TAKT_DROPIN_STATS_H

#include <stdatomic.h>
#include <stdint.h>

#include "routine.h"

/* The variable in which a process finds the file. */
#define TAKT_STATS_VARIABLE "TAKT_RUN_BOARD"

#define TAKT_STATS_TITLE "takt stats 1\n"

enum {
    TAKT_STATS_CLASSES = 32,
    TAKT_STATS_LIBRARIES = 8,
    TAKT_STATS_WORDS = 256 /* of a text, with its end */
};

/* Where a call ran. */
enum takt_path {
    TAKT_PATH_PASS_THROUGH, /* in the baseline library; nobody was asked */
    TAKT_PATH_BASELINE,     /* in the baseline library, which was chosen */
    TAKT_PATH_SCALAR,
    TAKT_PATH_SIMD, /* by Takt's own kernels, or a library other than it */
    TAKT_PATH_GPU,
    TAKT_PATHS
};

/* Why a call did not run on a GPU. */
enum takt_why {
    TAKT_WHY_SMALL,     /* not asked: too small for it to matter */
    TAKT_WHY_SETTLED,   /* not asked: lately the answer was the baseline library
                         */
    TAKT_WHY_STARTING,  /* not asked: so little was computed until then that
                         * opening the router would not have paid */
    TAKT_WHY_FORM,      /* strides or overlaps that only the library takes */
    TAKT_WHY_ROUTINE,   /* a routine or type that is passed on */
    TAKT_WHY_NESTED,    /* called by the baseline library itself */
    TAKT_WHY_WRONG,     /* wrong arguments: the library's to complain about */
    TAKT_WHY_NO_ROUTER, /* libtakt could not be opened: see the stats's text */
    TAKT_WHY_NO_GPU,    /* there is none, or it was not wanted */
    TAKT_WHY_ASLEEP,    /* it was not open (yet): that takes time too */
    TAKT_WHY_SLOWER,    /* it would have taken longer, moving included */
    TAKT_WHY_LOST,      /* it failed or refused, and is left alone a while */
    TAKT_WHY_POLICY,    /* a rule or a pin file said so */
    TAKT_WHY_TRIED,     /* another expert was tried, to learn */
    TAKT_WHYS
};

/* Of one routine, type and class. */
struct takt_stats_cell {
    _Atomic uint64_t calls[TAKT_PATHS];
    /* Of the timed ones among these: every one that was routed, some of those
     * that went straight. */
    _Atomic uint64_t timed[TAKT_PATHS], ns[TAKT_PATHS];
    /* What the baseline library would have taken for the calls that ran
     * elsewhere and for which that is known: by the model; and what these took.
     */
    _Atomic uint64_t compared, baseline_ns, instead_ns;
    _Atomic uint64_t why[TAKT_WHYS];
    /* What a GPU was expected to take for calls that stayed away from it for
     * TAKT_WHY_SLOWER or ASLEEP, and what their own way was. */
    _Atomic uint64_t judged, gpu_ns, own_ns;
};

/* A text that the first who has it writes: 0 empty, 1 being written, 2 there.
 */
struct takt_stats_text {
    _Atomic uint32_t state;
    char text[TAKT_STATS_WORDS];
};

struct takt_stats {
    char title[16]; /* TAKT_STATS_TITLE, then zeros */
    uint64_t size;  /* of this structure: another one is not written to */
    _Atomic uint64_t processes; /* that made a call */
    _Atomic uint64_t routers;   /* of those, that opened libtakt */
    struct takt_stats_text library[TAKT_STATS_LIBRARIES]; /* files */
    struct takt_stats_text trouble; /* the first thing that went wrong */
    struct takt_stats_text gpu;     /* as the router calls it: its name */
    struct takt_stats_cell cell[TAKT_ROUTINES][TAKT_BLAS_TYPES]
                               [TAKT_STATS_CLASSES];
};

#endif
