/* SPDX-License-Identifier: MIT */
/*
 * interface.c - calling BLAS by its Fortran and by its C names.
 *
 * Fortran's matrices are transposes of ours: what lies there row by row it
 * reads column by column. So C = A B is asked for as C' = B' A', with the
 * operands swapped and their flags as they are.
 *
 * Fortran's interface passes everything by address, so one function type
 * serves both dtypes. Lengths of the one-letter arguments follow at the end,
 * as gfortran expects them; a library written in C does not look at them.
 */

#include "blas/library.h"

typedef void fortran_gemm(const char *trans_a, const char *trans_b,
                          const int *m, const int *n, const int *k,
                          const void *alpha, const void *a, const int *lda,
                          const void *b, const int *ldb, const void *beta,
                          void *c, const int *ldc, size_t, size_t);
typedef void fortran_gemv(const char *trans, const int *m, const int *n,
                          const void *alpha, const void *a, const int *lda,
                          const void *x, const int *x_step, const void *beta,
                          void *y, const int *y_step, size_t);
typedef void fortran_axpy(const int *n, const void *alpha, const void *x,
                          const int *x_step, void *y, const int *y_step);

bool takt__fortran_gemm(struct takt_blas_library *library, const void *self)
{
    const struct takt_blas_gemm *call = self;
    fortran_gemm *const run =
        (fortran_gemm *)library->symbol[TAKT_BLAS_GEMM][call->dtype];

    run(call->b.is_transposed ? "T" : "N", call->a.is_transposed ? "T" : "N",
        &call->n, &call->m, &call->k, &call->alpha, call->b.at, &call->b.ld,
        call->a.at, &call->a.ld, &call->beta, call->c, &call->ldc, 1, 1);
    return true;
}

bool takt__fortran_gemv(struct takt_blas_library *library, const void *self)
{
    const struct takt_blas_gemv *call = self;
    fortran_gemv *const run =
        (fortran_gemv *)library->symbol[TAKT_BLAS_GEMV][call->dtype];
    const bool is_plain = !call->a.is_transposed;

    run(is_plain ? "T" : "N", is_plain ? &call->n : &call->m,
        is_plain ? &call->m : &call->n, &call->alpha, call->a.at, &call->a.ld,
        call->x, &call->x_step, &call->beta, call->y, &call->y_step, 1);
    return true;
}

bool takt__fortran_axpy(struct takt_blas_library *library, const void *self)
{
    const struct takt_blas_axpy *call = self;
    fortran_axpy *const run =
        (fortran_axpy *)library->symbol[TAKT_BLAS_AXPY][call->dtype];

    run(&call->n, &call->alpha, call->x, &call->x_step, call->y, &call->y_step);
    return true;
}

/* CBLAS's own numbers for its choices. */
enum { row_major = 101, no_trans = 111, trans = 112 };

#define TYPES(s_, real_)                                                      \
    typedef void cblas_##s_##gemm(int order, int trans_a, int trans_b, int m, \
                                  int n, int k, real_ alpha, const real_ *a,  \
                                  int lda, const real_ *b, int ldb,           \
                                  real_ beta, real_ *c, int ldc);             \
    typedef void cblas_##s_##gemv(int order, int trans_a, int m, int n,       \
                                  real_ alpha, const real_ *a, int lda,       \
                                  const real_ *x, int x_step, real_ beta,     \
                                  real_ *y, int y_step);                      \
    typedef void cblas_##s_##axpy(int n, real_ alpha, const real_ *x,         \
                                  int x_step, real_ *y, int y_step);
TYPES(s, float)
TYPES(d, double)

bool takt__cblas_gemm(struct takt_blas_library *library, const void *self)
{
    const struct takt_blas_gemm *call = self;
    takt_blas_symbol *const run = library->symbol[TAKT_BLAS_GEMM][call->dtype];
    const int trans_a = call->a.is_transposed ? trans : no_trans;
    const int trans_b = call->b.is_transposed ? trans : no_trans;

    if (call->dtype == TAKT_BLAS_F32)
        ((cblas_sgemm *)run)(row_major, trans_a, trans_b, call->m, call->n,
                             call->k, call->alpha.f32, call->a.at, call->a.ld,
                             call->b.at, call->b.ld, call->beta.f32, call->c,
                             call->ldc);
    else
        ((cblas_dgemm *)run)(row_major, trans_a, trans_b, call->m, call->n,
                             call->k, call->alpha.f64, call->a.at, call->a.ld,
                             call->b.at, call->b.ld, call->beta.f64, call->c,
                             call->ldc);
    return true;
}

bool takt__cblas_gemv(struct takt_blas_library *library, const void *self)
{
    const struct takt_blas_gemv *call = self;
    takt_blas_symbol *const run = library->symbol[TAKT_BLAS_GEMV][call->dtype];
    const int trans_a = call->a.is_transposed ? trans : no_trans;
    /* Of the matrix as it lies there. */
    const int rows = call->a.is_transposed ? call->n : call->m;
    const int cols = call->a.is_transposed ? call->m : call->n;

    if (call->dtype == TAKT_BLAS_F32)
        ((cblas_sgemv *)run)(row_major, trans_a, rows, cols, call->alpha.f32,
                             call->a.at, call->a.ld, call->x, call->x_step,
                             call->beta.f32, call->y, call->y_step);
    else
        ((cblas_dgemv *)run)(row_major, trans_a, rows, cols, call->alpha.f64,
                             call->a.at, call->a.ld, call->x, call->x_step,
                             call->beta.f64, call->y, call->y_step);
    return true;
}

bool takt__cblas_axpy(struct takt_blas_library *library, const void *self)
{
    const struct takt_blas_axpy *call = self;
    takt_blas_symbol *const run = library->symbol[TAKT_BLAS_AXPY][call->dtype];

    if (call->dtype == TAKT_BLAS_F32)
        ((cblas_saxpy *)run)(call->n, call->alpha.f32, call->x, call->x_step,
                             call->y, call->y_step);
    else
        ((cblas_daxpy *)run)(call->n, call->alpha.f64, call->x, call->x_step,
                             call->y, call->y_step);
    return true;
}
