/* SPDX-License-Identifier: MIT */
/*
 * partial.h - what to do with the partial results of a reduction.
 *
 * A kernel fills one struct takt_partial per stretch; neighbours are merged
 * from left to right, and the last one is finished into the answer. How the
 * fields are used depends on the kind:
 *
 *   SUM, MEAN       value + rest is the sum, rest the rounding error of value
 *   NORM2           value + rest is the sum of squares of the elements times
 *                   2^scale, where index says which scale: enum takt_scale
 *   VARIANCE        value is the mean, rest the sum of squared distances
 *                   from it
 *   MAX, MIN        value
 *   ARGMAX, ARGMIN  value, and index: its first position in the stretch
 *
 * max, min: a NaN anywhere gives NaN, and +0 is larger than -0. argmax,
 * argmin: the first NaN if there is one, else the first extremum, where +0
 * and -0 are equal.
 *
 * Threads: everything here works on the caller's storage only.
 */
#pragma once

#include <math.h>
#include <stdbool.h>

#include "kernels/kernel.h"

enum takt_partial_kind {
    TAKT_PARTIAL_SUM, /* sum, dot, norm1 */
    TAKT_PARTIAL_MEAN,
    TAKT_PARTIAL_NORM2,
    TAKT_PARTIAL_VARIANCE,
    TAKT_PARTIAL_MAX,
    TAKT_PARTIAL_MIN,
    TAKT_PARTIAL_ARGMAX,
    TAKT_PARTIAL_ARGMIN
};

/* What elements were multiplied with before they were squared. Powers of two
 * lose nothing; the three ranges overlap by far, so that what underflows in
 * a merge could not have changed the result. */
enum takt_scale {
    TAKT_SCALE_NONE = 0, /* the sum is below 2^1000 and not below 2^-900 */
    TAKT_SCALE_DOWN = 1, /* 2^-600: squares would overflow */
    TAKT_SCALE_UP = 2    /* 2^600: squares would underflow */
};

/* Sums of as many stretches as there are stay in range below the second; and
 * what overflows in another direction than to nearest is no infinity. */
#define TAKT_SQUARES_MIN 0x1p-900
#define TAKT_SQUARES_MOST 0x1p1000
#define TAKT_SCALE_DOWN_FACTOR 0x1p-600
#define TAKT_SCALE_UP_FACTOR 0x1p600

/* a + b is the result plus *error, exactly, unless the result overflows. */
static inline double takt__two_sum(double a, double b, double *error)
{
    const double sum = a + b;
    const double part = sum - a;
    *error = (a - (sum - part)) + (b - part);
    return sum;
}

/* Whether sums that overflow become infinite. In other directions they may stay
 * at the largest number, and nothing shows it. */
static inline bool takt__rounds_to_nearest(void)
{
    static const volatile float tiny = 0x1p-60f;

    return 1.0f + tiny == 1.0f && 1.0f - tiny == 1.0f;
}

/* A compensated sum as partial. An infinite or NaN sum makes the rounding
 * errors NaN, which must not spoil an infinity. */
static inline void takt__partial_set(struct takt_partial *out, size_t count,
                                     double value, double rest)
{
    out->value = value;
    out->rest = isfinite(value) ? rest : 0.0;
    out->index = 0;
    out->count = count;
}

/* Makes `left` cover its own stretch followed by that of `right`. Either may
 * cover nothing (count 0). */
void takt__partial_merge(enum takt_partial_kind kind, struct takt_partial *left,
                         const struct takt_partial *right);

/* The answer of a reduction over count >= 1 elements, as double: for f32 the
 * caller rounds it once more. For ARGMAX and ARGMIN this is the position,
 * exact below 2^53; partial->index always is. */
double takt__partial_finish(enum takt_partial_kind kind,
                            const struct takt_partial *partial);

/* Writes that answer to `out`: a size_t for ARGMAX and ARGMIN, else a double or
 * a float. */
static inline void takt__partial_write(enum takt_partial_kind kind,
                                       const struct takt_partial *partial,
                                       bool is_double, void *out)
{
    if (kind == TAKT_PARTIAL_ARGMAX || kind == TAKT_PARTIAL_ARGMIN)
        *(size_t *)out = partial->index;
    else if (is_double)
        *(double *)out = takt__partial_finish(kind, partial);
    else
        *(float *)out = (float)takt__partial_finish(kind, partial);
}
