/* SPDX-License-Identifier: MIT */
/*
 * optimize_call.c - the libtakt call that replaces a finding, with
 * the sizes that are known.
 */
#include <stdio.h>
#include <string.h>

#include "optimize.h"

/* Arguments of the calls in takt/ops.h; $0, $1, ... are the sizes, by their
 * position in the shape, and stand for the name behind them. */
static const struct {
    const char *op, *arguments;
} calls[] = {
    {"add", "$0n, a, b, out"},
    {"sub", "$0n, a, b, out"},
    {"mul", "$0n, a, b, out"},
    {"div", "$0n, a, b, out"},
    {"scale", "$0n, alpha, a, out"},
    {"axpy", "$0n, alpha, x, y"},
    {"fma", "$0n, a, b, c, out"},
    {"clamp", "$0n, low, high, a, out"},
    {"transpose", "$0rows, $1cols, a, $1cols, out, $0rows"},
    {"dot", "$0n, a, b, &out"},
    {"softmax", "$0rows, $1cols, a, out"},
    {"layernorm", "$0rows, $1cols, a, gain, bias, epsilon, out"},
    {"gemv", "0, $0m, $1n, 1, a, $1n, x, 0, y"},
    {"matmul", "$0m, $1n, $2k, a, b, c"},
    {"batched_matmul", "$0batch, $1m, $2n, $3k, a, b, c"},
    {"conv2d", "&sizes, in, filters, bias, out"},
    {"pooling", "&sizes, in, out"},
    {"attention", "&sizes, queries, keys, values, out"},
};

static const char *arguments_of(const takt_op *op)
{
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++)
        if (strcmp(calls[i].op, op->name) == 0)
            return calls[i].arguments;
    return op->complexity == TAKT_COMPLEXITY_MEDIUM ? "$0n, a, &out"
                                                    : "$0n, a, out";
}

void format_call(const takt_op *op, takt_dtype dtype, const takt_shape *shape,
                 char *out, size_t size)
{
    size_t used = 0;

    out[0] = '\0';
    if (strcmp(op->name, "reshape") == 0)
        return; /* nothing moves: nothing is to be called */
    used += (size_t)snprintf(out, size, "takt_%s_%s(", op->name,
                             takt_dtype_name(dtype));
    for (const char *at = arguments_of(op); *at != '\0' && used < size;) {
        if (*at != '$') {
            used += (size_t)snprintf(out + used, size - used, "%c", *at++);
            continue;
        }
        const unsigned index = (unsigned)(at[1] - '0');
        const size_t length = strcspn(at, ",)");
        const bool is_known = shape->rank >= op->rank_min &&
                              index < shape->rank && shape->dim[index] != 0;
        if (is_known)
            used += (size_t)snprintf(out + used, size - used, "%zu",
                                     shape->dim[index]);
        else
            used += (size_t)snprintf(out + used, size - used, "%.*s",
                                     (int)length - 2, at + 2);
        at += length;
    }
    if (used < size)
        snprintf(out + used, size - used, ")");
}
