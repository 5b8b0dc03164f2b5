/* SPDX-License-Identifier: MIT */
/*
 * rust_lower_iter.c - what loops and chains go over: ranges, arrays, rows,
 * windows, several side by side, and what is mapped.
 */
#include "rust_lower.h"

/* ---- what is gone over --------------------------------------------------- */

/* How one source is walked through: its index, and whether it is the first. */
struct takt_rust_walk {
    struct takt_rust_nest *nest;
    struct takt_ir_expr *at;
    bool is_whole; /* nothing else is walked beside it */
    unsigned depth;
};

static struct takt_rust_part *items(struct takt_rust_walk walk, TSNode source);

static struct takt_ir_expr *element(struct takt_rust_nest *nest,
                                    struct takt_ir_expr *base,
                                    struct takt_ir_expr *at)
{
    return base == NULL ? NULL : takt__ir_element(&nest->ir, base, at);
}

/* Something that is called for and does not change: an array by its text. */
static struct takt_ir_expr *unseen(struct takt_rust_walk walk, TSNode call)
{
    static const char lines[] = "row column row_mut column_mut";
    struct takt_rust *rust = walk.nest->rust;
    const TSNode method = takt__rust_method(call);
    const unsigned count = takt__rust_argument_count(call);

    if (ts_node_is_null(method))
        return NULL;
    if (walk.depth++ > TAKT_RUST_DEEPEST)
        return NULL;
    struct takt_ir_expr *of = takt__rust_expr(
        walk.nest, takt__rust_receiver(call), false, walk.depth + 1);
    if (of == NULL)
        of = unseen(walk, takt__rust_bare(rust, takt__rust_receiver(call)));
    if (of != NULL && count == 1 && takt__rust_is_any(rust, method, lines))
        return element(walk.nest, of,
                       takt__rust_expr(walk.nest, takt__rust_argument(call, 0),
                                       true, walk.depth + 1));
    if (of == NULL || of->loops != 0 || of->is_varying)
        return NULL;
    for (unsigned i = 0; i < count; i++) {
        const struct takt_ir_expr *e = takt__rust_expr(
            walk.nest, takt__rust_argument(call, i), true, walk.depth + 1);
        if (e == NULL || e->loops != 0)
            return NULL;
    }
    return takt__ir_name(
        &walk.nest->ir, rust_text(rust, call),
        takt__rust_ir_type(takt__rust_type_of(rust, call, TAKT_RUST_DEPTH)));
}

/* Whether no name that the nest binds is in it. */
static bool is_independent(const struct takt_rust_nest *nest, TSNode node,
                           unsigned depth)
{
    const uint32_t count = takt__node_children(node);

    if (depth == 0 || !takt__rust_step(nest->rust))
        return false;
    if (rust_is(node, "identifier"))
        return takt__rust_local(nest, rust_text(nest->rust, node)) == NULL;
    for (uint32_t i = 0; i < count; i++)
        if (!is_independent(nest, takt__node_child(node, i), depth - 1))
            return false;
    return true;
}

/* The array that is gone over, also one that has no name: (&a - &b). */
static struct takt_ir_expr *place(struct takt_rust_walk walk, TSNode source)
{
    struct takt_rust *rust = walk.nest->rust;
    struct takt_ir_expr *e =
        takt__rust_expr(walk.nest, source, false, walk.depth + 1);

    if (e != NULL && (e->sort == TAKT_IR_NAME || e->sort == TAKT_IR_ACCESS ||
                      e->sort == TAKT_IR_ADDRESS))
        return e;
    e = unseen(walk, source);
    const struct takt_rust_type type =
        takt__rust_type_of(rust, source, TAKT_RUST_DEPTH);
    if (e != NULL || (type.depth == 0 && type.shell != TAKT_RUST_NDARRAY) ||
        !is_independent(walk.nest, source, TAKT_RUST_DEPTH))
        return e;
    return takt__ir_name(&walk.nest->ir, rust_text(rust, source),
                         takt__rust_ir_type(type));
}

struct takt_rust_part *takt__rust_mapped(struct takt_rust_nest *nest,
                                         TSNode function,
                                         struct takt_rust_part *part,
                                         unsigned depth)
{
    if (part == NULL || ts_node_is_null(function))
        return NULL;
    const TSNode name = rust_is(function, "scoped_identifier")
                            ? takt__node_field(function, "name")
                            : function;
    struct takt_ir_expr *value = part->value;
    value =
        value != NULL && rust_is(name, "identifier")
            ? takt__rust_function(nest, rust_text(nest->rust, name), &value, 1)
            : NULL;
    if (value != NULL)
        return takt__rust_one(nest, value);
    return takt__rust_applied(nest, takt__rust_function_of(nest, function),
                              &part, 1, depth);
}

static struct takt_rust_part *chunk(struct takt_rust_walk walk, TSNode call)
{
    struct takt_ir_nest *ir = &walk.nest->ir;
    struct takt_ir_expr *size = takt__rust_expr(
        walk.nest, takt__rust_argument(call, 0), true, walk.depth + 1);
    struct takt_ir_expr *base = place(walk, takt__rust_receiver(call));

    if (base == NULL || !takt__ir_is_plain_index(size))
        return NULL;
    return takt__rust_one(
        walk.nest,
        takt__ir_moved(ir, takt__ir_address(ir, base),
                       takt__ir_pair(ir, TAKT_IR_MUL, walk.at, size)));
}

static struct takt_rust_part *window(struct takt_rust_walk walk, TSNode call)
{
    struct takt_ir_nest *ir = &walk.nest->ir;
    struct takt_ir_expr *base = place(walk, takt__rust_receiver(call));

    return base == NULL
               ? NULL
               : takt__rust_one(
                     walk.nest,
                     takt__ir_moved(ir, takt__ir_address(ir, base), walk.at));
}

/* An adaptor that changes where its receiver is read. */
static struct takt_rust_walk moved(struct takt_rust_walk walk, TSNode call,
                                   struct takt_text word)
{
    struct takt_ir_nest *ir = &walk.nest->ir;
    const struct takt_ir_type none = {.rank = 0};

    if (takt__text_is(word, "rev")) {
        if (!walk.is_whole)
            walk.at = takt__ir_pair(
                ir, TAKT_IR_SUB,
                takt__ir_name(ir, (struct takt_text){"", 0}, none), walk.at);
        return walk;
    }
    struct takt_ir_expr *by = takt__rust_expr(
        walk.nest, takt__rust_argument(call, 0), true, walk.depth + 1);
    walk.at = takt__ir_pair(
        ir, takt__text_is(word, "skip") ? TAKT_IR_ADD : TAKT_IR_MUL, walk.at,
        by);
    return walk;
}

static struct takt_rust_part *zipped(struct takt_rust_walk walk, TSNode a,
                                     TSNode b)
{
    struct takt_rust_walk beside = walk;

    walk.is_whole = beside.is_whole = false;
    return takt__rust_pair(walk.nest, items(walk, a), items(beside, b));
}

/* izip!(a, b, c): a, and then b and c. */
static struct takt_rust_part *side_by_side(struct takt_rust_walk walk,
                                           TSNode tuple, uint32_t from)
{
    walk.is_whole = false;
    if (from + 1 >= takt__node_children(tuple))
        return items(walk, takt__node_child(tuple, from));
    return takt__rust_pair(walk.nest,
                           items(walk, takt__node_child(tuple, from)),
                           side_by_side(walk, tuple, from + 1));
}

static struct takt_rust_part *adapted(struct takt_rust_walk walk, TSNode call,
                                      struct takt_text word)
{
    static const char passing[] =
        TAKT_RUST_PASSING " collect collect_vec to_vec";
    static const char moving[] = "rev skip step_by";
    static const char chunks[] = TAKT_RUST_CHUNKS;
    static const char rows[] = TAKT_RUST_LINES;
    static const char closed[] = TAKT_RUST_UNSTORED;
    const TSNode of = takt__rust_receiver(call);

    if (takt__text_in(word, closed))
        return NULL;
    if (takt__text_is(word, "zip"))
        return zipped(walk, of, takt__rust_argument(call, 0));
    if (takt__text_is(word, "enumerate"))
        return takt__rust_pair(walk.nest, takt__rust_one(walk.nest, walk.at),
                               items(walk, of));
    if (takt__text_in(word, passing))
        return items(walk, of);
    if (takt__text_in(word, moving)) {
        const TSNode range =
            takt__rust_range(walk.nest->rust, of); /* counts anyhow */
        if (!ts_node_is_null(range) && walk.is_whole)
            return items(walk, of);
        walk = moved(walk, call, word);
        return walk.at == NULL ? NULL : items(walk, of);
    }
    if (takt__text_in(word, chunks))
        return chunk(walk, call);
    if (takt__text_is(word, "windows"))
        return window(walk, call);
    if (takt__text_is(word, "map"))
        return takt__rust_mapped(walk.nest, takt__rust_argument(call, 0),
                                 items(walk, of), walk.depth);
    if (takt__text_in(word, rows))
        return takt__rust_one(walk.nest,
                              element(walk.nest, place(walk, of), walk.at));
    return takt__rust_one(walk.nest,
                          element(walk.nest, place(walk, call), walk.at));
}

/* let it = v.iter(): the name of an iterator, outside of the nest. */
static TSNode followed(const struct takt_rust_walk *walk, TSNode source)
{
    static const char iterators[] =
        "iter zip enumerate iter_mut into_iter map chunks_exact chunks "
        "chunks_mut chunks_exact_mut windows";
    struct takt_rust *rust = walk->nest->rust;

    if (!rust_is(source, "identifier") ||
        takt__rust_local(walk->nest, rust_text(rust, source)) != NULL)
        return source;
    const struct takt_rust_binding binding = takt__rust_binding(rust, source);
    if (binding.kind != TAKT_RUST_LET)
        return source;
    const TSNode value = takt__node_field(binding.node, "value");
    return takt__rust_is_any(rust, takt__rust_method(value), iterators)
               ? value
               : source;
}

static struct takt_rust_part *items(struct takt_rust_walk walk, TSNode source)
{
    struct takt_rust *rust = walk.nest->rust;
    TSNode part[2];

    source = followed(&walk, takt__rust_bare(rust, source));
    if (ts_node_is_null(source) || walk.depth++ > TAKT_RUST_DEEPEST ||
        !takt__rust_step(rust))
        return NULL;
    if (rust_is(source, "range_expression"))
        return takt__rust_one(walk.nest, walk.at);
    if (takt__rust_zip(rust, source, part))
        return zipped(walk, part[0], part[1]);
    if (rust_is(source, "tuple_expression"))
        return side_by_side(walk, source, 0);
    const TSNode method = takt__rust_method(source);
    if (!ts_node_is_null(method))
        return adapted(walk, source, rust_text(rust, method));
    return takt__rust_one(walk.nest,
                          element(walk.nest, place(walk, source), walk.at));
}

/* ---- loops --------------------------------------------------------------- */

/* A range that begins where an outer loop stands is a tile of that; one that
 * an outer loop limits otherwise is uneven, and no part of a larger nest. */
static bool read_bounds(struct takt_rust_nest *nest, struct takt_ir_loop *loop,
                        TSNode source, unsigned depth)
{
    const TSNode range = takt__rust_range(nest->rust, source);
    const uint32_t count =
        ts_node_is_null(range) ? 0 : takt__node_children(range);

    if (takt__rust_calls(nest->rust, takt__rust_bare(nest->rust, source),
                         "step_by"))
        loop->stride = 0;
    if (count == 0)
        return true;
    if (count == 2)
        loop->from =
            takt__rust_expr(nest, takt__node_child(range, 0), true, depth + 1);
    loop->to = takt__rust_expr(nest, takt__node_child(range, count - 1), true,
                               depth + 1);
    if (loop->from != NULL && loop->from->sort == TAKT_IR_COUNT) {
        loop->bit = loop->from->loops;
        return true;
    }
    loop->is_inclusive = rust_is(ts_node_child(range, 1), "..=");
    return loop->to != NULL && loop->to->loops == 0 &&
           (count == 1 || (loop->from != NULL && loop->from->loops == 0));
}

struct takt_rust_part *takt__rust_open(struct takt_rust_nest *nest,
                                       TSNode source, unsigned depth)
{
    struct takt_ir_nest *ir = &nest->ir;

    struct takt_ir_loop *loop = takt__ir_open(ir);
    if (loop == NULL)
        return NULL;
    if (!read_bounds(nest, loop, source, depth))
        return NULL;
    struct takt_rust_level level = {.source = source};
    while (takt__rust_calls(nest->rust,
                            takt__rust_bare(nest->rust, level.source), "map"))
        level.source =
            takt__rust_receiver(takt__rust_bare(nest->rust, level.source));
    const struct takt_rust_extent extent =
        takt__rust_level_count(nest->rust, &level);
    loop->extent = extent.count;
    loop->source = extent.source;
    struct takt_ir_expr *at =
        takt__ir_count(ir, rust_text(nest->rust, source), loop->bit);
    if (at == NULL)
        return NULL;
    return items((struct takt_rust_walk){nest, at, true, depth}, source);
}
