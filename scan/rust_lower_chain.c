/* SPDX-License-Identifier: MIT */
/*
 * rust_lower_chain.c - the ends of chains: .sum(), .fold(..), .max_by(..),
 * .collect(), and what they make of the elements.
 */
#include "rust_lower.h"

#include <string.h>

/* ---- the ends of chains -------------------------------------------------- */

static const char sums[] = "sum product";
static const char folds[] = "fold reduce";
static const char orders[] = "max_by min_by position_max_by position_min_by";
static const char collects[] = "collect collect_vec collect_into_vec extend";
static const char maps[] = "mapv mapv_inplace mapv_into par_mapv_inplace";
static const char zip_maps[] = "map_collect par_map_collect zip_map";
static const char functions[] = "from_fn from_shape_fn";

/* A library's array and not an iterator over it: its map() makes another. */
static bool is_whole_array(struct takt_rust *rust, TSNode of)
{
    static const char parts[] =
        "slice view row column index_axis t transpose borrow dot mapv map "
        "component_mul clone to_owned as_ref unwrap input sum_axis";
    const TSNode method = takt__rust_method(takt__rust_bare(rust, of));

    return (ts_node_is_null(method) ||
            takt__rust_is_any(rust, method, parts)) &&
           takt__rust_is_array(takt__rust_type_of(rust, of, TAKT_RUST_DEPTH));
}

bool takt__rust_may_end_chain(const struct takt_rust *rust, TSNode call)
{
    const TSNode method = takt__rust_method(call);

    if (ts_node_is_null(method)) {
        const TSNode callee = takt__rust_callee(call);
        return !ts_node_is_null(callee) &&
               takt__text_in(rust_text(rust, callee), functions);
    }
    const struct takt_text word = rust_text(rust, method);
    return takt__text_in(word, sums) || takt__text_in(word, folds) ||
           takt__text_in(word, orders) || takt__text_in(word, collects) ||
           takt__text_in(word, maps) || takt__text_in(word, zip_maps) ||
           takt__text_in(word, TAKT_RUST_EACH) ||
           (rust->has_arrays && takt__text_is(word, "map"));
}

bool takt__rust_ends_chain(struct takt_rust_nest *nest, TSNode call)
{
    struct takt_rust *rust = nest->rust;
    const TSNode method = takt__rust_method(call);
    const TSNode of = takt__rust_receiver(call);
    const unsigned count = takt__rust_argument_count(call);

    if (ts_node_is_null(method)) {
        const TSNode last = takt__rust_argument(call, count - 1);
        return count > 1 && rust_is(last, "closure_expression") &&
               takt__rust_may_end_chain(rust, call);
    }
    const struct takt_text word = rust_text(rust, method);
    if (takt__text_in(word, maps))
        return count == 1;
    if (takt__text_is(word, "map"))
        return count == 1 && is_whole_array(rust, of);
    TSNode array[TAKT_RUST_ZIPPED];
    if (takt__text_in(word, zip_maps) || takt__text_is(word, "fold")) {
        if (takt__rust_zipped(rust, call, array) > 0)
            return true;
    }
    const bool is_extend = takt__text_is(word, "extend");
    if (!(takt__text_in(word, sums) && count == 0) &&
        !takt__text_in(word, folds) && !takt__text_in(word, orders) &&
        !takt__text_in(word, collects))
        return false;
    const enum takt_rust_shell shell =
        takt__rust_type_of(rust, of, TAKT_RUST_DEPTH).shell;
    const TSNode source = is_extend ? takt__rust_argument(call, 0) : of;
    return (is_extend ||
            (shell != TAKT_RUST_OWN && shell != TAKT_RUST_SMALL)) &&
           takt__rust_is_array_chain(rust, source) &&
           takt__rust_is_in_memory(rust, source);
}

static struct takt_ir_expr *result(struct takt_rust_nest *nest,
                                   struct takt_rust_type type)
{
    return takt__ir_result(&nest->ir, takt__rust_ir_type(type));
}

/* The type that is written where the value of a node goes. */
static struct takt_rust_type wanted_type(struct takt_rust *rust, TSNode node)
{
    TSNode path[TAKT_RUST_PATH];
    unsigned count = takt__rust_path(rust, node, path);

    while (count > 0 &&
           (takt__node_in(path[count - 1],
                          "parenthesized_expression binary_expression")))
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
    if (takt__rust_is_open(type) || type.leaf == TAKT_RUST_FLOAT) {
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

    const TSNode list = takt__node_field(function, "parameters");
    TSNode array[TAKT_RUST_ZIPPED];

    if (to == NULL || count == 0 || count > 2)
        return NULL;
    const bool is_zip = takt__rust_zipped(nest->rust, call, array) > 0;
    struct takt_rust_part *part =
        is_zip ? NULL : takt__rust_open(nest, takt__rust_receiver(call), depth);
    if (part == NULL && !is_zip)
        return NULL;
    if (rust_is(function, "scoped_identifier") && !is_zip)
        return fold_by_name(nest, function, to, part);
    if (!rust_is(function, "closure_expression") ||
        (takt__node_children(list) != 2 && !is_zip) ||
        !takt__rust_bind(nest, takt__node_child(list, 0),
                         takt__rust_one(nest, to)) ||
        !(is_zip ? takt__rust_bind_zipped(nest, call, list, 1, depth)
                 : takt__rust_bind(nest, takt__node_child(list, 1), part)))
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
    static const char compared[] = "partial_cmp total_cmp";
    static const char opened[] = "unwrap expect unwrap_or";
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
    const TSNode given = takt__rust_argument(call, 0);
    const TSNode function = rust_is(given, "identifier") /* let by = |a, b| */
                                ? takt__rust_function_of(nest, given)
                                : given;
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
    const unsigned prefixes = nest->ir.prefixes;

    if (prefixes == 3 || nest->ir.loop_count == TAKT_IR_LOOPS)
        return NULL;
    nest->ir.prefix[nest->ir.prefixes++] =
        takt__ir_count(&nest->ir, rust_text(nest->rust, source),
                       UINT32_C(1) << nest->ir.loop_count);
    const struct takt_rust_part *part = takt__rust_open(nest, source, depth);
    struct takt_ir_expr *to = takt__ir_collected(&nest->ir, NULL);
    nest->ir.prefixes = prefixes;
    if (part == NULL || part->value == NULL || to == NULL)
        return NULL;
    const enum takt_ir_element element =
        takt__rust_ir_type(takt__rust_type_named(nest->rust,
                                                 takt__rust_turbofish(call),
                                                 TAKT_RUST_DEPTH))
            .element; /* collect::<Vec<f32>>() */
    if (takt__ir_is_float(element))
        takt__rust_set_float(to, element);
    return takt__ir_is_collected(part->value) ||
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
    if (part != NULL && part->value != NULL) /* no other type has these */
        takt__rust_set_float(part->value, TAKT_IR_FLOAT);
    const struct takt_rust_part *value =
        takt__rust_mapped(nest, takt__rust_argument(call, 0), part, depth);
    struct takt_ir_expr *to = takt__ir_collected(
        &nest->ir, loop_count(nest, takt__rust_receiver(call)));

    return value != NULL && part->value != NULL &&
                   takt__rust_store(nest, TAKT_IR_STORE, to, value->value)
               ? to
               : NULL;
}

struct takt_ir_expr *takt__rust_chain_value(struct takt_rust_nest *nest,
                                            TSNode call, unsigned depth)
{
    const TSNode method = takt__rust_method(call);
    const struct takt_text word = ts_node_is_null(method)
                                      ? (struct takt_text){"", 0}
                                      : rust_text(nest->rust, method);
    const uint32_t around = nest->ir.around;
    const unsigned locals = nest->locals;
    struct takt_ir_expr *e = NULL;

    if (ts_node_is_null(method))
        e = takt__rust_from_function(nest, call, depth + 1);
    else if (takt__text_in(word, zip_maps))
        e = takt__rust_zip_map(nest, call, depth + 1);
    else if (takt__text_in(word, sums))
        e = sum(nest, call, depth + 1);
    else if (takt__text_in(word, folds))
        e = fold(nest, call, depth + 1);
    else if (takt__text_in(word, orders))
        e = order(nest, call, word, depth + 1);
    else if (takt__text_in(word, collects))
        e = collect(nest, call, depth + 1);
    else
        e = map(nest, call, depth + 1);
    nest->ir.around = around;
    nest->locals = locals;
    return e;
}
