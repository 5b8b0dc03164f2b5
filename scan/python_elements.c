/* SPDX-License-Identifier: MIT */
/*
 * python_elements.c - what an expression does to the elements of a loop.
 *
 * Python does not say whether x is a number. So `+`, which joins texts and
 * lists, and `/`, which joins paths, count only where both sides are elements
 * or one is known to be a number; and elements come from names, not from calls
 * that may return anything.
 */
#include "python.h"

#include <string.h>

enum { DEEPEST = 12 };

static const char element[] = "element";

/* ---- the variables of loops ---------------------------------------------- */

static bool add(const struct takt_source *source,
                struct takt_python_loops *loops, TSNode name, bool is_index,
                TSNode over)
{
    if (ts_node_is_null(name) || !takt__node_is(name, "identifier") ||
        loops->count == TAKT_PYTHON_LOOPS)
        return false;
    loops->of[loops->count].name = takt__node_text(source, name);
    loops->of[loops->count].is_index = is_index;
    loops->of[loops->count++].over = over;
    return true;
}

/* What may have numbers in it that are measured, not counted. */
static bool has_elements(const struct takt_source *source, TSNode over)
{
    if (takt__python_sounds_like_counts(takt__node_text(source, over)) ||
        !takt__python_may_hold_numbers(source, over))
        return false;
    return takt__node_is(over, "identifier") ||
           takt__node_is(over, "attribute") ||
           takt__node_is(over, "subscript") ||
           takt__python_value(source, over).kind == TAKT_PYTHON_ARRAY;
}

static bool add_zip(const struct takt_source *source,
                    struct takt_python_loops *loops, TSNode left, TSNode call)
{
    const unsigned count = takt__python_argument_count(call);

    if (count != takt__python_children(left) ||
        takt__node_is(left, "identifier"))
        return false;
    for (unsigned i = 0; i < count; i++) {
        TSNode over = takt__python_argument(source, call, i, NULL);
        if (ts_node_is_null(over) || !has_elements(source, over) ||
            !add(source, loops, takt__python_child(left, i), false, over))
            return false;
    }
    return true;
}

static bool add_variables(const struct takt_source *source,
                          struct takt_python_loops *loops, TSNode left,
                          TSNode right)
{
    char dotted[TAKT_PYTHON_DOTTED];

    if (!takt__node_is(right, "call"))
        return has_elements(source, right) &&
               add(source, loops, left, false, right);
    if (!takt__python_dotted(source, takt__node_field(right, "function"),
                             dotted))
        return has_elements(source, right) &&
               add(source, loops, left, false, right);
    if (strcmp(dotted, "builtins.range") == 0)
        return add(source, loops, left, true, right);
    if (strcmp(dotted, "builtins.zip") == 0)
        return add_zip(source, loops, left, right);
    TSNode over = takt__python_argument(source, right, 0, NULL);
    if (strcmp(dotted, "builtins.enumerate") == 0)
        return takt__python_children(left) == 2 && !ts_node_is_null(over) &&
               has_elements(source, over) &&
               add(source, loops, takt__python_child(left, 0), true, right) &&
               add(source, loops, takt__python_child(left, 1), false, over);
    return has_elements(source, right) &&
           add(source, loops, left, false, right);
}

bool takt__python_add_loop(const struct takt_source *source,
                           struct takt_python_loops *loops, TSNode left,
                           TSNode right)
{
    const unsigned first = loops->count;

    if (!add_variables(source, loops, left, right))
        return false;
    for (unsigned i = first; i < loops->count; i++)
        loops->of[i].first = first;
    return true;
}

unsigned takt__python_levels(const struct takt_python_loops *loops,
                             unsigned bits)
{
    unsigned levels = 0;

    for (unsigned i = 0; i < loops->count; i++)
        if ((bits >> i & 1) != 0)
            levels |= 1u << loops->of[i].first;
    return levels;
}

static unsigned loop_of(const struct takt_source *source,
                        const struct takt_python_loops *loops, TSNode name)
{
    const struct takt_text text = takt__node_text(source, name);

    for (unsigned i = loops->count; i > 0; i--) {
        const struct takt_text of = loops->of[i - 1].name;
        if (of.size == text.size && memcmp(of.at, text.at, of.size) == 0)
            return i;
    }
    return 0;
}

static unsigned loops_in(const struct takt_source *source,
                         const struct takt_python_loops *loops, TSNode node,
                         unsigned depth)
{
    unsigned bits = 0;

    if (takt__node_is(node, "identifier")) {
        const unsigned loop = loop_of(source, loops, node);
        return loop == 0 ? 0 : 1u << (loop - 1);
    }
    const unsigned count = takt__python_children(node);
    for (unsigned i = 0; i < count && i < 32 && depth < DEEPEST; i++)
        bits |= loops_in(source, loops, takt__python_child(node, i), depth + 1);
    return bits;
}

unsigned takt__python_loops_in(const struct takt_source *source,
                               const struct takt_python_loops *loops,
                               TSNode node)
{
    return loops_in(source, loops, node, 0);
}

/* a[i], a[i][j], a[i, j]: each index is a loop's, and nothing else. */
static bool is_indexed(const struct takt_source *source,
                       const struct takt_python_loops *loops, TSNode node,
                       unsigned *of)
{
    *of = 0;
    for (unsigned depth = 0;
         takt__node_is(node, "subscript") && depth < DEEPEST; depth++) {
        for (unsigned i = 1; i < takt__python_children(node); i++) {
            TSNode index = takt__python_child(node, i);
            const unsigned loop = takt__node_is(index, "identifier")
                                      ? loop_of(source, loops, index)
                                      : 0;
            if (loop == 0 || !loops->of[loop - 1].is_index)
                return false;
            *of |= 1u << (loop - 1);
        }
        node = takt__node_field(node, "value");
    }
    return *of != 0 &&
           (takt__node_is(node, "identifier") ||
            takt__node_is(node, "attribute")) &&
           takt__python_loops_in(source, loops, node) == 0 &&
           takt__python_may_hold_numbers(source, node);
}

bool takt__python_is_element(const struct takt_source *source,
                             const struct takt_python_loops *loops, TSNode node,
                             unsigned *of)
{
    node = takt__python_bare(node);
    if (takt__node_is(node, "subscript"))
        return is_indexed(source, loops, node, of);
    const unsigned loop =
        takt__node_is(node, "identifier") ? loop_of(source, loops, node) : 0;
    *of = loop == 0 ? 0 : 1u << (loop - 1);
    return loop != 0 && !loops->of[loop - 1].is_index;
}

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

/* ---- what is done to them ------------------------------------------------ */

static const char *op_of(const struct takt_source *source,
                         const struct takt_python_loops *loops, TSNode node,
                         unsigned depth);

/* The same for all elements. */
static bool is_fixed(const struct takt_source *source,
                     const struct takt_python_loops *loops, TSNode node)
{
    return takt__python_loops_in(source, loops, node) == 0 &&
           takt__python_value(source, node).kind != TAKT_PYTHON_THING;
}

static bool is_number(const struct takt_source *source,
                      const struct takt_python_loops *loops, TSNode node)
{
    return is_fixed(source, loops, node) &&
           takt__python_value(source, node).kind == TAKT_PYTHON_NUMBER;
}

static const char *power_of(const struct takt_source *source, TSNode right,
                            const char *left_op)
{
    if (takt__python_is_literal(source, right, 0.5))
        return "sqrt";
    if (!takt__python_is_literal(source, right, 2.0))
        return NULL;
    return strcmp(left_op, "shifted") == 0 ? "centred" : "square";
}

static const char *sum_op(const struct takt_source *source, TSNode left,
                          TSNode right, const char *a, const char *b)
{
    TSNode product = a != NULL && strcmp(a, element) != 0 ? left : right;
    const char *op = product.id == left.id ? a : b;
    const char *other = product.id == left.id ? b : a;

    (void)source;
    if (op != NULL && other != NULL && strcmp(op, "scale") == 0)
        return "axpy";
    if (op != NULL && other != NULL && strcmp(op, "mul") == 0)
        return "fma";
    return NULL;
}

static const char *binary_op(const struct takt_source *source,
                             const struct takt_python_loops *loops, TSNode node,
                             unsigned depth)
{
    TSNode left = takt__python_bare(takt__node_field(node, "left"));
    TSNode right = takt__python_bare(takt__node_field(node, "right"));
    const char *a = op_of(source, loops, left, depth + 1);
    const char *b = op_of(source, loops, right, depth + 1);
    const char sign = takt__python_operator(source, node);

    if (sign == 'p')
        return a == NULL ? NULL : power_of(source, right, a);
    if (sign == '*') {
        if (a != NULL && b != NULL)
            return takt__python_same(source, left, right) ? "square" : "mul";
        return (a != NULL && is_fixed(source, loops, right)) ||
                       (b != NULL && is_fixed(source, loops, left))
                   ? "scale"
                   : NULL;
    }
    if (sign == '/' && a == NULL && b != NULL && is_number(source, loops, left))
        return strcmp(b, "logistic") == 0 ? "sigmoid" : "div";
    if ((a == NULL && (b == NULL || !is_number(source, loops, left))) ||
        (b == NULL && !is_number(source, loops, right)))
        return NULL;
    if (sign == '/')
        return b == NULL ? "scale" : "div";
    if (sign != '+' && sign != '-')
        return NULL;
    if (takt__node_is(left, "integer") || takt__node_is(right, "integer"))
        return a == NULL && strcmp(b, "exp") == 0 ? "logistic" : "offset";
    const char *product = sum_op(source, left, right, a, b);
    if (product != NULL)
        return product;
    if (sign == '-')
        return a != NULL && b == NULL && strcmp(a, element) == 0 ? "shifted"
                                                                 : "sub";
    return a == NULL && strcmp(b, "exp") == 0 &&
                   takt__python_is_literal(source, left, 1.0)
               ? "logistic"
               : "add";
}

/* max(0, x), min(max(x, low), high) */
static const char *limit_op(const struct takt_source *source,
                            const struct takt_python_loops *loops, TSNode call,
                            unsigned depth)
{
    TSNode first = takt__python_argument(source, call, 0, NULL);
    TSNode second = takt__python_argument(source, call, 1, NULL);

    if (takt__python_argument_count(call) != 2)
        return NULL;
    const char *a = op_of(source, loops, first, depth + 1);
    const char *b = op_of(source, loops, second, depth + 1);
    if ((a == NULL) == (b == NULL) ||
        !is_fixed(source, loops, a == NULL ? first : second))
        return NULL;
    return takt__python_is_literal(source, a == NULL ? first : second, 0.0)
               ? "relu"
               : "clamp";
}

static const char *call_op(const struct takt_source *source,
                           const struct takt_python_loops *loops, TSNode call,
                           unsigned depth)
{
    char dotted[TAKT_PYTHON_DOTTED];
    static const struct {
        const char *function, *op;
    } known[] = {
        {"builtins.abs", "abs"}, {"math.fabs", "abs"},
        {"math.sqrt", "sqrt"},   {"math.exp", "exp"},
        {"math.log", "log"},     {"math.tanh", "tanh"},
        {"numpy.abs", "abs"},    {"numpy.sqrt", "sqrt"},
        {"numpy.exp", "exp"},    {"numpy.log", "log"},
        {"numpy.tanh", "tanh"},  {"builtins.float", element},
    };

    if (!takt__python_dotted(source, takt__node_field(call, "function"),
                             dotted))
        return NULL;
    if (strcmp(dotted, "builtins.max") == 0 ||
        strcmp(dotted, "builtins.min") == 0)
        return limit_op(source, loops, call, depth);
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (strcmp(dotted, known[i].function) == 0 &&
            takt__python_argument_count(call) == 1 &&
            op_of(source, loops, takt__python_argument(source, call, 0, NULL),
                  depth + 1) != NULL)
            return known[i].op;
    return NULL;
}

static const char *op_of(const struct takt_source *source,
                         const struct takt_python_loops *loops, TSNode node,
                         unsigned depth)
{
    unsigned of;

    node = takt__python_bare(node);
    if (ts_node_is_null(node) || depth > DEEPEST)
        return NULL;
    if (takt__python_is_element(source, loops, node, &of))
        return element;
    if (takt__node_is(node, "binary_operator"))
        return binary_op(source, loops, node, depth);
    if (takt__node_is(node, "call"))
        return call_op(source, loops, node, depth);
    if (takt__node_is(node, "unary_operator") &&
        takt__python_operator(source, node) == '-')
        return op_of(source, loops, takt__node_field(node, "argument"),
                     depth + 1) == NULL
                   ? NULL
                   : "neg";
    return NULL;
}

const char *takt__python_element_op(const struct takt_source *source,
                                    const struct takt_python_loops *loops,
                                    TSNode node)
{
    return op_of(source, loops, node, 0);
}

const char *takt__python_map_op(const char *element_op)
{
    static const struct {
        const char *of, *is;
    } names[] = {{"square", "mul"},
                 {"centred", "mul"},
                 {"shifted", "sub"},
                 {"logistic", "add"}};

    if (element_op == NULL || strcmp(element_op, element) == 0 ||
        strcmp(element_op, "offset") == 0)
        return NULL;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(element_op, names[i].of) == 0)
            return names[i].is;
    return element_op;
}

const char *takt__python_sum_of(const char *element_op)
{
    if (element_op == NULL)
        return NULL;
    if (strcmp(element_op, "mul") == 0 || strcmp(element_op, "square") == 0)
        return "dot";
    if (strcmp(element_op, "abs") == 0)
        return "norm1";
    return strcmp(element_op, "centred") == 0 ? "variance" : "sum";
}
