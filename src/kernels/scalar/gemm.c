/* SPDX-License-Identifier: MIT */
/*
 * gemm.c - the definition of matrix and matrix-vector products.
 *
 * One sum per element, in order, in the dtype. Every other kernel may add in
 * another order and fuse, and must stay within 4 * sqrt(k) * eps of the sum of
 * the magnitudes.
 */
#include "kernels/gemm.h"

/* Column j of the product is A times column j of B. */
static struct takt_gemv column(const struct takt_gemm *call, size_t j,
                               size_t size)
{
    return (struct takt_gemv){
        .m = call->m,
        .n = call->k,
        .a = call->a,
        .a_row = call->a_row,
        .a_col = call->a_col,
        .x = call->b == NULL ? NULL
                             : (const char *)call->b + j * call->b_col * size,
        .x_step = call->b_row,
        .y = (char *)call->c + j * size,
        .y_step = call->ldc,
        .alpha = call->alpha,
        .beta = call->beta,
    };
}

/* beta * y is not looked at where beta is 0. */
#define PRODUCTS(dtype_, real_)                                                \
    void takt__k_gemv_##dtype_##_scalar(const struct takt_gemv *call)          \
    {                                                                          \
        const real_ alpha = (real_)call->alpha, beta = (real_)call->beta;      \
        const size_t n = alpha == 0 ? 0 : call->n;                             \
                                                                               \
        for (size_t i = 0; i < call->m; i++) {                                 \
            const real_ *a = call->a, *x = call->x; /* NULL where n is 0 */    \
            real_ *y = (real_ *)call->y + i * call->y_step;                    \
            real_ sum = 0;                                                     \
            for (size_t j = 0; j < n; j++)                                     \
                sum += a[i * call->a_row + j * call->a_col] *                  \
                       x[j * call->x_step];                                    \
            const real_ kept = beta == 0 ? 0 : beta * *y;                      \
            *y = n == 0 ? kept : alpha * sum + kept;                           \
        }                                                                      \
    }                                                                          \
                                                                               \
    void takt__k_gemm_##dtype_##_scalar(const struct takt_gemm *call,          \
                                        const struct takt_gemm_blocks *blocks, \
                                        void *scratch)                         \
    {                                                                          \
        (void)blocks, (void)scratch;                                           \
        for (size_t j = 0; j < call->n; j++) {                                 \
            const struct takt_gemv one = column(call, j, sizeof(real_));       \
            takt__k_gemv_##dtype_##_scalar(&one);                              \
        }                                                                      \
    }                                                                          \
                                                                               \
    void takt__k_gemm_tune_##dtype_##_scalar(                                  \
        const struct takt_gemm_caches *caches,                                 \
        struct takt_gemm_blocks *blocks)                                       \
    {                                                                          \
        (void)caches;                                                          \
        *blocks = (struct takt_gemm_blocks){1, 1, 1};                          \
    }                                                                          \
                                                                               \
    size_t takt__k_gemm_room_##dtype_##_scalar(                                \
        const struct takt_gemm *call, const struct takt_gemm_blocks *blocks)   \
    {                                                                          \
        (void)call, (void)blocks;                                              \
        return 0;                                                              \
    }                                                                          \
                                                                               \
    const struct takt_gemm_parts takt__k_gemm_parts_##dtype_##_scalar = {      \
        .size = sizeof(real_)};

/* clang-format off */
PRODUCTS(f32, float)
PRODUCTS(f64, double)
/* clang-format on */
