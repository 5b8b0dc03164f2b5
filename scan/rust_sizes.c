/* SPDX-License-Identifier: MIT */
/*
 * rust_sizes.c - sizes that stand in the file: literals, constants, ranges and
 * the types of arrays.
 */
#include "rust.h"

static const struct takt_rust_extent NONE = {0, TAKT_SIZE_UNKNOWN};

static struct takt_rust_extent combine(struct takt_text sign,
                                       struct takt_rust_extent a,
                                       struct takt_rust_extent b)
{
    const enum takt_size_source source =
        a.source == TAKT_SIZE_CONST || b.source == TAKT_SIZE_CONST
            ? TAKT_SIZE_CONST
            : TAKT_SIZE_LITERAL;
    size_t count;
    bool is_over = false;
    if (takt__text_is(sign, "*"))
        is_over = __builtin_mul_overflow(a.count, b.count, &count);
    else if (takt__text_is(sign, "+"))
        is_over = __builtin_add_overflow(a.count, b.count, &count);
    else if (takt__text_is(sign, "-") && a.count > b.count)
        count = a.count - b.count;
    else if (takt__text_is(sign, "/") && b.count != 0)
        count = a.count / b.count;
    else if (takt__text_is(sign, "<<") && b.count < 40 &&
             a.count < (size_t)1 << 20)
        count = a.count << b.count;
    else
        return NONE;
    return is_over ? NONE : (struct takt_rust_extent){count, source};
}

/* x.len() of something whose size is known. */
static struct takt_rust_extent length_of(struct takt_rust *rust, TSNode call,
                                         unsigned depth)
{
    if (!takt__rust_calls(rust, call, "len"))
        return NONE;
    const struct takt_rust_type type =
        takt__rust_type_of(rust, takt__rust_receiver(call), depth);
    return type.depth > 0 ? type.extent[0] : NONE;
}

static struct takt_rust_extent named_count(struct takt_rust *rust, TSNode name,
                                           unsigned depth)
{
    const struct takt_rust_binding binding = takt__rust_binding(rust, name);
    if (binding.kind != TAKT_RUST_CONSTANT && binding.kind != TAKT_RUST_LET)
        return NONE;
    const TSNode pattern = takt__node_field(binding.node, "pattern");
    if (binding.kind == TAKT_RUST_LET && !rust_is(pattern, "identifier"))
        return NONE;
    /* A variable that changes has no one size. */
    for (uint32_t i = 0; i < ts_node_named_child_count(binding.node); i++)
        if (rust_is(ts_node_named_child(binding.node, i), "mutable_specifier"))
            return NONE;
    struct takt_rust_extent count =
        takt__rust_count(rust, takt__node_field(binding.node, "value"), depth);
    if (count.count != 0 && binding.kind == TAKT_RUST_CONSTANT)
        count.source = TAKT_SIZE_CONST;
    return count;
}

struct takt_rust_extent takt__rust_count(struct takt_rust *rust, TSNode node,
                                         unsigned depth)
{
    node = takt__rust_bare(rust, node);
    if (ts_node_is_null(node) || depth == 0 || !takt__rust_step(rust))
        return NONE;
    depth--;
    uint64_t value;
    if (rust_is(node, "integer_literal"))
        return takt__text_integer(rust_text(rust, node), &value) &&
                       value <= SIZE_MAX
                   ? (struct takt_rust_extent){(size_t)value, TAKT_SIZE_LITERAL}
                   : NONE;
    if (rust_is(node, "identifier"))
        return named_count(rust, node, depth);
    if (rust_is(node, "type_cast_expression"))
        return takt__rust_count(rust, takt__node_field(node, "value"), depth);
    if (rust_is(node, "call_expression"))
        return length_of(rust, node, depth);
    if (!rust_is(node, "binary_expression"))
        return NONE;
    const struct takt_rust_extent left =
        takt__rust_count(rust, takt__rust_left(node), depth);
    const struct takt_rust_extent right =
        takt__rust_count(rust, takt__rust_right(node), depth);
    if (left.count == 0 || right.count == 0)
        return NONE;
    return combine(takt__rust_operator(rust, node), left, right);
}

struct takt_rust_extent takt__rust_range_count(struct takt_rust *rust,
                                               TSNode range, unsigned depth)
{
    if (ts_node_named_child_count(range) != 2)
        return NONE;
    const TSNode low = ts_node_named_child(range, 0);
    const struct takt_text zero = rust_text(rust, low);
    struct takt_rust_extent count =
        takt__rust_count(rust, ts_node_named_child(range, 1), depth);
    const bool is_inclusive = rust_is(ts_node_child(range, 1), "..=");
    uint64_t from;
    if (count.count == 0 || !takt__text_integer(zero, &from) ||
        from > count.count)
        return NONE;
    count.count += is_inclusive;
    count.count -= (size_t)from;
    if (count.source == TAKT_SIZE_LITERAL)
        count.source = TAKT_SIZE_LOOP_BOUND;
    return count;
}

struct takt_rust_extent
takt__rust_level_count(struct takt_rust *rust,
                       const struct takt_rust_level *level)
{
    static const char partial[] =
        "skip take step_by filter chain skip_while take_while";
    for (TSNode at = takt__rust_bare(rust, level->source);
         !ts_node_is_null(takt__rust_method(at));
         at = takt__rust_bare(rust, takt__rust_receiver(at)))
        if (takt__rust_is_any(rust, takt__rust_method(at), partial))
            return NONE;
    const TSNode range = takt__rust_range(rust, level->source);
    if (!ts_node_is_null(range))
        return takt__rust_range_count(rust, range, TAKT_RUST_DEPTH);
    const TSNode none = takt__rust_null();
    const struct takt_rust_item item =
        takt__rust_item(rust, level->source, none, none, TAKT_RUST_DEPTH);
    TSNode sequence = item.node;
    if (item.drawn == TAKT_RUST_PAIR) {
        /* Of a zip, either side tells. */
        TSNode side[2] = {takt__rust_receiver(item.node),
                          takt__rust_argument(item.node, 0)};
        takt__rust_zip(rust, item.node, side);
        struct takt_rust_level part = {.source = side[0]};
        const struct takt_rust_extent count =
            takt__rust_level_count(rust, &part);
        if (count.count != 0)
            return count;
        part.source = side[1];
        return takt__rust_level_count(rust, &part);
    }
    if (item.drawn != TAKT_RUST_ELEMENT)
        return NONE;
    const struct takt_rust_type type =
        takt__rust_type_of(rust, sequence, TAKT_RUST_DEPTH);
    return type.depth > 0 ? type.extent[0] : NONE;
}
