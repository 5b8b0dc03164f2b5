/* SPDX-License-Identifier: MIT */
/* context.c - takt.Context. */
#include "context.h"

#include <string.h>

#include "names.h"

struct context {
    PyObject_HEAD;
    takt_ctx *ctx;  /* NULL: destroyed */
    bool is_closed; /* by its user; calls may still be inside */
    size_t calls;   /* that are inside */
    PyObject *kept; /* a list: what its experts use */
};

/* ---- calls --------------------------------------------------------------- */

static void destroy(struct context *context)
{
    takt_ctx *ctx = context->ctx;

    context->ctx = NULL;
    Py_BEGIN_ALLOW_THREADS;
    takt_ctx_destroy(ctx);
    Py_END_ALLOW_THREADS;
    Py_CLEAR(context->kept);
}

bool context_enter(PyObject *self, takt_ctx **out)
{
    struct context *context = (struct context *)self;

    *out = NULL;
    if (Py_TYPE(self) == &PyModule_Type)
        return true;
    if (context->is_closed) {
        PyErr_SetString(PyExc_ValueError, "the context is closed");
        return false;
    }
    context->calls++;
    *out = context->ctx;
    return true;
}

void context_leave(PyObject *self)
{
    struct context *context = (struct context *)self;

    if (Py_TYPE(self) != &PyModule_Type && --context->calls == 0 &&
        context->is_closed)
        destroy(context);
}

bool context_keep(PyObject *self, PyObject *object)
{
    struct context *context = (struct context *)self;

    if (Py_TYPE(self) != &PyModule_Type)
        return PyList_Append(context->kept, object) == 0;
    Py_INCREF(object); /* the default context never ends */
    return true;
}

const takt_op *context_op(takt_ctx *ctx, const char *name)
{
    const takt_op *op = takt_ctx_find_op(ctx, name);
    const char *near = op == NULL ? takt_op_nearest(name) : NULL;

    if (op == NULL)
        raise_status(TAKT_ENOENT,
                     near != NULL ? "there is no op '%s'; '%s' is near"
                                  : "there is no op '%s'",
                     name, near);
    return op;
}

/* ---- its life ------------------------------------------------------------ */

/* An expert or a pin file says which policy is meant. */
static bool is_objective(const char *text)
{
    takt_diag diag;

    if (text == NULL || takt_objective_check(text, NULL, &diag) == TAKT_OK)
        return true;
    PyErr_Format(PyExc_ValueError, "objective '%s': %s", text, diag.text);
    return false;
}

static bool read_options(PyObject *args, PyObject *words,
                         takt_ctx_options *options)
{
    static char *names[] = {"policy",    "expert",    "threads", "db",
                            "blas",      "gpu",       "pin",     "exploration",
                            "recording", "objective", NULL};
    const char *policy = NULL;

    if (!PyArg_ParseTupleAndKeywords(
            args, words, "|$zzO&zzzzO&zz:Context", names, &policy,
            &options->expert, read_threads, &options->threads, &options->store,
            &options->blas, &options->gpu, &options->pin, read_real,
            &options->exploration, &options->recording, &options->objective) ||
        !is_objective(options->objective))
        return false;
    if (policy == NULL && options->expert != NULL)
        policy = "fixed";
    if (policy == NULL && options->pin != NULL)
        policy = "pinned";
    const int number = policy == NULL ? 0 : name_number(policy, policy_names);
    options->policy = (takt_policy)number;
    return number >= 0;
}

static PyObject *make(PyTypeObject *type, PyObject *args, PyObject *words)
{
    takt_ctx_options options = {.size = sizeof options};
    takt_ctx *ctx;
    takt_status status;

    if (!read_options(args, words, &options))
        return NULL;
    Py_BEGIN_ALLOW_THREADS;
    status = takt_ctx_create(&options, &ctx);
    Py_END_ALLOW_THREADS;
    if (status != TAKT_OK)
        return raise_status(status, "a context with %s",
                            status == TAKT_ENOTSUP && options.objective != NULL
                                ? options.objective
                            : options.recording != NULL ? options.recording
                            : options.expert != NULL    ? options.expert
                            : options.pin != NULL       ? options.pin
                                                        : "these options");
    allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    struct context *context = (struct context *)allocate(type, 0);
    if (context != NULL)
        context->kept = PyList_New(0);
    if (context == NULL || context->kept == NULL) {
        takt_ctx_destroy(ctx);
        Py_XDECREF((PyObject *)context);
        return NULL;
    }
    context->ctx = ctx;
    return (PyObject *)context;
}

static void end(struct context *context)
{
    context->is_closed = true;
    if (context->ctx != NULL && context->calls == 0)
        destroy(context);
}

static int visit_kept(PyObject *self, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(((struct context *)self)->kept);
    return 0;
}

static int clear(PyObject *self)
{
    end((struct context *)self);
    return 0;
}

static void drop(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);

    PyObject_GC_UnTrack(self);
    end((struct context *)self);
    Py_CLEAR(((struct context *)self)->kept);
    release(self);
    Py_DECREF(type);
}

/* ---- its own methods ----------------------------------------------------- */

static PyObject *close_context(PyObject *self, PyObject *none)
{
    (void)none;
    end((struct context *)self);
    Py_RETURN_NONE;
}

static PyObject *enter(PyObject *self, PyObject *none)
{
    (void)none;
    if (!((struct context *)self)->is_closed)
        return Py_NewRef(self);
    PyErr_SetString(PyExc_ValueError, "the context is closed");
    return NULL;
}

static PyObject *leave(PyObject *self, PyObject *exception)
{
    (void)exception;
    return close_context(self, NULL);
}

static PyObject *is_closed(PyObject *self, void *none)
{
    (void)none;
    return PyBool_FromLong(((struct context *)self)->is_closed);
}

static PyMethodDef own_methods[] = {
    {"close", close_context, METH_NOARGS,
     "close($self)\n--\n\nEnds the context, and stores what it learned.\n\n"
     "Calls of other threads that are inside finish; later ones raise\n"
     "ValueError. Closing twice does nothing."},
    {"__enter__", enter, METH_NOARGS, NULL},
    {"__exit__", leave, METH_VARARGS, NULL}};

PyObject *context_type(PyMethodDef *const *tables, size_t count)
{
    enum { own = sizeof own_methods / sizeof *own_methods, most = 128 };
    static PyMethodDef all[most];
    static PyGetSetDef properties[] = {
        {"closed", is_closed, NULL, "Whether it was closed.", NULL}, {0}};
    static PyType_Slot slots[] = {{Py_tp_new, make},
                                  {Py_tp_dealloc, drop},
                                  {Py_tp_traverse, visit_kept},
                                  {Py_tp_clear, clear},
                                  {Py_tp_methods, all},
                                  {Py_tp_getset, properties},
                                  {0, NULL}};
    static PyType_Spec spec = {
        .name = "takt._takt.Context",
        .basicsize = sizeof(struct context),
        .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC,
        .slots = slots};
    size_t at = own;

    memcpy(all, own_methods, sizeof own_methods);
    for (size_t i = 0; i < count; i++)
        for (PyMethodDef *row = tables[i]; row->ml_name != NULL; row++)
            if (at < most - 1)
                all[at++] = *row;
    return PyType_FromSpec(&spec);
}
