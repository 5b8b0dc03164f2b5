/* SPDX-License-Identifier: MIT */
/* call_operand.c - from calls to operands. */
#include "forms.h"

/* Sizes of an operand, up to four. */
struct sizes {
    int rank;
    size_t of[4];
};
#define SIZES(...)                                        \
    (struct sizes)                                        \
    {                                                     \
        sizeof((size_t[]){__VA_ARGS__}) / sizeof(size_t), \
        {                                                 \
            __VA_ARGS__                                   \
        }                                                 \
    }

enum { RESULT = MOST_INPUTS };

static size_t dim(const takt_call *call, unsigned at, size_t otherwise)
{
    return at < call->shape.rank ? call->shape.dim[at] : otherwise;
}

/* A, a right side, and what is found for it. */
static struct sizes of_system(enum form form, const takt_call *call,
                              unsigned at)
{
    const size_t *d = call->shape.dim;
    const bool is_oblong = form == FORM_lstsq;
    const size_t rows = d[0], cols = is_oblong ? d[1] : d[0];
    const size_t right = form == FORM_cholesky ? d[0] : d[is_oblong ? 2 : 1];

    if (form == FORM_qr)
        return SIZES(at == RESULT ? d[0] + d[1] : d[0], d[1]);
    return at == 0        ? SIZES(rows, cols)
           : at == RESULT ? SIZES(cols, right)
                          : SIZES(rows, right);
}

static struct sizes by_form_2(enum form form, const takt_call *call,
                              unsigned at)
{
    const size_t *d = call->shape.dim;
    const bool is_turned = (call->flags & TAKT_TRANS_A) != 0;

    switch (form) {
    case FORM_by_rows:
        return at == RESULT ? SIZES(d[0]) : SIZES(d[0], d[1]);
    case FORM_by_cols:
        return at == RESULT ? SIZES(d[1]) : SIZES(d[0], d[1]);
    case FORM_matrix:
        return at == RESULT ? SIZES(d[1], d[0]) : SIZES(d[0], d[1]);
    case FORM_gemv:
        return at == 0   ? SIZES(d[is_turned], d[!is_turned])
               : at == 1 ? SIZES(d[!is_turned])
                         : SIZES(d[is_turned]);
    case FORM_cholesky:
    case FORM_solve:
    case FORM_qr:
    case FORM_lstsq:
        return of_system(form, call, at);
    default: /* rows, with vectors on each */
        return at == 0 || at == RESULT ? SIZES(d[0], d[1]) : SIZES(d[1]);
    }
}

static struct sizes of_conv2d(const takt_call *call, unsigned at)
{
    const size_t *d = call->shape.dim;
    const size_t stride = dim(call, 7, 1), pad = dim(call, 8, 0);

    switch (at) {
    case 0:
        return SIZES(d[0], d[1], d[2], d[3]);
    case 1:
        return SIZES(d[4], d[1] / dim(call, 9, 1), d[5], d[6]);
    case RESULT:
        return SIZES(d[0], d[4], (d[2] + 2 * pad - d[5]) / stride + 1,
                     (d[3] + 2 * pad - d[6]) / stride + 1);
    default:
        return SIZES(d[4]);
    }
}

static struct sizes of_pool2d(const takt_call *call, unsigned at)
{
    const size_t *d = call->shape.dim;
    const size_t stride = dim(call, 5, d[4]), pad = dim(call, 6, 0);

    return at == 0 ? SIZES(d[0], d[1], d[2], d[3])
                   : SIZES(d[0], d[1], (d[2] + 2 * pad - d[4]) / stride + 1,
                           (d[3] + 2 * pad - d[4]) / stride + 1);
}

static struct sizes by_form(enum form form, const takt_call *call, unsigned at)
{
    const size_t *d = call->shape.dim;

    switch (form) {
    case FORM_map:
        return SIZES(d[0]);
    case FORM_reduce:
        return SIZES(at == RESULT ? 1 : d[0]);
    case FORM_matmul:
        return at == 0   ? SIZES(d[0], d[2])
               : at == 1 ? SIZES(d[2], d[1])
                         : SIZES(d[0], d[1]);
    case FORM_batched:
        return at == 0   ? SIZES(d[0], d[1], d[3])
               : at == 1 ? SIZES(d[0], d[3], d[2])
                         : SIZES(d[0], d[1], d[2]);
    case FORM_conv2d:
        return of_conv2d(call, at);
    case FORM_pool2d:
        return of_pool2d(call, at);
    case FORM_attention:
        return at == 3 ? SIZES(d[2], d[3])
                       : SIZES(d[0], d[1],
                               at == 0 || at == RESULT ? d[2] : d[3], d[4]);
    default:
        return by_form_2(form, call, at);
    }
}

/* The distance between rows, and whether they are columns to the expert. */
static size_t rows_apart(enum form form, const takt_call *call, unsigned at,
                         bool *is_turned)
{
    const bool is_product = form == FORM_matmul || form == FORM_gemv;

    *is_turned = is_product && at < 2 &&
                 (call->flags & (at == 0 ? TAKT_TRANS_A : TAKT_TRANS_B)) != 0;
    if (form == FORM_matmul || form == FORM_solve || form == FORM_lstsq)
        return call->ld[at == RESULT ? 2 : at];
    if (form == FORM_matrix || form == FORM_cholesky || form == FORM_qr)
        return call->ld[at == RESULT ? 2 : 0];
    return form == FORM_gemv && at == 0 ? call->ld[0] : 0;
}

void call_operand(const takt_call *call, enum form form, unsigned at,
                  bool is_out, struct call_operand *out)
{
    const unsigned which = is_out ? (unsigned)RESULT : at;
    const struct sizes sizes = by_form(form, call, which);
    Py_ssize_t step = (Py_ssize_t)takt_dtype_size(call->dtype);
    bool is_turned;
    const Py_ssize_t apart =
        (Py_ssize_t)rows_apart(form, call, which, &is_turned) * step;

    out->rank = sizes.rank;
    for (int i = sizes.rank - 1; i >= 0; i--) {
        out->shape[i] = (Py_ssize_t)sizes.of[i];
        out->strides[i] = step;
        step *= out->shape[i];
    }
    if (apart > 0) {
        out->strides[0] = apart;
        out->strides[1] = (Py_ssize_t)takt_dtype_size(call->dtype);
    }
    if (apart > 0 && is_turned) {
        out->strides[1] = apart;
        out->strides[0] = (Py_ssize_t)takt_dtype_size(call->dtype);
    }
}
