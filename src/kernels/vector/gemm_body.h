/* SPDX-License-Identifier: MIT */
/*
 * gemm_body.h - matrix products of one dtype on one instruction set.
 *
 * Three loops cut the product into blocks that stay in the caches (columns,
 * then depth, then rows) and a fourth walks over the panels of a block, where
 * strips of register tiles do the work (gemm_tile.h). What is copied into
 * scratch is decided per call, by plan(): a copy costs one pass over the
 * operand and must be earned back by how often the copy is read.
 *
 * Included by gemm_f32.c and gemm_f64.c, after f32.h or f64.h.
 */
#include "kernels/gemm.h"

#include <stdbool.h>
#include <stdint.h>

/* In this order: each uses words of the one before. */
#include "kernels/vector/gemm_tile.h"

#include "base/size.h"
#include "kernels/vector/gemm_pack.h"

#include "kernels/vector/gemm_gemv.h"

/* The rows of a piece, cut into tiles as equal as can be: the first `tall` of
 * them have rows + 1 rows, the other `low` have `rows`. The steps lead from
 * one tile's A to the next. */
struct cut {
    size_t rows;
    size_t tall, tall_step;
    size_t low, low_step;
};

/* What a call will do: block sizes for this shape, and what it copies. */
struct gemm_plan {
    size_t mc, nc, kc;
    bool packs_a, packs_b;
};

/* A packed tile of A has room for the tallest one, a packed panel of B for
 * the widest: a little space for strides that never change. */
enum { A_WIDTH = (V_TILE_ROWS + LANES - 1) / LANES * LANES };

/* A piece of the product that is worked off in one go. Where A or B were
 * packed, its strides are those of the copy. */
struct gemm_block {
    struct takt_gemm piece;
    struct cut cut;
    size_t b_step; /* from one panel's B to the next */
};

VINLINE struct cut cut_rows(size_t m, size_t a_row)
{
    const size_t tiles = (m + V_TILE_ROWS - 1) / V_TILE_ROWS;

    if (tiles == 1)
        return (struct cut){m, 0, 0, 1, 0};
    const size_t rows = m / tiles, tall = m % tiles;
    return (struct cut){rows, tall, (rows + 1) * a_row, tiles - tall,
                        rows * a_row};
}

/* The next multiple of `unit`. */
VINLINE size_t whole(size_t value, size_t unit)
{
    return (value + unit - 1) / unit * unit;
}

/* The size of equal pieces of `total`, none larger than `limit`. */
static size_t even(size_t total, size_t limit)
{
    const size_t pieces = (total + limit - 1) / limit;
    return pieces <= 1 ? total : (total + pieces - 1) / pieces;
}

/* All rows of a piece against one panel of B. */
VINLINE void multiply_panel(const struct takt_gemm *piece,
                            const struct cut *cut, const REAL *b, REAL *c,
                            size_t cols)
{
    const size_t rows = cut->rows;
    const REAL *a = piece->a;

    if (cut->tall > 0) {
        strip_for(rows + 1, cols)(piece, a, b, c, cut->tall, cut->tall_step);
        a += cut->tall * cut->tall_step;
        c += cut->tall * (rows + 1) * piece->ldc;
    }
    strip_for(rows, cols)(piece, a, b, c, cut->low, cut->low_step);
}

/* `b_step` leads from one panel of B to the next. */
VINLINE void multiply_panels(const struct takt_gemm *piece,
                             const struct cut *cut, size_t b_step)
{
    const REAL *b = piece->b;
    REAL *c = piece->c;
    size_t n = piece->n;

    for (; n > TILE_COLS; n -= TILE_COLS) {
        multiply_panel(piece, cut, b, c, TILE_COLS);
        b += b_step;
        c += TILE_COLS;
    }
    multiply_panel(piece, cut, b, c, n);
}

/* Distance of copied rows of A: off by a cache line from any power of two, so
 * that the rows of a tile do not compete for the same places in the cache. */
VINLINE size_t row_width(size_t k)
{
    return whole(k, LANES) + LANES;
}

static void pack_tiles(struct panel *rows, size_t tiles, REAL *to)
{
    for (size_t t = 0; t < tiles; t++) {
        pack(rows, to);
        to += A_WIDTH * rows->depth;
        rows->from += rows->lines * rows->line_step;
    }
}

/* Copies the block's columns of A tile by tile, as tiles read them. */
static void pack_a_tiles(struct gemm_block *is, REAL *to)
{
    struct takt_gemm *piece = &is->piece;
    struct cut *cut = &is->cut;
    struct panel rows = {cut->rows + 1, piece->k,     piece->a,
                         piece->a_row,  piece->a_col, A_WIDTH};

    cut->tall_step = cut->low_step = A_WIDTH * piece->k;
    pack_tiles(&rows, cut->tall, to);
    rows.lines = cut->rows;
    pack_tiles(&rows, cut->low, to + cut->tall * cut->tall_step);
    piece->a_row = 1;
    piece->a_col = A_WIDTH;
}

/* Copies the block's rows of A as they are, only closer together. */
static void pack_a_rows(struct gemm_block *is, REAL *to)
{
    struct takt_gemm *piece = &is->piece;
    const size_t width = row_width(piece->k);
    struct panel row = {piece->k, 1, piece->a, 1, 0, 0};

    for (size_t i = 0; i < piece->m; i++) {
        pack_side_by_side(&row, to + i * width);
        row.from += piece->a_row;
    }
    piece->a_row = width;
    is->cut = cut_rows(piece->m, width);
}

/* Transposing is earned back only when many panels read the tiles. */
static void pack_a(struct gemm_block *is, REAL *to)
{
    if (is->piece.a_col == 1 && is->piece.n <= 16 * TILE_COLS)
        pack_a_rows(is, to);
    else
        pack_a_tiles(is, to);
    is->piece.a = to;
}

/* Packs the block's columns of B, panel by panel. */
static void pack_b(struct gemm_block *is, REAL *to)
{
    struct takt_gemm *piece = &is->piece;
    struct panel cols = {TILE_COLS,    piece->k,     piece->b,
                         piece->b_col, piece->b_row, TILE_COLS};

    is->b_step = TILE_COLS * piece->k;
    for (size_t j = 0; j < piece->n; j += TILE_COLS) {
        cols.lines = takt__size_min(TILE_COLS, piece->n - j);
        pack(&cols, to + j * piece->k);
        cols.from += TILE_COLS * piece->b_col;
    }
    piece->b = to;
    piece->b_row = TILE_COLS;
}

static size_t room_for_a(const struct gemm_plan *plan)
{
    if (!plan->packs_a)
        return 0;
    const size_t count = (plan->mc + V_TILE_ROWS - 1) / V_TILE_ROWS;
    const size_t as_tiles = takt__size_mul(count * A_WIDTH, plan->kc);
    const size_t as_rows = takt__size_mul(plan->mc, row_width(plan->kc));
    return takt__size_max(as_tiles, as_rows);
}

static size_t room_for_b(const struct gemm_plan *plan)
{
    if (!plan->packs_b)
        return 0;
    return takt__size_mul(whole(plan->nc, TILE_COLS), plan->kc);
}

/* Rows of B that are nearly a page long put each step of k into another page,
 * more than the first-level TLB holds: then copying pays, if the copy is read
 * often. (Measured: from 768 floats on; at 1024 on a core with 2 MiB of L2,
 * a third of the speed without.) */
static bool is_large(const struct takt_gemm *call)
{
    enum { nearly_a_page = 3072 };

    return call->n * sizeof(REAL) > nearly_a_page && call->m > 4 * V_TILE_ROWS;
}

/* Rows of A whose distance is a multiple of 4 KiB fall on the same few places
 * of the first-level cache: a tile of them would evict itself. */
static bool has_colliding_rows(const struct takt_gemm *call)
{
    return call->a_row * sizeof(REAL) % 4096 == 0 && call->m > V_TILE_ROWS &&
           call->n > TILE_COLS;
}

static struct gemm_plan plan(const struct takt_gemm *call,
                             const struct takt_gemm_blocks *blocks)
{
    const bool large = is_large(call);
    struct gemm_plan plan = {call->m, call->n, call->k, large, large};

    plan.packs_a |= has_colliding_rows(call);
    plan.packs_b |= call->b_col != 1;
    plan.kc = even(call->k, blocks->kc);
    if (plan.packs_b)
        plan.nc = whole(even(call->n, blocks->nc), TILE_COLS);
    if (plan.packs_a)
        plan.mc = even(call->m, blocks->mc);
    return plan;
}

/* The piece of `call` that begins at column j and depth p. Only the first
 * piece along the depth meets the caller's C. */
static struct gemm_block block_at(const struct takt_gemm *call,
                                  const struct gemm_plan *plan, size_t j,
                                  size_t p)
{
    struct gemm_block is = {*call, {0}, TILE_COLS};

    is.piece.n = takt__size_min(plan->nc, call->n - j);
    is.piece.k = takt__size_min(plan->kc, call->k - p);
    is.piece.a = (const REAL *)call->a + p * call->a_col;
    is.piece.b = (const REAL *)call->b + p * call->b_row + j * call->b_col;
    is.piece.c = (REAL *)call->c + j;
    is.piece.beta = p == 0 ? call->beta : 1;
    return is;
}

/* All rows against one block of B. */
static void multiply_rows(const struct gemm_block *all,
                          const struct gemm_plan *plan, REAL *for_a)
{
    const struct takt_gemm *call = &all->piece;

    for (size_t i = 0; i < call->m; i += plan->mc) {
        struct gemm_block is = *all;
        is.piece.m = takt__size_min(plan->mc, call->m - i);
        is.piece.a = (const REAL *)call->a + i * call->a_row;
        is.piece.c = (REAL *)call->c + i * call->ldc;
        is.cut = cut_rows(is.piece.m, call->a_row);
        if (plan->packs_a)
            pack_a(&is, for_a);
        multiply_panels(&is.piece, &is.cut, is.b_step);
    }
}

static void multiply(const struct takt_gemm *call, const struct gemm_plan *plan,
                     REAL *scratch)
{
    REAL *const for_a = scratch; /* NULL where nothing is packed */
    REAL *const for_b = plan->packs_b ? scratch + room_for_a(plan) : NULL;

    for (size_t j = 0; j < call->n; j += plan->nc)
        for (size_t p = 0; p < call->k; p += plan->kc) {
            struct gemm_block is = block_at(call, plan, j, p);
            if (plan->packs_b)
                pack_b(&is, for_b);
            multiply_rows(&is, plan, for_a);
        }
}

/* Row i of the product is B transposed times row i of A. */
static struct takt_gemv row_of(const struct takt_gemm *call, size_t i)
{
    return (struct takt_gemv){
        .m = call->n,
        .n = call->k,
        .a = call->b,
        .a_row = call->b_col,
        .a_col = call->b_row,
        .x = (const REAL *)call->a + i * call->a_row,
        .x_step = call->a_col,
        .y = (REAL *)call->c + i * call->ldc,
        .y_step = 1,
        .alpha = call->alpha,
        .beta = call->beta,
    };
}

/* Column j of the product is A times column j of B. */
static struct takt_gemv column_of(const struct takt_gemm *call, size_t j)
{
    return (struct takt_gemv){
        .m = call->m,
        .n = call->k,
        .a = call->a,
        .a_row = call->a_row,
        .a_col = call->a_col,
        .x = (const REAL *)call->b + j * call->b_col,
        .x_step = call->b_row,
        .y = (REAL *)call->c + j,
        .y_step = call->ldc,
        .alpha = call->alpha,
        .beta = call->beta,
    };
}

/* Few rows or columns are worked off one by one where tiles would transpose B
 * for little, leave most lanes empty, or read a B that is not in the nearest
 * cache out of order. */
static bool has_few_rows(const struct takt_gemm *call)
{
    if (call->b_col == 1)
        return call->m == 1 && call->n > TILE_COLS &&
               call->n * call->k * sizeof(REAL) > 32768;
    return call->m == 1 || (call->m <= DOT_ROWS && call->b_row == 1);
}

static bool has_few_columns(const struct takt_gemm *call)
{
    return call->n == 1 || (call->n <= DOT_ROWS && call->m > V_TILE_ROWS &&
                            call->a_col == 1 && call->k >= 4 * LANES);
}

static bool goes_by_vectors(const struct takt_gemm *call)
{
    return has_few_rows(call) || has_few_columns(call);
}

static void multiply_vectors(const struct takt_gemm *call)
{
    const bool by_rows = has_few_rows(call);
    const size_t count = by_rows ? call->m : call->n;

    for (size_t i = 0; i < count; i++) {
        const struct takt_gemv one =
            by_rows ? row_of(call, i) : column_of(call, i);
        TAKT_K(F(gemv))(&one);
    }
}

/* C = beta * C. */
static void scale(const struct takt_gemm *call)
{
    const REAL beta = (REAL)call->beta;
    REAL *c = call->c;

    for (size_t i = 0; i < call->m; i++, c += call->ldc)
        for (size_t j = 0; j < call->n; j++)
            c[j] = beta == 0 ? 0 : beta * c[j];
}

/* Apart, so that the way of small products has no frame to set up. */
__attribute__((noinline)) static void
multiply_any(const struct takt_gemm *call,
             const struct takt_gemm_blocks *blocks, void *scratch)
{
    if (call->k == 0 || call->alpha == 0) {
        scale(call);
    } else if (goes_by_vectors(call)) {
        multiply_vectors(call);
    } else {
        const struct gemm_plan how = plan(call, blocks);
        multiply(call, &how, v_line(scratch));
    }
}

/* Nothing to copy and nothing to cut. */
__attribute__((noinline)) static void
multiply_directly(const struct takt_gemm *call)
{
    const struct cut cut = cut_rows(call->m, call->a_row);
    multiply_panels(call, &cut, TILE_COLS);
}

void TAKT_K(F(gemm))(const struct takt_gemm *call,
                     const struct takt_gemm_blocks *blocks, void *scratch)
{
    const size_t m = call->m, n = call->n, k = call->k;

    if (m == 0 || n == 0)
        return;
    if (call->b_col != 1 || k - 1 >= blocks->kc || call->alpha == 0)
        multiply_any(call, blocks, scratch);
    else if (m <= V_TILE_ROWS && n <= TILE_COLS)
        strip_for(m, n)(call, call->a, call->b, call->c, 1, 0);
    else if (!goes_by_vectors(call) && !is_large(call) &&
             !has_colliding_rows(call))
        multiply_directly(call);
    else
        multiply_any(call, blocks, scratch);
}

size_t TAKT_K(F(gemm_room))(const struct takt_gemm *call,
                            const struct takt_gemm_blocks *blocks)
{
    if (call->m == 0 || call->n == 0 || call->k == 0 || call->alpha == 0 ||
        goes_by_vectors(call))
        return 0;
    const struct gemm_plan how = plan(call, blocks);
    const size_t elements = takt__size_add(room_for_a(&how), room_for_b(&how));
    return elements == 0
               ? 0
               : takt__size_add(takt__size_mul(elements, sizeof(REAL)), 63);
}

void TAKT_K(F(gemm_tune))(const struct takt_gemm_caches *caches,
                          struct takt_gemm_blocks *blocks)
{
    const size_t l1d = caches->l1d != 0 ? caches->l1d : 32768;
    const size_t l2 = caches->l2 != 0 ? caches->l2 : 262144;
    const size_t l3 = caches->l3 != 0 ? caches->l3 : 2 * l2;
    /* Deeper blocks write C less often; beyond these the gain ends (Zen 4). */
    const size_t kc = takt__size_min(512, 2 * l1d / (TILE_COLS * sizeof(REAL)));
    const size_t per_depth = takt__size_max(kc, 1) * sizeof(REAL);

    blocks->kc = takt__size_max(kc, 1);
    blocks->mc = takt__size_max(l2 / 2 / per_depth, V_TILE_ROWS);
    blocks->nc = whole(takt__size_max(l3 / 2 / per_depth, 1), TILE_COLS);
}

#include "kernels/vector/gemm_parts.h"
