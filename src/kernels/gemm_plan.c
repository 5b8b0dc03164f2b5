/* SPDX-License-Identifier: MIT */
/* gemm_plan.c - rectangles, blocks and copies for a shape, caches and a team.
 */
#include "kernels/gemm_plan.h"

#include "base/size.h"

enum {
    /* Without copies, columns are cut at multiples of this: every ISA's widest
     * tile divides it, and no two threads write to the same cache line of an
     * aligned row. */
    columns_aligned = 32,
    /* The least work of a block, in products: less than half a microsecond. */
    least_work = 1 << 15,
    /* Blocks without copies: tall and narrow, so that a panel of B stays in the
     * nearest cache while many tiles read it. */
    direct_tiles = 8,
    direct_cols = 32,
    /* Blocks of copies are so many tiles high; how wide, the caches say. The A
     * of a row of blocks is copied by one member: with four tiles there were
     * fewer rows than members (16 cores, f64 of 512: 680 us, with two 590). */
    block_tiles = 2,
    /* Copies pay when they are read so many times. (Measured on 16 cores: 64 x
     * 4096 x 64 takes twice as long with copies, 128 x 2048 x 512 without.) */
    least_reads = 8,
    most_copy_bytes = 16 << 20, /* of A, and of B, in a round */
};

struct size {
    size_t rows, cols;
};

/* The size of equal pieces of `total`, none larger than `limit`. */
static size_t even(size_t total, size_t limit)
{
    const size_t pieces = takt__size_ceil_div(total, limit);
    return pieces <= 1 ? total : takt__size_ceil_div(total, pieces);
}

/* The largest rectangle of a grid. */
static struct size largest(const struct takt_gemm_plan *plan, size_t unit)
{
    const size_t cols = takt__size_ceil_div(plan->area_cols, plan->across);

    return (struct size){
        .rows = takt__size_ceil_div(plan->area_rows, plan->down),
        .cols =
            takt__size_min(takt__size_round_up(cols, unit), plan->area_cols)};
}

/* Of all grids the one whose largest rectangle takes least: its products, and
 * the operands that it reads. Reading an element costs about as much as 16
 * products. `unit` is what columns are cut at. */
static struct size choose_grid(struct takt_gemm_plan *plan, unsigned threads,
                               size_t unit)
{
    struct takt_gemm_plan best = *plan;
    struct size best_size = {0};
    double least = 0;

    for (size_t across = 1; across <= threads; across++) {
        if (threads % across != 0)
            continue;
        plan->across = across;
        plan->down = threads / across;
        const struct size size = largest(plan, unit);
        const double rows = (double)size.rows, cols = (double)size.cols;
        const double cost = rows * cols + 16 * (rows + cols);
        if (across == 1 || cost < least) {
            least = cost;
            best = *plan;
            best_size = size;
        }
    }
    *plan = best;
    return best_size;
}

/* Few rows leave nothing to keep: their blocks are wide, for long reads. */
static size_t direct_block_cols(struct size rectangle, size_t tile_rows)
{
    const size_t most = rectangle.rows <= tile_rows
                            ? takt__size_ceil_div(rectangle.cols, 2)
                            : direct_cols;
    return takt__size_round_up(even(rectangle.cols, most), columns_aligned);
}

static struct takt_gemm_plan plan_directly(const struct takt_gemm *call,
                                           size_t tile_rows, unsigned threads)
{
    struct takt_gemm_plan plan = {.area_rows = call->m,
                                  .area_cols = call->n,
                                  .depth = call->k,
                                  .areas_down = 1,
                                  .areas_across = 1,
                                  .deep = 1};
    const struct size size = choose_grid(&plan, threads, columns_aligned);

    plan.block_cols = direct_block_cols(size, tile_rows);
    /* In whole numbers: a division of others raises a flag of the caller's. */
    const size_t row_work = takt__size_mul(plan.block_cols, call->k);
    const size_t least =
        row_work < least_work ? least_work / (row_work + 1) + 1 : 1;
    plan.block_rows =
        even(size.rows, takt__size_max(direct_tiles * tile_rows, least));
    return plan;
}

/* Whether blocks of all sizes that there are need no scratch. */
static bool needs_nothing(const struct takt_gemm_plan *plan,
                          const struct takt_gemm *call,
                          const struct takt_gemm_kernels *kernels,
                          const struct takt_gemm_blocks *blocks)
{
    const size_t rows[] = {plan->block_rows, call->m % plan->block_rows};
    const size_t cols[] = {plan->block_cols, call->n % plan->block_cols};

    for (int i = 0; i < 4; i++) {
        struct takt_gemm piece = *call;
        piece.m = rows[i % 2];
        piece.n = cols[i / 2];
        if (kernels->room(&piece, blocks) > 0)
            return false;
    }
    return true;
}

/* The copies of a round take a quarter of the last cache for each operand. */
static void plan_areas(struct takt_gemm_plan *plan,
                       const struct takt_gemm *call,
                       const struct takt_gemm_parts *parts,
                       const struct takt_gemm_blocks *blocks, unsigned threads)
{
    const size_t bytes_each = plan->depth * parts->size;
    const size_t fits = takt__size_min(takt__size_mul(blocks->nc, threads) / 2,
                                       most_copy_bytes / bytes_each);
    const size_t most = takt__size_max(fits, 4 * parts->tile_cols);

    plan->area_rows = even(call->m, most);
    plan->area_cols =
        takt__size_round_up(even(call->n, most), parts->tile_cols);
    plan->areas_down = takt__size_ceil_div(call->m, plan->area_rows);
    plan->areas_across = takt__size_ceil_div(call->n, plan->area_cols);
}

/* A block's columns of B stay in the second-level cache while the rows of its
 * rectangle pass by: they take a quarter of it. */
static struct takt_gemm_plan plan_copies(const struct takt_gemm *call,
                                         const struct takt_gemm_parts *parts,
                                         const struct takt_gemm_blocks *blocks,
                                         unsigned threads)
{
    const size_t tile_cols = parts->tile_cols;
    struct takt_gemm_plan plan = {.copies = true};

    plan.depth = even(call->k, blocks->kc);
    plan.deep = takt__size_ceil_div(call->k, plan.depth);
    plan_areas(&plan, call, parts, blocks, threads);

    const struct size size = choose_grid(&plan, threads, tile_cols);
    const size_t most_cols = takt__size_max(blocks->mc / 2, tile_cols);
    plan.block_rows = even(size.rows, block_tiles * parts->tile_rows);
    plan.block_cols =
        takt__size_round_up(even(size.cols, most_cols), tile_cols);

    const size_t down = takt__size_ceil_div(plan.area_rows, plan.block_rows);
    plan.blocks = down * takt__size_ceil_div(plan.area_cols, plan.block_cols);
    plan.a_block = takt__size_ceil_div(plan.block_rows, parts->tile_rows) *
                   parts->tile_width * plan.depth * parts->size;
    plan.a_bytes = takt__size_round_up(down * plan.a_block, 64);
    plan.b_bytes =
        takt__size_round_up(plan.area_cols * plan.depth * parts->size, 64);
    return plan;
}

/* Copies that the kernel would make for itself on one thread, if there is
 * enough to read them. */
static bool wants_copies(const struct takt_gemm *call,
                         const struct takt_gemm_kernels *kernels,
                         const struct takt_gemm_blocks *blocks)
{
    return kernels->room(call, blocks) > 0 &&
           call->m >= least_reads * kernels->parts->tile_rows &&
           call->n >= least_reads * kernels->parts->tile_cols;
}

struct takt_gemm_plan takt__gemm_plan(const struct takt_gemm *call,
                                      const struct takt_gemm_kernels *kernels,
                                      const struct takt_gemm_blocks *blocks,
                                      unsigned threads)
{
    if (!wants_copies(call, kernels, blocks)) {
        const struct takt_gemm_plan plan =
            plan_directly(call, kernels->parts->tile_rows, threads);
        if (needs_nothing(&plan, call, kernels, blocks))
            return plan;
    }
    return plan_copies(call, kernels->parts, blocks, threads);
}
