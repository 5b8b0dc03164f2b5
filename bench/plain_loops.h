/* SPDX-License-Identifier: MIT */
/*
 * plain_loops.h - the loops people write, as their compiler makes them.
 *
 * plain_loops.c is compiled twice for the machine at hand: with -O3, which
 * must keep the order of sums, and with -Ofast, which need not, and which
 * calls the vector functions of the C library.
 */
#pragma once

#include "kernels/table.h"

struct plain_loop {
    const char *op; /* NULL ends a list */
    enum takt_kernel_dtype dtype;
    takt_map_kernel *map;       /* NULL: not of this kind */
    takt_reduce_kernel *reduce; /* fills `value` or `index` only */
    takt_rows_kernel *rows;
    takt_transpose_kernel *transpose;
    takt_bias_kernel *bias;
    takt_columns_kernel *columns; /* also reductions of rows */
};

extern const struct plain_loop plain_loops_o3[];
extern const struct plain_loop plain_loops_ofast[];
