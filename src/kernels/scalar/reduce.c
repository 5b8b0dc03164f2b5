/* SPDX-License-Identifier: MIT */
/*
 * reduce.c - the definition of every reduction.
 *
 * f32 is accumulated in double, f64 with Neumaier's compensation, so that
 * the error does not grow with n. Sums start at +0: a sum of nothing but -0
 * is +0. Infinities follow IEEE 754 (inf + 1 is inf, inf - inf is NaN); an
 * f64 sum may overflow on the way although the exact sum would fit.
 */
#include "kernels/kernel.h"

#include <float.h>
#include <math.h>

#include "kernels/partial.h"

struct sum {
    double value, rest;
};

/* How an f32 is added, and how an f64 is. */
static inline void add_f32(struct sum *sum, double x)
{
    sum->value += x;
}

static inline void add_f64(struct sum *sum, double x)
{
    double error;
    sum->value = takt__two_sum(sum->value, x, &error);
    sum->rest += error;
}

#define KERNEL(op_, dtype_, run_) \
    TAKT_REDUCE(takt__k_##op_##_##dtype_##_scalar, run_)

/* Sums of terms of x, or of x and y where there are two operands. */
#define SUM(op_, dtype_, real_, operands_, term_)                           \
    static inline void sum_##op_##_##dtype_(                                \
        size_t n, const real_ *a, const real_ *b, struct takt_partial *out) \
    {                                                                       \
        struct sum sum = {0.0, 0.0};                                        \
                                                                            \
        for (size_t i = 0; i < n; i++) {                                    \
            const double x = (double)a[i];                                  \
            const double y = operands_ > 1 ? (double)b[i] : 0.0;            \
            (void)y;                                                        \
            add_##dtype_(&sum, term_);                                      \
        }                                                                   \
        takt__partial_set(out, n, sum.value, sum.rest);                     \
    }                                                                       \
    KERNEL(op_, dtype_, sum_##op_##_##dtype_(n, a, b, out))

/* clang-format off */
SUM(sum, f32, float, 1, x)
SUM(sum, f64, double, 1, x)
SUM(norm1, f32, float, 1, fabs(x))
SUM(norm1, f64, double, 1, fabs(x))
SUM(dot, f32, float, 2, x * y)
SUM(dot, f64, double, 2, x * y)
KERNEL(mean, f32, takt__k_sum_f32_scalar(n, a, b, out))
KERNEL(mean, f64, takt__k_sum_f64_scalar(n, a, b, out))
KERNEL(norm2, f32, takt__k_dot_f32_scalar(n, a, a, out))
/* clang-format on */

/* norm2 of doubles. */

static struct sum squares(size_t n, const double *x, double factor)
{
    struct sum sum = {0.0, 0.0};

    for (size_t i = 0; i < n; i++)
        add_f64(&sum, (x[i] * factor) * (x[i] * factor));
    return sum;
}

static inline void norm2_f64(size_t n, const double *a,
                             struct takt_partial *out)
{
    struct sum sum = squares(n, a, 1.0);
    size_t scale = TAKT_SCALE_NONE;

    if (sum.value >= TAKT_SQUARES_MOST) {
        scale = TAKT_SCALE_DOWN;
        sum = squares(n, a, TAKT_SCALE_DOWN_FACTOR);
    } else if (sum.value < TAKT_SQUARES_MIN) {
        scale = TAKT_SCALE_UP;
        sum = squares(n, a, TAKT_SCALE_UP_FACTOR);
    }
    takt__partial_set(out, n, sum.value, sum.rest);
    out->index = scale;
}

KERNEL(norm2, f64, norm2_f64(n, a, out))

/* variance: around the mean, less what rounding of the mean added. */

static inline void variance_f32(size_t n, const float *x,
                                struct takt_partial *out)
{
    double around = 0.0;
    double drift = 0.0;

    takt__k_sum_f32_scalar(n, x, NULL, out);
    const double mean = out->value / (double)n;
    for (size_t i = 0; i < n; i++) {
        const double apart = (double)x[i] - mean;
        around += apart * apart;
        drift += apart;
    }
    out->value = mean + drift / (double)n;
    out->rest = around - drift * drift / (double)n;
}

static inline void variance_f64(size_t n, const double *x,
                                struct takt_partial *out)
{
    struct sum around = {0.0, 0.0};
    double drift = 0.0;

    takt__k_sum_f64_scalar(n, x, NULL, out);
    const double mean = (out->value + out->rest) / (double)n;
    for (size_t i = 0; i < n; i++) {
        const double apart = x[i] - mean;
        add_f64(&around, apart * apart);
        drift += apart;
    }
    out->value = mean + drift / (double)n;
    /* (in other directions than to nearest nothing overflows to infinity) */
    out->rest = around.value >= DBL_MAX ? (double)INFINITY : around.value;
    if (isfinite(out->rest))
        out->rest += around.rest - drift * drift / (double)n;
}

KERNEL(variance, f32, variance_f32(n, a, out))
KERNEL(variance, f64, variance_f64(n, a, out))

/* Extrema: `sign` is 1 for the largest, -1 for the smallest. */

enum dtype { F32, F64 };

static inline double at(enum dtype dtype, const void *x, size_t i)
{
    return dtype == F32 ? (double)((const float *)x)[i]
                        : ((const double *)x)[i];
}

static inline void extremum(enum dtype dtype, size_t n, const void *x,
                            double sign, struct takt_partial *out)
{
    struct takt_partial best = {at(dtype, x, 0), 0.0, 0, n};

    for (size_t i = 1; i < n && !isnan(best.value); i++) {
        const double next = at(dtype, x, i);
        if (isnan(next) || sign * next > sign * best.value) {
            best.value = next;
            best.index = i;
        }
    }
    *out = best;
}

/* The first zero need not be the right one: +0 is larger than -0. */
static inline void order_zeros(enum dtype dtype, size_t n, const void *x,
                               double sign, struct takt_partial *best)
{
    const bool wanted = sign < 0.0;

    if (best->value != 0.0)
        return;
    for (size_t i = best->index; i < n; i++) {
        const double next = at(dtype, x, i);
        if (next == 0.0 && !signbit(next) == !wanted) {
            best->value = next;
            return;
        }
    }
}

static inline void value(enum dtype dtype, size_t n, const void *x, double sign,
                         struct takt_partial *out)
{
    extremum(dtype, n, x, sign, out);
    order_zeros(dtype, n, x, sign, out);
}

/* clang-format off */
KERNEL(max, f32, value(F32, n, a, 1.0, out))
KERNEL(max, f64, value(F64, n, a, 1.0, out))
KERNEL(min, f32, value(F32, n, a, -1.0, out))
KERNEL(min, f64, value(F64, n, a, -1.0, out))
KERNEL(argmax, f32, extremum(F32, n, a, 1.0, out))
KERNEL(argmax, f64, extremum(F64, n, a, 1.0, out))
KERNEL(argmin, f32, extremum(F32, n, a, -1.0, out))
KERNEL(argmin, f64, extremum(F64, n, a, -1.0, out))
/* clang-format on */
