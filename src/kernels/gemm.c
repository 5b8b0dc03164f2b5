/* SPDX-License-Identifier: MIT */
/*
 * gemm.c - cuts a product into pieces for several threads.
 *
 * The pieces form a grid over C. Every piece reads its own rows of A and its
 * own columns of B, and may copy them, so of all grids the one is taken that
 * reads least: pieces as square as the shape allows.
 */
#include "kernels/gemm.h"

#include "base/size.h"

/* Columns are cut at multiples of this: every ISA's widest tile divides it,
 * and no two threads write to the same cache line of an aligned row. */
enum { COLUMNS_ALIGNED = 32 };

struct gemm_grid {
    size_t down, across;
};

/* Time of the slowest piece of the grid, in units of one multiplication:
 * its products, and the operands that it reads. Reading an element costs
 * about as much as 16 products. */
static double piece_cost(const struct takt_gemm *whole, struct gemm_grid grid)
{
    const size_t units = takt__size_ceil_div(whole->n, COLUMNS_ALIGNED);
    const double rows = (double)takt__size_ceil_div(whole->m, grid.down);
    const size_t most =
        takt__size_ceil_div(units, grid.across) * COLUMNS_ALIGNED;
    const double cols = (double)(most < whole->n ? most : whole->n);

    return rows * cols + 16 * (rows + cols);
}

static struct gemm_grid best_grid(const struct takt_gemm *whole, unsigned parts)
{
    struct gemm_grid best = {parts, 1};

    for (size_t across = 2; across <= parts; across++) {
        const struct gemm_grid grid = {parts / across, across};
        if (parts % across == 0 &&
            piece_cost(whole, grid) < piece_cost(whole, best))
            best = grid;
    }
    return best;
}

/* Where piece `index` of `pieces` begins, of `total`. */
static size_t begin_of(size_t total, size_t index, size_t pieces)
{
    const size_t each = total / pieces, more = total % pieces;
    return index * each + (index < more ? index : more);
}

void takt__gemm_split(const struct takt_gemm *whole, size_t size, unsigned part,
                      unsigned parts, struct takt_gemm *out)
{
    const struct gemm_grid grid = best_grid(whole, parts);
    const size_t down = part / grid.across, across = part % grid.across;
    const size_t units = takt__size_ceil_div(whole->n, COLUMNS_ALIGNED);
    const size_t i = begin_of(whole->m, down, grid.down);
    const size_t j = takt__size_min(
        begin_of(units, across, grid.across) * COLUMNS_ALIGNED, whole->n);
    const size_t j_end = takt__size_min(
        begin_of(units, across + 1, grid.across) * COLUMNS_ALIGNED, whole->n);

    *out = *whole;
    out->m = begin_of(whole->m, down + 1, grid.down) - i;
    out->n = j_end - j;
    out->a = (const char *)whole->a + i * whole->a_row * size;
    out->b = (const char *)whole->b + j * whole->b_col * size;
    out->c = (char *)whole->c + (i * whole->ldc + j) * size;
}
