/* SPDX-License-Identifier: MIT */
/* questions.c - what is asked of a context. */
#include "questions.h"

#include "context.h"
#include "names.h"

/* ---- arguments ----------------------------------------------------------- */

bool read_sizes(PyObject *given, takt_shape *out)
{
    PyObject *sizes =
        PyIndex_Check(given) ? PyTuple_Pack(1, given) : PySequence_Tuple(given);
    const Py_ssize_t rank = sizes == NULL ? 0 : PyTuple_Size(sizes);

    out->rank = (unsigned)rank;
    for (Py_ssize_t i = 0; i < rank && i < TAKT_SHAPE_MAX_RANK; i++) {
        Py_ssize_t size;
        if (!read_size(PyTuple_GetItem(sizes, i), &size))
            break;
        out->dim[i] = (size_t)size;
    }
    Py_XDECREF(sizes);
    if (rank > TAKT_SHAPE_MAX_RANK && !PyErr_Occurred())
        PyErr_Format(PyExc_ValueError, "%zd sizes, of at most %d", rank,
                     TAKT_SHAPE_MAX_RANK);
    return !PyErr_Occurred();
}

/* (op, shape, dtype, policy, situation) */
static bool read_request(takt_ctx *ctx, PyObject *args, takt_request *out)
{
    const char *op, *dtype, *policy;
    PyObject *shape;
    int dtype_number, policy_number;

    *out = (takt_request){.size = sizeof *out};
    if (!PyArg_ParseTuple(args, "sOssI", &op, &shape, &dtype, &policy,
                          &out->situation) ||
        !read_sizes(shape, &out->shape) ||
        (dtype_number = name_number(dtype, dtype_names)) < 0 ||
        (policy_number = name_number(policy, policy_names)) < 0)
        return false;
    out->dtype = (takt_dtype)dtype_number;
    out->policy = (takt_policy)policy_number;
    out->op = context_op(ctx, op);
    return out->op != NULL;
}

static PyObject *refuse(takt_status status, const takt_op *op)
{
    return raise_status(status, "%s takes sizes %s", op->name, op->shape);
}

/* A number, or None where it is negative: not known. */
static PyObject *known(double value)
{
    return value < 0 ? Py_NewRef(Py_None) : PyFloat_FromDouble(value);
}

static const char *text_or_null(const char *text)
{
    return text[0] != '\0' ? text : NULL;
}

/* ---- decisions ----------------------------------------------------------- */

static PyObject *select_expert(PyObject *self, PyObject *args)
{
    takt_decision out = {.size = sizeof out};
    takt_request request;
    PyObject *result = NULL;
    takt_status status;
    takt_ctx *ctx;

    if (!context_enter(self, &ctx))
        return NULL;
    if (read_request(ctx, args, &request)) {
        status = takt_select(ctx, &request, &out);
        result =
            status == TAKT_OK
                ? Py_BuildValue("sszNNnddss", takt_backend_key(out.backend),
                                out.expert, text_or_null(out.runner_up),
                                known(out.predicted_s), known(out.confidence),
                                (Py_ssize_t)out.elements, out.work.bytes,
                                out.work.flops, takt_reason_name(out.reason),
                                takt_policy_name(request.policy))
                : refuse(status, request.op);
    }
    context_leave(self);
    return result;
}

static PyObject *estimate(const takt_estimate *of)
{
    return Py_BuildValue(
        "ssddddddddOOO", of->expert, takt_backend_key(of->backend),
        of->predicted_s, of->low_s, of->high_s, of->transfer_s, of->queue_s,
        of->switch_s, of->samples, of->first_s,
        of->is_chosen ? Py_True : Py_False, of->is_suspect ? Py_True : Py_False,
        of->is_asleep ? Py_True : Py_False);
}

/* Appends, and takes the reference. */
static bool append(PyObject *list, PyObject *item)
{
    const bool is_done = item != NULL && PyList_Append(list, item) == 0;

    Py_XDECREF(item);
    return is_done;
}

static PyObject *explain_request(takt_ctx *ctx, const takt_request *request)
{
    enum { most = 256 };
    takt_estimate *out = PyMem_Calloc(most, sizeof *out);
    PyObject *list = NULL;
    size_t count;

    if (out == NULL)
        return PyErr_NoMemory();
    out[0].size = sizeof out[0];
    const takt_status status = takt_explain(ctx, request, out, most, &count);
    if (status == TAKT_OK)
        list = PyList_New(0);
    else
        refuse(status, request->op);
    for (size_t i = 0; list != NULL && i < count && i < most; i++)
        if (!append(list, estimate(&out[i])))
            Py_CLEAR(list);
    PyMem_Free(out);
    return list;
}

static PyObject *explain(PyObject *self, PyObject *args)
{
    takt_request request;
    PyObject *result = NULL;
    takt_ctx *ctx;

    if (!context_enter(self, &ctx))
        return NULL;
    if (read_request(ctx, args, &request))
        result = explain_request(ctx, &request);
    context_leave(self);
    return result;
}

/* ---- what was learned ---------------------------------------------------- */

struct history_reading {
    const takt_op *op; /* NULL: all */
    PyObject *list;
};

static int add_row(void *self, const takt_history_row *row)
{
    const struct history_reading *reading = self;

    if (reading->op != NULL && reading->op != row->op)
        return 0;
    return !append(reading->list,
                   Py_BuildValue("sssIssddddddddd", row->op->name,
                                 takt_dtype_name(row->dtype), row->layout,
                                 row->situation, row->expert,
                                 takt_backend_key(row->backend), row->work_low,
                                 row->work_high, row->work.bytes,
                                 row->work.flops, row->samples, row->mean_s,
                                 row->spread, row->calls, row->seconds));
}

static PyObject *history(PyObject *self, PyObject *args)
{
    struct history_reading reading = {NULL, NULL};
    const char *op;
    takt_ctx *ctx;

    if (!PyArg_ParseTuple(args, "z", &op) || !context_enter(self, &ctx))
        return NULL;
    if (op == NULL || (reading.op = context_op(ctx, op)) != NULL) {
        reading.list = PyList_New(0);
        const takt_status status = takt_history_read(ctx, add_row, &reading);
        if (status != TAKT_OK || PyErr_Occurred())
            Py_CLEAR(reading.list);
        if (status != TAKT_OK)
            raise_status(status, "history");
    }
    context_leave(self);
    return reading.list;
}

static PyObject *forget(PyObject *self, PyObject *args)
{
    takt_status status = TAKT_ENOENT;
    const takt_op *op = NULL;
    const char *name;
    takt_ctx *ctx;

    if (!PyArg_ParseTuple(args, "z", &name) || !context_enter(self, &ctx))
        return NULL;
    if (name == NULL || (op = context_op(ctx, name)) != NULL) {
        status = takt_history_reset(ctx, op);
        if (status != TAKT_OK)
            raise_status(status, "what was learned cannot be forgotten");
    }
    context_leave(self);
    return status == TAKT_OK ? Py_NewRef(Py_None) : NULL;
}

static PyObject *flush(PyObject *self, PyObject *none)
{
    takt_status status;
    takt_ctx *ctx;

    (void)none;
    if (!context_enter(self, &ctx))
        return NULL;
    Py_BEGIN_ALLOW_THREADS;
    status = takt_ctx_flush(ctx);
    Py_END_ALLOW_THREADS;
    context_leave(self);
    return status == TAKT_OK ? Py_NewRef(Py_None)
                             : raise_status(status, "the store");
}

/* ---- what there is ------------------------------------------------------- */

static PyObject *experts_of(takt_ctx *ctx)
{
    PyObject *list = PyList_New(0);
    const char *name;

    for (size_t i = 0;
         list != NULL && (name = takt_ctx_expert(ctx, i, NULL)) != NULL; i++)
        if (!append(list, PyUnicode_FromString(name)))
            Py_CLEAR(list);
    return list;
}

static PyObject *gpus_of(const takt_machine *machine)
{
    PyObject *list = PyList_New(0);

    for (unsigned i = 0; list != NULL && i < machine->gpu_count; i++)
        if (!append(list, PyUnicode_FromString(machine->gpu[i].name)))
            Py_CLEAR(list);
    return list;
}

static PyObject *describe(takt_ctx *ctx, const takt_machine *of)
{
    return Py_BuildValue(
        "sssIIIdIsnnnKNNOss", of->architecture, of->cpu_vendor, of->cpu_name,
        of->cores, of->logical_cpus, of->allowed_cpus, of->quota_cpus,
        of->threads, takt_isa_name(takt_machine_best_isa(of)),
        (Py_ssize_t)of->l1d_bytes, (Py_ssize_t)of->l2_bytes,
        (Py_ssize_t)of->l3_bytes, (unsigned long long)of->memory_bytes,
        gpus_of(of), experts_of(ctx), of->is_virtual ? Py_True : Py_False,
        of->hw_fingerprint, of->sw_fingerprint);
}

static PyObject *machine(PyObject *self, PyObject *none)
{
    PyObject *result = NULL;
    takt_ctx *ctx;

    (void)none;
    if (!context_enter(self, &ctx))
        return NULL;
    const takt_machine *of = takt_ctx_machine(ctx);
    result = of != NULL ? describe(ctx, of)
                        : raise_status(TAKT_ENOMEM, "there is no context");
    context_leave(self);
    return result;
}

static PyObject *unknown(const char *name)
{
    char near[128];

    return takt_framework_nearest(name, near, sizeof near)
               ? raise_status(TAKT_ENOENT, "no operation '%s'; '%s' is near",
                              name, near)
               : raise_status(TAKT_ENOENT,
                              "no operation '%s'; names are such as "
                              "numpy.add, sklearn.KMeans, torch.nn.Linear",
                              name);
}

static PyObject *recommend(PyObject *self, PyObject *args)
{
    takt_decision decision = {.size = sizeof decision};
    const takt_framework_op *row;
    Py_ssize_t elements;
    const char *name;
    takt_ctx *ctx;

    if (!PyArg_ParseTuple(args, "sO&", &name, read_size, &elements))
        return NULL;
    if (takt_framework_find(name, &row) != TAKT_OK)
        return unknown(name);
    if (!context_enter(self, &ctx))
        return NULL;
    const takt_request request = {
        .size = sizeof request,
        .policy = TAKT_POLICY_MOE,
        .name = row->name,
        .complexity = row->complexity,
        .shape = {.rank = 1, .dim = {(size_t)elements}}};
    const takt_status status = takt_select(ctx, &request, &decision);
    context_leave(self);
    if (status != TAKT_OK)
        return raise_status(status, "%s", name);
    return Py_BuildValue("ssssszzs", takt_framework_name(row->framework),
                         row->name, takt_complexity_name(row->complexity),
                         takt_backend_key(decision.backend), decision.expert,
                         row->op, row->call, takt_reason_name(decision.reason));
}

static PyObject *aliases_of(const takt_op *of)
{
    PyObject *list = PyList_New(0);
    const takt_op *op;
    const char *alias;

    for (size_t i = 0; list != NULL; i++) {
        alias = takt_op_alias_at(i, &op);
        if (alias == NULL)
            break;
        if (op == of && !append(list, PyUnicode_FromString(alias)))
            Py_CLEAR(list);
    }
    return list;
}

static PyObject *ops(PyObject *self, PyObject *none)
{
    PyObject *list = PyList_New(0);

    (void)self;
    (void)none;
    for (size_t i = 0; list != NULL && i < takt_op_count(); i++) {
        const takt_op *op = takt_op_at(i);
        const bool has_f64 = (op->dtypes >> TAKT_F64 & 1) != 0;
        PyObject *dtypes = has_f64 ? Py_BuildValue("(ss)", "f32", "f64")
                                   : Py_BuildValue("(s)", "f32");
        if (!append(list,
                    Py_BuildValue("ssssNN", op->name, op->summary, op->shape,
                                  takt_complexity_name(op->complexity), dtypes,
                                  aliases_of(op))))
            Py_CLEAR(list);
    }
    return list;
}

PyMethodDef question_methods[] = {
    {"_select", select_expert, METH_VARARGS, NULL},
    {"_explain", explain, METH_VARARGS, NULL},
    {"_history", history, METH_VARARGS, NULL},
    {"_forget", forget, METH_VARARGS, NULL},
    {"_flush", flush, METH_NOARGS, NULL},
    {"_machine", machine, METH_NOARGS, NULL},
    {"_recommend", recommend, METH_VARARGS, NULL},
    {"_ops", ops, METH_NOARGS, NULL},
    {0}};
