/* SPDX-License-Identifier: MIT */
/*
 * python_builtins.c - sum, max, map, reduce and comprehensions.
 */
#include "python_lower.h"

#include <string.h>

static bool is_comprehension(TSNode node)
{
    return takt__node_in(node, "generator_expression list_comprehension");
}

static bool is_named(const struct takt_source *source, TSNode node,
                     const char *dotted)
{
    return takt__python_names(source, node, dotted);
}

static bool calls(const struct takt_source *source, TSNode node,
                  const char *dotted)
{
    return takt__node_is(node, "call") &&
           is_named(source, takt__node_field(node, "function"), dotted);
}

/* ---- map ----------------------------------------------------------------- */

/* What map(function, ...) does to each element, by the function's name. */
static const char *map_op(const struct takt_source *source, TSNode call)
{
    static const struct {
        const char *function, *op;
    } known[] = {
        {"operator.add", "add"},       {"operator.sub", "sub"},
        {"operator.mul", "mul"},       {"operator.truediv", "div"},
        {"operator.neg", "neg"},       {"operator.abs", "abs"},
        {"builtins.abs", "abs"},       {"math.fabs", "abs"},
        {"math.sqrt", "sqrt"},         {"math.exp", "exp"},
        {"math.log", "log"},           {"math.tanh", "tanh"},
        {"builtins.float", "element"},
    };
    char dotted[TAKT_PYTHON_DOTTED];

    if (!calls(source, call, "builtins.map"))
        return NULL;
    TSNode function = takt__python_argument(source, call, 0, NULL);
    if (ts_node_is_null(function))
        return NULL;
    TSNode over = takt__python_argument(source, call, 1, NULL);
    if (ts_node_is_null(over) || !takt__python_may_hold_numbers(source, over) ||
        !takt__python_dotted(source, function, dotted))
        return NULL;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (strcmp(dotted, known[i].function) == 0)
            return known[i].op;
    return NULL;
}

/* ---- sum, max, min, reduce ----------------------------------------------- */

static bool has_numbers(TSNode list)
{
    const unsigned count = takt__node_children(list);
    unsigned numbers = 0;

    for (unsigned i = 0; i < count && i < 64; i++) {
        TSNode item = takt__node_child(list, i);
        numbers += takt__node_in(item, "float integer");
    }
    return count > 2 && (numbers == count || numbers == 64);
}

/* sum(map(function, ..)): what adding these up is. */
static const char *sum_of_map(const char *op)
{
    if (op == NULL)
        return NULL;
    return strcmp(op, "mul") == 0   ? "dot"
           : strcmp(op, "abs") == 0 ? "norm1"
                                    : "sum";
}

static bool has_lambda(const struct takt_source *source, TSNode call)
{
    return takt__node_is(takt__python_argument(source, call, 0, NULL),
                         "lambda");
}

/* What gathering the values of a comprehension or a map is; NULL. */
static const char *gathered(const struct takt_source *source, TSNode over,
                            enum takt_ir_effect effect)
{
    if (is_comprehension(over) || has_lambda(source, over))
        return takt__python_reduced(source, over, effect);
    const char *op = map_op(source, over);
    if (op == NULL || effect == TAKT_IR_SUM)
        return sum_of_map(op);
    return effect == TAKT_IR_MAX ? "max" : "min";
}

/* What gathering something that is known to hold numbers is; NULL: it is not
 * worth it. */
static const char *of_known(const struct takt_source *source, TSNode over,
                            enum takt_ir_effect effect)
{
    const bool is_sum = effect == TAKT_IR_SUM;
    const char *op = is_sum ? "sum" : effect == TAKT_IR_MAX ? "max" : "min";
    TSNode to = takt__python_follow(source, over);
    const enum takt_python_kind kind = takt__python_value(source, over).kind;

    if (kind == TAKT_PYTHON_ARRAY)
        return op;
    if (takt__python_sounds_like_counts(takt__node_text(source, over)))
        return NULL;
    if (takt__python_item(source, over).kind == TAKT_PYTHON_NUMBER)
        return op;
    if (!is_comprehension(to) && !takt__python_may_hold_numbers(source, over))
        return NULL;
    if (is_comprehension(to))
        return takt__python_reduced(source, to, effect);
    if (takt__node_is(to, "list"))
        return has_numbers(to) ? op : NULL;
    if (!is_sum || !takt__node_is(over, "identifier") ||
        kind == TAKT_PYTHON_THING || kind == TAKT_PYTHON_NUMBER)
        return NULL;
    return takt__node_is(to, "call") ? NULL : op;
}

static bool starts_with_number(const struct takt_source *source, TSNode start)
{
    return ts_node_is_null(start) ||
           takt__python_value(source, start).kind == TAKT_PYTHON_NUMBER;
}

static const char *sum_op(const struct takt_source *source, TSNode call)
{
    TSNode over = takt__python_argument(source, call, 0, NULL);

    if (ts_node_is_null(over) ||
        !starts_with_number(source,
                            takt__python_argument(source, call, 1, "start")))
        return NULL;
    if (is_comprehension(over) || calls(source, over, "builtins.map"))
        return gathered(source, over, TAKT_IR_SUM);
    return of_known(source, over, TAKT_IR_SUM);
}

/* max(range(len(a)), key=lambda i: a[i]) */
static bool is_position(const struct takt_source *source, TSNode over,
                        TSNode key)
{
    if (!calls(source, over, "builtins.range"))
        return false;
    if (takt__node_is(key, "attribute"))
        return takt__text_is(
            takt__node_text(source, takt__node_field(key, "attribute")),
            "__getitem__");
    return takt__node_is(key, "lambda") &&
           takt__node_is(takt__node_field(key, "body"), "subscript");
}

static const char *extreme_op(const struct takt_source *source, TSNode call,
                              bool is_max)
{
    TSNode over = takt__python_argument(source, call, 0, NULL);
    TSNode key = takt__python_argument(source, call, 99, "key");

    if (ts_node_is_null(over))
        return NULL;
    if (!ts_node_is_null(key))
        return !is_position(source, over, key) ? NULL
               : is_max                        ? "argmax"
                                               : "argmin";
    if (takt__python_argument_count(call) != 1)
        return NULL;
    const enum takt_ir_effect effect = is_max ? TAKT_IR_MAX : TAKT_IR_MIN;
    if (is_comprehension(over) || calls(source, over, "builtins.map"))
        return gathered(source, over, effect);
    return of_known(source, over, effect);
}

/* lambda a, b: a + b */
static bool is_addition(const struct takt_source *source, TSNode function)
{
    if (!takt__node_is(function, "lambda"))
        return is_named(source, function, "operator.add") ||
               is_named(source, function, "numpy.add");
    TSNode body = takt__python_bare(takt__node_field(function, "body"));
    return takt__node_is(body, "binary_operator") &&
           takt__python_operator(source, body) == '+' &&
           takt__node_is(takt__node_field(body, "left"), "identifier") &&
           takt__node_is(takt__node_field(body, "right"), "identifier");
}

static const char *reduce_op(const struct takt_source *source, TSNode call)
{
    TSNode function = takt__python_argument(source, call, 0, NULL);
    TSNode over = takt__python_argument(source, call, 1, NULL);

    if (ts_node_is_null(function) || ts_node_is_null(over) ||
        !starts_with_number(source,
                            takt__python_argument(source, call, 2, "initial")))
        return NULL;
    if (is_named(source, function, "builtins.max"))
        return "max";
    if (is_named(source, function, "builtins.min"))
        return "min";
    if (!is_addition(source, function))
        return NULL;
    if (is_comprehension(over))
        return gathered(source, over, TAKT_IR_SUM);
    return of_known(source, over, TAKT_IR_SUM);
}

const char *takt__python_builtin(const struct takt_source *source, TSNode call)
{
    char dotted[TAKT_PYTHON_DOTTED];

    if (!takt__python_dotted(source, takt__node_field(call, "function"),
                             dotted))
        return NULL;
    if (strcmp(dotted, "builtins.sum") == 0)
        return sum_op(source, call);
    if (strcmp(dotted, "builtins.max") == 0)
        return extreme_op(source, call, true);
    if (strcmp(dotted, "builtins.min") == 0)
        return extreme_op(source, call, false);
    if (strcmp(dotted, "functools.reduce") == 0)
        return reduce_op(source, call);
    if (strcmp(dotted, "builtins.map") != 0)
        return NULL;
    if (has_lambda(source, call))
        return takt__python_reduced(source, call, TAKT_IR_STORE);
    const char *op = map_op(source, call);
    return op != NULL && strcmp(op, "element") == 0 ? NULL : op;
}

/* ---- comprehensions ------------------------------------------------------ */

/* [e / total for e in exps], exps = [math.exp(x - top) for x in xs] */
static bool is_softmax(const struct takt_source *source, TSNode body,
                       TSNode over)
{
    TSNode exps = takt__python_follow(source, over);

    if (!takt__node_is(body, "binary_operator") ||
        takt__python_operator(source, body) != '/' || !is_comprehension(exps))
        return false;
    TSNode total = takt__python_follow(source, takt__node_field(body, "right"));
    const char *op = takt__python_map(source, exps);
    if (op == NULL || strcmp(op, "exp") != 0 ||
        !calls(source, total, "builtins.sum") ||
        !takt__python_same(source,
                           takt__python_argument(source, total, 0, NULL), over))
        return false;
    takt__python_claim(source, exps);
    takt__python_claim(source, total);
    return true;
}

/* zip(*rows); zip(*table.items()) takes pairs apart. */
static bool is_unzip(const struct takt_source *source, TSNode node)
{
    TSNode splat = takt__python_argument(source, node, 0, NULL);

    return calls(source, node, "builtins.zip") &&
           takt__python_argument_count(node) == 1 &&
           takt__node_is(splat, "list_splat") &&
           !takt__node_is(takt__node_child(splat, 0), "call");
}

const char *takt__python_comprehension(const struct takt_source *source,
                                       TSNode node)
{
    TSNode clause = takt__node_child(node, 1);
    TSNode body = takt__python_bare(takt__node_field(node, "body"));

    if (takt__node_children(node) != 2 ||
        !takt__node_is(clause, "for_in_clause") || ts_node_is_null(body))
        return NULL;
    TSNode left = takt__node_field(clause, "left");
    TSNode over = takt__node_field(clause, "right");
    if (is_unzip(source, over))
        return (calls(source, body, "builtins.list") ||
                calls(source, body, "builtins.tuple")) &&
                       takt__python_same(
                           source, takt__python_argument(source, body, 0, NULL),
                           left)
                   ? "transpose"
                   : NULL;
    if (is_softmax(source, body, over))
        return "softmax";
    return takt__python_map(source, node);
}
