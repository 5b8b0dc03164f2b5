/* SPDX-License-Identifier: MIT */
/*
 * rust_bound.c - the types of local names, by what binds them: let, patterns,
 * loops, closures and parameters.
 */
#include "rust.h"

#include <string.h>

static const struct takt_rust_type UNKNOWN = {.leaf = TAKT_RUST_UNKNOWN};

/* for (x, y) in points: what their tuple says of a name. */
static struct takt_rust_type taken_apart(struct takt_rust *rust,
                                         struct takt_rust_type type,
                                         TSNode pattern, TSNode name,
                                         unsigned depth)
{
    const unsigned count = takt__node_children(pattern);

    if (!rust_is(pattern, "tuple_pattern") || type.depth > 0 ||
        takt__node_children(type.tuple) != count)
        return type;
    return takt__rust_type_named(
        rust,
        takt__node_child(type.tuple, takt__rust_side(pattern, name, count)),
        depth);
}

static struct takt_rust_type drawn_type(struct takt_rust *rust,
                                        struct takt_rust_item item, TSNode name,
                                        unsigned depth)
{
    if (item.drawn == TAKT_RUST_COUNTER)
        return takt__rust_scalar(TAKT_RUST_INTEGER);
    if (item.drawn == TAKT_RUST_ELEMENT)
        return taken_apart(
            rust,
            takt__rust_element(takt__rust_type_of(rust, item.node, depth)),
            item.pattern, name, depth);
    if (item.drawn == TAKT_RUST_NOWHERE)
        return UNKNOWN;
    struct takt_rust_type type = takt__rust_type_of(rust, item.node, depth);
    if (item.drawn == TAKT_RUST_STRETCH || item.drawn == TAKT_RUST_WINDOW)
        memset(type.extent, 0, sizeof type.extent);
    if (item.drawn == TAKT_RUST_STRETCH &&
        type.shell != TAKT_RUST_PLAIN) /* a row of an array of a library */
        type.depth = type.depth == 2 ? 1 : 0;
    return type;
}

/* What a loop or a closure is handed, one at a time. */
struct takt_rust_type takt__rust_item_type(struct takt_rust *rust,
                                           TSNode source, unsigned depth)
{
    const TSNode none = takt__rust_null();
    const struct takt_rust_item item =
        takt__rust_item(rust, source, none, none, depth);
    if (item.drawn == TAKT_RUST_PAIR)
        return takt__rust_scalar(TAKT_RUST_OTHER);
    return drawn_type(rust, item, none, depth);
}

/* The place-th of what a call hands out: the halves of a slice, or what the
 * tuple that a function of the crate returns is declared to hold. */
static struct takt_rust_type handed_out(struct takt_rust *rust, TSNode call,
                                        uint32_t place, unsigned depth)
{
    static const char halves[] = "split_at split_at_mut";
    if (rust_is(call, "match_expression")) /* match f() { Ok(x) => x, .. } */
        call = takt__rust_bare(rust, takt__node_field(call, "value"));
    const TSNode method = takt__rust_method(call);
    const TSNode callee =
        ts_node_is_null(method) ? takt__rust_callee(call) : method;

    if (takt__rust_is_any(rust, method, halves))
        return takt__rust_type_of(rust, takt__rust_receiver(call), depth);
    if (!rust_is(call, "call_expression") || ts_node_is_null(callee))
        return UNKNOWN;
    const struct takt_rust_name *function =
        takt__rust_find(rust, TAKT_RUST_FUNCTION, (struct takt_text){NULL, 0},
                        rust_text(rust, callee));
    TSNode type = function == NULL
                      ? takt__rust_null()
                      : takt__node_field(function->node, "return_type");
    if (rust_is(type, "reference_type"))
        type = takt__node_field(type, "type");
    if (rust_is(type, "generic_type")) /* Result<(A, B), E> */
        type = takt__node_child(takt__node_field(type, "type_arguments"), 0);
    return rust_is(type, "tuple_type")
               ? takt__rust_type_named(rust, takt__node_child(type, place),
                                       depth)
               : UNKNOWN;
}

/* let (a, b) = (x, y); */
static struct takt_rust_type tuple_type(struct takt_rust *rust, TSNode pattern,
                                        TSNode name, TSNode value,
                                        unsigned depth)
{
    const uint32_t count = ts_node_named_child_count(pattern);
    value = takt__rust_bare(rust, value);
    for (uint32_t i = 0; i < count; i++) {
        if (!ts_node_eq(
                takt__rust_bare_pattern(ts_node_named_child(pattern, i)), name))
            continue;
        return rust_is(value, "tuple_expression")
                   ? takt__rust_type_of(rust, takt__node_child(value, i), depth)
                   : handed_out(rust, value, i, depth);
    }
    return UNKNOWN;
}

/* let Data { x, y: z, .. } = d: what the struct says of its field. */
static struct takt_rust_type fielded_type(struct takt_rust *rust,
                                          TSNode pattern, TSNode name,
                                          unsigned depth)
{
    const struct takt_text owner =
        rust_text(rust, takt__node_field(pattern, "type"));
    const uint32_t count = takt__node_children(pattern);

    for (uint32_t i = 0; i < count; i++) {
        const TSNode one = takt__node_child(pattern, i);
        const TSNode of = takt__node_field(one, "name");
        const TSNode to = takt__node_field(one, "pattern");
        if (!rust_is(one, "field_pattern") ||
            !ts_node_eq(ts_node_is_null(to) ? of : takt__rust_bare_pattern(to),
                        name))
            continue;
        const struct takt_rust_name *field =
            takt__rust_find(rust, TAKT_RUST_FIELD, owner, rust_text(rust, of));
        return field == NULL
                   ? UNKNOWN
                   : takt__rust_type_named(
                         rust, takt__node_field(field->node, "type"), depth);
    }
    return UNKNOWN;
}

/* if let Some(x) = y, match y { Ok(x) => .. }: the value in y. */
static struct takt_rust_type matched_type(struct takt_rust *rust,
                                          struct takt_rust_binding binding,
                                          unsigned depth)
{
    static const char wrappers[] = "Some Ok";
    const bool is_arm = rust_is(binding.node, "match_arm");
    const TSNode from =
        is_arm ? takt__rust_above(rust, binding.node, "match_expression")
               : takt__node_field(binding.node, "condition");
    TSNode pattern = binding.pattern;

    if (rust_is(pattern, "match_pattern"))
        pattern = takt__node_child(pattern, 0);
    if (ts_node_is_null(from) || !rust_is(pattern, "tuple_struct_pattern") ||
        !takt__rust_is_any(rust, takt__node_field(pattern, "type"), wrappers) ||
        !ts_node_eq(takt__rust_bare_pattern(takt__node_child(pattern, 1)),
                    binding.name))
        return UNKNOWN;
    return takt__rust_type_of(rust, takt__node_field(from, "value"), depth);
}

/* let mut v = Vec::new(): what is pushed to it later is not looked for. */
static struct takt_rust_type let_type(struct takt_rust *rust,
                                      struct takt_rust_binding binding,
                                      unsigned depth)
{
    const TSNode type = takt__node_field(binding.node, "type");
    const TSNode value = takt__node_field(binding.node, "value");
    const TSNode pattern = takt__rust_bare_pattern(binding.pattern);
    if (rust_is(pattern, "tuple_pattern"))
        return tuple_type(rust, pattern, binding.name, value, depth);
    if (rust_is(pattern, "struct_pattern"))
        return fielded_type(rust, pattern, binding.name, depth);
    if (!rust_is(pattern, "identifier"))
        return UNKNOWN;
    struct takt_rust_type known = takt__rust_type_named(rust, type, depth);
    if (known.leaf != TAKT_RUST_UNKNOWN && known.extent[0].count != 0)
        return known;
    const struct takt_rust_type found = takt__rust_type_of(rust, value, depth);
    if (ts_node_is_null(type) || known.leaf == TAKT_RUST_UNKNOWN)
        return found;
    if (found.shell == known.shell && found.depth == known.depth)
        memcpy(known.extent, found.extent, sizeof known.extent);
    return known;
}

struct takt_rust_type takt__rust_bound_type(struct takt_rust *rust,
                                            struct takt_rust_binding binding,
                                            unsigned depth)
{
    switch (binding.kind) {
    case TAKT_RUST_LET:
        return let_type(rust, binding, depth);
    case TAKT_RUST_PARAMETER:
        if (rust_is(binding.pattern, "struct_pattern"))
            return fielded_type(rust, binding.pattern, binding.name, depth);
        return takt__rust_type_named(
            rust, takt__node_field(binding.node, "type"), depth);
    case TAKT_RUST_CONSTANT:
        return takt__rust_type_named(
            rust, takt__node_field(binding.node, "type"), depth);
    case TAKT_RUST_FOR:
        return drawn_type(rust, takt__rust_bound_item(rust, binding, depth),
                          binding.name, depth);
    case TAKT_RUST_CLOSURE: {
        const TSNode list = takt__node_field(binding.node, "parameters");
        const TSNode one = ts_node_named_child(list, binding.place);
        if (rust_is(one, "parameter"))
            return takt__rust_type_named(rust, takt__node_field(one, "type"),
                                         depth);
        return drawn_type(rust, takt__rust_bound_item(rust, binding, depth),
                          binding.name, depth);
    }
    case TAKT_RUST_MATCHED:
        return matched_type(rust, binding, depth);
    default:
        return UNKNOWN;
    }
}

struct takt_rust_type takt__rust_match_type(struct takt_rust *rust, TSNode node,
                                            unsigned depth)
{
    const TSNode body = takt__node_field(node, "body");
    const uint32_t count = takt__node_children(body);
    for (uint32_t i = 0; i < count && i < 8; i++) {
        const struct takt_rust_type type = takt__rust_type_of(
            rust, takt__node_field(takt__node_child(body, i), "value"), depth);
        if (type.leaf != TAKT_RUST_UNKNOWN || type.shell == TAKT_RUST_OWN)
            return type;
    }
    return UNKNOWN;
}
