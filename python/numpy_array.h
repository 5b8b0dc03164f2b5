/* SPDX-License-Identifier: MIT */
/*
 * numpy_array.h - NumPy's arrays, read and made without the detour through the
 * buffer protocol, which takes 40 ns for each.
 *
 * What is used of NumPy is the layout of its array object and two entries of
 * its table of functions, which every extension that was compiled for NumPy
 * depends on; they are the same in 1.24 and in 2.x. An array is compared with
 * its buffer before they are believed.
 */
#pragma once

#include "operand.h"

/* Looks for NumPy among the modules that are imported; true if it is there. */
bool numpy_is_there(void);

/* Whether it is an array of NumPy's, not of a type derived from it. */
bool numpy_array_is(PyObject *object);

/* Whether it is an array of a type derived from NumPy's that has a mask, which
 * the buffer protocol does not tell. */
bool numpy_array_is_masked(PyObject *object);

bool numpy_array_read(struct array_operand *operand, PyObject *object,
                      const char *function, const char *name);

/* A new array, in C order, without contents. */
PyObject *numpy_array_new(takt_dtype dtype, int rank, const Py_ssize_t *shape);
