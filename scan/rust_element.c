/* SPDX-License-Identifier: MIT */
/*
 * rust_element.c - what is computed from the elements of arrays: which op of
 * the catalogue an expression is, element by element, and what is added up.
 */
#include "rust.h"

#include <string.h>

bool takt__rust_is_element(struct takt_rust *rust,
                           const struct takt_rust_levels *levels, TSNode node)
{
    static const char *const getters[] = {"get", "at", "get_unchecked", NULL};
    node = takt__rust_value(rust, node);
    if (rust_is(node, "index_expression"))
        return takt__rust_depends(rust, levels, node, TAKT_RUST_DEPTH) != 0;
    if (rust_is(node, "call_expression"))
        return takt__rust_is_any(rust, takt__rust_method(node), getters) &&
               takt__rust_depends(rust, levels, node, TAKT_RUST_DEPTH) != 0;
    if (rust_is(node, "field_expression")) /* pair.0 of a zip */
        return rust_is(takt__node_field(node, "field"), "integer_literal") &&
               takt__rust_depends(rust, levels, node, TAKT_RUST_DEPTH) != 0;
    if (!rust_is(node, "identifier"))
        return false;
    const struct takt_rust_binding binding = takt__rust_binding(rust, node);
    if (binding.kind == TAKT_RUST_LET) {
        const TSNode value = takt__node_field(binding.node, "value");
        return !rust_is(value, "identifier") &&
               takt__rust_is_element(rust, levels, value);
    }
    if (binding.kind != TAKT_RUST_FOR && binding.kind != TAKT_RUST_CLOSURE)
        return false;
    const struct takt_rust_item item =
        takt__rust_bound_item(rust, binding, TAKT_RUST_DEPTH);
    return item.drawn == TAKT_RUST_ELEMENT || item.drawn == TAKT_RUST_COMPUTED;
}

bool takt__rust_gathers(struct takt_rust *rust,
                        const struct takt_rust_levels *levels, TSNode node,
                        bool is_index, unsigned depth)
{
    if (depth == 0 || ts_node_is_null(node) || !takt__rust_step(rust))
        return false;
    if (is_index && rust_is(node, "identifier")) {
        const struct takt_rust_binding binding = takt__rust_binding(rust, node);
        if (binding.kind == TAKT_RUST_LET)
            return takt__rust_gathers(rust, levels,
                                      takt__node_field(binding.node, "value"),
                                      true, depth - 1);
        return (binding.kind == TAKT_RUST_FOR ||
                binding.kind == TAKT_RUST_CLOSURE) &&
               takt__rust_bound_item(rust, binding, TAKT_RUST_DEPTH).drawn ==
                   TAKT_RUST_ELEMENT;
    }
    const bool is_indexed = rust_is(node, "index_expression");
    if (is_index && is_indexed)
        return takt__rust_varies(rust, levels, node);
    /* places.len() of what is gone over is no place. */
    if (is_index && rust_is(node, "call_expression"))
        return takt__rust_gathers(
            rust, levels, takt__node_field(node, "arguments"), true, depth - 1);
    const uint32_t count = ts_node_named_child_count(node);
    for (uint32_t i = 0; i < count; i++)
        if (takt__rust_gathers(rust, levels, ts_node_named_child(node, i),
                               is_index || (is_indexed && i == 1), depth - 1))
            return true;
    return false;
}

bool takt__rust_picks(struct takt_rust *rust,
                      const struct takt_rust_levels *levels, TSNode node,
                      unsigned depth)
{
    if (depth == 0 || ts_node_is_null(node) || !takt__rust_step(rust))
        return false;
    const TSNode base = rust_is(node, "index_expression")
                            ? ts_node_named_child(node, 0)
                            : takt__rust_null();
    if (rust_is(base, "identifier") && takt__rust_varies(rust, levels, base)) {
        const struct takt_rust_binding binding = takt__rust_binding(rust, base);
        const enum takt_rust_drawn drawn =
            binding.kind == TAKT_RUST_FOR || binding.kind == TAKT_RUST_CLOSURE
                ? takt__rust_bound_item(rust, binding, TAKT_RUST_DEPTH).drawn
                : TAKT_RUST_NOWHERE;
        if (drawn == TAKT_RUST_STRETCH)
            return true;
        if (drawn == TAKT_RUST_ELEMENT &&
            takt__rust_type_of(rust, base, TAKT_RUST_DEPTH).depth > 0)
            return true;
    }
    const uint32_t count = ts_node_named_child_count(node);
    for (uint32_t i = 0; i < count; i++)
        if (takt__rust_picks(rust, levels, ts_node_named_child(node, i),
                             depth - 1))
            return true;
    return false;
}

static bool reads(struct takt_rust *rust, const struct takt_rust_levels *levels,
                  TSNode node, unsigned depth)
{
    if (ts_node_is_null(node) || depth == 0 || !takt__rust_step(rust))
        return false;
    if (takt__rust_is_element(rust, levels, node))
        return true;
    /* A field of an element: structs, and no array of floats. */
    if (rust_is(node, "field_expression"))
        return false;
    if (rust_is(node, "call_expression"))
        return reads(rust, levels, takt__rust_receiver(node), depth - 1) ||
               reads(rust, levels, takt__node_field(node, "arguments"),
                     depth - 1);
    if (rust_is(node, "identifier")) {
        const struct takt_rust_binding binding = takt__rust_binding(rust, node);
        return binding.kind == TAKT_RUST_LET &&
               reads(rust, levels, takt__node_field(binding.node, "value"),
                     depth - 1);
    }
    const uint32_t count = ts_node_named_child_count(node);
    for (uint32_t i = 0; i < count; i++)
        if (reads(rust, levels, ts_node_named_child(node, i), depth - 1))
            return true;
    return false;
}

bool takt__rust_reads(struct takt_rust *rust,
                      const struct takt_rust_levels *levels, TSNode expression)
{
    return reads(rust, levels, expression, TAKT_RUST_DEPTH);
}

static const char *const arithmetic[] = {
    "sqrt",  "exp",     "exp2",  "exp_m1",        "ln",         "ln_1p",
    "log",   "log2",    "log10", "sin",           "cos",        "tan",
    "asin",  "acos",    "atan",  "atan2",         "sinh",       "cosh",
    "tanh",  "powf",    "powi",  "mul_add",       "recip",      "cbrt",
    "hypot", "floor",   "ceil",  "round",         "trunc",      "fract",
    "abs",   "signum",  "clone", "to_owned",      "max",        "min",
    "clamp", "len",     "get",   "get_unchecked", "at",         "unwrap",
    "into",  "sum",     "iter",  "zip",           "map",        "from",
    "relu",  "sigmoid", "gelu",  "copysign",      "expf",       "logf",
    "sqrtf", "fabsf",   "tanhf", "to_radians",    "to_degrees", "index",
    NULL};

static bool is_pure(struct takt_rust *rust, TSNode node, unsigned depth)
{
    if (depth == 0 || !takt__rust_step(rust))
        return false;
    if (rust_is(node, "call_expression")) {
        const TSNode method = takt__rust_method(node);
        const TSNode name =
            ts_node_is_null(method) ? takt__rust_callee(node) : method;
        if (!takt__rust_is_any(rust, name, arithmetic))
            return false;
    }
    if (rust_is(node, "macro_invocation") || rust_is(node, "return_expression"))
        return false;
    const uint32_t count = ts_node_named_child_count(node);
    for (uint32_t i = 0; i < count; i++)
        if (!is_pure(rust, ts_node_named_child(node, i), depth - 1))
            return false;
    return true;
}

bool takt__rust_is_pure(struct takt_rust *rust, TSNode expression)
{
    return is_pure(rust, expression, 2 * TAKT_RUST_DEPTH);
}

const char *takt__rust_function_op(const struct takt_rust *rust,
                                   TSNode function)
{
    static const char *const names[][2] = {
        {"abs", "abs"},          {"sqrt", "sqrt"},  {"exp", "exp"},
        {"exp2", "exp"},         {"exp_m1", "exp"}, {"ln", "log"},
        {"log", "log"},          {"log2", "log"},   {"log10", "log"},
        {"ln_1p", "log"},        {"tanh", "tanh"},  {"sigmoid", "sigmoid"},
        {"logistic", "sigmoid"}, {"relu", "relu"},  {"gelu", "gelu"},
        {"expf", "exp"},         {"logf", "log"},   {"sqrtf", "sqrt"},
        {"fabsf", "abs"},        {"tanhf", "tanh"}, {"neg", "neg"},
        {"recip", "div"}};
    if (rust_is(function, "scoped_identifier"))
        function = takt__node_field(function, "name");
    if (ts_node_is_null(function))
        return NULL;
    const struct takt_text name = rust_text(rust, function);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (takt__text_is(name, names[i][0]))
            return names[i][1];
    return NULL;
}

struct view {
    struct takt_rust *rust;
    const struct takt_rust_levels *levels;
};

static bool varies(struct view view, TSNode node)
{
    return takt__rust_varies(view.rust, view.levels, node);
}

/* Somewhere within: a call of that method. */
static bool mentions(const struct takt_rust *rust, TSNode node,
                     const char *method, unsigned depth)
{
    if (depth == 0 || ts_node_is_null(node))
        return false;
    if (takt__rust_calls(rust, node, method))
        return true;
    const uint32_t count = ts_node_named_child_count(node);
    for (uint32_t i = 0; i < count; i++)
        if (mentions(rust, ts_node_named_child(node, i), method, depth - 1))
            return true;
    return false;
}

/* a * x + y, a * b + c, x + y, and the same with a minus. */
static const char *sum_op(struct view view, TSNode node, const char *plain)
{
    const TSNode left = takt__rust_bare(view.rust, takt__rust_left(node));
    const TSNode right = takt__rust_bare(view.rust, takt__rust_right(node));
    const bool is_left = takt__rust_is_op(view.rust, left, "*");
    if (!is_left && !takt__rust_is_op(view.rust, right, "*"))
        return plain;
    const TSNode product = is_left ? left : right;
    const TSNode other = is_left ? right : left;
    const bool a = varies(view, takt__rust_left(product));
    const bool b = varies(view, takt__rust_right(product));
    if (!a && !b)
        return plain;
    if (a != b && varies(view, other))
        return "axpy";
    return "fma";
}

/* 1 / (1 + exp(-x)) */
static bool is_sigmoid(struct view view, TSNode node)
{
    struct takt_rust *rust = view.rust;
    const TSNode below = takt__rust_bare(rust, takt__rust_right(node));
    if (!takt__rust_literal_is(rust, takt__rust_left(node), 1) ||
        !takt__rust_is_op(rust, below, "+"))
        return false;
    const TSNode first = takt__rust_bare(rust, takt__rust_left(below));
    const TSNode second = takt__rust_bare(rust, takt__rust_right(below));
    return (takt__rust_literal_is(rust, first, 1) &&
            takt__rust_calls(rust, second, "exp")) ||
           (takt__rust_literal_is(rust, second, 1) &&
            takt__rust_calls(rust, first, "exp"));
}

/* c * exp(x): the factor costs nothing beside what it multiplies. */
static const char *scaled_op(struct view view, TSNode inner)
{
    static const char *const costly[] = {"exp",  "log",     "sqrt", "div",
                                         "tanh", "sigmoid", "gelu", NULL};
    const char *op = takt__rust_element_op(view.rust, view.levels, inner);
    return op != NULL &&
                   takt__rust_any((struct takt_text){op, strlen(op)}, costly)
               ? op
               : "scale";
}

static const char *binary_op(struct view view, TSNode node)
{
    struct takt_rust *rust = view.rust;
    if (takt__rust_is_op(rust, node, "+"))
        return sum_op(view, node, "add");
    if (takt__rust_is_op(rust, node, "-"))
        return sum_op(view, node, "sub");
    const bool left = varies(view, takt__rust_left(node));
    const bool right = varies(view, takt__rust_right(node));
    if (takt__rust_is_op(rust, node, "*")) {
        if (mentions(rust, node, "tanh", 12) || mentions(rust, node, "erf", 12))
            return "gelu";
        if (left && right)
            return "mul";
        return scaled_op(view,
                         left ? takt__rust_left(node) : takt__rust_right(node));
    }
    if (!takt__rust_is_op(rust, node, "/"))
        return NULL;
    if (is_sigmoid(view, node))
        return "sigmoid";
    return right ? "div" : scaled_op(view, takt__rust_left(node));
}

/* if x > 0 { x } else { 0 } */
static const char *branch_op(struct view view, TSNode node)
{
    struct takt_rust *rust = view.rust;
    const TSNode condition = takt__node_field(node, "condition");
    const TSNode then = takt__rust_tail(takt__node_field(node, "consequence"));
    TSNode other = takt__node_field(node, "alternative");
    if (!rust_is(condition, "binary_expression") || ts_node_is_null(other))
        return NULL;
    other = takt__rust_tail(ts_node_named_child(other, 0));
    const bool above = takt__rust_literal_is(rust, other, 0) &&
                       takt__rust_is_element(rust, view.levels, then);
    const bool below = takt__rust_literal_is(rust, then, 0) &&
                       takt__rust_is_element(rust, view.levels, other);
    return (above || below) &&
                   takt__rust_literal_is(rust, takt__rust_right(condition), 0)
               ? "relu"
               : NULL;
}

static const char *method_op(struct view view, TSNode call)
{
    struct takt_rust *rust = view.rust;
    const TSNode receiver = takt__rust_bare(rust, takt__rust_receiver(call));
    const TSNode first = takt__rust_argument(call, 0);
    if (takt__rust_calls(rust, call, "clamp"))
        return "clamp";
    const bool is_max = takt__rust_calls(rust, call, "max");
    if (is_max || takt__rust_calls(rust, call, "min")) {
        if (takt__rust_calls(rust, receiver, is_max ? "min" : "max"))
            return "clamp";
        return is_max && takt__rust_literal_is(rust, first, 0) ? "relu"
                                                               : "clamp";
    }
    if (takt__rust_calls(rust, call, "mul_add")) {
        const bool a = varies(view, receiver), b = varies(view, first);
        return a != b && varies(view, takt__rust_argument(call, 1)) ? "axpy"
                                                                    : "fma";
    }
    if (takt__rust_calls(rust, call, "powi"))
        return takt__rust_literal_is(rust, first, 2) ? "mul" : NULL;
    return takt__rust_function_op(rust, takt__rust_method(call));
}

static const char *call_op(struct view view, TSNode call)
{
    struct takt_rust *rust = view.rust;
    if (!ts_node_is_null(takt__rust_method(call)))
        return method_op(view, call);
    const TSNode callee = takt__rust_callee(call);
    if (takt__rust_argument_count(call) == 2 && !ts_node_is_null(callee) &&
        takt__text_is(rust_text(rust, callee), "max"))
        return takt__rust_literal_is(rust, takt__rust_argument(call, 1), 0)
                   ? "relu"
                   : "clamp";
    return takt__rust_argument_count(call) == 1
               ? takt__rust_function_op(rust, callee)
               : NULL;
}

const char *takt__rust_element_op(struct takt_rust *rust,
                                  const struct takt_rust_levels *levels,
                                  TSNode node)
{
    const struct view view = {rust, levels};
    node = takt__rust_bare(rust, takt__rust_tail(node));
    if (levels->count == 0 || ts_node_is_null(node) || !varies(view, node))
        return NULL;
    if (takt__rust_is_element(rust, levels, node)) {
        /* A cast from integers makes other bytes: a conversion, no copy. */
        const struct takt_rust_type from = takt__rust_type_of(
            rust, takt__rust_value(rust, node), TAKT_RUST_DEPTH);
        return rust_is(node, "type_cast_expression") && !rust_is_float(from)
                   ? NULL
                   : "copy";
    }
    if (rust_is(node, "identifier")) {
        const struct takt_rust_binding binding = takt__rust_binding(rust, node);
        return binding.kind == TAKT_RUST_LET
                   ? takt__rust_element_op(
                         rust, levels, takt__node_field(binding.node, "value"))
                   : NULL;
    }
    if (rust_is(node, "binary_expression"))
        return binary_op(view, node);
    if (rust_is(node, "unary_expression"))
        return "neg";
    if (rust_is(node, "if_expression"))
        return branch_op(view, node);
    if (rust_is(node, "call_expression"))
        return call_op(view, node);
    return NULL;
}

/* The square of something: x - c is a deviation, anything else a length. */
static struct takt_rust_summand squared(struct view view, TSNode base)
{
    struct takt_rust_summand out = {"dot", base, base, true};
    base = takt__rust_bare(view.rust, base);
    if (rust_is(base, "identifier")) {
        const struct takt_rust_binding binding =
            takt__rust_binding(view.rust, base);
        if (binding.kind == TAKT_RUST_LET)
            base = takt__rust_bare(view.rust,
                                   takt__node_field(binding.node, "value"));
    }
    if (takt__rust_is_op(view.rust, base, "-") &&
        varies(view, takt__rust_left(base)) !=
            varies(view, takt__rust_right(base)))
        out.op = "variance";
    return out;
}

struct takt_rust_summand
takt__rust_summand(struct takt_rust *rust,
                   const struct takt_rust_levels *levels, TSNode node)
{
    const struct view view = {rust, levels};
    struct takt_rust_summand out = {"sum", node, takt__rust_null(), false};
    if (levels->count == 0)
        return out;
    node = takt__rust_value(rust, node);
    if (rust_is(node, "identifier")) {
        const struct takt_rust_binding binding = takt__rust_binding(rust, node);
        const TSNode value = takt__node_field(binding.node, "value");
        if (binding.kind == TAKT_RUST_LET && varies(view, value))
            node = takt__rust_value(rust, value);
    }
    if (takt__rust_is_op(rust, node, "*")) {
        const TSNode left = takt__rust_bare(rust, takt__rust_left(node));
        const TSNode right = takt__rust_bare(rust, takt__rust_right(node));
        if (takt__rust_same_text(rust, left, right))
            return squared(view, left);
        if (varies(view, left) && varies(view, right))
            out = (struct takt_rust_summand){"dot", left, right, false};
        else if (takt__rust_depends(rust, levels, left, TAKT_RUST_DEPTH) != 0 &&
                 takt__rust_depends(rust, levels, right, TAKT_RUST_DEPTH) != 0)
            out = (struct takt_rust_summand){"dot", left, right, false};
    } else if (takt__rust_calls(rust, node, "powi") ||
               takt__rust_calls(rust, node, "powf")) {
        if (takt__rust_literal_is(rust, takt__rust_argument(node, 0), 2))
            return squared(view, takt__rust_receiver(node));
    } else if (takt__rust_calls(rust, node, "abs")) {
        out.op = "norm1";
    }
    return out;
}
