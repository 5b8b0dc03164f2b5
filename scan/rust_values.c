/* SPDX-License-Identifier: MIT */
/*
 * rust_values.c - the types of expressions: operators, indices, fields, calls
 * and the macros that make arrays.
 */
#include "rust.h"

#include <string.h>

static const struct takt_rust_type UNKNOWN = {.leaf = TAKT_RUST_UNKNOWN};

static struct takt_rust_type literal_type(const struct takt_rust *rust,
                                          TSNode node)
{
    const struct takt_text text = rust_text(rust, node);
    if (text.size > 3 && memcmp(text.at + text.size - 3, "f32", 3) == 0)
        return takt__rust_scalar(TAKT_RUST_F32);
    if (text.size > 3 && memcmp(text.at + text.size - 3, "f64", 3) == 0)
        return takt__rust_scalar(TAKT_RUST_F64);
    return takt__rust_scalar(
        rust_is(node, "float_literal") ? TAKT_RUST_FLOAT : TAKT_RUST_INTEGER);
}

/* Of two operands: Rust does not mix, so what one is the other is too. */
static struct takt_rust_type binary_type(struct takt_rust *rust, TSNode node,
                                         unsigned depth)
{
    static const char arithmetic[] = "+ - * / %";
    if (!takt__text_in(takt__rust_operator(rust, node), arithmetic))
        return takt__rust_scalar(TAKT_RUST_OTHER);
    const struct takt_rust_type left =
        takt__rust_type_of(rust, takt__rust_left(node), depth);
    if (left.shell == TAKT_RUST_PLAIN &&
        (left.leaf == TAKT_RUST_F32 || left.leaf == TAKT_RUST_F64))
        return left;
    const struct takt_rust_type right =
        takt__rust_type_of(rust, takt__rust_right(node), depth);
    if (left.shell == TAKT_RUST_NALGEBRA && left.depth == 2 && right.depth == 1)
        return right; /* a matrix by a vector */
    if (left.shell != TAKT_RUST_PLAIN)
        return left;
    if (right.shell != TAKT_RUST_PLAIN || right.leaf == TAKT_RUST_F32 ||
        right.leaf == TAKT_RUST_F64 || left.leaf == TAKT_RUST_UNKNOWN)
        return right;
    return left;
}

struct takt_rust_type takt__rust_own_element(struct takt_rust *rust,
                                             struct takt_rust_type type)
{
    for (size_t i = 0;
         i < rust->name_count && type.shell == TAKT_RUST_OWN && type.name.size;
         i++) {
        const struct takt_rust_name *field = &rust->name[i];
        if (field->kind != TAKT_RUST_FIELD ||
            !takt__ir_same_text(field->owner, type.name))
            continue;
        const struct takt_rust_type of = takt__rust_type_named(
            rust, takt__node_field(field->node, "type"), TAKT_RUST_DEPTH / 2);
        if (of.shell == TAKT_RUST_PLAIN && of.depth > 0 &&
            (rust_is_float(of) || of.leaf == TAKT_RUST_GENERIC))
            return takt__rust_given(takt__rust_scalar(of.leaf), type);
    }
    return UNKNOWN;
}

static struct takt_rust_type index_type(struct takt_rust *rust, TSNode node,
                                        unsigned depth)
{
    struct takt_rust_type type =
        takt__rust_type_of(rust, ts_node_named_child(node, 0), depth);
    const TSNode index = ts_node_named_child(node, 1);
    if (type.shell == TAKT_RUST_OWN)
        return takt__rust_own_element(rust, type);
    if (type.shell == TAKT_RUST_PLAIN && type.depth > 0 &&
        rust_is(index, "range_expression")) {
        type.extent[0] = takt__rust_range_count(rust, index, depth);
        return type;
    }
    return takt__rust_element(type);
}

static struct takt_rust_type field_type(struct takt_rust *rust, TSNode node,
                                        unsigned depth)
{
    const TSNode value = takt__node_field(node, "value");
    const struct takt_rust_type type = takt__rust_type_of(rust, value, depth);
    if (type.shell != TAKT_RUST_OWN)
        return UNKNOWN;
    const struct takt_rust_name *field =
        takt__rust_find(rust, TAKT_RUST_FIELD, type.name,
                        rust_text(rust, takt__node_field(node, "field")));
    if (field == NULL)
        return UNKNOWN;
    const TSNode named = takt__node_field(field->node, "type");
    const TSNode of =
        rust_is(field->node, "field_declaration") ? named : field->node;
    struct takt_rust_type out =
        takt__rust_given(takt__rust_type_named(rust, of, depth), type);
    /* What uses a struct may say more of its parameters. */
    const TSNode list = takt__node_field(of, "type_arguments");
    if (takt__rust_is_open(out) && !ts_node_is_null(list)) {
        const enum takt_rust_leaf leaf =
            takt__rust_leaf_at(rust, node, takt__node_child(list, 0));
        out.leaf = leaf != TAKT_RUST_UNKNOWN ? leaf : out.leaf;
    }
    return out;
}

static struct takt_rust_type function_type(struct takt_rust *rust,
                                           struct takt_text owner,
                                           struct takt_text name,
                                           unsigned depth)
{
    const struct takt_rust_name *function =
        takt__rust_find(rust, TAKT_RUST_FUNCTION, owner, name);
    if (function == NULL)
        return UNKNOWN;
    const TSNode type = takt__node_field(function->node, "return_type");
    return takt__rust_type_named(rust, type, depth);
}

/* Of a method of a struct of the crate, or one that all have. */
static struct takt_rust_type own_method_type(struct takt_rust *rust,
                                             struct takt_rust_type type,
                                             struct takt_text name,
                                             unsigned depth)
{
    static const char kept[] = "clone to_owned as_ref as_mut borrow borrow_mut "
                               "unwrap expect lock read write";

    if (takt__rust_find(rust, TAKT_RUST_FUNCTION, type.name, name) != NULL)
        return takt__rust_given(function_type(rust, type.name, name, depth),
                                type);
    return takt__text_in(name, kept) ? type : UNKNOWN;
}

/* Array2::<f64>::zeros((512, 512)), DMatrix::zeros(4, 4): the sizes. */
static void made_sizes(struct takt_rust *rust, TSNode call,
                       struct takt_rust_type *type, unsigned depth)
{
    static const char makers[] =
        "zeros ones from_elem identity from_element new_random random eye";
    if (!takt__rust_is_any(rust, takt__rust_callee(call), makers))
        return;
    if (type->leaf == TAKT_RUST_UNKNOWN && /* of integers, it would be said */
        (type->shell == TAKT_RUST_NDARRAY || type->shell == TAKT_RUST_NALGEBRA))
        type->leaf = TAKT_RUST_FLOAT;
    const TSNode first = takt__rust_argument(call, 0);
    const bool is_tuple = rust_is(first, "tuple_expression");
    for (unsigned i = 0; i < 2 && i < (type->depth == 1 ? 1u : 2u); i++) {
        const TSNode size = is_tuple ? ts_node_named_child(first, i)
                                     : takt__rust_argument(call, i);
        type->extent[i] = takt__rust_count(rust, size, depth);
    }
}

/* f32::from(x), Vec::<f32>::new(), Matrix::zeros(..). */
static struct takt_rust_type path_call_type(struct takt_rust *rust, TSNode call,
                                            TSNode function, unsigned depth)
{
    static const char floats[] = "f32 f64";
    TSNode path = takt__node_field(function, "path");
    const struct takt_text name =
        rust_text(rust, takt__node_field(function, "name"));
    if (ts_node_is_null(path))
        return UNKNOWN;
    if (takt__rust_is_any(rust, path, floats))
        return takt__rust_scalar(takt__text_is(rust_text(rust, path), "f32")
                                     ? TAKT_RUST_F32
                                     : TAKT_RUST_F64);
    if (takt__text_is(rust_text(rust, path), "Vec"))
        return takt__rust_sequence(
            UNKNOWN, (struct takt_rust_extent){0, TAKT_SIZE_UNKNOWN});
    if (rust_is(path, "bracketed_type"))
        path = ts_node_named_child(path, 0);
    if (rust_is(path, "scoped_identifier"))
        path = takt__node_field(path, "name");
    struct takt_rust_type type = takt__rust_type_named(rust, path, depth);
    if (type.shell == TAKT_RUST_OWN) {
        const struct takt_rust_type made =
            function_type(rust, type.name, name, depth);
        return made.leaf == TAKT_RUST_UNKNOWN && made.shell == TAKT_RUST_PLAIN
                   ? UNKNOWN
                   : made;
    }
    made_sizes(rust, call, &type, depth);
    /* Array1::from_vec(v): of what it is made of. */
    const unsigned count = takt__rust_argument_count(call);
    for (unsigned i = 0; i < count && i < 4; i++) {
        const struct takt_rust_type part =
            takt__rust_type_of(rust, takt__rust_argument(call, i), depth);
        if (type.leaf == TAKT_RUST_UNKNOWN && rust_is_float(part) &&
            (type.shell == TAKT_RUST_NDARRAY ||
             type.shell == TAKT_RUST_NALGEBRA))
            type.leaf = part.leaf;
    }
    return type;
}

/* Methods that only floats have, and those that keep their receiver's type. */
static const char float_methods[] =
    "sqrt exp exp2 exp_m1 ln ln_1p log log2 log10 sin cos tan asin acos atan "
    "atan2 sinh cosh tanh powf powi mul_add recip cbrt hypot floor ceil round "
    "trunc fract to_radians to_degrees";
static const char same_methods[] =
    "abs signum clone to_owned unwrap expect unwrap_or unwrap_or_default "
    "as_slice as_mut_slice as_ref as_mut as_ptr as_mut_ptr to_vec into iter "
    "iter_mut into_iter par_iter par_iter_mut into_par_iter copied cloned rev "
    "borrow borrow_mut view view_mut skip lock into_owned chain component_mul "
    "filter step_by take mapv";
static const char arithmetic_methods[] = "max min clamp add sub mul div";
static const char count_methods[] =
    "len count nrows ncols rows cols width height dim";

/* Two matrices make a matrix, one makes a vector, none a number. */
static struct takt_rust_type dot_type(struct takt_rust *rust, TSNode call,
                                      struct takt_rust_type left,
                                      unsigned depth)
{
    const struct takt_rust_type right =
        takt__rust_type_of(rust, takt__rust_argument(call, 0), depth);
    if (left.depth == 1 && right.depth == 1)
        return takt__rust_scalar(left.leaf);
    if (left.shell == TAKT_RUST_NALGEBRA)
        return takt__rust_scalar(left.leaf);
    if (left.shell != TAKT_RUST_NDARRAY || left.depth == 0 || right.depth == 0)
        return UNKNOWN;
    struct takt_rust_type out = left;
    out.depth = left.depth + right.depth - 2;
    out.extent[1] = right.extent[1];
    if (out.depth == 1 && left.depth == 1)
        out.extent[0] = right.extent[1];
    return out;
}

static struct takt_rust_type method_type(struct takt_rust *rust, TSNode call,
                                         struct takt_text name, unsigned depth)
{
    const TSNode receiver = takt__rust_receiver(call);
    const TSNode turbofish = takt__rust_turbofish(call);
    static const char reductions[] = "sum product";
    if (takt__text_in(name, count_methods))
        return takt__rust_scalar(TAKT_RUST_INTEGER);
    if (takt__text_is(name, "collect")) {
        if (!ts_node_is_null(turbofish)) {
            const struct takt_rust_type type =
                takt__rust_type_named(rust, turbofish, depth);
            if (type.leaf != TAKT_RUST_UNKNOWN)
                return type;
        }
        return takt__rust_sequence(
            takt__rust_item_type(rust, receiver, depth),
            (struct takt_rust_extent){0, TAKT_SIZE_UNKNOWN});
    }
    if (takt__text_in(name, reductions)) {
        if (!ts_node_is_null(turbofish))
            return takt__rust_type_named(rust, turbofish, depth);
        const struct takt_rust_type type =
            takt__rust_type_of(rust, receiver, depth);
        return type.shell == TAKT_RUST_OWN
                   ? own_method_type(rust, type, name, depth)
                   : takt__rust_item_type(rust, receiver, depth);
    }
    if (takt__text_is(name, "fold"))
        return takt__rust_type_of(rust, takt__rust_argument(call, 0), depth);
    const struct takt_rust_type type =
        takt__rust_type_of(rust, receiver, depth);
    if (type.shell == TAKT_RUST_OWN)
        return own_method_type(rust, type, name, depth);
    if (takt__text_in(name, float_methods))
        return type.leaf == TAKT_RUST_UNKNOWN
                   ? takt__rust_scalar(TAKT_RUST_FLOAT)
                   : type;
    if (takt__text_in(name, "t transpose")) {
        struct takt_rust_type turned = type;
        if (type.shell == TAKT_RUST_PLAIN && type.leaf == TAKT_RUST_UNKNOWN &&
            takt__text_is(name, "t") && takt__rust_uses(rust, "ndarray"))
            turned.shell = TAKT_RUST_NDARRAY;
        if (turned.shell == TAKT_RUST_NDARRAY && type.depth == 0)
            turned.depth = 2; /* of one row, it would change nothing */
        if (type.depth == 2) {
            turned.extent[0] = type.extent[1];
            turned.extent[1] = type.extent[0];
        }
        return turned;
    }
    if (takt__text_is(name, "into") && type.leaf == TAKT_RUST_INTEGER)
        return UNKNOWN; /* of whatever is wanted */
    if (takt__text_in(name, same_methods))
        return takt__text_is(name, "mapv") && type.leaf == TAKT_RUST_UNKNOWN
                   ? (struct takt_rust_type){.shell = TAKT_RUST_NDARRAY,
                                             .leaf = TAKT_RUST_FLOAT}
                   : type;
    static const char figures[] =
        "dims shape rank device dtype to_data into_data into_scalar to_scalar "
        "to_vec0 to_vec1 to_vec2 elem_count stride dim size item backward";
    if (type.shell == TAKT_RUST_TENSOR) /* another one */
        return takt__text_in(name, figures) ? UNKNOWN : type;
    if (takt__text_is(name, "dot"))
        return dot_type(rust, call, type, depth);
    if (type.shell == TAKT_RUST_NDARRAY || type.shell == TAKT_RUST_NALGEBRA)
        return takt__rust_array_method(type, name);
    if (takt__text_in(name, arithmetic_methods) &&
        takt__rust_argument_count(call) > 0)
        return type.leaf == TAKT_RUST_UNKNOWN
                   ? takt__rust_type_of(rust, takt__rust_argument(call, 0),
                                        depth)
                   : type;
    return UNKNOWN;
}

static struct takt_rust_type call_type(struct takt_rust *rust, TSNode call,
                                       unsigned depth)
{
    TSNode function = takt__node_field(call, "function");
    const TSNode method = takt__rust_method(call);
    if (!ts_node_is_null(method))
        return method_type(rust, call, rust_text(rust, method), depth);
    if (rust_is(function, "generic_function"))
        function = takt__node_field(function, "function");
    if (rust_is(function, "scoped_identifier"))
        return path_call_type(rust, call, function, depth);
    if (takt__rust_is_any(rust, function, "arr1 arr2 arr3"))
        return (struct takt_rust_type){
            .leaf =
                takt__rust_type_of(rust, takt__rust_argument(call, 0), depth)
                    .leaf,
            .shell = TAKT_RUST_NDARRAY,
            .depth = (unsigned)(rust_text(rust, function).at[3] - '0')};
    if (rust_is(function, "identifier"))
        return function_type(rust, (struct takt_text){"", 0},
                             rust_text(rust, function), depth);
    return UNKNOWN;
}

/* The tokens of vec![0.0; n], which nobody parsed. */
static struct takt_rust_type tokens_type(struct takt_rust *rust, TSNode tokens,
                                         unsigned depth)
{
    const uint32_t count = ts_node_child_count(tokens);
    if (depth == 0 || count < 3 || !takt__rust_step(rust))
        return UNKNOWN;
    TSNode first = ts_node_child(tokens, 1);
    struct takt_rust_type inner = UNKNOWN;
    if (rust_is(first, "-"))
        first = ts_node_child(tokens, 2);
    if (rust_is(first, "token_tree"))
        inner = tokens_type(rust, first, depth - 1);
    else if (rust_is(first, "identifier") && count > 4 &&
             takt__text_is(rust_text(rust, first), "vec"))
        inner = tokens_type(rust, ts_node_child(tokens, 3), depth - 1);
    else if (takt__node_in(first, "float_literal integer_literal"))
        inner = literal_type(rust, first);
    else if (rust_is(first, "string_literal"))
        inner = takt__rust_scalar(TAKT_RUST_OTHER);
    struct takt_rust_extent size = {0, TAKT_SIZE_UNKNOWN};
    size_t commas = 0;
    for (uint32_t i = 1; i + 1 < count; i++) {
        const TSNode token = ts_node_child(tokens, i);
        commas += rust_is(token, ",");
        if (rust_is(token, ";") && i + 3 == count)
            size =
                takt__rust_count(rust, ts_node_child(tokens, i + 1), depth - 1);
    }
    if (commas > 0)
        size = (struct takt_rust_extent){commas + 1, TAKT_SIZE_LITERAL};
    return takt__rust_sequence(inner, size);
}

static struct takt_rust_type macro_type(struct takt_rust *rust, TSNode node,
                                        unsigned depth)
{
    const struct takt_text name =
        rust_text(rust, takt__node_field(node, "macro"));
    const TSNode tokens =
        ts_node_named_child(node, ts_node_named_child_count(node) - 1);
    if (!rust_is(tokens, "token_tree"))
        return UNKNOWN;
    struct takt_rust_type type = tokens_type(rust, tokens, depth);
    if (takt__text_is(name, "vec"))
        return type;
    if (takt__text_is(name, "array"))
        type.shell = TAKT_RUST_NDARRAY;
    else if (takt__text_in(name, "dmatrix dvector"))
        type.shell = TAKT_RUST_NALGEBRA;
    else
        return UNKNOWN;
    return type;
}

static struct takt_rust_type array_type(struct takt_rust *rust, TSNode node,
                                        unsigned depth)
{
    const TSNode length = takt__node_field(node, "length");
    struct takt_rust_extent count = {0, TAKT_SIZE_UNKNOWN};
    if (!ts_node_is_null(length))
        count = takt__rust_count(rust, length, depth);
    else
        count = (struct takt_rust_extent){ts_node_named_child_count(node),
                                          TAKT_SIZE_LITERAL};
    return takt__rust_sequence(
        takt__rust_type_of(rust, ts_node_named_child(node, 0), depth), count);
}

/* What the impl around it is for: a struct of this file, [f64], or an array of
 * a library. */
static struct takt_rust_type self_type(struct takt_rust *rust, TSNode node,
                                       unsigned depth)
{
    const TSNode impl = takt__rust_above(rust, node, "impl_item");
    const TSNode of = takt__node_field(impl, "type");
    struct takt_rust_type type = takt__rust_type_named(rust, of, depth);
    /* The method may say more of the elements. */
    if (type.shell == TAKT_RUST_NDARRAY && takt__rust_is_open(type))
        type.leaf = takt__rust_leaf_at(
            rust, node,
            takt__node_child(takt__node_field(of, "type_arguments"), 0));
    if ((type.shell == TAKT_RUST_PLAIN && type.depth > 0) ||
        type.shell == TAKT_RUST_NDARRAY || type.shell == TAKT_RUST_NALGEBRA)
        return type;
    return (struct takt_rust_type){.shell = TAKT_RUST_OWN,
                                   .name = takt__rust_owner(rust, node)};
}

static struct takt_rust_type name_type(struct takt_rust *rust, TSNode node,
                                       unsigned depth)
{
    if (rust_is(node, "self"))
        return self_type(rust, node, depth);
    if (rust_is(node, "identifier"))
        return takt__rust_bound_type(rust, takt__rust_binding(rust, node),
                                     depth);
    /* f32::MAX, std::f64::consts::PI */
    const struct takt_text text = rust_text(rust, node);
    for (size_t i = 0; i + 5 <= text.size; i++) {
        if (memcmp(text.at + i, "f32::", 5) == 0)
            return takt__rust_scalar(TAKT_RUST_F32);
        if (memcmp(text.at + i, "f64::", 5) == 0)
            return takt__rust_scalar(TAKT_RUST_F64);
    }
    return UNKNOWN;
}

struct takt_rust_type takt__rust_type_of(struct takt_rust *rust, TSNode node,
                                         unsigned depth)
{
    node = takt__rust_bare(rust, node);
    if (ts_node_is_null(node) || depth == 0 || !takt__rust_step(rust))
        return UNKNOWN;
    depth--;
    if (takt__node_in(node, "identifier self scoped_identifier"))
        return name_type(rust, node, depth);
    if (takt__node_in(node, "float_literal integer_literal"))
        return literal_type(rust, node);
    if (rust_is(node, "binary_expression"))
        return binary_type(rust, node, depth);
    if (rust_is(node, "unary_expression"))
        return takt__rust_type_of(rust, ts_node_named_child(node, 0), depth);
    if (rust_is(node, "type_cast_expression"))
        return takt__rust_type_named(rust, takt__node_field(node, "type"),
                                     depth);
    if (rust_is(node, "index_expression"))
        return index_type(rust, node, depth);
    if (rust_is(node, "field_expression"))
        return field_type(rust, node, depth);
    if (rust_is(node, "call_expression"))
        return call_type(rust, node, depth);
    if (rust_is(node, "macro_invocation"))
        return macro_type(rust, node, depth);
    if (rust_is(node, "array_expression"))
        return array_type(rust, node, depth);
    if (takt__node_in(node, "block unsafe_block"))
        return takt__rust_type_of(rust, takt__rust_tail(node), depth);
    if (rust_is(node, "if_expression"))
        return takt__rust_type_of(rust, takt__node_field(node, "consequence"),
                                  depth);
    if (rust_is(node, "match_expression"))
        return takt__rust_match_type(rust, node, depth);
    if (rust_is(node, "range_expression"))
        return takt__rust_sequence(takt__rust_scalar(TAKT_RUST_INTEGER),
                                   takt__rust_range_count(rust, node, depth));
    if (rust_is(node, "struct_expression"))
        return takt__rust_type_named(rust, takt__node_field(node, "name"),
                                     depth);
    if (takt__node_in(
            node,
            "string_literal char_literal boolean_literal tuple_expression"))
        return takt__rust_scalar(TAKT_RUST_OTHER);
    return UNKNOWN;
}
