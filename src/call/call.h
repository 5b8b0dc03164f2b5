/* SPDX-License-Identifier: MIT */
/* call.h - the path of a call, for the public one-line calls. */
#pragma once

#include "call/ctx.h"
#include "takt/call.h"

/* Runs a call in the default context. `call` is changed: defaults are filled
 * in. */
takt_status takt__call(takt_call *call);

/* The same for a call that was not to go directly, for its own reasons or to
 * stand for those of its thread that did; then it is learned from if
 * `is_learned`. */
takt_status takt__call_indirect(takt_call *call, bool is_learned);

/* An empty call of an op. Written out member by member: an initialiser would
 * clear the unused sizes too, which takes longer than a small op. */
static inline void takt__call_begin(takt_call *call, enum takt_op_id op,
                                    takt_dtype dtype)
{
    call->size = sizeof *call;
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
