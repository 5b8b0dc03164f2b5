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

static bool mentions(struct takt_rust *rust, TSNode node, void *target)
{
    return takt__ir_same_text(rust_text(rust, node),
                              *(struct takt_text *)target);
}

/* target / count */
static bool divides(struct takt_rust *rust, TSNode node, void *target)
{
    const bool is_compound = rust_is(node, "compound_assignment_expr");

    return (takt__rust_is_op(rust, node, "/") ||
            (is_compound &&
             takt__text_is(takt__rust_operator(rust, node), "/="))) &&
           mentions(rust, takt__rust_bare(rust, takt__rust_left(node)),
                    target) &&
           takt__rust_is_count(rust, takt__rust_right(node));
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
        if (takt__rust_any(rust, at, mentions, &target, TAKT_RUST_DEPTH))
            return takt__rust_any(rust, at, divides, &target, TAKT_RUST_DEPTH);
    return false;
}
