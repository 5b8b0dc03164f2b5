/* SPDX-License-Identifier: MIT */
/*
 * gemm.c - the definition of matrix and matrix-vector products.
 *
 * One sum per element, in order, in the dtype. Every other kernel may add in
 * another order and fuse, and must stay within 4 * sqrt(k) * eps of the sum of
 * the magnitudes.
 */
#include "kernels/gemm.h"

/* beta * old, where beta == 0 means that old is not looked at. */
static float kept_f32(float beta, const float *old)
{
    return beta == 0 ? 0 : beta * *old;
}

static double kept_f64(double beta, const double *old)
{
    return beta == 0 ? 0 : beta * *old;
}

void takt__k_gemv_f32_scalar(const struct takt_gemv *call)
{
    const float alpha = (float)call->alpha, beta = (float)call->beta;
    const size_t n = alpha == 0 ? 0 : call->n;

    for (size_t i = 0; i < call->m; i++) {
        const float *a = call->a, *x = call->x; /* NULL where n is 0 */
        float *y = (float *)call->y + i * call->y_step;
        float sum = 0;
        for (size_t j = 0; j < n; j++)
            sum += a[i * call->a_row + j * call->a_col] * x[j * call->x_step];
        *y = n == 0 ? kept_f32(beta, y) : alpha * sum + kept_f32(beta, y);
    }
}

void takt__k_gemv_f64_scalar(const struct takt_gemv *call)
{
    const double alpha = call->alpha, beta = call->beta;
    const size_t n = alpha == 0 ? 0 : call->n;

    for (size_t i = 0; i < call->m; i++) {
        const double *a = call->a, *x = call->x; /* NULL where n is 0 */
        double *y = (double *)call->y + i * call->y_step;
        double sum = 0;
        for (size_t j = 0; j < n; j++)
            sum += a[i * call->a_row + j * call->a_col] * x[j * call->x_step];
        *y = n == 0 ? kept_f64(beta, y) : alpha * sum + kept_f64(beta, y);
    }
}

/* Column j of the product is A times column j of B. */
static struct takt_gemv column(const struct takt_gemm *call, size_t j,
                               size_t size)
{
    const struct takt_gemv column = {
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
    return column;
}

void takt__k_gemm_f32_scalar(const struct takt_gemm *call,
                             const struct takt_gemm_blocks *blocks,
                             void *scratch)
{
    (void)blocks;
    (void)scratch;
    for (size_t j = 0; j < call->n; j++) {
        const struct takt_gemv one = column(call, j, sizeof(float));
        takt__k_gemv_f32_scalar(&one);
    }
}

void takt__k_gemm_f64_scalar(const struct takt_gemm *call,
                             const struct takt_gemm_blocks *blocks,
                             void *scratch)
{
    (void)blocks;
    (void)scratch;
    for (size_t j = 0; j < call->n; j++) {
        const struct takt_gemv one = column(call, j, sizeof(double));
        takt__k_gemv_f64_scalar(&one);
    }
}

void takt__k_gemm_tune_f32_scalar(const struct takt_gemm_caches *caches,
                                  struct takt_gemm_blocks *blocks)
{
    (void)caches;
    *blocks = (struct takt_gemm_blocks){1, 1, 1};
}

void takt__k_gemm_tune_f64_scalar(const struct takt_gemm_caches *caches,
                                  struct takt_gemm_blocks *blocks)
{
    takt__k_gemm_tune_f32_scalar(caches, blocks);
}

size_t takt__k_gemm_room_f32_scalar(const struct takt_gemm *call,
                                    const struct takt_gemm_blocks *blocks)
{
    (void)call;
    (void)blocks;
    return 0;
}

size_t takt__k_gemm_room_f64_scalar(const struct takt_gemm *call,
                                    const struct takt_gemm_blocks *blocks)
{
    return takt__k_gemm_room_f32_scalar(call, blocks);
}
