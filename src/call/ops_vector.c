/* SPDX-License-Identifier: MIT */
/*
 * ops_vector.c - the one-line calls on vectors: maps and reductions.
 *
 * A call on a few elements goes straight to the best kernel of this machine:
 * deciding would cost more than any decision could gain. Everything else is
 * described as a takt_call and takes the common path.
 */
#include <string.h>

#include "call/call.h"
#include "kernels/partial.h"
#include "op/admit.h"
#include "takt/ops.h"

/* Inlined for sure, so that op and dtype are constants in each public call. */
#define STRAIGHT static inline __attribute__((always_inline))

/* ---- maps ------------------------------------------------------------------
 */

struct map {
    enum takt_op_id op;
    takt_dtype dtype;
    unsigned inputs;
    size_t n;
    const void *in[3];
    void *out;
    double p, q;
};

static takt_status route_map(takt_ctx *ctx, const struct map *map)
{
    takt_call call;

    takt__call_begin(&call, map->op, map->dtype);
    call.shape.rank = 1;
    call.shape.dim[0] = map->n;
    memcpy(call.in, map->in, sizeof map->in);
    call.out = map->out;
    call.alpha = map->p;
    call.beta = map->q;
    return takt__call(ctx, &call, NULL);
}

STRAIGHT takt_status run_map(struct map map)
{
    takt_ctx *ctx = takt_ctx_default();

    if (ctx == NULL)
        return TAKT_ENOMEM;
    if (map.n >= ctx->straight_below[map.dtype][map.op])
        return route_map(ctx, &map);
    const takt_status status = takt__admit_map(
        map.n, map.dtype == TAKT_F32 ? 4 : 8, map.inputs, map.in, map.out);
    if (status == TAKT_OK)
        ctx->straight->map[map.dtype][map.op](map.n, map.in[0], map.in[1],
                                              map.in[2], map.out, map.p, map.q);
    return status;
}

#define MAP1(op_, dtype_, id_, real_)                                       \
    takt_status takt_##op_##_##dtype_(size_t n, const real_ *a, real_ *out) \
    {                                                                       \
        return run_map((struct map){.op = TAKT_OP_##op_,                    \
                                    .dtype = id_,                           \
                                    .inputs = 1,                            \
                                    .n = n,                                 \
                                    .in = {a},                              \
                                    .out = out});                           \
    }

#define MAP2(op_, dtype_, id_, real_)                             \
    takt_status takt_##op_##_##dtype_(size_t n, const real_ *a,   \
                                      const real_ *b, real_ *out) \
    {                                                             \
        return run_map((struct map){.op = TAKT_OP_##op_,          \
                                    .dtype = id_,                 \
                                    .inputs = 2,                  \
                                    .n = n,                       \
                                    .in = {a, b},                 \
                                    .out = out});                 \
    }

#define MAPS(dtype_, id_, real_)                                            \
    MAP2(add, dtype_, id_, real_)                                           \
    MAP2(sub, dtype_, id_, real_)                                           \
    MAP2(mul, dtype_, id_, real_)                                           \
    MAP2(div, dtype_, id_, real_)                                           \
    MAP1(abs, dtype_, id_, real_)                                           \
    MAP1(neg, dtype_, id_, real_)                                           \
    MAP1(sqrt, dtype_, id_, real_)                                          \
    MAP1(copy, dtype_, id_, real_)                                          \
    takt_status takt_scale_##dtype_(size_t n, real_ alpha, const real_ *a,  \
                                    real_ *out)                             \
    {                                                                       \
        return run_map((struct map){.op = TAKT_OP_scale,                    \
                                    .dtype = id_,                           \
                                    .inputs = 1,                            \
                                    .n = n,                                 \
                                    .in = {a},                              \
                                    .out = out,                             \
                                    .p = alpha});                           \
    }                                                                       \
    takt_status takt_axpy_##dtype_(size_t n, real_ alpha, const real_ *x,   \
                                   real_ *y)                                \
    {                                                                       \
        return run_map((struct map){.op = TAKT_OP_axpy,                     \
                                    .dtype = id_,                           \
                                    .inputs = 2,                            \
                                    .n = n,                                 \
                                    .in = {x, y},                           \
                                    .out = y,                               \
                                    .p = alpha});                           \
    }                                                                       \
    takt_status takt_fma_##dtype_(size_t n, const real_ *a, const real_ *b, \
                                  const real_ *c, real_ *out)               \
    {                                                                       \
        return run_map((struct map){.op = TAKT_OP_fma,                      \
                                    .dtype = id_,                           \
                                    .inputs = 3,                            \
                                    .n = n,                                 \
                                    .in = {a, b, c},                        \
                                    .out = out});                           \
    }                                                                       \
    takt_status takt_clamp_##dtype_(size_t n, real_ low, real_ high,        \
                                    const real_ *a, real_ *out)             \
    {                                                                       \
        if (!(low <= high))                                                 \
            return TAKT_EINVAL;                                             \
        return run_map((struct map){.op = TAKT_OP_clamp,                    \
                                    .dtype = id_,                           \
                                    .inputs = 1,                            \
                                    .n = n,                                 \
                                    .in = {a},                              \
                                    .out = out,                             \
                                    .p = low,                               \
                                    .q = high});                            \
    }

MAPS(f32, TAKT_F32, float)
MAPS(f64, TAKT_F64, double)
MAP1(exp, f32, TAKT_F32, float)
MAP1(log, f32, TAKT_F32, float)
MAP1(sigmoid, f32, TAKT_F32, float)
MAP1(tanh, f32, TAKT_F32, float)
MAP1(relu, f32, TAKT_F32, float)
MAP1(gelu, f32, TAKT_F32, float)

/* ---- reductions ------------------------------------------------------------
 */

struct reduction {
    enum takt_op_id op;
    enum takt_partial_kind kind;
    takt_dtype dtype;
    unsigned inputs;
    size_t n;
    const void *in[2];
    size_t out_bytes;
    void *out;
};

static takt_status route_reduce(takt_ctx *ctx, const struct reduction *r)
{
    takt_call call;

    takt__call_begin(&call, r->op, r->dtype);
    call.shape.rank = 1;
    call.shape.dim[0] = r->n;
    memcpy(call.in, r->in, sizeof r->in);
    call.out = r->out;
    return takt__call(ctx, &call, NULL);
}

STRAIGHT takt_status run_reduce(struct reduction r)
{
    takt_ctx *ctx = takt_ctx_default();
    struct takt_partial partial;

    if (ctx == NULL)
        return TAKT_ENOMEM;
    if (r.n >= ctx->straight_below[r.dtype][r.op] || r.n == 0)
        return route_reduce(ctx, &r);
    const takt_status status = takt__admit_reduce(
        r.n, r.dtype == TAKT_F32 ? 4 : 8, r.inputs, r.in, r.out_bytes, r.out);
    if (status != TAKT_OK)
        return status;
    ctx->straight->reduce[r.dtype][r.op](r.n, r.in[0], r.in[1], &partial);
    takt__partial_write(r.kind, &partial, r.dtype == TAKT_F64, r.out);
    return TAKT_OK;
}

#define REDUCE(op_, kind_, dtype_, id_, real_, result_)                       \
    takt_status takt_##op_##_##dtype_(size_t n, const real_ *a, result_ *out) \
    {                                                                         \
        return run_reduce((struct reduction){.op = TAKT_OP_##op_,             \
                                             .kind = TAKT_PARTIAL_##kind_,    \
                                             .dtype = id_,                    \
                                             .inputs = 1,                     \
                                             .n = n,                          \
                                             .in = {a},                       \
                                             .out_bytes = sizeof *out,        \
                                             .out = out});                    \
    }

#define REDUCTIONS(dtype_, id_, real_)                                      \
    REDUCE(sum, SUM, dtype_, id_, real_, real_)                             \
    REDUCE(mean, MEAN, dtype_, id_, real_, real_)                           \
    REDUCE(max, MAX, dtype_, id_, real_, real_)                             \
    REDUCE(min, MIN, dtype_, id_, real_, real_)                             \
    REDUCE(argmax, ARGMAX, dtype_, id_, real_, size_t)                      \
    REDUCE(argmin, ARGMIN, dtype_, id_, real_, size_t)                      \
    REDUCE(norm1, SUM, dtype_, id_, real_, real_)                           \
    REDUCE(norm2, NORM2, dtype_, id_, real_, real_)                         \
    REDUCE(variance, VARIANCE, dtype_, id_, real_, real_)                   \
    takt_status takt_dot_##dtype_(size_t n, const real_ *a, const real_ *b, \
                                  real_ *out)                               \
    {                                                                       \
        return run_reduce((struct reduction){.op = TAKT_OP_dot,             \
                                             .kind = TAKT_PARTIAL_SUM,      \
                                             .dtype = id_,                  \
                                             .inputs = 2,                   \
                                             .n = n,                        \
                                             .in = {a, b},                  \
                                             .out_bytes = sizeof *out,      \
                                             .out = out});                  \
    }

REDUCTIONS(f32, TAKT_F32, float)
REDUCTIONS(f64, TAKT_F64, double)
