/* SPDX-License-Identifier: MIT */
/*
 * bench_operands.c - operands of any op, by the text of its shape.
 *
 * Values are of ordinary size, so that no expert meets a slow path that
 * others do not: nothing overflows, nothing is denormal, no root is negative.
 */
#include "bench_operands.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static bool has_shape(const takt_op *op, const char *text)
{
    return strcmp(op->shape, text) == 0;
}

const char *usual_sizes(const takt_op *op)
{
    static const char *const usual[][2] = {
        {"N", "256,8K,256K,8M"},
        {"ROWSxCOLS", "16x64,256x256,1024x1024"},
        {"MxN", "64x64,512x512,2048x2048"},
        {"MxNxK", "16x16x16,64x64x64,256x256x256,512x512x512"},
        {"BxMxNxK", "256x8x8x8,64x64x64x64"},
        {"BxHxQxKxD", "1x8x64x64x64,1x8x256x256x64"},
    };

    for (size_t i = 0; i < sizeof usual / sizeof usual[0]; i++)
        if (has_shape(op, usual[i][0]))
            return usual[i][1];
    return strcmp(op->name, "pooling") == 0
               ? "1x64x112x112x3x2x1"
               : "1x16x28x28x16x3x3x1x1,1x64x56x56x64x3x3x1x1";
}

static size_t steps(size_t size, size_t window, size_t stride, size_t pad)
{
    return (size + 2 * pad - window) / stride + 1;
}

static void take_usual(takt_shape *shape, unsigned index, size_t usual)
{
    if (shape->rank == index)
        shape->dim[shape->rank++] = usual;
}

static struct operand_lengths conv2d_lengths(takt_shape *shape)
{
    size_t *d = shape->dim;

    take_usual(shape, 7, 1);
    take_usual(shape, 8, 0);
    take_usual(shape, 9, 1);
    return (struct operand_lengths){
        .in = {d[0] * d[1] * d[2] * d[3], d[4] * (d[1] / d[9]) * d[5] * d[6]},
        .out = d[0] * d[4] * steps(d[2], d[5], d[7], d[8]) *
               steps(d[3], d[6], d[7], d[8])};
}

static struct operand_lengths pooling_lengths(takt_shape *shape)
{
    size_t *d = shape->dim;

    take_usual(shape, 5, d[4]);
    take_usual(shape, 6, 0);
    return (struct operand_lengths){.in = {d[0] * d[1] * d[2] * d[3]},
                                    .out = d[0] * d[1] *
                                           steps(d[2], d[4], d[5], d[6]) *
                                           steps(d[3], d[4], d[5], d[6])};
}

static struct operand_lengths vector_lengths(const takt_op *op, size_t n)
{
    struct operand_lengths lengths = {.out = n};

    for (unsigned i = 0; i < op->inputs; i++)
        lengths.in[i] = n;
    if (op->complexity == TAKT_COMPLEXITY_MEDIUM) /* a reduction */
        lengths.out = 1;
    return lengths;
}

struct operand_lengths find_lengths(const takt_op *op, takt_shape *shape)
{
    const size_t *d = shape->dim;

    if (has_shape(op, "N"))
        return vector_lengths(op, d[0]);
    if (has_shape(op, "ROWSxCOLS"))
        return (struct operand_lengths){{d[0] * d[1]}, d[0] * d[1]};
    if (has_shape(op, "MxN"))
        return (struct operand_lengths){{d[0] * d[1], d[1]}, d[0]};
    if (has_shape(op, "MxNxK"))
        return (struct operand_lengths){{d[0] * d[2], d[2] * d[1]},
                                        d[0] * d[1]};
    if (has_shape(op, "BxMxNxK"))
        return (struct operand_lengths){
            {d[0] * d[1] * d[3], d[0] * d[3] * d[2]}, d[0] * d[1] * d[2]};
    if (has_shape(op, "BxHxQxKxD")) {
        const size_t heads = d[0] * d[1];
        return (struct operand_lengths){
            {heads * d[2] * d[4], heads * d[3] * d[4], heads * d[3] * d[4]},
            heads * d[2] * d[4]};
    }
    if (strcmp(op->name, "pooling") == 0)
        return pooling_lengths(shape);
    return conv2d_lengths(shape);
}

static size_t longest(const struct operand_lengths *lengths)
{
    size_t most = lengths->out;

    for (int i = 0; i < 4; i++)
        if (lengths->in[i] > most)
            most = lengths->in[i];
    return most;
}

unsigned streams_read(const struct operand_lengths *lengths)
{
    const size_t counts = longest(lengths) / 2;
    unsigned streams = 0;

    for (int i = 0; i < 4; i++)
        streams += lengths->in[i] > counts;
    return streams;
}

bool is_written(const struct operand_lengths *lengths)
{
    return lengths->out > longest(lengths) / 2;
}

double operand_bytes(const struct operand_lengths *lengths, takt_dtype dtype)
{
    double elements = (double)lengths->out;

    for (int i = 0; i < 4; i++)
        elements += (double)lengths->in[i];
    return elements * (double)takt_dtype_size(dtype);
}

/* Uniform in [0.5, 1.5), and of either sign where the op allows it. */
static void fill(void *out, takt_dtype dtype, size_t count, bool is_signed)
{
    uint32_t state = 12345;

    for (size_t i = 0; i < count; i++) {
        state = state * 1664525u + 1013904223u;
        double value = 0.5 + (double)(state >> 8) * 0x1p-24;
        if (is_signed && (state >> 7 & 1) != 0)
            value = -value;
        if (dtype == TAKT_F64)
            ((double *)out)[i] = value;
        else
            ((float *)out)[i] = (float)value;
    }
}

static void *make(takt_dtype dtype, size_t count, bool is_signed)
{
    const size_t bytes = (count * takt_dtype_size(dtype) + 127) / 64 * 64;
    void *memory = aligned_alloc(64, bytes);

    if (memory != NULL)
        fill(memory, dtype, count, is_signed);
    return memory;
}

void set_values(const takt_op *op, takt_call *call)
{
    call->alpha = 1;
    if (strcmp(op->name, "layernorm") == 0)
        call->alpha = 1e-5;
    else if (strcmp(op->name, "axpy") == 0)
        call->alpha = 1e-6; /* y must not grow out of range */
    else if (strcmp(op->name, "scale") == 0 || strcmp(op->name, "clamp") == 0)
        call->alpha = 0.75;
    else if (strcmp(op->name, "attention") == 0)
        call->alpha = 0; /* 1 / sqrt(depth) */
    if (strcmp(op->name, "clamp") == 0)
        call->beta = 1.25;
}

bool make_operands(const takt_op *op, takt_dtype dtype, takt_shape shape,
                   takt_call *out)
{
    const bool is_signed =
        strcmp(op->name, "sqrt") != 0 && strcmp(op->name, "log") != 0;

    *out = (takt_call){.op = op, .dtype = dtype};
    const struct operand_lengths lengths = find_lengths(op, &shape);
    out->shape = shape;
    set_values(op, out);
    out->out = make(dtype, lengths.out, is_signed);
    bool is_complete = out->out != NULL;
    for (int i = 0; i < 4 && is_complete; i++)
        if (lengths.in[i] > 0) {
            out->in[i] = make(dtype, lengths.in[i], is_signed);
            is_complete = out->in[i] != NULL;
        }
    if (!is_complete) {
        free_operands(out);
        return false;
    }
    if (strcmp(op->name, "axpy") == 0) { /* y is read and written */
        free((void *)(uintptr_t)out->in[1]);
        out->in[1] = out->out;
    }
    return true;
}

void free_operands(takt_call *call)
{
    for (int i = 0; i < 4; i++)
        if (call->in[i] != call->out)
            free((void *)(uintptr_t)call->in[i]);
    free(call->out);
}
