/* SPDX-License-Identifier: MIT */
/*
 * dims.h - the dimensions of forms by name, and those that follow from a
 * window.
 */
#pragma once

#include <stdbool.h>

#include "takt/op.h"

/* Dimensions by name: the sizes of a shape, in order. */
enum { TAKT_N };
enum { TAKT_ROWS, TAKT_COLS };
enum { TAKT_GEMV_M, TAKT_GEMV_N };
enum { TAKT_MATMUL_M, TAKT_MATMUL_N, TAKT_MATMUL_K };
enum { TAKT_BATCHED_B, TAKT_BATCHED_M, TAKT_BATCHED_N, TAKT_BATCHED_K };
enum { TAKT_CHOLESKY_N, TAKT_CHOLESKY_N2 }; /* the same */
enum { TAKT_SOLVE_N, TAKT_SOLVE_NRHS };
enum { TAKT_QR_M, TAKT_QR_N };
enum { TAKT_LSTSQ_M, TAKT_LSTSQ_N, TAKT_LSTSQ_NRHS };
enum {
    TAKT_CONV2D_N, /* images */
    TAKT_CONV2D_C, /* channels */
    TAKT_CONV2D_H,
    TAKT_CONV2D_W,
    TAKT_CONV2D_K, /* filters */
    TAKT_CONV2D_R, /* rows of a filter */
    TAKT_CONV2D_S, /* columns of a filter */
    TAKT_CONV2D_STRIDE,
    TAKT_CONV2D_PAD,
    TAKT_CONV2D_GROUPS
};
enum {
    TAKT_POOL2D_N,
    TAKT_POOL2D_C,
    TAKT_POOL2D_H,
    TAKT_POOL2D_W,
    TAKT_POOL2D_WINDOW,
    TAKT_POOL2D_STRIDE,
    TAKT_POOL2D_PAD
};
enum {
    TAKT_ATTENTION_B,
    TAKT_ATTENTION_H, /* heads */
    TAKT_ATTENTION_Q, /* queries */
    TAKT_ATTENTION_K, /* keys */
    TAKT_ATTENTION_D  /* depth */
};

/* Dimensions that follow from the others, in forms with a window; the last one,
 * in forms with a sum. */
enum {
    TAKT_DIM_OUT_H = TAKT_SHAPE_MAX_RANK,
    TAKT_DIM_OUT_W,
    TAKT_DIM_GROUP_C, /* channels of a group */
    TAKT_DIM_SUM,     /* of the first two sizes */
    TAKT_DIMS
};

/* Where a window that slides over images has its sizes, in forms that begin
 * with N, C, H, W. `groups` is 0 where there are none, `default_stride` the
 * dimension that a stride left out is equal to; 0: then it is 1. */
struct takt_form_window {
    uint8_t height, width, stride, pad, groups, default_stride;
    uint8_t rank_min, rank_max; /* those between may be left out */
};

/* The sizes of a shape that fits, those that were left out, and what follows
 * from them, in `d`, which is returned. */
const size_t *takt__window_dims(const struct takt_form_window *window,
                                const takt_shape *shape, size_t d[TAKT_DIMS]);

/* The sizes of a shape, and their sum, in `d`, which is returned. */
const size_t *takt__sum_dims(const takt_shape *shape, size_t d[TAKT_DIMS]);

/* Gives sizes that were left out or are 0 their default values. */
void takt__window_complete(const struct takt_form_window *window,
                           takt_shape *shape);

/* Whether the sizes make sense together, beyond their number. */
bool takt__window_fits(const struct takt_form_window *window,
                       const takt_shape *shape);
