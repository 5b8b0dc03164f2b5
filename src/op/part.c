/* SPDX-License-Identifier: MIT */
/* part.c - where the operands of a part begin, by the table of forms. */
#include "op/part.h"

int takt__call_twin(const takt_call *call)
{
    for (int i = 0; i < TAKT_OUT; i++)
        if (call->in[i] != NULL && call->in[i] == call->out)
            return i;
    return -1;
}

unsigned takt__call_cut(const takt_call *call)
{
    const struct takt_form_entry *form = takt__op_form(call->op);
    unsigned cut = 0;

    for (unsigned i = 0; form->is_cut && i < TAKT_OPERANDS; i++) {
        const struct takt_dim_list *dims = &takt__form_operand(form, i)->dims;
        cut |= (unsigned)(dims->count > 0 && dims->of[0] == 0) << i;
    }
    return cut;
}

/* Elements between neighbours along a dimension of an operand; 0: it does not
 * have that one. */
static size_t stride_of(const takt_call *call, const size_t *d,
                        const struct takt_form_operand *is, unsigned dim)
{
    size_t stride = 1;

    for (unsigned i = is->dims.count; i-- > 0;) {
        const unsigned at = takt__operand_dim(is, call->flags, i);
        if (at == dim)
            return stride;
        stride = is->has_ld ? call->ld[is->ld] : stride * d[at];
    }
    return 0;
}

takt_call takt__call_slice(const takt_call *call, unsigned dim, size_t first,
                           size_t count)
{
    const struct takt_form_entry *form = takt__op_form(call->op);
    const size_t size = takt__dtype_size(call->dtype);
    struct takt_lengths lengths;
    size_t memory[TAKT_DIMS];
    const size_t *d = takt__form_dims(form, &call->shape, memory);
    takt_call part = *call;

    takt__lengths_of(call, &lengths);
    for (unsigned i = 0; i < TAKT_OPERANDS; i++) {
        if (lengths.of[i] == 0)
            continue;
        const size_t skip =
            first * size * stride_of(call, d, takt__form_operand(form, i), dim);
        if (i == TAKT_OUT)
            part.out = (char *)call->out + skip;
        else
            part.in[i] = (const char *)call->in[i] + skip;
    }
    part.shape.dim[dim] = count;
    return part;
}

bool takt__call_is_repeatable(const takt_call *call)
{
    return takt__call_twin(call) < 0 && !takt__call_accumulates(call);
}

/* A batch is cut at its items, and each of these at its rows. */
static takt_status visit_items(const takt_call *call,
                               const struct takt_dim_list *out, size_t first,
                               size_t rows, takt_part_visit *visit, void *self)
{
    const size_t each = call->shape.dim[out->of[1]];
    takt_status status = TAKT_OK;

    while (rows > 0 && status == TAKT_OK) {
        const size_t within = first % each;
        const size_t count = rows < each - within ? rows : each - within;
        const takt_call item =
            takt__call_slice(call, out->of[0], first / each, 1);
        const takt_call part =
            takt__call_slice(&item, out->of[1], within, count);
        status = visit(self, &part);
        first += count;
        rows -= count;
    }
    return status;
}

takt_status takt__call_rows(const takt_call *call, size_t first, size_t rows,
                            takt_part_visit *visit, void *self)
{
    const struct takt_form_operand *out = &takt__op_form(call->op)->out;

    if (out->dims.count == 3)
        return visit_items(call, &out->dims, first, rows, visit, self);
    const takt_call part = takt__call_slice(
        call, takt__operand_dim(out, call->flags, 0), first, rows);
    return visit(self, &part);
}
