/* SPDX-License-Identifier: MIT */
/* dominant.h - matrices that have a factor, whatever else is in them. */
#ifndef TAKT_TESTS_DOMINANT_H
#define TAKT_TESTS_DOMINANT_H

#include "op/op_id.h"
#include "takt/call.h"

static inline bool is_factored(const takt_op *op)
{
    return takt__op_id(op) == TAKT_OP_cholesky ||
           takt__op_id(op) == TAKT_OP_solve || takt__op_id(op) == TAKT_OP_lstsq;
}

/* The first input of a call that factors it gets a diagonal that outweighs all
 * elements up to 2. */
static inline void make_dominant(const takt_call *call)
{
    const size_t *d = call->shape.dim;
    const size_t n = takt__op_id(call->op) == TAKT_OP_lstsq ? d[1] : d[0];
    const size_t ld = call->ld[0] == 0 ? n : call->ld[0];

    for (size_t i = 0; i < n && is_factored(call->op); i++)
        if (call->dtype == TAKT_F64)
            ((double *)(uintptr_t)call->in[0])[i * (ld + 1)] = 4 * (double)n;
        else
            ((float *)(uintptr_t)call->in[0])[i * (ld + 1)] = 4 * (float)n;
}

#endif
