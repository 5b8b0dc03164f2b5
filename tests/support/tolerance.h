/* SPDX-License-Identifier: MIT */
/*
 * tolerance.h - comparing results within the tolerance of their op, which its
 * row in the catalogue states.
 */
#pragma once

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "op/op_id.h"

/* Sanitized and emulated programs are ten times slower, so they try fewer
 * cases. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || \
    defined(TAKT_TEST_EMULATED)
enum { is_sanitized = 1 };
#else
enum { is_sanitized = 0 };
#endif

/* Of how many cases one is tried. Kernels that a real processor runs through
 * all cases in the same build (TAKT_TEST_EMULATED in the environment) have to
 * show in an emulator only that it has their instructions. It divides no width
 * of vectors, so that every remainder comes up. */
static inline size_t case_step(void)
{
    static _Thread_local size_t step;

    if (step == 0)
        step = getenv("TAKT_TEST_EMULATED") != NULL ? 7 : 1;
    return step;
}

/* This one cannot follow a fork of a program that has threads. */
#if defined(__SANITIZE_THREAD__)
enum { is_thread_sanitized = 1 };
#else
enum { is_thread_sanitized = 0 };
#endif

/* It is asked for every element: the op that was found last is kept. */
static inline const struct takt_tolerance *tolerance_find(const char *name)
{
    static _Thread_local const takt_op *op;

    if (op == NULL || strcmp(op->name, name) != 0)
        op = takt_op_find(name);
    return &takt__op_entry(op)->tolerance;
}

static inline double eps_of(bool is_double)
{
    return is_double ? DBL_EPSILON : (double)FLT_EPSILON;
}

static inline double smallest_of(bool is_double)
{
    return is_double ? 0x1p-1074 : 0x1p-149;
}

static inline double largest_of(bool is_double)
{
    return is_double ? DBL_MAX : (double)FLT_MAX;
}

/* The last place of a float result. */
static inline double ulp_of_f32(double exact)
{
    int exponent;

    if (fabs(exact) < (double)FLT_MIN)
        return 0x1p-149;
    frexp(exact, &exponent);
    return ldexp(1.0, exponent - FLT_MANT_DIG);
}

/* And of a double; the exact result has more digits. */
static inline long double ulp_of(long double exact, bool is_double)
{
    int exponent;

    if (!is_double)
        return (long double)ulp_of_f32((double)exact);
    if (fabsl(exact) < (long double)DBL_MIN)
        return 0x1p-1074L;
    frexpl(exact, &exponent);
    return ldexpl(1.0L, exponent - DBL_MANT_DIG);
}

static inline bool same_value(double got, double want)
{
    if (isnan(got) || isnan(want))
        return isnan(got) && isnan(want);
    return got == want && !signbit(got) == !signbit(want);
}

/* Within `allowed` of `want`; NaN and infinities must be the same. A result
 * that would round to an infinity may be one. */
static inline bool is_near(double got, double want, double allowed,
                           bool is_double)
{
    if (isnan(want) || isinf(want))
        return same_value(got, want);
    if (isinf(got))
        return fabs(want) + allowed >= largest_of(is_double) &&
               !signbit(got) == !signbit(want);
    return fabs(got - want) <= allowed;
}

/* ---- what was met, printed as comments at the end of a test -------------- */

static struct {
    const char *op, *by, *dtype;
    double share; /* of what is allowed */
} tolerance_worst[128];

static inline void tolerance_note(const char *op, const char *by,
                                  bool is_double, double off, double allowed)
{
    const size_t rows = sizeof tolerance_worst / sizeof *tolerance_worst;
    const char *dtype = is_double ? "f64" : "f32";
    const double share = allowed > 0 && isfinite(off) ? off / allowed : 0;
    static size_t last; /* the row before is mostly the one */

    for (size_t k = 0; k < rows; k++) {
        const size_t i = (last + k) % rows;
        if (tolerance_worst[i].op == NULL) {
            tolerance_worst[i].op = op;
            tolerance_worst[i].by = by;
            tolerance_worst[i].dtype = dtype;
        }
        if (strcmp(tolerance_worst[i].op, op) == 0 &&
            strcmp(tolerance_worst[i].by, by) == 0 &&
            strcmp(tolerance_worst[i].dtype, dtype) == 0) {
            tolerance_worst[i].share = fmax(tolerance_worst[i].share, share);
            last = i;
            return;
        }
    }
}

static inline void tolerance_print(void)
{
    for (size_t i = 0; i < sizeof tolerance_worst / sizeof *tolerance_worst;
         i++)
        if (tolerance_worst[i].op != NULL && tolerance_worst[i].share > 0)
            printf("# %s %s %s: up to %.2f of what is allowed\n",
                   tolerance_worst[i].op, tolerance_worst[i].dtype,
                   tolerance_worst[i].by, tolerance_worst[i].share);
}

/* What a sum of `terms` may be off, when `magnitude` is the sum of the
 * magnitudes; denormal products are rounded to the smallest number. */
static inline double tolerance_sum(const struct takt_tolerance *t,
                                   bool is_double, double magnitude,
                                   size_t terms)
{
    const double factor =
        t->of == TAKT_ACCURACY_ROOT ? sqrt((double)terms + 1) : 1;

    return t->units * factor * eps_of(is_double) * magnitude +
           (double)(terms + 2) * smallest_of(is_double);
}

/* softmax: the exponent a - max is rounded before it is raised. */
static inline double tolerance_softmax(double result, double apart)
{
    const double units = tolerance_find("softmax")->units + fabs(apart) / 2;

    if (result == 0)
        return 0;
    return units * (double)FLT_EPSILON * result + 4 * 0x1p-149;
}

/* layernorm: z is the element after mean and variance, before the gain; the
 * mean is known to a few eps of the spread, not of itself. */
static inline double tolerance_layernorm(double z, double gain, double bias)
{
    return tolerance_find("layernorm")->units * (double)FLT_EPSILON *
           ((fabs(z) + 1) * fabs(gain) + fabs(bias));
}

/* attention: `score` is the largest of |scale| * sum |q k| + |mask| among the
 * keys that count, `value` the largest magnitude among the visible values. */
static inline double tolerance_attention(double score, double value)
{
    const double units = tolerance_find("attention")->units + 2 * score;

    return units * (double)FLT_EPSILON * value;
}
