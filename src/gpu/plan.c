/* SPDX-License-Identifier: MIT */
/* plan.c - chunks and steps of a staged transfer. */
#include "gpu/transfer.h"

#include <string.h>

#include "base/size.h"
#include "op/part.h"

/* What is being planned. */
struct plan {
    const takt_call *call;
    const struct takt_location *resident;
    const struct takt_block *block;
    struct takt_transfer *transfer;
    struct takt_lengths lengths;
    size_t size; /* of an element */
    size_t used;
    takt_status status;
};

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

static size_t most(size_t a, size_t b)
{
    return a > b ? a : b;
}

static struct takt_rows flat(size_t elements)
{
    return (struct takt_rows){.rows = elements, .cols = 1, .ld = 1};
}

/* ---- chunks -------------------------------------------------------------- */

static const char *host_of(const takt_call *call, unsigned operand)
{
    return operand == TAKT_OUT ? call->out : call->in[operand];
}

/* Where so many bytes go on the device. */
static struct takt_location allocate(struct plan *plan, size_t bytes)
{
    const struct takt_location location = {.block = plan->block,
                                           .offset = plan->used};

    plan->used = takt__size_add(plan->used, takt__size_round_up(bytes, 256));
    return location;
}

static void add_chunk(struct plan *plan, const char *host,
                      struct takt_rows rows, struct takt_location at,
                      bool is_out, int step)
{
    struct takt_transfer *transfer = plan->transfer;

    if (rows.rows == 0 || rows.cols == 0)
        return;
    if (transfer->chunks == TAKT_MAX_CHUNKS) {
        plan->status = TAKT_ENODEV;
        return;
    }
    /* Without gaps it can be cut anywhere; but an output is cut at rows if they
     * may have to be computed one by one. */
    if (rows.ld == rows.cols &&
        (!is_out || takt__call_is_repeatable(plan->call)))
        rows = flat(rows.rows * rows.cols);
    transfer->chunk[transfer->chunks++] = (struct takt_chunk){
        .host = (char *)(uintptr_t)host,
        .pitch = rows.ld * plan->size,
        .rows = rows.rows,
        .row_bytes = rows.cols * plan->size,
        .at = at,
        .is_out = is_out,
        .step = step,
    };
}

static struct takt_step *add_step(struct plan *plan, const takt_call *host)
{
    struct takt_transfer *transfer = plan->transfer;
    struct takt_step *step = &transfer->step[transfer->steps];

    *step = (struct takt_step){.host = *host, .packed = *host};
    step->call.call = &step->packed;
    transfer->steps++;
    return step;
}

/* ---- in one step --------------------------------------------------------- */

/* On the device there are no gaps between rows. */
static void pack_ld(takt_call *call, unsigned operand)
{
    const struct takt_form_operand *is =
        takt__form_operand(takt__op_form(call->op), operand);

    if (is->has_ld)
        call->ld[is->ld] = takt__rows_of(call, operand).cols;
}

static struct takt_location *location_in(struct takt_step *step,
                                         unsigned operand)
{
    return operand == TAKT_OUT ? &step->call.out : &step->call.in[operand];
}

static void plan_operand(struct plan *plan, struct takt_step *step,
                         unsigned operand)
{
    const takt_call *call = plan->call;
    const struct takt_rows rows = takt__rows_of(call, operand);
    struct takt_location *location = location_in(step, operand);

    *location = plan->resident[operand];
    if (location->block != NULL || plan->lengths.of[operand] == 0)
        return;
    const int twin = takt__call_twin(call);
    *location = operand == TAKT_OUT && twin >= 0
                    ? step->call.in[twin]
                    : allocate(plan, rows.rows * rows.cols * plan->size);
    pack_ld(&step->packed, operand);
    if (operand != TAKT_OUT || (twin < 0 && takt__call_accumulates(call)))
        add_chunk(plan, host_of(call, operand), rows, *location, false, 0);
    if (operand == TAKT_OUT)
        add_chunk(plan, call->out, rows, *location, true, 0);
}

static void plan_whole(struct plan *plan)
{
    struct takt_step *step = add_step(plan, plan->call);

    for (unsigned i = 0; i < TAKT_OPERANDS; i++)
        plan_operand(plan, step, i);
}

/* ---- along the first size ------------------------------------------------ */

enum { stretch_bytes = 8 << 20 };

static void plan_stretch(struct plan *plan, const takt_call *part,
                         const struct takt_location shared[TAKT_OPERANDS])
{
    const unsigned cut = takt__call_cut(plan->call);
    const int number = (int)plan->transfer->steps;
    struct takt_step *step = add_step(plan, part);
    const int twin = takt__call_twin(part);
    struct takt_lengths lengths;

    takt__lengths_of(part, &lengths);
    for (unsigned i = 0; i < TAKT_OUT; i++) {
        if (lengths.of[i] == 0)
            continue;
        step->call.in[i] = shared[i];
        if ((cut >> i & 1) == 0)
            continue;
        step->call.in[i] = allocate(plan, lengths.of[i] * plan->size);
        add_chunk(plan, part->in[i], flat(lengths.of[i]), step->call.in[i],
                  false, number);
    }
    const size_t out = lengths.of[TAKT_OUT];
    step->call.out =
        twin >= 0 ? step->call.in[twin] : allocate(plan, out * plan->size);
    if (takt__call_accumulates(part))
        add_chunk(plan, part->out, flat(out), step->call.out, false, number);
}

static void plan_out(struct plan *plan, unsigned number)
{
    const struct takt_step *step = &plan->transfer->step[number];

    add_chunk(plan, step->host.out, takt__rows_of(&step->host, TAKT_OUT),
              step->call.out, true, (int)number);
}

static void plan_stretches(struct plan *plan, size_t count)
{
    struct takt_location shared[TAKT_OPERANDS] = {{NULL, 0}};
    const unsigned cut = takt__call_cut(plan->call);
    const size_t all = plan->call->shape.dim[0];

    for (unsigned i = 0; i < TAKT_OUT; i++) {
        const size_t elements = plan->lengths.of[i];
        if (elements == 0 || (cut >> i & 1) != 0)
            continue;
        shared[i] = allocate(plan, elements * plan->size);
        add_chunk(plan, plan->call->in[i], flat(elements), shared[i], false, 0);
    }
    for (size_t i = 0; i < count; i++) {
        const size_t first = all * i / count, last = all * (i + 1) / count;
        const takt_call part =
            takt__call_slice(plan->call, 0, first, last - first);
        plan_stretch(plan, &part, shared);
        plan_out(plan, (unsigned)i);
    }
}

/* ---- products in tiles --------------------------------------------------- */

/* Rows of C are finished early if there are few of them in a tile; columns are
 * cut only where B takes long to come. A product of fewer than `cut_rows` rows
 * is soon computed, and to start another one takes the driver longer. */
enum { tile_rows = 256, cut_rows = 1024, tile_cols = 2048, most_tiles = 4 };

/* A product as strips of A, strips of B and tiles of C. */
struct grid {
    size_t high, wide; /* in tiles */
    struct takt_location a[most_tiles], b[most_tiles];
};

static size_t edge(size_t all, size_t index, size_t count)
{
    return all * index / count / 32 * 32;
}

static size_t border(size_t all, size_t index, size_t count)
{
    return index == count ? all : edge(all, index, count);
}

/* Tile (i, j) as a call on the host's memory. */
static takt_call tile_of(const struct plan *plan, const struct grid *grid,
                         size_t i, size_t j)
{
    const size_t *d = plan->call->shape.dim;
    const size_t row = border(d[TAKT_MATMUL_M], i, grid->high);
    const size_t col = border(d[TAKT_MATMUL_N], j, grid->wide);
    const takt_call strip =
        takt__call_slice(plan->call, TAKT_MATMUL_M, row,
                         border(d[TAKT_MATMUL_M], i + 1, grid->high) - row);

    return takt__call_slice(&strip, TAKT_MATMUL_N, col,
                            border(d[TAKT_MATMUL_N], j + 1, grid->wide) - col);
}

static void plan_strip(struct plan *plan, const takt_call *tile,
                       unsigned operand, struct takt_location *at)
{
    const struct takt_rows rows = takt__rows_of(tile, operand);

    if (plan->resident[operand].block != NULL) {
        *at = plan->resident[operand];
        at->offset += (size_t)((const char *)tile->in[operand] -
                               (const char *)plan->call->in[operand]);
        return;
    }
    *at = allocate(plan, rows.rows * rows.cols * plan->size);
    add_chunk(plan, tile->in[operand], rows, *at, false,
              (int)plan->transfer->steps);
}

static void plan_tile(struct plan *plan, const struct grid *grid, size_t i,
                      size_t j)
{
    const takt_call tile = tile_of(plan, grid, i, j);
    const struct takt_rows rows = takt__rows_of(&tile, TAKT_OUT);
    const int number = (int)plan->transfer->steps;
    struct takt_step *step = add_step(plan, &tile);

    for (unsigned operand = 0; operand < TAKT_OPERANDS; operand++)
        if (plan->resident[operand].block == NULL)
            pack_ld(&step->packed, operand);
    step->call.in[0] = grid->a[i];
    step->call.in[1] = grid->b[j];
    step->call.out = allocate(plan, rows.rows * rows.cols * plan->size);
    if (tile.beta != 0)
        add_chunk(plan, tile.out, rows, step->call.out, false, number);
}

/* Strips go in one of A and one of B at a time; each completes the tiles of a
 * new row or column, so that there is something to compute early on. */
static void plan_tiles(struct plan *plan, struct grid *grid)
{
    for (size_t d = 0; d < grid->high || d < grid->wide; d++) {
        if (d < grid->high) {
            const takt_call tile = tile_of(plan, grid, d, 0);
            plan_strip(plan, &tile, 0, &grid->a[d]);
        }
        for (size_t j = 0; d < grid->high && j < d && j < grid->wide; j++)
            plan_tile(plan, grid, d, j);
        if (d < grid->wide) {
            const takt_call tile = tile_of(plan, grid, 0, d);
            plan_strip(plan, &tile, 1, &grid->b[d]);
        }
        for (size_t i = 0; d < grid->wide && i <= d && i < grid->high; i++)
            plan_tile(plan, grid, i, d);
    }
    for (unsigned i = 0; i < plan->transfer->steps; i++)
        plan_out(plan, i);
}

/* ---- the plan ------------------------------------------------------------ */

static bool is_all_on_host(const struct plan *plan)
{
    for (unsigned i = 0; i < TAKT_OPERANDS; i++)
        if (plan->resident[i].block != NULL)
            return false;
    return true;
}

static size_t stretches_of(const struct plan *plan)
{
    return least(most(takt__call_bytes(plan->call) / stretch_bytes, 1),
                 least(plan->call->shape.dim[0], 16));
}

takt_status takt__plan(const takt_call *call,
                       const struct takt_location *resident,
                       const struct takt_block *block,
                       struct takt_transfer *transfer, size_t *used)
{
    struct plan plan = {.call = call,
                        .resident = resident,
                        .block = block,
                        .transfer = transfer,
                        .size = takt_dtype_size(call->dtype)};
    const bool is_product = takt__op_entry(call->op)->form == TAKT_FORM_matmul;

    takt__lengths_of(call, &plan.lengths);
    transfer->chunks = transfer->steps = 0;
    if (is_product && resident[TAKT_OUT].block == NULL) {
        struct grid grid = {
            .high = call->shape.dim[0] < cut_rows
                        ? 1
                        : least(call->shape.dim[0] / tile_rows, most_tiles),
            .wide = least(most(call->shape.dim[1] / tile_cols, 1), most_tiles),
        };
        plan_tiles(&plan, &grid);
    } else if (takt__call_cut(call) != 0 && is_all_on_host(&plan)) {
        plan_stretches(&plan, stretches_of(&plan));
    } else {
        plan_whole(&plan);
    }
    *used = plan.used;
    return plan.status != TAKT_OK ? plan.status : takt__transfer_cut(transfer);
}
