/* SPDX-License-Identifier: MIT */
/* one_line.c - from a takt_call back to the one-line call. */
#include "one_line.h"

#include "call/ctx.h"

void one_line_in(takt_ctx *ctx)
{
    atomic_store(&takt__default_ctx, ctx);
}

/* The same call for both dtypes; the result of a reduction is `result`. */
#define BOTH(op_, ...)                                                    \
    case TAKT_OP_##op_:                                                   \
        return call->dtype == TAKT_F32 ? takt_##op_##_f32(n, __VA_ARGS__) \
                                       : takt_##op_##_f64(n, __VA_ARGS__);

static takt_status run_vector(const takt_call *call)
{
    const size_t n = call->shape.dim[0];
    const void *a = call->in[0], *b = call->in[1], *c = call->in[2];
    void *out = call->out;

    switch (takt__op_id(call->op)) {
        BOTH(add, a, b, out)
        BOTH(sub, a, b, out)
        BOTH(mul, a, b, out)
        BOTH(div, a, b, out)
        BOTH(abs, a, out)
        BOTH(neg, a, out)
        BOTH(sqrt, a, out)
        BOTH(copy, a, out)
        BOTH(fma, a, b, c, out)
        BOTH(sum, a, out)
        BOTH(mean, a, out)
        BOTH(max, a, out)
        BOTH(min, a, out)
        BOTH(argmax, a, out)
        BOTH(argmin, a, out)
        BOTH(norm1, a, out)
        BOTH(norm2, a, out)
        BOTH(variance, a, out)
        BOTH(dot, a, b, out)
        BOTH(exp, a, out)
        BOTH(exp2, a, out)
        BOTH(expm1, a, out)
        BOTH(log, a, out)
        BOTH(log2, a, out)
        BOTH(log1p, a, out)
        BOTH(sin, a, out)
        BOTH(cos, a, out)
        BOTH(sigmoid, a, out)
        BOTH(tanh, a, out)
        BOTH(relu, a, out)
        BOTH(gelu, a, out)
    case TAKT_OP_scale:
        return call->dtype == TAKT_F32
                   ? takt_scale_f32(n, (float)call->alpha, a, out)
                   : takt_scale_f64(n, call->alpha, a, out);
    case TAKT_OP_axpy:
        return call->dtype == TAKT_F32
                   ? takt_axpy_f32(n, (float)call->alpha, a, out)
                   : takt_axpy_f64(n, call->alpha, a, out);
    case TAKT_OP_clamp:
        return call->dtype == TAKT_F32
                   ? takt_clamp_f32(n, (float)call->alpha, (float)call->beta, a,
                                    out)
                   : takt_clamp_f64(n, call->alpha, call->beta, a, out);
    default:
        return takt_run(NULL, call, NULL);
    }
}

takt_status one_line(const takt_call *call)
{
    const size_t *d = call->shape.dim;

    if (call->shape.rank == 1)
        return run_vector(call);
    if (takt__op_id(call->op) != TAKT_OP_matmul)
        return takt_run(NULL, call, NULL);
    return call->dtype == TAKT_F32
               ? takt_matmul_f32(d[0], d[1], d[2], call->in[0], call->in[1],
                                 call->out)
               : takt_matmul_f64(d[0], d[1], d[2], call->in[0], call->in[1],
                                 call->out);
}
