/* SPDX-License-Identifier: MIT */
/* run.c - runs the function of an op. */
#include "run.h"

#include "context.h"
#include "forms.h"
#include "numpy_array.h"
#include "view.h"

/* ---- operands ------------------------------------------------------------ */

static void release(struct op_plan *plan)
{
    for (unsigned i = 0; i < MOST_INPUTS; i++)
        if ((plan->operands >> i & 1) != 0)
            operand_release(&plan->in[i]);
}

static bool check_dtype(const struct op_plan *plan,
                        const struct array_operand *operand, const char *name)
{
    const takt_dtype first = plan->in[0].dtype;

    if (operand->dtype != first)
        return plan_refuse(plan, PyExc_TypeError, "%s is %s, and %s is %s",
                           name, takt_dtype_name(operand->dtype),
                           plan->given.input_name[0], takt_dtype_name(first));
    return (plan->function->op->dtypes >> first & 1) != 0 ||
           plan_refuse(plan, PyExc_TypeError, "there is no code for %s",
                       takt_dtype_name(first));
}

static bool read_inputs(struct op_plan *plan)
{
    const struct arguments *given = &plan->given;

    for (unsigned i = 0; i < plan->function->inputs; i++) {
        if (given->input[i] == NULL)
            continue;
        if (!operand_read(&plan->in[i], given->input[i], plan->function->name,
                          given->input_name[i]))
            return false;
        plan->operands |= 1u << i;
        if (!check_dtype(plan, &plan->in[i], given->input_name[i]))
            return false;
        plan->call.in[i] = plan->in[i].data;
    }
    return true;
}

static void begin_call(struct op_plan *plan)
{
    plan->call = (takt_call){.size = sizeof plan->call,
                             .op = plan->function->op,
                             .alpha = plan->given.real[ALPHA],
                             .beta = plan->given.real[BETA],
                             .flags = plan->given.flags};
}

/* ---- the output ---------------------------------------------------------- */

static bool check_out(struct op_plan *plan, const struct array_operand *out)
{
    size_t *ld = &plan->call.ld[2];

    if (!out->is_writable)
        return plan_refuse(plan, PyExc_ValueError, "out is read-only");
    if (!check_dtype(plan, out, "out"))
        return false;
    if (!operand_has_shape(out, plan->rank, plan->shape))
        return plan_refuse(plan, PyExc_ValueError, "out has shape %s, not %s",
                           shape_text(out->rank, out->shape).text,
                           shape_text(plan->rank, plan->shape).text);
    if (plan->out_has_rows ? operand_rows(out, ld) : operand_is_dense(out))
        return true;
    return plan_refuse(plan, PyExc_ValueError,
                       "out has gaps between its elements, or another order "
                       "than C's");
}

/* What overlaps the output, for a message. */
static const char *overlapping(const struct op_plan *plan,
                               const struct array_operand *out)
{
    const char *first, *end, *out_first, *out_end;

    operand_extent(out, &out_first, &out_end);
    for (unsigned i = 0; i < MOST_INPUTS; i++) {
        if ((plan->operands >> i & 1) == 0)
            continue;
        operand_extent(&plan->in[i], &first, &end);
        if (first < out_end && out_first < end && plan->in[i].data != NULL)
            return plan->given.input_name[i];
    }
    return NULL;
}

static bool succeeded(const struct op_plan *plan, takt_status status,
                      const struct array_operand *out)
{
    const char *name;

    if (PyErr_Occurred()) /* in an expert that is written in Python */
        return false;
    if (status == TAKT_OK)
        return true;
    name = status == TAKT_EINVAL && out != NULL ? overlapping(plan, out) : NULL;
    if (name != NULL)
        return plan_refuse(
            plan, PyExc_ValueError,
            "out overlaps %s, and must be apart from it%s", name,
            plan->function->form == FORM_map ? " or the same array" : "");
    raise_status(status, "takt.%s", plan->function->name);
    return false;
}

/* ---- running ------------------------------------------------------------- */

static double steps(const takt_shape *shape)
{
    double product = 1;

    for (unsigned i = 0; i < shape->rank; i++)
        product *= (double)shape->dim[i];
    return product;
}

static takt_status perform(takt_ctx *ctx, const takt_call *call)
{
    takt_status status;

    if (steps(&call->shape) < LEAST_RELEASED)
        return takt_run(ctx, call, NULL);
    Py_BEGIN_ALLOW_THREADS;
    status = takt_run(ctx, call, NULL);
    Py_END_ALLOW_THREADS;
    return status;
}

static PyObject *run_into(takt_ctx *ctx, struct op_plan *plan, PyObject *object)
{
    PyObject *result = NULL;
    struct array_operand out;

    if (!operand_read(&out, object, plan->function->name, "out"))
        return NULL;
    plan->call.out = out.data;
    if (check_out(plan, &out) &&
        succeeded(plan, perform(ctx, &plan->call), &out))
        result = Py_NewRef(object);
    operand_release(&out);
    return result;
}

/* Into a new array, of NumPy's if that is imported. */
static PyObject *run_new(takt_ctx *ctx, struct op_plan *plan)
{
    const takt_dtype dtype = plan->call.dtype;
    PyObject *result;
    struct array_operand out;

    if (plan->function->has_beta && plan->call.beta != 0) {
        plan_refuse(plan, PyExc_ValueError, "beta needs an out to start from");
        return NULL;
    }
    if (plan->has_numpy) {
        result = numpy_array_new(dtype, plan->rank, plan->shape);
        if (result == NULL || !numpy_array_read(&out, result, "", ""))
            return NULL;
        plan->call.out = out.data;
    } else {
        result = view_new(dtype, plan->rank, plan->shape, &plan->call.out);
        if (result == NULL)
            return NULL;
    }
    if (plan->out_has_rows)
        plan->call.ld[2] = (size_t)(plan->shape[1] > 0 ? plan->shape[1] : 1);
    if (succeeded(plan, perform(ctx, &plan->call), NULL))
        return result;
    Py_DECREF(result);
    return NULL;
}

/* Two matrices of as many columns that lie in one, `rows` of them first. */
static PyObject *split(const struct op_plan *plan, PyObject *both, size_t rows)
{
    const Py_ssize_t cols = plan->shape[1];
    const Py_ssize_t first[] = {(Py_ssize_t)rows, cols};
    const Py_ssize_t rest[] = {plan->shape[0] - first[0], cols};
    const size_t size = takt_dtype_size(plan->call.dtype);
    struct view_memory memory = {.data = plan->call.out,
                                 .dtype = plan->call.dtype,
                                 .rank = 2,
                                 .shape = first,
                                 .owner = both};
    PyObject *part[2] = {NULL, NULL}, *pair = NULL;

    for (int i = 0; i < 2; i++) {
        PyObject *view = view_of(&memory);
        part[i] = view == NULL ? NULL : view_show(view);
        Py_XDECREF(view);
        memory.data = (char *)plan->call.out + rows * (size_t)cols * size;
        memory.shape = rest;
    }
    if (part[0] != NULL && part[1] != NULL)
        pair = PyTuple_Pack(2, part[0], part[1]);
    Py_XDECREF(part[0]);
    Py_XDECREF(part[1]);
    return pair;
}

static PyObject *run_pair(takt_ctx *ctx, struct op_plan *plan)
{
    PyObject *both = run_new(ctx, plan);
    PyObject *pair =
        both == NULL ? NULL : split(plan, both, plan->call.shape.dim[0]);

    Py_XDECREF(both);
    return pair;
}

/* One number. */
static PyObject *run_reduction(takt_ctx *ctx, struct op_plan *plan)
{
    union {
        float f32;
        double f64;
        size_t position;
    } result;

    plan->call.out = &result;
    if (!succeeded(plan, perform(ctx, &plan->call), NULL))
        return NULL;
    if (plan->function->form == FORM_position)
        return PyLong_FromSize_t(result.position);
    return PyFloat_FromDouble(plan->call.dtype == TAKT_F64 ? result.f64
                                                           : result.f32);
}

/* The second operand is the output. */
static PyObject *run_in_place(takt_ctx *ctx, struct op_plan *plan)
{
    if (!plan->in[1].is_writable) {
        plan_refuse(plan, PyExc_ValueError, "y is read-only");
        return NULL;
    }
    plan->call.out = plan->in[1].data;
    plan->operands ^= 2; /* y does not overlap itself */
    const bool is_done =
        succeeded(plan, perform(ctx, &plan->call), &plan->in[1]);
    plan->operands ^= 2;
    return is_done ? Py_NewRef(plan->given.input[1]) : NULL;
}

/* ---- reshape ------------------------------------------------------------- */

static PyObject *reshape(struct op_plan *plan)
{
    struct array_operand *a = &plan->in[0];
    Py_ssize_t shape[MOST_DIMENSIONS];
    const int rank = (int)plan->given.shape.rank;

    for (int i = 0; i < rank; i++)
        shape[i] = (Py_ssize_t)plan->given.shape.dim[i];
    if (count_elements(rank, shape) != operand_count(a)) {
        plan_refuse(plan, PyExc_ValueError,
                    "%zd elements do not have the shape %s", operand_count(a),
                    shape_text(rank, shape).text);
        return NULL;
    }
    PyObject *owner = operand_owner(a, plan->given.input[0]);
    PyObject *view =
        owner == NULL
            ? NULL
            : view_of(&(struct view_memory){.data = a->data,
                                            .dtype = a->dtype,
                                            .rank = rank,
                                            .shape = shape,
                                            .is_read_only = !a->is_writable,
                                            .owner = owner});
    PyObject *shown = view == NULL ? NULL : view_show(view);
    Py_XDECREF(owner);
    Py_XDECREF(view);
    return shown;
}

/* ---- all of them --------------------------------------------------------- */

static PyObject *run_plan(takt_ctx *ctx, struct op_plan *plan)
{
    const struct function *function = plan->function;

    plan->call.dtype = plan->in[0].dtype;
    if (!plan_make(plan))
        return NULL;
    switch (function->form) {
    case FORM_view:
        return reshape(plan);
    case FORM_reduce:
    case FORM_position:
        return run_reduction(ctx, plan);
    case FORM_qr:
        return run_pair(ctx, plan);
    default:
        break;
    }
    if (function->parameter[function->count - 1].kind != OUT)
        return run_in_place(ctx, plan);
    return plan->given.out != NULL ? run_into(ctx, plan, plan->given.out)
                                   : run_new(ctx, plan);
}

PyObject *run_function(PyObject *self, const struct function *function,
                       PyObject *const *given, Py_ssize_t count,
                       PyObject *names)
{
    PyObject *result = NULL;
    struct op_plan plan;
    takt_ctx *ctx;

    plan.function = function;
    plan.operands = 0;
    plan.out_has_rows = false;
    if (!arguments_read(&plan.given, function, given, count, names) ||
        !context_enter(self, &ctx))
        return NULL;
    plan.has_numpy = numpy_is_there();
    begin_call(&plan);
    if (read_inputs(&plan))
        result = run_plan(ctx, &plan);
    release(&plan);
    context_leave(self);
    return result;
}
