/* SPDX-License-Identifier: MIT */
/*
 * call.h - the life of a call, and the sizes it is decided by.
 */
#ifndef TAKT_CALL_CALL_H
#define TAKT_CALL_CALL_H

#include "call/ctx.h"
#include "takt/call.h"

/* Admit, decide, run, observe. `call` is changed: usual values are filled in.
 * `decision` may be NULL. */
takt_status takt__call(takt_ctx *ctx, takt_call *call, takt_decision *decision);

/* The same, for a call that stands for so many; it is timed for sure if it is
 * to be learned from. */
takt_status takt__call_for(takt_ctx *ctx, takt_call *call, uint16_t calls,
                           bool is_learned);

/* A one-line call that took the long way, in the default context: for itself,
 * or once in a while for those of its thread that did not. */
takt_status takt__call_route(takt_call *call, bool is_learned);

/* Makes the model think about calls of that key, and publish what it thinks. */
void takt__ctx_meet(takt_ctx *ctx, const struct takt_sizes *sizes);

/* Whether work can be learned about: neither unknown nor beyond any machine. */
static inline bool takt__work_is_sane(const takt_work *work)
{
    return work->bytes >= 0 && work->bytes < 1e30 && work->flops >= 0 &&
           work->flops < 1e30;
}

/* What a request is decided by.
 * TAKT_EINVAL, TAKT_ESHAPE: as takt_select(). */
takt_status takt__request_sizes(const takt_request *request,
                                struct takt_sizes *out);

/* An empty call of an op. Written out member by member: an initialiser would
 * clear the unused sizes too, which takes longer than a small op. */
static inline void takt__call_begin(takt_call *call, enum takt_op_id op,
                                    takt_dtype dtype)
{
    call->op = takt_op_at(op);
    call->dtype = dtype;
    call->shape.rank = 0;
    call->in[0] = call->in[1] = call->in[2] = call->in[3] = NULL;
    call->out = NULL;
    call->ld[0] = call->ld[1] = call->ld[2] = 0;
    call->alpha = call->beta = 0;
    call->flags = 0;
    call->parent = NULL;
}

/* A choice in words. */
void takt__decision_fill(const takt_ctx *ctx, const struct takt_sizes *sizes,
                         const struct takt_choice *choice, takt_decision *out);

#endif
