/* SPDX-License-Identifier: MIT */
/*
 * python_loops.c - loops that are an op: products, reductions, element-wise.
 *
 * A nest of loops does one piece of work in its innermost body. Which loops
 * the indices of the target and of the factors are made of tells what it is:
 * in c[i][j] += a[i][k] * b[k][j], k is in both factors and not in the target.
 */
#include "python_nest.h"

#include <string.h>

/* ---- products ------------------------------------------------------------ */

struct factor {
    unsigned loops;
    bool is_shifted; /* an index is made of two loops: a[y + dy] */
};

static bool read_factor(const struct takt_source *source,
                        const struct takt_python_nest *nest, TSNode node,
                        struct factor *out)
{
    *out = (struct factor){0};
    node = takt__python_bare(node);
    if (takt__node_is(node, "identifier") &&
        takt__python_loops_in(source, &nest->loops, node) == 0) {
        /* aik = a[i][k], if that is in the nest */
        TSNode to = takt__python_follow(source, node);
        if (ts_node_start_byte(to) < ts_node_start_byte(nest->first))
            return false;
        node = to;
    }
    if (!takt__node_is(node, "subscript"))
        return takt__python_is_element(source, &nest->loops, node, &out->loops);
    for (unsigned depth = 0; takt__node_is(node, "subscript") && depth < 8;
         depth++) {
        for (unsigned i = 1; i < takt__python_children(node) && i < 8; i++) {
            const unsigned bits = takt__python_loops_in(
                source, &nest->loops, takt__python_child(node, i));
            out->is_shifted |= (bits & (bits - 1)) != 0;
            out->loops |= bits;
        }
        node = takt__node_field(node, "value");
    }
    return out->loops != 0;
}

static unsigned bits_in(unsigned bits)
{
    return (unsigned)__builtin_popcount(bits);
}

static unsigned place_of(unsigned bit)
{
    return (unsigned)__builtin_ctz(bit);
}

static const char *product_op(const struct takt_source *source,
                              const struct takt_python_nest *nest, TSNode term,
                              unsigned target, struct takt_found_size *size)
{
    struct factor a, b;

    term = takt__python_bare(term);
    if (!takt__node_is(term, "binary_operator") ||
        takt__python_operator(source, term) != '*' ||
        !read_factor(source, nest, takt__node_field(term, "left"), &a) ||
        !read_factor(source, nest, takt__node_field(term, "right"), &b))
        return NULL;
    if (a.is_shifted || b.is_shifted)
        return nest->loops.count >= 4 && a.is_shifted != b.is_shifted ? "conv2d"
                                                                      : NULL;
    const unsigned summed = a.loops & b.loops & ~target;
    const unsigned batch = a.loops & b.loops & target;
    const unsigned rows = a.loops & ~b.loops & target;
    const unsigned columns = b.loops & ~a.loops & target;
    if (bits_in(summed) != 1 || (a.loops | b.loops) != (summed | target) ||
        bits_in(rows) > 1 || bits_in(columns) > 1 || bits_in(batch) > 1)
        return NULL;
    if (rows != 0 && columns != 0) {
        const unsigned order[] = {batch == 0 ? 0 : place_of(batch),
                                  place_of(rows), place_of(columns),
                                  place_of(summed)};
        const bool is_batched = batch != 0;
        takt__python_set_sizes(source, nest, order + !is_batched,
                               3 + is_batched, size);
        return is_batched ? "batched_matmul" : "matmul";
    }
    if (batch != 0 || (rows | columns) == 0)
        return NULL;
    const unsigned order[] = {place_of(rows | columns), place_of(summed)};
    takt__python_set_sizes(source, nest, order, 2, size);
    return "gemv";
}

/* ---- reductions ---------------------------------------------------------- */

static bool starts_as_number(const struct takt_source *source,
                             const struct takt_python_nest *nest, TSNode name)
{
    const struct takt_python_binding *binding = takt__python_lookup(
        source, takt__node_text(source, name), ts_node_start_byte(nest->work));

    return binding != NULL && binding->binds == TAKT_PYTHON_VALUE &&
           takt__python_value(source, name).kind == TAKT_PYTHON_NUMBER;
}

/* target += term, where the target is not of all the loops */
static const char *reduction(const struct takt_source *source,
                             const struct takt_python_nest *nest, TSNode target,
                             TSNode term, struct takt_found_size *size)
{
    unsigned of = 0;
    TSNode place = target;

    if (takt__node_is(target, "identifier")) {
        if (!ts_node_is_null(nest->store) &&
            takt__python_same(source, takt__node_field(nest->store, "right"),
                              target))
            place = takt__node_field(nest->store, "left");
        else if (!starts_as_number(source, nest, target))
            return NULL;
    }
    if (takt__node_is(place, "subscript"))
        of = takt__python_loops_in(source, &nest->loops, place);
    const char *op = product_op(source, nest, term, of, size);
    if (op != NULL)
        return op;
    takt__python_set_elements(source, nest, size);
    return takt__python_sum_of(
        takt__python_element_op(source, &nest->loops, term));
}

/* ---- element-wise -------------------------------------------------------- */

/* out[j][i] = a[i][j] */
static bool is_turned(const struct takt_source *source, TSNode target,
                      TSNode value)
{
    TSNode a = takt__node_field(target, "value");
    TSNode b = takt__node_field(value, "value");

    if (!takt__node_is(value, "subscript"))
        return false;
    if (takt__python_children(target) == 3 && takt__python_children(value) == 3)
        return takt__python_same(source, takt__python_child(target, 1),
                                 takt__python_child(value, 2)) &&
               takt__python_same(source, takt__python_child(target, 2),
                                 takt__python_child(value, 1));
    return takt__node_is(a, "subscript") && takt__node_is(b, "subscript") &&
           takt__python_same(source, takt__python_child(target, 1),
                             takt__python_child(b, 1)) &&
           takt__python_same(source, takt__python_child(a, 1),
                             takt__python_child(value, 1));
}

static unsigned index_loops(const struct takt_python_nest *nest)
{
    unsigned bits = 0;

    for (unsigned i = 0; i < nest->loops.count; i++)
        bits |= nest->loops.of[i].is_index ? 1u << i : 0;
    return bits;
}

/* Lists hold anything; only of numbers is it worth saying that they move. */
static bool is_array_element(const struct takt_source *source, TSNode node)
{
    while (takt__node_is(node, "subscript"))
        node = takt__node_field(node, "value");
    return takt__python_value(source, node).kind == TAKT_PYTHON_ARRAY;
}

static const char *stored(const struct takt_source *source,
                          const struct takt_python_nest *nest, TSNode target,
                          TSNode value)
{
    unsigned of;

    if (!takt__python_is_element(source, &nest->loops, target, &of) ||
        of != index_loops(nest))
        return NULL;
    const char *op = takt__python_element_op(source, &nest->loops, value);
    if (op == NULL || strcmp(op, "element") != 0)
        return takt__python_map_op(op);
    if (nest->loops.count == 2 && is_turned(source, target, value))
        return "transpose";
    return is_array_element(source, target) || is_array_element(source, value)
               ? "copy"
               : NULL;
}

/* target op= value, for each element */
static const char *changed(const struct takt_source *source,
                           const struct takt_python_nest *nest, TSNode value,
                           char sign)
{
    const char *op = takt__python_element_op(source, &nest->loops, value);
    const enum takt_python_kind kind = takt__python_value(source, value).kind;
    const bool is_fixed =
        takt__python_loops_in(source, &nest->loops, value) == 0 &&
        kind != TAKT_PYTHON_THING;

    if (sign == '*' || sign == '/')
        return op != NULL ? (sign == '*' ? "mul" : "div")
               : is_fixed ? "scale"
                          : NULL;
    if (sign != '+' && sign != '-')
        return NULL;
    if (op == NULL)
        return is_fixed && kind == TAKT_PYTHON_NUMBER &&
                       !takt__node_is(takt__python_bare(value), "integer")
                   ? (sign == '+' ? "add" : "sub")
                   : NULL;
    if (strcmp(op, "scale") == 0)
        return "axpy";
    return strcmp(op, "mul") == 0 ? "fma" : sign == '+' ? "add" : "sub";
}

/* ---- largest and smallest ------------------------------------------------ */

/* best = max(best, x) */
static const char *kept_extreme(const struct takt_source *source,
                                const struct takt_python_nest *nest,
                                TSNode target, TSNode value)
{
    unsigned of;

    if (!takt__node_is(value, "call") ||
        takt__python_argument_count(value) != 2)
        return NULL;
    TSNode function = takt__node_field(value, "function");
    const bool is_max = takt__python_names(source, function, "builtins.max");
    if (!is_max && !takt__python_names(source, function, "builtins.min"))
        return NULL;
    TSNode a = takt__python_argument(source, value, 0, NULL);
    TSNode b = takt__python_argument(source, value, 1, NULL);
    TSNode other = takt__python_same(source, a, target) ? b : a;
    if (!takt__python_same(source, a, target) &&
        !takt__python_same(source, b, target))
        return NULL;
    const char *op = takt__python_element_op(source, &nest->loops, other);
    if (op == NULL ||
        (takt__python_is_element(source, &nest->loops, other, &of) &&
         !starts_as_number(source, nest, target)))
        return NULL;
    return is_max ? "max" : "min";
}

/* if x > best: best = x, and where = i */
static const char *chosen_extreme(const struct takt_source *source,
                                  const struct takt_python_nest *nest,
                                  TSNode node)
{
    TSNode test = takt__python_bare(takt__node_field(node, "condition"));
    TSNode body = takt__node_field(node, "consequence");
    TSNode a = takt__python_child(test, 0), b = takt__python_child(test, 1);
    const unsigned count = takt__python_children(body);
    bool has_best = false, has_place = false;
    unsigned of;

    if (!takt__node_is(test, "comparison_operator") ||
        takt__python_children(test) != 2 || count == 0 || count > 2 ||
        !ts_node_is_null(takt__node_field(node, "alternative")))
        return NULL;
    const struct takt_text sign =
        takt__node_text(source, takt__node_field(test, "operators"));
    const bool is_left = takt__python_is_element(source, &nest->loops, a, &of);
    if (sign.size == 0 || (sign.at[0] != '>' && sign.at[0] != '<') ||
        (!is_left && !takt__python_is_element(source, &nest->loops, b, &of)))
        return NULL;
    for (unsigned i = 0; i < count; i++) {
        TSNode step = takt__python_content(takt__python_child(body, i));
        TSNode to = takt__node_field(step, "left");
        TSNode from = takt__node_field(step, "right");
        if (!takt__python_assigns_name(step) || ts_node_is_null(from))
            return NULL;
        if (takt__python_same(source, to, is_left ? b : a) &&
            takt__python_same(source, from, is_left ? a : b))
            has_best = true;
        else
            has_place = takt__python_loops_in(source, &nest->loops, from) != 0;
    }
    if (!has_best || (count == 2 && !has_place))
        return NULL;
    const bool is_max = (sign.at[0] == '>') == is_left;
    return has_place ? (is_max ? "argmax" : "argmin") : is_max ? "max" : "min";
}

/* ---- all together -------------------------------------------------------- */

/* target = target + term, as well as += */
static TSNode added(const struct takt_source *source, TSNode target,
                    TSNode value)
{
    TSNode none = {{0}, NULL, NULL};

    value = takt__python_bare(value);
    if (!takt__node_is(value, "binary_operator") ||
        takt__python_operator(source, value) != '+')
        return none;
    TSNode left = takt__node_field(value, "left");
    TSNode right = takt__node_field(value, "right");
    if (takt__python_same(source, left, target))
        return right;
    return takt__python_same(source, right, target) ? left : none;
}

static const char *assigned(const struct takt_source *source,
                            const struct takt_python_nest *nest,
                            struct takt_found_size *size)
{
    TSNode target = takt__node_field(nest->work, "left");
    TSNode value = takt__node_field(nest->work, "right");
    const bool is_change = takt__node_is(nest->work, "augmented_assignment");
    const char sign =
        is_change ? takt__python_operator(source, nest->work) : '=';
    unsigned of = 0;

    if (ts_node_is_null(value))
        return NULL;
    const bool is_each =
        takt__python_is_element(source, &nest->loops, target, &of) &&
        of == index_loops(nest);
    TSNode term =
        is_change && sign == '+' ? value : added(source, target, value);
    takt__python_set_elements(source, nest, size);
    if (is_each && takt__node_is(target, "subscript"))
        return is_change               ? changed(source, nest, value, sign)
               : ts_node_is_null(term) ? stored(source, nest, target, value)
                                       : changed(source, nest, term, '+');
    if (!ts_node_is_null(term))
        return reduction(source, nest, target, term, size);
    return is_change ? NULL : kept_extreme(source, nest, target, value);
}

/* Whether an expression reads what `name` names. */
static bool has_name(const struct takt_source *source, TSNode node, TSNode name)
{
    struct takt_python_loops one = {.count = 1};

    one.of[0].name = takt__node_text(source, name);
    return takt__python_loops_in(source, &one, node) != 0;
}

/* out.append(x * y) */
static const char *appended(const struct takt_source *source,
                            const struct takt_python_nest *nest,
                            struct takt_found_size *size)
{
    TSNode function = takt__node_field(nest->work, "function");

    if (!takt__text_is(
            takt__node_text(source, takt__node_field(function, "attribute")),
            "append") ||
        takt__python_argument_count(nest->work) != 1 ||
        has_name(source, takt__python_argument(source, nest->work, 0, NULL),
                 takt__node_field(function, "object")))
        return NULL; /* of what was appended before: it runs on */
    takt__python_set_elements(source, nest, size);
    const char *op = takt__python_element_op(
        source, &nest->loops,
        takt__python_argument(source, nest->work, 0, NULL));
    return takt__python_map_op(op);
}

const char *takt__python_loop(const struct takt_source *source, TSNode node,
                              struct takt_found_size *size)
{
    struct takt_python_nest nest;

    if (!takt__python_read_nest(source, node, &nest))
        return NULL;
    if (takt__node_is(nest.work, "assignment") ||
        takt__node_is(nest.work, "augmented_assignment"))
        return assigned(source, &nest, size);
    takt__python_set_elements(source, &nest, size);
    if (takt__node_is(nest.work, "if_statement"))
        return chosen_extreme(source, &nest, nest.work);
    return takt__node_is(nest.work, "call") ? appended(source, &nest, size)
                                            : NULL;
}
