/* SPDX-License-Identifier: MIT */
/*
 * loop_reduce.h - one reduction of NumPy's (sum, max, all, ...), cut into parts
 * for the threads of a context.
 *
 * Each part is reduced by NumPy's own function, and so are their results. NumPy
 * adds floats up in pairs: a long sum is that of its halves, and so on. It is
 * cut where NumPy cuts it, so it gets the same bits. Which of several NaNs, or
 * of zeros with both signs that are the largest or smallest number, is the
 * result depends on how all of them were gone through: then NumPy does so once
 * more. Products of floats are left alone: NumPy multiplies one after the
 * other, and what overflows on the way depends on that.
 */
#pragma once

#include "loop_split.h"

enum { TAKT_REDUCED_SIZE = 16 }; /* bytes of the largest number */

/* How a ufunc of some types is reduced. */
struct takt_reduction {
    unsigned char size;  /* bytes of a number; 0: it is not */
    unsigned char reals; /* of a number: 2 of complex ones */
    bool is_idempotent;  /* a part may begin with its own first number */
    bool stops;          /* what is not the neutral number is the result */
    bool is_real;        /* or complex: there are NaNs, and zeros with a sign */
    char neutral[TAKT_REDUCED_SIZE];
};

/* That of a ufunc by its name and NumPy's letter for the type of its operands,
 * of so many bytes. */
struct takt_reduction takt__reduction_of(const char *ufunc, char letter,
                                         unsigned size);

/* Whether a call is a reduction: of the first operand, which is the output,
 * with all numbers of the second one. */
bool takt__loop_is_reduction(const struct takt_reduction *reduction,
                             const struct takt_loop_call *call);

/* Runs it on at most so many threads. */
void takt__loop_reduce(const struct takt_route *route,
                       const struct takt_reduction *reduction,
                       const struct takt_loop_call *call, unsigned threads);
