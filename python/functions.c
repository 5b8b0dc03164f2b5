/* SPDX-License-Identifier: MIT */
/* functions.c - functions.def becomes functions. */
#include "functions.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "questions.h"
#include "run.h"

enum {
#define FUNCTION(form_, name_, ...) AT_##name_,
#include "functions.def"
    FUNCTIONS
};

static struct function functions[FUNCTIONS];
static PyMethodDef methods[FUNCTIONS + 1];

/* ---- parameters ---------------------------------------------------------- */

static const struct {
    const char *name;
    enum parameter_kind kind;
    unsigned which;
} kinds[] = {
    {"out", OUT, 0},
    {"shape", SHAPE, 0},
    {"alpha", REAL, ALPHA},
    {"low", REAL, ALPHA},
    {"epsilon", REAL, ALPHA},
    {"scale", REAL, ALPHA},
    {"beta", REAL, BETA},
    {"high", REAL, BETA},
    {"window", SIZE, WINDOW},
    {"stride", SIZE, STRIDE},
    {"pad", SIZE, PAD},
    {"groups", SIZE, GROUPS},
    {"mean", FLAG, TAKT_CALL_MEAN_POOL},
    {"causal", FLAG, TAKT_CALL_CAUSAL},
};

/* Any other name is that of an input. */
static void set_kind(struct function *function, struct parameter *parameter)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(kinds[i].name, parameter->text) == 0) {
            parameter->kind = kinds[i].kind;
            parameter->which = kinds[i].which;
            return;
        }
    parameter->kind = INPUT;
    parameter->which = function->inputs++;
}

/* "beta=0.0" */
static bool add_parameter(struct function *function, const char *text)
{
    struct parameter *added = &function->parameter[function->count++];
    const size_t length = strcspn(text, "=");
    char *name = strndup(text, length);

    if (name == NULL) {
        PyErr_NoMemory();
        return false;
    }
    added->text = name;
    added->name = PyUnicode_InternFromString(name);
    added->is_needed = text[length] != '=';
    added->usual = added->is_needed ? 0 : strtod(text + length + 1, NULL);
    set_kind(function, added);
    function->has_beta |= strcmp(name, "beta") == 0;
    return added->name != NULL;
}

/* "a, b, /, *, out=None" */
static bool read_signature(struct function *function, const char *signature)
{
    char text[128], *rest = text;
    bool has_names_only = false;

    snprintf(text, sizeof text, "%s", signature);
    for (char *word; (word = strtok_r(rest, ", ", &rest)) != NULL;) {
        if (strcmp(word, "*") == 0)
            has_names_only = true;
        else if (strcmp(word, "/") != 0) {
            if (!add_parameter(function, word))
                return false;
            if (!has_names_only)
                function->positional = function->count;
        }
    }
    return true;
}

/* ---- functions ----------------------------------------------------------- */

#define FUNCTION(form_, name_, ...)                                       \
    static PyObject *call_##name_(PyObject *self, PyObject *const *given, \
                                  Py_ssize_t count, PyObject *names)      \
    {                                                                     \
        return run_function(self, &functions[AT_##name_], given, count,   \
                            names);                                       \
    }
#include "functions.def"

static const struct {
    enum form form;
    const char *name, *signature, *note, *example, *result;
    PyObject *(*call)(PyObject *self, PyObject *const *given, Py_ssize_t count,
                      PyObject *names);
} rows[FUNCTIONS] = {
#define FUNCTION(form_, name_, signature_, note_, example_, result_) \
    {FORM_##form_, #name_, signature_, note_, example_, result_, call_##name_},
#include "functions.def"
};

/* The summary, a note, and an example. NULL: there is no memory. */
static char *make_doc(size_t at, const takt_op *op)
{
    char *doc;
    const int length = asprintf(
        &doc,
        "%s($self, %s)\n--\n\n%s.\n%s%s%s\nOperands are %s.\n\n>>> %s\n%s\n",
        rows[at].name, rows[at].signature, op->summary,
        rows[at].note[0] != '\0' ? "\n" : "", rows[at].note,
        rows[at].note[0] != '\0' ? ".\n" : "",
        (op->dtypes >> TAKT_F64 & 1) != 0 ? "f32 or f64" : "f32",
        rows[at].example, rows[at].result);

    return length < 0 ? NULL : doc;
}

static bool make_function(size_t at)
{
    struct function *made = &functions[at];

    *made = (struct function){.name = rows[at].name,
                              .form = rows[at].form,
                              .op = takt_op_find(rows[at].name)};
    if (made->op == NULL) {
        PyErr_Format(PyExc_ImportError, "this libtakt has no op '%s'",
                     made->name);
        return false;
    }
    methods[at] =
        (PyMethodDef){made->name, (PyCFunction)(void (*)(void))rows[at].call,
                      METH_FASTCALL | METH_KEYWORDS, make_doc(at, made->op)};
    if (methods[at].ml_doc == NULL) {
        PyErr_NoMemory();
        return false;
    }
    return read_signature(made, rows[at].signature);
}

bool functions_prepare(void)
{
    static bool is_made;

    for (size_t i = 0; !is_made && i < FUNCTIONS; i++)
        if (!make_function(i))
            return false;
    is_made = true;
    return true;
}

PyMethodDef *function_methods(void)
{
    return methods;
}

const struct function *function_of(const takt_op *op)
{
    for (size_t i = 0; i < FUNCTIONS; i++)
        if (functions[i].op == op)
            return &functions[i];
    return NULL;
}

/* ---- arguments ----------------------------------------------------------- */

/* Whether an object is no number. What else its own code raised is left. */
static bool is_no_number(void)
{
    return PyErr_ExceptionMatches(PyExc_TypeError) ||
           PyErr_ExceptionMatches(PyExc_OverflowError);
}

static bool set_real(double *out, const struct function *function,
                     const struct parameter *parameter, PyObject *value)
{
    *out = PyFloat_AsDouble(value);
    if (*out != -1.0 || !PyErr_Occurred())
        return true;
    if (is_no_number())
        PyErr_Format(PyExc_TypeError, "takt.%s: %s is %R, not a number",
                     function->name, parameter->text, value);
    return false;
}

static bool set_size(size_t *out, const struct function *function,
                     const struct parameter *parameter, PyObject *value)
{
    const Py_ssize_t size = PyNumber_AsSsize_t(value, PyExc_OverflowError);

    *out = (size_t)size;
    if (size >= 0)
        return true;
    if (!PyErr_Occurred() || is_no_number())
        PyErr_Format(PyErr_Occurred() ? PyExc_TypeError : PyExc_ValueError,
                     "takt.%s: %s is %R, not a size", function->name,
                     parameter->text, value);
    return false;
}

static bool set_flag(unsigned *flags, unsigned flag, PyObject *value)
{
    const int is_set = PyObject_IsTrue(value);

    if (is_set > 0)
        *flags |= flag;
    return is_set >= 0;
}

static bool set_argument(struct arguments *out, const struct function *function,
                         const struct parameter *parameter, PyObject *value)
{
    switch (parameter->kind) {
    case INPUT:
        out->input_name[parameter->which] = parameter->text;
        out->input[parameter->which] =
            value == Py_None && !parameter->is_needed ? NULL : value;
        return true;
    case OUT:
        out->out = value == Py_None ? NULL : value;
        return true;
    case SHAPE:
        return read_sizes(value, &out->shape);
    case REAL:
        return set_real(&out->real[parameter->which], function, parameter,
                        value);
    case SIZE:
        return set_size(&out->size[parameter->which], function, parameter,
                        value);
    case FLAG:
        return set_flag(&out->flags, parameter->which, value);
    }
    return false;
}

static void set_defaults(struct arguments *out, const struct function *function)
{
    *out = (struct arguments){.flags = TAKT_CALL_ALPHA_ZERO};
    for (unsigned i = 0; i < function->count; i++) {
        const struct parameter *parameter = &function->parameter[i];
        if (parameter->kind == REAL)
            out->real[parameter->which] = parameter->usual;
        else if (parameter->kind == SIZE)
            out->size[parameter->which] = (size_t)parameter->usual;
    }
}

/* The number of a named parameter; function->count: there is none. Names in a
 * program are interned, so that their addresses are mostly equal. */
static unsigned find_parameter(const struct function *function, PyObject *name)
{
    for (unsigned i = 0; i < function->count; i++)
        if (function->parameter[i].name == name)
            return i;
    for (unsigned i = 0; i < function->count; i++)
        if (PyUnicode_Compare(function->parameter[i].name, name) == 0)
            return i;
    return function->count;
}

static bool read_named(struct arguments *out, const struct function *function,
                       PyObject *const *given, PyObject *names, unsigned *seen)
{
    const Py_ssize_t count = names == NULL ? 0 : PyTuple_Size(names);

    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *name = PyTuple_GetItem(names, i);
        const unsigned at = find_parameter(function, name);
        if (at == function->count || (*seen >> at & 1) != 0) {
            PyErr_Format(PyExc_TypeError,
                         at == function->count ? "takt.%s has no parameter '%U'"
                                               : "takt.%s: '%U' is given twice",
                         function->name, name);
            return false;
        }
        *seen |= 1u << at;
        if (!set_argument(out, function, &function->parameter[at], given[i]))
            return false;
    }
    return true;
}

static bool check_needed(const struct function *function, unsigned seen)
{
    for (unsigned i = 0; i < function->count; i++)
        if (function->parameter[i].is_needed && (seen >> i & 1) == 0) {
            PyErr_Format(PyExc_TypeError, "takt.%s needs '%s'", function->name,
                         function->parameter[i].text);
            return false;
        }
    return true;
}

bool arguments_read(struct arguments *out, const struct function *function,
                    PyObject *const *given, Py_ssize_t count, PyObject *names)
{
    unsigned seen = 0;

    if (count > (Py_ssize_t)function->positional) {
        PyErr_Format(PyExc_TypeError,
                     "takt.%s takes %u arguments without a name, not %zd",
                     function->name, function->positional, count);
        return false;
    }
    set_defaults(out, function);
    for (Py_ssize_t i = 0; i < count; i++) {
        seen |= 1u << i;
        if (!set_argument(out, function, &function->parameter[i], given[i]))
            return false;
    }
    return read_named(out, function, given + count, names, &seen) &&
           check_needed(function, seen);
}
