/* SPDX-License-Identifier: MIT */
/*
 * intercepted.h - a call that came by one of our names, on its way.
 *
 * intercept.c takes it through: admit.c says whether it is routed, router.c and
 * reuse.c run it, record.c counts it.
 */
#ifndef TAKT_DROPIN_INTERCEPTED_H
#define TAKT_DROPIN_INTERCEPTED_H

#include <stdint.h>
#include <time.h>

#include "baseline.h"
#include "stats.h"

struct takt_intercept {
    struct takt_baseline *baseline; /* NULL: it cannot be described */
    enum takt_routine routine;
    enum takt_blas_type type;
    double work;       /* multiply-adds, or elements */
    enum takt_why why; /* it was not routed */
    bool is_nested;    /* the baseline library made it, inside another call */
    uint64_t start_ns; /* 0: it is not timed */
    uintptr_t outer;   /* the call around it; 0: none */
};

/* Below these a call is passed through at once: it takes less time than a
 * decision would. */
enum {
    TAKT_LEAST_PRODUCT = 48 * 48 * 48,
    TAKT_LEAST_MATVEC = 128 * 128,
    TAKT_LEAST_VECTOR = 8192,
    TAKT_LEAST_ORDER = 1024 /* of a triangle, and of the parts it is cut into */
};

static inline uint64_t takt__now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

#endif
