/* SPDX-License-Identifier: MIT */
/*
 * c_family_matrix.c - operators, methods and functions of matrix types, where
 * the types are declared in sight: of libraries and of the file itself.
 */
#include "c_family.h"

#include <string.h>

struct pair {
    const struct takt_c_place *place;
    struct takt_c_type left, right;
    struct takt_ir_verdict *out;
};

static bool is_matrix_like(struct takt_c_type type)
{
    return type.kind != TAKT_IR_PLAIN &&
           (takt__c_is_float(type) || type.element == TAKT_IR_GENERIC);
}

static void tell_type(struct takt_ir_verdict *out, struct takt_c_type type)
{
    out->is_typed = type.element != TAKT_IR_GENERIC;
    out->is_f64 = type.element == TAKT_IR_F64;
    out->is_either = type.element == TAKT_IR_FLOAT;
    if (!out->is_typed)
        out->certainty = TAKT_UNKNOWN_TYPE;
}

/* A scalar, as far as we know: no array, no class. */
static bool is_scalar(struct takt_c_type type)
{
    return type.kind == TAKT_IR_PLAIN && type.rank == 0 &&
           (takt__c_is_float(type) || type.element == TAKT_IR_INTEGER ||
            (type.element == TAKT_IR_GENERIC && !takt__c_has(type.of, "mat") &&
             !takt__c_has(type.of, "vec") && !takt__c_has(type.of, "op")));
}

static uint64_t elements(struct takt_c_type type)
{
    uint64_t all;

    if (type.kind == TAKT_IR_VECTOR && (type.dim[0] == 0 || type.dim[1] == 0))
        return 0;
    if (type.kind == TAKT_IR_VECTOR)
        return type.dim[0] > type.dim[1] ? type.dim[0] : type.dim[1];
    if (type.rank == 1)
        return type.dim[0];
    return __builtin_mul_overflow(type.dim[0], type.dim[1], &all) ? 0 : all;
}

static const char *product_op(const struct pair *p)
{
    const enum takt_ir_kind a = p->left.kind, b = p->right.kind;

    if (a == TAKT_IR_MATRIX && b == TAKT_IR_MATRIX) {
        takt__tell_size(
            &p->out->size, TAKT_SIZE_TYPE, 3,
            (uint64_t[]){p->left.dim[0], p->right.dim[1], p->left.dim[1]});
        return "matmul";
    }
    if (a == TAKT_IR_MATRIX && b == TAKT_IR_VECTOR) {
        takt__tell_size(&p->out->size, TAKT_SIZE_TYPE, 2, p->left.dim);
        return "gemv";
    }
    if (a == TAKT_IR_VECTOR && b == TAKT_IR_MATRIX)
        return "gemv";
    return a == TAKT_IR_ARRAY && b == TAKT_IR_ARRAY ? "mul" : NULL;
}

static const char *operator_op(const struct pair *p, struct takt_text sign)
{
    const bool is_left = is_matrix_like(p->left);
    const bool is_right = is_matrix_like(p->right);
    const bool is_own = p->left.is_own || p->right.is_own;

    if (is_left && is_right && takt__text_is(sign, "*"))
        return product_op(p);
    if (is_own && (p->left.kind != TAKT_IR_MATRIX || !is_left || !is_right))
        return NULL;
    if ((is_left || is_right) && !(is_left && is_right)) {
        const struct takt_c_type other = is_left ? p->right : p->left;
        return is_scalar(other) && (takt__text_is(sign, "*") ||
                                    (takt__text_is(sign, "/") && is_left))
                   ? "scale"
                   : NULL;
    }
    if (!is_left || p->left.kind != p->right.kind)
        return NULL;
    if (takt__text_is(sign, "+"))
        return "add";
    if (takt__text_is(sign, "-"))
        return "sub";
    if (takt__text_is(sign, "%"))
        return "mul";
    return takt__text_is(sign, "/") && p->left.kind == TAKT_IR_ARRAY ? "div"
                                                                     : NULL;
}

static void judge_operator(const struct takt_c_place *place, TSNode node,
                           struct takt_ir_verdict *out)
{
    const TSNode left = takt__node_field(node, "left");
    const TSNode right = takt__node_field(node, "right");
    struct takt_text sign =
        takt__node_text(place->source, takt__node_field(node, "operator"));

    if (ts_node_is_null(left) || ts_node_is_null(right))
        return;
    struct pair pair = {.place = place,
                        .left = takt__c_expression_type(place, left, 0),
                        .right = takt__c_expression_type(place, right, 0),
                        .out = out};
    if (takt__node_is(node, "assignment_expression")) {
        /* only a number divides a matrix */
        if (takt__text_is(sign, "/=") && pair.left.kind != TAKT_IR_ARRAY)
            pair.right = (struct takt_c_type){.element = TAKT_IR_F64};
        /* v += a * b: the product is what counts, and is found by itself */
        else if (sign.size != 2 ||
                 (!takt__node_in(right, "identifier number_literal "
                                        "subscript_expression")))
            return;
        sign.size = 1;
    }
    out->op = operator_op(&pair, sign);
    if (out->op == NULL)
        return;
    const struct takt_c_type type =
        is_matrix_like(pair.left) ? pair.left : pair.right;
    tell_type(out, type);
    if (!takt__word_in(out->op, "matmul gemv"))
        takt__tell_size(&out->size, TAKT_SIZE_TYPE, 1,
                        (uint64_t[]){elements(type)});
}

/* ---- methods and functions ----------------------------------------------- */

struct known {
    const char *names, *op;
    enum takt_ir_kind kind; /* PLAIN: of any that is not plain */
};

static const struct known methods[] = {
    {"sum", "sum", TAKT_IR_PLAIN},
    {"mean", "mean", TAKT_IR_PLAIN},
    {"norm", "norm2", TAKT_IR_PLAIN},
    {"squaredNorm dot", "dot", TAKT_IR_PLAIN},
    {"lpNorm<1>", "norm1", TAKT_IR_PLAIN},
    {"maxCoeff max", "max", TAKT_IR_PLAIN},
    {"minCoeff min", "min", TAKT_IR_PLAIN},
    {"transpose", "transpose", TAKT_IR_MATRIX},
    {"cwiseProduct", "mul", TAKT_IR_PLAIN},
    {"cwiseQuotient", "div", TAKT_IR_PLAIN},
    {"cwiseAbs", "abs", TAKT_IR_PLAIN},
    {"cwiseSqrt", "sqrt", TAKT_IR_PLAIN},
    {"exp", "exp", TAKT_IR_ARRAY},
    {"log", "log", TAKT_IR_ARRAY},
    {"sqrt", "sqrt", TAKT_IR_ARRAY},
    {"tanh", "tanh", TAKT_IR_ARRAY},
    {"abs", "abs", TAKT_IR_ARRAY},
};

static const struct known functions[] = {
    {"std::exp xt::exp", "exp", TAKT_IR_ARRAY},
    {"std::log", "log", TAKT_IR_ARRAY},
    {"std::sqrt xt::sqrt", "sqrt", TAKT_IR_ARRAY},
    {"std::tanh", "tanh", TAKT_IR_ARRAY},
    {"std::abs xt::abs", "abs", TAKT_IR_ARRAY},
    {"arma::dot", "dot", TAKT_IR_PLAIN},
    {"arma::accu arma::sum", "sum", TAKT_IR_PLAIN},
    {"arma::norm", "norm2", TAKT_IR_PLAIN},
    {"arma::exp", "exp", TAKT_IR_PLAIN},
    {"arma::sqrt", "sqrt", TAKT_IR_PLAIN},
    {"arma::abs", "abs", TAKT_IR_PLAIN},
    {"arma::log", "log", TAKT_IR_PLAIN},
    {"arma::tanh", "tanh", TAKT_IR_PLAIN},
    {"arma::mean", "mean", TAKT_IR_VECTOR},
    {"arma::max", "max", TAKT_IR_VECTOR},
    {"arma::min", "min", TAKT_IR_VECTOR},
    {"xt::sum", "sum", TAKT_IR_ARRAY},
    {"xt::mean", "mean", TAKT_IR_ARRAY},
    {"xt::amax", "max", TAKT_IR_ARRAY},
    {"xt::amin", "min", TAKT_IR_ARRAY},
    {"xt::linalg::dot", "matmul", TAKT_IR_ARRAY},
    {"xt::linalg::norm", "norm2", TAKT_IR_ARRAY},
};

/* dot(a, b) for arma::dot(a, b): the namespace of the arguments is searched. */
static bool is_named(struct takt_text name, const char *names,
                     enum takt_ir_kind kind)
{
    char whole[32] = "arma::";

    if (takt__text_in(name, names))
        return true;
    if (kind == TAKT_IR_ARRAY || name.size + 6 > sizeof whole)
        return false;
    memcpy(whole + 6, name.at, name.size);
    return takt__text_in((struct takt_text){whole, name.size + 6}, names);
}

static const char *look_up(const struct known *table, size_t count,
                           struct takt_text name, enum takt_ir_kind kind)
{
    for (size_t i = 0; i < count; i++)
        if (is_named(name, table[i].names, kind) &&
            (table[i].kind == TAKT_IR_PLAIN || table[i].kind == kind))
            return table[i].op;
    return NULL;
}

/* Whether what stands here goes into a variable. */
static bool is_kept(const struct takt_c_place *place)
{
    const TSNode outer =
        place->depth > 1 ? place->at[place->depth - 2] : (TSNode){0};

    return takt__node_in(outer, "init_declarator assignment_expression");
}

static void judge_call(const struct takt_c_place *place, TSNode node,
                       struct takt_ir_verdict *out)
{
    const TSNode callee = takt__node_field(node, "function");
    const TSNode list = takt__node_field(node, "arguments");

    if (ts_node_is_null(callee) || ts_node_is_null(list))
        return;
    const bool is_method = takt__node_is(callee, "field_expression");
    const TSNode of =
        is_method ? takt__node_field(callee, "argument") : takt__c_first(list);
    const TSNode name = is_method ? takt__node_field(callee, "field") : callee;
    if (ts_node_is_null(of) || ts_node_is_null(name))
        return;
    const struct takt_c_type type = takt__c_expression_type(place, of, 0);
    if (!is_matrix_like(type) || type.is_own)
        return;
    const struct takt_text text = takt__node_text(place->source, name);
    out->op = is_method
                  ? look_up(methods, sizeof methods / sizeof *methods, text,
                            type.kind)
                  : look_up(functions, sizeof functions / sizeof *functions,
                            text, type.kind);
    if (out->op != NULL && is_method && (takt__word_in(out->op, "max min")) &&
        ts_node_named_child_count(list) > 0) {
        /* maxCoeff(&row, &column) says where; a.max(b) is of elements */
        if (text.size < 5)
            out->op = NULL;
        else
            out->op = !strcmp(out->op, "max") ? "argmax" : "argmin";
    }
    if (out->op != NULL && !is_method && ts_node_named_child_count(list) > 1 &&
        (takt__word_in(out->op, "max min")))
        out->op = NULL; /* of elements */
    if (out->op != NULL && !strcmp(out->op, "transpose") && !is_kept(place))
        out->op = NULL; /* a product takes it as it is */
    if (out->op == NULL)
        return;
    tell_type(out, type);
    if (!strcmp(out->op, "transpose"))
        takt__tell_size(&out->size, TAKT_SIZE_TYPE, 2, type.dim);
    else if (strcmp(out->op, "matmul") != 0)
        takt__tell_size(&out->size, TAKT_SIZE_TYPE, 1,
                        (uint64_t[]){elements(type)});
}

void takt__c_judge_matrix(const struct takt_c_place *place, TSNode node,
                          struct takt_ir_verdict *out)
{
    if (takt__node_is(node, "call_expression"))
        judge_call(place, node, out);
    else
        judge_operator(place, node, out);
}

bool takt__c_is_worth_it(const struct takt_source *source, TSNode node)
{
    const struct takt_c_notes *notes = source->notes;

    return notes->has_matrices || takt__c_is_loop(node) ||
           takt__node_is(node, "call_expression");
}
