/* SPDX-License-Identifier: MIT */
/*
 * rust_lower_loop.c - for and while, and what is counted beside them.
 */
#include "rust_lower.h"

/* Whether what follows in a loop's body may be passed over. */
static bool has_jump(const struct takt_rust_nest *nest, TSNode node,
                     unsigned depth)
{
    const uint32_t count = takt__node_children(node);

    if (depth == 0 || !takt__rust_step(nest->rust) ||
        takt__node_in(node, "continue_expression break_expression"))
        return true;
    for (uint32_t i = 0; i < count; i++)
        if (has_jump(nest, takt__node_child(node, i), depth - 1))
            return true;
    return false;
}

/* k += 1 at the end of a loop's body: k, which counts its rounds. */
static TSNode counted_in(const struct takt_rust_nest *nest, TSNode body)
{
    uint32_t count = takt__node_children(body);

    while (count > 0 && ts_node_is_extra(takt__node_child(body, count - 1)))
        count--;
    const TSNode last = takt__rust_bare(
        nest->rust, count > 0 ? takt__node_child(body, count - 1) : body);
    return rust_is(last, "compound_assignment_expr") &&
                   takt__text_is(takt__rust_operator(nest->rust, last), "+=") &&
                   rust_is(takt__rust_right(last), "integer_literal") &&
                   takt__rust_literal_is(nest->rust, takt__rust_right(last),
                                         1) &&
                   rust_is(takt__rust_left(last), "identifier") &&
                   !has_jump(nest, body, TAKT_RUST_DEEPEST)
               ? takt__rust_left(last)
               : takt__rust_null();
}

bool takt__rust_is_counter(const struct takt_rust_nest *nest, TSNode block,
                           struct takt_text name)
{
    const uint32_t count = takt__node_children(block);

    for (uint32_t i = 0; i < count; i++) {
        const TSNode one =
            takt__rust_bare(nest->rust, takt__node_child(block, i));
        const TSNode test = takt__node_field(one, "condition");
        TSNode counter = takt__rust_null();
        if (rust_is(one, "for_expression"))
            counter = counted_in(nest, takt__node_field(one, "body"));
        else if (rust_is(one, "while_expression") &&
                 rust_is(test, "binary_expression"))
            counter = takt__rust_left(test);
        if (!ts_node_is_null(counter) &&
            takt__ir_same_text(rust_text(nest->rust, counter), name))
            return true;
    }
    return false;
}

/* i += 1, of what a loop counts with. */
static bool is_step(const struct takt_rust_nest *nest, TSNode node,
                    struct takt_text counter)
{
    node = takt__rust_bare(nest->rust, node);
    return rust_is(node, "compound_assignment_expr") &&
           takt__text_is(takt__rust_operator(nest->rust, node), "+=") &&
           takt__rust_literal_is(nest->rust, takt__rust_right(node), 1) &&
           takt__ir_same_text(rust_text(nest->rust, takt__rust_left(node)),
                              counter);
}

/* A name that is a count within a loop; that it is stepped is no statement. */
static bool bind_count(struct takt_rust_nest *nest, struct takt_text name,
                       struct takt_ir_expr *count)
{
    if (!takt__rust_bind_name(nest, name, takt__rust_one(nest, count)))
        return false;
    nest->local[nest->locals - 1].is_counted = true;
    return true;
}

/* What the loop counts with beside what it goes over: since its declaration,
 * also the rounds of loops around. */
static bool bind_counted(struct takt_rust_nest *nest, TSNode body)
{
    const TSNode counter = counted_in(nest, body);
    const uint32_t around = nest->ir.around;

    if (ts_node_is_null(counter))
        return true;
    const struct takt_text name = rust_text(nest->rust, counter);
    const struct takt_rust_local *local = takt__rust_local(nest, name);
    if (local != NULL)
        nest->ir.around &= ~local->declared;
    struct takt_ir_expr *count = takt__ir_rounds(&nest->ir);
    nest->ir.around = around;
    return bind_count(nest, name, count);
}

bool takt__rust_for(struct takt_rust_nest *nest, TSNode node, unsigned depth)
{
    const uint32_t around = nest->ir.around;
    const unsigned locals = nest->locals;
    const TSNode body = takt__node_field(node, "body");
    struct takt_rust_part *part =
        takt__rust_open(nest, takt__node_field(node, "value"), depth);
    const bool is_read =
        takt__rust_bind(nest, takt__node_field(node, "pattern"), part) &&
        bind_counted(nest, body) && takt__rust_statement(nest, body, depth + 1);

    nest->ir.around = around;
    nest->locals = locals;
    return is_read;
}

/* while i < n { .. i += 1; } */
bool takt__rust_while(struct takt_rust_nest *nest, TSNode node, unsigned depth)
{
    static const char signs[] = "< <= !=";
    const TSNode test = takt__node_field(node, "condition");
    const TSNode body = takt__node_field(node, "body");
    const TSNode left = takt__rust_left(test);
    struct takt_ir_nest *ir = &nest->ir;
    const uint32_t around = nest->ir.around;
    const unsigned locals = nest->locals;
    bool is_stepped = false;

    if (!rust_is(test, "binary_expression") ||
        !takt__text_in(takt__rust_operator(nest->rust, test), signs) ||
        !rust_is(left, "identifier"))
        return false;
    struct takt_ir_loop *loop = takt__ir_open(ir);
    if (loop == NULL)
        return false;
    const struct takt_text counter = rust_text(nest->rust, left);
    const struct takt_rust_extent extent =
        takt__rust_count(nest->rust, takt__rust_right(test), TAKT_RUST_DEPTH);
    loop->extent = extent.count;
    loop->source = extent.source;
    loop->to = takt__rust_expr(nest, takt__rust_right(test), true, depth + 1);
    if (loop->to == NULL || loop->to->loops != 0)
        return false;
    if (!bind_count(nest, counter, takt__ir_count(ir, counter, loop->bit)))
        return false;
    for (uint32_t i = 0; i < takt__node_children(body); i++)
        is_stepped |= is_step(nest, takt__node_child(body, i), counter);
    const bool is_read = takt__rust_statement(nest, body, depth + 1);
    nest->ir.around = around;
    nest->locals = locals;
    return is_read && is_stepped;
}

bool takt__rust_is_stepping(const struct takt_rust_nest *nest, TSNode node)
{
    const TSNode left = takt__rust_left(node);
    const struct takt_rust_local *local =
        rust_is(left, "identifier")
            ? takt__rust_local(nest, rust_text(nest->rust, left))
            : NULL;

    return local != NULL && local->is_counted &&
           is_step(nest, node, local->name);
}
