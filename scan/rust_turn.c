/* SPDX-License-Identifier: MIT */
/*
 * rust_turn.c - what one turn of a loop leaves for another: elements that the
 * next one reads, a sum that is used before it is complete, and what becomes
 * of it after the last.
 */
#include "rust.h"

/* The array that is indexed: c of c[i][j]. */
static TSNode base_of(TSNode node)
{
    while (rust_is(node, "index_expression"))
        node = ts_node_named_child(node, 0);
    return node;
}

/* Reads other elements of the array that it writes: v[i] = v[i - 1], also
 * by a name that was given to one. */
bool takt__rust_feeds_back(struct takt_rust *rust, TSNode target, TSNode node,
                           unsigned depth)
{
    if (depth == 0 || !rust_is(target, "index_expression"))
        return false;
    if (rust_is(node, "index_expression"))
        return takt__rust_same_text(rust, base_of(target), base_of(node)) &&
               !takt__rust_same_text(rust, target, node);
    if (rust_is(node, "identifier")) {
        const struct takt_rust_binding binding = takt__rust_binding(rust, node);
        const TSNode value = takt__node_field(binding.node, "value");
        return binding.kind == TAKT_RUST_LET && !ts_node_is_null(value) &&
               !rust_is(value, "reference_expression") &&
               takt__rust_feeds_back(rust, target, value, depth - 1);
    }
    const uint32_t count = ts_node_named_child_count(node);
    for (uint32_t i = 0; i < count; i++)
        if (takt__rust_feeds_back(rust, target, ts_node_named_child(node, i),
                                  depth - 1))
            return true;
    return false;
}

/* Whether a value uses a variable that the same body assigns: each turn then
 * needs the one before. */
bool takt__rust_is_carried(struct takt_rust *rust,
                           const struct takt_rust_levels *levels, TSNode body,
                           TSNode target, TSNode node, unsigned depth)
{
    if (depth == 0 || ts_node_is_null(node))
        return false;
    if (!rust_is(node, "identifier")) {
        const uint32_t count = ts_node_named_child_count(node);
        for (uint32_t i = 0; i < count; i++)
            if (takt__rust_is_carried(rust, levels, body, target,
                                      ts_node_named_child(node, i), depth - 1))
                return true;
        return false;
    }
    if (takt__rust_same_text(rust, node, target) ||
        takt__rust_depends(rust, levels, node, TAKT_RUST_DEPTH) != 0)
        return false;
    const uint32_t count = ts_node_named_child_count(body);
    for (uint32_t i = 0; i < count; i++) {
        const TSNode one = takt__rust_bare(rust, ts_node_named_child(body, i));
        if ((rust_is(one, "assignment_expression") ||
             rust_is(one, "compound_assignment_expr")) &&
            takt__rust_same_text(rust, takt__rust_left(one), node))
            return true;
    }
    return false;
}

bool takt__rust_mentions(struct takt_rust *rust, TSNode node, TSNode target,
                         unsigned depth)
{
    if (depth == 0 || ts_node_is_null(node) || !takt__rust_step(rust))
        return false;
    if (takt__rust_same_text(rust, node, target))
        return true;
    const uint32_t count = ts_node_named_child_count(node);
    for (uint32_t i = 0; i < count; i++)
        if (takt__rust_mentions(rust, ts_node_named_child(node, i), target,
                                depth - 1))
            return true;
    return false;
}

bool takt__rust_is_handed_on(struct takt_rust *rust, TSNode body, TSNode step,
                             TSNode target)
{
    const uint32_t count = ts_node_named_child_count(body);
    for (uint32_t i = 0; i < count; i++) {
        TSNode one = ts_node_named_child(body, i);
        if (ts_node_eq(one, step))
            continue;
        if (rust_is(one, "expression_statement"))
            one = ts_node_named_child(one, 0);
        TSNode from = one;
        if (rust_is(one, "assignment_expression") ||
            rust_is(one, "compound_assignment_expr")) {
            /* What another variable is made of may be a correction. */
            if (rust_is(takt__rust_left(one), "identifier"))
                continue;
            from = takt__rust_right(one);
        } else if (!rust_is(one, "call_expression")) {
            continue;
        }
        if (takt__rust_mentions(rust, from, target, TAKT_RUST_DEPTH))
            return true;
    }
    return false;
}

/* Somewhere within: target / count. */
static bool divides(struct takt_rust *rust, TSNode node, TSNode target,
                    unsigned depth)
{
    if (depth == 0 || ts_node_is_null(node) || !takt__rust_step(rust))
        return false;
    const bool is_compound = rust_is(node, "compound_assignment_expr");
    if (takt__rust_is_op(rust, node, "/") ||
        (is_compound && takt__text_is(takt__rust_operator(rust, node), "/=")))
        if (takt__rust_same_text(
                rust, takt__rust_bare(rust, takt__rust_left(node)), target))
            return takt__rust_is_count(rust, takt__rust_right(node));
    const uint32_t count = ts_node_named_child_count(node);
    for (uint32_t i = 0; i < count; i++)
        if (divides(rust, ts_node_named_child(node, i), target, depth - 1))
            return true;
    return false;
}

bool takt__rust_is_averaged(struct takt_rust *rust, TSNode loop, TSNode target)
{
    TSNode path[TAKT_RUST_PATH];
    const unsigned count = takt__rust_path(rust, loop, path);
    if (count > 0 && rust_is(path[count - 1], "expression_statement"))
        loop = path[count - 1];
    for (TSNode at = ts_node_next_named_sibling(loop); !ts_node_is_null(at);
         at = ts_node_next_named_sibling(at))
        if (takt__rust_mentions(rust, at, target, TAKT_RUST_DEPTH))
            return divides(rust, at, target, TAKT_RUST_DEPTH);
    return false;
}
