/* SPDX-License-Identifier: MIT */
/*
 * view.h - memory of Takt's own or of somebody else, for Python: an object that
 * has the buffer protocol, inside of what callers see, a memoryview or an array
 * of NumPy's.
 */
#pragma once

#include "operand.h"

/* Makes the type. False: an exception is set. */
bool view_prepare(void);

/* A memoryview of new memory, in C order, without contents; *data is its
 * address. */
PyObject *view_new(takt_dtype dtype, int rank, const Py_ssize_t *shape,
                   void **data);

/* Memory that is somebody else's: of `owner`, which is kept (it may be NULL).
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

/* Whether anything still looks through the view. */
bool view_is_used(PyObject *view);
