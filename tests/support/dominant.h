/* SPDX-License-Identifier: MIT */
/* dominant.h - matrices that have a factor, whatever else is in them. */
#pragma once

#include "op/op_id.h"
#include "takt/call.h"

static inline bool is_factored(const takt_op *op)
{
    const enum takt_op_id id = takt__op_id(op);

    return id == TAKT_OP_cholesky || id == TAKT_OP_solve || id == TAKT_OP_qr ||
           id == TAKT_OP_lstsq;
}

/* The first input of a call that factors it gets a diagonal that outweighs all
 * elements up to 2. */
static inline void make_dominant(const takt_call *call)
{
    const size_t *d = call->shape.dim;
    const size_t n = takt__op_form(call->op)->is_tall ? d[1] : d[0];
    const size_t ld = call->ld[0] == 0 ? n : call->ld[0];

    for (size_t i = 0; i < n && is_factored(call->op); i++)
        if (call->dtype == TAKT_F64)
            ((double *)(uintptr_t)call->in[0])[i * (ld + 1)] = 4 * (double)n;
        else
            ((float *)(uintptr_t)call->in[0])[i * (ld + 1)] = 4 * (float)n;
}
