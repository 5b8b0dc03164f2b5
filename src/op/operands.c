/* SPDX-License-Identifier: MIT */
/* operands.c - from sizes to memory, by the table of forms. */
#include "op/operands.h"

#include "base/size.h"

bool takt__is_position(const takt_call *call)
{
    const enum takt_op_id op = takt__op_id(call->op);
    return op == TAKT_OP_argmax || op == TAKT_OP_argmin;
}

bool takt__call_accumulates(const takt_call *call)
{
    return takt__op_form(call->op)->accumulates && call->beta != 0;
}

void takt__extents_of(const takt_call *call, struct takt_extents *out)
{
    const size_t size = takt__dtype_size(call->dtype);
    const struct takt_rows rows = takt__rows_of(call, TAKT_OUT);
    struct takt_lengths lengths;

    takt__lengths_of(call, &lengths);
    for (unsigned i = 0; i < TAKT_OPERANDS; i++)
        out->bytes[i] = lengths.of[i] * size;
    if (takt__is_position(call))
        out->bytes[TAKT_OUT] = sizeof(size_t);
    out->out_is_read = rows.ld > rows.cols || takt__call_accumulates(call);
}

size_t takt__call_bytes(const takt_call *call)
{
    struct takt_extents extents;
    size_t all = 0;

    takt__extents_of(call, &extents);
    for (unsigned i = 0; i < TAKT_OPERANDS; i++)
        all = takt__size_add(all, extents.bytes[i]);
    return all;
}
