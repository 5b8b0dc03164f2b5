/* SPDX-License-Identifier: MIT */
/*
 * python_values.c - which expressions are arrays, and of what shape.
 *
 * Asked backwards, from an expression to the assignments that its names come
 * from. Unknown is a good answer: only what is known to be an array makes
 * `x * y` or `x.sum()` a finding. The search has a depth and a number of steps
 * that it does not exceed, and a binding is weighed once.
 */
#include "python_results.h"

#include <string.h>

enum { DEEPEST = 40, MOST_STEPS = 2000 };

static const struct takt_python_value number = {.kind = TAKT_PYTHON_NUMBER};
static const struct takt_python_value thing = {.kind = TAKT_PYTHON_THING};
static const struct takt_python_value unknown = {.kind = TAKT_PYTHON_UNKNOWN};

struct takt_python_value takt__python_some_array(bool is_torch)
{
    return (struct takt_python_value){.kind = TAKT_PYTHON_ARRAY,
                                      .is_torch = is_torch,
                                      .rank = TAKT_PYTHON_RANK_UNKNOWN};
}

/* ---- names --------------------------------------------------------------- */

static bool is_number_of_module(const char *dotted)
{
    return takt__text_in((struct takt_text){dotted, strlen(dotted)},
                         "math.pi math.e math.inf math.nan math.tau "
                         "numpy.pi numpy.e numpy.inf numpy.nan "
                         "torch.pi torch.inf scipy.pi");
}

/* a, b = 1, 2; rows, columns = x.shape; u, s, v = np.linalg.svd(x) */
static struct takt_python_value part_of(const struct takt_source *source,
                                        TSNode value, int part)
{
    char dotted[TAKT_PYTHON_DOTTED];

    if (takt__node_in(value, "expression_list tuple"))
        return takt__python_value(source,
                                  takt__node_child(value, (uint32_t)part));
    if (takt__node_is(value, "attribute"))
        return takt__text_is(takt__node_text(
                                 source, takt__node_field(value, "attribute")),
                             "shape")
                   ? number
                   : unknown;
    if (!takt__node_is(value, "call") ||
        !takt__python_dotted(source, takt__node_field(value, "function"),
                             dotted))
        return unknown;
    const bool is_numpy = strncmp(dotted, "numpy.linalg.", 13) == 0 ||
                          strcmp(dotted, "numpy.meshgrid") == 0;
    return is_numpy || strncmp(dotted, "torch.linalg.", 13) == 0
               ? takt__python_some_array(!is_numpy)
               : unknown;
}

/* for x in range(n), for i, x in enumerate(xs), for x, y in zip(xs, ys) */
static struct takt_python_value
item_of_call(const struct takt_source *source,
             const struct takt_python_binding *of)
{
    TSNode function = takt__node_field(of->value, "function");
    const unsigned part = of->part < 0 ? 0 : (unsigned)of->part;

    if (of->part < 0)
        return takt__python_names(source, function, "builtins.range") ? number
                                                                      : unknown;
    if (takt__python_names(source, function, "builtins.enumerate"))
        return part == 0
                   ? number
                   : takt__python_item(source, takt__python_argument(
                                                   source, of->value, 0, NULL));
    TSNode over = takt__python_argument(source, of->value, part, NULL);
    return takt__python_names(source, function, "builtins.zip") &&
                   !ts_node_is_null(over)
               ? takt__python_item(source, over)
               : unknown;
}

static struct takt_python_value item_of(const struct takt_source *source,
                                        const struct takt_python_binding *of)
{
    if (takt__node_is(of->value, "call"))
        return item_of_call(source, of);
    struct takt_python_value value = takt__python_value(source, of->value);
    if (of->part < 0 && value.kind != TAKT_PYTHON_ARRAY)
        return takt__python_item(source, of->value);
    if (of->part >= 0 || value.rank < 2 || value.kind != TAKT_PYTHON_ARRAY ||
        value.rank == TAKT_PYTHON_RANK_UNKNOWN)
        return unknown;
    value.rank--;
    memmove(value.dim, value.dim + 1, value.rank * sizeof value.dim[0]);
    return value;
}

static struct takt_python_value weigh(const struct takt_source *source,
                                      const struct takt_python_binding *binding)
{
    struct takt_python_value type = unknown;

    if (!ts_node_is_null(binding->type))
        type = takt__python_annotated(source, binding->type);
    if (ts_node_is_null(binding->value))
        return type;
    if (binding->binds == TAKT_PYTHON_ITEM)
        return item_of(source, binding);
    if (binding->part >= 0)
        return part_of(source, binding->value, binding->part);
    const struct takt_python_value value =
        takt__python_value(source, binding->value);
    if (type.kind != TAKT_PYTHON_UNKNOWN && value.kind != type.kind)
        return type;
    /* What a parameter defaults to says little, unless it is a number. */
    return binding->binds == TAKT_PYTHON_PARAMETER &&
                   value.kind != TAKT_PYTHON_NUMBER
               ? unknown
               : value;
}

/* What its use shows, where nothing else says it. */
static struct takt_python_value shown(const struct takt_source *source,
                                      const struct takt_python_binding *binding,
                                      struct takt_python_value value)
{
    const struct takt_python_notes *notes = source->notes;

    if (value.kind != TAKT_PYTHON_UNKNOWN || !notes->has_arrays ||
        notes->has_symbols || !ts_node_is_null(binding->type))
        return value;
    const enum takt_python_kind kind = takt__python_shown(source, binding);
    return kind == TAKT_PYTHON_ARRAY ? takt__python_some_array(notes->has_torch)
           : kind == TAKT_PYTHON_THING  ? thing
           : kind == TAKT_PYTHON_NUMBER ? number
                                        : value;
}

static struct takt_python_value bound(const struct takt_source *source,
                                      struct takt_python_binding *binding)
{
    if (binding != NULL && binding->binds == TAKT_PYTHON_MODULE)
        return is_number_of_module(binding->module) ? number : unknown;
    if (binding == NULL || binding->is_being_weighed ||
        (binding->binds != TAKT_PYTHON_VALUE &&
         binding->binds != TAKT_PYTHON_ITEM &&
         binding->binds != TAKT_PYTHON_PARAMETER))
        return unknown;
    if (!binding->is_weighed) {
        binding->is_being_weighed = true;
        binding->weighed = shown(source, binding, weigh(source, binding));
        binding->is_being_weighed = false;
        binding->is_weighed = true;
    }
    return binding->weighed;
}

/* What a function of this file returns: the same kind everywhere. */
static struct takt_python_value returned(const struct takt_source *source,
                                         TSNode function)
{
    TSNode body = takt__node_field(function, "body");
    TSTreeCursor cursor = ts_tree_cursor_new(body);
    struct takt_python_value out = unknown;
    bool is_first = true, is_same = true, is_passed;
    unsigned steps = 0;

    do {
        TSNode node = ts_tree_cursor_current_node(&cursor);
        if (steps++ > MOST_STEPS) /* too long to tell */
            is_same = false;
        if (takt__node_is(node, "return_statement")) {
            const struct takt_python_value one =
                takt__python_value(source, takt__node_child(node, 0));
            is_same &= is_first || one.kind == out.kind;
            if (!is_first && one.kind == TAKT_PYTHON_ARRAY)
                out = takt__python_some_array(one.is_torch);
            else
                out = one;
            is_first = false;
        }
        is_passed = takt__node_in(
            node,
            "function_definition lambda expression_statement return_statement");
    } while (is_same && takt__cursor_next(&cursor, !is_passed));
    ts_tree_cursor_delete(&cursor);
    return is_same ? out : unknown;
}

struct takt_python_value takt__python_returned(const struct takt_source *source,
                                               TSNode function)
{
    struct takt_python_binding *binding = NULL;

    if (takt__node_is(function, "identifier"))
        binding = takt__python_lookup(source, takt__node_text(source, function),
                                      ts_node_start_byte(function));
    if (binding == NULL || binding->binds != TAKT_PYTHON_FUNCTION ||
        binding->is_being_weighed)
        return unknown;
    if (!binding->is_weighed) {
        binding->is_being_weighed = true;
        binding->weighed = returned(source, binding->value);
        binding->is_being_weighed = false;
        binding->is_weighed = true;
    }
    return binding->weighed;
}

/* ---- expressions --------------------------------------------------------- */

static struct takt_python_value of_operator(const struct takt_source *source,
                                            TSNode node)
{
    TSNode left = takt__node_field(node, "left");
    TSNode right = takt__node_field(node, "right");
    struct takt_python_value a = takt__python_value(source, left);
    struct takt_python_value b = takt__python_value(source, right);

    if (takt__python_operator(source, node) == '@')
        return takt__python_product_of(source, left, right);
    if (a.kind == TAKT_PYTHON_ARRAY && b.kind == TAKT_PYTHON_ARRAY)
        return takt__python_broadcast(a, b);
    if (a.kind == TAKT_PYTHON_ARRAY || b.kind == TAKT_PYTHON_ARRAY) {
        struct takt_python_value array = a.kind == TAKT_PYTHON_ARRAY ? a : b;
        const struct takt_python_value other =
            a.kind == TAKT_PYTHON_ARRAY ? b : a;
        if (array.is_doubtful)
            return unknown;
        if (other.kind != TAKT_PYTHON_NUMBER)
            array.rank = TAKT_PYTHON_RANK_UNKNOWN;
        return array;
    }
    if (a.kind == TAKT_PYTHON_THING || b.kind == TAKT_PYTHON_THING)
        return thing;
    return a.kind == TAKT_PYTHON_NUMBER && b.kind == TAKT_PYTHON_NUMBER
               ? number
               : unknown;
}

static struct takt_python_value of_attribute(const struct takt_source *source,
                                             TSNode node)
{
    char dotted[TAKT_PYTHON_DOTTED];
    const struct takt_text text = takt__node_text(source, node);
    const struct takt_text name =
        takt__node_text(source, takt__node_field(node, "attribute"));
    TSNode object = takt__node_field(node, "object");

    if (takt__text_is(takt__node_text(source, object), "self"))
        return bound(source,
                     takt__python_own(source, text, ts_node_start_byte(node)));
    if (takt__python_dotted(source, node, dotted))
        return is_number_of_module(dotted) ? number : unknown;
    if (takt__text_in(name, "size ndim itemsize nbytes"))
        return number;
    struct takt_python_value value = takt__python_value(source, object);
    if (value.kind != TAKT_PYTHON_ARRAY)
        return unknown;
    if (takt__text_in(name, "T mT"))
        return takt__python_turned(value);
    return takt__text_in(name, "real imag data grad flat") ? value : unknown;
}

static bool has_numbers(const struct takt_source *source, TSNode subscript)
{
    for (unsigned i = 1; i < takt__node_children(subscript); i++)
        if (takt__python_value(source, takt__node_child(subscript, i)).kind !=
            TAKT_PYTHON_NUMBER)
            return false;
    return true;
}

/* x[a], x[a, b], x[a:b]: fewer indices than sizes leave an array. */
static struct takt_python_value of_subscript(const struct takt_source *source,
                                             TSNode node)
{
    TSNode object = takt__node_field(node, "value");
    struct takt_python_value value = takt__python_value(source, object);
    unsigned indices = 0, slices = 0;

    if (takt__node_is(object, "attribute") &&
        takt__text_is(
            takt__node_text(source, takt__node_field(object, "attribute")),
            "shape"))
        return number;
    if (value.kind == TAKT_PYTHON_UNKNOWN && takt__python_is_sliced(node) &&
        takt__python_has_arrays(source))
        return takt__python_some_array(takt__python_has_torch(source));
    if (value.kind == TAKT_PYTHON_UNKNOWN && takt__node_children(node) > 2 &&
        has_numbers(source, node))
        return number; /* x[i, j] */
    if (value.kind != TAKT_PYTHON_ARRAY)
        return unknown;
    for (unsigned i = 1; i < takt__node_children(node) && i < 8; i++) {
        TSNode index = takt__node_child(node, i);
        const bool is_slice = takt__node_in(index, "slice ellipsis none");
        slices += is_slice || takt__node_is(index, "comparison_operator");
        if (takt__node_is(index, "none")) /* one dimension more */
            value.rank = TAKT_PYTHON_RANK_UNKNOWN;
        indices += !is_slice;
        if (!is_slice &&
            takt__python_value(source, index).kind != TAKT_PYTHON_NUMBER)
            return slices > 0 ? takt__python_some_array(value.is_torch)
                              : unknown;
    }
    if (slices == 0 && value.rank == TAKT_PYTHON_RANK_UNKNOWN)
        return indices > 1 ? number : unknown;
    if (slices == 0 && indices >= value.rank)
        return number;
    if (slices > 0 && value.rank != TAKT_PYTHON_RANK_UNKNOWN &&
        indices >= value.rank)
        return unknown;
    if (value.rank != TAKT_PYTHON_RANK_UNKNOWN)
        value.rank -= indices;
    memset(value.dim, 0, sizeof value.dim);
    value.source = TAKT_SIZE_UNKNOWN;
    return value;
}

static struct takt_python_value of_choice(const struct takt_source *source,
                                          TSNode node)
{
    const struct takt_python_value a =
        takt__python_value(source, takt__node_child(node, 0));
    const struct takt_python_value b =
        takt__python_value(source, takt__node_child(node, 2));

    if (a.kind != b.kind)
        return unknown;
    return a.kind == TAKT_PYTHON_ARRAY ? takt__python_some_array(a.is_torch)
                                       : a;
}

static struct takt_python_value value_of(const struct takt_source *source,
                                         TSNode node)
{
    const char *type = ts_node_type(node);

    if (strcmp(type, "identifier") == 0)
        return bound(source,
                     takt__python_lookup(source, takt__node_text(source, node),
                                         ts_node_start_byte(node)));
    if (strcmp(type, "binary_operator") == 0)
        return of_operator(source, node);
    if (strcmp(type, "attribute") == 0)
        return of_attribute(source, node);
    if (strcmp(type, "subscript") == 0)
        return of_subscript(source, node);
    if (strcmp(type, "call") == 0)
        return takt__python_result(source, node);
    if (strcmp(type, "conditional_expression") == 0)
        return of_choice(source, node);
    if (strcmp(type, "unary_operator") == 0)
        return takt__python_value(source, takt__node_field(node, "argument"));
    if (takt__word_in(type, "integer float true false"))
        return number;
    static const char things[] =
        "string concatenated_string list tuple dictionary set none "
        "list_comprehension set_comprehension dictionary_comprehension "
        "generator_expression lambda";
    return takt__text_in((struct takt_text){type, strlen(type)}, things)
               ? thing
               : unknown;
}

struct takt_python_value takt__python_value(const struct takt_source *source,
                                            TSNode node)
{
    struct takt_python_notes *notes = source->notes;

    node = takt__python_bare(node);
    if (ts_node_is_null(node) || notes->depth >= DEEPEST)
        return unknown;
    if (notes->depth == 0)
        notes->steps = 0;
    const uint32_t at = ts_node_start_byte(node);
    struct takt_python_known *known =
        &notes->known[(at + 31 * ts_node_end_byte(node)) % TAKT_PYTHON_KNOWN];
    if (known->id == node.id && known->at == at)
        return known->value;
    if (notes->steps++ >= MOST_STEPS)
        return unknown;
    notes->depth++;
    const struct takt_python_value value = value_of(source, node);
    notes->depth--;
    *known = (struct takt_python_known){node.id, at, value};
    return value;
}
