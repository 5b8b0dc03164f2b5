/* SPDX-License-Identifier: MIT */
/*
 * product_tiles.h - tiles of products of integers and halves, for each
 * instruction set.
 *
 * Integers are added up modulo a power of two, so signs and shorter integers
 * need no tiles of their own; halves are added up as floats.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum takt_sum { TAKT_SUM_U32, TAKT_SUM_U64, TAKT_SUM_F32, TAKT_SUMS };

struct takt_product_tile {
    size_t rows, cols; /* of the tile */
    size_t size;       /* bytes of a number */
    /* sums[i * stride + j] += a[p * rows + i] * b[p * cols + j], for all p
     * below `steps` in their order. */
    void (*add)(size_t steps, const void *a, const void *b, void *sums,
                size_t stride);
};

extern const struct takt_product_tile takt__product_tiles_base[TAKT_SUMS];
extern const struct takt_product_tile takt__product_tiles_avx2[TAKT_SUMS];
extern const struct takt_product_tile takt__product_tiles_avx512[TAKT_SUMS];

/* A tile has at most so many bytes in a row; rows of a block of tiles have
 * exactly so many, whatever the instruction set. */
enum { TAKT_BLOCK_ROWS = 64, TAKT_BLOCK_BYTES = 384 };

/* The tile of this processor. */
const struct takt_product_tile *takt__product_tile(enum takt_sum sum);
