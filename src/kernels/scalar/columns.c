/* SPDX-License-Identifier: MIT */
/*
 * columns.c - the definition of bias_add, bias_mul and the reductions of
 * columns.
 *
 * Sums are added up in long double and rounded once. A maximum is NaN if there
 * is one; +0 is larger than -0.
 */
#include "kernels/kernel.h"

#include <math.h>
#include <stdbool.h>

#define BIAS(name_, dtype_, real_, result_)                                    \
    takt_bias_kernel takt__k_##name_##_##dtype_##_scalar;                      \
    void takt__k_##name_##_##dtype_##_scalar(                                  \
        size_t rows, size_t cols, const void *in, const void *bias, void *out) \
    {                                                                          \
        const real_ *x = in, *b = bias;                                        \
        real_ *y = out;                                                        \
                                                                               \
        for (size_t i = 0; i < rows; i++)                                      \
            for (size_t j = 0; j < cols; j++)                                  \
                y[i * cols + j] = result_;                                     \
    }

static bool is_larger(double x, double than)
{
    return isnan(x) || x > than ||
           (x == than && signbit(than) != 0 && signbit(x) == 0);
}

#define COLUMNS(name_, dtype_, real_, type_, step_, result_)            \
    takt_columns_kernel takt__k_##name_##_##dtype_##_scalar;            \
    void takt__k_##name_##_##dtype_##_scalar(                           \
        size_t rows, size_t cols, const void *in, size_t ld, void *out) \
    {                                                                   \
        for (size_t j = 0; j < cols; j++) {                             \
            const real_ *column = (const real_ *)in + j;                \
            type_ r = (type_)column[0];                                 \
            for (size_t i = 1; i < rows; i++) {                         \
                const type_ x = (type_)column[i * ld];                  \
                r = step_;                                              \
            }                                                           \
            ((real_ *)out)[j] = (real_)(result_);                       \
        }                                                               \
    }

#define EACH(dtype_, real_)                                       \
    BIAS(bias_add, dtype_, real_, x[i * cols + j] + b[j])         \
    BIAS(bias_mul, dtype_, real_, x[i * cols + j] * b[j])         \
    COLUMNS(col_sum, dtype_, real_, long double, r + x, r + 0.0L) \
    COLUMNS(col_mean, dtype_, real_, long double, r + x,          \
            (r + 0.0L) / (long double)rows)                       \
    COLUMNS(col_max, dtype_, real_, double,                       \
            !isnan(r) && is_larger(x, r) ? x : r, r)

EACH(f32, float)
EACH(f64, double)
