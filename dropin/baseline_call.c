/* SPDX-License-Identifier: MIT */
/*
 * baseline_call.c - calls by rows, through Fortran's names.
 *
 * A matrix by rows is the transpose of the same memory by columns, so every
 * call is made for the transposes: operands change sides, upper triangles
 * become lower ones. Integers are passed by address, with 64 bits; a library
 * that reads 32 of them gets the lower half, since all machines that Takt runs
 * on are little-endian.
 */
#include "baseline_call.h"

typedef const int64_t *number;
typedef const void *pointer;

typedef void gemm_function(const char *, const char *, number, number, number,
                           pointer, pointer, number, pointer, number, pointer,
                           void *, number, size_t, size_t);
typedef void symm_function(const char *, const char *, number, number, pointer,
                           pointer, number, pointer, number, pointer, void *,
                           number, size_t, size_t);
typedef void syrk_function(const char *, const char *, number, number, pointer,
                           pointer, number, pointer, void *, number, size_t,
                           size_t);
typedef void trsm_function(const char *, const char *, const char *,
                           const char *, number, number, pointer, pointer,
                           number, void *, number, size_t, size_t, size_t,
                           size_t);

void takt__baseline_product(const struct takt_baseline *baseline,
                            const struct takt_product *p)
{
    gemm_function *gemm =
        (gemm_function *)baseline->function[TAKT_GEMM][p->is_double];
    const union takt_factor alpha = takt__factor_of(p->is_double, p->alpha);
    const union takt_factor beta = takt__factor_of(p->is_double, p->beta);
    const int64_t m = (int64_t)p->m, n = (int64_t)p->n, k = (int64_t)p->k;
    const int64_t lda = (int64_t)p->lda, ldb = (int64_t)p->ldb;
    const int64_t ldc = (int64_t)p->ldc;

    gemm(p->is_b_transposed ? "T" : "N", p->is_a_transposed ? "T" : "N", &n, &m,
         &k, &alpha, p->b, &ldb, p->a, &lda, &beta, p->c, &ldc, 1, 1);
}

void takt__baseline_triangular(const struct takt_baseline *baseline,
                               const struct takt_triangular *call)
{
    takt_symbol *function = baseline->function[call->routine][call->is_double];
    const union takt_factor alpha =
        takt__factor_of(call->is_double, call->alpha);
    const union takt_factor beta = takt__factor_of(call->is_double, call->beta);
    const int64_t m = (int64_t)call->m, n = (int64_t)call->n;
    const int64_t k = (int64_t)call->k, lda = (int64_t)call->lda;
    const int64_t ldb = (int64_t)call->ldb, ldc = (int64_t)call->ldc;
    const char *side = call->is_right ? "L" : "R";
    const char *uplo = call->is_upper ? "L" : "U";
    const char *unit = call->is_unit ? "U" : "N";
    const char *same = call->is_transposed ? "T" : "N";
    const char *turned = call->is_transposed ? "N" : "T";

    switch (call->routine) {
    case TAKT_SYMM:
        ((symm_function *)function)(side, uplo, &n, &m, &alpha, call->a, &lda,
                                    call->b, &ldb, &beta, call->c, &ldc, 1, 1);
        break;
    case TAKT_SYRK:
        ((syrk_function *)function)(uplo, turned, &n, &k, &alpha, call->a, &lda,
                                    &beta, call->c, &ldc, 1, 1);
        break;
    case TAKT_SYR2K: /* has the operands of symm in another order */
        ((symm_function *)function)(uplo, turned, &n, &k, &alpha, call->a, &lda,
                                    call->b, &ldb, &beta, call->c, &ldc, 1, 1);
        break;
    default: /* trmm, trsm */
        ((trsm_function *)function)(side, uplo, same, unit, &n, &m, &alpha,
                                    call->a, &lda, call->c, &ldc, 1, 1, 1, 1);
        break;
    }
}
