/* SPDX-License-Identifier: MIT */
/*
 * triangular.h - symm, syrk, syr2k, trmm and trsm, made of ordinary products.
 *
 * The triangle is cut in halves, recursively: the square that is left between
 * the two smaller triangles is an ordinary product (or two), and those run
 * wherever products run best. What is small enough is left to the baseline
 * library.
 *
 * All matrices are by rows. A matrix by columns is described as its transpose.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "routine.h"

/* C = alpha op(A) op(B) + beta C; C has m rows and n columns. With beta 0, C is
 * not read. */
struct takt_product {
    bool is_double;
    size_t m, n, k;
    bool is_a_transposed, is_b_transposed;
    double alpha, beta;
    const void *a, *b;
    void *c;
    size_t lda, ldb, ldc; /* elements from one row to the next */
};

/* As BLAS has it, with order by rows:
 *
 *   symm   C = alpha A B + beta C, or B A from the right; A is symmetric, of
 *          order m (left) or n (right); B and C are m by n
 *   syrk   C = alpha op(A) op(A)' + beta C; C is symmetric, of order n; op(A)
 *          is n by k
 *   syr2k  C = alpha (op(A) op(B)' + op(B) op(A)') + beta C
 *   trmm   B = alpha op(A) B, or B op(A) from the right; A is triangular, of
 *          order m or n
 *   trsm   op(A) X = alpha B, or X op(A) = alpha B; X is written over B
 *
 * Only the triangle `is_upper` of the symmetric or triangular matrix is read or
 * written; with `is_unit` its diagonal is taken to be 1 and is not read. */
struct takt_triangular {
    enum takt_routine routine;
    bool is_double;
    bool is_right, is_upper, is_transposed, is_unit;
    size_t m, n, k;
    double alpha, beta;
    const void *a, *b; /* b: not of syrk, trmm and trsm */
    void *c;           /* what is written: B of trmm and trsm */
    size_t lda, ldb, ldc;
};

struct takt_steps {
    void *self;
    /* Neither can fail: what is not routed runs in the baseline library. */
    void (*product)(void *self, const struct takt_product *product);
    void (*rest)(void *self, const struct takt_triangular *part);
    size_t least; /* the order from which a triangle is cut; at least 2 */
};

/* syrk and syr2k: the result is the triangle. Of the others, A is. */
static inline bool takt__writes_triangle(const struct takt_triangular *call)
{
    return call->routine == TAKT_SYRK || call->routine == TAKT_SYR2K;
}

static inline size_t takt__triangle_order(const struct takt_triangular *call)
{
    return takt__writes_triangle(call) || call->is_right ? call->n : call->m;
}

/* Runs the call. Sizes are at least 1; alpha is not 0. */
void takt__by_halves(const struct takt_triangular *call,
                     const struct takt_steps *steps);
