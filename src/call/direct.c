/* SPDX-License-Identifier: MIT */
/* direct.c - up to which size calls go directly to a kernel. */
#include "call/direct.h"

#include <math.h>

_Atomic(takt_ctx *) takt__default_ctx;

/* There are buffers that move: operands must be looked up in their arena. */
static _Atomic bool has_moving_buffers;

/* Calls this small never look anything up: an add of 64 elements takes less
 * than reading a clock, and so does a product of 8x8x8. */
enum { least_elements = 64, least_steps = 8 * 8 * 8 };

/* Calls shorter than this go directly whichever expert is first: looking it up
 * takes a tenth of that, and no other expert of one thread gains as much. */
static const float too_short_s = 0.7e-6f;

/* ---- calls --------------------------------------------------------------- */

void takt__direct_represent(struct takt_exec *exec, bool is_learned)
{
    enum { calls = 256 };
    struct takt_thread *thread = exec->thread;

    if (thread->left != 0)
        return;
    takt__thread_draw(thread, 0);
    thread->left = calls / 2 + (uint32_t)(thread->random >> 56); /* 0 to 255 */
    exec->calls = calls;
    exec->is_sampled = is_learned;
}

/* Elements of a vector or matrix, steps of a product; 0: none that may go
 * directly. */
static size_t size_of(const takt_call *call)
{
    const size_t *d = call->shape.dim;

    switch (call->op->rank_min) {
    case 1:
        return d[0];
    case 2:
        return (d[0] | d[1]) >> 20 == 0 ? d[0] * d[1] : 0;
    default:
        return (d[0] | d[1] | d[2]) >> 10 == 0 ? d[0] * d[1] * d[2] : 0;
    }
}

bool takt__direct_run(struct takt_exec *exec)
{
    takt_ctx *ctx = exec->ctx;
    const takt_call *call = exec->call;
    const enum takt_op_id op = takt__op_id(call->op);

    if (op == TAKT_OP_COUNT || call->parent != NULL ||
        (call->flags & ~TAKT_CALL_ALPHA_ZERO) != 0 ||
        ctx->direct.most_short[call->dtype][op] == 0)
        return false;
    const size_t size = size_of(call);
    if (size > ctx->direct.most_short[call->dtype][op])
        return false;
    if (takt__direct_take(ctx, call->dtype, op, size))
        return takt__expert_run(&ctx->experts, ctx->decider.team[0].expert,
                                call) == TAKT_OK;
    takt__direct_represent(exec, size >= TAKT_LEAST_TIMED);
    return false;
}

/* ---- sizes --------------------------------------------------------------- */

/* Whether one thread of the best instruction set is first in a bucket in every
 * situation of plain memory; the prior decides where nothing was learned. */
static bool one_thread_is_best(const takt_ctx *ctx, struct takt_key key,
                               const takt_work *work)
{
    for (unsigned s = 0; s < TAKT_RESIDENT; s++) {
        const uint64_t word = takt__table_load(&ctx->decider.table, key, s);
        if (word != 0 && (uint8_t)word != ctx->decider.team[0].expert &&
            takt__cell_unpack(word).seconds > too_short_s)
            return false;
        if (word == 0 &&
            !takt__decider_prefers_one_thread(&ctx->decider, key, work))
            return false;
    }
    return true;
}

/* A shape of so many elements; of a product, a cube of so many steps. */
static takt_shape shape_of(const takt_op *op, double size)
{
    const double side = floor(pow(size, 1.0 / op->rank_min) + 0.5);
    takt_shape shape = {.rank = op->rank_min};

    for (unsigned i = 0; i < shape.rank; i++)
        shape.dim[i] = (size_t)(shape.rank == 1 ? size : side);
    return shape;
}

static double bytes_of(const takt_op *op, takt_dtype dtype, takt_shape shape)
{
    takt_work work;

    return takt_op_work(op, dtype, &shape, &work) == TAKT_OK ? work.bytes : 0;
}

static const size_t many = 1 << 20;

/* What a bucket counts per element, in bytes (of a matrix, at most: it may be
 * one row or one column), or per step of a product, in operations. */
static double unit_of(const takt_op *op, takt_dtype dtype)
{
    double bytes = bytes_of(op, dtype, shape_of(op, (double)many));

    if (op->rank_min == 3)
        return 2;
    if (op->rank_min == 2)
        bytes = fmax(bytes_of(op, dtype, (takt_shape){2, {1, many}}),
                     bytes_of(op, dtype, (takt_shape){2, {many, 1}}));
    return bytes / (double)many;
}

/* The first bucket of a series, from `bucket` on, in which a lookup may pay. */
static unsigned end_of(const takt_ctx *ctx, unsigned series, const takt_op *op,
                       takt_dtype dtype, unsigned bucket)
{
    const double unit = unit_of(op, dtype);

    for (; bucket < TAKT_BUCKETS; bucket++) {
        const struct takt_key key = {(uint16_t)series, (uint8_t)bucket};
        const takt_shape shape = shape_of(op, takt__bucket_work(bucket) / unit);
        takt_work work;
        if (takt_op_work(op, dtype, &shape, &work) != TAKT_OK ||
            !one_thread_is_best(ctx, key, &work))
            break;
    }
    return bucket;
}

/* Without transposes, whichever sides are thin. */
static size_t most_of(const takt_ctx *ctx, const takt_op *op, takt_dtype dtype)
{
    static const unsigned layouts[] = {0, 1, 3, TAKT_ASPECTS}; /* by rank */
    const size_t least = op->rank_min == 3 ? least_steps : least_elements;
    const double unit = unit_of(op, dtype);
    const takt_shape shape = shape_of(op, (double)many); /* the first layout */
    const takt_work work = {(double)least * unit, (double)least * unit};
    const struct takt_key key = takt__key_of(op, dtype, &shape, 0, &work);
    unsigned end = TAKT_BUCKETS;

    for (unsigned i = 0; i < layouts[op->rank_min]; i++) {
        const unsigned own =
            end_of(ctx, key.series + i, op, dtype, key.bucket + 1u);
        end = own < end ? own : end;
    }
    const size_t most = (size_t)(takt__bucket_low(end) / unit) - 1;
    return most > least ? most : least;
}

static bool may_be_direct(enum takt_op_id op)
{
    switch (takt__op_entry(takt_op_at(op))->form) {
    case TAKT_FORM_rows:
    case TAKT_FORM_bias:
    case TAKT_FORM_by_rows:
    case TAKT_FORM_by_cols:
    case TAKT_FORM_matrix:
    case TAKT_FORM_gemv:
    case TAKT_FORM_matmul:
        return true;
    default:
        return takt_op_at(op)->rank_max == 1;
    }
}

/* Experts of the user's are there to be chosen, whatever the size. */
static bool is_allowed(const takt_ctx *ctx, const takt_op *op)
{
    return ctx->direct.is_on && !ctx->direct.is_all_emitted &&
           takt__user_expert_next(&ctx->experts, op, NULL) == NULL;
}

void takt__direct_update(takt_ctx *ctx, enum takt_op_id op, takt_dtype dtype)
{
    _Atomic size_t *most = &ctx->direct.most[dtype][op];
    const takt_op *entry = takt_op_at(op);

    if (!may_be_direct(op) || !is_allowed(ctx, entry)) {
        atomic_store(most, 0);
        return;
    }
    atomic_store(most, most_of(ctx, entry, dtype));
    /* Another thread may have forbidden it meanwhile, and been here before. */
    if (!is_allowed(ctx, entry))
        atomic_store(most, 0);
}

/* For every op and dtype; `is_on` false: none goes directly. */
static void update_all(takt_ctx *ctx, bool is_on)
{
    for (int op = 0; op < TAKT_OP_COUNT; op++)
        for (int dtype = 0; dtype < TAKT_DTYPES; dtype++)
            if (is_on)
                takt__direct_update(ctx, (enum takt_op_id)op,
                                    (takt_dtype)dtype);
            else
                atomic_store(&ctx->direct.most[dtype][op], 0);
}

void takt__direct_emit_all(takt_ctx *ctx, bool is_all)
{
    if (atomic_exchange(&ctx->direct.is_all_emitted, is_all) != is_all)
        update_all(ctx, !is_all);
}

/* Below which size deciding a call would take a good part of its time, by the
 * prior. One-line calls go directly beyond it: takt_run() is for programs that
 * want to see what happens. */
static size_t most_short_of(const takt_ctx *ctx, const takt_op *op,
                            takt_dtype dtype)
{
    static const double short_s = 0.3e-6;
    const struct takt_rates *rates = &ctx->decider.team[0].rates;
    const double cost = takt__op_entry(op)->cost[dtype];
    size_t size = 0;

    for (size_t next = 1; next < 1 << 20; next += next / 8 + 1) {
        const takt_shape shape = shape_of(op, (double)next);
        takt_work work;
        if (takt_op_work(op, dtype, &shape, &work) != TAKT_OK ||
            takt__rates_seconds(rates, work.bytes, work.flops * cost, 0) >
                short_s)
            break;
        size = next;
    }
    return size;
}

static void find_short(takt_ctx *ctx)
{
    for (int op = 0; op < TAKT_OP_COUNT; op++)
        for (int dtype = 0; dtype < TAKT_DTYPES; dtype++)
            if (may_be_direct((enum takt_op_id)op))
                ctx->direct.most_short[dtype][op] = most_short_of(
                    ctx, takt_op_at((unsigned)op), (takt_dtype)dtype);
}

/* Other policies decide every call. */
void takt__direct_start(takt_ctx *ctx)
{
    ctx->direct.kernel_set = &ctx->experts.kernel_set[ctx->decider.best_isa];
    if (ctx->decider.policy != TAKT_POLICY_ADAPTIVE || ctx->is_recorded ||
        atomic_load(&has_moving_buffers))
        return;
    ctx->direct.is_on = true;
    find_short(ctx);
    update_all(ctx, true);
}

static void stop(takt_ctx *ctx)
{
    ctx->direct.is_on = false;
    update_all(ctx, false);
}

void takt__direct_set_default(takt_ctx *ctx)
{
    atomic_store(&takt__default_ctx, ctx);
    if (ctx != NULL && atomic_load(&has_moving_buffers))
        stop(ctx); /* since it was made */
}

void takt__direct_stop(takt_ctx *ctx)
{
    takt_ctx *other = atomic_load(&takt__default_ctx);

    if (ctx->experts.devices.count == 0 || atomic_load(&has_moving_buffers))
        return; /* its buffers never move, or direct calls are off already */
    atomic_store(&has_moving_buffers, true);
    stop(ctx);
    if (other != NULL && other != ctx)
        stop(other);
}
