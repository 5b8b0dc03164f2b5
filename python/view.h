/* SPDX-License-Identifier: MIT */
/*
 * view.h - memory that Takt or another object owns, as a Python object with the
 * buffer protocol. Callers see it inside of a memoryview or an array of
 * NumPy's.
 */
#pragma once

#include "operand.h"

/* Makes the type. False: an exception is set. */
bool view_prepare(void);

/* A memoryview of new memory, in C order, without contents; *data is its
 * address. */
PyObject *view_new(takt_dtype dtype, int rank, const Py_ssize_t *shape,
                   void **data);

/* Memory that `owner` owns, which is kept as long (it may be NULL).
 * Strides are in bytes; NULL: without gaps. */
struct view_memory {
    void *data;
    takt_dtype dtype;
    int rank;
    const Py_ssize_t *shape, *strides;
    bool is_read_only;
    PyObject *owner;
};
PyObject *view_of(const struct view_memory *memory);

/* What callers see of a view: an array of NumPy's if that is imported, else a
 * memoryview. */
PyObject *view_show(PyObject *view);

/* Whether a memoryview or an array of it still exists. */
bool view_is_used(PyObject *view);
