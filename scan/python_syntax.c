/* SPDX-License-Identifier: MIT */
/*
 * python_syntax.c - small questions about a Python tree.
 */
#include "python.h"

#include <stdlib.h>
#include <string.h>

enum { DEEPEST = 16, MOST_ARGUMENTS = 64 };

TSNode takt__python_bare(TSNode node)
{
    while (takt__node_is(node, "parenthesized_expression") &&
           takt__node_children(node) == 1)
        node = takt__node_child(node, 0);
    return node;
}

char takt__python_operator(const struct takt_source *source, TSNode node)
{
    TSNode sign = takt__node_field(node, "operator");

    if (ts_node_is_null(sign))
        return 0;
    struct takt_text text = takt__node_text(source, sign);
    if (text.size > 1 && text.at[text.size - 1] == '=')
        text.size--;
    if (takt__text_is(text, "**"))
        return 'p';
    return text.size == 1 ? text.at[0] : '\0';
}

static TSNode arguments_of(TSNode call)
{
    return takt__node_field(call, "arguments");
}

/* A generator that stands alone has the parentheses of the call. */
static bool is_generator(TSNode arguments)
{
    return takt__node_is(arguments, "generator_expression");
}

unsigned takt__python_argument_count(TSNode call)
{
    TSNode arguments = arguments_of(call);
    unsigned count = 0;

    if (ts_node_is_null(arguments))
        return 0;
    if (is_generator(arguments))
        return 1;
    for (unsigned i = 0;
         i < takt__node_children(arguments) && i < MOST_ARGUMENTS; i++)
        count += !takt__node_is(takt__node_child(arguments, i), "comment");
    return count;
}

TSNode takt__python_argument(const struct takt_source *source, TSNode call,
                             unsigned position, const char *keyword)
{
    TSNode arguments = arguments_of(call), none = {{0}, NULL, NULL};
    unsigned at = 0;

    if (ts_node_is_null(arguments))
        return none;
    if (is_generator(arguments))
        return position == 0 ? arguments : none;
    const unsigned count = takt__node_children(arguments);
    for (unsigned i = 0; i < count && i < MOST_ARGUMENTS; i++) {
        TSNode child = takt__node_child(arguments, i);
        if (takt__node_is(child, "comment"))
            continue;
        if (takt__node_is(child, "keyword_argument")) {
            TSNode name = takt__node_field(child, "name");
            if (keyword != NULL &&
                takt__text_is(takt__node_text(source, name), keyword))
                return takt__node_field(child, "value");
        } else if (at++ == position) {
            return child;
        }
    }
    return none;
}

bool takt__python_same(const struct takt_source *source, TSNode a, TSNode b)
{
    const struct takt_text one = takt__node_text(source, takt__python_bare(a));
    const struct takt_text two = takt__node_text(source, takt__python_bare(b));

    return one.size == two.size && memcmp(one.at, two.at, one.size) == 0;
}

TSNode takt__python_follow(const struct takt_source *source, TSNode node)
{
    node = takt__python_bare(node);
    for (unsigned i = 0; i < DEEPEST && takt__node_is(node, "identifier");
         i++) {
        const struct takt_python_binding *binding = takt__python_lookup(
            source, takt__node_text(source, node), ts_node_start_byte(node));
        if (binding == NULL || binding->binds != TAKT_PYTHON_VALUE ||
            binding->part >= 0 || ts_node_is_null(binding->value))
            break;
        node = takt__python_bare(binding->value);
    }
    return node;
}

bool takt__python_is_literal(const struct takt_source *source, TSNode node,
                             double number)
{
    char text[32] = "";

    node = takt__python_bare(node);
    if (!takt__node_in(node, "integer float"))
        return false;
    const struct takt_text from = takt__node_text(source, node);
    if (from.size >= sizeof text)
        return false;
    memcpy(text, from.at, from.size);
    const double difference = strtod(text, NULL) - number;
    return difference > -1e-12 && difference < 1e-12;
}

bool takt__python_is_sliced(TSNode subscript)
{
    const unsigned count = takt__node_children(subscript);
    bool has_slice = false;

    for (unsigned i = 1; i < count && i < 8; i++) {
        TSNode index = takt__node_child(subscript, i);
        has_slice |= takt__node_in(index, "slice ellipsis none");
    }
    return count > 2 && has_slice;
}
