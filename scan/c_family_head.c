/* SPDX-License-Identifier: MIT */
/*
 * c_family_head.c - the heads of loops: what they count with, from where to
 * where, and how often they run.
 */
#include "c_family_expr.h"

#include <string.h>

static struct takt_c_head *head_of(struct takt_c_nest *nest,
                                   const struct takt_ir_loop *loop)
{
    return &nest->head[loop - nest->ir.loop];
}

/* int i = 0, n = v.size(): what is declared beside the variable. */
static void read_others(struct takt_c_nest *nest,
                        const struct takt_ir_loop *loop, TSNode start)
{
    const uint32_t count = ts_node_named_child_count(start);
    bool is_first = true;

    for (uint32_t i = 0; i < count && i < 8; i++) {
        const TSNode one = ts_node_named_child(start, i);
        if (!takt__node_is(one, "init_declarator"))
            continue;
        bool is_function = false;
        const TSNode name = takt__c_declared_name(one, &is_function);
        struct takt_c_local *local =
            ts_node_is_null(name)
                ? NULL
                : takt__c_local(nest, takt__node_text(nest->source, name));
        if (!is_first && local != NULL) {
            local->declared &= ~loop->bit;
            local->value =
                takt__c_expr(nest, takt__node_field(one, "value"), true, 0);
        }
        is_first = false;
    }
}

/* c[i][j] = 0, in the head of a loop over what is added up there. */
static bool is_filling(const struct takt_c_nest *nest, TSNode node)
{
    if (takt__c_is_number_start(nest, node))
        return true;
    return takt__node_is(node, "assignment_expression") &&
           !takt__node_is(takt__node_field(node, "left"), "identifier") &&
           takt__node_is(takt__node_field(node, "right"), "number_literal");
}

/* i = 0, in whichever way it is written; the variable that starts. */
static bool read_start(struct takt_c_nest *nest, struct takt_ir_loop *loop,
                       TSNode start)
{
    if (ts_node_is_null(start))
        return true;
    while (takt__node_is(start, "comma_expression")) {
        const TSNode left = takt__node_field(start, "left");
        start = takt__node_field(start, is_filling(nest, left)
                                            ? "right"
                                            : "left"); /* s = 0, i = 0 */
    }
    TSNode name = {0};
    if (takt__node_is(start, "declaration")) {
        const TSNode declarator = takt__node_field(start, "declarator");
        bool is_function = false;
        name = takt__c_declared_name(declarator, &is_function);
        head_of(nest, loop)->start = takt__node_field(declarator, "value");
        read_others(nest, loop, start);
    } else if (takt__node_is(start, "assignment_expression")) {
        name = takt__node_field(start, "left");
        head_of(nest, loop)->start = takt__node_field(start, "right");
    }
    if (ts_node_is_null(name))
        return false;
    loop->var = takt__node_text(nest->source, name);
    return true;
}

/* The name that the update steps, if it is a plain step. */
static TSNode stepped_by(TSNode update)
{
    while (takt__node_is(update, "comma_expression"))
        update = takt__node_field(update, "left");
    if (ts_node_is_null(update))
        return update;
    if (takt__node_is(update, "update_expression"))
        return takt__node_field(update, "argument");
    if (takt__node_is(update, "assignment_expression"))
        return takt__node_field(update, "left");
    return (TSNode){0};
}

static bool is_step(const struct takt_c_nest *nest, TSNode update)
{
    if (ts_node_is_null(update))
        return false;
    if (takt__node_is(update, "comma_expression"))
        return is_step(nest, takt__node_field(update, "left")) &&
               is_step(nest, takt__node_field(update, "right"));
    if (takt__node_is(update, "update_expression"))
        return true;
    if (!takt__node_is(update, "assignment_expression"))
        return false;
    const struct takt_text sign =
        takt__node_text(nest->source, takt__node_field(update, "operator"));
    if (takt__text_in(sign, "+= -="))
        return true;
    const TSNode right = takt__node_field(update, "right");
    return takt__text_is(sign, "=") &&
           takt__node_is(right, "binary_expression") &&
           takt__ir_same_text(
               takt__node_text(nest->source, takt__node_field(update, "left")),
               takt__node_text(nest->source, takt__node_field(right, "left")));
}

static bool is_both(const struct takt_c_nest *nest, TSNode condition)
{
    return takt__node_is(condition, "binary_expression") &&
           takt__text_is(
               takt__node_text(nest->source,
                               takt__node_field(condition, "operator")),
               "&&");
}

/* x.count(), nodes() - 1, x.extent(0): what a class says of itself does not
 * change. */
static bool is_measure(TSNode node, unsigned depth)
{
    node = takt__c_bare(node);
    if (depth == 0 || ts_node_is_null(node))
        return false;
    if (takt__node_is(node, "call_expression")) {
        const TSNode list = takt__node_field(node, "arguments");
        const uint32_t count = takt__node_children(list);
        for (uint32_t i = 0; i < count; i++)
            if (!takt__node_in(takt__node_child(list, i),
                               "number_literal identifier"))
                return false;
        return true;
    }
    if (takt__node_is(node, "binary_expression"))
        return is_measure(takt__node_field(node, "left"), depth - 1) &&
               is_measure(takt__node_field(node, "right"), depth - 1);
    return takt__node_in(node, "number_literal identifier field_expression");
}

static struct takt_ir_expr *limit_of(struct takt_c_nest *nest, TSNode node)
{
    struct takt_ir_expr *e = takt__c_expr(nest, node, true, 0);
    const struct takt_c_type type = {.element = TAKT_IR_INTEGER};

    return e != NULL || !is_measure(node, 4)
               ? e
               : takt__c_expr_name(nest, takt__node_text(nest->source, node),
                                   type);
}

/* i < n, n > i, i + k <= n, p != end, n--, n-- > 0. */
static bool read_condition(struct takt_c_nest *nest, struct takt_ir_loop *loop,
                           TSNode condition)
{
    condition = takt__c_bare(condition);
    if (ts_node_is_null(condition))
        return false;
    if (is_both(nest, condition)) { /* i < tile + 8 && i < n */
        const bool is_read =
            read_condition(nest, loop, takt__node_field(condition, "left")) &&
            read_condition(nest, loop, takt__node_field(condition, "right"));
        head_of(nest, loop)->bound = (TSNode){0};
        return is_read;
    }
    if (takt__node_in(condition, "update_expression identifier")) {
        const struct takt_ir_expr *e = takt__c_expr(nest, condition, true, 0);
        return e != NULL && (e->sort == TAKT_IR_COUNT || e->is_varying);
    }
    if (!takt__node_is(condition, "binary_expression"))
        return false;
    const struct takt_text sign =
        takt__node_text(nest->source, takt__node_field(condition, "operator"));
    static const char signs[] = "< <= > >= !=";
    if (!takt__text_in(sign, signs))
        return false;
    const struct takt_ir_expr *a =
        limit_of(nest, takt__node_field(condition, "left"));
    const struct takt_ir_expr *b =
        limit_of(nest, takt__node_field(condition, "right"));
    if (a == NULL || b == NULL || takt__ir_is_gathered(a) ||
        takt__ir_is_gathered(b))
        return false;
    if (((a->loops | b->loops) & loop->bit) == 0 || takt__ir_varies(a) ||
        takt__ir_varies(b))
        return false; /* what was computed decides */
    const bool is_left = (a->loops & loop->bit) != 0;
    head_of(nest, loop)->bound =
        takt__node_field(condition, is_left ? "right" : "left");
    loop->is_inclusive = sign.size == 2 && sign.at[0] != '!';
    loop->is_downward = is_left == (sign.at[0] == '>');
    /* p + 1 < end and the like: the bound is not that of the variable */
    if (!takt__node_is(takt__c_bare(takt__node_field(
                           condition, is_left ? "left" : "right")),
                       "identifier"))
        head_of(nest, loop)->bound = (TSNode){0};
    return true;
}

static void read_extent(struct takt_c_nest *nest, struct takt_ir_loop *loop)
{
    int64_t from = 0, to = 0;
    enum takt_size_source of_start, of_bound;
    TSNode low = head_of(nest, loop)->start, high = head_of(nest, loop)->bound;

    if (loop->is_downward) {
        low = head_of(nest, loop)->bound;
        high = head_of(nest, loop)->start;
    }
    if (ts_node_is_null(high) || ts_node_is_null(low) ||
        !takt__c_constant(nest->place, high, &to, &of_bound) ||
        !takt__c_constant(nest->place, low, &from, &of_start))
        return;
    if (loop->is_inclusive)
        to++;
    if (to <= from)
        return;
    loop->extent = (uint64_t)(to - from);
    loop->source =
        of_bound == TAKT_SIZE_LITERAL ? TAKT_SIZE_LOOP_BOUND : of_bound;
}

/* A tile's loop starts where the loop over tiles stands: they count as one. */
static bool join_tile(struct takt_c_nest *nest, struct takt_ir_loop *loop)
{
    if (ts_node_is_null(head_of(nest, loop)->start))
        return true;
    const uint32_t own = loop->bit;
    const struct takt_ir_expr *start =
        limit_of(nest, head_of(nest, loop)->start);
    if (start == NULL)
        return false;
    if (start->sort == TAKT_IR_COUNT && start->loops != own &&
        start->loops != 0)
        loop->bit = start->loops;
    return true;
}

/* for (int i : range(n)): it counts. */
static bool is_counting(const struct takt_c_nest *nest, TSNode over)
{
    static const char words[] = "range irange index_range make_range iota "
                                "indices xrange integer_range";
    TSNode callee = takt__node_field(over, "function");

    if (takt__node_is(callee, "template_function"))
        callee = takt__node_field(callee, "name");
    return takt__node_is(over, "call_expression") &&
           takt__text_in(
               takt__node_text(nest->source, takt__c_last_part(callee)), words);
}

static bool read_range(struct takt_c_nest *nest, struct takt_ir_loop *loop)
{
    const TSNode declarator =
        takt__node_field(head_of(nest, loop)->node, "declarator");
    const TSNode over = takt__node_field(head_of(nest, loop)->node, "right");
    bool is_function = false;
    const TSNode name = takt__c_declared_name(declarator, &is_function);

    if (ts_node_is_null(name) || ts_node_is_null(over) ||
        !takt__node_is(name, "identifier"))
        return false;
    const struct takt_c_declaration held = {.holder = head_of(nest, loop)->node,
                                            .declarator = declarator,
                                            .range = over};
    loop->var = takt__node_text(nest->source, name);
    if (is_counting(nest, over))
        return true;
    head_of(nest, loop)->is_over_range = true;
    struct takt_c_local *local = takt__c_local_named(nest, loop->var);
    struct takt_ir_expr *base = takt__c_expr(nest, over, false, 0);
    struct takt_ir_expr *count = takt__ir_new(&nest->ir, TAKT_IR_COUNT);
    if (local == NULL || base == NULL || count == NULL ||
        (base->sort != TAKT_IR_NAME && base->sort != TAKT_IR_ACCESS))
        return false;
    count->loops = loop->bit;
    count->text = loop->var;
    struct takt_ir_expr *value = takt__ir_new(&nest->ir, TAKT_IR_ACCESS);
    if (value == NULL || base->parts + 1 > TAKT_IR_PARTS ||
        base->type.kind == TAKT_IR_MATRIX || base->type.rank == 0)
        return false;
    *value = *base;
    value->sort = TAKT_IR_ACCESS;
    value->part[value->parts++] = count;
    value->loops |= count->loops;
    const struct takt_c_type declared =
        takt__c_declared_type(nest->place, &held, 0);
    if (takt__c_is_float(declared) != takt__ir_is_float(base->type.element) &&
        declared.element != TAKT_IR_UNKNOWN)
        return false;
    if (base->type.dim[base->parts < 3 ? base->parts : 2] > 0) {
        loop->extent = base->type.dim[base->parts < 3 ? base->parts : 2];
        loop->source = TAKT_SIZE_TYPE;
    }
    local->value = value;
    local->is_declared = true;
    local->is_reset = false; /* x = f(x) writes the element */
    local->declared = 0;
    return true;
}

/* A while loop counts with what it steps in its condition or its body. */
static void name_while(struct takt_c_nest *nest, struct takt_ir_loop *loop)
{
    for (unsigned i = 0; i < nest->locals; i++) {
        const struct takt_c_local *local = &nest->local[i];
        if (local->is_stepped && !local->is_assigned && local->type.rank == 0 &&
            (local->stepped & loop->bit) != 0 &&
            (local->declared & loop->bit) == 0 && loop->var.size == 0)
            loop->var = local->text;
    }
}

/* What a head starts and steps is not started anew by its own loop. */
static void belong_to_head(struct takt_c_nest *nest,
                           const struct takt_ir_loop *loop)
{
    struct takt_c_local *local = takt__c_local(nest, loop->var);

    if (local == NULL || loop->var.size == 0)
        return;
    local->declared &= ~loop->bit;
    local->is_assigned = false;
}

/* i++ is 1, i += 4 is 4; 0: not known. */
static uint64_t stride_of(struct takt_c_nest *nest, TSNode update)
{
    int64_t by;
    enum takt_size_source source;

    if (takt__node_is(update, "update_expression"))
        return 1;
    return takt__node_is(update, "assignment_expression") &&
                   takt__c_constant(nest->place,
                                    takt__node_field(update, "right"), &by,
                                    &source) &&
                   by > 0
               ? (uint64_t)by
               : 0;
}

static bool read_for(struct takt_c_nest *nest, struct takt_ir_loop *loop,
                     TSNode update)
{
    if (!read_start(
            nest, loop,
            takt__node_field(head_of(nest, loop)->node, "initializer")) ||
        !is_step(nest, update))
        return false;
    const TSNode name = stepped_by(update);
    if (loop->var.size == 0 && !ts_node_is_null(name))
        loop->var = takt__node_text(nest->source, name);
    loop->stride = stride_of(nest, update);
    belong_to_head(nest, loop);
    if (!join_tile(nest, loop) ||
        !read_condition(
            nest, loop,
            takt__node_field(head_of(nest, loop)->node, "condition")))
        return false;
    read_extent(nest, loop);
    return true;
}

/* parallel_for(0, n, [&](int i) { .. }): what it is handed counts; of several
 * parameters, each with a loop. */
static bool read_lambda(struct takt_c_nest *nest, struct takt_ir_loop *loop)
{
    const TSNode node = head_of(nest, loop)->node;
    const TSNode list = takt__c_parameters(node);
    uint32_t at = 0;

    while (loop - at > nest->ir.loop &&
           ts_node_eq(head_of(nest, loop - at - 1)->node, node))
        at++;
    const TSNode one = takt__node_child(list, at);
    const struct takt_c_type type =
        takt__c_named_type(nest->place, takt__node_field(one, "type"), 0);
    const TSNode name = takt__node_field(one, "declarator");

    if (!takt__node_is(name, "identifier") ||
        (type.element != TAKT_IR_INTEGER && !type.is_auto))
        return false;
    loop->var = takt__node_text(nest->source, name);
    return true;
}

static bool read_head(struct takt_c_nest *nest, struct takt_ir_loop *loop)
{
    if (takt__node_is(head_of(nest, loop)->node, "lambda_expression"))
        return read_lambda(nest, loop);
    if (takt__node_is(head_of(nest, loop)->node, "for_range_loop"))
        return read_range(nest, loop);
    const TSNode update = takt__node_field(head_of(nest, loop)->node, "update");
    if (takt__node_is(head_of(nest, loop)->node, "for_statement") &&
        !ts_node_is_null(update))
        return read_for(nest, loop, update);
    if (!read_start(nest, loop,
                    takt__node_field(head_of(nest, loop)->node, "initializer")))
        return false;
    name_while(nest, loop);
    if (takt__node_is(head_of(nest, loop)->node, "for_statement"))
        belong_to_head(nest, loop);
    const TSNode leaving = head_of(nest, loop)->leaving;
    const bool is_left = !ts_node_is_null(leaving);
    if (!read_condition(
            nest, loop,
            takt__node_field(is_left ? leaving : head_of(nest, loop)->node,
                             "condition")))
        return false;
    if (is_left) { /* the opposite is what it goes on with */
        loop->is_inclusive = !loop->is_inclusive;
        loop->is_downward = !loop->is_downward;
    }
    return true;
}

bool takt__c_read_head(struct takt_c_nest *nest, unsigned index)
{
    struct takt_ir_loop *loop = &nest->ir.loop[index];
    const struct takt_c_head *head = &nest->head[index];

    if (!read_head(nest, loop))
        return false;
    if (!ts_node_is_null(head->start))
        loop->from = limit_of(nest, head->start);
    if (!ts_node_is_null(head->bound))
        loop->to = limit_of(nest, head->bound);
    return true;
}
