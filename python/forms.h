/* SPDX-License-Identifier: MIT */
/*
 * forms.h - what follows from the operands of a call: its sizes, its layout and
 * the shape of its result. And back, for experts that are written in Python.
 */
#pragma once

#include "functions.h"
#include "operand.h"

struct op_plan {
    const struct function *function;
    struct arguments given;
    bool has_numpy;    /* it is imported */
    unsigned operands; /* of in[], read so far */
    struct array_operand in[MOST_INPUTS];
    takt_call call;
    int rank;                /* of the result */
    const Py_ssize_t *shape; /* of the result; may be `made` */
    Py_ssize_t made[MOST_DIMENSIONS];
    bool out_has_rows; /* ld[2]: gaps between the rows of the result are fine */
};

/* Fills in the call but for `out`, and the shape of the result. False: an
 * exception is set. */
bool plan_make(struct op_plan *plan);

/* Sets an exception: "takt.NAME: ...". Returns false. */
bool plan_refuse(const struct op_plan *plan, PyObject *exception,
                 const char *format, ...);

/* A matrix as rows that are `ld` elements apart; false: it is not one. */
bool operand_rows(const struct array_operand *operand, size_t *ld);

/* An operand of a call, as an expert sees it: the inputs, then the output. */
struct call_operand {
    int rank;
    Py_ssize_t shape[MOST_DIMENSIONS], strides[MOST_DIMENSIONS];
};
void call_operand(const takt_call *call, enum form form, unsigned at,
                  bool is_out, struct call_operand *out);
