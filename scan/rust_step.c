/* SPDX-License-Identifier: MIT */
/*
 * rust_step.c - a statement that is run for each element: it gathers into
 * something that stays (s += x, m = m.max(x), if x > m { m = x; }), or it makes
 * one element (c[i] = a[i] + b[i], *x *= 2.0, out.push(x)).
 */
#include "rust.h"

static bool is_it(const struct takt_rust *rust, TSNode node,
                  struct takt_text name)
{
    node = takt__rust_bare(rust, node);
    return !ts_node_is_null(node) &&
           takt__rust_same(rust_text(rust, node), name);
}

/* if x > acc { x } else { acc } */
static const char *folds_branch(const struct takt_rust *rust,
                                struct takt_text it, TSNode node, TSNode *value)
{
    const TSNode condition = takt__node_field(node, "condition");
    const TSNode then = takt__rust_tail(takt__node_field(node, "consequence"));
    TSNode other = takt__node_field(node, "alternative");
    if (!rust_is(condition, "binary_expression") || ts_node_is_null(other))
        return NULL;
    other = takt__rust_tail(ts_node_named_child(other, 0));
    const bool keeps_then = is_it(rust, then, it);
    if (keeps_then == is_it(rust, other, it))
        return NULL;
    *value = keeps_then ? other : then;
    const struct takt_text sign = takt__rust_operator(rust, condition);
    const bool is_greater = sign.size > 0 && sign.at[0] == '>';
    const TSNode left = takt__rust_left(condition);
    const bool it_is_left = is_it(rust, left, it);
    if (!it_is_left && !is_it(rust, takt__rust_right(condition), it))
        return NULL;
    /* acc > x keeps acc: the larger one stays. */
    return (is_greater == (it_is_left == keeps_then)) ? "max" : "min";
}

static const char *folds_call(const struct takt_rust *rust, struct takt_text it,
                              TSNode node, TSNode *value)
{
    const bool is_method = !ts_node_is_null(takt__rust_method(node));
    const TSNode name =
        is_method ? takt__rust_method(node) : takt__rust_callee(node);
    if (ts_node_is_null(name))
        return NULL;
    const TSNode a =
        is_method ? takt__rust_receiver(node) : takt__rust_argument(node, 0);
    const TSNode b = takt__rust_argument(node, is_method ? 0 : 1);
    const bool is_max = takt__text_is(rust_text(rust, name), "max");
    if (is_max || takt__text_is(rust_text(rust, name), "min")) {
        if (is_it(rust, a, it) == is_it(rust, b, it))
            return NULL;
        *value = is_it(rust, a, it) ? b : a;
        return is_max ? "max" : "min";
    }
    if (is_method && takt__text_is(rust_text(rust, name), "mul_add") &&
        is_it(rust, takt__rust_argument(node, 1), it)) {
        *value = node;
        return "dot";
    }
    return NULL;
}

const char *takt__rust_folds(struct takt_rust *rust, struct takt_text it,
                             TSNode body, TSNode *value)
{
    const TSNode node = takt__rust_bare(rust, takt__rust_tail(body));
    if (rust_is(node, "call_expression"))
        return folds_call(rust, it, node, value);
    if (rust_is(node, "if_expression"))
        return folds_branch(rust, it, node, value);
    const bool is_sum = takt__rust_is_op(rust, node, "+");
    if (!is_sum && !takt__rust_is_op(rust, node, "*") &&
        !takt__rust_is_op(rust, node, "-"))
        return NULL;
    const TSNode left = takt__rust_left(node), right = takt__rust_right(node);
    const bool is_left = is_it(rust, left, it);
    if (is_left == is_it(rust, right, it))
        return NULL;
    if (takt__rust_is_op(rust, node, "-") && !is_left)
        return NULL;
    *value = is_left ? right : left;
    return takt__rust_is_op(rust, node, "*") ? "product" : "sum";
}

/* if a[i] > best { best = a[i]; place = i; } */
static bool branch_step(struct takt_rust *rust,
                        const struct takt_rust_levels *levels, TSNode node,
                        struct takt_rust_step *out)
{
    const TSNode condition = takt__node_field(node, "condition");
    const TSNode block = takt__node_field(node, "consequence");
    if (!rust_is(condition, "binary_expression") ||
        !ts_node_is_null(takt__node_field(node, "alternative")))
        return false;
    const struct takt_text sign = takt__rust_operator(rust, condition);
    if (sign.size == 0 || (sign.at[0] != '<' && sign.at[0] != '>'))
        return false;
    TSNode left = takt__rust_bare(rust, takt__rust_left(condition));
    TSNode right = takt__rust_bare(rust, takt__rust_right(condition));
    bool is_max = sign.at[0] == '>';
    bool has_value = false, has_place = false;
    const uint32_t count = ts_node_named_child_count(block);
    for (uint32_t i = 0; i < count; i++) {
        const TSNode one = takt__rust_bare(rust, ts_node_named_child(block, i));
        if (ts_node_is_extra(one))
            continue;
        if (!rust_is(one, "assignment_expression"))
            return false;
        const TSNode to = takt__rust_bare(rust, takt__rust_left(one));
        const TSNode from = takt__rust_bare(rust, takt__rust_right(one));
        const struct takt_text name = rust_text(rust, to);
        if (takt__rust_same_text(rust, to, left) &&
            takt__rust_literal_is(rust, from, 0) &&
            takt__rust_literal_is(rust, right, 0) && !is_max) {
            *out = (struct takt_rust_step){
                .op = "relu", .target = left, .value = left};
            return count == 1;
        } else if (takt__rust_same_text(rust, to, right) &&
                   takt__rust_same_text(rust, from, left)) {
            has_value = true;
            out->target = right;
        } else if (takt__rust_same_text(rust, to, left) &&
                   takt__rust_same_text(rust, from, right)) {
            const TSNode other = left;
            left = right;
            right = other;
            is_max = !is_max;
            has_value = true;
            out->target = right;
        } else if (rust_is(right, "index_expression") &&
                   takt__rust_same(
                       rust_text(rust, ts_node_named_child(right, 1)), name)) {
            has_value = has_place = true; /* v[i] > v[best] */
            out->target = to;
        } else if (rust_is(to, "identifier")) {
            has_place = true;
        } else {
            return false;
        }
    }
    if (!has_value ||
        takt__rust_depends(rust, levels, left, TAKT_RUST_DEPTH) == 0)
        return false;
    out->value = left;
    out->is_reduction = true;
    out->op =
        has_place ? (is_max ? "argmax" : "argmin") : (is_max ? "max" : "min");
    return true;
}

/* The value of a name that a `let` of the same loop gives. */
static TSNode looked_up(struct takt_rust *rust, TSNode node)
{
    node = takt__rust_bare(rust, node);
    if (!rust_is(node, "identifier"))
        return node;
    const struct takt_rust_binding binding = takt__rust_binding(rust, node);
    return binding.kind == TAKT_RUST_LET
               ? takt__node_field(binding.node, "value")
               : node;
}

static bool assignment_step(struct takt_rust *rust, TSNode node,
                            struct takt_rust_step *out)
{
    const TSNode right = takt__rust_right(node);
    out->target = takt__rust_bare(rust, takt__rust_left(node));
    const struct takt_text it = rust_text(rust, out->target);
    out->value = right;
    out->op = takt__rust_folds(rust, it, right, &out->value);
    if (out->op == NULL)
        out->op =
            takt__rust_folds(rust, it, looked_up(rust, right), &out->value);
    out->is_reduction = out->op != NULL;
    return true;
}

bool takt__rust_step_of(struct takt_rust *rust,
                        const struct takt_rust_levels *levels, TSNode statement,
                        struct takt_rust_step *out)
{
    *out = (struct takt_rust_step){.op = NULL};
    const TSNode node = rust_is(statement, "expression_statement")
                            ? ts_node_named_child(statement, 0)
                            : statement;
    if (rust_is(node, "if_expression"))
        return branch_step(rust, levels, node, out);
    if (rust_is(node, "assignment_expression"))
        return assignment_step(rust, node, out);
    if (rust_is(node, "compound_assignment_expr")) {
        out->target = takt__rust_bare(rust, takt__rust_left(node));
        out->value = takt__rust_right(node);
        out->sign = takt__rust_operator(rust, node);
        out->sign.size -= out->sign.size > 0;
        out->is_reduction = true;
        if (takt__text_is(out->sign, "+") || takt__text_is(out->sign, "-"))
            out->op = "sum";
        else if (takt__text_is(out->sign, "*"))
            out->op = "product";
        return true;
    }
    if (takt__rust_calls(rust, node, "push") &&
        takt__rust_argument_count(node) == 1) {
        out->value = takt__rust_argument(node, 0);
        out->target = takt__rust_null();
        return true;
    }
    return false;
}
