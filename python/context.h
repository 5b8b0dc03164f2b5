/* SPDX-License-Identifier: MIT */
/*
 * context.h - takt.Context: the ops and the questions in a context of one's
 * own.
 */
#pragma once

#include "python.h"

/* Makes the type, with these methods besides its own. */
PyObject *context_type(PyMethodDef *const *tables, size_t count);

/* Begins a call of a context; self is one, or the module, whose context is the
 * default one (NULL). False: it is closed, and an exception is set. */
bool context_enter(PyObject *self, takt_ctx **out);
/* Ends it. A context that was closed meanwhile goes with its last call. */
void context_leave(PyObject *self);

/* The op of that name; NULL: there is none, and an exception is set. */
const takt_op *context_op(takt_ctx *ctx, const char *name);

/* Keeps an object as long as the context; false: an exception is set. */
bool context_keep(PyObject *self, PyObject *object);
