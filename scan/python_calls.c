/* SPDX-License-Identifier: MIT */
/*
 * python_calls.c - library functions and the ops that they are.
 *
 * The framework tables say it for NumPy and PyTorch; scikit-learn's estimators
 * have no op there, so none of them is found. What other libraries bring for
 * the same ops stands here.
 */
#define _GNU_SOURCE /* memmem() */
#include "python_results.h"

#include <stdio.h>
#include <string.h>

#include <takt/framework.h>

static const struct {
    const char *module, *functions, *op;
} others[] = {
    {"scipy.signal", "convolve2d correlate2d", "conv2d"},
    {"scipy.ndimage", "convolve correlate", "conv2d"},
    {"scipy.special", "softmax log_softmax", "softmax"},
    {"scipy.special", "expit", "sigmoid"},
    {"scipy.linalg", "norm", "norm2"},
    {"cv2", "filter2D", "conv2d"},
    {"math", "fsum", "sum"},
    {"math", "sumprod", "dot"},
    {"statistics", "mean fmean", "mean"},
    {"statistics", "pvariance", "variance"},
    {"numpy.add", "reduce", "sum"},
    {"numpy.maximum", "reduce", "max"},
    {"numpy.minimum", "reduce", "min"},
    {"numpy", "einsum", "matmul"},
    {"numpy", "square", "mul"},
    {"torch", "einsum", "matmul"},
    {"numpy.linalg", "multi_dot matmul", "matmul"},
    {"numpy.linalg", "vector_norm", "norm2"},
    {"torch.linalg", "norm vector_norm", "norm2"},
    {"torch.linalg", "matmul", "matmul"},
    {"torch", "addmm", "matmul"},
    {"torch", "addmv", "gemv"},
    {"torch", "neg negative", "neg"},
    {"tensorflow", "matmul", "matmul"},
    {"tensorflow", "reduce_sum", "sum"},
    {"tensorflow", "reduce_mean", "mean"},
    {"tensorflow", "reduce_max", "max"},
    {"tensorflow", "exp", "exp"},
    {"tensorflow", "sqrt", "sqrt"},
    {"tensorflow", "abs", "abs"},
    {"tensorflow", "tanh", "tanh"},
    {"tensorflow", "sigmoid", "sigmoid"},
    {"tensorflow.math", "exp", "exp"},
    {"tensorflow.math", "log", "log"},
    {"tensorflow.math", "sqrt", "sqrt"},
    {"tensorflow.math", "abs", "abs"},
    {"tensorflow.math", "reduce_sum", "sum"},
    {"tensorflow.math", "reduce_mean", "mean"},
    {"tensorflow.nn", "softmax", "softmax"},
    {"tensorflow.nn", "relu", "relu"},
    {"tensorflow.nn", "conv2d", "conv2d"},
    {"sklearn.utils.extmath", "safe_sparse_dot", "matmul"},
    {"sklearn.utils.extmath", "softmax", "softmax"},
    {"sklearn.metrics.pairwise", "linear_kernel cosine_similarity", "matmul"},
};

/* What these make is an array; python_values.c knows their shapes. */
static const char of_arrays[] =
    "array asarray asanyarray ascontiguousarray zeros ones empty full arange "
    "linspace eye zeros_like ones_like empty_like full_like tensor as_tensor "
    "rand randn from_numpy";

/* Methods that only look like those of arrays, or that change nothing. */
static const char not_methods[] = "norm1 T linear embedding true_divide";

static bool is_of_module(const takt_framework_op *row, const char *module)
{
    if (strcmp(row->module, module) == 0)
        return true;
    /* PyTorch has most of torch.nn.functional in torch, too. */
    return strcmp(row->module, "torch.nn") == 0 &&
           (strcmp(module, "torch.nn.functional") == 0 ||
            strcmp(module, "torch") == 0);
}

static const char *op_in_tables(const char *module, struct takt_text function)
{
    for (size_t i = 0; i < takt_framework_op_count(); i++) {
        const takt_framework_op *row = takt_framework_op_at(i);
        /* without a call that replaces it, it is only a view */
        if (row->op != NULL && row->call != NULL && is_of_module(row, module) &&
            takt__text_in(function, row->functions))
            return row->op;
    }
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        if (strcmp(others[i].module, module) == 0 &&
            takt__text_in(function, others[i].functions))
            return others[i].op;
    return NULL;
}

static const char *split(const char *dotted, char module[TAKT_PYTHON_DOTTED])
{
    const char *dot = strrchr(dotted, '.');

    if (dot == NULL)
        return NULL;
    snprintf(module, TAKT_PYTHON_DOTTED, "%.*s", (int)(dot - dotted), dotted);
    return dot + 1;
}

const char *takt__python_function_op(const char *dotted)
{
    char module[TAKT_PYTHON_DOTTED];
    const char *function = split(dotted, module);

    if (function == NULL)
        return NULL;
    return op_in_tables(module, (struct takt_text){function, strlen(function)});
}

bool takt__python_is_known(const char *dotted)
{
    char module[TAKT_PYTHON_DOTTED];
    const char *function = split(dotted, module);

    if (takt__python_function_op(dotted) != NULL)
        return true;
    return (takt__word_in(module, "numpy torch")) &&
           takt__text_in((struct takt_text){function, strlen(function)},
                         of_arrays);
}

const char *takt__python_method_op(bool is_torch, struct takt_text name)
{
    /* x.add_(y) does it in place. */
    if (is_torch && name.size > 1 && name.at[name.size - 1] == '_')
        name.size--;
    if (takt__text_in(name, not_methods))
        return NULL;
    if (!is_torch &&
        !takt__text_in(name, "transpose swapaxes copy clip sum mean max min "
                             "argmax argmin var dot"))
        return NULL;
    return op_in_tables(is_torch ? "torch" : "numpy", name);
}

/* ---- calls --------------------------------------------------------------- */

/* PyTorch's methods that work in place: where it is imported, nobody else has
 * methods so called, but for a class that speaks of itself. */
static bool is_in_place(const struct takt_source *source, TSNode method)
{
    static const char names[] =
        "add_ sub_ mul_ div_ clamp_ sqrt_ exp_ log_ abs_ neg_ relu_ sigmoid_ "
        "tanh_ copy_ addmm_ addmv_";

    return takt__python_has_torch(source) &&
           takt__text_in(
               takt__node_text(source, takt__node_field(method, "attribute")),
               names) &&
           !takt__text_is(
               takt__node_text(source, takt__node_field(method, "object")),
               "self");
}

/* The object of a method of an array; null: it is none. */
static TSNode array_of_method(const struct takt_source *source, TSNode call,
                              struct takt_python_value *value)
{
    TSNode function = takt__node_field(call, "function");
    TSNode object = takt__node_field(function, "object");

    *value = (struct takt_python_value){0};
    if (!ts_node_is_null(object)) {
        *value = takt__python_receiver(source, call);
        if (value->kind == TAKT_PYTHON_UNKNOWN && is_in_place(source, function))
            *value =
                (struct takt_python_value){.kind = TAKT_PYTHON_ARRAY,
                                           .is_torch = true,
                                           .rank = TAKT_PYTHON_RANK_UNKNOWN};
        if (value->kind != TAKT_PYTHON_ARRAY)
            object = (TSNode){{0}, NULL, NULL};
    }
    return object;
}

TSNode takt__python_operand(const struct takt_source *source, TSNode call,
                            unsigned index)
{
    char dotted[TAKT_PYTHON_DOTTED];
    struct takt_python_value value;

    if (takt__python_dotted(source, takt__node_field(call, "function"), dotted))
        return strstr(dotted, ".einsum") != NULL /* rows and columns anyhow */
                   ? (TSNode){{0}, NULL, NULL}
                   : takt__python_argument(source, call, index, NULL);
    TSNode object = array_of_method(source, call, &value);
    if (index == 0 || ts_node_is_null(object))
        return object;
    return takt__python_argument(source, call, index - 1, NULL);
}

static bool is_capital(const struct takt_source *source, TSNode node)
{
    const struct takt_text text = takt__node_text(source, node);
    return text.size > 0 && text.at[0] >= 'A' && text.at[0] <= 'Z';
}

const char *takt__python_product_op(const struct takt_source *source,
                                    TSNode left, TSNode right)
{
    if (ts_node_is_null(left) || ts_node_is_null(right))
        return "matmul";
    const struct takt_python_value a = takt__python_value(source, left);
    const struct takt_python_value b = takt__python_value(source, right);

    if (a.kind == TAKT_PYTHON_NUMBER || b.kind == TAKT_PYTHON_NUMBER)
        return "scale";
    const bool is_a_known =
        a.kind == TAKT_PYTHON_ARRAY && a.rank != TAKT_PYTHON_RANK_UNKNOWN;
    const bool is_b_known =
        b.kind == TAKT_PYTHON_ARRAY && b.rank != TAKT_PYTHON_RANK_UNKNOWN;
    if (is_a_known && is_b_known && a.rank == 1 && b.rank == 1)
        return "dot";
    if (!is_a_known && !is_b_known && takt__python_same(source, left, right) &&
        !is_capital(source, left))
        return "dot"; /* x @ x; but A @ A is a matrix to everybody */
    if ((is_a_known && a.rank > 2) || (is_b_known && b.rank > 2))
        return "batched_matmul";
    if ((is_a_known && a.rank == 1) || (is_b_known && b.rank == 1))
        return "gemv";
    return "matmul";
}

static bool has_letter(struct takt_text text, char letter)
{
    return text.size > 0 && memchr(text.at, letter, text.size) != NULL;
}

/* np.einsum("bij,bjk->bik", a, b): told by where each letter stands. */
static const char *einsum_op(const struct takt_source *source, TSNode call)
{
    const struct takt_text all =
        takt__node_text(source, takt__python_argument(source, call, 0, NULL));
    const char *end = all.at + all.size;
    const char *comma = all.size > 0 ? memchr(all.at, ',', all.size) : NULL;
    const char *arrow = all.size > 0 ? memmem(all.at, all.size, "->", 2) : NULL;
    bool is_summed = false, is_batched = false, has_rows = false;
    bool has_columns = false;

    if (comma == NULL || arrow == NULL || comma > arrow ||
        memchr(comma + 1, ',', (size_t)(arrow - comma - 1)) != NULL)
        return NULL; /* one array, or more than two */
    const struct takt_text left = {all.at, (size_t)(comma - all.at)};
    const struct takt_text right = {comma, (size_t)(arrow - comma)};
    const struct takt_text out = {arrow, (size_t)(end - arrow)};
    for (char letter = 'A'; letter <= 'z'; letter++) {
        const bool in_left = has_letter(left, letter);
        const bool in_right = has_letter(right, letter);
        const bool is_kept = has_letter(out, letter);
        is_summed |= in_left && in_right && !is_kept;
        is_batched |= in_left && in_right && is_kept;
        has_rows |= in_left && !in_right && is_kept;
        has_columns |= in_right && !in_left && is_kept;
    }
    if (!is_summed)
        return NULL;
    if (has_rows && has_columns)
        return is_batched || has_letter(out, '.') ? "batched_matmul" : "matmul";
    return has_rows || has_columns ? "gemv" : "dot";
}

/* The p of a norm: only 1 and 2 have an op. */
static const char *norm_op(const struct takt_source *source, TSNode call,
                           unsigned position)
{
    TSNode order = takt__python_argument(source, call, position, "ord");

    if (ts_node_is_null(order))
        order = takt__python_argument(source, call, position, "p");
    if (ts_node_is_null(order) || takt__node_in(order, "none string") ||
        takt__python_is_literal(source, order, 2.0))
        return "norm2";
    return takt__python_is_literal(source, order, 1.0) ? "norm1" : NULL;
}

static bool is_op(const char *op, const char *name)
{
    return strcmp(op, name) == 0;
}

/* torch.max(x, y): for each element, and no reduction. */
static bool is_pairwise(const struct takt_source *source, TSNode call)
{
    char dotted[TAKT_PYTHON_DOTTED];
    TSNode second = takt__python_argument(source, call, 1, NULL);

    return takt__python_dotted(source, takt__node_field(call, "function"),
                               dotted) &&
           strncmp(dotted, "torch.", 6) == 0 && !ts_node_is_null(second) &&
           takt__python_value(source, second).kind != TAKT_PYTHON_NUMBER &&
           !takt__text_in(takt__node_text(source, second), "dim axis");
}

static bool is_condition(TSNode node)
{
    return takt__node_in(node,
                         "comparison_operator boolean_operator not_operator");
}

static bool is_number(const struct takt_source *source, TSNode node)
{
    return takt__python_value(source, node).kind == TAKT_PYTHON_NUMBER;
}

/* Angles are numbers more often than arrays: x, and not x[0]. */
static bool is_known_array(const struct takt_source *source, TSNode node)
{
    const bool is_array =
        takt__python_value(source, node).kind == TAKT_PYTHON_ARRAY;

    node = takt__python_bare(node);
    if (takt__node_is(node, "unary_operator"))
        node = takt__python_bare(takt__node_field(node, "argument"));
    return is_array &&
           (!takt__node_is(node, "subscript") ||
            !takt__node_is(takt__node_field(node, "subscript"), "integer"));
}

/* What the arguments say about it. */
static const char *refined(const struct takt_source *source, TSNode call,
                           const char *op, bool is_method, bool is_layer)
{
    if (is_layer)
        return op; /* nn.ReLU(): its arguments are not its operands */
    TSNode first = takt__python_operand(source, call, 0);
    TSNode second = takt__python_operand(source, call, 1);

    if (is_number(source, first) &&
        (ts_node_is_null(second) || is_number(source, second)))
        return NULL; /* np.sqrt(2.0), np.clip(x[0], 0, 1) */
    if ((is_op(op, "sin") || is_op(op, "cos")) &&
        !is_known_array(source, first))
        return NULL;
    if (is_op(op, "norm2"))
        return norm_op(source, call, is_method ? 0 : 1);
    if (is_op(op, "matmul"))
        return takt__python_product_op(source, first, second);
    if (ts_node_is_null(first))
        return NULL;
    if (is_op(op, "sum") && is_condition(takt__python_bare(first)))
        return NULL; /* counts */
    if ((is_op(op, "max") || is_op(op, "min")) && is_pairwise(source, call))
        return NULL;
    return op;
}

const char *takt__python_call_op(const struct takt_source *source, TSNode call)
{
    char dotted[TAKT_PYTHON_DOTTED];
    struct takt_python_value value;
    TSNode function = takt__node_field(call, "function");

    if (takt__python_dotted(source, function, dotted)) {
        const char *op = takt__python_function_op(dotted);
        const char *last = strrchr(dotted, '.');
        if (op != NULL && strcmp(last, ".einsum") == 0)
            return einsum_op(source, call);
        const bool is_layer =
            strncmp(dotted, "torch.nn.", 9) == 0 && last[1] <= 'Z';
        return op == NULL ? NULL : refined(source, call, op, false, is_layer);
    }
    TSNode array = array_of_method(source, call, &value);
    if (ts_node_is_null(array))
        return NULL;
    const char *op = takt__python_method_op(
        value.is_torch,
        takt__node_text(source, takt__node_field(function, "attribute")));
    return op == NULL ? NULL : refined(source, call, op, true, false);
}
