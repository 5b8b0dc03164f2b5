/* SPDX-License-Identifier: MIT */
/* triangular_run.c - where the parts of a triangular call run. */
#include "triangular_run.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "baseline_call.h"
#include "flags.h"
#include "guard.h"
#include "record.h"
#include "router.h"

/* ---- products ------------------------------------------------------------ */

static bool run_on_expert(struct takt_parts *parts, const takt_call *call)
{
    const struct takt_route *route = parts->route;

    const struct takt_flags flags = takt__flags_begin();
    const takt_status status =
        route->takt->run_on(route->ctx, call, parts->expert);

    takt__flags_end(&flags, call);
    parts->used_other = true;
    return status == TAKT_OK;
}

static bool run_by_router(struct takt_parts *parts, const takt_call *call)
{
    const struct takt_route *route = parts->route;
    takt_decision decision = {.size = sizeof decision};
    const struct takt_flags flags = takt__flags_begin();
    const takt_status status =
        route->takt->run(route->ctx, call, parts->has_stats ? &decision : NULL);

    takt__flags_end(&flags, call);
    if (status != TAKT_OK)
        return false;
    if (parts->has_stats) {
        const enum takt_destination destination =
            takt__destination_of(route, &decision);
        parts->used_gpu |= destination == TAKT_DESTINATION_GPU;
        parts->used_other |= destination != TAKT_DESTINATION_BASELINE;
        parts->transfer_s += decision.transfer_s;
        parts->wait_s += decision.wait_s;
    }
    return true;
}

static void run_product(void *self, const struct takt_product *product)
{
    struct takt_parts *parts = self;
    const takt_call call = takt__product_call(parts->route, product);

    if (!(parts->expert == TAKT_ANY_EXPERT ? run_by_router
                                           : run_on_expert)(parts, &call))
        takt__baseline_product(parts->route->baseline, product);
}

/* ---- rests in the baseline library --------------------------------------- */

static void run_rest(void *self, const struct takt_triangular *part)
{
    const struct takt_parts *parts = self;

    takt__baseline_triangular(parts->route->baseline, part);
}

void takt__run_halves(struct takt_parts *parts,
                      const struct takt_triangular *call, size_t least)
{
    const struct takt_steps steps = {.self = parts,
                                     .product = run_product,
                                     .rest = run_rest,
                                     .least = least};

    takt__by_halves(call, &steps);
}

/* ---- rests as products --------------------------------------------------- */

struct scratch {
    size_t bytes;
    max_align_t at[];
};

/* One piece is kept for the next call; another thread may have it. */
static _Atomic(struct scratch *) kept;

/* In the place of `old`, which may be NULL; 0 bytes: none. */
static struct scratch *replace(struct scratch *old, size_t bytes)
{
    struct scratch *scratch = NULL;
    struct takt_guard guard;

    takt__guard_begin(&guard);
    free(old);
    if (bytes > 0)
        scratch = malloc(sizeof *scratch + bytes);
    if (scratch != NULL)
        scratch->bytes = bytes;
    takt__guard_end(&guard);
    return scratch;
}

static struct scratch *take_scratch(size_t bytes)
{
    struct scratch *scratch = atomic_exchange(&kept, NULL);

    return scratch != NULL && scratch->bytes >= bytes ? scratch
                                                      : replace(scratch, bytes);
}

static void give_back(struct scratch *scratch)
{
    struct scratch *other = atomic_exchange(&kept, scratch);

    if (other != NULL)
        replace(other, 0);
}

/* A call whose rests are products. */
struct diagonal {
    struct takt_parts *parts;
    void *scratch;
};

static void diagonal_product(void *self, const struct takt_product *product)
{
    run_product(((struct diagonal *)self)->parts, product);
}

#define ADD_ROW(type_)                                                     \
    static void add_row_##type_(type_ *c, const type_ *from, size_t count, \
                                type_ beta)                                \
    {                                                                      \
        for (size_t i = 0; i < count; i++)                                 \
            c[i] = beta == 0 ? from[i] : from[i] + beta * c[i];            \
    }
ADD_ROW(float)
ADD_ROW(double)

/* C = the triangle of a square + beta C. */
static void add_triangle(const struct takt_triangular *part, const void *square)
{
    const size_t n = part->n;

    for (size_t row = 0; row < n; row++) {
        const size_t first = part->is_upper ? row : 0;
        const size_t count = part->is_upper ? n - row : row + 1;
        const size_t to = row * part->ldc + first, from = row * n + first;
        if (part->is_double)
            add_row_double((double *)part->c + to,
                           (const double *)square + from, count, part->beta);
        else
            add_row_float((float *)part->c + to, (const float *)square + from,
                          count, (float)part->beta);
    }
}

static void diagonal_rest(void *self, const struct takt_triangular *part)
{
    const struct diagonal *diagonal = self;
    const struct takt_product square = {.is_double = part->is_double,
                                        .m = part->n,
                                        .n = part->n,
                                        .k = part->k,
                                        .is_a_transposed = part->is_transposed,
                                        .is_b_transposed = !part->is_transposed,
                                        .alpha = part->alpha,
                                        .beta = 0,
                                        .a = part->a,
                                        .b = part->a,
                                        .c = diagonal->scratch,
                                        .lda = part->lda,
                                        .ldb = part->lda,
                                        .ldc = part->n};

    run_product(diagonal->parts, &square);
    add_triangle(part, diagonal->scratch);
}

/* In 2, 4 or 8 rows of blocks: more of them compute less that is not needed,
 * in smaller products. These were the best on two cores with AVX-512, for k
 * from n / 16 to 100 n. */
static size_t least_of(size_t order)
{
    return order / (order < 96 ? 2 : order < 1024 ? 4 : 8) + 1;
}

bool takt__run_as_products(struct takt_parts *parts,
                           const struct takt_triangular *call)
{
    const size_t least = least_of(call->n) > 2 ? least_of(call->n) : 2;
    const size_t width = call->is_double ? sizeof(double) : sizeof(float);
    struct scratch *scratch = take_scratch((least - 1) * (least - 1) * width);
    struct diagonal diagonal = {parts, NULL};
    const struct takt_steps steps = {.self = &diagonal,
                                     .product = diagonal_product,
                                     .rest = diagonal_rest,
                                     .least = least};

    if (scratch == NULL)
        return false;
    diagonal.scratch = scratch->at;
    takt__by_halves(call, &steps);
    give_back(scratch);
    return true;
}

takt_shape takt__first_product(const struct takt_triangular *call)
{
    const size_t half = takt__triangle_order(call) / 2;

    if (takt__writes_triangle(call))
        return (takt_shape){.rank = 3, .dim = {half, half, call->k}};
    if (call->is_right)
        return (takt_shape){.rank = 3, .dim = {call->m, half, half}};
    return (takt_shape){.rank = 3, .dim = {half, call->n, half}};
}
