/* SPDX-License-Identifier: MIT */
/*
 * reflect.c - the definition of Householder reflections: column by column, each
 * applied to all that is on its right.
 */
#include "kernels/factor.h"
#include "kernels/reflection.h"

/* Rows are read in pieces of this, so that what is summed stays near. */
enum { COLUMNS = 64 };

#define REFLECT(dtype_, real_)                                                \
    /* Of n elements, `ld` apart. */                                          \
    static double norm_##dtype_(size_t n, const real_ *x, size_t ld)          \
    {                                                                         \
        double most = 0, sum = 0;                                             \
                                                                              \
        for (size_t i = 0; i < n; i++)                                        \
            most = fmax(most, fabs((double)x[i * ld]));                       \
        const double factor = takt__safe_factor(most);                        \
        for (size_t i = 0; i < n; i++) {                                      \
            const double scaled = (double)x[i * ld] * factor;                 \
            sum += scaled * scaled;                                           \
        }                                                                     \
        return most == 0 && sum == 0 ? 0 : sqrt(sum) / factor;                \
    }                                                                         \
                                                                              \
    /* Applies a reflection to `count` columns from `j` on; row k is where v  \
     * is 1. */                                                               \
    static void apply_##dtype_(size_t rows, size_t k, size_t j, size_t count, \
                               real_ tau, real_ *a, size_t ld)                \
    {                                                                         \
        real_ sum[COLUMNS];                                                   \
                                                                              \
        for (size_t c = 0; c < count; c++)                                    \
            sum[c] = a[k * ld + j + c];                                       \
        for (size_t i = k + 1; i < rows; i++)                                 \
            for (size_t c = 0; c < count; c++)                                \
                sum[c] += a[i * ld + k] * a[i * ld + j + c];                  \
        for (size_t c = 0; c < count; c++) {                                  \
            sum[c] *= tau;                                                    \
            a[k * ld + j + c] -= sum[c];                                      \
        }                                                                     \
        for (size_t i = k + 1; i < rows; i++)                                 \
            for (size_t c = 0; c < count; c++)                                \
                a[i * ld + j + c] -= a[i * ld + k] * sum[c];                  \
    }                                                                         \
                                                                              \
    void takt__k_reflect_##dtype_##_scalar(                                   \
        size_t rows, size_t cols, size_t all, void *a, size_t ld, void *tau)  \
    {                                                                         \
        real_ *of = a;                                                        \
                                                                              \
        for (size_t k = 0; k < cols; k++) {                                   \
            const size_t below = rows - k - 1;                                \
            real_ *x = of + k * ld + k;                                       \
            const struct takt_reflection r = takt__reflection(                \
                (double)x[0],                                                 \
                below == 0 ? 0 : norm_##dtype_(below, x + ld, ld));           \
            x[0] = (real_)r.beta;                                             \
            for (size_t i = 1; i <= below; i++)                               \
                x[i * ld] = (real_)((double)x[i * ld] * r.scale);             \
            ((real_ *)tau)[k] = (real_)r.tau;                                 \
            for (size_t j = k + 1; j < all; j += COLUMNS)                     \
                apply_##dtype_(rows, k, j,                                    \
                               all - j < COLUMNS ? all - j : COLUMNS,         \
                               (real_)r.tau, of, ld);                         \
        }                                                                     \
    }

/* clang-format off */
REFLECT(f32, float)
REFLECT(f64, double)
/* clang-format on */
