/* SPDX-License-Identifier: MIT */
/*
 * python_shapes.c - the shapes of what is computed from arrays, and the sizes
 * that are written in a file: 512, N, 2 * N.
 */
#include "python_results.h"

#include <string.h>

static bool has_rank(struct takt_python_value value)
{
    return value.rank != TAKT_PYTHON_RANK_UNKNOWN;
}

static enum takt_size_source weaker(enum takt_size_source a,
                                    enum takt_size_source b)
{
    return a > b ? a : b;
}

struct takt_python_value takt__python_turned(struct takt_python_value value)
{
    if (has_rank(value))
        for (unsigned i = 0; i < value.rank / 2; i++) {
            const size_t kept = value.dim[i];
            value.dim[i] = value.dim[value.rank - 1 - i];
            value.dim[value.rank - 1 - i] = kept;
        }
    return value;
}

static bool has_known_rank(struct takt_python_value value)
{
    return value.kind == TAKT_PYTHON_ARRAY && has_rank(value) && value.rank > 0;
}

static struct takt_python_value product(struct takt_python_value a,
                                        struct takt_python_value b)
{
    struct takt_python_value out = takt__python_some_array(
        a.kind == TAKT_PYTHON_ARRAY ? a.is_torch : b.is_torch);

    if (a.kind != TAKT_PYTHON_ARRAY && b.kind != TAKT_PYTHON_ARRAY)
        return (struct takt_python_value){.kind = TAKT_PYTHON_UNKNOWN};
    if (a.is_dtype_known && b.is_dtype_known && a.dtype == b.dtype) {
        out.dtype = a.dtype;
        out.is_dtype_known = true;
    }
    if (!has_known_rank(a) || !has_known_rank(b)) {
        /* with a vector it is taken for gemv, so the result is a vector */
        out.is_doubtful = !has_known_rank(a) && !has_known_rank(b);
        return out;
    }
    if (a.rank == 1 && b.rank == 1)
        return (struct takt_python_value){.kind = TAKT_PYTHON_NUMBER};
    out.source = weaker(a.source, b.source);
    out.rank = a.rank > b.rank ? a.rank : b.rank;
    if (a.rank == 1) {
        out.rank = b.rank - 1;
        out.dim[out.rank - 1] = b.dim[b.rank - 1];
        return out;
    }
    if (b.rank == 1) {
        out = a;
        out.rank = a.rank - 1;
        return out;
    }
    memcpy(out.dim, a.rank >= b.rank ? a.dim : b.dim, sizeof out.dim);
    out.dim[out.rank - 2] = a.dim[a.rank - 2];
    out.dim[out.rank - 1] = b.dim[b.rank - 1];
    return out;
}

static bool is_turned(const struct takt_source *source, TSNode node)
{
    node = takt__python_bare(node);
    return takt__node_is(node, "attribute") &&
           takt__text_is(
               takt__node_text(source, takt__node_field(node, "attribute")),
               "T");
}

/* x @ A @ x and x.T @ A @ x are numbers, unless x is called like a matrix. */
static bool is_quadratic(const struct takt_source *source, TSNode left,
                         TSNode right)
{
    const struct takt_text name = takt__node_text(source, right);

    left = takt__python_bare(left);
    if (!takt__node_is(left, "binary_operator") ||
        takt__python_operator(source, left) != '@' ||
        has_known_rank(takt__python_value(source, right)))
        return false;
    TSNode first = takt__python_bare(takt__node_field(left, "left"));
    if (is_turned(source, first))
        first = takt__node_field(first, "object");
    return takt__python_same(source, first, right) && name.size > 0 &&
           (name.at[0] < 'A' || name.at[0] > 'Z');
}

struct takt_python_value
takt__python_product_of(const struct takt_source *source, TSNode left,
                        TSNode right)
{
    struct takt_python_value value = product(takt__python_value(source, left),
                                             takt__python_value(source, right));

    if (is_quadratic(source, left, right))
        return (struct takt_python_value){.kind = TAKT_PYTHON_NUMBER};
    if (is_turned(source, left) || is_turned(source, right))
        value.is_doubtful = false;
    return value;
}

struct takt_python_value takt__python_broadcast(struct takt_python_value a,
                                                struct takt_python_value b)
{
    struct takt_python_value out = a;

    if (a.dtype != b.dtype || !a.is_dtype_known || !b.is_dtype_known)
        out.is_dtype_known = false;
    if (!has_rank(a) || !has_rank(b)) {
        out.rank = TAKT_PYTHON_RANK_UNKNOWN;
        return out;
    }
    if (b.rank > a.rank) {
        out.rank = b.rank;
        memcpy(out.dim, b.dim, sizeof out.dim);
        out.source = b.source;
    }
    return out;
}

/* ---- sizes --------------------------------------------------------------- */

static bool size_of(const struct takt_source *source, TSNode node, size_t *out,
                    enum takt_size_source *how, unsigned depth);

static bool size_of_operator(const struct takt_source *source, TSNode node,
                             size_t *out, enum takt_size_source *how,
                             unsigned depth)
{
    size_t a, b;

    if (!size_of(source, takt__node_field(node, "left"), &a, how, depth) ||
        !size_of(source, takt__node_field(node, "right"), &b, how, depth))
        return false;
    const struct takt_text sign =
        takt__node_text(source, takt__node_field(node, "operator"));
    if (takt__text_is(sign, "*"))
        return !__builtin_mul_overflow(a, b, out);
    if (takt__text_is(sign, "+"))
        return !__builtin_add_overflow(a, b, out);
    if (takt__text_is(sign, "-"))
        return !__builtin_sub_overflow(a, b, out);
    if (takt__text_is(sign, "//") && b != 0) {
        *out = a / b;
        return true;
    }
    if ((takt__text_is(sign, "**") && a == 2) || (takt__text_is(sign, "<<"))) {
        if (b > 40 || a > 1u << 20)
            return false;
        *out = (takt__text_is(sign, "**") ? 1 : a) << b;
        return true;
    }
    return false;
}

static bool size_of(const struct takt_source *source, TSNode node, size_t *out,
                    enum takt_size_source *how, unsigned depth)
{
    uint64_t literal;

    node = takt__python_bare(node);
    if (ts_node_is_null(node) || depth > 8)
        return false;
    if (takt__node_is(node, "integer")) {
        if (!takt__text_integer(takt__node_text(source, node), &literal))
            return false;
        *out = (size_t)literal;
        *how = weaker(*how, TAKT_SIZE_LITERAL);
        return true;
    }
    if (takt__node_is(node, "binary_operator"))
        return size_of_operator(source, node, out, how, depth + 1);
    if (!takt__node_is(node, "identifier"))
        return false;
    const struct takt_python_binding *binding = takt__python_lookup(
        source, takt__node_text(source, node), ts_node_start_byte(node));
    if (binding == NULL || binding->binds != TAKT_PYTHON_VALUE ||
        ts_node_is_null(binding->value) ||
        !takt__python_is_constant(source, binding))
        return false;
    *how = weaker(*how, TAKT_SIZE_CONST);
    if (binding->part < 0)
        return size_of(source, binding->value, out, how, depth + 1);
    return (takt__node_in(binding->value, "expression_list tuple")) &&
           size_of(source,
                   takt__node_child(binding->value, (uint32_t)binding->part),
                   out, how, depth + 1);
}

bool takt__python_size(const struct takt_source *source, TSNode node,
                       size_t *out, enum takt_size_source *how)
{
    enum takt_size_source found = TAKT_SIZE_UNKNOWN;

    *out = 0;
    if (!size_of(source, node, out, &found, 0) || *out == 0)
        return false;
    *how = weaker(*how, found);
    return true;
}
