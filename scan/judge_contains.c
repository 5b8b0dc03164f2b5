/* SPDX-License-Identifier: MIT */
/*
 * judge_contains.c - what an expression contains that is no op by itself: the
 * step that is done last, as (a[i] + b[i]) * 0.5 scales a sum. More is done in
 * such a loop than its name says.
 */
#include "judge.h"

#include <string.h>

/* Whether it is another at each round of that loop. */
static bool changes(const struct takt_ir_expr *e, uint32_t loop)
{
    return (e->loops & loop) != 0;
}

static bool has_call(const struct takt_ir_expr *e, const char *name)
{
    if (takt__ir_is_call(e, name))
        return true;
    for (unsigned i = 0; i < e->parts; i++)
        if (has_call(e->part[i], name))
            return true;
    return false;
}

const char *takt__judge_costly_call(const struct takt_ir_expr *e)
{
    static const char *const names[] = {"exp",   "exp2", "expm1", "log", "log2",
                                        "log1p", "sin",  "cos",   "tanh"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (takt__ir_is_call(e, names[i]))
            return names[i];
    return NULL;
}

const char *takt__judge_costly(const struct takt_ir_expr *e)
{
    const char *found = takt__judge_costly_call(e);

    if (e->loops == 0)
        return NULL;
    for (unsigned i = 0; i < e->parts && found == NULL; i++)
        found = takt__judge_costly(e->part[i]);
    return found;
}

/* a * x + y, a * b + c, x + y, and the same with a minus. */
static const char *sum_op(const struct takt_ir_expr *e, uint32_t loop)
{
    const char *plain = e->sort == TAKT_IR_ADD ? "add" : "sub";
    const bool is_left = e->part[0]->sort == TAKT_IR_MUL;
    const struct takt_ir_expr *product = e->part[!is_left];
    const struct takt_ir_expr *other = e->part[is_left];

    if (product->sort != TAKT_IR_MUL)
        return plain;
    const bool a = changes(product->part[0], loop);
    const bool b = changes(product->part[1], loop);
    if (!a && !b)
        return plain;
    return a != b && changes(other, loop) ? "axpy" : "fma";
}

/* 1 / (1 + exp(-x)) */
static bool is_sigmoid(const struct takt_ir_expr *e)
{
    const struct takt_ir_expr *below = e->part[1];

    if (!takt__ir_is_number(e->part[0], 1) || below->sort != TAKT_IR_ADD)
        return false;
    for (unsigned i = 0; i < 2; i++)
        if (takt__ir_is_number(below->part[i], 1) &&
            takt__ir_is_call(below->part[1 - i], "exp"))
            return true;
    return false;
}

/* c * exp(x): the factor costs nothing beside what it multiplies. */
static const char *scaled_op(const struct takt_ir_expr *e, uint32_t loop)
{
    const char *op = takt__judge_contains(e, loop);

    return op != NULL && takt__word_in(op, "exp log sqrt div tanh sigmoid gelu")
               ? op
               : "scale";
}

static const char *product_op(const struct takt_ir_expr *e, uint32_t loop)
{
    const bool a = changes(e->part[0], loop), b = changes(e->part[1], loop);

    if (has_call(e, "tanh") || has_call(e, "erf"))
        return "gelu";
    return a && b ? "mul" : scaled_op(e->part[!a], loop);
}

static const char *call_op(const struct takt_ir_expr *e, uint32_t loop)
{
    static const char *const same[][2] = {{"sqrt", "sqrt"},
                                          {"fabs", "abs"},
                                          {"clamp", "clamp"},
                                          {"fmin", "clamp"}};

    if (takt__ir_is_call(e, "fmax")) {
        const bool is_limited = has_call(e->part[0], "fmin");
        return !is_limited && e->parts == 2 && takt__ir_is_number(e->part[1], 0)
                   ? "relu"
                   : "clamp";
    }
    if (takt__ir_is_call(e, "fma") && e->parts == 3)
        return changes(e->part[0], loop) != changes(e->part[1], loop) &&
                       changes(e->part[2], loop)
                   ? "axpy"
                   : "fma";
    if (takt__ir_is_call(e, "pow") && e->parts == 2)
        return takt__ir_is_number(e->part[1], 2)     ? "mul"
               : takt__ir_is_number(e->part[1], 0.5) ? "sqrt"
                                                     : NULL;
    for (size_t i = 0; i < sizeof same / sizeof *same; i++)
        if (takt__ir_is_call(e, same[i][0]))
            return same[i][1];
    return takt__judge_costly_call(e);
}

const char *takt__judge_contains(const struct takt_ir_expr *e, uint32_t loop)
{
    if (!changes(e, loop))
        return NULL;
    switch (e->sort) {
    case TAKT_IR_ADD:
    case TAKT_IR_SUB:
        return sum_op(e, loop);
    case TAKT_IR_MUL:
        return product_op(e, loop);
    case TAKT_IR_DIV:
        if (is_sigmoid(e))
            return "sigmoid";
        return changes(e->part[1], loop) ? "div" : scaled_op(e->part[0], loop);
    case TAKT_IR_NEG:
        return "neg";
    case TAKT_IR_CALL:
        return call_op(e, loop);
    case TAKT_IR_PICK: { /* x > 0 ? log(x) : 0 */
        const char *op = takt__judge_contains(e->part[1], loop);
        return op != NULL ? op : takt__judge_contains(e->part[2], loop);
    }
    default:
        return NULL;
    }
}

/* x - mean, where one of both stays the same. */
static bool is_distance(const struct takt_ir_expr *e, uint32_t loop)
{
    return e->sort == TAKT_IR_SUB &&
           changes(e->part[0], loop) != changes(e->part[1], loop);
}

const char *takt__judge_contains_sum(const struct takt_ir_expr *e,
                                     uint32_t loop)
{
    const struct takt_ir_expr *factor[8];

    if (takt__ir_is_call(e, "fabs"))
        return "norm1";
    if (takt__ir_is_call(e, "pow") && takt__ir_is_number(e->part[1], 2))
        return is_distance(e->part[0], loop) ? "variance" : "dot";
    const unsigned count = takt__ir_factors(e, factor, 8);
    if (count == 2 && takt__ir_same(factor[0], factor[1]))
        return is_distance(factor[0], loop) ? "variance" : "dot";
    return count > 1 ? "dot" : "sum";
}
