/* SPDX-License-Identifier: MIT */
/*
 * functions.h - the functions of the ops: their parameters, made of
 * functions.def when the module is imported, and what a caller gave for them.
 */
#pragma once

#include "python.h"

enum { MOST_PARAMETERS = 8, MOST_INPUTS = 4 };

/* What a parameter is, and which of its kind. */
enum parameter_kind { INPUT, OUT, SHAPE, REAL, SIZE, FLAG };
enum { ALPHA, BETA, REALS };                 /* of REAL */
enum { WINDOW, STRIDE, PAD, GROUPS, SIZES }; /* of SIZE */

struct parameter {
    const char *text;
    PyObject *name;
    enum parameter_kind kind;
    unsigned which;
    bool is_needed;
    double usual;
};

/* How operands become a call: forms.c. */
enum form {
    FORM_map,
    FORM_bias,
    FORM_matrix,
    FORM_view,
    FORM_reduce,
    FORM_position,
    FORM_by_rows,
    FORM_by_cols,
    FORM_rows,
    FORM_gemv,
    FORM_matmul,
    FORM_batched,
    FORM_conv2d,
    FORM_pool2d,
    FORM_attention,
    FORM_cholesky,
    FORM_solve,
    FORM_qr,
    FORM_lstsq
};

struct function {
    const char *name;
    const takt_op *op;
    enum form form;
    unsigned count;      /* of parameters */
    unsigned positional; /* how many of these may come without a name */
    unsigned inputs;     /* operands, optional ones included */
    bool has_beta;
    struct parameter parameter[MOST_PARAMETERS];
};

/* NULL, or 0: it was not given, and has no default. None counts as NULL. */
struct arguments {
    PyObject *input[MOST_INPUTS];
    const char *input_name[MOST_INPUTS];
    PyObject *out;
    takt_shape shape;
    double real[REALS];
    size_t size[SIZES];
    unsigned flags; /* of takt_call */
};

/* Reads functions.def, once. False: an exception is set. */
bool functions_prepare(void);

/* The table for the module and for contexts, which ends with a row of zeros. */
PyMethodDef *function_methods(void);

/* The one of an op of the catalogue; NULL: a user's op. */
const struct function *function_of(const takt_op *op);

/* False: an exception is set. */
bool arguments_read(struct arguments *out, const struct function *function,
                    PyObject *const *given, Py_ssize_t count, PyObject *names);
