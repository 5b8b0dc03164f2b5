/* SPDX-License-Identifier: MIT */
/* names.h - words for the numbers of Takt's enumerations. */
#pragma once

#include "python.h"

/* Each list ends with NULL; a name stands at its number. */
extern const char *const policy_names[],
    *const dtype_names[], *const backend_names[], *const complexity_names[],
                                                      *const effort_names[];

/* The number of a name; -1: it is not in the list, and an exception that shows
 * the list is set. */
int name_number(const char *name, const char *const *names);

/* For "O&" of PyArg_ParseTuple(): a Py_ssize_t, an unsigned, a double. */
int read_size(PyObject *given, void *out);
int read_threads(PyObject *given, void *out);
int read_real(PyObject *given, void *out);
