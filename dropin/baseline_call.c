/* SPDX-License-Identifier: MIT */
/*
 * baseline_call.c - calls by rows, in a library that thinks in columns.
 *
 * A matrix by rows is the transpose of the same memory by columns, so every
 * call is made for the transposes: operands change sides, triangles turn over.
 * Integers are handed over by address, as 64 bits; who reads 32 of them finds
 * the low half, which on all machines of ours comes first.
 */
#include "baseline.h"

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

/* A factor as the library wants it: by address, in its own type. */
union factor {
    float f32;
    double f64;
};

static union factor factor_of(bool is_double, double value)
{
    return is_double ? (union factor){.f64 = value}
                     : (union factor){.f32 = (float)value};
}

void takt__baseline_product(const struct takt_baseline *baseline,
                            const struct takt_product *p)
{
    gemm_function *gemm =
        (gemm_function *)baseline->function[TAKT_GEMM][p->is_double];
    const union factor alpha = factor_of(p->is_double, p->alpha);
    const union factor beta = factor_of(p->is_double, p->beta);
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
    const union factor alpha = factor_of(call->is_double, call->alpha);
    const union factor beta = factor_of(call->is_double, call->beta);
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
