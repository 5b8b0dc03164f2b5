/* SPDX-License-Identifier: MIT */
/*
 * python_sizes.c - the sizes and the dtype of a finding, from its operands.
 */
#include "python.h"

#include <string.h>

enum { SIZES = 7 }; /* of a convolution: NxCxHxWxKxRxS */

/* The operands of an operator or a call. */
static void operands_of(const struct takt_source *source, TSNode node,
                        TSNode out[2])
{
    out[0] = out[1] = (TSNode){{0}, NULL, NULL};
    if (takt__node_is(node, "call")) {
        out[0] = takt__python_operand(source, node, 0);
        out[1] = takt__python_operand(source, node, 1);
    } else if (takt__node_is(node, "unary_operator")) {
        out[0] = takt__node_field(node, "argument");
    } else if (takt__node_is(node, "attribute")) {
        out[0] = takt__node_field(node, "object");
    } else {
        out[0] = takt__node_field(node, "left");
        out[1] = takt__node_field(node, "right");
    }
}

static bool has_shape(const struct takt_python_value *value)
{
    return value->kind == TAKT_PYTHON_ARRAY &&
           value->rank != TAKT_PYTHON_RANK_UNKNOWN && value->rank > 0;
}

static size_t elements(const struct takt_python_value *value, unsigned count)
{
    size_t all = 1;

    for (unsigned i = 0; i < count; i++)
        if (__builtin_mul_overflow(all, value->dim[i], &all))
            return 0;
    return all;
}

/* M, N and K of a product, and before them its batch. */
static unsigned product_sizes(const struct takt_python_value *a,
                              const struct takt_python_value *b, const char *op,
                              size_t out[SIZES])
{
    const size_t rows = has_shape(a) && a->rank > 1 ? a->dim[a->rank - 2] : 0;
    const size_t columns =
        has_shape(b) && b->rank > 1 ? b->dim[b->rank - 1] : 0;
    size_t inner = has_shape(a) ? a->dim[a->rank - 1] : 0;

    if (inner == 0 && has_shape(b))
        inner = b->dim[b->rank > 1 ? b->rank - 2 : 0];
    if (strcmp(op, "dot") == 0) {
        out[0] = inner;
        return 1;
    }
    if (strcmp(op, "gemv") == 0) {
        out[0] = rows != 0 ? rows : columns;
        out[1] = inner;
        return 2;
    }
    const bool is_batched = strcmp(op, "batched_matmul") == 0;
    if (is_batched)
        out[0] = has_shape(a) && a->rank > 2   ? elements(a, a->rank - 2)
                 : has_shape(b) && b->rank > 2 ? elements(b, b->rank - 2)
                                               : 0;
    out[is_batched] = rows;
    out[is_batched + 1] = columns;
    out[is_batched + 2] = inner;
    return 3 + is_batched;
}

static unsigned plain_sizes(const struct takt_python_value *a,
                            const takt_op *op, size_t out[SIZES])
{
    if (!has_shape(a))
        return 0;
    if (op->rank_max == 1) {
        out[0] = elements(a, a->rank);
        return 1;
    }
    out[0] = elements(a, a->rank - 1);
    out[1] = a->dim[a->rank - 1];
    return 2;
}

/* Images, filters and heads: where each of an operand's sizes goes. */
static const struct {
    const char *op;
    unsigned rank, first[4], second[4];
} fours[] = {
    {"conv2d", 7, {0, 1, 2, 3}, {4, 1, 5, 6}},
    {"pooling", 5, {0, 1, 2, 3}, {0, 0, 0, 0}},
    {"attention", 5, {0, 1, 2, 4}, {0, 1, 3, 4}},
};

static void add_four(const struct takt_python_value *value,
                     const unsigned place[4], size_t out[SIZES])
{
    if (has_shape(value) && value->rank == 4)
        for (unsigned i = 0; i < 4; i++)
            out[place[i]] = value->dim[i];
}

static unsigned four_sizes(const struct takt_python_value *a,
                           const struct takt_python_value *b, const char *op,
                           size_t out[SIZES])
{
    for (size_t i = 0; i < sizeof fours / sizeof fours[0]; i++)
        if (strcmp(fours[i].op, op) == 0) {
            add_four(b, fours[i].second, out);
            add_four(a, fours[i].first, out);
            return fours[i].rank;
        }
    return 0;
}

/* nn.Conv2d(3, 64, 5): what the arguments of a layer say about its sizes. */
static const struct {
    const char *function;
    unsigned rank, argument;
    const char *keyword;
    unsigned place, again; /* the same place: once */
} layers[] = {
    {"torch.nn.Conv2d", 7, 0, "in_channels", 1, 1},
    {"torch.nn.Conv2d", 7, 1, "out_channels", 4, 4},
    {"torch.nn.Conv2d", 7, 2, "kernel_size", 5, 6},
    {"torch.nn.MaxPool2d", 5, 0, "kernel_size", 4, 4},
    {"torch.nn.AvgPool2d", 5, 0, "kernel_size", 4, 4},
    {"torch.nn.functional.max_pool2d", 5, 1, "kernel_size", 4, 4},
    {"torch.nn.functional.avg_pool2d", 5, 1, "kernel_size", 4, 4},
    {"torch.nn.LayerNorm", 2, 0, "normalized_shape", 1, 1},
    {"torch.nn.MultiheadAttention", 5, 1, "num_heads", 1, 1},
};

static unsigned layer_sizes(const struct takt_source *source, TSNode call,
                            size_t out[SIZES], enum takt_size_source *how)
{
    char dotted[TAKT_PYTHON_DOTTED];
    unsigned rank = 0;

    if (!takt__node_is(call, "call") ||
        !takt__python_dotted(source, takt__node_field(call, "function"),
                             dotted))
        return 0;
    for (size_t i = 0; i < sizeof layers / sizeof layers[0]; i++) {
        size_t size;
        if (strcmp(layers[i].function, dotted) != 0 ||
            !takt__python_size(source,
                               takt__python_argument(source, call,
                                                     layers[i].argument,
                                                     layers[i].keyword),
                               &size, how))
            continue;
        rank = layers[i].rank;
        out[layers[i].place] = out[layers[i].again] = size;
    }
    return rank;
}

static enum takt_size_source weaker(enum takt_size_source a,
                                    enum takt_size_source b)
{
    return a > b ? a : b;
}

void takt__python_describe(const struct takt_source *source, TSNode node,
                           struct takt_finding *out)
{
    size_t size[SIZES] = {0};
    TSNode operand[2];

    operands_of(source, node, operand);
    const struct takt_python_value a = takt__python_value(source, operand[0]);
    const struct takt_python_value b = takt__python_value(source, operand[1]);
    const bool is_product =
        takt__text_in((struct takt_text){out->op->name, strlen(out->op->name)},
                      "matmul gemv dot batched_matmul");
    unsigned rank = is_product ? product_sizes(&a, &b, out->op->name, size)
                               : four_sizes(&a, &b, out->op->name, size);
    if (rank == 0)
        rank = plain_sizes(has_shape(&a) ? &a : &b, out->op, size); /* 2 * x */
    enum takt_size_source how = weaker(a.source, b.source);
    const unsigned of_layer = layer_sizes(source, node, size, &how);
    rank = of_layer > rank ? of_layer : rank;
    for (unsigned i = 0; i < rank; i++)
        if (size[i] != 0)
            out->size.shape.rank = rank;
    if (out->size.shape.rank != 0) {
        memcpy(out->size.shape.dim, size, sizeof size);
        out->size.source = how;
    }
    const struct takt_python_value *known = a.is_dtype_known ? &a : &b;
    const bool differ =
        a.is_dtype_known && b.is_dtype_known && a.dtype != b.dtype;
    out->is_dtype_known = known->is_dtype_known && !differ;
    out->dtype = out->is_dtype_known ? known->dtype : TAKT_F32;
}
