/* SPDX-License-Identifier: MIT */
/*
 * baseline_request.h - a call of BLAS, whatever name it came by.
 *
 * The arguments of every routine are described by one word, a letter for each:
 *
 *     t T   transa, transb        s u d   side, uplo, diag
 *     m n k sizes                 f F     alpha, beta
 *     a b c what is pointed to    A B C   from one column, row or element to
 *                                         the next
 *
 * c is what is written. A vector that is only read is b (of ger, x is a and y
 * is b); one that is written is c.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "routine.h"

struct baseline_request {
    enum takt_routine routine;
    enum takt_blas_type letter;
    int order; /* CBLAS's; 0: a call of Fortran's */
    /* Fortran's letters or CBLAS's numbers. */
    int transa, transb, side, uplo, diag;
    int64_t m, n, k, lda, ldb, ldc;
    double alpha[2], beta[2];
    const void *a, *b;
    void *c;
    /* What is returned: of dot, nrm2 and asum; of iamax. */
    double sum;
    int64_t index;
};

enum { BASELINE_BY_ROWS = 101, BASELINE_BY_COLUMNS = 102 };

/* "tTmnkfaAbBFcC" for gemm. */
const char *baseline_arguments(enum takt_routine routine);

/* "gemm"; of iamax "amax", since its letter is the second one. */
const char *baseline_routine_name(enum takt_routine routine);

/* Everything in a line, for comparing. */
void baseline_describe(const struct baseline_request *request, char *text,
                       size_t size);

/* The number of the first argument that is wrong; 0: none. */
int baseline_wrong_argument(const struct baseline_request *request);

/* As the definition has it, sums in long double. Not to be called with wrong
 * arguments. */
void baseline_perform(struct baseline_request *request);

/* The same by columns in Fortran's words. */
struct baseline_request baseline_turned(const struct baseline_request *request);

/* Fortran's letter for one of CBLAS's numbers. */
int baseline_letter_of(int number);

/* Calls a function of that routine, letter and language. What it takes by value
 * comes with rubbish in the upper halves if its integers are narrow. */
typedef void baseline_function(void);
void baseline_call(baseline_function *function, bool is_wide,
                   struct baseline_request *request);

/* The size or leading dimension that a letter of a form stands for. */
static inline int64_t baseline_number_at(const struct baseline_request *r,
                                         char argument)
{
    switch (argument) {
    case 'm':
        return r->m;
    case 'n':
        return r->n;
    case 'k':
        return r->k;
    case 'A':
        return r->lda;
    case 'B':
        return r->ldb;
    default:
        return r->ldc;
    }
}
