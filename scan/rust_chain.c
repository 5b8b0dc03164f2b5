/* SPDX-License-Identifier: MIT */
/*
 * rust_chain.c - iterator chains: what .sum(), .fold(..), .max_by(..) and
 * .collect() at their end make of the elements that go in.
 */
#include "rust.h"

static const struct takt_rust_verdict NOTHING = {.op = NULL};

static const char *const adaptors[] = {
    "copied",  "cloned", "rev",     "skip",          "take",
    "step_by", "filter", "inspect", "into_par_iter", "into_iter",
    "by_ref",  "chain",  NULL};

/* The .map(..) that the elements come out of; a null node: none. */
static TSNode last_map(const struct takt_rust *rust, TSNode receiver)
{
    TSNode at = takt__rust_bare(rust, receiver);
    while (takt__rust_is_any(rust, takt__rust_method(at), adaptors))
        at = takt__rust_bare(rust, takt__rust_receiver(at));
    return takt__rust_calls(rust, at, "map") ? at : takt__rust_null();
}

/* The type that is written where the value of a node goes. */
static struct takt_rust_type wanted_type(struct takt_rust *rust, TSNode node)
{
    TSNode path[TAKT_RUST_PATH];
    unsigned count = takt__rust_path(rust, node, path);
    while (count > 0 && (rust_is(path[count - 1], "parenthesized_expression") ||
                         rust_is(path[count - 1], "binary_expression")))
        count--;
    if (count == 0)
        return (struct takt_rust_type){.leaf = TAKT_RUST_UNKNOWN};
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
    return (struct takt_rust_type){.leaf = TAKT_RUST_UNKNOWN};
}

static struct takt_rust_type summed_type(struct takt_rust *rust, TSNode call)
{
    const TSNode turbofish = takt__rust_turbofish(call);
    struct takt_rust_type type =
        takt__rust_type_named(rust, turbofish, TAKT_RUST_DEPTH);
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

/* (..).sum().sqrt() is a norm, ..sum() / n a mean. */
static void look_around(struct takt_rust *rust, TSNode call,
                        struct takt_rust_verdict *out)
{
    TSNode path[TAKT_RUST_PATH];
    unsigned count = takt__rust_path(rust, call, path);
    while (count > 0 && rust_is(path[count - 1], "parenthesized_expression"))
        count--;
    if (count < 2)
        return;
    const TSNode above = path[count - 1], next = path[count - 2];
    if (takt__text_is((struct takt_text){out->op, 3}, "dot") &&
        takt__rust_calls(rust, next, "sqrt") &&
        rust_is(above, "field_expression")) {
        out->op = "norm2";
        out->anchor = next;
        return;
    }
    if (!rust_is(above, "binary_expression") ||
        !takt__text_is(takt__rust_operator(rust, above), "/") ||
        ts_node_start_byte(takt__rust_left(above)) > ts_node_start_byte(call) ||
        ts_node_end_byte(takt__rust_left(above)) < ts_node_end_byte(call) ||
        !takt__rust_is_count(rust, takt__rust_right(above)))
        return;
    if (out->op[0] == 's')
        out->op = "mean";
    if (out->op[0] == 'm' || out->op[0] == 'v')
        out->anchor = above;
}

/* A sum of sums: the outer one is reported. */
static bool is_inner_sum(struct takt_rust *rust, TSNode call,
                         const struct takt_rust_levels *levels)
{
    if (levels->count == 0)
        return false;
    const struct takt_rust_level *level = &levels->at[levels->count - 1];
    if (!rust_is(level->node, "closure_expression"))
        return false;
    const TSNode tail = takt__rust_tail(takt__node_field(level->node, "body"));
    return ts_node_eq(takt__rust_bare(rust, tail), call) &&
           takt__rust_calls(rust, takt__rust_level_anchor(rust, level), "sum");
}

static struct takt_rust_verdict summed(struct takt_rust *rust, TSNode call,
                                       TSNode closure, TSNode body,
                                       const char *op,
                                       struct takt_rust_type type);

/* Of a sum of sums: what the inner ones are of, "dot" or "norm1". */
static const char *inner_op(struct takt_rust *rust, TSNode body,
                            struct takt_rust_type type)
{
    const TSNode call = takt__rust_bare(rust, takt__rust_tail(body));
    if (!takt__rust_calls(rust, call, "sum"))
        return NULL;
    const TSNode map = last_map(rust, takt__rust_receiver(call));
    const TSNode closure = takt__rust_argument(map, 0);
    if (!rust_is(closure, "closure_expression"))
        return NULL;
    const struct takt_rust_verdict inner = summed(
        rust, call, closure, takt__node_field(closure, "body"), "sum", type);
    return inner.op != NULL && ts_node_eq(inner.anchor, call) ? inner.op : NULL;
}

/* What is summed is the value of `body`, once for each call of `closure`. */
static struct takt_rust_verdict summed(struct takt_rust *rust, TSNode call,
                                       TSNode closure, TSNode body,
                                       const char *op,
                                       struct takt_rust_type type)
{
    struct takt_rust_verdict out = {.anchor = call, .type = type};
    struct takt_rust_levels levels;
    takt__rust_levels(rust, body, &levels);
    if (levels.count == 0 ||
        !ts_node_eq(levels.at[levels.count - 1].node, closure))
        return NOTHING;
    const TSNode source = levels.at[levels.count - 1].source;
    if (takt__rust_gathers(rust, &levels, body, false, TAKT_RUST_DEPTH) ||
        (!ts_node_is_null(takt__rust_range(rust, source)) &&
         !takt__rust_reads(rust, &levels, body)))
        return NOTHING; /* (1..n).map(|i| i as f64): no array at all */
    const unsigned self = 1u << levels.at[levels.count - 1].same;
    struct takt_rust_summand summand = {op, body, takt__rust_null(), false};
    const char *inner = op[0] == 's' && takt__rust_step(rust)
                            ? inner_op(rust, body, type)
                            : NULL;
    if (inner != NULL && inner[0] != 's') {
        out.op = inner;
        return out;
    }
    /* What calls compute is a sum of anything, and of no two arrays. */
    if (op[0] == 's' && takt__rust_is_pure(rust, body))
        summand = takt__rust_summand(rust, &levels, takt__rust_tail(body));
    if (!takt__rust_product(rust, &levels, summand,
                            takt__rust_all_levels(&levels) & ~self, self,
                            &out)) {
        out.op = op;
        out.anchor = call;
        return out;
    }
    if (ts_node_eq(out.anchor,
                   takt__rust_level_anchor(rust, &levels.at[levels.count - 1])))
        out.anchor = call;
    else if (out.op[0] == 'p') /* windows that are summed */
        out.op = "pooling";
    return out;
}

static struct takt_rust_verdict sum_chain(struct takt_rust *rust, TSNode call)
{
    const TSNode receiver = takt__rust_receiver(call);
    const struct takt_rust_type type = summed_type(rust, call);
    const bool is_product = takt__rust_calls(rust, call, "product");
    struct takt_rust_levels levels;
    takt__rust_levels(rust, call, &levels);
    if (!rust_is_float(type) || type.depth != 0 ||
        !takt__rust_is_array_chain(rust, receiver) ||
        !takt__rust_is_in_memory(rust, receiver) ||
        is_inner_sum(rust, call, &levels))
        return NOTHING;
    struct takt_rust_verdict out = {"sum", call, type, 1, {{0}}};
    const TSNode map = last_map(rust, receiver);
    const TSNode function = takt__rust_argument(map, 0);
    if (rust_is(function, "closure_expression")) {
        out = summed(rust, call, function, takt__node_field(function, "body"),
                     "sum", type);
    } else if (ts_node_is_null(map)) {
        const struct takt_rust_level over = {.source = receiver};
        const TSNode pool = takt__rust_pool(rust, call);
        if (!ts_node_is_null(pool) && !is_product)
            return (struct takt_rust_verdict){"pooling", pool, type, 0, {{0}}};
        out.extent[0] = takt__rust_level_count(rust, &over);
    } else {
        const char *op = takt__rust_function_op(rust, function);
        if (op != NULL && op[0] == 'a')
            out.op = "norm1";
    }
    if (out.op != NULL && is_product) {
        out.op = "product";
        out.anchor = call;
    }
    if (out.op != NULL && ts_node_eq(out.anchor, call) && !is_product)
        look_around(rust, call, &out);
    return out;
}

/* The name of a closure's parameter. */
static struct takt_text parameter_name(const struct takt_rust *rust,
                                       TSNode closure, unsigned place)
{
    const TSNode list = takt__node_field(closure, "parameters");
    TSNode one =
        ts_node_is_null(list) ? list : ts_node_named_child(list, place);
    if (rust_is(one, "parameter"))
        one = takt__node_field(one, "pattern");
    while (rust_is(one, "reference_pattern") || rust_is(one, "mut_pattern"))
        one = ts_node_named_child(one, ts_node_named_child_count(one) - 1);
    return rust_is(one, "identifier") ? rust_text(rust, one)
                                      : (struct takt_text){"", 0};
}

static bool is_last_parameter(const struct takt_rust *rust, TSNode closure,
                              TSNode value)
{
    value = takt__rust_bare(rust, value);
    return takt__rust_same(rust_text(rust, value),
                           parameter_name(rust, closure, 1));
}

static struct takt_rust_verdict fold_chain(struct takt_rust *rust, TSNode call)
{
    const unsigned last = takt__rust_argument_count(call);
    const TSNode receiver = takt__rust_receiver(call);
    if (last == 0 || last > 2 || !takt__rust_is_array_chain(rust, receiver) ||
        !takt__rust_is_in_memory(rust, receiver))
        return NOTHING;
    const TSNode function = takt__rust_argument(call, last - 1);
    struct takt_rust_type type =
        takt__rust_item_type(rust, receiver, TAKT_RUST_DEPTH);
    if (!rust_is_float(type) && last == 2) {
        TSNode start = takt__rust_argument(call, 0);
        if (rust_is(start, "closure_expression"))
            start = takt__node_field(start, "body");
        type = takt__rust_type_of(rust, start, TAKT_RUST_DEPTH);
    }
    if (!rust_is_float(type) || type.depth != 0)
        return NOTHING;
    struct takt_rust_verdict out = {NULL, call, type, 1, {{0}}};
    /* .map(|x| x * x).fold(0.0, |s, y| s + y): of what was mapped. */
    const TSNode mapper = takt__rust_argument(last_map(rust, receiver), 0);
    const bool is_mapped = rust_is(mapper, "closure_expression");
    const TSNode mapped_body =
        is_mapped ? takt__node_field(mapper, "body") : takt__rust_null();
    if (rust_is(function, "scoped_identifier")) {
        const TSNode name = takt__node_field(function, "name");
        const bool is_max = takt__text_is(rust_text(rust, name), "max");
        if (is_max || takt__text_is(rust_text(rust, name), "min"))
            out.op = is_max ? "max" : "min";
        else if (takt__text_is(rust_text(rust, name), "add"))
            out.op = "sum";
        else if (takt__text_is(rust_text(rust, name), "mul"))
            out.op = "product";
        if (out.op != NULL && out.op[0] == 's' && is_mapped)
            return summed(rust, call, mapper, mapped_body, out.op, type);
    } else if (rust_is(function, "closure_expression")) {
        const struct takt_text it = parameter_name(rust, function, 0);
        const TSNode body = takt__node_field(function, "body");
        TSNode value = body;
        const char *op = takt__rust_folds(rust, it, body, &value);
        if (it.size == 0 || op == NULL ||
            (op[0] == 's' && !takt__rust_is_pure(rust, value)))
            return NOTHING;
        if (op[0] == 's' && is_mapped &&
            is_last_parameter(rust, function, value))
            return summed(rust, call, mapper, mapped_body, op, type);
        if (takt__rust_calls(rust, call, "fold") && op[0] == 's')
            return summed(rust, call, function, value, op, type);
        out.op = op;
    }
    const TSNode pool = takt__rust_pool(rust, call);
    if (out.op != NULL && out.op[0] == 'm' && !ts_node_is_null(pool))
        return (struct takt_rust_verdict){"pooling", pool, type, 0, {{0}}};
    const struct takt_rust_level over = {.source = receiver};
    out.extent[0] = takt__rust_level_count(rust, &over);
    return out;
}

/* a.partial_cmp(b) of the closure's own parameters; `swapped`: of b with a. */
static bool compares(struct takt_rust *rust, TSNode closure, bool is_placed,
                     bool *swapped, struct takt_rust_type *type)
{
    static const char *const orders[] = {"partial_cmp", "total_cmp", NULL};
    static const char *const opened[] = {"unwrap", "expect", "unwrap_or", NULL};
    TSNode body = takt__rust_tail(takt__node_field(closure, "body"));
    body = takt__rust_bare(rust, body);
    while (takt__rust_is_any(rust, takt__rust_method(body), opened))
        body = takt__rust_bare(rust, takt__rust_receiver(body));
    if (!takt__rust_is_any(rust, takt__rust_method(body), orders))
        return false;
    TSNode side[2] = {takt__rust_bare(rust, takt__rust_receiver(body)),
                      takt__rust_bare(rust, takt__rust_argument(body, 0))};
    unsigned place[2];
    for (unsigned i = 0; i < 2; i++) {
        if (is_placed && rust_is(side[i], "field_expression") &&
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
        if (i == 0)
            *type = takt__rust_bound_type(rust, binding, TAKT_RUST_DEPTH);
    }
    *swapped = place[0] > place[1];
    return place[0] != place[1];
}

static struct takt_rust_verdict order_chain(struct takt_rust *rust, TSNode call)
{
    const TSNode receiver = takt__rust_receiver(call);
    const TSNode function = takt__rust_argument(call, 0);
    const bool is_counted =
        takt__rust_calls(rust, takt__rust_bare(rust, receiver), "enumerate");
    const bool is_position = takt__rust_calls(rust, call, "position_max_by") ||
                             takt__rust_calls(rust, call, "position_min_by");
    bool is_max = takt__rust_calls(rust, call, "max_by") ||
                  takt__rust_calls(rust, call, "position_max_by");
    bool swapped = false;
    struct takt_rust_type type =
        takt__rust_item_type(rust, receiver, TAKT_RUST_DEPTH);
    if (!takt__rust_is_array_chain(rust, receiver) ||
        !takt__rust_is_in_memory(rust, receiver) || type.depth != 0)
        return NOTHING;
    if (rust_is(function, "closure_expression")) {
        struct takt_rust_type compared;
        if (!compares(rust, function, is_counted, &swapped, &compared))
            return NOTHING;
        if (compared.leaf != TAKT_RUST_UNKNOWN)
            type = compared;
    } else if (!rust_is(function, "scoped_identifier")) {
        return NOTHING;
    }
    if (type.leaf == TAKT_RUST_INTEGER || type.leaf == TAKT_RUST_OTHER ||
        type.shell != TAKT_RUST_PLAIN)
        return NOTHING;
    if (!rust_is_float(type) && !rust_is(function, "closure_expression"))
        return NOTHING;
    is_max = is_max != swapped;
    struct takt_rust_verdict out = {
        is_max ? "max" : "min", call, type, 1, {{0}}};
    if (is_counted || is_position)
        out.op = is_max ? "argmax" : "argmin";
    const struct takt_rust_level over = {.source = receiver};
    out.extent[0] = takt__rust_level_count(rust, &over);
    return out;
}

/* What a closure or a function makes of each element. */
static struct takt_rust_verdict mapped(struct takt_rust *rust, TSNode call,
                                       TSNode map)
{
    const TSNode function = takt__rust_argument(map, 0);
    struct takt_rust_verdict out = {.anchor = call, .rank = 1};
    const struct takt_rust_level over = {.source = takt__rust_receiver(map)};
    out.extent[0] = takt__rust_level_count(rust, &over);
    if (!rust_is(function, "closure_expression")) {
        out.op = takt__rust_function_op(rust, function);
        out.type = takt__rust_item_type(rust, over.source, TAKT_RUST_DEPTH);
        return rust_is_float(out.type) && out.type.depth == 0 ? out : NOTHING;
    }
    const TSNode tail = takt__rust_tail(takt__node_field(function, "body"));
    struct takt_rust_levels levels;
    takt__rust_levels(rust, tail, &levels);
    if (ts_node_is_null(tail) || levels.count == 0 ||
        !ts_node_eq(levels.at[levels.count - 1].node, function))
        return NOTHING;
    out.type = takt__rust_type_of(rust, tail, TAKT_RUST_DEPTH);
    if (!rust_is_float(out.type) || out.type.depth != 0 ||
        (out.type.shell != TAKT_RUST_PLAIN &&
         out.type.shell != TAKT_RUST_NDARRAY) ||
        !takt__rust_reads(rust, &levels, tail) ||
        !takt__rust_is_pure(rust, tail) ||
        takt__rust_gathers(rust, &levels, tail, false, TAKT_RUST_DEPTH) ||
        takt__rust_picks(rust, &levels, tail, TAKT_RUST_DEPTH))
        return NOTHING;
    out.op = takt__rust_element_op(rust, &levels, tail);
    return out;
}

static struct takt_rust_verdict collect_chain(struct takt_rust *rust,
                                              TSNode call)
{
    const bool is_extend = takt__rust_calls(rust, call, "extend");
    const TSNode source =
        is_extend ? takt__rust_argument(call, 0) : takt__rust_receiver(call);
    const TSNode map = last_map(rust, source);
    if (ts_node_is_null(map) || !takt__rust_is_array_chain(rust, source) ||
        !takt__rust_is_in_memory(rust, map))
        return NOTHING;
    const struct takt_rust_verdict out = mapped(rust, call, map);
    /* What only hands the elements on is no copy that anybody wants. */
    return out.op != NULL && out.op[0] == 'c' && out.op[1] == 'o' ? NOTHING
                                                                  : out;
}

static struct takt_rust_verdict chain(struct takt_rust *rust, TSNode call)
{
    static const char *const sums[] = {"sum", "product", NULL};
    static const char *const folds[] = {"fold", "reduce", NULL};
    static const char *const orders[] = {"max_by", "min_by", "position_max_by",
                                         "position_min_by", NULL};
    static const char *const ends[] = {"collect", "collect_vec", "extend",
                                       "collect_into_vec", NULL};
    static const char *const maps[] = {"mapv", "mapv_inplace", "mapv_into",
                                       "par_mapv_inplace", NULL};
    const TSNode method = takt__rust_method(call);
    if (ts_node_is_null(method))
        return NOTHING;
    const bool is_map = takt__rust_is_any(rust, method, maps);
    const bool is_end = takt__rust_is_any(rust, method, ends);
    const bool is_fold = takt__rust_is_any(rust, method, folds);
    const bool is_order = takt__rust_is_any(rust, method, orders);
    const bool is_each = takt__rust_calls(rust, call, "for_each");
    const bool is_sum = takt__rust_is_any(rust, method, sums) &&
                        takt__rust_argument_count(call) == 0;
    if (!is_map && !is_end && !is_fold && !is_order && !is_each && !is_sum)
        return NOTHING;
    const struct takt_rust_type receiver =
        takt__rust_type_of(rust, takt__rust_receiver(call), TAKT_RUST_DEPTH);
    if (receiver.shell == TAKT_RUST_OWN || receiver.shell == TAKT_RUST_SMALL)
        return NOTHING;
    if (is_sum)
        return sum_chain(rust, call);
    if (is_fold)
        return fold_chain(rust, call);
    if (is_order)
        return order_chain(rust, call);
    if (is_end)
        return collect_chain(rust, call);
    if (is_map)
        return mapped(rust, call, call);
    const TSNode closure = takt__rust_argument(call, 0);
    return rust_is(closure, "closure_expression")
               ? takt__rust_body(rust, takt__node_field(closure, "body"), call)
               : NOTHING;
}

struct takt_rust_verdict takt__rust_chain(struct takt_rust *rust, TSNode call)
{
    return takt__rust_once(rust, chain, call);
}
