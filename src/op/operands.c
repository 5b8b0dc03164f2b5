/* SPDX-License-Identifier: MIT */
/*
 * operands.c - from sizes to lengths: the one place that knows how.
 */
#include "op/operands.h"

#include "base/size.h"
#include "takt/ops.h"

static size_t at_least_one(size_t size)
{
    return size == 0 ? 1 : size;
}

static void limit(struct takt_lengths *lengths, size_t elements)
{
    if (elements > TAKT_MOST_ELEMENTS)
        lengths->overflow = true;
}

/* A matrix of `rows` rows of `cols` <= `ld` elements, `ld` apart. All count as
 * whole ones, also where there are none, so that no offset overflows. */
static size_t span(struct takt_lengths *lengths, size_t rows, size_t cols,
                   size_t ld)
{
    const size_t whole = takt__size_mul(at_least_one(rows), at_least_one(ld));

    limit(lengths, whole);
    return rows == 0 || cols == 0 ? 0 : whole - (ld - cols);
}

/* Sizes of 0 count as 1 for the limit: beside one, all others could be
 * anything, and so could what is computed of some of them. */
static size_t product4(struct takt_lengths *lengths, size_t a, size_t b,
                       size_t c, size_t d)
{
    limit(lengths,
          takt__size_product((size_t[]){at_least_one(a), at_least_one(b),
                                        at_least_one(c), at_least_one(d)},
                             4));
    return takt__size_product((size_t[]){a, b, c, d}, 4);
}

static void conv2d_lengths(const takt_call *call, struct takt_lengths *out)
{
    const size_t *d = call->shape.dim;
    const size_t high = (d[2] + 2 * d[8] - d[5]) / d[7] + 1;
    const size_t wide = (d[3] + 2 * d[8] - d[6]) / d[7] + 1;

    out->of[0] = product4(out, d[0], d[1], d[2], d[3]);
    out->of[1] = product4(out, d[4], d[1] / d[9], d[5], d[6]);
    out->of[2] = call->in[2] != NULL ? d[4] : 0;
    out->of[TAKT_OUT] = product4(out, d[0], d[4], high, wide);
}

static void pool2d_lengths(const takt_call *call, struct takt_lengths *out)
{
    const size_t *d = call->shape.dim;
    const size_t high = (d[2] + 2 * d[6] - d[4]) / d[5] + 1;
    const size_t wide = (d[3] + 2 * d[6] - d[4]) / d[5] + 1;

    out->of[0] = product4(out, d[0], d[1], d[2], d[3]);
    out->of[TAKT_OUT] = product4(out, d[0], d[1], high, wide);
}

static void attention_lengths(const takt_call *call, struct takt_lengths *out)
{
    const size_t *d = call->shape.dim;

    out->of[0] = product4(out, d[0], d[1], d[2], d[4]);
    out->of[1] = product4(out, d[0], d[1], d[3], d[4]);
    out->of[2] = out->of[1];
    out->of[3] = call->in[3] != NULL ? product4(out, d[2], d[3], 1, 1) : 0;
    out->of[TAKT_OUT] = out->of[0];
}

static void matmul_lengths(const takt_call *call, struct takt_lengths *out)
{
    const size_t m = call->shape.dim[0], n = call->shape.dim[1];
    const size_t k = call->shape.dim[2];
    const bool trans_a = (call->flags & TAKT_TRANS_A) != 0;
    const bool trans_b = (call->flags & TAKT_TRANS_B) != 0;

    out->of[0] = span(out, trans_a ? k : m, trans_a ? m : k, call->ld[0]);
    out->of[1] = span(out, trans_b ? n : k, trans_b ? k : n, call->ld[1]);
    out->of[TAKT_OUT] = span(out, m, n, call->ld[2]);
}

static void gemv_lengths(const takt_call *call, struct takt_lengths *out)
{
    const size_t m = call->shape.dim[0], n = call->shape.dim[1];
    const bool trans = (call->flags & TAKT_TRANS_A) != 0;

    out->of[0] = span(out, m, n, call->ld[0]);
    out->of[1] = trans ? m : n;
    out->of[TAKT_OUT] = trans ? n : m;
    limit(out, m);
    limit(out, n);
}

static void rows_lengths(const takt_call *call, struct takt_lengths *out)
{
    const size_t *d = call->shape.dim;

    out->of[0] = out->of[TAKT_OUT] = product4(out, d[0], d[1], 1, 1);
    out->of[1] = call->in[1] != NULL ? d[1] : 0;
    out->of[2] = call->in[2] != NULL ? d[1] : 0;
}

void takt__lengths_of(const takt_call *call, struct takt_lengths *out)
{
    const size_t *d = call->shape.dim;

    *out = (struct takt_lengths){.overflow = false};
    switch (takt__op_entry(call->op)->form) {
    case TAKT_FORM_rows:
        rows_lengths(call, out);
        break;
    case TAKT_FORM_matrix:
        out->of[0] = span(out, d[0], d[1], call->ld[0]);
        out->of[TAKT_OUT] = span(out, d[1], d[0], call->ld[2]);
        break;
    case TAKT_FORM_gemv:
        gemv_lengths(call, out);
        break;
    case TAKT_FORM_matmul:
        matmul_lengths(call, out);
        break;
    case TAKT_FORM_batched:
        out->of[0] = product4(out, d[0], d[1], d[3], 1);
        out->of[1] = product4(out, d[0], d[3], d[2], 1);
        out->of[TAKT_OUT] = product4(out, d[0], d[1], d[2], 1);
        break;
    case TAKT_FORM_conv2d:
        conv2d_lengths(call, out);
        break;
    case TAKT_FORM_pool2d:
        pool2d_lengths(call, out);
        break;
    case TAKT_FORM_attention:
        attention_lengths(call, out);
        break;
    case TAKT_FORM_map:
        for (unsigned i = 0; i < call->op->inputs; i++)
            out->of[i] = d[0];
        out->of[TAKT_OUT] = d[0];
        break;
    case TAKT_FORM_reduce:
        for (unsigned i = 0; i < call->op->inputs; i++)
            out->of[i] = d[0];
        out->of[TAKT_OUT] = 1;
        break;
    case TAKT_FORM_view:
    case TAKT_FORM_user:
        break; /* nothing is known of their operands */
    }
}

/* ---- admitted calls --------------------------------------------------------
 */

bool takt__is_position(const takt_call *call)
{
    const enum takt_op_id op = takt__op_id(call->op);
    return op == TAKT_OP_argmax || op == TAKT_OP_argmin;
}

static bool has_gaps(const takt_call *call)
{
    switch (takt__op_entry(call->op)->form) {
    case TAKT_FORM_matmul:
        return call->ld[2] > call->shape.dim[1];
    case TAKT_FORM_matrix:
        return call->ld[2] > call->shape.dim[0];
    default:
        return false;
    }
}

static bool reads_out(const takt_call *call)
{
    switch (takt__op_entry(call->op)->form) {
    case TAKT_FORM_matmul:
    case TAKT_FORM_batched:
    case TAKT_FORM_gemv:
        return call->beta != 0;
    default:
        return false; /* of axpy, `out` is an input too */
    }
}

void takt__extents_of(const takt_call *call, struct takt_extents *out)
{
    const size_t size = takt_dtype_size(call->dtype);
    struct takt_lengths lengths;

    takt__lengths_of(call, &lengths);
    for (unsigned i = 0; i < TAKT_OPERANDS; i++)
        out->bytes[i] = lengths.of[i] * size;
    if (takt__is_position(call))
        out->bytes[TAKT_OUT] = sizeof(size_t);
    out->out_is_read = has_gaps(call) || reads_out(call);
}
