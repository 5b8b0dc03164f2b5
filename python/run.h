/* SPDX-License-Identifier: MIT */
/* run.h - runs the function of an op. */
#pragma once

#include "functions.h"

/* self: a context, or the module for the default one. NULL: an exception is
 * set, and nothing was touched. */
PyObject *run_function(PyObject *self, const struct function *function,
                       PyObject *const *given, Py_ssize_t count,
                       PyObject *names);
