/* SPDX-License-Identifier: MIT */
/*
 * product_copy.h - numbers of a product: from where they are into copies of the
 * type in which they are added up, and sums back.
 */
#pragma once

#include "product_tiles.h"

/* The types of NumPy's products that no BLAS takes. */
enum takt_number {
    TAKT_NUMBER_BOOL, /* products and sums are "and" and "or" */
    TAKT_NUMBER_8,    /* integers of so many bits, with a sign or without */
    TAKT_NUMBER_16,
    TAKT_NUMBER_32,
    TAKT_NUMBER_64,
    TAKT_NUMBER_HALF
};

enum takt_sum takt__sum_of(enum takt_number number);

/* to[i * to_step] = the number at from + i * from_step (bytes), for all i below
 * `count`. `to` has the numbers of takt__sum_of(). */
void takt__product_copy(enum takt_number number, size_t count, const char *from,
                        ptrdiff_t from_step, void *to, size_t to_step);

/* The other way round, for sums that lie together. Returns the exceptions that
 * rounding to halves raises (half.h). */
int takt__product_store(enum takt_number number, size_t count, const void *sums,
                        char *to, ptrdiff_t to_step);
