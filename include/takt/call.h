/* SPDX-License-Identifier: MIT */
/*
 * takt/call.h - runs any op in any context.
 *
 * Describe the operands in a takt_call and pass it to takt_run(). The one-line
 * calls of takt/ops.h do the same in the default context. Use this header for
 * language bindings, for contexts of your own, and to see the decision.
 *
 *     const float a[4] = {1, 2, 3, 4}, b[4] = {5, 6, 7, 8};
 *     float c[4];
 *     const takt_call call = {.size = sizeof call,
 *                             .op = takt_op_find("matmul"),
 *                             .shape = {.rank = 3, .dim = {2, 2, 2}},
 *                             .in = {a, b},
 *                             .out = c,
 *                             .alpha = 1};
 *     takt_decision decision = {.size = sizeof decision};
 *
 *     if (takt_run(NULL, &call, &decision) != TAKT_OK)
 *         return 1;
 *     printf("%g by %s (%s)\n", c[0], decision.expert,
 *            takt_reason_name(decision.reason));
 *
 * Threads: takt_run() may be called from any number of threads at once.
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

/* The flags of a call, besides TAKT_TRANS_A and TAKT_TRANS_B. */
#define TAKT_CALL_CAUSAL 4u    /* attention: a query sees no later key */
#define TAKT_CALL_MEAN_POOL 8u /* pooling: mean instead of maximum */
#define TAKT_CALL_URGENT 16u   /* low latency: no exploration */
#define TAKT_CALL_TF32 32u     /* products may be rounded to TF32 on a GPU */
#define TAKT_CALL_STEADY                                  \
    64u /* results must not vary with trials: a trial is  \
         * a shadow run, after the call, on a copy of the \
         * output */
#define TAKT_CALL_ALPHA_ZERO 128u /* an alpha of 0 is intended */
#define TAKT_CALL_UNTYPICAL                                  \
    256u /* conditions are unusual: nothing is tried in this \
          * call, and nothing is learned from it */

/* The objective of a call, by its number: takt_ctx_add_objective(). */
#define TAKT_CALL_OBJECTIVE(number) ((unsigned)(number) << 28)

/* An op with its shape and its operands. Members that an op does not name are
 * 0. Of the flags, an op takes those it names, and every op URGENT, TF32,
 * STEADY, ALPHA_ZERO, UNTYPICAL and an objective.
 *
 * Factors: a forgotten alpha must not turn a result into zeros. So an alpha of
 * 0 in scale, axpy, gemv, matmul and batched, and the bounds 0 and 0 in clamp,
 * are refused without TAKT_CALL_ALPHA_ZERO. A wrapper that passes its caller's
 * factors on always sets this flag.
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
 *   batched_matmul  in[0] A, in[1] B, out C, all without gaps; alpha, beta
 *   cholesky    in[0] A, out L; ld[0], ld[2]
 *   qr          in[0] A, out Q and below it R; ld[0], ld[2]
 *   solve, lstsq  in[0] A, in[1] B, out X; ld[0..2]
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
    const takt_span_context *parent; /* of its span; NULL: the parent of its
                                      * thread (takt/telemetry.h) */
} takt_call;

/* Runs a call in a context. If `decision` is not NULL, it is filled in: the
 * expert that ran the call, and the reason.
 * TAKT_EINVAL, TAKT_ESHAPE: as in takt/ops.h; nothing was touched.
 * TAKT_EINVAL: also a flag that the op does not take, a factor that was not
 *   set (see takt_call), an op that was defined in another context, or an
 *   objective that the context does not have.
 * TAKT_ENOTSUP: an op that is only a view (reshape), or a user's op without
 *   experts: nothing to run.
 * TAKT_ENODEV: no expert of a user's op could run it.
 * TAKT_ENOMEM: no expert could allocate its working memory.
 * TAKT_EDEFINITE, TAKT_ESINGULAR: as in takt/ops.h; the call was run. */
TAKT_API takt_status takt_run(takt_ctx *ctx, const takt_call *call,
                              takt_decision *decision);

/* Runs a call on one expert, whatever the policy says. `expert` is its index
 * for takt_ctx_expert(). Nothing is learned from it, and no other expert takes
 * over.
 * TAKT_ENODEV: the expert cannot run this call; nothing was touched. */
TAKT_API takt_status takt_run_on(takt_ctx *ctx, const takt_call *call,
                                 size_t expert);

/* Runs one part of a job of the caller's own: 0 <= part < parts. */
typedef void (*takt_part)(void *job, unsigned part, unsigned parts);

/* Runs every part of a job once, on the threads of a context. It uses the
 * caller's thread and those of `ctx` as far as they are free, and returns when
 * all are done. Parts may run in any order and at once, in the caller's
 * floating-point environment; the exception flags that they raise are raised in
 * the caller. The caller's thread cannot be cancelled meanwhile. Nothing is
 * decided, timed or learned: it is for code that knows how to divide its work,
 * such as an expert of the user's own.
 * TAKT_EINVAL: no function.
 * TAKT_ENODEV: the context answers for another machine (a recording). */
TAKT_API takt_status takt_run_parts(takt_ctx *ctx, unsigned parts,
                                    takt_part run, void *job);

#ifdef __cplusplus
}
#endif

#endif
