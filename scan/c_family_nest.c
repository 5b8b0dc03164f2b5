/* SPDX-License-Identifier: MIT */
/*
 * c_family_nest.c - reads what a nest of loops does, statement by statement:
 * what is written where, and with which effect.
 */
#include "c_family_expr.h"

#include <string.h>

enum { DEEPEST = 40 };

/* One of several matrices, which is no number. */
static bool has_matrix(const struct takt_ir_expr *e)
{
    if (e->sort == TAKT_IR_ACCESS && e->type.kind != TAKT_IR_PLAIN)
        return e->parts < e->type.rank;
    for (unsigned i = 0; i < e->parts; i++)
        if (has_matrix(e->part[i]))
            return true;
    return false;
}

bool takt__c_add(struct takt_c_nest *nest, struct takt_ir_stmt stmt)
{
    if ((stmt.value != NULL && has_matrix(stmt.value)) ||
        !takt__ir_add(&nest->ir, stmt))
        return false;
    for (unsigned i = 0; i < nest->locals; i++)
        if (stmt.target->sort == TAKT_IR_ACCESS &&
            nest->local[i].value != NULL &&
            takt__ir_reads(nest->local[i].value, stmt.target->text))
            nest->local[i].is_stale = true;
    return true;
}

static bool collect_declaration(struct takt_c_nest *nest, TSNode node,
                                uint32_t around)
{
    const uint32_t count = ts_node_child_count(node);

    for (uint32_t i = 0; i < count; i++) {
        const TSNode one = ts_node_child(node, i);
        if (!takt__node_is(one, "init_declarator"))
            continue;
        bool is_function = false;
        const TSNode name = takt__c_declared_name(one, &is_function);
        struct takt_c_local *local =
            takt__c_local(nest, takt__node_text(nest->source, name));
        struct takt_ir_expr *value = takt__c_expr(
            nest, takt__node_field(one, "value"),
            local != NULL && local->type.element == TAKT_IR_INTEGER, 0);
        if (local != NULL && value != NULL && local->type.rank > 0 &&
            value->type.element == TAKT_IR_UNKNOWN)
            value = takt__c_expr_typed(nest, value, local->type);
        if (local == NULL || value == NULL)
            return false;
        local->value = value;
        local->is_stale = false;
        if (!local->is_assigned)
            continue;
        struct takt_ir_expr *target = takt__c_expr(nest, name, false, 0);
        if (!takt__c_add(nest, (struct takt_ir_stmt){.target = target,
                                                     .value = value,
                                                     .around = around}))
            return false;
    }
    return true;
}

/* float v = x[i]; v *= 2; y[i] = v: v is only a name for what comes next. */
static bool is_passing(const struct takt_c_local *local, uint32_t around)
{
    return local != NULL && local->is_declared && !local->is_assigned &&
           !local->is_reference && local->declared == around;
}

struct takt_c_local *takt__c_passing(struct takt_c_nest *nest, TSNode node,
                                     uint32_t around)
{
    const TSNode assignment = takt__c_first(node);
    const TSNode left = takt__c_bare(takt__node_field(assignment, "left"));

    if (!takt__node_is(node, "expression_statement") ||
        !takt__node_is(assignment, "assignment_expression") ||
        !takt__node_is(left, "identifier"))
        return NULL;
    struct takt_c_local *local =
        takt__c_local(nest, takt__node_text(nest->source, left));
    return is_passing(local, around) && !local->is_reset ? local : NULL;
}

static bool pass_on(struct takt_c_nest *nest, TSNode node, TSNode name,
                    struct takt_text sign)
{
    struct takt_c_local *local =
        takt__c_local(nest, takt__node_text(nest->source, name));
    struct takt_ir_expr *value =
        takt__c_expr(nest, takt__node_field(node, "right"), false, 0);

    enum takt_ir_effect effect;

    if (value == NULL || nest->is_choosing || !takt__ir_effect(sign, &effect))
        return false;
    if (effect == TAKT_IR_STORE)
        local->is_stale = false;
    local->value = takt__ir_after(&nest->ir, effect, local->value, value);
    return local->value != NULL;
}

/* Whether a name was read, here or above, before this sets it anew. */
static bool is_read_before(struct takt_c_nest *nest, TSNode assignment)
{
    const struct takt_c_local *local = takt__c_local(
        nest,
        takt__node_text(nest->source,
                        takt__c_bare(takt__node_field(assignment, "left"))));
    const unsigned exprs = nest->ir.expr_count;

    takt__c_expr(nest, takt__node_field(assignment, "right"), false, 0);
    nest->ir.expr_count = exprs;
    return local->is_read;
}

static bool collect_assignment(struct takt_c_nest *nest, TSNode node,
                               uint32_t around)
{
    const struct takt_text sign =
        takt__node_text(nest->source, takt__node_field(node, "operator"));
    const TSNode left = takt__c_bare(takt__node_field(node, "left"));
    struct takt_ir_stmt stmt = {.around = around};

    if (takt__node_is(left, "identifier")) {
        const struct takt_c_local *local =
            takt__c_local(nest, takt__node_text(nest->source, left));
        if (local != NULL && local->is_stepped && !local->is_assigned &&
            !(local->is_reset && takt__text_is(sign, "=")))
            return true; /* a pointer or counter that moves on */
        if (local != NULL && local->is_reference && !takt__c_is_element(local))
            return false; /* of what, we do not know */
        if (is_passing(local, around) &&
            !(local->is_reset &&
              (nest->is_choosing || is_read_before(nest, node))))
            return pass_on(nest, node, left, sign);
    }
    const bool is_known = takt__ir_effect(sign, &stmt.effect);
    TSNode right = takt__c_bare(takt__node_field(node, "right"));
    if (takt__node_is(right, "assignment_expression")) { /* a = b = c */
        if (!collect_assignment(nest, right, around) ||
            nest->ir.stmt_count == 0 ||
            nest->ir.stmt[nest->ir.stmt_count - 1].effect != TAKT_IR_STORE)
            return false;
        stmt.value = nest->ir.stmt[nest->ir.stmt_count - 1].value;
    } else
        stmt.value = takt__c_expr(nest, right, false, 0);
    stmt.target = takt__c_expr(nest, left, false, 0);
    if (!is_known || stmt.target == NULL || stmt.value == NULL)
        return false;
    if (stmt.target->sort != TAKT_IR_NAME &&
        stmt.target->sort != TAKT_IR_ACCESS)
        return false;
    takt__ir_simplify(&nest->ir, &stmt);
    return takt__c_add(nest, stmt);
}

/* Numbers that the head of a loop sets, before it. */
static bool collect_start(struct takt_c_nest *nest, TSNode start,
                          uint32_t around)
{
    if (around == 0 || ts_node_is_null(start))
        return true;
    if (takt__c_is_number_start(nest, start))
        return collect_assignment(nest, start, around);
    return !takt__node_is(start, "comma_expression") ||
           (collect_start(nest, takt__node_field(start, "left"), around) &&
            collect_start(nest, takt__node_field(start, "right"), around));
}

static bool collect_loop(struct takt_c_nest *nest, TSNode node, unsigned depth)
{
    if (nest->ir.open == nest->ir.loop_count)
        return false;
    const unsigned loop = nest->ir.open++;
    if (!collect_start(nest, takt__node_field(node, "initializer"),
                       nest->ir.loop[loop].around & ~(UINT32_C(1) << loop)))
        return false;
    const TSNode body = takt__node_field(node, "body");
    if (nest->ir.open < nest->ir.loop_count && /* of the next parameter */
        ts_node_eq(nest->head[nest->ir.open].node, node))
        return takt__c_read_head(nest, loop) && collect_loop(nest, node, depth);
    return takt__c_read_head(nest, loop) && !ts_node_is_null(body) &&
           takt__c_collect_within(nest, body, nest->ir.loop[loop].around,
                                  depth + 1);
}

/* out.push_back(x): the next element is written. */
static bool collect_push(struct takt_c_nest *nest, TSNode node, uint32_t around)
{
    const TSNode callee = takt__node_field(node, "function");
    const TSNode list = takt__node_field(node, "arguments");
    const TSNode name = takt__node_field(callee, "field");

    if (ts_node_is_null(name) || ts_node_named_child_count(list) != 1 ||
        (!takt__text_in(takt__node_text(nest->source, name),
                        "push_back emplace_back")))
        return false;
    struct takt_ir_expr *to =
        takt__c_expr(nest, takt__node_field(callee, "argument"), false, 0);
    struct takt_ir_expr *count = takt__ir_new(&nest->ir, TAKT_IR_COUNT);
    if (to == NULL || to->sort != TAKT_IR_NAME || count == NULL)
        return false;
    for (unsigned i = 0; i < nest->ir.loop_count; i++)
        if (around & (UINT32_C(1) << i))
            count->loops |= nest->ir.loop[i].bit;
    struct takt_ir_expr *target = takt__ir_new(&nest->ir, TAKT_IR_ACCESS);
    if (target == NULL)
        return false;
    target->text = to->text;
    target->type = to->type;
    struct takt_ir_expr *value =
        takt__c_expr(nest, takt__c_first(list), false, 0);
    return takt__c_add(
        nest, (struct takt_ir_stmt){.target = takt__ir_part(target, count),
                                    .value = value,
                                    .around = around,
                                    .is_appended = true});
}

/* std::swap(a, b): t = a; a = b; b = t. */
static bool collect_swap(struct takt_c_nest *nest, TSNode node, uint32_t around)
{
    const TSNode list = takt__node_field(node, "arguments");
    const struct takt_text callee =
        takt__node_text(nest->source, takt__node_field(node, "function"));

    if ((!takt__text_in(callee, "std::swap swap")) ||
        ts_node_named_child_count(list) != 2)
        return false;
    struct takt_ir_expr *a =
        takt__c_expr(nest, ts_node_named_child(list, 0), false, 0);
    struct takt_ir_expr *b =
        takt__c_expr(nest, ts_node_named_child(list, 1), false, 0);
    if (a == NULL || b == NULL || a->sort != TAKT_IR_ACCESS ||
        b->sort != TAKT_IR_ACCESS)
        return false;
    return takt__c_add(nest, (struct takt_ir_stmt){.effect = TAKT_IR_SWAP,
                                                   .target = a,
                                                   .value = b,
                                                   .around = around});
}

/* assert(..), and what fills an array before something is added up in it. */
static bool is_harmless(const struct takt_c_nest *nest, TSNode call)
{
    static const char fills[] = "memset std::memset std::fill fill std::fill_n";
    const TSNode list = takt__node_field(call, "arguments");
    const struct takt_text callee =
        takt__node_text(nest->source, takt__node_field(call, "function"));
    bool is_number = false;

    if (takt__text_is(callee, "assert"))
        return true;
    const uint32_t count = ts_node_named_child_count(list);
    for (uint32_t i = 1; i < count && i < 3; i++)
        is_number |=
            takt__node_is(ts_node_named_child(list, i), "number_literal");
    return is_number && takt__text_in(callee, fills);
}

static bool collect_expression(struct takt_c_nest *nest, TSNode node,
                               uint32_t around)
{
    if (ts_node_is_null(node))
        return true; /* `;` */
    if (takt__node_is(node, "update_expression"))
        return !nest->is_choosing; /* a step: the survey knows it */
    if (takt__node_is(node, "comma_expression"))
        return collect_expression(nest, takt__node_field(node, "left"),
                                  around) &&
               collect_expression(nest, takt__node_field(node, "right"),
                                  around);
    if (takt__node_is(node, "call_expression"))
        return is_harmless(nest, node) || collect_push(nest, node, around) ||
               collect_swap(nest, node, around) ||
               takt__c_collect_macro(nest, node, around) ||
               takt__c_collect_setter(nest, node, around);
    return takt__node_is(node, "assignment_expression") &&
           collect_assignment(nest, node, around);
}

bool takt__c_collect_from(struct takt_c_nest *nest, TSNode block,
                          uint32_t first, uint32_t around, unsigned depth)
{
    const uint32_t count = ts_node_named_child_count(block);

    for (uint32_t i = first; i < count; i++) {
        const TSNode one = ts_node_named_child(block, i);
        if (takt__c_is_passing_over(nest, one))
            return takt__c_collect_rest(nest, block, i, around, depth + 1);
        if (!takt__c_collect_within(nest, one, around, depth + 1))
            return false;
    }
    return true;
}

bool takt__c_collect_within(struct takt_c_nest *nest, TSNode node,
                            uint32_t around, unsigned depth)
{
    const char *type = ts_node_type(node);

    if (depth > DEEPEST)
        return false;
    if (takt__c_is_loop(node))
        return collect_loop(nest, node, depth);
    if (!strcmp(type, "declaration"))
        return collect_declaration(nest, node, around);
    if (!strcmp(type, "expression_statement"))
        return collect_expression(nest, takt__c_first(node), around);
    if (!strcmp(type, "if_statement"))
        return takt__c_is_leaving(nest, node) ||
               takt__c_collect_choice(nest, node, around, depth);
    if (takt__word_in(type, "comment preproc_call"))
        return true;
    if (strcmp(type, "compound_statement") != 0)
        return false;
    return takt__c_collect_from(nest, node, 0, around, depth);
}

/* t = a; a = b; b = t. */
static void fold_swap(struct takt_c_nest *nest)
{
    struct takt_ir_stmt *first = nest->ir.stmt, *last = first + 1;

    if (nest->ir.stmt_count != 2 || first->around != last->around ||
        first->effect != TAKT_IR_STORE || last->effect != TAKT_IR_STORE ||
        last->value->sort != TAKT_IR_NAME)
        return;
    const struct takt_c_local *kept = takt__c_local(nest, last->value->text);
    if (kept != NULL && kept->is_stale &&
        takt__ir_same(first->value, last->target) &&
        takt__ir_same(first->target, kept->value)) {
        first->effect = TAKT_IR_SWAP;
        nest->ir.stmt_count = 1;
    }
}

bool takt__c_collect(struct takt_c_nest *nest, TSNode loop)
{
    nest->ir.open = 0;
    if (!collect_loop(nest, loop, 0))
        return false;
    fold_swap(nest);
    return true;
}
