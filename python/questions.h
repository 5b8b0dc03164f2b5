/* SPDX-License-Identifier: MIT */
/*
 * questions.h - select, explain, history and what else is asked of a context,
 * as tuples: takt/__init__.py gives them names.
 */
#pragma once

#include "python.h"

extern PyMethodDef question_methods[];

/* A number or a sequence of them. False: an exception is set. */
bool read_sizes(PyObject *given, takt_shape *out);
