/* SPDX-License-Identifier: MIT */
/*
 * python_lower_expr.c - expressions of loops, and what they go over.
 */
#include "python_lower.h"

#include <stdlib.h>
#include <string.h>

/* ---- names --------------------------------------------------------------- */

/* Names of sizes, positions and what is counted. */
bool takt__python_sounds_like_counts(struct takt_text name)
{
    static const char *const words[] = {"count",  "len",    "size", "byte",
                                        "hits",   "ticks",  "num_", "shape",
                                        "stride", "indices"};

    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        for (size_t at = 0; at + strlen(words[i]) <= name.size; at++)
            if (memcmp(name.at + at, words[i], strlen(words[i])) == 0)
                return true;
    return name.size > 2 && memcmp(name.at, "n_", 2) == 0;
}

/* What an array holds: numbers, perhaps, or nothing of ours. */
static struct takt_ir_type held_type(const struct takt_python_nest *nest,
                                     TSNode node)
{
    const struct takt_python_value value =
        takt__python_value(nest->source, node);
    struct takt_ir_type type = {.kind = TAKT_IR_ARRAY};

    if (!takt__python_may_hold_numbers(nest->source, node))
        type.element = TAKT_IR_OTHER;
    else if (value.kind == TAKT_PYTHON_ARRAY)
        type.element = TAKT_IR_FLOAT;
    return type;
}

static struct takt_ir_expr *named(struct takt_python_nest *nest, TSNode node)
{
    return takt__ir_name(&nest->ir, takt__node_text(nest->source, node),
                         held_type(nest, node));
}

static struct takt_ir_expr *identifier(struct takt_python_nest *nest,
                                       TSNode node)
{
    const struct takt_text name = takt__node_text(nest->source, node);

    for (unsigned i = nest->locals; i > 0; i--)
        if (takt__ir_same_text(nest->local[i - 1].name, name))
            return nest->local[i - 1].value;
    struct takt_ir_expr *e = named(nest, node);
    for (unsigned i = 0; i < nest->assigned && e != NULL; i++)
        e->is_varying |= takt__ir_same_text(nest->name[i].name, name);
    return e;
}

bool takt__python_is_fixed_number(const struct takt_python_nest *nest,
                                  TSNode node, const struct takt_ir_expr *e)
{
    return e->loops == 0 &&
           takt__python_value(nest->source, node).kind == TAKT_PYTHON_NUMBER;
}

/* ---- elements ------------------------------------------------------------ */

/* a[i], a[i, j]. */
static struct takt_ir_expr *subscript(struct takt_python_nest *nest,
                                      TSNode node, unsigned depth)
{
    struct takt_ir_expr *e = takt__python_expr(
        nest, takt__node_field(node, "value"), false, depth + 1);
    const unsigned count = takt__node_children(node);

    for (unsigned i = 1; i < count && e != NULL; i++) {
        struct takt_ir_expr *at =
            takt__python_expr(nest, takt__node_child(node, i), true, depth + 1);
        e = takt__ir_is_plain_index(at) ? takt__ir_element(&nest->ir, e, at)
                                        : NULL;
    }
    return e;
}

static struct takt_ir_expr *attribute(struct takt_python_nest *nest,
                                      TSNode node, unsigned depth)
{
    const struct takt_ir_expr *of = takt__python_expr(
        nest, takt__node_field(node, "object"), true, depth + 1);

    return of == NULL || of->loops != 0 ? NULL : named(nest, node);
}

/* ---- arithmetic ---------------------------------------------------------- */

/* Whether arithmetic with it is of numbers: it is one, or of elements. */
static bool is_computed(const struct takt_python_nest *nest, TSNode node,
                        const struct takt_ir_expr *e)
{
    return e->loops != 0 || e->is_varying || e->sort == TAKT_IR_NUMBER ||
           e->sort == TAKT_IR_CALL ||
           takt__python_is_fixed_number(nest, node, e);
}

static struct takt_ir_expr *power(struct takt_python_nest *nest,
                                  struct takt_ir_expr *a,
                                  struct takt_ir_expr *b)
{
    if (takt__ir_is_number(b, 0.5))
        return takt__ir_part(takt__ir_call(&nest->ir, "sqrt"), a);
    return takt__ir_part(takt__ir_part(takt__ir_call(&nest->ir, "pow"), a), b);
}

static struct takt_ir_expr *binary(struct takt_python_nest *nest, TSNode node,
                                   bool is_index, unsigned depth)
{
    const TSNode left = takt__python_bare(takt__node_field(node, "left"));
    const TSNode right = takt__python_bare(takt__node_field(node, "right"));
    struct takt_ir_expr *a = takt__python_expr(nest, left, is_index, depth + 1);
    struct takt_ir_expr *b =
        takt__python_expr(nest, right, is_index, depth + 1);
    const char sign = takt__python_operator(nest->source, node);
    enum takt_ir_sort sort = TAKT_IR_ADD;

    if (a == NULL || b == NULL)
        return NULL;
    if (sign == 'p')
        return power(nest, a, b);
    switch (sign) {
    case '*':
        sort = TAKT_IR_MUL;
        break;
    case '+':
        break;
    case '-':
        sort = TAKT_IR_SUB;
        break;
    case '/':
        sort = TAKT_IR_DIV;
        break;
    default:
        return is_index && !takt__ir_has_access(a) && !takt__ir_has_access(b)
                   ? takt__ir_opaque(&nest->ir, a->loops | b->loops)
                   : NULL;
    }
    if (sort != TAKT_IR_MUL && !is_index &&
        (!is_computed(nest, left, a) || !is_computed(nest, right, b)))
        return NULL; /* may join lists, or paths */
    return takt__ir_pair(&nest->ir, sort, a, b);
}

static struct takt_ir_expr *number(struct takt_python_nest *nest, TSNode node)
{
    struct takt_ir_expr *e =
        takt__ir_literal(&nest->ir, takt__node_text(nest->source, node));
    if (e != NULL && takt__node_is(node, "integer"))
        e->type.element = TAKT_IR_INTEGER;
    return e;
}

static struct takt_ir_expr *comparison(struct takt_python_nest *nest,
                                       TSNode node, unsigned depth)
{
    const struct takt_text sign =
        takt__node_text(nest->source, takt__node_field(node, "operators"));

    if (takt__node_children(node) != 2 || sign.size == 0)
        return NULL;
    struct takt_ir_expr *a =
        takt__python_expr(nest, takt__node_child(node, 0), false, depth + 1);
    struct takt_ir_expr *b =
        takt__python_expr(nest, takt__node_child(node, 1), false, depth + 1);
    if (a == NULL || b == NULL)
        return NULL;
    if (*sign.at == '<' || *sign.at == '>')
        return takt__ir_pair(
            &nest->ir, *sign.at == '<' ? TAKT_IR_LESS : TAKT_IR_GREATER, a, b);
    return takt__ir_has_access(a) || takt__ir_has_access(b)
               ? NULL
               : takt__ir_opaque(&nest->ir, a->loops | b->loops);
}

/* x if x > 0 else 0 */
static struct takt_ir_expr *choice(struct takt_python_nest *nest, TSNode node,
                                   unsigned depth)
{
    struct takt_ir_expr *part[3];

    for (unsigned i = 0; i < 3; i++)
        part[i] = takt__python_expr(nest, takt__node_child(node, i), i == 1,
                                    depth + 1);
    return takt__ir_pick(&nest->ir, part[1], part[0], part[2]);
}

/* ---- calls --------------------------------------------------------------- */

static const char *function_named(const char *dotted)
{
    static const char *const known[][2] = {
        {"builtins.abs", "fabs"}, {"math.fabs", "fabs"},  {"math.sqrt", "sqrt"},
        {"math.exp", "exp"},      {"math.log", "log"},    {"math.tanh", "tanh"},
        {"numpy.abs", "fabs"},    {"numpy.sqrt", "sqrt"}, {"numpy.exp", "exp"},
        {"numpy.log", "log"},     {"numpy.tanh", "tanh"}};

    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (strcmp(dotted, known[i][0]) == 0)
            return known[i][1];
    return NULL;
}

/* Whether no name that the nest binds or assigns is in it. */
static bool is_independent(struct takt_python_nest *nest, TSNode node,
                           unsigned depth)
{
    const unsigned count = takt__node_children(node);

    if (takt__node_is(node, "identifier")) {
        const struct takt_ir_expr *e = identifier(nest, node);
        return e != NULL && e->loops == 0 && !e->is_varying;
    }
    for (unsigned i = 0; i < count; i++)
        if (depth > TAKT_PYTHON_DEEPEST ||
            !is_independent(nest, takt__node_child(node, i), depth + 1))
            return false;
    return true;
}

static struct takt_ir_expr *call(struct takt_python_nest *nest, TSNode node,
                                 bool is_index, unsigned depth)
{
    char dotted[TAKT_PYTHON_DOTTED];
    const unsigned count = takt__python_argument_count(node);
    struct takt_ir_expr *gathered =
        takt__python_gathered(nest, node, depth + 1);

    if (gathered != NULL)
        return gathered;
    if (!takt__python_dotted(nest->source, takt__node_field(node, "function"),
                             dotted) ||
        count == 0 || count > 2)
        return NULL;
    if (strcmp(dotted, "builtins.len") == 0)
        return takt__ir_name(&nest->ir, takt__node_text(nest->source, node),
                             (struct takt_ir_type){.element = TAKT_IR_INTEGER});
    struct takt_ir_expr *first = takt__python_expr(
        nest, takt__python_argument(nest->source, node, 0, NULL), is_index,
        depth + 1);
    const bool is_max = strcmp(dotted, "builtins.max") == 0;
    if (count == 2 && (is_max || strcmp(dotted, "builtins.min") == 0))
        return takt__ir_part(
            takt__ir_part(takt__ir_call(&nest->ir, is_max ? "fmax" : "fmin"),
                          first),
            takt__python_expr(
                nest, takt__python_argument(nest->source, node, 1, NULL),
                is_index, depth + 1));
    if (count == 1 && (strcmp(dotted, "builtins.float") == 0 ||
                       (strcmp(dotted, "builtins.int") == 0 && is_index)))
        return first;
    const char *name = count == 1 ? function_named(dotted) : NULL;
    if (name != NULL && first != NULL)
        return takt__ir_part(takt__ir_call(&nest->ir, name), first);
    /* sum(xs), of what the loops do not change */
    return takt__python_value(nest->source, node).kind == TAKT_PYTHON_NUMBER &&
                   is_independent(nest, node, 0)
               ? named(nest, node)
               : NULL;
}

struct takt_ir_expr *takt__python_expr(struct takt_python_nest *nest,
                                       TSNode node, bool is_index,
                                       unsigned depth)
{
    node = takt__python_bare(node);
    if (ts_node_is_null(node) || depth > TAKT_PYTHON_DEEPEST)
        return NULL;
    if (takt__node_is(node, "identifier"))
        return identifier(nest, node);
    if (takt__node_in(node, "integer float"))
        return number(nest, node);
    if (takt__node_is(node, "subscript"))
        return subscript(nest, node, depth);
    if (takt__node_is(node, "binary_operator"))
        return binary(nest, node, is_index, depth);
    if (takt__node_is(node, "attribute"))
        return attribute(nest, node, depth);
    if (takt__node_is(node, "call"))
        return call(nest, node, is_index, depth);
    if (takt__node_is(node, "unary_operator"))
        return takt__python_operator(nest->source, node) != '-'
                   ? NULL
                   : takt__ir_negative(
                         &nest->ir,
                         takt__python_expr(nest,
                                           takt__node_field(node, "argument"),
                                           is_index, depth + 1));
    if (takt__node_is(node, "comparison_operator"))
        return comparison(nest, node, depth);
    if (takt__node_is(node, "conditional_expression"))
        return choice(nest, node, depth);
    if (takt__node_is(node, "list_comprehension"))
        return takt__python_collected(nest, node, depth + 1);
    return NULL;
}

/* ---- what is gone over --------------------------------------------------- */

bool takt__python_bind_local(struct takt_python_nest *nest, TSNode name,
                             struct takt_ir_expr *value)
{
    if (value == NULL || !takt__node_is(name, "identifier") ||
        nest->locals == TAKT_PYTHON_LOCALS)
        return false;
    nest->local[nest->locals].name = takt__node_text(nest->source, name);
    nest->local[nest->locals++].value = value;
    return true;
}

/* What may have numbers in it that are measured, not counted. */
static bool has_elements(const struct takt_python_nest *nest, TSNode over)
{
    const struct takt_source *source = nest->source;

    if (takt__python_sounds_like_counts(takt__node_text(source, over)) ||
        !takt__python_may_hold_numbers(source, over))
        return false;
    return takt__node_in(over, "identifier attribute subscript") ||
           takt__python_value(source, over).kind == TAKT_PYTHON_ARRAY;
}

static struct takt_ir_expr *element(struct takt_python_nest *nest, TSNode over,
                                    struct takt_ir_expr *at, unsigned depth)
{
    struct takt_ir_expr *base;

    if (!has_elements(nest, over))
        return NULL;
    base = takt__python_expr(nest, over, false, depth + 1);
    if (base == NULL &&
        takt__python_value(nest->source, over).kind == TAKT_PYTHON_ARRAY)
        base = named(nest, over);
    return base == NULL ? NULL : takt__ir_element(&nest->ir, base, at);
}

static TSNode argument(const struct takt_python_nest *nest, TSNode node,
                       unsigned index)
{
    return takt__python_argument(nest->source, node, index, NULL);
}

/* for column in zip(*rows): what a loop inside goes through. */
static bool bind_columns(struct takt_python_nest *nest, TSNode left,
                         TSNode call, struct takt_ir_expr *at, unsigned depth)
{
    const TSNode splat = argument(nest, call, 0);
    struct takt_ir_expr *rows =
        takt__node_is(splat, "list_splat")
            ? takt__python_expr(nest, takt__node_child(splat, 0), false,
                                depth + 1)
            : NULL;

    if (rows == NULL || takt__python_argument_count(call) != 1)
        return false;
    struct takt_ir_expr *turned = takt__ir_name(
        &nest->ir, takt__node_text(nest->source, call), rows->type);
    return turned != NULL &&
           takt__python_bind_local(nest, left,
                                   takt__ir_element(&nest->ir, turned, at));
}

static bool bind_zip(struct takt_python_nest *nest, TSNode left, TSNode call,
                     struct takt_ir_expr *at, unsigned depth)
{
    const unsigned count = takt__python_argument_count(call);

    if (takt__node_is(left, "identifier"))
        return bind_columns(nest, left, call, at, depth);
    if (count != takt__node_children(left))
        return false;
    for (unsigned i = 0; i < count; i++)
        if (!takt__python_bind_local(
                nest, takt__node_child(left, i),
                element(nest, argument(nest, call, i), at, depth)))
            return false;
    return true;
}

/* The bound of range(n), range(0, n). */
static void read_range(struct takt_python_nest *nest, struct takt_ir_loop *loop,
                       TSNode call, unsigned depth)
{
    const unsigned count = takt__python_argument_count(call);
    TSNode end = argument(nest, call, 0);
    size_t size = 0;

    if (count > 1) {
        loop->from = takt__python_expr(nest, end, true, depth + 1);
        end = argument(nest, call, 1);
    }
    loop->to = takt__python_expr(nest, end, true, depth + 1);
    if (count == 1 ||
        (count == 2 && loop->from != NULL && takt__ir_is_number(loop->from, 0)))
        loop->extent =
            takt__python_size(nest->source, end, &size, &loop->source) ? size
                                                                       : 0;
    loop->source = TAKT_SIZE_LOOP_BOUND;
}

bool takt__python_open(struct takt_python_nest *nest, TSNode left, TSNode right,
                       unsigned depth)
{
    struct takt_ir_nest *ir = &nest->ir;
    char dotted[TAKT_PYTHON_DOTTED] = "";

    right = takt__python_bare(right);
    if (ts_node_is_null(left) || ts_node_is_null(right))
        return false;
    struct takt_ir_loop *loop = takt__ir_open(ir);
    if (loop == NULL)
        return false;
    struct takt_ir_expr *at =
        takt__ir_count(ir, takt__node_text(nest->source, left), loop->bit);
    if (at == NULL)
        return false;
    if (takt__node_is(right, "call"))
        takt__python_dotted(nest->source, takt__node_field(right, "function"),
                            dotted);
    if (strcmp(dotted, "builtins.range") == 0) {
        read_range(nest, loop, right, depth);
        return takt__python_bind_local(nest, left, at);
    }
    if (strcmp(dotted, "builtins.zip") == 0)
        return bind_zip(nest, left, right, at, depth);
    if (strcmp(dotted, "builtins.enumerate") == 0)
        return takt__node_children(left) == 2 &&
               takt__python_bind_local(nest, takt__node_child(left, 0), at) &&
               takt__python_bind_local(
                   nest, takt__node_child(left, 1),
                   element(nest, argument(nest, right, 0), at, depth));
    return takt__python_bind_local(nest, left, element(nest, right, at, depth));
}

struct takt_ir_expr *takt__python_mapped(struct takt_python_nest *nest,
                                         TSNode call)
{
    const TSNode function = argument(nest, call, 0);
    const TSNode list = takt__node_field(function, "parameters");
    const unsigned count = takt__node_children(list);

    if (!takt__node_is(function, "lambda") || count == 0 ||
        !takt__python_open(nest, takt__node_child(list, 0),
                           argument(nest, call, 1), 0))
        return NULL;
    struct takt_ir_expr *at =
        takt__ir_count(&nest->ir, nest->local[0].name, nest->ir.loop[0].bit);
    for (unsigned i = 1; i < count; i++)
        if (!takt__python_bind_local(
                nest, takt__node_child(list, i),
                element(nest, argument(nest, call, i + 1), at, 0)))
            return NULL;
    return takt__python_expr(nest, takt__node_field(function, "body"), false,
                             0);
}
