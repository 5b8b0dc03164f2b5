/* SPDX-License-Identifier: MIT */
/*
 * rust_syntax.c - the parts of Rust's expressions, by name. A method chain is
 * calls within calls, the last method outermost; these say it in words.
 */
#include "rust.h"

#include <stdlib.h>
#include <string.h>

TSNode takt__rust_null(void)
{
    return (TSNode){{0, 0, 0, 0}, NULL, NULL};
}

bool takt__rust_same_text(const struct takt_rust *rust, TSNode a, TSNode b)
{
    return !ts_node_is_null(a) && !ts_node_is_null(b) &&
           takt__ir_same_text(rust_text(rust, a), rust_text(rust, b));
}

bool takt__rust_is_any(const struct takt_rust *rust, TSNode node,
                       const char *words)
{
    return !ts_node_is_null(node) &&
           takt__text_in(rust_text(rust, node), words);
}

TSNode takt__rust_bare(const struct takt_rust *rust, TSNode node)
{
    while (!ts_node_is_null(node)) {
        if (takt__node_in(
                node,
                "parenthesized_expression try_expression expression_statement"))
            node = ts_node_named_child(node, 0);
        else if (rust_is(node, "reference_expression"))
            node = takt__node_field(node, "value");
        else if (rust_is(node, "unary_expression") &&
                 takt__text_is(takt__rust_operator(rust, node), "*"))
            node = ts_node_named_child(node, 0);
        else
            break;
    }
    return node;
}

static TSNode function_of(TSNode call)
{
    TSNode function = takt__node_field(call, "function");
    if (rust_is(function, "generic_function"))
        function = takt__node_field(function, "function");
    return function;
}

/* Of a.b(): the part `field` of a.b. */
static TSNode part_of_method(TSNode call, const char *field)
{
    const TSNode function = rust_is(call, "call_expression")
                                ? function_of(call)
                                : takt__rust_null();
    return rust_is(function, "field_expression")
               ? takt__node_field(function, field)
               : takt__rust_null();
}

TSNode takt__rust_method(TSNode call)
{
    return part_of_method(call, "field");
}

bool takt__rust_calls(const struct takt_rust *rust, TSNode call,
                      const char *method)
{
    const TSNode name = takt__rust_method(call);
    return !ts_node_is_null(name) &&
           takt__text_is(rust_text(rust, name), method);
}

TSNode takt__rust_receiver(TSNode call)
{
    return part_of_method(call, "value");
}

unsigned takt__rust_argument_count(TSNode call)
{
    const TSNode list = takt__node_field(call, "arguments");
    unsigned count = 0;
    const uint32_t all = takt__node_children(list);
    for (uint32_t i = 0; i < all; i++)
        count += !ts_node_is_extra(ts_node_named_child(list, i));
    return count;
}

TSNode takt__rust_argument(TSNode call, unsigned place)
{
    const TSNode list = takt__node_field(call, "arguments");
    const uint32_t all =
        ts_node_is_null(list) ? 0 : ts_node_named_child_count(list);
    for (uint32_t i = 0; i < all; i++) {
        const TSNode node = ts_node_named_child(list, i);
        if (ts_node_is_extra(node))
            continue;
        if (place == 0)
            return node;
        place--;
    }
    return takt__rust_null();
}

TSNode takt__rust_turbofish(TSNode call)
{
    const TSNode function = takt__node_field(call, "function");
    if (!rust_is(function, "generic_function"))
        return takt__rust_null();
    return ts_node_named_child(takt__node_field(function, "type_arguments"), 0);
}

TSNode takt__rust_callee(TSNode call)
{
    TSNode function = function_of(call);
    if (rust_is(function, "scoped_identifier"))
        function = takt__node_field(function, "name");
    return rust_is(function, "identifier") ? function : takt__rust_null();
}

bool takt__rust_zip(const struct takt_rust *rust, TSNode call, TSNode part[2])
{
    static const char paths[] =
        "std::iter::zip iter::zip core::iter::zip itertools::zip";
    static const char bare[] = "zip";
    if (!rust_is(call, "call_expression") ||
        takt__rust_argument_count(call) != 2)
        return false;
    const TSNode function = function_of(call);
    if (!takt__rust_is_any(rust, function, paths) &&
        (!takt__rust_is_any(rust, function, bare) ||
         !takt__rust_uses(rust, "zip")))
        return false;
    part[0] = takt__rust_argument(call, 0);
    part[1] = takt__rust_argument(call, 1);
    return true;
}

TSNode takt__rust_left(TSNode node)
{
    return takt__node_field(node, "left");
}

TSNode takt__rust_right(TSNode node)
{
    return takt__node_field(node, "right");
}

struct takt_text takt__rust_operator(const struct takt_rust *rust, TSNode node)
{
    TSNode sign = takt__node_field(node, "operator");
    if (ts_node_is_null(sign))
        sign = ts_node_child(node, 0);
    return rust_text(rust, sign);
}

bool takt__rust_is_op(const struct takt_rust *rust, TSNode node,
                      const char *sign)
{
    return rust_is(node, "binary_expression") &&
           takt__text_is(takt__rust_operator(rust, node), sign);
}

TSNode takt__rust_bare_pattern(TSNode pattern)
{
    while (takt__node_in(pattern, "reference_pattern mut_pattern ref_pattern"))
        pattern = takt__node_child(pattern, takt__node_children(pattern) - 1);
    return pattern;
}

TSNode takt__rust_tail(TSNode body)
{
    while (takt__node_in(body, "block unsafe_block expression_statement")) {
        const uint32_t count = ts_node_named_child_count(body);
        TSNode last = takt__rust_null();
        for (uint32_t i = count; i > 0; i--) {
            last = ts_node_named_child(body, i - 1);
            if (!ts_node_is_extra(last))
                break;
        }
        if (ts_node_is_null(last))
            return last;
        body = last;
    }
    return body;
}

bool takt__rust_literal_is(const struct takt_rust *rust, TSNode node,
                           double value)
{
    char digits[32];
    if (!takt__node_in(node, "float_literal integer_literal"))
        return false;
    const struct takt_text text = rust_text(rust, node);
    if (text.size >= sizeof digits)
        return false;
    memcpy(digits, text.at, text.size);
    digits[text.size] = '\0';
    const double read = strtod(digits, NULL);
    return !(read < value) && !(read > value);
}

bool takt__rust_any(struct takt_rust *rust, TSNode node, takt_rust_test *holds,
                    void *about, unsigned depth)
{
    if (depth == 0 || ts_node_is_null(node) || !takt__rust_step(rust))
        return false;
    if (holds(rust, node, about))
        return true;
    const uint32_t count = ts_node_named_child_count(node);
    for (uint32_t i = 0; i < count; i++)
        if (takt__rust_any(rust, ts_node_named_child(node, i), holds, about,
                           depth - 1))
            return true;
    return false;
}
