/* SPDX-License-Identifier: MIT */
/* forms.c - from operands to calls. */
#include "forms.h"

#include <stdarg.h>
#include <string.h>

bool plan_refuse(const struct op_plan *plan, PyObject *exception,
                 const char *format, ...)
{
    va_list values;
    PyObject *text;

    va_start(values, format);
    text = PyUnicode_FromFormatV(format, values);
    va_end(values);
    if (text != NULL)
        PyErr_Format(exception, "takt.%s: %U", plan->function->name, text);
    Py_XDECREF(text);
    return false;
}

/* ---- what several forms need --------------------------------------------- */

static bool need_dense(const struct op_plan *plan, unsigned at)
{
    return operand_is_dense(&plan->in[at]) ||
           plan_refuse(plan, PyExc_ValueError,
                       "%s has gaps between its elements, or another order "
                       "than C's: copy it",
                       plan->given.input_name[at]);
}

static bool need_rank(const struct op_plan *plan, unsigned at, int rank)
{
    return plan->in[at].rank == rank ||
           plan_refuse(plan, PyExc_ValueError, "%s has %d dimensions, not %d",
                       plan->given.input_name[at], plan->in[at].rank, rank);
}

static bool need_shape(const struct op_plan *plan, unsigned at, int rank,
                       const Py_ssize_t *shape)
{
    const struct array_operand *operand = &plan->in[at];

    return operand_has_shape(operand, rank, shape) ||
           plan_refuse(plan, PyExc_ValueError, "%s has shape %s, not %s",
                       plan->given.input_name[at],
                       shape_text(operand->rank, operand->shape).text,
                       shape_text(rank, shape).text);
}

static void set_dims(takt_call *call, unsigned rank, const size_t *dim)
{
    call->shape.rank = rank;
    for (unsigned i = 0; i < rank; i++)
        call->shape.dim[i] = dim[i];
}
#define DIMS(...)                                                \
    sizeof((size_t[]){__VA_ARGS__}) / sizeof(size_t), (size_t[]) \
    {                                                            \
        __VA_ARGS__                                              \
    }

static void set_result(struct op_plan *plan, int rank, const Py_ssize_t *shape)
{
    plan->rank = rank;
    plan->shape = shape;
}

/* Of rank `rank`, with these sizes. */
static void make_result(struct op_plan *plan, int rank, size_t a, size_t b,
                        size_t c, size_t d)
{
    const size_t sizes[] = {a, b, c, d};

    for (int i = 0; i < rank; i++)
        plan->made[i] = (Py_ssize_t)sizes[i];
    set_result(plan, rank, plan->made);
}

static size_t size_at(const struct array_operand *operand, int at)
{
    return (size_t)operand->shape[at];
}

/* The sizes of the call: all dimensions but the last one are rows. */
static bool need_rows(struct op_plan *plan, int least)
{
    const struct array_operand *a = &plan->in[0];
    size_t rows = 1;

    if (a->rank < least)
        return plan_refuse(plan, PyExc_ValueError,
                           "%s has %d dimensions, not %d or more",
                           plan->given.input_name[0], a->rank, least);
    for (int i = 0; i + 1 < a->rank; i++)
        rows *= size_at(a, i);
    set_dims(&plan->call, DIMS(rows, size_at(a, a->rank - 1)));
    return need_dense(plan, 0);
}

/* ---- forms --------------------------------------------------------------- */

static bool plan_map(struct op_plan *plan)
{
    const struct array_operand *a = &plan->in[0];

    for (unsigned i = 0; i < plan->function->op->inputs; i++)
        if (!need_dense(plan, i) ||
            (i > 0 && !need_shape(plan, i, a->rank, a->shape)))
            return false;
    set_dims(&plan->call, DIMS((size_t)operand_count(a)));
    set_result(plan, a->rank, a->shape);
    return true;
}

static bool plan_rows(struct op_plan *plan)
{
    const struct array_operand *a = &plan->in[0];

    if (!need_rows(plan, 1))
        return false;
    for (unsigned i = 1; i < plan->function->inputs; i++)
        if (plan->given.input[i] != NULL &&
            (!need_shape(plan, i, 1, &a->shape[a->rank - 1]) ||
             !need_dense(plan, i)))
            return false;
    set_result(plan, a->rank, a->shape);
    return true;
}

static bool plan_by_rows(struct op_plan *plan)
{
    const struct array_operand *a = &plan->in[0];

    if (!need_rows(plan, 2))
        return false;
    set_result(plan, a->rank - 1, a->shape);
    return true;
}

static bool plan_by_cols(struct op_plan *plan)
{
    const struct array_operand *a = &plan->in[0];

    if (!need_rows(plan, 2))
        return false;
    set_result(plan, 1, &a->shape[a->rank - 1]);
    return true;
}

/* `row` and `col`: which dimension and stride is that of the rows, and of the
 * columns. */
static bool lies_in_rows(const struct array_operand *operand, int row, int col,
                         size_t *ld)
{
    const Py_ssize_t size = (Py_ssize_t)takt_dtype_size(operand->dtype);
    const Py_ssize_t rows = operand->shape[row], cols = operand->shape[col];

    *ld = (size_t)(cols > 0 ? cols : 1);
    if (operand->strides == NULL || rows == 0 || cols == 0)
        return true;
    if (cols > 1 && operand->strides[col] != size)
        return false;
    if (rows > 1)
        *ld = (size_t)(operand->strides[row] / size);
    return rows <= 1 || operand->strides[row] >= cols * size;
}

bool operand_rows(const struct array_operand *operand, size_t *ld)
{
    return lies_in_rows(operand, 0, 1, ld);
}

/* A matrix as it lies in memory: by rows, or (the flag) by columns. */
static bool need_matrix(struct op_plan *plan, unsigned at, unsigned flag)
{
    const struct array_operand *operand = &plan->in[at];
    size_t *ld = &plan->call.ld[at];

    if (!need_rank(plan, at, 2))
        return false;
    if (operand_rows(operand, ld))
        return true;
    if (flag != 0 && lies_in_rows(operand, 1, 0, ld)) {
        plan->call.flags |= flag;
        return true;
    }
    return plan_refuse(plan, PyExc_ValueError,
                       "the rows of %s%s have gaps between their elements: "
                       "copy it",
                       plan->given.input_name[at],
                       flag != 0 ? " and its columns" : "");
}

static bool plan_matrix(struct op_plan *plan)
{
    const struct array_operand *a = &plan->in[0];

    if (!need_matrix(plan, 0, 0))
        return false;
    set_dims(&plan->call, DIMS(size_at(a, 0), size_at(a, 1)));
    make_result(plan, 2, size_at(a, 1), size_at(a, 0), 0, 0);
    plan->out_has_rows = true;
    return true;
}

static bool plan_gemv(struct op_plan *plan)
{
    const struct array_operand *a = &plan->in[0];
    bool is_turned;

    if (!need_matrix(plan, 0, TAKT_TRANS_A) ||
        !need_shape(plan, 1, 1, &a->shape[1]) || !need_dense(plan, 1))
        return false;
    is_turned = (plan->call.flags & TAKT_TRANS_A) != 0;
    set_dims(&plan->call, DIMS(size_at(a, is_turned), size_at(a, !is_turned)));
    set_result(plan, 1, a->shape);
    return true;
}

static bool plan_matmul(struct op_plan *plan)
{
    const struct array_operand *a = &plan->in[0], *b = &plan->in[1];

    if (!need_matrix(plan, 0, TAKT_TRANS_A) ||
        !need_matrix(plan, 1, TAKT_TRANS_B))
        return false;
    if (a->shape[1] != b->shape[0])
        return plan_refuse(plan, PyExc_ValueError,
                           "a has %zd columns, and b %zd rows", a->shape[1],
                           b->shape[0]);
    set_dims(&plan->call, DIMS(size_at(a, 0), size_at(b, 1), size_at(a, 1)));
    make_result(plan, 2, size_at(a, 0), size_at(b, 1), 0, 0);
    plan->out_has_rows = true;
    return true;
}

static bool plan_batched(struct op_plan *plan)
{
    const struct array_operand *a = &plan->in[0], *b = &plan->in[1];

    for (unsigned i = 0; i < 2; i++)
        if (!need_rank(plan, i, 3) || !need_dense(plan, i))
            return false;
    if (a->shape[0] != b->shape[0] || a->shape[2] != b->shape[1])
        return plan_refuse(plan, PyExc_ValueError,
                           "matrices of shape %s cannot be multiplied by "
                           "those of shape %s",
                           shape_text(3, a->shape).text,
                           shape_text(3, b->shape).text);
    set_dims(&plan->call,
             DIMS(size_at(a, 0), size_at(a, 1), size_at(b, 2), size_at(a, 2)));
    make_result(plan, 3, size_at(a, 0), size_at(a, 1), size_at(b, 2), 0);
    return true;
}

/* The size of an image that a window has passed over; 0: it does not fit. */
static size_t passed(size_t size, size_t window, size_t stride, size_t pad)
{
    return window > 0 && stride > 0 && size + 2 * pad >= window
               ? (size + 2 * pad - window) / stride + 1
               : 0;
}

static bool plan_conv2d(struct op_plan *plan)
{
    const struct array_operand *a = &plan->in[0], *f = &plan->in[1];
    const size_t *size = plan->given.size;

    for (unsigned i = 0; i < 2; i++)
        if (!need_rank(plan, i, 4) || !need_dense(plan, i))
            return false;
    if (plan->given.input[2] != NULL &&
        (!need_shape(plan, 2, 1, f->shape) || !need_dense(plan, 2)))
        return false;
    if (size[STRIDE] == 0) /* Takt would take 1, for a larger result */
        return plan_refuse(plan, PyExc_ValueError, "stride is 0");
    if (size[GROUPS] == 0 || size_at(a, 1) % size[GROUPS] != 0 ||
        size_at(a, 1) / size[GROUPS] != size_at(f, 1))
        return plan_refuse(plan, PyExc_ValueError,
                           "%zd channels in %zu groups do not fit filters of "
                           "shape %s",
                           a->shape[1], size[GROUPS],
                           shape_text(4, f->shape).text);
    set_dims(&plan->call,
             DIMS(size_at(a, 0), size_at(a, 1), size_at(a, 2), size_at(a, 3),
                  size_at(f, 0), size_at(f, 2), size_at(f, 3), size[STRIDE],
                  size[PAD], size[GROUPS]));
    make_result(plan, 4, size_at(a, 0), size_at(f, 0),
                passed(size_at(a, 2), size_at(f, 2), size[STRIDE], size[PAD]),
                passed(size_at(a, 3), size_at(f, 3), size[STRIDE], size[PAD]));
    return true;
}

static bool plan_pool2d(struct op_plan *plan)
{
    const struct array_operand *a = &plan->in[0];
    const size_t *size = plan->given.size;
    const size_t stride = size[STRIDE] > 0 ? size[STRIDE] : size[WINDOW];

    if (!need_rank(plan, 0, 4) || !need_dense(plan, 0))
        return false;
    set_dims(&plan->call, DIMS(size_at(a, 0), size_at(a, 1), size_at(a, 2),
                               size_at(a, 3), size[WINDOW], stride, size[PAD]));
    make_result(plan, 4, size_at(a, 0), size_at(a, 1),
                passed(size_at(a, 2), size[WINDOW], stride, size[PAD]),
                passed(size_at(a, 3), size[WINDOW], stride, size[PAD]));
    return true;
}

static bool plan_attention(struct op_plan *plan)
{
    const struct array_operand *q = &plan->in[0], *k = &plan->in[1];
    Py_ssize_t keys[4], scores[2];

    for (unsigned i = 0; i < 3; i++)
        if (!need_rank(plan, i, 4) || !need_dense(plan, i))
            return false;
    memcpy(keys, q->shape, sizeof keys);
    keys[2] = k->shape[2];
    scores[0] = q->shape[2];
    scores[1] = k->shape[2];
    if (!need_shape(plan, 1, 4, keys) || !need_shape(plan, 2, 4, keys))
        return false;
    if (plan->given.input[3] != NULL &&
        (!need_shape(plan, 3, 2, scores) || !need_dense(plan, 3)))
        return false;
    set_dims(&plan->call, DIMS(size_at(q, 0), size_at(q, 1), size_at(q, 2),
                               size_at(k, 2), size_at(q, 3)));
    set_result(plan, 4, q->shape);
    return true;
}

static bool need_square(struct op_plan *plan)
{
    const struct array_operand *a = &plan->in[0];

    return need_matrix(plan, 0, 0) &&
           (a->shape[0] == a->shape[1] ||
            plan_refuse(plan, PyExc_ValueError, "%s has shape %s: not square",
                        plan->given.input_name[0],
                        shape_text(2, a->shape).text));
}

static bool plan_cholesky(struct op_plan *plan)
{
    const struct array_operand *a = &plan->in[0];

    if (!need_square(plan))
        return false;
    set_dims(&plan->call, DIMS(size_at(a, 0), size_at(a, 1)));
    set_result(plan, 2, a->shape);
    plan->out_has_rows = true;
    return true;
}

/* The right side: a vector, or as many of them as it has columns. */
static bool need_right_side(struct op_plan *plan)
{
    const struct array_operand *a = &plan->in[0], *b = &plan->in[1];
    const bool is_vector = b->rank == 1;

    if (is_vector ? !need_shape(plan, 1, 1, a->shape) || !need_dense(plan, 1)
                  : !need_matrix(plan, 1, 0))
        return false;
    if (a->shape[0] != b->shape[0])
        return plan_refuse(plan, PyExc_ValueError,
                           "a has %zd rows, and b %zd rows", a->shape[0],
                           b->shape[0]);
    make_result(plan, b->rank, size_at(a, 1), is_vector ? 1 : size_at(b, 1), 0,
                0);
    plan->out_has_rows = !is_vector;
    return true;
}

static bool plan_solve(struct op_plan *plan)
{
    if (!need_square(plan) || !need_right_side(plan))
        return false;
    set_dims(&plan->call,
             DIMS(size_at(&plan->in[0], 0),
                  plan->out_has_rows ? size_at(&plan->in[1], 1) : 1));
    return true;
}

static bool plan_qr(struct op_plan *plan)
{
    const struct array_operand *a = &plan->in[0];

    if (!need_matrix(plan, 0, 0))
        return false;
    set_dims(&plan->call, DIMS(size_at(a, 0), size_at(a, 1)));
    make_result(plan, 2, size_at(a, 0) + size_at(a, 1), size_at(a, 1), 0, 0);
    plan->out_has_rows = true;
    return true;
}

static bool plan_lstsq(struct op_plan *plan)
{
    const struct array_operand *a = &plan->in[0];

    if (!need_matrix(plan, 0, 0) || !need_right_side(plan))
        return false;
    set_dims(&plan->call,
             DIMS(size_at(a, 0), size_at(a, 1),
                  plan->out_has_rows ? size_at(&plan->in[1], 1) : 1));
    return true;
}

static bool plan_reduce(struct op_plan *plan)
{
    return plan_map(plan);
}

static bool plan_view(struct op_plan *plan)
{
    return need_dense(plan, 0);
}

bool plan_make(struct op_plan *plan)
{
    static bool (*const make[])(struct op_plan *) = {
        [FORM_map] = plan_map,
        [FORM_bias] = plan_rows,
        [FORM_matrix] = plan_matrix,
        [FORM_view] = plan_view,
        [FORM_reduce] = plan_reduce,
        [FORM_position] = plan_reduce,
        [FORM_by_rows] = plan_by_rows,
        [FORM_by_cols] = plan_by_cols,
        [FORM_rows] = plan_rows,
        [FORM_gemv] = plan_gemv,
        [FORM_matmul] = plan_matmul,
        [FORM_batched] = plan_batched,
        [FORM_conv2d] = plan_conv2d,
        [FORM_pool2d] = plan_pool2d,
        [FORM_attention] = plan_attention,
        [FORM_cholesky] = plan_cholesky,
        [FORM_solve] = plan_solve,
        [FORM_qr] = plan_qr,
        [FORM_lstsq] = plan_lstsq};

    return make[plan->function->form](plan);
}
