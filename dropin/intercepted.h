/* SPDX-License-Identifier: MIT */
/*
 * intercepted.h - a call that came by one of our names, on its way.
 *
 * intercept.c takes it through: it passes on what Takt cannot run, admit.c
 * says whether the rest is routed, router.c and
 * reuse.c run it, record.c counts it.
 */
#pragma once

#include <stdint.h>

#include "arguments.h"
#include "base/fpenv.h"
#include "baseline.h"
#include "clock.h"
#include "kind.h"
#include "stats.h"

struct takt_intercept {
    struct takt_baseline *baseline; /* NULL: it cannot be described */
    const struct takt_arguments *arguments;
    enum takt_routine routine;
    enum takt_blas_type type;
    double work;            /* multiply-adds, or elements */
    struct takt_kind *kind; /* NULL: it is not compared */
    bool is_gpu;            /* a GPU ran it */
    bool is_trial;          /* it ran where it did in order to learn */
    double weight;          /* calls that it stands for, if it is timed */
    enum takt_why why;      /* it was passed through or, if routed, did not run
                             * on a GPU */
    bool is_nested;    /* the baseline library made it, inside another call */
    uint64_t start_ns; /* 0: it is not timed */
    uintptr_t outer;   /* the call around it; 0: none */
    struct takt_fpenv fpenv; /* the program's, outside of the call's work */
};

/* The work of a call is done in the program's floating-point environment; all
 * else is not seen there. */
static inline void takt__work_begin(const struct takt_intercept *intercept)
{
    takt__fpenv_restore(intercept->fpenv);
}

static inline void takt__work_end(struct takt_intercept *intercept)
{
    intercept->fpenv = takt__fpenv_save();
}

/* Below these a call is passed through at once: it takes less time than a
 * decision would. */
enum {
    TAKT_LEAST_PRODUCT = 48 * 48 * 48,
    TAKT_LEAST_MATVEC = 128 * 128,
    TAKT_LEAST_VECTOR = 8192,
    TAKT_LEAST_ORDER = 1024 /* of a triangle, and of the parts it is cut into */
};

/* The intercepted call that this thread is inside of, as an address on its
 * stack; 0: none. A program may have jumped out of it (longjmp): code that is
 * not deeper on the stack is not inside. */
extern _Thread_local uintptr_t takt__inside;

/* True: the call was routed and is done. False: nothing was touched; run it in
 * the baseline library as it came, then call takt__intercept_end(). `intercept`
 * must be in the frame of the function that runs it. */
bool takt__intercept_begin(struct takt_intercept *intercept,
                           const struct takt_target *target,
                           const struct takt_arguments *arguments);
void takt__intercept_end(const struct takt_intercept *intercept);

/* symm, syrk, syr2k, trmm and trsm: cut into ordinary products (triangular.h),
 * each of which is routed by itself. True: the call is done. False:
 * intercept->why says why not, and nothing was touched. */
bool takt__route_triangular(struct takt_intercept *intercept,
                            const struct takt_arguments *arguments);
