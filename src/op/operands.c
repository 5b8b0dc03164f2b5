/* SPDX-License-Identifier: MIT */
/*
 * operands.c - from sizes to memory, by the table of forms.
 */
#include "op/operands.h"

bool takt__is_position(const takt_call *call)
{
    const enum takt_op_id op = takt__op_id(call->op);
    return op == TAKT_OP_argmax || op == TAKT_OP_argmin;
}

struct takt_rows takt__rows_of(const takt_call *call, unsigned operand)
{
    const struct takt_form_entry *form = takt__op_form(call->op);
    const struct takt_form_operand *is = takt__form_operand(form, operand);
    struct takt_rows rows = {.rows = 1, .cols = 1, .ld = 1};
    size_t memory[TAKT_DIMS];

    if (!takt__call_has(call, form, operand))
        return (struct takt_rows){0};
    const size_t *d = takt__form_dims(form, &call->shape, memory);
    for (unsigned i = 0; i < is->dims.count; i++) {
        const size_t size = d[takt__operand_dim(is, call->flags, i)];
        if (i > 0 && i + 1 == is->dims.count)
            rows.cols = rows.ld = size;
        else
            rows.rows *= size;
    }
    if (is->has_ld)
        rows.ld = call->ld[is->ld];
    return rows;
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
