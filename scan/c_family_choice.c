/* SPDX-License-Identifier: MIT */
/*
 * c_family_choice.c - what is done only if: the largest and where it was,
 * limits, x < 0 ? 0 : x. A choice between two values is brought into the form
 * of the function that makes it.
 */
#include "c_family_expr.h"

#include <string.h>

/* ---- conditions ---------------------------------------------------------- */

/* v[best], where best is assigned: the base is what matters. */
static struct takt_ir_expr *best_so_far(struct takt_c_nest *nest, TSNode node)
{
    node = takt__c_bare(node);
    if (!takt__node_is(node, "subscript_expression"))
        return NULL;
    struct takt_ir_expr *base =
        takt__c_expr(nest, takt__node_field(node, "argument"), false, 0);
    return base == NULL || base->sort != TAKT_IR_NAME ? NULL : base;
}

/* v[i] > v[best]: not to be read as it stands. */
static struct takt_ir_expr *against_best(struct takt_c_nest *nest, TSNode test)
{
    if (!takt__node_is(test, "binary_expression"))
        return NULL;
    const TSNode left = takt__node_field(test, "left");
    const TSNode right = takt__node_field(test, "right");
    const char sign =
        *takt__node_text(nest->source, takt__node_field(test, "operator")).at;
    if (sign != '<' && sign != '>')
        return NULL;
    struct takt_ir_expr *a = takt__c_expr(nest, left, false, 0);
    if (a != NULL)
        return takt__ir_pair(&nest->ir,
                             sign == '<' ? TAKT_IR_LESS : TAKT_IR_GREATER, a,
                             best_so_far(nest, right));
    return takt__ir_pair(
        &nest->ir, sign == '<' ? TAKT_IR_GREATER : TAKT_IR_LESS,
        takt__c_expr(nest, right, false, 0), best_so_far(nest, left));
}

static struct takt_ir_expr *condition_of(struct takt_c_nest *nest, TSNode test);

/* a && b, x[i] != 0: of a choice between values, whatever it asks. */
static struct takt_ir_expr *asked(struct takt_c_nest *nest, TSNode test)
{
    const struct takt_text sign =
        takt__node_text(nest->source, takt__node_field(test, "operator"));
    const TSNode left = takt__node_field(test, "left");
    const TSNode right = takt__node_field(test, "right");
    const bool is_both = takt__text_in(sign, "&& ||");

    if (!takt__node_is(test, "binary_expression") ||
        (!is_both && !takt__text_in(sign, "== !=")))
        return NULL;
    struct takt_ir_expr *a =
        is_both ? condition_of(nest, left) : takt__c_expr(nest, left, false, 0);
    struct takt_ir_expr *b = is_both ? condition_of(nest, right)
                                     : takt__c_expr(nest, right, false, 0);
    if (a != NULL && a->sort == TAKT_IR_OPAQUE) /* where, beside what */
        a = takt__ir_number(&nest->ir, 0);
    if (b != NULL && b->sort == TAKT_IR_OPAQUE)
        b = takt__ir_number(&nest->ir, 0);
    return takt__ir_part(takt__ir_part(takt__ir_call(&nest->ir, "asked"), a),
                         b);
}

static struct takt_ir_expr *condition_of(struct takt_c_nest *nest, TSNode test)
{
    test = takt__c_bare(test);
    if (ts_node_is_null(test))
        return NULL;
    if (takt__node_is(test, "unary_expression") &&
        *takt__node_text(nest->source, test).at == '!') {
        struct takt_ir_expr *other =
            condition_of(nest, takt__node_field(test, "argument"));
        if (takt__ir_is_comparison(other))
            return takt__ir_opposite(&nest->ir, other);
    }
    struct takt_ir_expr *e = takt__c_expr(nest, test, true, 0);
    if (e == NULL)
        e = asked(nest, test);
    return e == NULL ? against_best(nest, test) : e;
}

struct takt_ir_expr *takt__c_choice(struct takt_c_nest *nest, TSNode node,
                                    bool is_index, unsigned depth)
{
    struct takt_ir_expr *test =
        condition_of(nest, takt__node_field(node, "condition"));
    struct takt_ir_expr *yes = takt__c_expr(
        nest, takt__node_field(node, "consequence"), is_index, depth + 1);
    struct takt_ir_expr *no = takt__c_expr(
        nest, takt__node_field(node, "alternative"), is_index, depth + 1);

    return takt__ir_pick(&nest->ir, test, yes, no);
}

/* ---- what is done -------------------------------------------------------- */

static TSNode only_statement(TSNode node)
{
    while (takt__node_is(node, "compound_statement") &&
           ts_node_named_child_count(node) == 1)
        node = takt__c_first(node);
    return node;
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

/* if (x > high) high = x; else if (x < low) low = x. */
static bool collect_else(struct takt_c_nest *nest, TSNode other,
                         struct takt_ir_expr *condition, uint32_t around,
                         unsigned depth, unsigned first)
{
    if (takt__node_is(other, "else_clause"))
        other = takt__c_first(other);
    if (ts_node_is_null(other) || nest->ir.stmt_count != first + 1 ||
        !collect_chosen(nest, only_statement(other), around, depth))
        return false;
    return takt__ir_fold_either(&nest->ir, condition, first);
}

/* if (v < 0) v = 0; else v *= a; of a name for what comes next. */
static bool choose_value(struct takt_c_nest *nest, struct takt_c_local *local,
                         TSNode then, TSNode other,
                         struct takt_ir_expr *condition, uint32_t around,
                         unsigned depth)
{
    struct takt_ir_expr *before = local->value;

    if (!takt__c_collect_within(nest, then, around, depth + 1))
        return false;
    struct takt_ir_expr *yes = local->value;
    local->value = before;
    if (takt__node_is(other, "else_clause"))
        other = only_statement(takt__c_first(other));
    const TSNode first =
        takt__node_is(other, "if_statement")
            ? only_statement(takt__node_field(other, "consequence"))
            : other;
    if (!ts_node_is_null(other) &&
        (takt__c_passing(nest, first, around) != local ||
         !takt__c_collect_within(nest, other, around, depth + 1)))
        return false;
    local->value = takt__ir_pick(&nest->ir, condition, yes, local->value);
    return local->value != NULL;
}

bool takt__c_collect_choice(struct takt_c_nest *nest, TSNode node,
                            uint32_t around, unsigned depth)
{
    const TSNode then = only_statement(takt__node_field(node, "consequence"));
    const TSNode other = takt__node_field(node, "alternative");
    const unsigned first = nest->ir.stmt_count;
    struct takt_ir_expr *condition =
        condition_of(nest, takt__node_field(node, "condition"));

    if (ts_node_is_null(then))
        return false;
    struct takt_c_local *local = takt__c_passing(nest, then, around);
    if (local != NULL && !nest->is_choosing)
        return choose_value(nest, local, then, other, condition, around, depth);
    if (takt__ir_is_guard(condition)) {
        takt__ir_guard(&nest->ir, condition);
        if (!ts_node_is_null(other))
            return false;
        if (takt__node_is(then, "continue_statement"))
            return true;
        return collect_chosen(nest, then, around, depth);
    }
    if (condition == NULL || !collect_chosen(nest, then, around, depth) ||
        nest->ir.stmt_count == first)
        return false;
    return ts_node_is_null(other)
               ? takt__ir_fold_choice(&nest->ir, condition, first,
                                      nest->ir.stmt_count - first)
               : collect_else(nest, other, condition, around, depth, first);
}

bool takt__c_is_passing_over(struct takt_c_nest *nest, TSNode node)
{
    return takt__node_is(node, "if_statement") &&
           takt__node_is(only_statement(takt__node_field(node, "consequence")),
                         "continue_statement") &&
           ts_node_is_null(takt__node_field(node, "alternative")) &&
           !takt__ir_is_guard(
               condition_of(nest, takt__node_field(node, "condition")));
}

bool takt__c_collect_rest(struct takt_c_nest *nest, TSNode block, uint32_t at,
                          uint32_t around, unsigned depth)
{
    const TSNode skip = ts_node_named_child(block, at);
    struct takt_ir_expr *condition = takt__ir_opposite(
        &nest->ir, condition_of(nest, takt__node_field(skip, "condition")));
    const unsigned first = nest->ir.stmt_count;
    const bool was_choosing = nest->is_choosing;

    nest->is_choosing = true;
    const bool is_read =
        takt__c_collect_from(nest, block, at + 1, around, depth);
    nest->is_choosing = was_choosing;
    return is_read && condition != NULL && nest->ir.stmt_count > first &&
           takt__ir_fold_choice(&nest->ir, condition, first,
                                nest->ir.stmt_count - first);
}
