/* SPDX-License-Identifier: MIT */
/*
 * rust_lower_chain.c - what loops and chains go over, and what the ends of
 * chains make of it: .sum(), .fold(..), .max_by(..), .collect().
 */
#include "rust_lower.h"

#include <string.h>

/* ---- what is gone over --------------------------------------------------- */

/* How one source is walked through: its index, and whether it is the first. */
struct walk {
    struct takt_rust_nest *nest;
    struct takt_ir_expr *at;
    bool is_whole; /* nothing else is walked beside it */
    unsigned depth;
};

static struct takt_rust_part *items(struct walk walk, TSNode source);

static struct takt_ir_expr *element(struct takt_rust_nest *nest,
                                    struct takt_ir_expr *base,
                                    struct takt_ir_expr *at)
{
    return base == NULL ? NULL : takt__ir_element(&nest->ir, base, at);
}

/* Something that is called for and does not change: an array by its text. */
static struct takt_ir_expr *unseen(struct walk walk, TSNode call)
{
    static const char *const lines[] = {"row", "column", "row_mut",
                                        "column_mut", NULL};
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

static struct takt_ir_expr *place(struct walk walk, TSNode source)
{
    struct takt_ir_expr *e =
        takt__rust_expr(walk.nest, source, false, walk.depth + 1);

    return e != NULL ? e : unseen(walk, source);
}

/* The value that a function or closure makes of what is handed to it. */
static struct takt_rust_part *mapped(struct takt_rust_nest *nest,
                                     TSNode function,
                                     struct takt_rust_part *part,
                                     unsigned depth)
{
    if (part == NULL || ts_node_is_null(function))
        return NULL;
    if (rust_is(function, "closure_expression")) {
        const TSNode list = takt__node_field(function, "parameters");
        TSNode pattern = takt__rust_child(list, 0);
        if (takt__rust_children(list) != 1)
            return NULL;
        if (rust_is(pattern, "parameter"))
            pattern = takt__node_field(pattern, "pattern");
        return takt__rust_bind(nest, pattern, part)
                   ? takt__rust_block(nest, takt__node_field(function, "body"),
                                      depth + 1)
                   : NULL;
    }
    if (rust_is(function, "scoped_identifier"))
        function = takt__node_field(function, "name");
    if (part->value == NULL || ts_node_is_null(function))
        return NULL;
    struct takt_ir_expr *value = part->value;
    return takt__rust_one(
        nest,
        takt__rust_function(nest, rust_text(nest->rust, function), &value, 1));
}

static struct takt_rust_part *chunk(struct walk walk, TSNode call)
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

static struct takt_rust_part *window(struct walk walk, TSNode call)
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
static struct walk moved(struct walk walk, TSNode call, struct takt_text word)
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

static struct takt_rust_part *zipped(struct walk walk, TSNode a, TSNode b)
{
    struct walk beside = walk;

    walk.is_whole = beside.is_whole = false;
    return takt__rust_pair(walk.nest, items(walk, a), items(beside, b));
}

static struct takt_rust_part *adapted(struct walk walk, TSNode call,
                                      struct takt_text word)
{
    static const char *const passing[] = {"iter",         "iter_mut",
                                          "into_iter",    "par_iter",
                                          "par_iter_mut", "into_par_iter",
                                          "copied",       "cloned",
                                          "take",         "by_ref",
                                          "peekable",     "chain",
                                          "filter",       "skip_while",
                                          "take_while",   "inspect",
                                          "with_min_len", "as_slice",
                                          "as_mut_slice", "drain",
                                          "with_max_len", NULL};
    static const char *const moving[] = {"rev", "skip", "step_by", NULL};
    static const char *const chunks[] = {
        "chunks",     "chunks_exact",   "chunks_mut",       "chunks_exact_mut",
        "par_chunks", "par_chunks_mut", "par_chunks_exact", NULL};
    static const char *const rows[] = {"outer_iter",  "axis_iter", "row_iter",
                                       "column_iter", "rows",      NULL};
    static const char *const closed[] = {"values",
                                         "values_mut",
                                         "into_values",
                                         "keys",
                                         "into_keys",
                                         "chars",
                                         "bytes",
                                         "lines",
                                         "split",
                                         "split_whitespace",
                                         "char_indices",
                                         "entries",
                                         NULL};
    const TSNode of = takt__rust_receiver(call);

    if (takt__rust_any(word, closed))
        return NULL;
    if (takt__text_is(word, "zip"))
        return zipped(walk, of, takt__rust_argument(call, 0));
    if (takt__text_is(word, "enumerate"))
        return takt__rust_pair(walk.nest, takt__rust_one(walk.nest, walk.at),
                               items(walk, of));
    if (takt__rust_any(word, passing))
        return items(walk, of);
    if (takt__rust_any(word, moving)) {
        const TSNode range =
            takt__rust_range(walk.nest->rust, of); /* counts anyhow */
        if (!ts_node_is_null(range) && walk.is_whole)
            return items(walk, of);
        walk = moved(walk, call, word);
        return walk.at == NULL ? NULL : items(walk, of);
    }
    if (takt__rust_any(word, chunks))
        return chunk(walk, call);
    if (takt__text_is(word, "windows"))
        return window(walk, call);
    if (takt__text_is(word, "map"))
        return mapped(walk.nest, takt__rust_argument(call, 0), items(walk, of),
                      walk.depth);
    if (takt__rust_any(word, rows))
        return takt__rust_one(walk.nest,
                              element(walk.nest, place(walk, of), walk.at));
    return takt__rust_one(walk.nest,
                          element(walk.nest, place(walk, call), walk.at));
}

/* let it = v.iter(): the name of an iterator, outside of the nest. */
static TSNode followed(const struct walk *walk, TSNode source)
{
    static const char *const iterators[] = {
        "iter", "zip", "enumerate", "iter_mut", "into_iter", "map", NULL};
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

static struct takt_rust_part *items(struct walk walk, TSNode source)
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
        ts_node_is_null(range) ? 0 : takt__rust_children(range);

    loop->stride = 1;
    if (takt__rust_calls(nest->rust, takt__rust_bare(nest->rust, source),
                         "step_by"))
        loop->stride = 0;
    if (count == 0)
        return true;
    if (count == 2)
        loop->from =
            takt__rust_expr(nest, takt__rust_child(range, 0), true, depth + 1);
    loop->to = takt__rust_expr(nest, takt__rust_child(range, count - 1), true,
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

    if (ir->loop_count == TAKT_IR_LOOPS)
        return NULL;
    const unsigned index = ir->loop_count++;
    struct takt_ir_loop *loop = &ir->loop[index];
    *loop = (struct takt_ir_loop){.bit = UINT32_C(1) << index};
    loop->around = nest->around | loop->bit;
    ir->open = ir->loop_count;
    if (!read_bounds(nest, loop, source, depth))
        return NULL;
    const struct takt_rust_level level = {.source = source};
    const struct takt_rust_extent extent =
        takt__rust_level_count(nest->rust, &level);
    loop->extent = extent.count;
    loop->source = extent.source;
    nest->around = loop->around;
    struct takt_ir_expr *at =
        takt__ir_count(ir, rust_text(nest->rust, source), loop->bit);
    if (at == NULL)
        return NULL;
    return items((struct walk){nest, at, true, depth}, source);
}

/* ---- the ends of chains -------------------------------------------------- */

static const char *const sums[] = {"sum", "product", NULL};
static const char *const folds[] = {"fold", "reduce", NULL};
static const char *const orders[] = {"max_by", "min_by", "position_max_by",
                                     "position_min_by", NULL};
static const char *const collects[] = {"collect", "collect_vec",
                                       "collect_into_vec", "extend", NULL};
static const char *const maps[] = {"mapv", "mapv_inplace", "mapv_into",
                                   "par_mapv_inplace", NULL};

/* The text of what is collected; no name of a program's. */
static const char collected[] = "(collected)";

bool takt__rust_is_collected(const struct takt_ir_expr *e)
{
    return e != NULL && e->text.at == collected;
}

bool takt__rust_ends_chain(struct takt_rust_nest *nest, TSNode call)
{
    struct takt_rust *rust = nest->rust;
    const TSNode method = takt__rust_method(call);
    const TSNode of = takt__rust_receiver(call);
    const unsigned count = takt__rust_argument_count(call);

    if (ts_node_is_null(method))
        return false;
    const struct takt_text word = rust_text(rust, method);
    if (takt__rust_any(word, maps))
        return count == 1;
    const bool is_extend = takt__text_is(word, "extend");
    if (!(takt__rust_any(word, sums) && count == 0) &&
        !takt__rust_any(word, folds) && !takt__rust_any(word, orders) &&
        !takt__rust_any(word, collects))
        return false;
    const enum takt_rust_shell shell =
        takt__rust_type_of(rust, of, TAKT_RUST_DEPTH).shell;
    const TSNode source = is_extend ? takt__rust_argument(call, 0) : of;
    return (is_extend ||
            (shell != TAKT_RUST_OWN && shell != TAKT_RUST_SMALL)) &&
           takt__rust_is_array_chain(rust, source) &&
           takt__rust_is_in_memory(rust, source);
}

/* A name for what a chain gathers, which starts anew for each round around. */
static struct takt_ir_expr *result(struct takt_rust_nest *nest,
                                   struct takt_rust_type type)
{
    static const char names[] = "(0)(1)(2)(3)(4)(5)(6)(7)";
    const struct takt_text text = {names + 3 * (nest->results++ % 8), 3};
    struct takt_ir_expr *e =
        takt__ir_name(&nest->ir, text, takt__rust_ir_type(type));

    if (e != NULL) {
        e->is_varying = true;
        e->type.rank = 0;
    }
    if (e != NULL && nest->around != 0 &&
        !takt__rust_store(nest, TAKT_IR_STORE, e,
                          takt__ir_number(&nest->ir, 0)))
        return NULL;
    return e;
}

/* The type that is written where the value of a node goes. */
static struct takt_rust_type wanted_type(struct takt_rust *rust, TSNode node)
{
    TSNode path[TAKT_RUST_PATH];
    unsigned count = takt__rust_path(rust, node, path);

    while (count > 0 && (rust_is(path[count - 1], "parenthesized_expression") ||
                         rust_is(path[count - 1], "binary_expression")))
        count--;
    const struct takt_rust_type unknown = {.leaf = TAKT_RUST_UNKNOWN};
    if (count == 0)
        return unknown;
    const TSNode above = path[count - 1];
    if (rust_is(above, "let_declaration"))
        return takt__rust_type_named(rust, takt__node_field(above, "type"),
                                     TAKT_RUST_DEPTH);
    if (count > 1 && rust_is(above, "block") &&
        rust_is(path[count - 2], "function_item") &&
        ts_node_end_byte(takt__rust_tail(above)) >= ts_node_end_byte(node))
        return takt__rust_type_named(
            rust, takt__node_field(path[count - 2], "return_type"),
            TAKT_RUST_DEPTH);
    return unknown;
}

static struct takt_rust_type summed_type(struct takt_rust *rust, TSNode call)
{
    struct takt_rust_type type = takt__rust_type_named(
        rust, takt__rust_turbofish(call), TAKT_RUST_DEPTH);

    if (type.leaf == TAKT_RUST_UNKNOWN)
        type = takt__rust_item_type(rust, takt__rust_receiver(call),
                                    TAKT_RUST_DEPTH);
    if (type.leaf == TAKT_RUST_UNKNOWN || type.leaf == TAKT_RUST_FLOAT) {
        const struct takt_rust_type wanted = wanted_type(rust, call);
        if (wanted.leaf != TAKT_RUST_UNKNOWN && wanted.depth == 0 &&
            wanted.shell == TAKT_RUST_PLAIN)
            type = wanted;
    }
    return type;
}

static struct takt_ir_expr *sum(struct takt_rust_nest *nest, TSNode call,
                                unsigned depth)
{
    const bool is_product = takt__rust_calls(nest->rust, call, "product");
    struct takt_ir_expr *to = result(nest, summed_type(nest->rust, call));
    const struct takt_rust_part *part =
        takt__rust_open(nest, takt__rust_receiver(call), depth);

    return part != NULL && takt__rust_store(
                               nest, is_product ? TAKT_IR_PRODUCT : TAKT_IR_SUM,
                               to, part->value)
               ? to
               : NULL;
}

/* fold(start, f32::max), reduce(f32::add). */
static struct takt_ir_expr *fold_by_name(struct takt_rust_nest *nest,
                                         TSNode function,
                                         struct takt_ir_expr *to,
                                         const struct takt_rust_part *part)
{
    static const struct {
        const char *name;
        enum takt_ir_effect effect;
    } names[] = {{"max", TAKT_IR_MAX},
                 {"min", TAKT_IR_MIN},
                 {"add", TAKT_IR_SUM},
                 {"mul", TAKT_IR_PRODUCT}};
    const struct takt_text name =
        rust_text(nest->rust, takt__node_field(function, "name"));

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (takt__text_is(name, names[i].name))
            return takt__rust_store(nest, names[i].effect, to, part->value)
                       ? to
                       : NULL;
    return NULL;
}

static struct takt_rust_type folded_type(struct takt_rust *rust, TSNode call)
{
    struct takt_rust_type type =
        takt__rust_item_type(rust, takt__rust_receiver(call), TAKT_RUST_DEPTH);
    TSNode start = takt__rust_argument(call, 0);

    if (rust_is_float(type) || takt__rust_argument_count(call) != 2)
        return type;
    if (rust_is(start, "closure_expression"))
        start = takt__node_field(start, "body");
    return takt__rust_type_of(rust, start, TAKT_RUST_DEPTH);
}

static struct takt_ir_expr *fold(struct takt_rust_nest *nest, TSNode call,
                                 unsigned depth)
{
    const unsigned count = takt__rust_argument_count(call);
    const TSNode function = takt__rust_argument(call, count - 1);
    struct takt_ir_expr *to = result(nest, folded_type(nest->rust, call));

    if (to == NULL || count == 0 || count > 2)
        return NULL;
    struct takt_rust_part *part =
        takt__rust_open(nest, takt__rust_receiver(call), depth);
    if (part == NULL)
        return NULL;
    if (rust_is(function, "scoped_identifier"))
        return fold_by_name(nest, function, to, part);
    const TSNode list = takt__node_field(function, "parameters");
    if (!rust_is(function, "closure_expression") ||
        takt__rust_children(list) != 2 ||
        !takt__rust_bind(nest, takt__rust_child(list, 0),
                         takt__rust_one(nest, to)) ||
        !takt__rust_bind(nest, takt__rust_child(list, 1), part))
        return NULL;
    const struct takt_rust_part *value =
        takt__rust_block(nest, takt__node_field(function, "body"), depth + 1);
    return value != NULL &&
                   takt__rust_store(nest, TAKT_IR_STORE, to, value->value)
               ? to
               : NULL;
}

/* a.partial_cmp(b) of the closure's own parameters; `swapped`: of b with a. */
static bool compares(struct takt_rust *rust, TSNode closure, bool *swapped)
{
    static const char *const compared[] = {"partial_cmp", "total_cmp", NULL};
    static const char *const opened[] = {"unwrap", "expect", "unwrap_or", NULL};
    TSNode body = takt__rust_bare(
        rust, takt__rust_tail(takt__node_field(closure, "body")));
    unsigned place[2];

    while (takt__rust_is_any(rust, takt__rust_method(body), opened))
        body = takt__rust_bare(rust, takt__rust_receiver(body));
    if (!takt__rust_is_any(rust, takt__rust_method(body), compared))
        return false;
    TSNode side[2] = {takt__rust_bare(rust, takt__rust_receiver(body)),
                      takt__rust_bare(rust, takt__rust_argument(body, 0))};
    for (unsigned i = 0; i < 2; i++) {
        if (rust_is(side[i], "field_expression") &&
            rust_is(takt__node_field(side[i], "field"), "integer_literal"))
            side[i] = takt__rust_bare(rust, takt__node_field(side[i], "value"));
        if (!rust_is(side[i], "identifier"))
            return false;
        const struct takt_rust_binding binding =
            takt__rust_binding(rust, side[i]);
        if (binding.kind != TAKT_RUST_CLOSURE ||
            !ts_node_eq(binding.node, closure))
            return false;
        place[i] = binding.place;
    }
    *swapped = place[0] > place[1];
    return place[0] != place[1];
}

static struct takt_ir_expr *order(struct takt_rust_nest *nest, TSNode call,
                                  struct takt_text word, unsigned depth)
{
    struct takt_rust *rust = nest->rust;
    const TSNode function = takt__rust_argument(call, 0);
    bool is_max =
        word.size >= 6 && memcmp(word.at + word.size - 6, "max_by", 6) == 0;
    bool is_place = word.size > 6, swapped = false;
    struct takt_rust_type type = {.leaf = TAKT_RUST_FLOAT};

    if (rust_is(function, "closure_expression")
            ? !compares(rust, function, &swapped)
            : !rust_is(function, "scoped_identifier"))
        return NULL;
    struct takt_ir_expr *to = result(nest, type);
    const struct takt_rust_part *part =
        takt__rust_open(nest, takt__rust_receiver(call), depth);
    if (part != NULL && part->of[0] != NULL) {
        is_place = true;
        part = part->of[1];
    }
    is_max = is_max != swapped;
    return part != NULL && takt__rust_store(nest,
                                            is_place ? (is_max ? TAKT_IR_ARGMAX
                                                               : TAKT_IR_ARGMIN)
                                            : is_max ? TAKT_IR_MAX
                                                     : TAKT_IR_MIN,
                                            to, part->value)
               ? to
               : NULL;
}

/* An element of what is collected, or of `into`. */
static struct takt_ir_expr *collected_at(struct takt_rust_nest *nest,
                                         struct takt_ir_expr *at)
{
    struct takt_ir_expr *e = takt__ir_new(&nest->ir, TAKT_IR_ACCESS);

    if (e == NULL)
        return NULL;
    e->text = (struct takt_text){collected, sizeof collected - 1};
    e->type.kind = TAKT_IR_ARRAY;
    for (unsigned i = 0; i < nest->prefixes; i++)
        e = takt__ir_part(e, nest->prefix[i]);
    return at == NULL ? e : takt__ir_part(e, at);
}

static struct takt_ir_expr *loop_count(struct takt_rust_nest *nest,
                                       TSNode source)
{
    const struct takt_ir_loop *loop = &nest->ir.loop[nest->ir.loop_count - 1];

    return takt__ir_count(&nest->ir, rust_text(nest->rust, source), loop->bit);
}

static struct takt_ir_expr *collect(struct takt_rust_nest *nest, TSNode call,
                                    unsigned depth)
{
    const bool is_extend = takt__rust_calls(nest->rust, call, "extend");
    const TSNode source =
        is_extend ? takt__rust_argument(call, 0) : takt__rust_receiver(call);
    const unsigned prefixes = nest->prefixes;

    if (prefixes == 3 || nest->ir.loop_count == TAKT_IR_LOOPS)
        return NULL;
    nest->prefix[nest->prefixes++] =
        takt__ir_count(&nest->ir, rust_text(nest->rust, source),
                       UINT32_C(1) << nest->ir.loop_count);
    const struct takt_rust_part *part = takt__rust_open(nest, source, depth);
    struct takt_ir_expr *to = collected_at(nest, NULL);
    nest->prefixes = prefixes;
    if (part == NULL || part->value == NULL || to == NULL)
        return NULL;
    return takt__rust_is_collected(part->value) ||
                   takt__rust_store(nest, TAKT_IR_STORE, to, part->value)
               ? to
               : NULL;
}

/* a.mapv(|x| ..): of all elements of a library's array. */
static struct takt_ir_expr *map(struct takt_rust_nest *nest, TSNode call,
                                unsigned depth)
{
    struct takt_rust_part *part =
        takt__rust_open(nest, takt__rust_receiver(call), depth);
    const struct takt_rust_part *value =
        mapped(nest, takt__rust_argument(call, 0), part, depth);
    struct takt_ir_expr *to =
        collected_at(nest, loop_count(nest, takt__rust_receiver(call)));

    return value != NULL && part->value != NULL &&
                   takt__rust_store(nest, TAKT_IR_STORE, to, value->value)
               ? to
               : NULL;
}

struct takt_ir_expr *takt__rust_chain_value(struct takt_rust_nest *nest,
                                            TSNode call, unsigned depth)
{
    const struct takt_text word =
        rust_text(nest->rust, takt__rust_method(call));
    const uint32_t around = nest->around;
    const unsigned locals = nest->locals;
    struct takt_ir_expr *e = NULL;

    if (takt__rust_any(word, sums))
        e = sum(nest, call, depth + 1);
    else if (takt__rust_any(word, folds))
        e = fold(nest, call, depth + 1);
    else if (takt__rust_any(word, orders))
        e = order(nest, call, word, depth + 1);
    else if (takt__rust_any(word, collects))
        e = collect(nest, call, depth + 1);
    else
        e = map(nest, call, depth + 1);
    nest->around = around;
    nest->locals = locals;
    return e;
}
