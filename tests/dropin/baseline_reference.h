/* SPDX-License-Identifier: MIT */
/*
 * baseline_reference.h - the routines of dropin/triangular.h, as their
 * definitions have them, element by element.
 *
 * Sums are made in double. What BLAS does not read is not read here either, so
 * that a NaN there comes to nothing.
 */
#pragma once

#include <math.h>

#include "support/tap.h"
#include "triangular.h"

/* A sum, and that of the magnitudes of its terms. */
struct plain_sum {
    double value, magnitude;
};

static inline double plain_get(bool is_double, const void *matrix, size_t i)
{
    return is_double ? ((const double *)matrix)[i]
                     : (double)((const float *)matrix)[i];
}

static inline void plain_set(bool is_double, void *matrix, size_t i,
                             double value)
{
    if (is_double)
        ((double *)matrix)[i] = value;
    else
        ((float *)matrix)[i] = (float)value;
}

static inline void plain_add(struct plain_sum *sum, double term)
{
    sum->value += term;
    sum->magnitude += fabs(term);
}

/* alpha sum + beta c. */
static inline struct plain_sum plain_scale(struct plain_sum sum, double alpha,
                                           double beta, double c)
{
    struct plain_sum scaled = {alpha * sum.value, fabs(alpha) * sum.magnitude};

    if (beta != 0)
        plain_add(&scaled, beta * c);
    return scaled;
}

static inline bool plain_writes_triangle(const struct takt_triangular *call)
{
    return call->routine == TAKT_SYRK || call->routine == TAKT_SYR2K;
}

/* Of the matrix of which a triangle counts. */
static inline size_t plain_order(const struct takt_triangular *call)
{
    return plain_writes_triangle(call) || call->is_right ? call->n : call->m;
}

static inline bool plain_is_inside(const struct takt_triangular *call,
                                   size_t row, size_t column)
{
    return row == column || call->is_upper == (column > row);
}

/* symm, trmm, trsm: an element of op(A), all of it. */
static inline double plain_element(const struct takt_triangular *call,
                                   size_t row, size_t column)
{
    size_t i = call->is_transposed ? column : row;
    size_t j = call->is_transposed ? row : column;

    if (call->is_unit && i == j)
        return 1;
    if (!plain_is_inside(call, i, j)) {
        if (call->routine != TAKT_SYMM)
            return 0;
        const size_t mirrored = i;
        i = j;
        j = mirrored;
    }
    return plain_get(call->is_double, call->a, i * call->lda + j);
}

/* symm, trmm, trsm: an element of op(A) times `b`, or the other way round. */
static inline struct plain_sum plain_inner(const struct takt_triangular *call,
                                           const void *b, size_t ld, size_t row,
                                           size_t column)
{
    struct plain_sum sum = {0, 0};

    for (size_t l = 0; l < plain_order(call); l++) {
        const double of_a = call->is_right ? plain_element(call, l, column)
                                           : plain_element(call, row, l);
        const size_t i = call->is_right ? row * ld + l : l * ld + column;
        plain_add(&sum, of_a * plain_get(call->is_double, b, i));
    }
    return sum;
}

/* syrk, syr2k: an element of the sum of products. */
static inline struct plain_sum plain_outer(const struct takt_triangular *call,
                                           size_t row, size_t column)
{
    const bool is_double = call->is_double,
               is_twice = call->routine != TAKT_SYRK;
    const void *b = is_twice ? call->b : call->a;
    const size_t ldb = is_twice ? call->ldb : call->lda;
    struct plain_sum sum = {0, 0};

    for (size_t l = 0; l < call->k; l++) {
        const bool t = call->is_transposed;
        const size_t a_row = t ? l * call->lda + row : row * call->lda + l;
        const size_t a_column =
            t ? l * call->lda + column : column * call->lda + l;
        const size_t b_row = t ? l * ldb + row : row * ldb + l;
        const size_t b_column = t ? l * ldb + column : column * ldb + l;
        plain_add(&sum, plain_get(is_double, call->a, a_row) *
                            plain_get(is_double, b, b_column));
        if (is_twice)
            plain_add(&sum, plain_get(is_double, b, b_row) *
                                plain_get(is_double, call->a, a_column));
    }
    return sum;
}

static inline void plain_product(const struct takt_product *product)
{
    const struct takt_product p = *product;

    for (size_t i = 0; i < p.m; i++) {
        for (size_t j = 0; j < p.n; j++) {
            const size_t at = i * p.ldc + j;
            struct plain_sum sum = {0, 0};
            for (size_t l = 0; l < p.k; l++) {
                const size_t of_a =
                    p.is_a_transposed ? l * p.lda + i : i * p.lda + l;
                const size_t of_b =
                    p.is_b_transposed ? j * p.ldb + l : l * p.ldb + j;
                plain_add(&sum, plain_get(p.is_double, p.a, of_a) *
                                    plain_get(p.is_double, p.b, of_b));
            }
            const double c = plain_get(p.is_double, p.c, at);
            plain_set(p.is_double, p.c, at,
                      plain_scale(sum, p.alpha, p.beta, c).value);
        }
    }
}

/* trsm: one column (or row, from the right) of the solution. */
static inline void plain_solve(const struct takt_triangular *call, size_t line)
{
    const bool is_right = call->is_right;
    const bool is_backward =
        call->is_upper ^ call->is_transposed ^ call->is_right;
    const size_t order = plain_order(call), step = is_right ? 1 : call->ldc;
    const size_t begin = is_right ? line * call->ldc : line;

    for (size_t done = 0; done < order; done++) {
        const size_t i = is_backward ? order - 1 - done : done;
        const size_t at = begin + i * step;
        double x = call->alpha * plain_get(call->is_double, call->c, at);
        for (size_t k = 0; k < done; k++) {
            const size_t l = is_backward ? order - 1 - k : k;
            x -= (is_right ? plain_element(call, l, i)
                           : plain_element(call, i, l)) *
                 plain_get(call->is_double, call->c, begin + l * step);
        }
        plain_set(call->is_double, call->c, at, x / plain_element(call, i, i));
    }
}

/* Of all but trsm: an element of the result, when C was `before`. */
static inline struct plain_sum plain_result(const struct takt_triangular *call,
                                            const void *before, size_t row,
                                            size_t column)
{
    const double c =
        plain_get(call->is_double, before, row * call->ldc + column);

    if (plain_writes_triangle(call))
        return plain_scale(plain_outer(call, row, column), call->alpha,
                           call->beta, c);
    if (call->routine == TAKT_TRMM)
        return plain_scale(plain_inner(call, before, call->ldc, row, column),
                           call->alpha, 0, c);
    return plain_scale(plain_inner(call, call->b, call->ldb, row, column),
                       call->alpha, call->beta, c);
}

static inline size_t plain_rows(const struct takt_triangular *call)
{
    return plain_writes_triangle(call) ? call->n : call->m;
}

/* Whether an element of C, or of the gaps between its rows, is written. */
static inline bool plain_is_result(const struct takt_triangular *call,
                                   size_t row, size_t column)
{
    return column < call->n &&
           (!plain_writes_triangle(call) || plain_is_inside(call, row, column));
}

static inline void plain_triangular(const struct takt_triangular *call)
{
    const bool is_double = call->is_double;
    const size_t elements = (plain_rows(call) - 1) * call->ldc + call->n;
    const size_t bytes =
        elements * (is_double ? sizeof(double) : sizeof(float));

    if (call->routine == TAKT_TRSM) {
        for (size_t i = 0; i < (call->is_right ? call->m : call->n); i++)
            plain_solve(call, i);
        return;
    }

    void *const before = malloc(bytes);
    REQUIRE(before != NULL);
    memcpy(before, call->c, bytes);
    for (size_t at = 0; at < elements; at++) {
        const size_t i = at / call->ldc, j = at % call->ldc;
        if (plain_is_result(call, i, j))
            plain_set(is_double, call->c, at,
                      plain_result(call, before, i, j).value);
    }
    free(before);
}
