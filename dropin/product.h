/* SPDX-License-Identifier: MIT */
/*
 * product.h - products of matrices of integers and halves, which no BLAS takes.
 *
 * NumPy computes them in three plain loops. Here both matrices are copied into
 * panels, and blocks of the result are claimed by the threads of a context.
 * Integers are exact modulo a power of two, as NumPy's are; halves are added up
 * as floats in NumPy's order, and rounded once: the same bits, but for the sign
 * of a NaN where two of them meet.
 */
#pragma once

#include <stdbool.h>

#include "product_copy.h"
#include "route.h"

/* C = A * B; A is m x k, B is k x n. Steps are in bytes, of any sign. */
struct takt_number_product {
    enum takt_number number;
    size_t m, n, k;
    const char *a;
    ptrdiff_t a_row, a_col;
    const char *b;
    ptrdiff_t b_row, b_col;
    char *c;
    ptrdiff_t c_row, c_col;
};

/* Runs it on at most so many threads of a route; NULL: on the caller's alone.
 * m, n and k are not 0, and C does not overlap A or B. False: it was not
 * computed, for want of memory (128 MiB at most); some of C may have been
 * written. Takes 32 KiB of stack. */
bool takt__product_run(const struct takt_number_product *product,
                       const struct takt_route *route, unsigned threads);
