/* SPDX-License-Identifier: MIT */
/*
 * python.h - what is used of Python, by the names of its stable interface.
 * Nothing of it is linked. Objects are pointers of which nothing else is known.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

typedef struct takt_python_object takt_object;

/* clang-format off */
#define TAKT_PYTHON_FUNCTIONS(use_)                                               \
    use_(takt_object *, PyImport_GetModuleDict, (void))                           \
    use_(takt_object *, PyModule_GetDict, (takt_object *))                        \
    use_(takt_object *, PyDict_GetItemString, (takt_object *, const char *))      \
    use_(ptrdiff_t, PyDict_Size, (takt_object *))                                 \
    use_(int, PyDict_Next, (takt_object *, ptrdiff_t *, takt_object **,           \
                            takt_object **))                                      \
    use_(takt_object *, PyObject_Type, (takt_object *))                           \
    use_(int, PyObject_IsInstance, (takt_object *, takt_object *))                \
    use_(takt_object *, PyObject_GetAttrString, (takt_object *, const char *))    \
    use_(takt_object *, PyObject_CallFunctionObjArgs, (takt_object *, ...))       \
    use_(ptrdiff_t, PyList_Size, (takt_object *))                                 \
    use_(takt_object *, PyList_GetItem, (takt_object *, ptrdiff_t))               \
    use_(ptrdiff_t, PyTuple_Size, (takt_object *))                                \
    use_(takt_object *, PyTuple_GetItem, (takt_object *, ptrdiff_t))              \
    use_(const char *, PyUnicode_AsUTF8, (takt_object *))                         \
    use_(void *, PyCapsule_GetPointer, (takt_object *, const char *))             \
    use_(const char *, Py_GetVersion, (void))                                     \
    use_(void, PyErr_Clear, (void))                                               \
    use_(void, Py_DecRef, (takt_object *))
/* clang-format on */

struct takt_python {
#define TAKT_PYTHON_MEMBER(returns_, name_, parameters_) \
    returns_(*name_) parameters_;
    TAKT_PYTHON_FUNCTIONS(TAKT_PYTHON_MEMBER)
#undef TAKT_PYTHON_MEMBER
    takt_object *none;
};
extern struct takt_python takt__python;

/* Finds all of it. False: there is no Python in the process. */
bool takt__python_open(void);

/* Writes the address of a name into a pointer of that size. */
bool takt__python_find(const char *name, void *pointer, size_t size);
