/* SPDX-License-Identifier: MIT */
/*
 * python_arithmetic.c - operators on what is known to be arrays. For `@` it is
 * enough that nothing contradicts it: nobody else uses it.
 */
#include "python.h"

#include <string.h>

static bool is_kind(const struct takt_source *source, TSNode node,
                    enum takt_python_kind kind)
{
    return takt__python_value(source, node).kind == kind;
}

/* alpha * x + y is axpy, x * y + z is fma. */
static const char *sum_of_product(const struct takt_source *source,
                                  TSNode product, TSNode other, char sign)
{
    product = takt__python_bare(product);
    if (!takt__node_is(product, "binary_operator") ||
        takt__python_operator(source, product) != '*' ||
        !is_kind(source, other, TAKT_PYTHON_ARRAY))
        return NULL;
    TSNode left = takt__node_field(product, "left");
    TSNode right = takt__node_field(product, "right");
    const bool is_left = is_kind(source, left, TAKT_PYTHON_ARRAY);
    const bool is_right = is_kind(source, right, TAKT_PYTHON_ARRAY);
    if ((is_left && is_kind(source, right, TAKT_PYTHON_NUMBER)) ||
        (is_right && is_kind(source, left, TAKT_PYTHON_NUMBER)))
        return "axpy";
    return is_left && is_right && sign == '+' ? "fma" : NULL;
}

/* An object that says itself what its operators do. */
static bool is_self(const struct takt_source *source, TSNode node)
{
    return takt__text_is(takt__node_text(source, node), "self");
}

static bool has_slice(TSNode subscript)
{
    for (unsigned i = 1; i < takt__node_children(subscript) && i < 8; i++) {
        TSNode index = takt__node_child(subscript, i);
        if (!takt__node_in(index, "integer identifier"))
            return true;
    }
    return false;
}

/* Lists have no - and /: of two stretches, these are arrays. */
static struct takt_python_value operand(const struct takt_source *source,
                                        TSNode node, char sign)
{
    struct takt_python_value value = takt__python_value(source, node);

    node = takt__python_bare(node);
    if (value.kind == TAKT_PYTHON_UNKNOWN && (sign == '-' || sign == '/') &&
        takt__python_has_arrays(source) && takt__node_is(node, "subscript") &&
        takt__node_children(node) == 2 &&
        takt__node_is(takt__node_child(node, 1), "slice")) {
        value.kind = TAKT_PYTHON_ARRAY;
        value.rank = TAKT_PYTHON_RANK_UNKNOWN;
    }
    return value;
}

static const char *binary(const struct takt_source *source, TSNode node)
{
    TSNode left = takt__node_field(node, "left");
    TSNode right = takt__node_field(node, "right");
    const char sign = takt__python_operator(source, node);

    if (sign == 0 || strchr("@+-*/", sign) == NULL)
        return NULL;
    const struct takt_python_value one = operand(source, left, sign);
    const struct takt_python_value two = operand(source, right, sign);
    const enum takt_python_kind a = one.kind, b = two.kind;
    if (sign == '@') {
        if (!takt__python_has_arrays(source) || is_self(source, left) ||
            is_self(source, right) || a == TAKT_PYTHON_NUMBER ||
            b == TAKT_PYTHON_NUMBER || a == TAKT_PYTHON_THING ||
            b == TAKT_PYTHON_THING)
            return NULL;
        return takt__python_product_op(source, left, right);
    }
    if (a != TAKT_PYTHON_ARRAY && b != TAKT_PYTHON_ARRAY)
        return NULL;
    if (takt__node_is(left, "subscript") && a != TAKT_PYTHON_ARRAY &&
        takt__node_is(node, "augmented_assignment") && !has_slice(left))
        return NULL; /* a[3] /= y is about one element */
    const bool has_number = a == TAKT_PYTHON_NUMBER || b == TAKT_PYTHON_NUMBER;
    if (has_number && (one.is_doubtful || two.is_doubtful))
        return NULL;
    if (sign == '*')
        return has_number ? "scale" : "mul";
    if (sign == '/')
        return b == TAKT_PYTHON_NUMBER ? "scale" : "div";
    const char *op = sum_of_product(source, right, left, sign);
    if (op == NULL)
        op = sum_of_product(source, left, right, sign);
    return op != NULL ? op : sign == '+' ? "add" : "sub";
}

const char *takt__python_arithmetic(const struct takt_source *source,
                                    TSNode node)
{
    if (!takt__node_is(node, "unary_operator"))
        return binary(source, node); /* and x += y */
    return takt__python_operator(source, node) == '-' &&
                   is_kind(source, takt__node_field(node, "argument"),
                           TAKT_PYTHON_ARRAY)
               ? "neg"
               : NULL;
}
