/* SPDX-License-Identifier: MIT */
/*
 * c_family_elements.c - compares expressions, and names the op that one is:
 * of elements, each by itself, and of what is added up.
 */
#include "c_family_expr.h"

#include <math.h>
#include <string.h>

/* ---- comparing ----------------------------------------------------------- */

bool takt__c_same(const struct takt_c_expr *a, const struct takt_c_expr *b)
{
    if (a == NULL || b == NULL)
        return false;
    if (a == b)
        return true;
    if (a->sort != b->sort || a->parts != b->parts || a->steps != b->steps ||
        !takt__c_same_text(a->text, b->text))
        return false;
    if (a->sort == TAKT_C_NUMBER)
        return !(a->number < b->number) && !(a->number > b->number);
    if (a->sort == TAKT_C_OPAQUE)
        return false;
    for (unsigned i = 0; i < a->parts; i++)
        if (!takt__c_same(a->part[i], b->part[i]))
            return false;
    return true;
}

bool takt__c_mentions(const struct takt_c_expr *in,
                      const struct takt_c_expr *what)
{
    if (takt__c_same(in, what))
        return true;
    for (unsigned i = 0; i < in->parts; i++)
        if (takt__c_mentions(in->part[i], what))
            return true;
    return false;
}

bool takt__c_varies(const struct takt_c_expr *e)
{
    if (e->is_varying)
        return true;
    for (unsigned i = 0; i < e->parts; i++)
        if (takt__c_varies(e->part[i]))
            return true;
    return false;
}

bool takt__c_has_access(const struct takt_c_expr *e)
{
    if (e->sort == TAKT_C_ACCESS)
        return true;
    for (unsigned i = 0; i < e->parts; i++)
        if (takt__c_has_access(e->part[i]))
            return true;
    return false;
}

bool takt__c_is_call(const struct takt_c_expr *e, const char *name)
{
    return e->sort == TAKT_C_CALL && takt__text_is(e->text, name);
}

bool takt__c_is_number(const struct takt_c_expr *e, double number)
{
    return e->sort == TAKT_C_NUMBER && fabs(e->number - number) < 1e-12;
}

unsigned takt__c_factors(const struct takt_c_expr *e,
                         const struct takt_c_expr **factor, unsigned most)
{
    if (e->sort == TAKT_C_MUL) {
        const unsigned left = takt__c_factors(e->part[0], factor, most);
        return left + takt__c_factors(e->part[1], factor + left, most - left);
    }
    if (e->sort == TAKT_C_NEG ||
        (e->sort == TAKT_C_DIV && e->part[1]->steps == 0))
        return takt__c_factors(e->part[0], factor, most);
    if (e->steps == 0 || most == 0)
        return 0;
    *factor = e;
    return 1;
}

static unsigned factor_count(const struct takt_c_expr *e)
{
    const struct takt_c_expr *factor[8];
    return takt__c_factors(e, factor, 8);
}

/* ---- elements ------------------------------------------------------------ */

/* 1 + f(..), in either order. */
static const struct takt_c_expr *beside_one(const struct takt_c_expr *e)
{
    if (e->sort != TAKT_C_ADD)
        return NULL;
    if (takt__c_is_number(e->part[0], 1))
        return e->part[1];
    return takt__c_is_number(e->part[1], 1) ? e->part[0] : NULL;
}

/* 0.5 x (1 + tanh(..)), or with erf. */
static bool is_gelu(const struct takt_c_expr *e)
{
    const struct takt_c_expr *factor[8];
    const unsigned count = takt__c_factors(e, factor, 8);

    for (unsigned i = 0; i < count && e->sort == TAKT_C_MUL; i++) {
        const struct takt_c_expr *other = beside_one(factor[i]);
        if (count == 2 && other != NULL &&
            (takt__c_is_call(other, "tanh") || takt__c_is_call(other, "erf")))
            return true;
    }
    return false;
}

static const char *division_op(const struct takt_c_expr *e)
{
    const struct takt_c_expr *other = beside_one(e->part[1]);

    if (other != NULL && takt__c_is_call(other, "exp"))
        return "sigmoid";
    return e->part[1]->steps == 0 ? "scale" : "div";
}

static unsigned terms_of(const struct takt_c_expr *e,
                         const struct takt_c_expr **term, unsigned most)
{
    if (e->sort == TAKT_C_ADD) {
        const unsigned left = terms_of(e->part[0], term, most);
        return left + terms_of(e->part[1], term + left, most - left);
    }
    if (most == 0)
        return 0;
    *term = e;
    return 1;
}

/* y + a * x + b * z: one array, and others that are scaled. */
static bool is_axpy_chain(const struct takt_c_expr *e)
{
    const struct takt_c_expr *term[8];
    const unsigned count = terms_of(e, term, 8);
    unsigned plain = 0, scaled = 0;

    for (unsigned i = 0; i < count; i++) {
        plain += term[i]->sort == TAKT_C_ACCESS && term[i]->steps != 0;
        scaled +=
            (term[i]->sort == TAKT_C_MUL || term[i]->sort == TAKT_C_DIV) &&
            factor_count(term[i]) == 1;
    }
    return plain == 1 && scaled > 0 && plain + scaled == count;
}

static const char *addition_op(const struct takt_c_expr *e)
{
    if (is_axpy_chain(e))
        return "axpy";
    for (unsigned i = 0; i < 2; i++) {
        const struct takt_c_expr *product = e->part[i], *other = e->part[1 - i];
        if (product->sort != TAKT_C_MUL ||
            (other->sort != TAKT_C_ACCESS && other->steps != 0))
            continue;
        return other->steps != 0 && factor_count(product) == 1 ? "axpy" : "fma";
    }
    return "add";
}

static const char *difference_op(const struct takt_c_expr *e)
{
    return e->part[0]->sort == TAKT_C_ACCESS && e->part[0]->steps != 0 &&
                   e->part[1]->sort == TAKT_C_MUL &&
                   factor_count(e->part[1]) == 1
               ? "axpy"
               : "sub";
}

static bool is_limit(const struct takt_c_expr *e)
{
    return takt__c_is_call(e, "fmax") || takt__c_is_call(e, "fmin");
}

/* max(x, 0), min(max(x, low), high). */
static const char *limit_op(const struct takt_c_expr *e)
{
    if (e->parts != 2)
        return NULL;
    for (unsigned i = 0; i < 2; i++) {
        const struct takt_c_expr *bound = e->part[i], *of = e->part[1 - i];
        if (bound->steps != 0)
            continue;
        if (takt__c_is_call(e, "fmax") && takt__c_is_number(bound, 0))
            return of->sort == TAKT_C_CALL && is_limit(of) ? "clamp" : "relu";
        return "clamp";
    }
    return NULL;
}

static const char *call_op(const struct takt_c_expr *e)
{
    static const char *const same[] = {"sqrt", "exp", "log", "tanh", NULL};

    if (is_limit(e))
        return limit_op(e);
    if (takt__c_is_any(e->text, same))
        for (unsigned i = 0; same[i] != NULL; i++)
            if (takt__text_is(e->text, same[i]))
                return same[i];
    if (takt__c_is_call(e, "fabs"))
        return "abs";
    if (takt__c_is_call(e, "clamp"))
        return "clamp";
    if (takt__c_is_call(e, "fma") && e->parts == 3)
        return e->part[0]->steps != 0 && e->part[1]->steps != 0 ? "fma"
                                                                : "axpy";
    return NULL;
}

/* x > 0 ? x : 0, x < 0 ? -x : x, x < low ? low : x > high ? high : x. */
static const char *choice_op(const struct takt_c_expr *e)
{
    const struct takt_c_expr *test = e->part[0];
    const struct takt_c_expr *yes = e->part[1], *no = e->part[2];

    if ((test->sort != TAKT_C_LESS && test->sort != TAKT_C_GREATER))
        return NULL;
    const bool is_less = test->sort == TAKT_C_LESS;
    const struct takt_c_expr *x = test->part[0], *bound = test->part[1];
    if (x->steps == 0 || bound->steps != 0)
        return NULL;
    const struct takt_c_expr *kept = is_less ? no : yes;
    const struct takt_c_expr *other = is_less ? yes : no;
    if (takt__c_is_number(bound, 0) && takt__c_same(kept, x)) {
        if (takt__c_is_number(other, 0))
            return "relu";
        if (other->sort == TAKT_C_NEG && takt__c_same(other->part[0], x))
            return "abs";
    }
    if (takt__c_same(yes, bound) &&
        (takt__c_same(no, x) ||
         (no->sort == TAKT_C_PICK && choice_op(no) != NULL &&
          !takt__c_is_number(bound, 0)) ||
         (no->sort == TAKT_C_PICK && takt__c_same(no->part[0]->part[0], x))))
        return "clamp";
    return NULL;
}

/* ---- rows and columns ---------------------------------------------------- */

/* The loops of an index, those that count for most first. */
static unsigned order_of(const struct takt_c_expr *e, uint32_t *bit,
                         unsigned most)
{
    unsigned count = 0;

    if (e->steps == 0 || most == 0)
        return 0;
    if (e->sort == TAKT_C_STEP || e->sort == TAKT_C_OPAQUE) {
        *bit = e->steps;
        return 1;
    }
    const bool is_sum = e->sort == TAKT_C_ADD || e->sort == TAKT_C_SUB;
    for (unsigned pass = 0; pass < 2; pass++)
        for (unsigned i = 0; i < e->parts && count < most; i++) {
            const bool is_plain = e->part[i]->sort == TAKT_C_STEP;
            if ((is_sum && is_plain == (pass == 1)) || (!is_sum && pass == 0))
                count += order_of(e->part[i], bit + count, most - count);
        }
    return count;
}

static const char *copy_op(const struct takt_c_expr *target,
                           const struct takt_c_expr *value)
{
    uint32_t to[4], from[4];

    if (target == NULL || target->steps != value->steps)
        return NULL;
    const unsigned n = order_of(target, to, 4);
    if (n != order_of(value, from, 4))
        return NULL;
    if (n == 2 && to[0] == from[1] && to[1] == from[0] && to[0] != to[1])
        return "transpose";
    for (unsigned i = 0; i < n; i++)
        if (to[i] != from[i])
            return NULL;
    return takt__c_same_text(target->text, value->text) ? NULL : "copy";
}

/* a[i] * i: the counter itself is no array of ours. */
static bool counts_itself(const struct takt_c_expr *e)
{
    if (e->sort == TAKT_C_STEP)
        return true;
    for (unsigned i = 0; i < e->parts && e->sort != TAKT_C_ACCESS; i++)
        if (counts_itself(e->part[i]))
            return true;
    return false;
}

/* a[i] * b[j] makes a matrix of two vectors: no op of elements. */
static bool is_outer(const struct takt_c_expr *e)
{
    const struct takt_c_expr *factor[8];
    const unsigned count = takt__c_factors(e, factor, 8);

    for (unsigned i = 1; i < count; i++)
        if ((factor[0]->steps & factor[i]->steps) == 0)
            return true;
    for (unsigned i = 0; i < e->parts && e->sort == TAKT_C_ADD; i++)
        if (is_outer(e->part[i]))
            return true;
    return false;
}

const char *takt__c_element_op(const struct takt_c_expr *target,
                               const struct takt_c_expr *value)
{
    if (value->steps == 0 || !takt__c_has_access(value) ||
        counts_itself(value) || is_outer(value))
        return NULL;
    switch (value->sort) {
    case TAKT_C_ACCESS:
        return copy_op(target, value);
    case TAKT_C_ADD:
        return addition_op(value);
    case TAKT_C_SUB:
        return difference_op(value);
    case TAKT_C_MUL:
        if (is_gelu(value))
            return "gelu";
        return factor_count(value) > 1 ? "mul" : "scale";
    case TAKT_C_DIV:
        return division_op(value);
    case TAKT_C_NEG:
        return value->part[0]->sort == TAKT_C_ACCESS ? "neg" : NULL;
    case TAKT_C_CALL:
        return call_op(value);
    case TAKT_C_PICK:
        return choice_op(value);
    default:
        return NULL;
    }
}

/* ---- what is added up ---------------------------------------------------- */

const char *takt__c_sum_op(const struct takt_c_expr *value)
{
    const struct takt_c_expr *factor[8];
    const unsigned count = takt__c_factors(value, factor, 8);

    if (counts_itself(value))
        return NULL;
    if (takt__c_is_call(value, "fabs"))
        return "norm1";
    if (takt__c_is_call(value, "pow") && value->parts == 2 &&
        takt__c_is_number(value->part[1], 2))
        return value->part[0]->sort == TAKT_C_SUB &&
                       value->part[0]->part[1]->steps == 0
                   ? "variance"
                   : "dot";
    if (count != 2)
        return count < 2 ? "sum" : "dot";
    if (takt__c_same(factor[0], factor[1]) && factor[0]->sort == TAKT_C_SUB &&
        factor[0]->part[1]->steps == 0)
        return "variance";
    return "dot";
}

static bool has_distance(const struct takt_c_expr *e)
{
    if (e->sort == TAKT_C_SUB && e->part[0]->steps != 0 &&
        e->part[1]->steps == 0 && e->part[1]->sort == TAKT_C_NAME)
        return true;
    for (unsigned i = 0; i < e->parts && e->sort != TAKT_C_ACCESS; i++)
        if (has_distance(e->part[i]))
            return true;
    return false;
}

bool takt__c_is_normalizing(const struct takt_c_expr *value)
{
    return (value->sort == TAKT_C_MUL || value->sort == TAKT_C_DIV ||
            value->sort == TAKT_C_ADD) &&
           has_distance(value);
}
