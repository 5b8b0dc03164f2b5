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

#include <math.h>
#include <stdbool.h>

#include "kernels/partial.h"

takt_reduce_kernel takt__k_sum_f32_scalar, takt__k_sum_f64_scalar;
takt_reduce_kernel takt__k_mean_f32_scalar, takt__k_mean_f64_scalar;
takt_reduce_kernel takt__k_norm1_f32_scalar, takt__k_norm1_f64_scalar;
takt_reduce_kernel takt__k_dot_f32_scalar, takt__k_dot_f64_scalar;
takt_reduce_kernel takt__k_norm2_f32_scalar, takt__k_norm2_f64_scalar;
takt_reduce_kernel takt__k_variance_f32_scalar, takt__k_variance_f64_scalar;
takt_reduce_kernel takt__k_max_f32_scalar, takt__k_max_f64_scalar;
takt_reduce_kernel takt__k_min_f32_scalar, takt__k_min_f64_scalar;
takt_reduce_kernel takt__k_argmax_f32_scalar, takt__k_argmax_f64_scalar;
takt_reduce_kernel takt__k_argmin_f32_scalar, takt__k_argmin_f64_scalar;

struct sum {
    double value, rest;
};

static void add(struct sum *sum, double x)
{
    double error;
    sum->value = takt__two_sum(sum->value, x, &error);
    sum->rest += error;
}

/* Sums. */

void takt__k_sum_f32_scalar(size_t n, const void *a, const void *b,
                            struct takt_partial *out)
{
    const float *x = a;
    double sum = 0.0;

    (void)b;
    for (size_t i = 0; i < n; i++)
        sum += (double)x[i];
    takt__partial_set(out, n, sum, 0.0);
}

void takt__k_sum_f64_scalar(size_t n, const void *a, const void *b,
                            struct takt_partial *out)
{
    const double *x = a;
    struct sum sum = {0.0, 0.0};

    (void)b;
    for (size_t i = 0; i < n; i++)
        add(&sum, x[i]);
    takt__partial_set(out, n, sum.value, sum.rest);
}

void takt__k_mean_f32_scalar(size_t n, const void *a, const void *b,
                             struct takt_partial *out)
{
    takt__k_sum_f32_scalar(n, a, b, out);
}

void takt__k_mean_f64_scalar(size_t n, const void *a, const void *b,
                             struct takt_partial *out)
{
    takt__k_sum_f64_scalar(n, a, b, out);
}

void takt__k_norm1_f32_scalar(size_t n, const void *a, const void *b,
                              struct takt_partial *out)
{
    const float *x = a;
    double sum = 0.0;

    (void)b;
    for (size_t i = 0; i < n; i++)
        sum += fabs((double)x[i]);
    takt__partial_set(out, n, sum, 0.0);
}

void takt__k_norm1_f64_scalar(size_t n, const void *a, const void *b,
                              struct takt_partial *out)
{
    const double *x = a;
    struct sum sum = {0.0, 0.0};

    (void)b;
    for (size_t i = 0; i < n; i++)
        add(&sum, fabs(x[i]));
    takt__partial_set(out, n, sum.value, sum.rest);
}

void takt__k_dot_f32_scalar(size_t n, const void *a, const void *b,
                            struct takt_partial *out)
{
    const float *x = a;
    const float *y = b;
    double sum = 0.0;

    for (size_t i = 0; i < n; i++)
        sum += (double)x[i] * (double)y[i];
    takt__partial_set(out, n, sum, 0.0);
}

void takt__k_dot_f64_scalar(size_t n, const void *a, const void *b,
                            struct takt_partial *out)
{
    const double *x = a;
    const double *y = b;
    struct sum sum = {0.0, 0.0};

    for (size_t i = 0; i < n; i++)
        add(&sum, x[i] * y[i]);
    takt__partial_set(out, n, sum.value, sum.rest);
}

/* norm2. */

void takt__k_norm2_f32_scalar(size_t n, const void *a, const void *b,
                              struct takt_partial *out)
{
    (void)b;
    takt__k_dot_f32_scalar(n, a, a, out);
}

static struct sum squares(size_t n, const double *x, double factor)
{
    struct sum sum = {0.0, 0.0};

    for (size_t i = 0; i < n; i++)
        add(&sum, (x[i] * factor) * (x[i] * factor));
    return sum;
}

void takt__k_norm2_f64_scalar(size_t n, const void *a, const void *b,
                              struct takt_partial *out)
{
    struct sum sum = squares(n, a, 1.0);
    size_t scale = TAKT_SCALE_NONE;

    (void)b;
    if (isinf(sum.value)) {
        scale = TAKT_SCALE_DOWN;
        sum = squares(n, a, TAKT_SCALE_DOWN_FACTOR);
    } else if (sum.value < TAKT_SQUARES_MIN) {
        scale = TAKT_SCALE_UP;
        sum = squares(n, a, TAKT_SCALE_UP_FACTOR);
    }
    takt__partial_set(out, n, sum.value, sum.rest);
    out->index = scale;
}

/* variance: around the mean, less what rounding of the mean added. */

void takt__k_variance_f32_scalar(size_t n, const void *a, const void *b,
                                 struct takt_partial *out)
{
    const float *x = a;
    double around = 0.0;
    double drift = 0.0;

    takt__k_sum_f32_scalar(n, a, b, out);
    const double mean = out->value / (double)n;
    for (size_t i = 0; i < n; i++) {
        const double apart = (double)x[i] - mean;
        around += apart * apart;
        drift += apart;
    }
    out->value = mean + drift / (double)n;
    out->rest = around - drift * drift / (double)n;
}

void takt__k_variance_f64_scalar(size_t n, const void *a, const void *b,
                                 struct takt_partial *out)
{
    const double *x = a;
    struct sum around = {0.0, 0.0};
    double drift = 0.0;

    takt__k_sum_f64_scalar(n, a, b, out);
    const double mean = (out->value + out->rest) / (double)n;
    for (size_t i = 0; i < n; i++) {
        const double apart = x[i] - mean;
        add(&around, apart * apart);
        drift += apart;
    }
    out->value = mean + drift / (double)n;
    out->rest = around.value;
    if (isfinite(around.value))
        out->rest += around.rest - drift * drift / (double)n;
}

/* Extrema: `sign` is 1 for the largest, -1 for the smallest. */

static void extremum_f32(size_t n, const float *x, double sign,
                         struct takt_partial *out)
{
    struct takt_partial best = {(double)x[0], 0.0, 0, n};

    for (size_t i = 1; i < n && !isnan(best.value); i++) {
        const double next = (double)x[i];
        if (isnan(next) || sign * next > sign * best.value) {
            best.value = next;
            best.index = i;
        }
    }
    *out = best;
}

static void extremum_f64(size_t n, const double *x, double sign,
                         struct takt_partial *out)
{
    struct takt_partial best = {x[0], 0.0, 0, n};

    for (size_t i = 1; i < n && !isnan(best.value); i++) {
        if (isnan(x[i]) || sign * x[i] > sign * best.value) {
            best.value = x[i];
            best.index = i;
        }
    }
    *out = best;
}

void takt__k_argmax_f32_scalar(size_t n, const void *a, const void *b,
                               struct takt_partial *out)
{
    (void)b;
    extremum_f32(n, a, 1.0, out);
}

void takt__k_argmax_f64_scalar(size_t n, const void *a, const void *b,
                               struct takt_partial *out)
{
    (void)b;
    extremum_f64(n, a, 1.0, out);
}

void takt__k_argmin_f32_scalar(size_t n, const void *a, const void *b,
                               struct takt_partial *out)
{
    (void)b;
    extremum_f32(n, a, -1.0, out);
}

void takt__k_argmin_f64_scalar(size_t n, const void *a, const void *b,
                               struct takt_partial *out)
{
    (void)b;
    extremum_f64(n, a, -1.0, out);
}

/* The first zero need not be the right one: +0 is larger than -0. */
static void order_zeros_f32(size_t n, const float *x, double sign,
                            struct takt_partial *best)
{
    const bool wanted = sign < 0.0;

    if (best->value != 0.0)
        return;
    for (size_t i = best->index; i < n; i++) {
        if (x[i] == 0.0F && !signbit(x[i]) == !wanted) {
            best->value = (double)x[i];
            return;
        }
    }
}

static void order_zeros_f64(size_t n, const double *x, double sign,
                            struct takt_partial *best)
{
    const bool wanted = sign < 0.0;

    if (best->value != 0.0)
        return;
    for (size_t i = best->index; i < n; i++) {
        if (x[i] == 0.0 && !signbit(x[i]) == !wanted) {
            best->value = x[i];
            return;
        }
    }
}

void takt__k_max_f32_scalar(size_t n, const void *a, const void *b,
                            struct takt_partial *out)
{
    (void)b;
    extremum_f32(n, a, 1.0, out);
    order_zeros_f32(n, a, 1.0, out);
}

void takt__k_max_f64_scalar(size_t n, const void *a, const void *b,
                            struct takt_partial *out)
{
    (void)b;
    extremum_f64(n, a, 1.0, out);
    order_zeros_f64(n, a, 1.0, out);
}

void takt__k_min_f32_scalar(size_t n, const void *a, const void *b,
                            struct takt_partial *out)
{
    (void)b;
    extremum_f32(n, a, -1.0, out);
    order_zeros_f32(n, a, -1.0, out);
}

void takt__k_min_f64_scalar(size_t n, const void *a, const void *b,
                            struct takt_partial *out)
{
    (void)b;
    extremum_f64(n, a, -1.0, out);
    order_zeros_f64(n, a, -1.0, out);
}
