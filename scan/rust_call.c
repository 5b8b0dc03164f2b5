/* SPDX-License-Identifier: MIT */
/*
 * rust_call.c - calls that say by their name what they compute, and methods of
 * the array libraries whose types can be seen.
 */
#include "rust.h"

#include <string.h>

static const struct takt_rust_verdict NOTHING = {.op = NULL};

struct named_op {
    const char *op, *names;
};

/* Said by a free function, a path or a method alike. */
static const struct named_op by_name[] = {
    {"matmul", "matmul mat_mul matmult gemm sgemm dgemm cblas_sgemm "
               "cblas_dgemm general_mat_mul matrix_multiply multiply_matrices "
               "gemm_tr gemm_ad matmul_with_conj matmul_into matmul_t"},
    {"batched_matmul", "batch_matmul batched_matmul bmm"},
    {"gemv", "gemv sgemv dgemv cblas_sgemv cblas_dgemv general_mat_vec_mul "
             "matvec mat_vec_mul gemv_tr gemv_ad mat_vec"},
    {"dot", "dot_product inner_product sdot ddot cblas_sdot cblas_ddot "
            "tr_dot norm_squared"},
    {"axpy", "axpy saxpy daxpy cblas_saxpy cblas_daxpy"},
    {"conv2d", "convolve convolve2d convolution conv2d conv1d"},
    {"pooling", "max_pool2d avg_pool2d"},
    {"softmax", "softmax softmax_last_dim log_softmax"},
    {"layernorm", "layer_norm"},
    {"attention", "scaled_dot_product_attention flash_attn"}};

/* Of a receiver that is an array of a library; the rank makes dot precise. */
static const struct named_op of_arrays[] = {
    {"sum", "sum sum_axis row_sum column_sum sum_all"},
    {"product", "product"},
    {"mean", "mean mean_axis mean_all"},
    {"variance", "var var_axis variance std std_axis"},
    {"max", "max"},
    {"min", "min"},
    {"argmax", "argmax"},
    {"argmin", "argmin"},
    {"norm2", "norm norm_l2"},
    {"norm1", "norm_l1"},
    {"dot", "norm_squared dot"},
    {"add", "add_assign"},
    {"sub", "sub_assign"},
    {"mul", "component_mul mul_assign"},
    {"div", "component_div div_assign"},
    {"scale", "scale"},
    {"axpy", "axpy scaled_add"},
    {"matmul", "mul_to tr_mul"}};

static const struct named_op of_tensors[] = {
    {"exp", "exp"},
    {"log", "log"},
    {"log1p", "log1p"},
    {"sqrt", "sqrt"},
    {"sin", "sin"},
    {"cos", "cos"},
    {"abs", "abs"},
    {"relu", "relu"},
    {"gelu", "gelu"},
    {"sigmoid", "sigmoid"},
    {"tanh", "tanh"},
    {"neg", "neg"},
    {"clamp", "clamp clamp_min clamp_max"},
    {"add", "add add_scalar broadcast_add"},
    {"sub", "sub sub_scalar broadcast_sub"},
    {"mul", "mul broadcast_mul"},
    {"div", "div broadcast_div"},
    {"scale", "mul_scalar div_scalar"}};

static const char *look_up(const struct named_op *table, size_t count,
                           struct takt_text name)
{
    for (size_t i = 0; i < count; i++)
        if (takt__text_in(name, table[i].names))
            return table[i].op;
    return NULL;
}
#define LOOK_UP(table, name) look_up(table, sizeof table / sizeof *table, name)

static bool can_be_floats(struct takt_rust_type type)
{
    return type.leaf != TAKT_RUST_INTEGER && type.leaf != TAKT_RUST_OTHER &&
           type.shell != TAKT_RUST_CLOSED && type.shell != TAKT_RUST_SMALL;
}

static bool is_unknown(struct takt_rust_type type)
{
    return type.shell == TAKT_RUST_PLAIN && type.leaf == TAKT_RUST_UNKNOWN;
}

/* The function of this file that is called, or NULL. */
static const struct takt_rust_name *own_function(struct takt_rust *rust,
                                                 TSNode call, TSNode name)
{
    static const char here[] = "self super crate";
    const TSNode function = takt__node_field(call, "function");
    const TSNode path = takt__node_field(function, "path");
    struct takt_text owner = {"", 0};
    if (rust_is(function, "field_expression")) {
        const struct takt_rust_type type = takt__rust_type_of(
            rust, takt__rust_receiver(call), TAKT_RUST_DEPTH);
        if (type.shell != TAKT_RUST_OWN)
            return NULL;
        owner = type.name;
    } else if (!ts_node_is_null(path) && !takt__rust_is_any(rust, path, here)) {
        owner = rust_text(rust, path);
        if (takt__text_is(owner, "Self"))
            owner = takt__rust_owner(rust, call);
    }
    return takt__rust_find(rust, TAKT_RUST_FUNCTION, owner,
                           rust_text(rust, name));
}

/* A function of this file that plainly is about something else. */
static bool is_about_others(struct takt_rust *rust, TSNode call, TSNode name)
{
    const struct takt_rust_name *function = own_function(rust, call, name);
    if (function == NULL) /* of a type that is not known, perhaps */
        function =
            takt__rust_find(rust, TAKT_RUST_FUNCTION,
                            (struct takt_text){NULL, 0}, rust_text(rust, name));
    if (function == NULL)
        return false;
    const TSNode list = takt__node_field(function->node, "parameters");
    const uint32_t count = ts_node_named_child_count(list);
    bool has_arrays = false;
    for (uint32_t i = 0; i < count; i++) {
        const TSNode one = ts_node_named_child(list, i);
        if (!rust_is(one, "parameter"))
            continue;
        const struct takt_rust_type type = takt__rust_type_named(
            rust, takt__node_field(one, "type"), TAKT_RUST_DEPTH);
        has_arrays |=
            can_be_floats(type) && !(rust_is_float(type) && type.depth == 0 &&
                                     type.shell == TAKT_RUST_PLAIN);
    }
    return !has_arrays;
}

/* Whether something in a node computes that op, or a step of it. */
static bool is_found(struct takt_rust *rust, TSNode node, void *op)
{
    if (!takt__node_in(node, "call_expression for_expression while_expression "
                             "binary_expression"))
        return false;
    const char *found = takt__rust_raw(rust, node).op;
    return found != NULL &&
           (strcmp(found, *(const char **)op) == 0 ||
            takt__word_in(*(const char **)op, "softmax layernorm attention"));
}

bool takt__rust_is_found_in(struct takt_rust *rust,
                            const struct takt_rust_name *own, const char *op)
{
    if (own == NULL)
        return false;
    rust->is_in_own = true;
    const bool is_there =
        takt__rust_any(rust, takt__node_field(own->node, "body"), is_found, &op,
                       2 * TAKT_RUST_DEPTH);
    rust->is_in_own = false;
    return is_there;
}

/* Whether what is called is found where this file says it: in the function. */
static bool is_found_there(struct takt_rust *rust, TSNode call, TSNode name,
                           const char *op)
{
    if (rust->is_in_own) /* which may call itself */
        return false;
    return takt__rust_is_found_in(rust, own_function(rust, call, name), op);
}

/* conv2d(3, 64, ..) of these makes a layer; it computes nothing yet. */
static bool makes_layer(const struct takt_rust *rust, TSNode call)
{
    const struct takt_text path =
        rust_text(rust, takt__node_field(call, "function"));
    static const char makers[] =
        "candle_nn::conv2d nn::conv2d candle_nn::conv1d nn::conv1d "
        "candle_nn::layer_norm nn::layer_norm";
    if (takt__text_in(path, makers))
        return true;
    return takt__rust_is_any(rust, takt__node_field(call, "function"),
                             "conv2d layer_norm conv1d") &&
           takt__rust_uses(rust, "candle_nn");
}

void takt__rust_matrix_sizes(struct takt_rust_verdict *out,
                             struct takt_rust_type a, struct takt_rust_type b)
{
    if (strcmp(out->op, "matmul") == 0 && a.depth == 2) {
        out->rank = 3;
        out->extent[0] = a.extent[0];
        out->extent[1] = b.extent[1];
        out->extent[2] = a.extent[1].count != 0 ? a.extent[1] : b.extent[0];
    } else if (strcmp(out->op, "gemv") == 0) {
        out->rank = 2;
        out->extent[0] = a.extent[0];
        out->extent[1] = a.extent[1];
    } else if (a.depth == 1) {
        out->rank = 1;
        out->extent[0] = a.extent[0].count != 0 ? a.extent[0] : b.extent[0];
    } else if (a.depth == 2 && a.extent[0].count != 0 &&
               strcmp(out->op, "dot")) {
        out->rank = takt__word_in(out->op, "transpose softmax") ? 2 : 1;
        out->extent[0] = a.extent[0];
        out->extent[1] = a.extent[1];
        if (out->rank == 1 &&
            __builtin_mul_overflow(a.extent[0].count, a.extent[1].count,
                                   &out->extent[0].count))
            out->extent[0].count = 0;
    }
}

static struct takt_rust_verdict named_call(struct takt_rust *rust, TSNode call,
                                           TSNode name, bool is_method)
{
    const struct takt_text word = rust_text(rust, name);
    struct takt_rust_verdict out = {.op = LOOK_UP(by_name, word),
                                    .anchor = call};
    if (out.op == NULL || takt__rust_argument_count(call) == 0 ||
        (!is_method && makes_layer(rust, call)))
        return NOTHING;
    if (is_about_others(rust, call, name) ||
        is_found_there(rust, call, name, out.op))
        return NOTHING;
    /* b'N' of BLAS, (m, k, n) */
    static const char settings[] =
        "char_literal tuple_expression boolean_literal integer_literal";
    unsigned skipped = 0;
    while (!is_method &&
           takt__node_in(takt__rust_argument(call, skipped), settings))
        skipped++;
    const TSNode first = is_method ? takt__rust_receiver(call)
                                   : takt__rust_argument(call, skipped);
    const TSNode second =
        takt__rust_argument(call, is_method ? 0 : skipped + 1);
    const struct takt_rust_type a =
        takt__rust_type_of(rust, first, TAKT_RUST_DEPTH);
    const struct takt_rust_type b =
        takt__rust_type_of(rust, second, TAKT_RUST_DEPTH);
    const bool is_scalar_first = a.shell == TAKT_RUST_PLAIN && a.depth == 0 &&
                                 a.leaf != TAKT_RUST_UNKNOWN;
    if (is_method && (!can_be_floats(a) || is_scalar_first))
        return NOTHING;
    if (!is_method && a.leaf == TAKT_RUST_OTHER)
        return NOTHING;
    if (a.depth > 0 && a.leaf == TAKT_RUST_INTEGER)
        return NOTHING;
    out.type = rust_is_float(a) ? a : b;
    if (!is_scalar_first)
        takt__rust_matrix_sizes(&out, a, b);
    return out;
}

/* dot of ndarray and nalgebra is three things. */
static const char *dot_op(struct takt_rust_type a, struct takt_rust_type b)
{
    if (a.depth == 2 && b.depth == 1)
        return "gemv";
    if (a.depth == 1 && b.depth == 2)
        return "gemv";
    if (a.depth == 2 || b.depth == 2)
        return a.shell == TAKT_RUST_NALGEBRA ? "dot" : "matmul";
    return "dot";
}

/* And not only Vector3 and the like. */
static bool has_large_matrices(const struct takt_rust *rust)
{
    const struct takt_text text = {rust->source->text, rust->source->size};

    return takt__rust_contains(text, "DMatrix") ||
           takt__rust_contains(text, "DVector") ||
           takt__rust_contains(text, "Dynamic");
}

/* x.dot(&w) in a file that uses ndarray, where x came from elsewhere. */
static struct takt_rust_verdict unseen_dot(struct takt_rust *rust, TSNode call,
                                           TSNode name)
{
    const struct takt_text word = rust_text(rust, name);
    const struct takt_rust_type b =
        takt__rust_type_of(rust, takt__rust_argument(call, 0), TAKT_RUST_DEPTH);
    const bool is_square = takt__text_is(word, "norm_squared");
    if ((!takt__text_is(word, "dot") && !is_square) ||
        takt__rust_argument_count(call) != !is_square ||
        !(takt__rust_uses(rust, "ndarray") ||
          (takt__rust_uses(rust, "nalgebra") && has_large_matrices(rust))) ||
        !can_be_floats(b) ||
        takt__rust_find(rust, TAKT_RUST_FUNCTION, (struct takt_text){NULL, 0},
                        word) != NULL)
        return NOTHING;
    return (struct takt_rust_verdict){
        .op = b.depth == 2 && b.shell != TAKT_RUST_NALGEBRA ? "matmul" : "dot",
        .certainty = rust_is_float(b) ? TAKT_EXACT : TAKT_UNKNOWN_TYPE,
        .anchor = call,
        .type = b};
}

/* Whether this file says what dot() of a slice is: it is found there. */
static bool has_slice_dot(const struct takt_rust *rust)
{
    for (size_t i = 0; i < rust->name_count; i++) {
        const struct takt_rust_name *one = &rust->name[i];
        if (one->kind == TAKT_RUST_FUNCTION &&
            takt__text_is(one->name, "dot") &&
            takt__rust_find(rust, TAKT_RUST_STRUCT, (struct takt_text){NULL, 0},
                            one->owner) == NULL)
            return true;
    }
    return false;
}

/* x.dot(&y) of slices, by a trait of the crate that another file implements. */
static struct takt_rust_verdict slice_dot(struct takt_rust *rust, TSNode call,
                                          TSNode name, struct takt_rust_type a)
{
    const struct takt_text word = rust_text(rust, name);
    const struct takt_rust_type b =
        takt__rust_type_of(rust, takt__rust_argument(call, 0), TAKT_RUST_DEPTH);
    if (!takt__text_is(word, "dot") || takt__rust_argument_count(call) != 1 ||
        a.depth != 1 || !rust_is_float(a) ||
        (b.leaf != TAKT_RUST_UNKNOWN && (b.depth != 1 || !rust_is_float(b))) ||
        has_slice_dot(rust))
        return NOTHING;
    struct takt_rust_verdict out = {.op = "dot", .anchor = call, .type = a};
    takt__rust_matrix_sizes(&out, a, b);
    return out;
}

static struct takt_rust_verdict array_call(struct takt_rust *rust, TSNode call,
                                           TSNode name)
{
    const struct takt_text word = rust_text(rust, name);
    const bool is_transpose = takt__text_is(word, "transpose");
    struct takt_rust_verdict out = {.op = LOOK_UP(of_arrays, word),
                                    .anchor = call};
    const char *tensor_op = LOOK_UP(of_tensors, word);
    if (out.op == NULL && tensor_op == NULL && !is_transpose)
        return NOTHING;
    const struct takt_rust_type a =
        takt__rust_type_of(rust, takt__rust_receiver(call), TAKT_RUST_DEPTH);
    const bool is_tensor = a.shell == TAKT_RUST_TENSOR;
    static const char views[] = "iter iter_mut into_iter map";
    const bool is_untyped_dot = a.shell == TAKT_RUST_NDARRAY &&
                                takt__rust_is_open(a) &&
                                takt__text_is(word, "dot");
    if (a.shell == TAKT_RUST_PLAIN && a.leaf == TAKT_RUST_UNKNOWN)
        return unseen_dot(rust, call, name);
    if (a.shell == TAKT_RUST_PLAIN)
        return slice_dot(rust, call, name, a);
    if ((a.shell != TAKT_RUST_NDARRAY && a.shell != TAKT_RUST_NALGEBRA &&
         !is_tensor) ||
        (!rust_is_float(a) && !is_untyped_dot) ||
        takt__rust_is_any(
            rust,
            takt__rust_method(takt__rust_bare(rust, takt__rust_receiver(call))),
            views))
        return NOTHING;
    out.type = a;
    if (out.op == NULL && is_tensor)
        out.op = tensor_op;
    if (out.op == NULL && a.shell == TAKT_RUST_NALGEBRA && is_transpose)
        out.op = "transpose";
    if (out.op == NULL)
        return NOTHING;
    const struct takt_rust_type b =
        takt__rust_type_of(rust, takt__rust_argument(call, 0), TAKT_RUST_DEPTH);
    if (takt__text_is(word, "dot"))
        out.op = dot_op(a, b);
    if (is_untyped_dot && !rust_is_float(b))
        out.certainty = TAKT_UNKNOWN_TYPE;
    takt__rust_matrix_sizes(&out, a, b);
    return out;
}

/* &a[i..j] */
static bool is_slice(const struct takt_rust *rust, TSNode node)
{
    node = takt__rust_bare(rust, node);
    return rust_is(node, "index_expression") &&
           rust_is(takt__node_child(node, 1), "range_expression");
}

/* dot(&a, &b) of two slices that can be seen. */
static struct takt_rust_verdict dot_call(struct takt_rust *rust, TSNode call)
{
    const TSNode callee = takt__rust_callee(call);
    if (ts_node_is_null(callee) ||
        !takt__text_is(rust_text(rust, callee), "dot") ||
        takt__rust_argument_count(call) != 2 ||
        is_found_there(rust, call, callee, "dot"))
        return NOTHING;
    const struct takt_rust_type a =
        takt__rust_type_of(rust, takt__rust_argument(call, 0), TAKT_RUST_DEPTH);
    const struct takt_rust_type b =
        takt__rust_type_of(rust, takt__rust_argument(call, 1), TAKT_RUST_DEPTH);
    const bool is_of_slices = is_slice(rust, takt__rust_argument(call, 0)) &&
                              is_slice(rust, takt__rust_argument(call, 1));
    const bool is_known = (a.depth == 1 && rust_is_float(a)) ||
                          (b.depth == 1 && rust_is_float(b));
    if (!(is_known && (is_unknown(a) || a.depth == 1) &&
          (is_unknown(b) || b.depth == 1)) &&
        (!is_of_slices || !can_be_floats(a) || !can_be_floats(b)))
        return NOTHING;
    struct takt_rust_verdict out = {
        .op = "dot", .anchor = call, .type = rust_is_float(a) ? a : b};
    takt__rust_matrix_sizes(&out, a, b);
    return out;
}

struct takt_rust_verdict takt__rust_call(struct takt_rust *rust, TSNode call)
{
    const TSNode method = takt__rust_method(call);
    if (!ts_node_is_null(method)) {
        const struct takt_rust_verdict out = array_call(rust, call, method);
        return out.op != NULL ? out : named_call(rust, call, method, true);
    }
    const TSNode callee = takt__rust_callee(call);
    if (ts_node_is_null(callee))
        return NOTHING;
    const struct takt_rust_verdict out = dot_call(rust, call);
    return out.op != NULL ? out : named_call(rust, call, callee, false);
}
