/* SPDX-License-Identifier: MIT */
/* part.c - where the operands of a part begin. */
#include "gpu/part.h"

#include "takt/ops.h"

int takt__call_twin(const takt_call *call)
{
    for (int i = 0; i < TAKT_OUT; i++)
        if (call->in[i] != NULL && call->in[i] == call->out)
            return i;
    return -1;
}

unsigned takt__call_cut(const takt_call *call)
{
    switch (takt__op_entry(call->op)->form) {
    case TAKT_FORM_map:
        return 1 << 0 | 1 << 1 | 1 << 2 | 1 << TAKT_OUT;
    case TAKT_FORM_rows:
    case TAKT_FORM_conv2d:
    case TAKT_FORM_pool2d:
        return 1 << 0 | 1 << TAKT_OUT;
    case TAKT_FORM_batched:
        return 1 << 0 | 1 << 1 | 1 << TAKT_OUT;
    case TAKT_FORM_attention:
        return 1 << 0 | 1 << 1 | 1 << 2 | 1 << TAKT_OUT;
    default:
        return 0;
    }
}

takt_call takt__call_part(const takt_call *call, size_t first, size_t count)
{
    const unsigned cut = takt__call_cut(call);
    const size_t size = takt_dtype_size(call->dtype);
    struct takt_lengths lengths;
    takt_call part = *call;

    takt__lengths_of(call, &lengths);
    for (unsigned i = 0; i < TAKT_OPERANDS; i++) {
        if ((cut >> i & 1) == 0 || lengths.of[i] == 0)
            continue;
        const size_t skip = lengths.of[i] / call->shape.dim[0] * first * size;
        if (i == TAKT_OUT)
            part.out = (char *)call->out + skip;
        else
            part.in[i] = (const char *)call->in[i] + skip;
    }
    part.shape.dim[0] = count;
    return part;
}

bool takt__call_is_repeatable(const takt_call *call)
{
    const enum takt_form form = takt__op_entry(call->op)->form;
    const bool is_product = form == TAKT_FORM_matmul ||
                            form == TAKT_FORM_batched || form == TAKT_FORM_gemv;

    return takt__call_twin(call) < 0 && !(is_product && call->beta != 0);
}

static takt_call product_part(const takt_call *call, size_t first, size_t rows)
{
    const size_t size = takt_dtype_size(call->dtype);
    const bool trans_a = (call->flags & TAKT_TRANS_A) != 0;
    takt_call part = *call;

    part.in[0] = (const char *)call->in[0] +
                 (trans_a ? first : first * call->ld[0]) * size;
    part.out = (char *)call->out + first * call->ld[2] * size;
    part.shape.dim[0] = rows;
    return part;
}

/* Of a gemv, an element of y belongs to a row of A, or to a column. */
static takt_call gemv_part(const takt_call *call, size_t first, size_t rows)
{
    const size_t size = takt_dtype_size(call->dtype);
    const bool trans = (call->flags & TAKT_TRANS_A) != 0;
    takt_call part = *call;

    part.in[0] = (const char *)call->in[0] +
                 (trans ? first : first * call->ld[0]) * size;
    part.out = (char *)call->out + first * size;
    part.shape.dim[trans ? 1 : 0] = rows;
    return part;
}

/* Rows of one item of a batch, as a matmul. */
static takt_call item_part(const takt_call *call, size_t item, size_t first,
                           size_t rows)
{
    const size_t *d = call->shape.dim;
    const size_t size = takt_dtype_size(call->dtype);

    return (takt_call){
        .op = takt_op_at(TAKT_OP_matmul),
        .dtype = call->dtype,
        .shape = {.rank = 3, .dim = {rows, d[2], d[3]}},
        .in = {(const char *)call->in[0] + (item * d[1] + first) * d[3] * size,
               (const char *)call->in[1] + item * d[3] * d[2] * size},
        .out = (char *)call->out + (item * d[1] + first) * d[2] * size,
        .ld = {d[3], d[2], d[2]},
        .alpha = call->alpha,
        .beta = call->beta,
    };
}

static takt_status visit_items(const takt_call *call, size_t first, size_t rows,
                               takt_part_visit *visit, void *self)
{
    const size_t each = call->shape.dim[1];
    takt_status status = TAKT_OK;

    while (rows > 0 && status == TAKT_OK) {
        const size_t within = first % each;
        const size_t count = rows < each - within ? rows : each - within;
        const takt_call part = item_part(call, first / each, within, count);
        status = visit(self, &part);
        first += count;
        rows -= count;
    }
    return status;
}

takt_status takt__call_rows(const takt_call *call, size_t first, size_t rows,
                            takt_part_visit *visit, void *self)
{
    takt_call part;

    switch (takt__op_entry(call->op)->form) {
    case TAKT_FORM_batched:
        return visit_items(call, first, rows, visit, self);
    case TAKT_FORM_matmul:
        part = product_part(call, first, rows);
        break;
    case TAKT_FORM_gemv:
        part = gemv_part(call, first, rows);
        break;
    default:
        part = takt__call_part(call, first, rows);
        break;
    }
    return visit(self, &part);
}
