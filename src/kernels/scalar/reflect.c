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
    static double factor_##dtype_(size_t n, const real_ *x, size_t ld)        \
    {                                                                         \
        double most = 0;                                                      \
                                                                              \
        for (size_t i = 0; i < n; i++)                                        \
            most = fmax(most, fabs((double)x[i * ld]));                       \
        return takt__safe_factor(most);                                       \
    }                                                                         \
                                                                              \
    /* Of n elements, `ld` apart, each times a factor. */                     \
    static double norm_##dtype_(size_t n, const real_ *x, size_t ld,          \
                                double factor)                                \
    {                                                                         \
        double sum = 0;                                                       \
                                                                              \
        for (size_t i = 0; i < n; i++) {                                      \
            const double scaled = (double)x[i * ld] * factor;                 \
            sum += scaled * scaled;                                           \
        }                                                                     \
        return sqrt(sum);                                                     \
    }                                                                         \
                                                                              \
    /* Applies a reflection to n columns of C; v is 1 in row k of A, and lies \
     * below it in column k. */                                               \
    static void apply_##dtype_(size_t rows, size_t k, real_ tau,              \
                               const real_ *a, size_t ld, size_t n, real_ *c, \
                               size_t ld_c)                                   \
    {                                                                         \
        real_ sum[COLUMNS];                                                   \
                                                                              \
        for (size_t j = 0; j < n; j++)                                        \
            sum[j] = c[k * ld_c + j];                                         \
        for (size_t i = k + 1; i < rows; i++)                                 \
            for (size_t j = 0; j < n; j++)                                    \
                sum[j] += a[i * ld + k] * c[i * ld_c + j];                    \
        for (size_t j = 0; j < n; j++) {                                      \
            sum[j] *= tau;                                                    \
            c[k * ld_c + j] -= sum[j];                                        \
        }                                                                     \
        for (size_t i = k + 1; i < rows; i++)                                 \
            for (size_t j = 0; j < n; j++)                                    \
                c[i * ld_c + j] -= a[i * ld + k] * sum[j];                    \
    }                                                                         \
                                                                              \
    /* The same for the columns from `first` to `all`. */                     \
    static void apply_all_##dtype_(size_t rows, size_t k, real_ tau,          \
                                   const real_ *a, size_t ld, size_t first,   \
                                   size_t all, real_ *c, size_t ld_c)         \
    {                                                                         \
        for (size_t j = first; j < all; j += COLUMNS)                         \
            apply_##dtype_(rows, k, tau, a, ld,                               \
                           all - j < COLUMNS ? all - j : COLUMNS, c + j,      \
                           ld_c);                                             \
    }                                                                         \
                                                                              \
    void takt__k_unfold_##dtype_##_scalar(                                    \
        size_t rows, size_t cols, const void *a, size_t ld, const void *tau,  \
        void *q, size_t ld_q)                                                 \
    {                                                                         \
        real_ *of = q;                                                        \
                                                                              \
        for (size_t i = 0; i < rows; i++)                                     \
            for (size_t j = 0; j < cols; j++)                                 \
                of[i * ld_q + j] = i == j;                                    \
        for (size_t k = cols; k-- > 0;)                                       \
            apply_all_##dtype_(rows, k, ((const real_ *)tau)[k], a, ld, k,    \
                               cols, of, ld_q);                               \
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
            const double factor = factor_##dtype_(below + 1, x, ld);          \
            const struct takt_reflection r =                                  \
                takt__reflection((double)x[0] * factor,                       \
                                 norm_##dtype_(below, x + ld, ld, factor));   \
            x[0] = (real_)(r.beta / factor);                                  \
            for (size_t i = 1; i <= below; i++)                               \
                x[i * ld] = (real_)((double)x[i * ld] * factor * r.scale);    \
            ((real_ *)tau)[k] = (real_)r.tau;                                 \
            apply_all_##dtype_(rows, k, (real_)r.tau, of, ld, k + 1, all, of, \
                               ld);                                           \
        }                                                                     \
    }

/* clang-format off */
REFLECT(f32, float)
REFLECT(f64, double)
/* clang-format on */
