/* SPDX-License-Identifier: MIT */
/*
 * judge_element.c - names the op that an expression is: of elements, each
 * by itself, and of what is added up.
 */
#include "judge.h"

#include <string.h>

/* An element of an array, by itself: what an op takes. */
static bool is_plain(const struct takt_ir_expr *e)
{
    return e->sort == TAKT_IR_ACCESS && e->loops != 0;
}

/* A sum of elements that are taken as they are, negated, or times what does not
 * change. */
struct linear {
    const struct takt_ir_expr *first;
    unsigned plain, minus, scaled;
};

enum weight { PLAIN, MINUS, SCALED };

static bool read_linear(const struct takt_ir_expr *e, enum weight weight,
                        struct linear *out)
{
    if (is_plain(e)) {
        if (out->first != NULL && takt__ir_same(out->first, e))
            return false; /* a + (b - a) * t */
        if (out->first == NULL)
            out->first = e;
        out->plain += weight == PLAIN;
        out->minus += weight == MINUS;
        out->scaled += weight == SCALED;
        return true;
    }
    const enum weight other = weight == PLAIN   ? MINUS
                              : weight == MINUS ? PLAIN
                                                : SCALED;
    switch (e->sort) {
    case TAKT_IR_ADD:
        return read_linear(e->part[0], weight, out) &&
               read_linear(e->part[1], weight, out);
    case TAKT_IR_SUB:
        return read_linear(e->part[0], weight, out) &&
               read_linear(e->part[1], other, out);
    case TAKT_IR_NEG:
        return read_linear(e->part[0], other, out);
    case TAKT_IR_MUL:
    case TAKT_IR_DIV:
        if (e->part[1]->loops == 0)
            return read_linear(e->part[0], SCALED, out);
        return e->sort == TAKT_IR_MUL && e->part[0]->loops == 0 &&
               read_linear(e->part[1], SCALED, out);
    default:
        return false;
    }
}

static const char *linear_op(const struct takt_ir_expr *e)
{
    struct linear sum = {0};

    if (!read_linear(e, PLAIN, &sum))
        return NULL;
    const unsigned all = sum.plain + sum.minus + sum.scaled;
    if (all == 1)
        return sum.scaled > 0 ? "scale" : sum.minus > 0 ? "neg" : NULL;
    if (sum.plain == all)
        return "add";
    if (sum.plain == 1 && sum.minus == 1 && all == 2)
        return "sub";
    return sum.plain == 1 && sum.minus == 0 ? "axpy" : NULL;
}

/* One element, as it is or times what does not change. */
static bool is_scaled(const struct takt_ir_expr *e)
{
    struct linear sum = {0};

    return read_linear(e, PLAIN, &sum) &&
           sum.plain + sum.minus + sum.scaled == 1;
}

/* ---- elements ------------------------------------------------------------ */

/* 1 + f(..), in either order. */
static const struct takt_ir_expr *beside_one(const struct takt_ir_expr *e)
{
    if (e->sort != TAKT_IR_ADD)
        return NULL;
    if (takt__ir_is_number(e->part[0], 1))
        return e->part[1];
    return takt__ir_is_number(e->part[1], 1) ? e->part[0] : NULL;
}

/* 0.5 x (1 + tanh(..)), or with erf. */
static bool is_gelu(const struct takt_ir_expr *e)
{
    const struct takt_ir_expr *factor[8];
    const unsigned count = takt__ir_factors(e, factor, 8);

    for (unsigned i = 0; i < count && e->sort == TAKT_IR_MUL; i++) {
        const struct takt_ir_expr *other = beside_one(factor[i]);
        if (count == 2 && other != NULL && is_plain(factor[1 - i]) &&
            (takt__ir_is_call(other, "tanh") || takt__ir_is_call(other, "erf")))
            return true;
    }
    return false;
}

static const char *product_op(const struct takt_ir_expr *e)
{
    const struct takt_ir_expr *factor[8];
    const unsigned count = takt__ir_factors(e, factor, 8);

    if (is_gelu(e))
        return "gelu";
    if (count == 2 && is_plain(factor[0]) && is_plain(factor[1]))
        return "mul";
    return linear_op(e);
}

static const char *division_op(const struct takt_ir_expr *e)
{
    const struct takt_ir_expr *other = beside_one(e->part[1]);

    if (other != NULL && takt__ir_is_number(e->part[0], 1))
        return takt__ir_is_call(other, "exp") &&
                       other->part[0]->sort == TAKT_IR_NEG &&
                       is_plain(other->part[0]->part[0])
                   ? "sigmoid"
                   : NULL;
    if (e->part[1]->loops == 0)
        return linear_op(e);
    return is_plain(e->part[0]) && is_plain(e->part[1]) ? "div" : NULL;
}

/* a * b + c. */
static bool is_fma(const struct takt_ir_expr *e)
{
    for (unsigned i = 0; i < 2; i++) {
        const struct takt_ir_expr *product = e->part[i];
        if (product->sort == TAKT_IR_MUL && is_plain(product->part[0]) &&
            is_plain(product->part[1]) && is_plain(e->part[1 - i]))
            return true;
    }
    return false;
}

static bool is_limit(const struct takt_ir_expr *e)
{
    return takt__ir_is_call(e, "fmax") || takt__ir_is_call(e, "fmin");
}

/* max(x, 0), min(max(x, low), high). */
static const char *limit_op(const struct takt_ir_expr *e)
{
    if (e->parts != 2)
        return NULL;
    for (unsigned i = 0; i < 2; i++) {
        const struct takt_ir_expr *bound = e->part[i], *of = e->part[1 - i];
        if (bound->loops != 0)
            continue;
        if (is_limit(of))
            return limit_op(of) != NULL ? "clamp" : NULL;
        if (!is_plain(of))
            return NULL;
        return takt__ir_is_call(e, "fmax") && takt__ir_is_number(bound, 0)
                   ? "relu"
                   : "clamp";
    }
    return NULL;
}

/* What costs little beside a function: a shift, a factor. */
static bool is_nearly_plain(const struct takt_ir_expr *e)
{
    if (e->sort == TAKT_IR_SUB || e->sort == TAKT_IR_ADD)
        for (unsigned i = 0; i < 2; i++)
            if (e->part[i]->loops == 0)
                return is_scaled(e->part[1 - i]);
    return is_scaled(e);
}

static const char *call_op(const struct takt_ir_expr *e)
{
    if (is_limit(e))
        return limit_op(e);
    const char *costly = takt__judge_costly_call(e);
    if (costly != NULL)
        return is_nearly_plain(e->part[0]) ? costly : NULL;
    if (!is_plain(e->part[0]))
        return NULL;
    if (takt__ir_is_call(e, "sqrt"))
        return "sqrt";
    if (takt__ir_is_call(e, "fabs"))
        return "abs";
    if (takt__ir_is_call(e, "clamp"))
        return "clamp";
    return NULL;
}

/* fma(a, b, c), of which one may not change. */
static const char *fma_op(const struct takt_ir_expr *e)
{
    if (e->parts != 3 || !is_plain(e->part[2]))
        return NULL;
    const unsigned plain = is_plain(e->part[0]) + is_plain(e->part[1]);
    const bool is_fixed = e->part[0]->loops == 0 || e->part[1]->loops == 0;
    return plain == 2 ? "fma" : plain == 1 && is_fixed ? "axpy" : NULL;
}

/* ---- rows and columns ---------------------------------------------------- */

/* The loops of an index, those that count for most first. */
static unsigned order_of(const struct takt_ir_expr *e, uint32_t *bit,
                         unsigned most)
{
    unsigned count = 0;

    if (e->loops == 0 || most == 0)
        return 0;
    if (e->sort == TAKT_IR_COUNT || e->sort == TAKT_IR_OPAQUE) {
        *bit = e->loops;
        return 1;
    }
    const bool is_sum = e->sort == TAKT_IR_ADD || e->sort == TAKT_IR_SUB;
    for (unsigned pass = 0; pass < 2; pass++)
        for (unsigned i = 0; i < e->parts && count < most; i++) {
            const bool is_plain = e->part[i]->sort == TAKT_IR_COUNT;
            if ((is_sum && is_plain == (pass == 1)) || (!is_sum && pass == 0))
                count += order_of(e->part[i], bit + count, most - count);
        }
    return count;
}

bool takt__judge_is_turned(const struct takt_ir_expr *a,
                           const struct takt_ir_expr *b)
{
    uint32_t to[4], from[4];

    return order_of(a, to, 4) == 2 && order_of(b, from, 4) == 2 &&
           to[0] == from[1] && to[1] == from[0] && to[0] != to[1];
}

static const char *copy_op(const struct takt_ir_expr *target,
                           const struct takt_ir_expr *value)
{
    uint32_t to[4], from[4];

    if (target == NULL || target->loops != value->loops)
        return NULL;
    if (takt__judge_is_turned(target, value))
        return "transpose";
    const unsigned n = order_of(target, to, 4);
    if (n != order_of(value, from, 4))
        return NULL;
    for (unsigned i = 0; i < n; i++)
        if (to[i] != from[i])
            return NULL;
    return takt__ir_same_text(target->text, value->text) ? NULL : "copy";
}

/* a[i] * i: the counter itself is no array of ours. */
bool takt__judge_counts(const struct takt_ir_expr *e)
{
    if (e->sort == TAKT_IR_COUNT)
        return true;
    for (unsigned i = 0; i < e->parts && e->sort != TAKT_IR_ACCESS; i++)
        if (takt__judge_counts(e->part[i]))
            return true;
    return false;
}

/* a[i] * b[j] makes a matrix of two vectors: no op of elements. */
static bool is_outer(const struct takt_ir_expr *e)
{
    const struct takt_ir_expr *factor[8];
    const unsigned count = takt__ir_factors(e, factor, 8);

    for (unsigned i = 1; i < count; i++)
        if ((factor[0]->loops & factor[i]->loops) == 0)
            return true;
    for (unsigned i = 0; i < e->parts && e->sort == TAKT_IR_ADD; i++)
        if (is_outer(e->part[i]))
            return true;
    return false;
}

const char *takt__judge_element(const struct takt_ir_expr *target,
                                const struct takt_ir_expr *value)
{
    if (value->loops == 0 || !takt__ir_has_access(value) ||
        takt__judge_counts(value) || is_outer(value))
        return NULL;
    switch (value->sort) {
    case TAKT_IR_ACCESS:
        return copy_op(target, value);
    case TAKT_IR_ADD:
        return is_fma(value) ? "fma" : linear_op(value);
    case TAKT_IR_SUB:
        return linear_op(value);
    case TAKT_IR_MUL:
        return product_op(value);
    case TAKT_IR_DIV:
        return division_op(value);
    case TAKT_IR_NEG:
        return linear_op(value);
    case TAKT_IR_CALL:
        return takt__ir_is_call(value, "fma") ? fma_op(value) : call_op(value);
    default:
        return NULL;
    }
}

/* ---- what is added up ---------------------------------------------------- */

/* x - mean. */
static bool is_distance(const struct takt_ir_expr *e)
{
    return e->sort == TAKT_IR_SUB && is_plain(e->part[0]) &&
           e->part[1]->loops == 0;
}

/* Of elements, or of how far two arrays are apart. */
static const char *squares_op(const struct takt_ir_expr *of)
{
    if (is_distance(of))
        return "variance";
    return is_plain(of) || (of->sort == TAKT_IR_SUB && is_plain(of->part[0]) &&
                            is_plain(of->part[1]))
               ? "dot"
               : NULL;
}

const char *takt__judge_sum(const struct takt_ir_expr *value)
{
    const struct takt_ir_expr *factor[8];
    const unsigned count = takt__ir_factors(value, factor, 8);

    if (takt__judge_counts(value))
        return NULL;
    if (takt__ir_is_call(value, "fabs"))
        return is_plain(value->part[0]) ? "norm1" : NULL;
    if (takt__ir_is_call(value, "pow") && value->parts == 2 &&
        takt__ir_is_number(value->part[1], 2))
        return squares_op(value->part[0]);
    if (count == 1)
        return is_plain(factor[0]) ? "sum" : NULL;
    if (count != 2)
        return NULL;
    if (takt__ir_same(factor[0], factor[1]))
        return squares_op(factor[0]);
    return is_plain(factor[0]) && is_plain(factor[1]) ? "dot" : NULL;
}

static bool has_distance(const struct takt_ir_expr *e)
{
    if (e->sort == TAKT_IR_SUB && e->part[0]->loops != 0 &&
        e->part[1]->loops == 0 && e->part[1]->sort == TAKT_IR_NAME)
        return true;
    for (unsigned i = 0; i < e->parts && e->sort != TAKT_IR_ACCESS; i++)
        if (has_distance(e->part[i]))
            return true;
    return false;
}

bool takt__judge_is_normalizing(const struct takt_ir_expr *value)
{
    return (value->sort == TAKT_IR_MUL || value->sort == TAKT_IR_DIV ||
            value->sort == TAKT_IR_ADD) &&
           has_distance(value);
}
