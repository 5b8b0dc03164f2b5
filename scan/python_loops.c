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

/* x of `for x in row`: of that loop, and of those that the row is of. */
static bool read_item(const struct takt_source *source,
                      const struct takt_python_nest *nest, TSNode node,
                      struct factor *out)
{
    if (!takt__python_is_element(source, &nest->loops, node, &out->loops))
        return false;
    const unsigned item = (unsigned)__builtin_ctz(out->loops);
    out->loops |=
        takt__python_loops_in(source, &nest->loops, nest->loops.of[item].over);
    out->loops = takt__python_levels(&nest->loops, out->loops);
    return true;
}

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
        return read_item(source, nest, node, out);
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
    if (!takt__python_may_hold_numbers(source, node))
        return false;
    /* row[k], where the row is an element itself */
    out->loops |= takt__python_loops_in(source, &nest->loops, node);
    out->loops = takt__python_levels(&nest->loops, out->loops);
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

/* Whether the nest itself sets it to a number: then it starts anew. */
static bool starts_within(const struct takt_source *source,
                          const struct takt_python_nest *nest, TSNode name)
{
    const struct takt_python_binding *binding = takt__python_lookup(
        source, takt__node_text(source, name), ts_node_start_byte(nest->work));

    return starts_as_number(source, nest, name) &&
           binding->from > ts_node_start_byte(nest->first);
}

/* Whether an accumulator can be one, and which loops its result is of. */
static bool read_target(const struct takt_source *source,
                        const struct takt_python_nest *nest, TSNode target,
                        unsigned *of)
{
    TSNode place = target;
    TSNode kept = takt__python_appended(source, nest->store);

    *of = 0;
    if (takt__node_is(target, "identifier")) {
        if (!ts_node_is_null(kept)) {
            *of = takt__python_levels(&nest->loops, (1u << nest->around) - 1);
            return takt__python_same(source, kept, target) &&
                   starts_within(source, nest, target);
        }
        if (!ts_node_is_null(nest->store) &&
            takt__python_same(source, takt__node_field(nest->store, "right"),
                              target))
            place = takt__node_field(nest->store, "left");
        else if (!starts_as_number(source, nest, target))
            return false;
    }
    if (takt__node_is(place, "subscript"))
        *of = takt__python_levels(
            &nest->loops, takt__python_loops_in(source, &nest->loops, place));
    return true;
}

/* target += term, where the target is not of all the loops */
static const char *reduction(const struct takt_source *source,
                             const struct takt_python_nest *nest, TSNode target,
                             TSNode term, struct takt_found_size *size)
{
    unsigned of = 0;

    if (!read_target(source, nest, target, &of))
        return NULL;
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

/* The largest of a window: out[y][x] of a[2 * y + i][2 * x + j]. */
static bool is_window(const struct takt_source *source,
                      const struct takt_python_nest *nest, TSNode target,
                      TSNode item)
{
    struct factor of;

    return nest->loops.count >= 4 &&
           takt__python_same(source, takt__node_field(nest->store, "right"),
                             target) &&
           read_factor(source, nest, item, &of) && of.is_shifted &&
           bits_in(of.loops) == 4 &&
           bits_in(takt__python_loops_in(
               source, &nest->loops, takt__node_field(nest->store, "left"))) ==
               2;
}

/* best = max(best, x) */
static const char *kept_extreme(const struct takt_source *source,
                                const struct takt_python_nest *nest,
                                TSNode target, TSNode value)
{
    unsigned of;

    if (!takt__node_is(target, "identifier") || !takt__node_is(value, "call") ||
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
    if (is_max && is_window(source, nest, target, other))
        return "pooling";
    const char *op = takt__python_element_op(source, &nest->loops, other);
    if (op == NULL ||
        (takt__python_is_element(source, &nest->loops, other, &of) &&
         !starts_as_number(source, nest, target)))
        return NULL;
    return is_max ? "max" : "min";
}

enum { MOST_STEPS = 4 };

struct steps {
    TSNode to[MOST_STEPS], from[MOST_STEPS];
    unsigned count;
};

/* best = x, where = i, also as best, where = x, i; false: something else. */
static bool read_steps(TSNode body, struct steps *out)
{
    out->count = 0;
    for (unsigned i = 0; i < takt__python_children(body); i++) {
        TSNode step = takt__python_content(takt__python_child(body, i));
        TSNode left = takt__node_field(step, "left");
        TSNode right = takt__node_field(step, "right");
        const bool is_pair = takt__node_is(step, "assignment") &&
                             takt__node_is(left, "pattern_list") &&
                             takt__node_is(right, "expression_list");
        const unsigned parts = is_pair ? takt__python_children(left) : 1;

        if ((!is_pair && !takt__python_assigns_name(step)) ||
            ts_node_is_null(right) || out->count + parts > MOST_STEPS ||
            (is_pair && takt__python_children(right) != parts))
            return false;
        for (unsigned j = 0; j < parts; j++) {
            TSNode to = is_pair ? takt__python_child(left, j) : left;
            if (!takt__node_is(to, "identifier"))
                return false;
            out->to[out->count] = to;
            out->from[out->count++] =
                is_pair ? takt__python_child(right, j) : right;
        }
    }
    return out->count > 0 && out->count <= 2;
}

/* if x > best: best = x, and where = i */
static const char *chosen_extreme(const struct takt_source *source,
                                  const struct takt_python_nest *nest,
                                  TSNode node)
{
    TSNode test = takt__python_bare(takt__node_field(node, "condition"));
    TSNode body = takt__node_field(node, "consequence");
    TSNode a = takt__python_child(test, 0), b = takt__python_child(test, 1);
    struct steps steps;
    bool has_best = false, has_place = false;
    unsigned of;

    if (!takt__node_is(test, "comparison_operator") ||
        takt__python_children(test) != 2 || !read_steps(body, &steps) ||
        !ts_node_is_null(takt__node_field(node, "alternative")))
        return NULL;
    const struct takt_text sign =
        takt__node_text(source, takt__node_field(test, "operators"));
    const bool is_left = takt__python_is_element(source, &nest->loops, a, &of);
    if (sign.size == 0 || (sign.at[0] != '>' && sign.at[0] != '<') ||
        (!is_left && !takt__python_is_element(source, &nest->loops, b, &of)))
        return NULL;
    for (unsigned i = 0; i < steps.count; i++) {
        TSNode to = steps.to[i], from = steps.from[i];
        if (takt__python_same(source, to, is_left ? b : a) &&
            takt__python_same(source, from, is_left ? a : b))
            has_best = true;
        else
            has_place = takt__python_loops_in(source, &nest->loops, from) != 0;
    }
    if (!has_best || (steps.count == 2 && !has_place))
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

/* [sum(m * v for m, v in zip(row, x)) for row in a], for each x: the rows of a
 * product. */
static bool is_row_of_product(const struct takt_source *source,
                              const struct takt_python_nest *nest, TSNode item)
{
    if (!takt__node_is(item, "list_comprehension"))
        return false;
    const char *op = takt__python_comprehension(source, item);
    TSNode over = takt__node_field(takt__python_child(item, 1), "right");
    return op != NULL && strcmp(op, "gemv") == 0 &&
           takt__python_loops_in(source, &nest->loops, item) != 0 &&
           takt__python_loops_in(source, &nest->loops, over) == 0;
}

/* out.append(x * y) */
static const char *appended(const struct takt_source *source,
                            const struct takt_python_nest *nest,
                            struct takt_found_size *size)
{
    TSNode item = takt__python_appended(source, nest->work);
    TSNode list =
        takt__node_field(takt__node_field(nest->work, "function"), "object");

    if (ts_node_is_null(item) || has_name(source, item, list))
        return NULL; /* of what was appended before: it runs on */
    if (nest->loops.count == 1 && is_row_of_product(source, nest, item))
        return "matmul";
    takt__python_set_elements(source, nest, size);
    return takt__python_map_op(
        takt__python_element_op(source, &nest->loops, item));
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
