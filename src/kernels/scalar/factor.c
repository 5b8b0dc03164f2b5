/* SPDX-License-Identifier: MIT */
/*
 * factor.c - the definition of Cholesky and LU factors and of triangular
 * systems: row by row, in the dtype, without blocks.
 */
#include "kernels/factor.h"

#include <tgmath.h>

/* row -= factor * other, from element `from` on. */
#define STEPS(dtype_, real_)                                                   \
    static void subtract_##dtype_(size_t from, size_t n, real_ factor,         \
                                  const real_ *other, real_ *row)              \
    {                                                                          \
        for (size_t j = from; j < n; j++)                                      \
            row[j] -= factor * other[j];                                       \
    }                                                                          \
                                                                               \
    bool takt__k_cholesky_##dtype_##_scalar(size_t n, void *a, size_t ld)      \
    {                                                                          \
        for (size_t i = 0; i < n; i++) {                                       \
            real_ *row = (real_ *)a + i * ld;                                  \
            for (size_t k = 0; k < i; k++) {                                   \
                const real_ *above = (const real_ *)a + k * ld;                \
                subtract_##dtype_(i, n, above[i], above, row);                 \
            }                                                                  \
            if (!(row[i] > 0) || !isfinite(row[i]))                            \
                return false;                                                  \
            row[i] = sqrt(row[i]);                                             \
            for (size_t j = i + 1; j < n; j++)                                 \
                row[j] /= row[i];                                              \
        }                                                                      \
        return true;                                                           \
    }                                                                          \
                                                                               \
    void takt__k_substitute_##dtype_##_scalar(const struct takt_triangle *t,   \
                                              size_t cols, void *b, size_t ld) \
    {                                                                          \
        const real_ *of = t->at;                                               \
                                                                               \
        for (size_t done = 0; done < t->n; done++) {                           \
            const size_t i = t->is_lower ? done : t->n - 1 - done;             \
            real_ *row = (real_ *)b + i * ld;                                  \
            for (size_t k = 0; k < done; k++) {                                \
                const size_t j = t->is_lower ? k : t->n - 1 - k;               \
                subtract_##dtype_(0, cols, of[i * t->row + j * t->col],        \
                                  (const real_ *)b + j * ld, row);             \
            }                                                                  \
            for (size_t j = 0; j < cols && !t->is_unit; j++)                   \
                row[j] /= of[i * t->row + i * t->col];                         \
        }                                                                      \
    }                                                                          \
                                                                               \
    void takt__k_swap_##dtype_##_scalar(size_t count, size_t first,            \
                                        const size_t *pivot, size_t cols,      \
                                        void *a, size_t ld)                    \
    {                                                                          \
        for (size_t k = 0; k < count; k++) {                                   \
            real_ *one = (real_ *)a + k * ld;                                  \
            real_ *other = (real_ *)a + (pivot[k] - first) * ld;               \
            for (size_t j = 0; j < cols && one != other; j++) {                \
                const real_ kept = one[j];                                     \
                one[j] = other[j];                                             \
                other[j] = kept;                                               \
            }                                                                  \
        }                                                                      \
    }                                                                          \
                                                                               \
    static size_t largest_##dtype_(size_t rows, const real_ *a, size_t ld,     \
                                   size_t k)                                   \
    {                                                                          \
        size_t best = k;                                                       \
                                                                               \
        for (size_t i = k + 1; i < rows; i++)                                  \
            if (fabs(a[i * ld + k]) > fabs(a[best * ld + k]))                  \
                best = i;                                                      \
        return best;                                                           \
    }                                                                          \
                                                                               \
    bool takt__k_lu_##dtype_##_scalar(size_t rows, size_t cols, void *a,       \
                                      size_t ld, size_t first, size_t *pivot)  \
    {                                                                          \
        for (size_t k = 0; k < cols; k++) {                                    \
            real_ *above = (real_ *)a + k * ld;                                \
            pivot[k] = first + largest_##dtype_(rows, a, ld, k);               \
            takt__k_swap_##dtype_##_scalar(1, first + k, &pivot[k], cols,      \
                                           above, ld);                         \
            if (above[k] == 0 || !isfinite(above[k]))                          \
                return false;                                                  \
            for (size_t i = k + 1; i < rows; i++) {                            \
                real_ *row = (real_ *)a + i * ld;                              \
                row[k] /= above[k];                                            \
                subtract_##dtype_(k + 1, cols, row[k], above, row);            \
            }                                                                  \
        }                                                                      \
        return true;                                                           \
    }                                                                          \
                                                                               \
    void takt__k_mirror_##dtype_##_scalar(size_t n, void *a, size_t ld)        \
    {                                                                          \
        real_ *of = a;                                                         \
                                                                               \
        for (size_t i = 0; i < n; i++)                                         \
            for (size_t j = i + 1; j < n; j++) {                               \
                of[j * ld + i] = of[i * ld + j];                               \
                of[i * ld + j] = 0;                                            \
            }                                                                  \
    }                                                                          \
                                                                               \
    const struct takt_factor_kernels takt__k_factor_##dtype_##_scalar = {      \
        .cholesky = takt__k_cholesky_##dtype_##_scalar,                        \
        .substitute = takt__k_substitute_##dtype_##_scalar,                    \
        .lu = takt__k_lu_##dtype_##_scalar,                                    \
        .swap = takt__k_swap_##dtype_##_scalar,                                \
        .mirror = takt__k_mirror_##dtype_##_scalar,                            \
        .reflect = takt__k_reflect_##dtype_##_scalar,                          \
        .unfold = takt__k_unfold_##dtype_##_scalar,                            \
        .size = sizeof(real_)};

/* clang-format off */
STEPS(f32, float)
STEPS(f64, double)
/* clang-format on */
