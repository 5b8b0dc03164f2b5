/* SPDX-License-Identifier: MIT */
/*
 * c_family_choice.c - what is done only if: the largest and where it was,
 * limits, x < 0 ? 0 : x. A choice between two values is brought into the form
 * of the function that makes it.
 */
#include "c_family_expr.h"

#include <string.h>

/* ---- values -------------------------------------------------------------- */

/* -x, x * -1. */
static bool is_negative(const struct takt_c_expr *e,
                        const struct takt_c_expr *x)
{
    if (e->sort == TAKT_C_NEG)
        return takt__c_same(e->part[0], x);
    return e->sort == TAKT_C_MUL &&
           ((takt__c_is_number(e->part[1], -1) &&
             takt__c_same(e->part[0], x)) ||
            (takt__c_is_number(e->part[0], -1) && takt__c_same(e->part[1], x)));
}

static struct takt_c_expr *call(struct takt_c_nest *nest, const char *name,
                                struct takt_c_expr *a, struct takt_c_expr *b)
{
    const struct takt_text text = {name, strlen(name)};
    struct takt_c_expr *e =
        takt__c_expr_part(takt__c_expr_function(nest, text), a);

    return b == NULL ? e : takt__c_expr_part(e, b);
}

static bool is_comparison(const struct takt_c_expr *e)
{
    return e != NULL && (e->sort == TAKT_C_LESS || e->sort == TAKT_C_GREATER);
}

static bool is_limit_of(const struct takt_c_expr *e,
                        const struct takt_c_expr *x)
{
    return (takt__c_is_call(e, "fmax") || takt__c_is_call(e, "fmin")) &&
           takt__c_mentions(e, x);
}

struct takt_c_expr *takt__c_expr_pick(struct takt_c_nest *nest,
                                      struct takt_c_expr *test,
                                      struct takt_c_expr *yes,
                                      struct takt_c_expr *no)
{
    if (test == NULL || yes == NULL || no == NULL)
        return NULL;
    if (is_comparison(test)) {
        struct takt_c_expr *a = test->part[0], *b = test->part[1];
        const bool is_less = test->sort == TAKT_C_LESS;
        if (takt__c_same(yes, a) && takt__c_same(no, b))
            return call(nest, is_less ? "fmin" : "fmax", a, b);
        if (takt__c_same(yes, b) && (takt__c_same(no, a) || is_limit_of(no, a)))
            return call(nest, is_less ? "fmax" : "fmin", no, b);
        if (takt__c_is_number(b, 0) && takt__c_same(is_less ? no : yes, a) &&
            is_negative(is_less ? yes : no, a))
            return call(nest, "fabs", a, NULL);
    }
    return takt__c_expr_part(takt__c_expr_pair(nest, TAKT_C_PICK, test, yes),
                             no);
}

/* ---- conditions ---------------------------------------------------------- */

static struct takt_c_expr *opposite(struct takt_c_nest *nest,
                                    const struct takt_c_expr *e)
{
    return is_comparison(e)
               ? takt__c_expr_pair(nest,
                                   e->sort == TAKT_C_LESS ? TAKT_C_GREATER
                                                          : TAKT_C_LESS,
                                   e->part[0], e->part[1])
               : NULL;
}

/* v[best], where best is assigned: the base is what matters. */
static struct takt_c_expr *best_so_far(struct takt_c_nest *nest, TSNode node)
{
    node = takt__c_bare(node);
    if (!takt__node_is(node, "subscript_expression"))
        return NULL;
    struct takt_c_expr *base =
        takt__c_expr(nest, takt__node_field(node, "argument"), false, 0);
    return base == NULL || base->sort != TAKT_C_NAME ? NULL : base;
}

/* v[i] > v[best]: not to be read as it stands. */
static struct takt_c_expr *against_best(struct takt_c_nest *nest, TSNode test)
{
    if (!takt__node_is(test, "binary_expression"))
        return NULL;
    const TSNode left = takt__node_field(test, "left");
    const TSNode right = takt__node_field(test, "right");
    const char sign =
        *takt__node_text(nest->source, takt__node_field(test, "operator")).at;
    if (sign != '<' && sign != '>')
        return NULL;
    struct takt_c_expr *a = takt__c_expr(nest, left, false, 0);
    if (a != NULL)
        return takt__c_expr_pair(nest,
                                 sign == '<' ? TAKT_C_LESS : TAKT_C_GREATER, a,
                                 best_so_far(nest, right));
    return takt__c_expr_pair(nest, sign == '<' ? TAKT_C_GREATER : TAKT_C_LESS,
                             takt__c_expr(nest, right, false, 0),
                             best_so_far(nest, left));
}

static struct takt_c_expr *condition_of(struct takt_c_nest *nest, TSNode test)
{
    test = takt__c_bare(test);
    if (ts_node_is_null(test))
        return NULL;
    if (takt__node_is(test, "unary_expression") &&
        *takt__node_text(nest->source, test).at == '!') {
        struct takt_c_expr *other =
            condition_of(nest, takt__node_field(test, "argument"));
        if (is_comparison(other))
            return opposite(nest, other);
    }
    struct takt_c_expr *e = takt__c_expr(nest, test, true, 0);
    return e == NULL ? against_best(nest, test) : e;
}

/* Where, and not what, decides. */
static bool is_guard(const struct takt_c_expr *condition)
{
    return condition != NULL && !takt__c_has_access(condition) &&
           !takt__c_varies(condition);
}

/* ---- what is done -------------------------------------------------------- */

static TSNode only_statement(TSNode node)
{
    while (!ts_node_is_null(node) &&
           takt__node_is(node, "compound_statement") &&
           ts_node_named_child_count(node) == 1)
        node = takt__c_first(node);
    return node;
}

/* Where something was found: an index, and nothing that is read. */
static bool is_place(const struct takt_c_leaf *leaf)
{
    return leaf->effect == TAKT_C_STORE && leaf->value->steps != 0 &&
           !takt__c_has_access(leaf->value);
}

/* Of several things that are kept, one is a value, and the others say where it
 * was: that one goes first. */
static bool put_places_last(struct takt_c_leaf *leaf, unsigned count)
{
    unsigned values = 0;

    for (unsigned i = 0; i < count; i++) {
        if (is_place(&leaf[i]))
            continue;
        const struct takt_c_leaf value = leaf[i];
        leaf[i] = leaf[0];
        leaf[0] = value;
        values++;
    }
    return values == 1 || count == 1;
}

/* x *= a as x = x * a. */
static bool as_stored(struct takt_c_nest *nest, struct takt_c_leaf *leaf)
{
    static const enum takt_c_sort sorts[] = {[TAKT_C_SUM] = TAKT_C_ADD,
                                             [TAKT_C_DIFFERENCE] = TAKT_C_SUB,
                                             [TAKT_C_PRODUCT] = TAKT_C_MUL,
                                             [TAKT_C_QUOTIENT] = TAKT_C_DIV};

    if (leaf->effect == TAKT_C_STORE)
        return true;
    if (leaf->effect >= TAKT_C_MAX || leaf->target->sort != TAKT_C_ACCESS)
        return false;
    leaf->value =
        takt__c_expr_pair(nest, sorts[leaf->effect], leaf->target, leaf->value);
    leaf->effect = TAKT_C_STORE;
    return leaf->value != NULL;
}

/* if (x > m) m = x;   if (x > m) { m = x; at = i; }   if (x[i] > x[at]) at = i;
 * and if (x[i] < 0) x[i] = 0: becomes x[i] = x[i] < 0 ? 0 : x[i]. */
static bool fold_choice(struct takt_c_nest *nest, struct takt_c_expr *condition,
                        unsigned first, unsigned count)
{
    struct takt_c_leaf *leaf = &nest->leaf[first];

    if (!put_places_last(leaf, count) || !as_stored(nest, leaf))
        return false;
    if (count == 1 && is_place(leaf) && leaf->target->sort == TAKT_C_NAME &&
        condition->part[0]->sort == TAKT_C_ACCESS) {
        leaf->effect =
            condition->sort == TAKT_C_GREATER ? TAKT_C_ARGMAX : TAKT_C_ARGMIN;
        leaf->value = condition->part[0];
        return true;
    }
    leaf->value = takt__c_expr_pick(nest, condition, leaf->value, leaf->target);
    if (leaf->value == NULL)
        return false;
    takt__c_simplify(nest, leaf);
    if (leaf->effect == TAKT_C_STORE)
        return count == 1 && leaf->target->sort == TAKT_C_ACCESS;
    if (count > 1 && leaf->effect != TAKT_C_MAX && leaf->effect != TAKT_C_MIN)
        return false;
    if (count > 1)
        leaf->effect =
            leaf->effect == TAKT_C_MAX ? TAKT_C_ARGMAX : TAKT_C_ARGMIN;
    nest->leaves -= count - 1;
    return true;
}

static bool collect_chosen(struct takt_c_nest *nest, TSNode then,
                           uint32_t around, unsigned depth)
{
    const bool was_choosing = nest->is_choosing;

    nest->is_choosing = true;
    const bool is_read = takt__c_collect_within(nest, then, around, depth + 1);
    nest->is_choosing = was_choosing;
    return is_read;
}

/* if (a) x = b; else x = c: is x = a ? b : c. */
static bool fold_either(struct takt_c_nest *nest, struct takt_c_expr *condition,
                        unsigned first)
{
    struct takt_c_leaf *yes = &nest->leaf[first], *no = yes + 1;

    if (nest->leaves != first + 2 || yes->effect != TAKT_C_STORE ||
        no->effect != TAKT_C_STORE || !takt__c_same(yes->target, no->target))
        return false;
    yes->value = takt__c_expr_pick(nest, condition, yes->value, no->value);
    nest->leaves--;
    if (yes->value == NULL)
        return false;
    takt__c_simplify(nest, yes);
    return true;
}

/* if (x > high) high = x; else if (x < low) low = x. */
static bool collect_else(struct takt_c_nest *nest, TSNode other,
                         struct takt_c_expr *condition, uint32_t around,
                         unsigned depth, unsigned first)
{
    const unsigned middle = nest->leaves;

    if (takt__node_is(other, "else_clause"))
        other = takt__c_first(other);
    if (ts_node_is_null(other) || middle != first + 1 ||
        !collect_chosen(nest, only_statement(other), around, depth))
        return false;
    return fold_either(nest, condition, first) ||
           (nest->leaves == middle + 1 &&
            nest->leaf[middle].effect >= TAKT_C_MAX &&
            fold_choice(nest, condition, first, 1));
}

bool takt__c_collect_choice(struct takt_c_nest *nest, TSNode node,
                            uint32_t around, unsigned depth)
{
    const TSNode then = only_statement(takt__node_field(node, "consequence"));
    const TSNode other = takt__node_field(node, "alternative");
    const unsigned first = nest->leaves;
    struct takt_c_expr *condition =
        condition_of(nest, takt__node_field(node, "condition"));

    if (ts_node_is_null(then))
        return false;
    if (is_guard(condition)) {
        nest->is_guarded = true;
        if (!ts_node_is_null(other))
            return false;
        if (takt__node_is(then, "continue_statement"))
            return true;
        return collect_chosen(nest, then, around, depth);
    }
    if (!is_comparison(condition) ||
        !collect_chosen(nest, then, around, depth) || nest->leaves == first)
        return false;
    return ts_node_is_null(other)
               ? fold_choice(nest, condition, first, nest->leaves - first)
               : collect_else(nest, other, condition, around, depth, first);
}

bool takt__c_is_passing_over(struct takt_c_nest *nest, TSNode node)
{
    return takt__node_is(node, "if_statement") &&
           takt__node_is(only_statement(takt__node_field(node, "consequence")),
                         "continue_statement") &&
           ts_node_is_null(takt__node_field(node, "alternative")) &&
           !is_guard(condition_of(nest, takt__node_field(node, "condition")));
}

bool takt__c_collect_rest(struct takt_c_nest *nest, TSNode block, uint32_t at,
                          uint32_t around, unsigned depth)
{
    const TSNode skip = ts_node_named_child(block, at);
    struct takt_c_expr *condition =
        opposite(nest, condition_of(nest, takt__node_field(skip, "condition")));
    const unsigned first = nest->leaves;
    const bool was_choosing = nest->is_choosing;

    nest->is_choosing = true;
    const bool is_read =
        takt__c_collect_from(nest, block, at + 1, around, depth);
    nest->is_choosing = was_choosing;
    return is_read && condition != NULL && nest->leaves > first &&
           fold_choice(nest, condition, first, nest->leaves - first);
}
