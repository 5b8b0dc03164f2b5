/* SPDX-License-Identifier: MIT */
/*
 * operands.c - operands of any op.
 *
 * Values are of ordinary size, so that no expert takes a slow path that others
 * do not: nothing overflows, nothing is denormal, no root is negative.
 */
#include "tune/operands.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/size.h"
#include "op/admit.h"

/* Arrays begin a quarter of a page after one another. A load waits for an
 * earlier store whose address agrees in the lower twelve bits, so an output
 * that begins 64 bytes after its input makes some loops take three times as
 * long: rare in programs, but not where sizes are powers of two. */
enum { align_bytes = 64, page_bytes = 4096, apart_bytes = page_bytes / 4 };

static void set_scalars(takt_call *call)
{
    static const struct {
        enum takt_op_id op;
        double alpha, beta;
    } scalars[] = {
        {TAKT_OP_layernorm, 1e-5, 0}, {TAKT_OP_clamp, 0.75, 1.25},
        {TAKT_OP_axpy, 1e-6, 0}, /* y must not grow out of range */
        {TAKT_OP_scale, 0.75, 0},     {TAKT_OP_attention, 0, 0},
    };

    call->alpha = 1;
    for (size_t i = 0; i < sizeof scalars / sizeof scalars[0]; i++)
        if (scalars[i].op == takt__op_id(call->op)) {
            call->alpha = scalars[i].alpha;
            call->beta = scalars[i].beta;
        }
}

bool takt__can_be_timed(const takt_op *op, const takt_shape *shape)
{
    return takt__op_entry(op)->form != TAKT_FORM_view &&
           shape->rank >= op->rank_min &&
           takt_op_check_shape(op, shape) == TAKT_OK &&
           takt__size_product(shape->dim, op->rank_min) > 0;
}

const takt_op *takt__tune_op(const takt_tune_options *options, size_t index)
{
    if (options->ops == NULL)
        return takt_op_at(index);
    return index < options->op_count ? options->ops[index] : NULL;
}

bool takt__tune_fits(const takt_tune_options *options, const takt_shape *shape)
{
    const takt_op *op;

    for (size_t i = 0; (op = takt__tune_op(options, i)) != NULL; i++)
        if (takt__can_be_timed(op, shape))
            return true;
    return false;
}

takt_status takt__timed_call(const takt_op *op, takt_dtype dtype,
                             const takt_shape *shape, unsigned flags,
                             takt_call *out, struct takt_lengths *lengths)
{
    bool is_empty;

    *out =
        (takt_call){.op = op, .dtype = dtype, .shape = *shape, .flags = flags};
    set_scalars(out);
    /* Sizes are checked and completed first; then the operands are missing. */
    takt_status status = takt__admit(out, &is_empty);
    if (status == TAKT_EINVAL && (op->dtypes >> dtype & 1) != 0)
        status = TAKT_OK;
    if (status == TAKT_OK)
        takt__lengths_of(out, lengths);
    return status != TAKT_OK || !lengths->overflow ? status : TAKT_ESHAPE;
}

bool takt__is_in_place(const takt_op *op)
{
    return takt__op_id(op) == TAKT_OP_axpy;
}

/* Uniform in [0.5, 1.5), and of either sign where the op allows it. */
void takt__pattern_make(const takt_op *op, takt_dtype dtype,
                        struct takt_fill_pattern *out)
{
    const enum takt_op_id id = takt__op_id(op);
    const bool is_signed = id != TAKT_OP_sqrt && id != TAKT_OP_log;
    const size_t element = takt_dtype_size(dtype);
    const size_t count = sizeof out->value / sizeof(double);
    uint32_t state = 12345;

    out->bytes = count * element;
    for (size_t i = 0; i < count; i++) {
        state = state * 1664525u + 1013904223u;
        double value = 0.5 + (double)(state >> 8) * 0x1p-24;
        if (is_signed && (state >> 7 & 1) != 0)
            value = -value;
        const float rounded = (float)value;
        memcpy(out->value + element * i,
               dtype == TAKT_F64 ? (const void *)&value : &rounded, element);
    }
}

void takt__pattern_fill(const struct takt_fill_pattern *pattern, void *out,
                        size_t bytes)
{
    for (size_t at = 0; at < bytes; at += pattern->bytes)
        memcpy((unsigned char *)out + at, pattern->value,
               bytes - at < pattern->bytes ? bytes - at : pattern->bytes);
}

static void put(takt_dtype dtype, void *array, size_t i, double value)
{
    if (dtype == TAKT_F64)
        ((double *)array)[i] = value;
    else
        ((float *)array)[i] = (float)value;
}

/* A matrix to be factored has a diagonal that outweighs the rest. */
void takt__pattern_finish(const takt_call *call, void *input)
{
    const enum takt_op_id op = takt__op_id(call->op);
    const size_t n = call->shape.dim[op == TAKT_OP_lstsq ? TAKT_LSTSQ_N : 0];
    const bool is_factored =
        op == TAKT_OP_cholesky || op == TAKT_OP_solve || op == TAKT_OP_lstsq;

    for (size_t i = 0; i < n && is_factored; i++)
        put(call->dtype, input, i * (n + 1), 2 * (double)n);
}

/* The output may be a position, which is eight bytes. */
static size_t bytes_of(const struct takt_lengths *lengths, int operand,
                       size_t element)
{
    const size_t bytes = lengths->of[operand] * element;

    return takt__size_round_up(operand == TAKT_OUT ? bytes + sizeof(size_t)
                                                   : bytes,
                               page_bytes) +
           apart_bytes;
}

size_t takt__operands_bytes(const struct takt_lengths *lengths,
                            takt_dtype dtype)
{
    size_t bytes = 0;

    for (int i = 0; i < TAKT_OPERANDS; i++)
        if (lengths->of[i] > 0)
            bytes += bytes_of(lengths, i, takt_dtype_size(dtype));
    return bytes;
}

void takt__operands_place(takt_call *call, const struct takt_lengths *lengths,
                          const struct takt_fill_pattern *pattern, void *memory)
{
    const size_t element = takt_dtype_size(call->dtype);
    unsigned char *at = memory;

    for (int i = 0; i < TAKT_OUT; i++)
        if (lengths->of[i] > 0) {
            call->in[i] = at;
            takt__pattern_fill(pattern, at, lengths->of[i] * element);
            if (i == 0)
                takt__pattern_finish(call, at);
            at += bytes_of(lengths, i, element);
        }
    call->out =
        takt__is_in_place(call->op) ? (void *)(uintptr_t)call->in[1] : at;
}

takt_status takt__operands_make(const takt_op *op, takt_dtype dtype,
                                const takt_shape *shape, takt_call *out,
                                struct takt_lengths *lengths)
{
    struct takt_fill_pattern pattern;
    const takt_status status =
        takt__timed_call(op, dtype, shape, 0, out, lengths);

    if (status != TAKT_OK)
        return status;
    const size_t bytes = takt__operands_bytes(lengths, dtype);
    void *memory = aligned_alloc(align_bytes, bytes);
    if (memory == NULL)
        return TAKT_ENOMEM;
    memset(memory, 0, bytes);
    takt__pattern_make(op, dtype, &pattern);
    takt__operands_place(out, lengths, &pattern, memory);
    return TAKT_OK;
}

/* Every op that can be timed has a first input, where its memory begins. */
void takt__operands_free(takt_call *call)
{
    free((void *)(uintptr_t)call->in[0]);
}
