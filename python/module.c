/* SPDX-License-Identifier: MIT */
/* module.c - takt._takt: everything in C that the package takt is made of. */
#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "context.h"
#include "experts.h"
#include "functions.h"
#include "questions.h"
#include "tune.h"
#include "view.h"

PyObject *takt_error;

/* What the status of Takt's is in Python. */
static PyObject *exception_of(takt_status status)
{
    switch (status) {
    case TAKT_ENOMEM:
        return PyExc_MemoryError;
    case TAKT_EINVAL:
    case TAKT_ESHAPE:
        return PyExc_ValueError;
    default:
        return takt_error;
    }
}

PyObject *raise_status(takt_status status, const char *format, ...)
{
    char text[256];
    va_list values;
    PyObject *made, *number;

    va_start(values, format);
    vsnprintf(text, sizeof text, format, values);
    va_end(values);
    PyErr_Format(exception_of(status), "%s: %s", text,
                 takt_status_text(status));
    if (exception_of(status) != takt_error)
        return NULL;
    PyObject *type, *traceback;
    PyErr_Fetch(&type, &made, &traceback);
    PyErr_NormalizeException(&type, &made, &traceback);
    number = PyLong_FromLong((long)status);
    if (number != NULL)
        (void)PyObject_SetAttrString(made, "status", number);
    Py_XDECREF(number);
    PyErr_Restore(type, made, traceback);
    return NULL;
}

static bool add_error(PyObject *module)
{
    if (takt_error == NULL)
        takt_error = PyErr_NewExceptionWithDoc(
            "takt.Error",
            "Takt refused, or could not do what was asked.\n\n"
            "status is the number of takt/status.h. What is wrong with\n"
            "arguments raises TypeError and ValueError instead.",
            PyExc_RuntimeError, NULL);
    return takt_error != NULL &&
           PyModule_AddObjectRef(module, "Error", takt_error) == 0;
}

/* Functions of the module, which say that they are the package's. */
static bool add_functions(PyObject *module, PyMethodDef *methods)
{
    PyObject *name = PyUnicode_FromString("takt");
    bool is_good = name != NULL;

    for (PyMethodDef *row = methods; is_good && row->ml_name != NULL; row++) {
        PyObject *function = PyCFunction_NewEx(row, module, name);
        is_good = function != NULL &&
                  PyModule_AddObjectRef(module, row->ml_name, function) == 0;
        Py_XDECREF(function);
    }
    Py_XDECREF(name);
    return is_good;
}

static bool add_context(PyObject *module, PyMethodDef *const *tables,
                        size_t count)
{
    static PyObject *type;

    if (type == NULL)
        type = context_type(tables, count);
    return type != NULL && PyModule_AddObjectRef(module, "Context", type) == 0;
}

/* The version, and where libtakt was loaded from. */
static bool add_facts(PyObject *module)
{
    Dl_info library;
    const char *(*version)(void) = takt_version;
    void *address;

    memcpy(&address, &version, sizeof address);
    return PyModule_AddStringConstant(module, "__version__", takt_version()) ==
               0 &&
           PyModule_AddStringConstant(
               module, "_library",
               dladdr(address, &library) != 0 ? library.dli_fname : "") == 0;
}

static int prepare(PyObject *module)
{
    PyMethodDef *tables[] = {function_methods(), question_methods,
                             expert_methods, tune_methods};
    enum { count = sizeof tables / sizeof *tables };

    if (PyInterpreterState_GetID(PyInterpreterState_Get()) != 0) {
        PyErr_SetString(PyExc_ImportError,
                        "takt is for the main interpreter of a process");
        return -1;
    }
    if (!functions_prepare() || !view_prepare() || !add_error(module) ||
        !add_facts(module) || !add_context(module, tables, count))
        return -1;
    for (size_t i = 0; i < count; i++)
        if (!add_functions(module, tables[i]))
            return -1;
    return 0;
}

PyMODINIT_FUNC PyInit__takt(void);

PyMODINIT_FUNC PyInit__takt(void)
{
    static PyModuleDef_Slot slots[] = {{Py_mod_exec, prepare}, {0, NULL}};
    static PyModuleDef module = {.m_base = PyModuleDef_HEAD_INIT,
                                 .m_name = "takt._takt",
                                 .m_doc =
                                     "The part of takt that is written in C.",
                                 .m_slots = slots};

    return PyModuleDef_Init(&module);
}
