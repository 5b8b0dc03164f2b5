/* SPDX-License-Identifier: MIT */
/* names.c - words for numbers. */
#include "names.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

const char *const policy_names[] = {
    [TAKT_POLICY_ADAPTIVE] = "adaptive", [TAKT_POLICY_MOE] = "moe",
    [TAKT_POLICY_COST] = "cost",         [TAKT_POLICY_HEURISTIC] = "heuristic",
    [TAKT_POLICY_FIXED] = "fixed",       [TAKT_POLICY_PINNED] = "pinned",
    [TAKT_POLICY_PINNED + 1] = NULL};
const char *const dtype_names[] = {
    [TAKT_F32] = "f32", [TAKT_F64] = "f64", [TAKT_F64 + 1] = NULL};
const char *const backend_names[] = {[TAKT_BACKEND_SCALAR] = "scalar",
                                     [TAKT_BACKEND_SIMD] = "simd",
                                     [TAKT_BACKEND_GPU] = "gpu",
                                     [TAKT_BACKEND_GPU + 1] = NULL};
const char *const complexity_names[] = {[TAKT_COMPLEXITY_LOW] = "Low",
                                        [TAKT_COMPLEXITY_MEDIUM] = "Medium",
                                        [TAKT_COMPLEXITY_HIGH] = "High",
                                        [TAKT_COMPLEXITY_HIGH + 1] = NULL};
const char *const effort_names[] = {[TAKT_TUNE_USUAL] = "usual",
                                    [TAKT_TUNE_QUICK] = "quick",
                                    [TAKT_TUNE_FULL] = "full",
                                    [TAKT_TUNE_FULL + 1] = NULL};

int name_number(const char *name, const char *const *names)
{
    char list[128] = "";
    size_t at = 0;

    for (int i = 0; names[i] != NULL; i++) {
        if (strcmp(names[i], name) == 0)
            return i;
        if (at < sizeof list)
            at += (size_t)snprintf(list + at, sizeof list - at, "%s%s",
                                   i > 0 ? ", " : "", names[i]);
    }
    PyErr_Format(PyExc_ValueError, "'%s' is not one of %s", name, list);
    return -1;
}

/* A number up to `most`. One that is too large for Python's own types is an
 * OverflowError there, and a wrong value here. */
static bool read_count(PyObject *given, Py_ssize_t most, const char *wrong,
                       Py_ssize_t *out)
{
    *out = PyNumber_AsSsize_t(given, PyExc_OverflowError);
    const bool is_number = !PyErr_Occurred();

    if (is_number && *out >= 0 && *out <= most)
        return true;
    if (is_number || PyErr_ExceptionMatches(PyExc_OverflowError))
        PyErr_Format(PyExc_ValueError, wrong, given);
    return false;
}

int read_size(PyObject *given, void *out)
{
    return read_count(given, PY_SSIZE_T_MAX, "a size is %R", out);
}

/* What PyArg_ParseTuple() has for it takes any number, modulo 2^32. */
int read_threads(PyObject *given, void *out)
{
    Py_ssize_t number;

    if (!read_count(given, INT_MAX, "threads is %R, not a number of threads",
                    &number))
        return 0;
    *(unsigned *)out = (unsigned)number;
    return 1;
}

int read_real(PyObject *given, void *out)
{
    double *number = out;

    *number = PyFloat_AsDouble(given);
    if (*number != -1.0 || !PyErr_Occurred())
        return 1;
    if (PyErr_ExceptionMatches(PyExc_OverflowError))
        PyErr_Format(PyExc_ValueError, "%R is too large", given);
    return 0;
}
