/* SPDX-License-Identifier: MIT */
/*
 * rust_mean.c - what becomes of a sum after its loop: divided by a count, it is
 * a mean.
 */
#include "rust.h"

/* The divisor of a mean: a count made a float. */
bool takt__rust_is_count(struct takt_rust *rust, TSNode node)
{
    node = takt__rust_bare(rust, node);
    if (rust_is(node, "type_cast_expression"))
        return takt__rust_type_of(rust, takt__node_field(node, "value"),
                                  TAKT_RUST_DEPTH)
                   .leaf == TAKT_RUST_INTEGER;
    if (rust_is(node, "binary_expression"))
        return takt__rust_is_count(rust, takt__rust_left(node));
    if (!rust_is(node, "identifier"))
        return false;
    const struct takt_rust_binding binding = takt__rust_binding(rust, node);
    return binding.kind == TAKT_RUST_LET &&
           rust_is(takt__node_field(binding.node, "value"),
                   "type_cast_expression") &&
           takt__rust_is_count(rust, takt__node_field(binding.node, "value"));
}

static bool mentions(struct takt_rust *rust, TSNode node,
                     struct takt_text target, unsigned depth)
{
    if (depth == 0 || ts_node_is_null(node) || !takt__rust_step(rust))
        return false;
    if (takt__rust_same(rust_text(rust, node), target))
        return true;
    const uint32_t count = ts_node_named_child_count(node);
    for (uint32_t i = 0; i < count; i++)
        if (mentions(rust, ts_node_named_child(node, i), target, depth - 1))
            return true;
    return false;
}

/* Somewhere within: target / count. */
static bool divides(struct takt_rust *rust, TSNode node,
                    struct takt_text target, unsigned depth)
{
    if (depth == 0 || ts_node_is_null(node) || !takt__rust_step(rust))
        return false;
    const bool is_compound = rust_is(node, "compound_assignment_expr");
    if (takt__rust_is_op(rust, node, "/") ||
        (is_compound && takt__text_is(takt__rust_operator(rust, node), "/=")))
        if (takt__rust_same(
                rust_text(rust, takt__rust_bare(rust, takt__rust_left(node))),
                target))
            return takt__rust_is_count(rust, takt__rust_right(node));
    const uint32_t count = ts_node_named_child_count(node);
    for (uint32_t i = 0; i < count; i++)
        if (divides(rust, ts_node_named_child(node, i), target, depth - 1))
            return true;
    return false;
}

bool takt__rust_is_averaged(struct takt_rust *rust, TSNode loop,
                            struct takt_text target)
{
    TSNode path[TAKT_RUST_PATH];
    const unsigned count = takt__rust_path(rust, loop, path);
    if (count > 0 && rust_is(path[count - 1], "expression_statement"))
        loop = path[count - 1];
    for (TSNode at = ts_node_next_named_sibling(loop); !ts_node_is_null(at);
         at = ts_node_next_named_sibling(at))
        if (mentions(rust, at, target, TAKT_RUST_DEPTH))
            return divides(rust, at, target, TAKT_RUST_DEPTH);
    return false;
}
