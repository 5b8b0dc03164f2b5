/* SPDX-License-Identifier: MIT */
/*
 * rust_compose.c - softmax, layernorm and attention are several steps of one
 * function. The step at the heart is reported for the whole: the exponentials
 * of a softmax, the scaling of a layernorm, the last product of an attention;
 * the other steps are then a part of it.
 */
#include "rust.h"

#include <string.h>

static bool find_shift(struct takt_rust *rust, TSNode node, void *self)
{
    struct takt_text *shift = self;
    if (!rust_is(node, "binary_expression") ||
        !takt__text_is(takt__rust_operator(rust, node), "-"))
        return false;
    const TSNode right = takt__rust_bare(rust, takt__rust_right(node));
    if (!rust_is(right, "identifier"))
        return false;
    *shift = rust_text(rust, right);
    return true;
}

/* (x - shift).exp(): the name of what is taken off; empty: nothing. */
static bool find_exponential(struct takt_rust *rust, TSNode node, void *self)
{
    static const char names[] = "exp expf";
    struct takt_text *shift = self;
    if (!rust_is(node, "call_expression"))
        return false;
    TSNode inner = takt__rust_receiver(node);
    if (!takt__rust_calls(rust, node, "exp")) {
        if (!takt__rust_is_any(rust, takt__rust_callee(node), names))
            return false;
        inner = takt__rust_argument(node, 0);
    }
    takt__rust_any(rust, inner, find_shift, shift, TAKT_RUST_DEPTH);
    return true;
}

/* A division by a name that gathered a sum. */
struct division {
    uint32_t after;
    struct takt_text divisor, inverse;
};

static bool gathers(struct takt_rust *rust, TSNode node, void *self)
{
    const struct takt_text *sum = self;
    if (rust_is(node, "compound_assignment_expr"))
        return takt__text_is(takt__rust_operator(rust, node), "+=") &&
               takt__rust_same(rust_text(rust, takt__rust_left(node)), *sum);
    if (rust_is(node, "assignment_expression")) { /* sum = sum + x */
        const TSNode right = takt__rust_bare(rust, takt__rust_right(node));
        return takt__rust_is_op(rust, right, "+") &&
               takt__rust_same(rust_text(rust, takt__rust_left(node)), *sum) &&
               takt__rust_same(rust_text(rust, takt__rust_left(right)), *sum);
    }
    if (!rust_is(node, "let_declaration"))
        return false;
    const TSNode value = takt__rust_bare(rust, takt__node_field(node, "value"));
    return takt__rust_same(rust_text(rust, takt__node_field(node, "pattern")),
                           *sum) &&
           (takt__rust_calls(rust, value, "sum") ||
            takt__rust_calls(rust, value, "fold"));
}

static bool find_division(struct takt_rust *rust, TSNode node, void *self)
{
    struct division *out = self;
    if (ts_node_start_byte(node) < out->after)
        return false;
    const bool is_binary = rust_is(node, "binary_expression");
    if (!is_binary && !rust_is(node, "compound_assignment_expr"))
        return false;
    const struct takt_text sign = takt__rust_operator(rust, node);
    if (sign.size == 0 || sign.at[0] != '/')
        return false;
    TSNode right = takt__rust_bare(rust, takt__rust_right(node));
    if (rust_is(right, "binary_expression")) /* sum + epsilon */
        right = takt__rust_bare(rust, takt__rust_left(right));
    if (!rust_is(right, "identifier"))
        return false;
    struct takt_text sum = rust_text(rust, right);
    const TSNode function = takt__rust_above(rust, node, "function_item");
    if (!takt__rust_any(rust, takt__node_field(function, "body"), gathers, &sum,
                        2 * TAKT_RUST_DEPTH))
        return false;
    out->divisor = sum;
    /* let inverse = 1.0 / sum; */
    const TSNode let = takt__rust_above(rust, node, "let_declaration");
    if (!ts_node_is_null(let) &&
        ts_node_start_byte(let) > ts_node_start_byte(function))
        out->inverse = rust_text(rust, takt__node_field(let, "pattern"));
    return true;
}

static bool is_softmax(struct takt_rust *rust, TSNode function, TSNode node,
                       struct takt_rust_composition *out)
{
    struct takt_text shift = {"", 0};
    if (!takt__rust_any(rust, node, find_exponential, &shift,
                        2 * TAKT_RUST_DEPTH))
        return false;
    struct division division = {ts_node_start_byte(node), {"", 0}, {"", 0}};
    if (!takt__rust_any(rust, takt__node_field(function, "body"), find_division,
                        &division, 2 * TAKT_RUST_DEPTH))
        return false;
    *out = (struct takt_rust_composition){.function = function.id,
                                          .op = "softmax",
                                          .anchor = node,
                                          .shift = shift,
                                          .divisor = division.divisor,
                                          .inverse = division.inverse};
    return true;
}

static bool names_it(struct takt_rust *rust, TSNode node, void *self)
{
    const struct takt_text *name = self;
    return rust_is(node, "identifier") &&
           takt__rust_same(rust_text(rust, node), *name);
}

/* A variance about that mean, before the step. */
struct variance {
    struct takt_text mean;
    uint32_t before;
};

static bool find_variance(struct takt_rust *rust, TSNode node, void *self)
{
    struct variance *of = self;
    if (ts_node_start_byte(node) >= of->before)
        return false;
    if (!rust_is(node, "for_expression") &&
        !takt__rust_calls(rust, node, "sum"))
        return false;
    const struct takt_rust_verdict verdict = takt__rust_raw(rust, node);
    return verdict.op != NULL && strcmp(verdict.op, "variance") == 0 &&
           takt__rust_any(rust, node, names_it, &of->mean, 2 * TAKT_RUST_DEPTH);
}

static bool is_layernorm(struct takt_rust *rust, TSNode function, TSNode node,
                         struct takt_rust_composition *out)
{
    struct takt_text mean = {"", 0};
    if (!takt__rust_any(rust, node, find_shift, &mean, 2 * TAKT_RUST_DEPTH))
        return false;
    struct variance variance = {mean, ts_node_start_byte(node)};
    if (!takt__rust_any(rust, takt__node_field(function, "body"), find_variance,
                        &variance, 2 * TAKT_RUST_DEPTH))
        return false;
    *out = (struct takt_rust_composition){.function = function.id,
                                          .op = "layernorm",
                                          .anchor = node,
                                          .shift = mean};
    return true;
}

/* The call of that kind that a value comes from, through names. */
static TSNode comes_from(struct takt_rust *rust, TSNode node, const char *op,
                         unsigned depth)
{
    node = takt__rust_bare(rust, node);
    if (ts_node_is_null(node) || depth == 0)
        return takt__rust_null();
    if (rust_is(node, "identifier")) {
        const struct takt_rust_binding binding = takt__rust_binding(rust, node);
        if (binding.kind != TAKT_RUST_LET)
            return takt__rust_null();
        return comes_from(rust, takt__node_field(binding.node, "value"), op,
                          depth - 1);
    }
    if (rust_is(node, "call_expression")) {
        const TSNode method = takt__rust_method(node);
        const TSNode name =
            ts_node_is_null(method) ? takt__rust_callee(node) : method;
        const struct takt_text text = ts_node_is_null(name)
                                          ? (struct takt_text){"", 0}
                                          : rust_text(rust, name);
        const size_t size = strlen(op);
        if (text.size >= size && memcmp(text.at, op, size) == 0)
            return node;
    }
    const uint32_t count = ts_node_named_child_count(node);
    for (uint32_t i = 0; i < count && i < 8; i++) {
        const TSNode found =
            comes_from(rust, ts_node_named_child(node, i), op, depth - 1);
        if (!ts_node_is_null(found))
            return found;
    }
    return takt__rust_null();
}

static bool is_attention(struct takt_rust *rust, TSNode function, TSNode node,
                         struct takt_rust_composition *out)
{
    const TSNode first = ts_node_is_null(takt__rust_method(node))
                             ? takt__rust_argument(node, 0)
                             : takt__rust_receiver(node);
    const TSNode weights = comes_from(rust, first, "softmax", 10);
    if (ts_node_is_null(weights))
        return false;
    const TSNode scores =
        comes_from(rust, takt__node_field(weights, "arguments"), "matmul", 10);
    const TSNode other =
        comes_from(rust, takt__rust_receiver(weights), "matmul", 10);
    if (ts_node_is_null(scores) && ts_node_is_null(other))
        return false;
    *out = (struct takt_rust_composition){
        .function = function.id,
        .op = "attention",
        .anchor = node,
        .part = {weights, ts_node_is_null(scores) ? other : scores}};
    return true;
}

static bool find_composition(struct takt_rust *rust, TSNode node, void *self)
{
    struct takt_rust_composition *out = self;
    if (rust_is(node, "function_item") ||
        (!takt__node_in(node, "for_expression call_expression")))
        return false;
    const struct takt_rust_verdict verdict = takt__rust_raw(rust, node);
    const TSNode function = takt__rust_above(rust, node, "function_item");
    if (verdict.op == NULL || !ts_node_eq(verdict.anchor, node))
        return false;
    if (strcmp(verdict.op, "matmul") == 0)
        return rust_is(node, "call_expression") &&
               is_attention(rust, function, node, out);
    static const char scaling[] = "scale fma axpy mul div add";
    if (takt__text_in((struct takt_text){verdict.op, strlen(verdict.op)},
                      scaling))
        return is_layernorm(rust, function, node, out);
    if (takt__word_in(verdict.op, "exp sum"))
        return is_softmax(rust, function, node, out);
    return false;
}

static bool is_part(struct takt_rust *rust, TSNode node,
                    const struct takt_rust_composition *whole)
{
    for (unsigned i = 0; i < 2; i++)
        if (!ts_node_is_null(whole->part[i]) &&
            ts_node_eq(whole->part[i], node))
            return true;
    struct takt_text names[3] = {whole->shift, whole->divisor, whole->inverse};
    TSNode path[TAKT_RUST_PATH];
    TSNode statement = node;
    bool is_outside = false;
    for (unsigned i = takt__rust_path(rust, node, path); i > 0; i--) {
        if (rust_is(path[i - 1], "function_item"))
            break;
        is_outside |= rust_is(path[i - 1], "block");
        if (!is_outside)
            statement = path[i - 1];
        /* let max = { .. a loop .. }; */
        for (unsigned j = 0; j < 3; j++)
            if (rust_is(path[i - 1], "let_declaration") && names[j].size > 0 &&
                takt__rust_same(
                    rust_text(rust, takt__node_field(path[i - 1], "pattern")),
                    names[j]))
                return true;
    }
    for (unsigned i = 0; i < 3; i++)
        if (names[i].size > 0 && takt__rust_any(rust, statement, names_it,
                                                &names[i], 2 * TAKT_RUST_DEPTH))
            return true;
    return false;
}

void takt__rust_compose(struct takt_rust *rust, TSNode node,
                        struct takt_rust_verdict *verdict)
{
    const TSNode function = takt__rust_above(rust, node, "function_item");
    if (verdict->op == NULL || ts_node_is_null(function))
        return;
    if (rust->composition.function != function.id) {
        struct takt_rust_composition found = {.function = function.id,
                                              .op = NULL};
        rust->steps = TAKT_RUST_FILE / 100;
        takt__rust_any(rust, takt__node_field(function, "body"),
                       find_composition, &found, 2 * TAKT_RUST_DEPTH);
        rust->composition = found;
        rust->steps = TAKT_RUST_STEPS;
    }
    const struct takt_rust_composition *whole = &rust->composition;
    if (whole->op == NULL)
        return;
    if (ts_node_eq(whole->anchor, node)) {
        verdict->op = whole->op;
        verdict->rank = 0;
    } else if (is_part(rust, node, whole)) {
        verdict->op = NULL;
    }
}
