/* SPDX-License-Identifier: MIT */
/*
 * takt/call.h - a call as a value: any op, in any context.
 *
 * What the one-line calls of takt/ops.h do for you: describe the operands,
 * route, run. For bindings, and for programs with contexts of their own.
 *
 * Threads: takt_run() may be called from any number of threads at once.
 * Since: 0.1.
 */
#ifndef TAKT_CALL_H
#define TAKT_CALL_H

#include <stddef.h>

#include <takt/context.h>
#include <takt/export.h>
#include <takt/op.h>
#include <takt/status.h>
#include <takt/telemetry.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TAKT_CALL_CAUSAL 4u    /* attention: a query sees no later key */
#define TAKT_CALL_MEAN_POOL 8u /* pooling: mean instead of maximum */
#define TAKT_CALL_URGENT 16u   /* must not be late: no exploration */
#define TAKT_CALL_TF32 32u     /* products may be rounded to TF32 on a GPU */
#define TAKT_CALL_STEADY                                  \
    64u /* results must not come and go with trials: what \
         * is tried is run once more, beside the call, on \
         * memory of its own */
#define TAKT_CALL_ALPHA_ZERO 128u /* an alpha of 0 is meant, not forgotten */

/* Operands by op; members that an op does not name are 0. Of the flags, an op
 * takes those it names, and every op URGENT, TF32, STEADY and ALPHA_ZERO.
 *
 * Factors: an alpha that nobody set must not turn a result into zeros. So an
 * alpha of 0 in scale, axpy, gemv, matmul and batched, and the bounds 0 and 0
 * in clamp, are refused without TAKT_CALL_ALPHA_ZERO. Who passes factors on
 * that others chose sets it always.
 *
 *   maps        in[0..] are a, b, c; alpha (scale, axpy), alpha and beta as
 *               low and high (clamp); axpy: in[0] x, in[1] and out y
 *   transpose   in[0]; ld[0] of a, ld[2] of out; 0: no gaps
 *   reductions  in[0], in[1] (dot); out is one element, or a size_t for
 *               argmax and argmin
 *   softmax     in[0]
 *   layernorm   in[0] a, in[1] gain or NULL, in[2] bias or NULL; alpha is
 *               epsilon
 *   gemv        in[0] A, in[1] x, out y; ld[0]; alpha, beta, TAKT_TRANS_A
 *   matmul      in[0] A, in[1] B, out C; ld[0..2]; alpha, beta, TAKT_TRANS_*
 *   batched     in[0] A, in[1] B, out C, all without gaps; alpha, beta
 *   conv2d      in[0] images, in[1] filters, in[2] bias or NULL
 *   pooling     in[0]
 *   attention   in[0] queries, in[1] keys, in[2] values, in[3] mask or NULL;
 *               alpha is the scale of the scores, 0 for 1 / sqrt(depth)
 */
typedef struct takt_call {
    size_t size; /* sizeof(takt_call): see takt/takt.h */
    const takt_op *op;
    takt_dtype dtype;
    takt_shape shape; /* in the order of op->shape */
    const void *in[4];
    void *out;
    size_t ld[3];
    double alpha, beta;
    unsigned flags;                  /* TAKT_TRANS_..., TAKT_CALL_... */
    const takt_span_context *parent; /* whose trace it belongs to; NULL: that
                                      * of its thread (takt/telemetry.h) */
} takt_call;

/* Runs the call in `ctx` (NULL: the default context) and, if `decision` is not
 * NULL, says who ran it and why.
 * TAKT_EINVAL, TAKT_ESHAPE: as in takt/ops.h; nothing was touched.
 * TAKT_EINVAL: also a flag that the op does not take, or a factor that was not
 *   set (see above).
 * TAKT_ENOTSUP: a view, or a user's op without experts: nothing to run.
 * TAKT_ENODEV: no expert of a user's op could run it.
 * TAKT_ENOMEM: no expert could get the memory it works in. */
TAKT_API takt_status takt_run(takt_ctx *ctx, const takt_call *call,
                              takt_decision *decision);

/* Runs the call on one expert (its index for takt_ctx_expert()), whatever the
 * policy; nothing is learned from it and nobody steps in.
 * TAKT_ENODEV: it cannot run this call; nothing was touched. */
TAKT_API takt_status takt_run_on(takt_ctx *ctx, const takt_call *call,
                                 size_t expert);

#ifdef __cplusplus
}
#endif

#endif
