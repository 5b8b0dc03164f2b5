/* SPDX-License-Identifier: MIT */
/*
 * judge_whole.c - whether an expression is an op and nothing else: whether a
 * call of the op would compute the same. s += 0.5 * a[i] * b[i] is a dot
 * product and a factor more.
 */
#include "judge.h"

#include <string.h>

static bool is_element(const struct takt_ir_expr *e)
{
    return e->sort == TAKT_IR_ACCESS && e->loops != 0 && !e->is_field;
}

static bool is_fixed(const struct takt_ir_expr *e)
{
    return e->loops == 0;
}

/* a * x, x * a, x / a. */
static bool is_scaled(const struct takt_ir_expr *e)
{
    if (e->sort == TAKT_IR_DIV)
        return is_element(e->part[0]) && is_fixed(e->part[1]);
    return e->sort == TAKT_IR_MUL &&
           ((is_element(e->part[0]) && is_fixed(e->part[1])) ||
            (is_fixed(e->part[0]) && is_element(e->part[1])));
}

static bool is_pair(const struct takt_ir_expr *e, enum takt_ir_sort sort)
{
    return e->sort == sort && is_element(e->part[0]) && is_element(e->part[1]);
}

/* A term of one kind beside an element. */
static bool is_sum_with(const struct takt_ir_expr *e,
                        bool (*is_term)(const struct takt_ir_expr *term))
{
    if (e->sort == TAKT_IR_SUB)
        return is_element(e->part[0]) && is_term(e->part[1]);
    return e->sort == TAKT_IR_ADD &&
           ((is_element(e->part[0]) && is_term(e->part[1])) ||
            (is_term(e->part[0]) && is_element(e->part[1])));
}

static bool is_product(const struct takt_ir_expr *e)
{
    return is_pair(e, TAKT_IR_MUL);
}

bool takt__judge_is_whole(const char *op, const struct takt_ir_expr *e)
{
    static const struct {
        const char *op;
        enum takt_ir_sort sort;
    } pairs[] = {{"add", TAKT_IR_ADD},
                 {"sub", TAKT_IR_SUB},
                 {"mul", TAKT_IR_MUL},
                 {"div", TAKT_IR_DIV}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        if (!strcmp(op, pairs[i].op))
            return is_pair(e, pairs[i].sort);
    if (takt__word_in(op,
                      "exp exp2 expm1 log log2 log1p sin cos tanh sqrt abs"))
        return e->sort == TAKT_IR_CALL && is_element(e->part[0]);
    if (!strcmp(op, "scale"))
        return is_scaled(e);
    if (!strcmp(op, "neg"))
        return e->sort == TAKT_IR_NEG && is_element(e->part[0]);
    if (takt__ir_is_call(e, "fma"))
        return true;
    if (!strcmp(op, "axpy"))
        return is_sum_with(e, is_scaled);
    if (!strcmp(op, "fma"))
        return is_sum_with(e, is_product) && e->sort == TAKT_IR_ADD;
    return true; /* the form is the op: a limit, a copy, a curve */
}

bool takt__judge_is_whole_sum(const char *op, const struct takt_ir_expr *e)
{
    if (!strcmp(op, "sum"))
        return is_element(e);
    if (!strcmp(op, "norm1"))
        return is_element(e->part[0]);
    if (!strcmp(op, "dot") && takt__ir_is_call(e, "pow"))
        return is_element(e->part[0]);
    if (!takt__word_in(op, "variance pooling"))
        return is_product(e);
    return true;
}
