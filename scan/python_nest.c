/* SPDX-License-Identifier: MIT */
/*
 * python_nest.c - reads loops in loops, and their bounds.
 */
#include "python_nest.h"

enum { MOST_STATEMENTS = 64 }; /* comments, most of them */

/* ---- reading a nest ------------------------------------------------------ */

/* The expression of a statement that is one. */
TSNode takt__python_content(TSNode statement)
{
    return takt__node_is(statement, "expression_statement") &&
                   takt__python_children(statement) == 1
               ? takt__python_child(statement, 0)
               : statement;
}

bool takt__python_assigns_name(TSNode node)
{
    return takt__node_is(node, "assignment") &&
           takt__node_is(takt__node_field(node, "left"), "identifier");
}

TSNode takt__python_appended(const struct takt_source *source, TSNode node)
{
    TSNode function = takt__node_field(node, "function");

    if (!takt__node_is(node, "call") ||
        takt__python_argument_count(node) != 1 ||
        !takt__text_is(
            takt__node_text(source, takt__node_field(function, "attribute")),
            "append"))
        return (TSNode){{0}, NULL, NULL};
    return takt__python_argument(source, node, 0, NULL);
}

static bool stores_name(const struct takt_source *source, TSNode node)
{
    if (takt__node_is(node, "call"))
        return takt__node_is(takt__python_appended(source, node), "identifier");
    return takt__node_is(node, "assignment") &&
           takt__node_is(takt__node_field(node, "left"), "subscript") &&
           takt__node_is(takt__node_field(node, "right"), "identifier");
}

static bool starts_store(const struct takt_source *source, TSNode node)
{
    return takt__node_is(node, "assignment") &&
           takt__node_is(takt__node_field(node, "left"), "subscript") &&
           takt__python_is_literal(source, takt__node_field(node, "right"),
                                   0.0);
}

/* The loop inside a body, with nothing beside it but what goes with it: the
 * accumulator's start, a factor that is loaded, the result that is stored. */
static TSNode inner_loop(const struct takt_source *source, TSNode body,
                         TSNode *store)
{
    TSNode loop = {{0}, NULL, NULL}, none = loop;

    for (unsigned i = 0; i < takt__python_children(body) && i < 8; i++) {
        TSNode child = takt__python_content(takt__python_child(body, i));
        if (takt__node_is(child, "for_statement") && ts_node_is_null(loop))
            loop = child;
        else if (stores_name(source, child) && !ts_node_is_null(loop))
            *store = child;
        else if (!takt__node_is(child, "comment") &&
                 !(ts_node_is_null(loop) && (takt__python_assigns_name(child) ||
                                             starts_store(source, child))))
            return none;
    }
    return takt__python_children(body) > 8 ? none : loop;
}

/* The one statement of the innermost body. */
static TSNode only_statement(TSNode body)
{
    TSNode only = {{0}, NULL, NULL}, none = only;

    for (unsigned i = 0; i < takt__python_children(body); i++) {
        TSNode child = takt__python_child(body, i);
        if (i == MOST_STATEMENTS)
            return none;
        if (takt__node_is(child, "comment"))
            continue;
        if (!ts_node_is_null(only))
            return none;
        only = takt__python_content(child);
    }
    return only;
}

/* for column in zip(*rows): it is gone through by a loop inside. */
static bool add_columns(const struct takt_source *source,
                        struct takt_python_loops *loops, TSNode left,
                        TSNode right)
{
    TSNode splat = takt__python_argument(source, right, 0, NULL);

    return takt__node_is(right, "call") &&
           takt__python_names(source, takt__node_field(right, "function"),
                              "builtins.zip") &&
           takt__python_argument_count(right) == 1 &&
           takt__node_is(splat, "list_splat") &&
           takt__python_add_loop(source, loops, left,
                                 takt__python_child(splat, 0));
}

/* The variables of a loop that ends as it says; false: something else. */
static bool add_level(const struct takt_source *source, TSNode loop,
                      struct takt_python_loops *loops, bool *has_columns)
{
    TSNode left = takt__node_field(loop, "left");
    TSNode right = takt__node_field(loop, "right");

    *has_columns = false;
    if (ts_node_is_null(left) || ts_node_is_null(right) ||
        !ts_node_is_null(takt__node_field(loop, "alternative")))
        return false;
    if (takt__python_add_loop(source, loops, left, right))
        return true;
    return *has_columns = add_columns(source, loops, left, right);
}

bool takt__python_read_nest(const struct takt_source *source, TSNode node,
                            struct takt_python_nest *nest)
{
    *nest = (struct takt_python_nest){.first = node};
    for (unsigned depth = 0; depth < TAKT_PYTHON_LOOPS; depth++) {
        TSNode body = takt__node_field(node, "body");
        TSNode store = {{0}, NULL, NULL};
        bool has_columns;

        if (ts_node_is_null(body) ||
            !add_level(source, node, &nest->loops, &has_columns))
            return false;
        node = inner_loop(source, body, &store);
        if (ts_node_is_null(node)) {
            nest->work = only_statement(body);
            return !has_columns && !ts_node_is_null(nest->work) &&
                   !takt__node_is(nest->work, "for_statement");
        }
        if (!ts_node_is_null(store)) {
            nest->store = store;
            nest->around = nest->loops.count;
        }
    }
    return false;
}

/* ---- sizes --------------------------------------------------------------- */

/* The bound of a loop: range(n), range(0, n). */
static size_t bound_of(const struct takt_source *source,
                       const struct takt_python_nest *nest, unsigned loop)
{
    TSNode over = nest->loops.of[loop].over;
    enum takt_size_source how = TAKT_SIZE_UNKNOWN;
    size_t size = 0;

    if (!nest->loops.of[loop].is_index)
        return 0;
    TSNode end = takt__python_argument(source, over, 0, NULL);
    const unsigned count = takt__python_argument_count(over);
    if (count == 2 && takt__python_is_literal(source, end, 0.0))
        end = takt__python_argument(source, over, 1, NULL);
    else if (count != 1)
        return 0;
    return takt__python_size(source, end, &size, &how) ? size : 0;
}

void takt__python_set_sizes(const struct takt_source *source,
                            const struct takt_python_nest *nest,
                            const unsigned *order, unsigned count,
                            struct takt_found_size *out)
{
    bool is_known = false;

    *out = (struct takt_found_size){.source = TAKT_SIZE_LOOP_BOUND};
    out->shape.rank = count;
    for (unsigned i = 0; i < count; i++) {
        out->shape.dim[i] = bound_of(source, nest, order[i]);
        is_known |= out->shape.dim[i] != 0;
    }
    if (!is_known)
        *out = (struct takt_found_size){0};
}

/* All loops together. */
void takt__python_set_elements(const struct takt_source *source,
                               const struct takt_python_nest *nest,
                               struct takt_found_size *out)
{
    size_t all = 1;

    for (unsigned i = 0; i < nest->loops.count; i++)
        if (__builtin_mul_overflow(all, bound_of(source, nest, i), &all))
            all = 0;
    *out = (struct takt_found_size){0};
    if (all == 0)
        return;
    out->source = TAKT_SIZE_LOOP_BOUND;
    out->shape.rank = 1;
    out->shape.dim[0] = all;
}
