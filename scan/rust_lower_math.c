/* SPDX-License-Identifier: MIT */
/*
 * rust_lower_math.c - what Rust's types and functions of mathematics are in the
 * form of ir.h.
 */
#include "rust_lower.h"

#include <string.h>

struct takt_ir_type takt__rust_ir_type(struct takt_rust_type type)
{
    static const enum takt_ir_element elements[] = {
        [TAKT_RUST_UNKNOWN] = TAKT_IR_UNKNOWN,
        [TAKT_RUST_FLOAT] = TAKT_IR_FLOAT,
        [TAKT_RUST_F32] = TAKT_IR_F32,
        [TAKT_RUST_F64] = TAKT_IR_F64,
        [TAKT_RUST_GENERIC] = TAKT_IR_GENERIC,
        [TAKT_RUST_INTEGER] = TAKT_IR_INTEGER,
        [TAKT_RUST_OTHER] = TAKT_IR_OTHER,
    };
    struct takt_ir_type out = {.element = elements[type.leaf],
                               .rank = type.depth};

    if (type.shell == TAKT_RUST_SMALL || type.shell == TAKT_RUST_CLOSED ||
        type.shell == TAKT_RUST_TENSOR)
        out.element = TAKT_IR_OTHER;
    if (type.shell != TAKT_RUST_PLAIN)
        out.kind = TAKT_IR_ARRAY;
    return out;
}

static struct takt_ir_expr *call1(struct takt_rust_nest *nest, const char *name,
                                  struct takt_ir_expr *a)
{
    return takt__ir_part(takt__ir_call(&nest->ir, name), a);
}

/* 1 / (1 + exp(-x)). */
static struct takt_ir_expr *sigmoid(struct takt_rust_nest *nest,
                                    struct takt_ir_expr *x)
{
    struct takt_ir_nest *ir = &nest->ir;
    struct takt_ir_expr *one = takt__ir_number(ir, 1);
    struct takt_ir_expr *e = call1(nest, "exp", takt__ir_negative(ir, x));

    return takt__ir_pair(ir, TAKT_IR_DIV, one,
                         takt__ir_pair(ir, TAKT_IR_ADD, one, e));
}

/* x * (1 + tanh(x)): as far as it matters. */
static struct takt_ir_expr *gelu(struct takt_rust_nest *nest,
                                 struct takt_ir_expr *x)
{
    struct takt_ir_nest *ir = &nest->ir;

    return takt__ir_pair(ir, TAKT_IR_MUL, x,
                         takt__ir_pair(ir, TAKT_IR_ADD, takt__ir_number(ir, 1),
                                       call1(nest, "tanh", x)));
}

static struct takt_ir_expr *of_one(struct takt_rust_nest *nest,
                                   struct takt_text name,
                                   struct takt_ir_expr *x)
{
    static const char *const names[][2] = {
        {"sqrt", "sqrt"},   {"exp", "exp"},      {"ln", "log"},
        {"log", "log"},     {"tanh", "tanh"},    {"abs", "fabs"},
        {"exp2", "exp2"},   {"exp_m1", "expm1"}, {"log2", "log2"},
        {"log10", "log10"}, {"ln_1p", "log1p"},  {"sin", "sin"},
        {"cos", "cos"},     {"tan", "tan"},      {"asin", "asin"},
        {"acos", "acos"},   {"atan", "atan"},    {"sinh", "sinh"},
        {"cosh", "cosh"},   {"cbrt", "cbrt"},    {"floor", "floor"},
        {"ceil", "ceil"},   {"round", "round"},  {"trunc", "trunc"},
        {"fract", "fract"}, {"signum", "sign"},  {"to_radians", "radians"},
        {"expf", "exp"},    {"logf", "log"},     {"sqrtf", "sqrt"},
        {"fabsf", "fabs"},  {"tanhf", "tanh"},   {"to_degrees", "degrees"},
        {"erf", "erf"}};
    struct takt_ir_nest *ir = &nest->ir;

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (takt__text_is(name, names[i][0])) {
            if (strcmp(names[i][1], "fabs") != 0) /* integers have it, too */
                takt__rust_set_float(x, TAKT_IR_FLOAT);
            return call1(nest, names[i][1], x);
        }
    if (takt__text_is(name, "neg"))
        return takt__ir_negative(ir, x);
    if (takt__text_is(name, "recip"))
        return takt__ir_pair(ir, TAKT_IR_DIV, takt__ir_number(ir, 1), x);
    if (takt__text_is(name, "relu"))
        return takt__ir_part(call1(nest, "fmax", x), takt__ir_number(ir, 0));
    if (takt__text_in(name, "sigmoid logistic"))
        return sigmoid(nest, x);
    return takt__text_is(name, "gelu") ? gelu(nest, x) : NULL;
}

struct takt_ir_expr *takt__rust_function(struct takt_rust_nest *nest,
                                         struct takt_text name,
                                         struct takt_ir_expr **argument,
                                         unsigned count)
{
    static const char *const more[][2] = {
        {"max", "fmax"},         {"min", "fmin"},    {"powi", "pow"},
        {"powf", "pow"},         {"mul_add", "fma"}, {"clamp", "clamp"},
        {"atan2", "atan2"},      {"hypot", "hypot"}, {"log", "log"},
        {"copysign", "copysign"}};
    struct takt_ir_expr *e = NULL;

    if (count == 1)
        return of_one(nest, name, argument[0]);
    for (size_t i = 0; i < sizeof more / sizeof *more; i++)
        if (takt__text_is(name, more[i][0]))
            e = takt__ir_call(&nest->ir, more[i][1]);
    for (unsigned i = 0; i < count; i++)
        e = takt__ir_part(e, argument[i]);
    return count > 1 ? e : NULL;
}
