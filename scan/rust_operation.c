/* SPDX-License-Identifier: MIT */
/* rust_operation.c - operators of the array libraries whose types can be seen.
 */
#include "rust.h"

static const struct takt_rust_verdict NOTHING = {.op = NULL};

static const char *sign_op(char sign)
{
    return sign == '+'   ? "add"
           : sign == '-' ? "sub"
           : sign == '*' ? "mul"
                         : "div";
}

/* A struct of the crate that is called a matrix and holds floats is one, unless
 * what its product does is found in this file. */
static struct takt_rust_type as_matrix(struct takt_rust *rust,
                                       struct takt_rust_type type)
{
    const struct takt_rust_type of =
        type.shell == TAKT_RUST_OWN &&
                takt__text_in(type.name, "Matrix DMatrix DenseMatrix Mat") &&
                !rust->is_in_own
            ? takt__rust_own_element(rust, type)
            : (struct takt_rust_type){.leaf = TAKT_RUST_UNKNOWN};

    return rust_is_float(of) &&
                   !takt__rust_is_found_in(
                       rust,
                       takt__rust_find(rust, TAKT_RUST_FUNCTION, type.name,
                                       (struct takt_text){"mul", 3}),
                       "matmul")
               ? (struct takt_rust_type){.leaf = of.leaf,
                                         .shell = TAKT_RUST_NALGEBRA,
                                         .depth = 2}
               : type;
}

/* (a + b)? in a file that uses candle: operators of tensors may fail. */
static struct takt_rust_verdict tried(TSNode node, struct takt_rust_type a,
                                      struct takt_rust_type b, char sign)
{
    const TSNode around = ts_node_parent(node);
    const bool is_scaled = (rust_is_float(b) && b.shell == TAKT_RUST_PLAIN) ||
                           (rust_is_float(a) && a.shell == TAKT_RUST_PLAIN);

    if (!rust_is(around, "parenthesized_expression") ||
        !rust_is(ts_node_parent(around), "try_expression"))
        return NOTHING;
    return (struct takt_rust_verdict){
        .anchor = node,
        .op =
            is_scaled && (sign == '*' || sign == '/') ? "scale" : sign_op(sign),
        .type = {.leaf = TAKT_RUST_FLOAT, .shell = TAKT_RUST_TENSOR}};
}

/* a * b of arrays: what the operator means is the library's choice. */
struct takt_rust_verdict takt__rust_operation(struct takt_rust *rust,
                                              TSNode node)
{
    struct takt_text sign = takt__rust_operator(rust, node);
    static const char signs[] = "+ - * /";
    if (rust_is(node, "compound_assignment_expr") && sign.size == 2)
        sign.size = 1;
    const bool is_candle = takt__rust_uses(rust, "candle");
    if ((!rust->has_arrays && !is_candle) || !takt__text_in(sign, signs))
        return NOTHING;
    const struct takt_rust_type a = as_matrix(
        rust, takt__rust_type_of(rust, takt__rust_left(node), TAKT_RUST_DEPTH));
    const struct takt_rust_type b =
        as_matrix(rust, takt__rust_type_of(rust, takt__rust_right(node),
                                           TAKT_RUST_DEPTH));
    if (is_candle && rust_is(node, "binary_expression"))
        return tried(node, a, b, sign.at[0]);
    if (!takt__rust_is_array(a) && !takt__rust_is_array(b))
        return NOTHING;
    struct takt_rust_verdict out = {.anchor = node,
                                    .type = takt__rust_is_array(a) ? a : b};
    if (!takt__rust_is_array(a) || !takt__rust_is_array(b)) {
        const struct takt_rust_type other = takt__rust_is_array(a) ? b : a;
        if ((other.shell == TAKT_RUST_PLAIN &&
             other.leaf ==
                 TAKT_RUST_UNKNOWN) && /* numbers are not borrowed for this */
            rust_is(takt__rust_is_array(a) ? takt__rust_right(node)
                                           : takt__rust_left(node),
                    "reference_expression")) {
            out.op = sign_op(sign.at[0]);
            return out;
        }
        if (other.shell != TAKT_RUST_PLAIN || other.depth != 0 ||
            !rust_is_float(other))
            return NOTHING;
        out.op = sign.at[0] == '*' || sign.at[0] == '/' ? "scale"
                                                        : sign_op(sign.at[0]);
    } else if (sign.at[0] == '*' && a.shell == TAKT_RUST_NALGEBRA) {
        out.op = a.depth == 2 && b.depth == 2   ? "matmul"
                 : a.depth == 2 && b.depth == 1 ? "gemv"
                                                : "mul";
    } else {
        out.op = sign_op(sign.at[0]);
    }
    takt__rust_matrix_sizes(&out, a, b);
    return out;
}
