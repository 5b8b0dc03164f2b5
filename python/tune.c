/* SPDX-License-Identifier: MIT */
/* tune.c - takt_tune(), with a progress callback in Python. */
#include "tune.h"

#include "context.h"
#include "names.h"
#include "questions.h"

/* ---- what is to be measured ---------------------------------------------- */

/* Lists for takt_tune_options; all are freed by free_lists(). */
struct lists {
    const takt_op **ops;
    takt_shape *shapes;
    const char **experts;
    PyObject *kept; /* tuples whose strings are borrowed */
};

static void free_lists(struct lists *lists)
{
    PyMem_Free(lists->ops);
    PyMem_Free(lists->shapes);
    PyMem_Free(lists->experts);
    Py_XDECREF(lists->kept);
}

/* A tuple of what was given, kept until the end; NULL: None was given, or an
 * exception is set. */
static PyObject *begin_list(struct lists *lists, PyObject *given, size_t *count)
{
    PyObject *tuple;

    *count = 0;
    if (given == Py_None)
        return NULL;
    tuple = PySequence_Tuple(given);
    if (tuple == NULL || PyList_Append(lists->kept, tuple) != 0) {
        Py_XDECREF(tuple);
        return NULL;
    }
    Py_DECREF(tuple); /* the list has it */
    *count = (size_t)PyTuple_Size(tuple);
    if (*count == 0)
        PyErr_SetString(PyExc_ValueError, "a list of what to tune is empty");
    return tuple;
}

static const char *text_at(PyObject *tuple, size_t at)
{
    return PyUnicode_AsUTF8AndSize(PyTuple_GetItem(tuple, (Py_ssize_t)at),
                                   NULL);
}

static bool read_ops(takt_ctx *ctx, struct lists *lists, PyObject *given,
                     takt_tune_options *options)
{
    PyObject *tuple = begin_list(lists, given, &options->op_count);

    if (tuple == NULL || PyErr_Occurred())
        return !PyErr_Occurred();
    lists->ops = PyMem_Calloc(options->op_count, sizeof *lists->ops);
    for (size_t i = 0; lists->ops != NULL && i < options->op_count; i++) {
        const char *name = text_at(tuple, i);
        lists->ops[i] = name == NULL ? NULL : context_op(ctx, name);
        if (lists->ops[i] == NULL)
            return false;
    }
    options->ops = lists->ops;
    return lists->ops != NULL || PyErr_NoMemory() != NULL;
}

static bool read_shapes(struct lists *lists, PyObject *given,
                        takt_tune_options *options)
{
    PyObject *tuple = begin_list(lists, given, &options->shape_count);

    if (tuple == NULL || PyErr_Occurred())
        return !PyErr_Occurred();
    lists->shapes = PyMem_Calloc(options->shape_count, sizeof *lists->shapes);
    for (size_t i = 0; lists->shapes != NULL && i < options->shape_count; i++)
        if (!read_sizes(PyTuple_GetItem(tuple, (Py_ssize_t)i),
                        &lists->shapes[i]))
            return false;
    options->shapes = lists->shapes;
    return lists->shapes != NULL || PyErr_NoMemory() != NULL;
}

static bool read_experts(struct lists *lists, PyObject *given,
                         takt_tune_options *options)
{
    PyObject *tuple = begin_list(lists, given, &options->expert_count);

    if (tuple == NULL || PyErr_Occurred())
        return !PyErr_Occurred();
    lists->experts =
        PyMem_Calloc(options->expert_count, sizeof *lists->experts);
    for (size_t i = 0; lists->experts != NULL && i < options->expert_count;
         i++) {
        lists->experts[i] = text_at(tuple, i);
        if (lists->experts[i] == NULL)
            return false;
    }
    options->experts = lists->experts;
    return lists->experts != NULL || PyErr_NoMemory() != NULL;
}

/* ---- progress ------------------------------------------------------------ */

static PyObject *shape_of(const takt_shape *shape)
{
    PyObject *tuple = PyTuple_New((Py_ssize_t)shape->rank);

    for (unsigned i = 0; tuple != NULL && i < shape->rank; i++)
        (void)PyTuple_SetItem(tuple, (Py_ssize_t)i,
                              PyLong_FromSize_t(shape->dim[i]));
    return tuple;
}

/* Calls the callable with (stage, done, left_s, expert, op, dtype, shape). */
static bool report(PyObject *callable, const takt_tune_progress *progress)
{
    static const char *const stages[] = {"starting", "transfers", "measuring",
                                         "waiting"};
    const bool has_op = progress->op != NULL;
    PyObject *result = PyObject_CallFunction(
        callable, "sddzzzN", stages[progress->stage], progress->done,
        progress->left_s, progress->expert, has_op ? progress->op->name : NULL,
        has_op ? takt_dtype_name(progress->dtype) : NULL,
        shape_of(&progress->shape));
    const bool goes_on = result != NULL && PyObject_IsTrue(result) == 0;

    Py_XDECREF(result);
    return goes_on;
}

/* An interrupt and an exception end the tuning, too. */
static int watch(void *self, const takt_tune_progress *progress)
{
    const PyGILState_STATE lock = PyGILState_Ensure();
    bool goes_on = !PyErr_Occurred() && PyErr_CheckSignals() == 0;

    if (goes_on && self != Py_None)
        goes_on = report(self, progress);
    PyGILState_Release(lock);
    return goes_on ? 0 : 1;
}

/* ---- tuning -------------------------------------------------------------- */

static PyObject *result_of(const takt_tune_result *of)
{
    static const char *const ends[] = {"complete", "time is up", "stopped",
                                       "busy"};

    return Py_BuildValue("snnnnnnndds", ends[of->end], (Py_ssize_t)of->cells,
                         (Py_ssize_t)of->known_cells, (Py_ssize_t)of->samples,
                         (Py_ssize_t)of->gpu_samples, (Py_ssize_t)of->rejected,
                         (Py_ssize_t)of->discarded, (Py_ssize_t)of->gpus,
                         of->seconds, of->others, takt_status_text(of->stored));
}

static PyObject *run(takt_ctx *ctx, const takt_tune_options *options)
{
    takt_tune_result result = {.size = sizeof result};
    takt_status status;

    Py_BEGIN_ALLOW_THREADS;
    status = takt_tune(ctx, options, &result);
    Py_END_ALLOW_THREADS;
    if (PyErr_Occurred())
        return NULL;
    return status == TAKT_OK ? result_of(&result)
                             : raise_status(status, "tune");
}

/* (ops, dtypes, shapes, experts, effort, budget_s, ignores_load, progress) */
static PyObject *tune(PyObject *self, PyObject *args)
{
    takt_tune_options options = {.size = sizeof options, .watch = watch};
    PyObject *ops, *shapes, *experts, *result = NULL;
    const char *effort;
    int number;
    takt_ctx *ctx;
    struct lists lists = {0};

    if (!PyArg_ParseTuple(args, "OIOOsO&pO", &ops, &options.dtypes, &shapes,
                          &experts, &effort, read_real, &options.budget_s,
                          &options.ignores_load, &options.self) ||
        (number = name_number(effort, effort_names)) < 0 ||
        !context_enter(self, &ctx))
        return NULL;
    options.effort = (takt_tune_effort)number;
    lists.kept = PyList_New(0);
    if (lists.kept != NULL && read_ops(ctx, &lists, ops, &options) &&
        read_shapes(&lists, shapes, &options) &&
        read_experts(&lists, experts, &options))
        result = run(ctx, &options);
    free_lists(&lists);
    context_leave(self);
    return result;
}

PyMethodDef tune_methods[] = {{"_tune", tune, METH_VARARGS, NULL}, {0}};
