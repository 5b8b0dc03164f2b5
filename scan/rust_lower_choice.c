/* SPDX-License-Identifier: MIT */
/*
 * rust_lower_choice.c - what is done only if: the largest and where it was,
 * limits, and what is passed over.
 */
#include "rust_lower.h"

/* v[i] > v[best], where best is assigned: not to be read as it stands. */
static struct takt_ir_expr *against_best(struct takt_rust_nest *nest,
                                         TSNode test, unsigned depth)
{
    const struct takt_text sign = takt__rust_operator(nest->rust, test);
    TSNode side[2] = {takt__rust_bare(nest->rust, takt__rust_left(test)),
                      takt__rust_bare(nest->rust, takt__rust_right(test))};

    if (!rust_is(test, "binary_expression") ||
        (*sign.at != '<' && *sign.at != '>'))
        return NULL;
    for (unsigned i = 0; i < 2; i++) {
        struct takt_ir_expr *e =
            takt__rust_expr(nest, side[i], false, depth + 1);
        if (e == NULL || !rust_is(side[1 - i], "index_expression"))
            continue;
        return takt__ir_pair(
            &nest->ir,
            (*sign.at == '>') == (i == 0) ? TAKT_IR_GREATER : TAKT_IR_LESS, e,
            takt__rust_expr(nest, takt__node_child(side[1 - i], 0), false,
                            depth + 1));
    }
    return NULL;
}

struct takt_ir_expr *takt__rust_condition(struct takt_rust_nest *nest,
                                          TSNode test, unsigned depth)
{
    test = takt__rust_bare(nest->rust, test);
    if (rust_is(test, "binary_expression")) {
        static const char both[] = "&& ||";
        if (takt__text_in(takt__rust_operator(nest->rust, test), both)) {
            const struct takt_ir_expr *a =
                takt__rust_condition(nest, takt__rust_left(test), depth + 1);
            const struct takt_ir_expr *b =
                takt__rust_condition(nest, takt__rust_right(test), depth + 1);
            return takt__ir_is_guard(a) && takt__ir_is_guard(b)
                       ? takt__ir_opaque(&nest->ir, a->loops | b->loops)
                       : NULL;
        }
    }
    struct takt_ir_expr *e = takt__rust_expr(nest, test, true, depth + 1);
    return e == NULL ? against_best(nest, test, depth) : e;
}

static bool lower_chosen(struct takt_rust_nest *nest, TSNode node,
                         unsigned depth)
{
    const bool was_choosing = nest->ir.is_choosing;

    nest->ir.is_choosing = true;
    const bool is_read = takt__rust_statement(nest, node, depth + 1);
    nest->ir.is_choosing = was_choosing;
    return is_read;
}

static bool is_continue(TSNode block)
{
    return rust_is(takt__rust_tail(block), "continue_expression");
}

bool takt__rust_if(struct takt_rust_nest *nest, TSNode node, unsigned depth)
{
    const TSNode then = takt__node_field(node, "consequence");
    const TSNode other = takt__node_field(node, "alternative");
    const unsigned first = nest->ir.stmt_count;
    struct takt_ir_expr *condition =
        takt__rust_condition(nest, takt__node_field(node, "condition"), depth);

    if (takt__ir_is_guard(condition)) {
        takt__ir_guard(&nest->ir, condition);
        if (!ts_node_is_null(other) &&
            (is_continue(then) ||
             !lower_chosen(nest, takt__node_child(other, 0), depth)))
            return false;
        return is_continue(then) || lower_chosen(nest, then, depth);
    }
    if (!takt__ir_is_comparison(condition) ||
        !lower_chosen(nest, then, depth) || nest->ir.stmt_count == first)
        return false;
    if (ts_node_is_null(other))
        return takt__ir_fold_choice(&nest->ir, condition, first,
                                    nest->ir.stmt_count - first);
    return nest->ir.stmt_count == first + 1 &&
           lower_chosen(nest, takt__node_child(other, 0), depth) &&
           takt__ir_fold_either(&nest->ir, condition, first);
}

TSNode takt__rust_passed_over(struct takt_rust_nest *nest, TSNode node,
                              unsigned depth)
{
    const TSNode test = takt__node_field(node, "condition");

    return rust_is(node, "if_expression") &&
                   is_continue(takt__node_field(node, "consequence")) &&
                   ts_node_is_null(takt__node_field(node, "alternative")) &&
                   !takt__ir_is_guard(takt__rust_condition(nest, test, depth))
               ? test
               : takt__rust_null();
}
