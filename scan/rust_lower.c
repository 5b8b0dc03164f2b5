/* SPDX-License-Identifier: MIT */
/*
 * rust_lower.c - the statements of loops and closures, and the names that they
 * bind.
 */
#include "rust_lower.h"

/* ---- names --------------------------------------------------------------- */

bool takt__rust_bind_name(struct takt_rust_nest *nest, struct takt_text name,
                          struct takt_rust_part *part)
{
    if (part == NULL || nest->locals == TAKT_RUST_LOCALS)
        return false;
    nest->local[nest->locals++] = (struct takt_rust_local){
        .name = name, .part = part, .declared = nest->ir.around};
    return true;
}

/* for (x, y) in points: elements that are tuples, field by field. */
static bool bind_fields(struct takt_rust_nest *nest, TSNode pattern,
                        const struct takt_ir_expr *of)
{
    static const char *const place[] = {"0", "1", "2"};
    const uint32_t count = takt__node_children(pattern);

    if (of->sort != TAKT_IR_ACCESS || of->loops == 0 || count > 3 ||
        of->type.element != TAKT_IR_OTHER || of->type.kind != TAKT_IR_PLAIN ||
        of->type.rank != of->parts)
        return false;
    for (uint32_t i = 0; i < count; i++)
        if (!takt__rust_bind(
                nest, takt__node_child(pattern, i),
                takt__rust_one(
                    nest,
                    takt__ir_field(&nest->ir, nest->rust->source, of,
                                   (struct takt_text){place[i], 1},
                                   takt__rust_ir_type(takt__rust_type_of(
                                       nest->rust, takt__node_child(pattern, i),
                                       TAKT_RUST_DEPTH))))))
            return false;
    return true;
}

bool takt__rust_bind(struct takt_rust_nest *nest, TSNode pattern,
                     struct takt_rust_part *part)
{
    pattern = takt__rust_bare_pattern(pattern);
    if (part == NULL || ts_node_is_null(pattern))
        return false;
    if (rust_is(pattern, "parameter"))
        return takt__rust_bind(nest, takt__node_field(pattern, "pattern"),
                               part);
    if (rust_is(pattern, "identifier"))
        return takt__rust_bind_name(nest, rust_text(nest->rust, pattern), part);
    if (rust_is(pattern, "tuple_pattern") && part->of[0] != NULL) {
        const uint32_t count = takt__node_children(pattern);
        uint32_t i = 0; /* a triple is a pair whose second is one */
        for (; i + 1 < count && part->of[0] != NULL; part = part->of[1], i++)
            if (!takt__rust_bind(nest, takt__node_child(pattern, i),
                                 part->of[0]))
                return false;
        return i + 1 == count &&
               takt__rust_bind(nest, takt__node_child(pattern, i), part);
    }
    if (rust_is(pattern, "tuple_pattern") && part->value != NULL)
        return bind_fields(nest, pattern, part->value);
    return takt__text_is(rust_text(nest->rust, pattern), "_");
}

static bool is_loop(TSNode node)
{
    return takt__node_in(node, "for_expression while_expression");
}

static bool assigns(TSNode node)
{
    return takt__node_in(node,
                         "assignment_expression compound_assignment_expr");
}

/* The names that are assigned somewhere within. */
static void find_assigned(struct takt_rust_nest *nest, TSNode node,
                          unsigned depth)
{
    if (depth == 0 || ts_node_is_null(node) || !takt__rust_step(nest->rust))
        return;
    if (assigns(node)) {
        const TSNode left = takt__rust_bare(nest->rust, takt__rust_left(node));
        const enum takt_rust_bound kind =
            rust_is(left, "identifier")
                ? takt__rust_binding(nest->rust, left).kind
                : TAKT_RUST_CLOSURE;
        if (kind != TAKT_RUST_CLOSURE && kind != TAKT_RUST_FOR &&
            nest->assigned < TAKT_RUST_ASSIGNED)
            nest->name[nest->assigned++] = rust_text(nest->rust, left);
    }
    const uint32_t count = takt__node_children(node);
    for (uint32_t i = 0; i < count; i++)
        find_assigned(nest, takt__node_child(node, i), depth - 1);
}

/* Whether a loop or closure within assigns that name. */
static bool is_assigned_within(struct takt_rust_nest *nest, TSNode node,
                               struct takt_text name, bool is_within,
                               unsigned depth)
{
    if (depth == 0 || ts_node_is_null(node) || !takt__rust_step(nest->rust))
        return false;
    if (is_within && assigns(node) &&
        takt__ir_same_text(
            rust_text(nest->rust,
                      takt__rust_bare(nest->rust, takt__rust_left(node))),
            name))
        return true;
    is_within |= is_loop(node) ||
                 takt__node_in(node, "closure_expression if_expression");
    const uint32_t count = takt__node_children(node);
    for (uint32_t i = 0; i < count; i++)
        if (is_assigned_within(nest, takt__node_child(node, i), name, is_within,
                               depth - 1))
            return true;
    return false;
}

/* ---- stores -------------------------------------------------------------- */

/* The floating-point type in an expression, the narrower where one says only
 * that it is one. */
static enum takt_ir_element float_in(const struct takt_ir_expr *e)
{
    enum takt_ir_element found = TAKT_IR_UNKNOWN;

    if ((e->sort == TAKT_IR_ACCESS || e->sort == TAKT_IR_NAME ||
         e->sort == TAKT_IR_NUMBER) &&
        takt__ir_is_float(e->type.element))
        return e->type.element;
    for (unsigned i = 0; i < e->parts && e->sort != TAKT_IR_ACCESS; i++) {
        const enum takt_ir_element one = float_in(e->part[i]);
        if (one != TAKT_IR_UNKNOWN && one != TAKT_IR_FLOAT)
            return one;
        found = one == TAKT_IR_FLOAT ? one : found;
    }
    return found;
}

void takt__rust_set_float(struct takt_ir_expr *e, enum takt_ir_element element)
{
    if (e->sort == TAKT_IR_ACCESS && e->type.element == TAKT_IR_FLOAT)
        e->type.element = element;
    if (e->sort == TAKT_IR_ACCESS && (e->type.element == TAKT_IR_UNKNOWN ||
                                      e->type.element == TAKT_IR_GENERIC)) {
        e->type.element = element;
        e->type.kind = TAKT_IR_ARRAY;
    }
    for (unsigned i = 0; i < e->parts && e->sort != TAKT_IR_ACCESS; i++)
        takt__rust_set_float(e->part[i], element);
}

/* Rust does not mix types: what one operand is, the others are, too. */
static void settle_types(struct takt_ir_expr *target,
                         struct takt_ir_expr *value)
{
    enum takt_ir_element element = float_in(value);

    if (element == TAKT_IR_UNKNOWN || element == TAKT_IR_FLOAT) {
        const enum takt_ir_element other = float_in(target);
        element = other != TAKT_IR_UNKNOWN ? other : element;
    }
    if (element == TAKT_IR_UNKNOWN)
        return;
    takt__rust_set_float(target, element);
    takt__rust_set_float(value, element);
}

/* What names were read from there is not what is there now. */
static void make_stale(struct takt_rust_nest *nest, struct takt_text array)
{
    for (unsigned i = 0; i < nest->locals; i++) {
        const struct takt_rust_part *part = nest->local[i].part;
        if (nest->local[i].is_let && part->value != NULL &&
            takt__ir_reads(part->value, array))
            nest->local[i].is_assigned = true;
    }
}

bool takt__rust_store(struct takt_rust_nest *nest, enum takt_ir_effect effect,
                      struct takt_ir_expr *target, struct takt_ir_expr *value)
{
    if (!takt__ir_store(&nest->ir, effect, target, value))
        return false;
    const struct takt_ir_stmt *stmt = &nest->ir.stmt[nest->ir.stmt_count - 1];
    settle_types(stmt->target, stmt->value);
    if (target->sort == TAKT_IR_ACCESS)
        make_stale(nest, target->text);
    return true;
}

/* ---- statements ---------------------------------------------------------- */

static bool lower_let(struct takt_rust_nest *nest, TSNode node, TSNode block,
                      unsigned depth)
{
    TSNode pattern = takt__node_field(node, "pattern");
    const TSNode value = takt__node_field(node, "value");

    if (rust_is(pattern, "mut_pattern"))
        pattern = takt__node_child(pattern, takt__node_children(pattern) - 1);
    if (ts_node_is_null(value))
        return false;
    if (rust_is(value, "closure_expression")) /* read where it is called */
        return true;
    const struct takt_text name = rust_text(nest->rust, pattern);
    struct takt_rust_part *part = takt__rust_part_of(nest, value, depth + 1);
    if (part == NULL || !takt__rust_bind(nest, pattern, part))
        return false;
    if (rust_is(pattern, "identifier"))
        nest->local[nest->locals - 1].is_let = true;
    if (!rust_is(pattern, "identifier") ||
        !is_assigned_within(nest, block, name, false, TAKT_RUST_DEEPEST) ||
        takt__rust_is_counter(nest, block, name))
        return true;
    nest->local[nest->locals - 1].is_assigned = true;
    struct takt_ir_expr *target =
        takt__ir_name(&nest->ir, name,
                      takt__rust_ir_type(takt__rust_type_of(nest->rust, value,
                                                            TAKT_RUST_DEPTH)));
    if (target != NULL)
        target->is_varying = true;
    return takt__rust_store(nest, TAKT_IR_STORE, target, part->value);
}

struct takt_rust_part *takt__rust_block(struct takt_rust_nest *nest,
                                        TSNode body, unsigned depth)
{
    if (rust_is(body, "unsafe_block"))
        body = takt__node_child(body, 0);
    if (!rust_is(body, "block"))
        return takt__rust_part_of(nest, body, depth + 1);
    const uint32_t count = takt__node_children(body);
    for (uint32_t i = 0; i < count; i++) {
        const TSNode one = takt__node_child(body, i);
        if (ts_node_is_extra(one))
            continue;
        if (i + 1 == count && !rust_is(one, "expression_statement"))
            return takt__rust_part_of(nest, one, depth + 1);
        if (rust_is(one, "let_declaration")
                ? !lower_let(nest, one, body, depth)
                : ts_node_start_byte(one) < nest->start ||
                      ts_node_end_byte(one) > nest->end ||
                      !takt__rust_statement(nest, one, depth + 1))
            return NULL; /* what is assigned elsewhere is not known */
    }
    return NULL;
}

static bool lower_assignment(struct takt_rust_nest *nest, TSNode node,
                             unsigned depth)
{
    const struct takt_text sign = rust_is(node, "assignment_expression")
                                      ? (struct takt_text){"=", 1}
                                      : takt__rust_operator(nest->rust, node);
    const TSNode left = takt__rust_bare(nest->rust, takt__rust_left(node));
    struct takt_ir_expr *value =
        takt__rust_expr(nest, takt__rust_right(node), false, depth + 1);
    enum takt_ir_effect effect;

    if (value == NULL || !takt__ir_effect(sign, &effect))
        return false;
    const struct takt_rust_local *local =
        rust_is(left, "identifier")
            ? takt__rust_local(nest, rust_text(nest->rust, left))
            : NULL;
    struct takt_ir_expr *target =
        takt__rust_expr(nest, takt__rust_left(node), false, depth + 1);
    if (local != NULL && !local->is_assigned && target != NULL &&
        (target->sort != TAKT_IR_ACCESS ||
         rust_is(takt__rust_left(node), "identifier"))) {
        /* let mut v = x[i]; v *= 2.0: a name for what comes next */
        if (nest->ir.is_choosing || local->declared != nest->ir.around)
            return false;
        value = takt__ir_after(&nest->ir, effect, target, value);
        nest->local[local - nest->local].part = takt__rust_one(nest, value);
        return value != NULL;
    }
    return takt__rust_store(nest, effect, target, value);
}

/* ---- bodies -------------------------------------------------------------- */

static bool lower_body(struct takt_rust_nest *nest, TSNode block, uint32_t from,
                       unsigned depth)
{
    const uint32_t count = takt__node_children(block);

    for (uint32_t i = from; i < count; i++) {
        const TSNode one = takt__node_child(block, i);
        if (ts_node_is_extra(one))
            continue;
        if (rust_is(one, "let_declaration")) {
            if (!lower_let(nest, one, block, depth))
                return false;
            continue;
        }
        const TSNode test = takt__rust_passed_over(
            nest, takt__rust_bare(nest->rust, one), depth);
        if (ts_node_is_null(test)) {
            if (!takt__rust_statement(nest, one, depth + 1))
                return false;
            continue;
        }
        const unsigned first = nest->ir.stmt_count;
        struct takt_ir_expr *condition = takt__ir_opposite(
            &nest->ir, takt__rust_condition(nest, test, depth));
        const bool was_choosing = nest->ir.is_choosing;
        nest->ir.is_choosing = true;
        const bool is_read = lower_body(nest, block, i + 1, depth + 1);
        nest->ir.is_choosing = was_choosing;
        return is_read && condition != NULL && nest->ir.stmt_count > first &&
               takt__ir_fold_choice(&nest->ir, condition, first,
                                    nest->ir.stmt_count - first);
    }
    return true;
}

bool takt__rust_statement(struct takt_rust_nest *nest, TSNode node,
                          unsigned depth)
{
    static const char checks[] =
        "assert debug_assert debug_assert_eq assert_eq";
    const unsigned locals = nest->locals;

    while (takt__node_in(node, "expression_statement unsafe_block"))
        node = takt__node_child(node, 0);
    if (ts_node_is_null(node) || depth > TAKT_RUST_DEEPEST ||
        !takt__rust_step(nest->rust))
        return false;
    if (rust_is(node, "block")) {
        const bool is_read = lower_body(nest, node, 0, depth + 1);
        nest->locals = locals;
        return is_read;
    }
    if (rust_is(node, "for_expression"))
        return takt__rust_for(nest, node, depth);
    if (rust_is(node, "while_expression"))
        return takt__rust_while(nest, node, depth);
    if (assigns(node))
        return takt__rust_is_stepping(nest, node)
                   ? !nest->ir.is_choosing
                   : lower_assignment(nest, node, depth);
    if (rust_is(node, "if_expression"))
        return takt__rust_if(nest, node, depth);
    if (rust_is(node, "call_expression"))
        return takt__rust_effect(nest, node, depth);
    return rust_is(node, "macro_invocation") &&
           takt__rust_is_any(nest->rust, takt__node_field(node, "macro"),
                             checks);
}

bool takt__rust_lower(struct takt_rust_nest *nest, TSNode node)
{
    nest->start = ts_node_start_byte(node);
    nest->end = ts_node_end_byte(node);
    find_assigned(nest, node, TAKT_RUST_DEEPEST);
    return takt__rust_statement(nest, node, 0) && nest->ir.loop_count > 0;
}
