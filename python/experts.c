/* SPDX-License-Identifier: MIT */
/* experts.c - Takt calls Python. */
#include "experts.h"

#include <stdlib.h>

#include "context.h"
#include "forms.h"
#include "names.h"
#include "questions.h"
#include "view.h"

struct expert {
    const struct function *function; /* NULL: of a user's op */
    PyObject *run, *can_run; /* borrowed from what the context keeps; None:
                              * any call */
};

/* A call of a user's op: in[3] of its takt_call. */
struct user_call {
    PyObject *args, *words, *result;
};
enum { USER_CALL_AT = 3 };

/* ---- operands of the catalogue's calls ----------------------------------- */

static PyObject *make_view(const takt_call *call, enum form form, unsigned at,
                           bool is_out)
{
    struct call_operand operand;

    call_operand(call, form, at, is_out, &operand);
    return view_of(&(struct view_memory){
        .data = is_out ? call->out : (void *)(uintptr_t)call->in[at],
        .dtype = call->dtype,
        .rank = operand.rank,
        .shape = operand.shape,
        .strides = operand.strides,
        .is_read_only = !is_out});
}

/* The views of a call: its inputs, None for those it has not, and the output
 * last. */
static PyObject *make_views(const takt_call *call,
                            const struct function *function)
{
    const unsigned inputs = function->inputs;
    PyObject *views = PyTuple_New((Py_ssize_t)inputs + 1);

    for (unsigned i = 0; views != NULL && i <= inputs; i++) {
        const bool is_out = i == inputs;
        PyObject *view = !is_out && call->in[i] == NULL
                             ? Py_NewRef(Py_None)
                             : make_view(call, function->form, i, is_out);
        if (view == NULL || PyTuple_SetItem(views, (Py_ssize_t)i, view) != 0)
            Py_CLEAR(views);
    }
    return views;
}

static PyObject *show(PyObject *views, Py_ssize_t at)
{
    PyObject *view = PyTuple_GetItem(views, at);

    return view == Py_None ? Py_NewRef(view) : view_show(view);
}

/* Factors and sizes by their names. */
static PyObject *value_of(const takt_call *call,
                          const struct parameter *parameter)
{
    static const unsigned size_at[2][SIZES] = {
        {[STRIDE] = 7, [PAD] = 8, [GROUPS] = 9},
        {[WINDOW] = 4, [STRIDE] = 5, [PAD] = 6}};
    const bool is_pooling = call->in[1] == NULL;
    unsigned at;

    switch (parameter->kind) {
    case REAL:
        return PyFloat_FromDouble(parameter->which == ALPHA ? call->alpha
                                                            : call->beta);
    case FLAG:
        return PyBool_FromLong((call->flags & parameter->which) != 0);
    default:
        at = size_at[is_pooling][parameter->which];
        return PyLong_FromSize_t(at < call->shape.rank
                                     ? call->shape.dim[at]
                                     : (size_t)parameter->usual);
    }
}

static PyObject *make_words(const takt_call *call,
                            const struct function *function, PyObject *out)
{
    PyObject *words = PyDict_New();

    if (words == NULL || PyDict_SetItemString(words, "out", out) != 0)
        goto failed;
    for (unsigned i = 0; i < function->count; i++) {
        const struct parameter *parameter = &function->parameter[i];
        if (parameter->kind == INPUT || parameter->kind == OUT)
            continue;
        PyObject *value = value_of(call, parameter);
        const bool is_set =
            value != NULL && PyDict_SetItem(words, parameter->name, value) == 0;
        Py_XDECREF(value);
        if (!is_set)
            goto failed;
    }
    return words;
failed:
    Py_XDECREF(words);
    return NULL;
}

/* The inputs that the op has; of y = alpha * x + y, y is the output alone. */
static PyObject *make_args(const struct function *function, PyObject *views)
{
    const Py_ssize_t inputs = (Py_ssize_t)function->inputs;
    PyObject *args = PyTuple_New(inputs);

    for (Py_ssize_t i = 0; args != NULL && i < inputs; i++) {
        PyObject *shown = show(views, i);
        if (shown == NULL || PyTuple_SetItem(args, i, shown) != 0)
            Py_CLEAR(args);
    }
    return args;
}

/* Frames of a traceback keep what they had: their operands must not outlive
 * the call. */
static void clear_frames(void)
{
    PyObject *type, *value, *traceback, *module, *done = NULL;

    PyErr_Fetch(&type, &value, &traceback);
    module = PyImport_ImportModule("traceback");
    if (module != NULL && traceback != NULL)
        done = PyObject_CallMethod(module, "clear_frames", "O", traceback);
    Py_XDECREF(module);
    Py_XDECREF(done);
    PyErr_Clear();
    PyErr_Restore(type, value, traceback);
}

static bool is_any_used(PyObject *views)
{
    for (Py_ssize_t i = 0; i < PyTuple_Size(views); i++) {
        PyObject *view = PyTuple_GetItem(views, i);
        if (view != Py_None && view_is_used(view))
            return true;
    }
    return false;
}

/* An error of the expert's own becomes the cause. What is none, such as
 * KeyboardInterrupt, stays. */
static void check_views(const struct function *function, PyObject *views)
{
    PyObject *type, *cause, *traceback, *error;

    if (!is_any_used(views) ||
        (PyErr_Occurred() && !PyErr_ExceptionMatches(PyExc_Exception)))
        return;
    PyErr_Fetch(&type, &cause, &traceback);
    PyErr_NormalizeException(&type, &cause, &traceback);
    if (traceback != NULL)
        (void)PyException_SetTraceback(cause, traceback);
    Py_XDECREF(type);
    Py_XDECREF(traceback);
    PyErr_Format(PyExc_BufferError,
                 "an expert of %s kept an operand: it may be used during the "
                 "call alone",
                 function->name);
    PyErr_Fetch(&type, &error, &traceback);
    PyErr_NormalizeException(&type, &error, &traceback);
    if (cause != NULL)
        PyException_SetCause(error, cause);
    PyErr_Restore(type, error, traceback);
}

/* What a result means. An exception stays set. */
static takt_status status_of(PyObject *result)
{
    if (result == NULL)
        return TAKT_EINVAL;
    return result == Py_NotImplemented ? TAKT_ENOTSUP : TAKT_OK;
}

static takt_status run_views(const takt_call *call, const struct expert *expert)
{
    const struct function *function = expert->function;
    PyObject *views = make_views(call, function);
    PyObject *out = NULL, *args = NULL, *words = NULL, *result = NULL;

    if (views != NULL)
        out = show(views, (Py_ssize_t)function->inputs);
    if (out != NULL)
        args = make_args(function, views);
    if (args != NULL)
        words = make_words(call, function, out);
    if (words != NULL)
        result = PyObject_Call(expert->run, args, words);
    Py_XDECREF(words);
    Py_XDECREF(args);
    Py_XDECREF(out);
    const takt_status status = status_of(result);
    Py_XDECREF(result); /* it may be `out` */
    if (result == NULL)
        clear_frames();
    if (views != NULL)
        check_views(function, views);
    Py_XDECREF(views);
    return status;
}

/* ---- callbacks ----------------------------------------------------------- */

/* The caller of a user's op gets what its expert returned. */
static takt_status run_arguments(const takt_call *call,
                                 const struct expert *expert)
{
    struct user_call *user =
        (struct user_call *)(uintptr_t)call->in[USER_CALL_AT];
    PyObject *result = PyObject_Call(expert->run, user->args, user->words);
    const takt_status status = status_of(result);

    if (status == TAKT_OK)
        user->result = result;
    else
        Py_XDECREF(result);
    return status;
}

/* On a thread that did not come from Python, there is no caller to raise an
 * exception in. An earlier one is about to be raised: then nothing is called.
 */
static takt_status run_expert(const takt_call *call, void *self)
{
    const struct expert *expert = self;
    const bool is_pythons = PyGILState_GetThisThreadState() != NULL;
    const PyGILState_STATE lock = PyGILState_Ensure();
    takt_status status = TAKT_EINVAL;

    if (!PyErr_Occurred())
        status = expert->function != NULL ? run_views(call, expert)
                                          : run_arguments(call, expert);
    if (!is_pythons && PyErr_Occurred())
        PyErr_WriteUnraisable(expert->run);
    PyGILState_Release(lock);
    return status;
}

/* can_run(shape, dtype) */
static int can_run_expert(const takt_call *call, void *self)
{
    const struct expert *expert = self;
    const PyGILState_STATE lock = PyGILState_Ensure();
    PyObject *shape = PyTuple_New((Py_ssize_t)call->shape.rank);
    PyObject *result = NULL;
    int can = 0;

    for (unsigned i = 0; shape != NULL && i < call->shape.rank; i++)
        (void)PyTuple_SetItem(shape, (Py_ssize_t)i,
                              PyLong_FromSize_t(call->shape.dim[i]));
    if (shape != NULL && !PyErr_Occurred())
        result = PyObject_CallFunction(expert->can_run, "Os", shape,
                                       takt_dtype_name(call->dtype));
    if (result != NULL)
        can = PyObject_IsTrue(result) > 0;
    Py_XDECREF(result);
    Py_XDECREF(shape);
    PyGILState_Release(lock);
    return can;
}

/* ---- adding -------------------------------------------------------------- */

static void drop_expert(PyObject *capsule)
{
    free(PyCapsule_GetPointer(capsule, NULL));
}

/* What the context keeps: the functions, where cycles of references through
 * them are found, and a capsule that frees the rest. */
static struct expert *make_expert(PyObject *self,
                                  const struct function *function,
                                  PyObject *run, PyObject *can_run)
{
    struct expert *expert = malloc(sizeof *expert);
    PyObject *capsule = expert == NULL
                            ? PyErr_NoMemory()
                            : PyCapsule_New(expert, NULL, drop_expert);
    PyObject *kept;
    bool is_kept;

    if (capsule == NULL) {
        free(expert);
        return NULL;
    }
    *expert = (struct expert){function, run, can_run};
    kept = PyTuple_Pack(3, capsule, run, can_run);
    is_kept = kept != NULL && context_keep(self, kept);
    Py_XDECREF(kept);
    Py_DECREF(capsule);
    return is_kept ? expert : NULL;
}

/* Arrays of positions are not f32 or f64, and a view runs nothing. */
static bool check_op(const takt_op *op, const struct function *function)
{
    if (function == NULL ||
        (function->form != FORM_position && function->form != FORM_view))
        return true;
    PyErr_Format(PyExc_ValueError, "%s takes no experts of Python's", op->name);
    return false;
}

static bool add_to(PyObject *self, takt_ctx *ctx, const char *op_name,
                   takt_expert_spec *spec, PyObject *run, PyObject *can_run)
{
    const takt_op *op = context_op(ctx, op_name);
    const struct function *function = op == NULL ? NULL : function_of(op);

    if (op == NULL || !check_op(op, function))
        return false;
    spec->self = make_expert(self, function, run, can_run);
    if (spec->self == NULL)
        return false;
    const takt_status status = takt_ctx_add_expert(ctx, op, spec);
    if (status != TAKT_OK)
        raise_status(status, "expert '%s' of %s", spec->name, op->name);
    return status == TAKT_OK;
}

/* (op, name, run, can_run, backend, threads, is_usual) */
static PyObject *add_expert(PyObject *self, PyObject *args)
{
    takt_expert_spec spec = {.size = sizeof spec, .run = run_expert};
    const char *op, *backend;
    PyObject *run, *can_run;
    int number;
    takt_ctx *ctx;

    if (!PyArg_ParseTuple(args, "ssOOsO&p", &op, &spec.name, &run, &can_run,
                          &backend, read_threads, &spec.threads,
                          &spec.is_usual) ||
        (number = name_number(backend, backend_names)) < 0 ||
        !context_enter(self, &ctx))
        return NULL;
    spec.backend = (takt_backend)number;
    if (can_run != Py_None)
        spec.can_run = can_run_expert;
    const bool is_added = add_to(self, ctx, op, &spec, run, can_run);
    context_leave(self);
    return is_added ? Py_NewRef(Py_None) : NULL;
}

/* (name, complexity) */
static PyObject *define_op(PyObject *self, PyObject *args)
{
    takt_op_spec spec = {.size = sizeof spec};
    const char *complexity;
    const takt_op *op;
    int number;
    takt_ctx *ctx;

    if (!PyArg_ParseTuple(args, "ss", &spec.name, &complexity) ||
        (number = name_number(complexity, complexity_names)) < 0 ||
        !context_enter(self, &ctx))
        return NULL;
    spec.complexity = (takt_complexity)number;
    const takt_status status = takt_ctx_define_op(ctx, &spec, &op);
    context_leave(self);
    return status == TAKT_OK ? Py_NewRef(Py_None)
                             : raise_status(status, "op '%s'", spec.name);
}

/* ---- running a user's op ------------------------------------------------- */

static PyObject *run_user(takt_ctx *ctx, takt_call *call, const char *name,
                          PyObject *args, PyObject *words)
{
    struct user_call user = {args, words, NULL};
    takt_status status;

    call->op = context_op(ctx, name);
    if (call->op == NULL)
        return NULL;
    if (PyTuple_Size(args) > 0) /* whether the operands are the last ones */
        call->in[0] = PyTuple_GetItem(args, 0);
    call->in[USER_CALL_AT] = &user;
    if (call->op->is_user == 0)
        return PyErr_Format(PyExc_ValueError, "%s is of the catalogue", name);
    Py_BEGIN_ALLOW_THREADS;
    status = takt_run(ctx, call, NULL);
    Py_END_ALLOW_THREADS;
    if (status == TAKT_OK && !PyErr_Occurred())
        return user.result;
    Py_XDECREF(user.result);
    return PyErr_Occurred() ? NULL
                            : raise_status(status,
                                           status == TAKT_ENOTSUP
                                               ? "no expert of op '%s' takes it"
                                               : "op '%s'",
                                           name);
}

/* (name, args, words, shape, dtype) */
static PyObject *run_op(PyObject *self, PyObject *given)
{
    takt_call call = {.size = sizeof call};
    PyObject *args, *words, *shape, *result;
    const char *name, *dtype;
    int number;
    takt_ctx *ctx;

    if (!PyArg_ParseTuple(given, "sO!O!Os", &name, &PyTuple_Type, &args,
                          &PyDict_Type, &words, &shape, &dtype) ||
        !read_sizes(shape, &call.shape) ||
        (number = name_number(dtype, dtype_names)) < 0 ||
        !context_enter(self, &ctx))
        return NULL;
    call.dtype = (takt_dtype)number;
    result = run_user(ctx, &call, name, args, words);
    context_leave(self);
    return result;
}

PyMethodDef expert_methods[] = {{"_add_expert", add_expert, METH_VARARGS, NULL},
                                {"_define_op", define_op, METH_VARARGS, NULL},
                                {"_run_op", run_op, METH_VARARGS, NULL},
                                {0}};
