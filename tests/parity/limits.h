/* SPDX-License-Identifier: MIT */
/*
 * limits.h - what takt/ops.h says of the sizes of a call, in integers that are
 * wide enough: whether it is refused, and how long its operands are.
 */
#pragma once

#include <stdint.h>

#include "base/size.h"
#include "op/operands.h"
#include "takt/takt.h"

__extension__ typedef unsigned __int128 wide;

static const wide most_elements = PTRDIFF_MAX / sizeof(double);
static const wide many = (wide)1 << 120; /* stands for all above it */

static inline enum takt_form form_of(const takt_call *call)
{
    return takt__op_entry(call->op)->form;
}

struct expected {
    takt_status status;
    wide of[TAKT_OPERANDS]; /* elements */
};

static inline wide times(wide a, wide b)
{
    return b != 0 && a > many / b ? many : a * b;
}

static inline wide at_least_one(wide a)
{
    return a == 0 ? 1 : a;
}

/* Counts an operand; a size of 0 must fit as if it were 1. */
static inline void count(struct expected *out, unsigned operand, size_t a,
                         size_t b, size_t c, size_t d)
{
    const wide all = times(times(at_least_one(a), at_least_one(b)),
                           times(at_least_one(c), at_least_one(d)));

    if (all > most_elements)
        out->status = TAKT_ESHAPE;
    out->of[operand] = a == 0 || b == 0 || c == 0 || d == 0 ? 0 : all;
}

/* The same of rows that are `ld` apart; 0: without gaps. */
static inline void count_rows(struct expected *out, unsigned operand,
                              size_t rows, size_t cols, size_t ld)
{
    const wide apart = ld == 0 ? cols : ld;

    if (apart < cols ||
        times(at_least_one(rows), at_least_one(apart)) > most_elements)
        out->status = TAKT_ESHAPE;
    out->of[operand] =
        rows == 0 || cols == 0 ? 0 : times(rows - 1, apart) + cols;
}

struct windows {
    wide stride, pad;
};

static inline wide steps(wide size, wide window, struct windows w)
{
    return (size + 2 * w.pad - window) / w.stride + 1;
}

static inline bool windows_fit(size_t high, size_t wide_, size_t rows,
                               size_t cols, struct windows w)
{
    return rows > 0 && cols > 0 && w.pad < rows && w.pad < cols &&
           rows <= high + 2 * w.pad && cols <= wide_ + 2 * w.pad &&
           times(high + 2 * w.pad + w.stride, wide_ + 2 * w.pad + w.stride) <=
               most_elements;
}

static inline void expect_conv2d(const takt_call *call, struct expected *out)
{
    const size_t *d = call->shape.dim;
    const size_t groups = d[9] == 0 ? 1 : d[9];
    const struct windows w = {at_least_one(d[7]), d[8]};

    if (d[1] % groups != 0 || d[4] % groups != 0 ||
        !windows_fit(d[2], d[3], d[5], d[6], w)) {
        out->status = TAKT_ESHAPE;
        return;
    }
    count(out, 0, d[0], d[1], d[2], d[3]);
    count(out, 1, d[4], d[1] / groups, d[5], d[6]);
    out->of[2] = call->in[2] != NULL ? d[4] : 0;
    count(out, TAKT_OUT, d[0], d[4], (size_t)steps(d[2], d[5], w),
          (size_t)steps(d[3], d[6], w));
}

static inline void expect_pooling(const takt_call *call, struct expected *out)
{
    const size_t *d = call->shape.dim;
    const struct windows w = {d[5] == 0 ? d[4] : d[5], d[6]};

    if (!windows_fit(d[2], d[3], d[4], d[4], w)) {
        out->status = TAKT_ESHAPE;
        return;
    }
    count(out, 0, d[0], d[1], d[2], d[3]);
    count(out, TAKT_OUT, d[0], d[1], (size_t)steps(d[2], d[4], w),
          (size_t)steps(d[3], d[4], w));
}

static inline void expect_attention(const takt_call *call, struct expected *out)
{
    const size_t *d = call->shape.dim;

    count(out, 0, d[0], d[1], d[2], d[4]);
    count(out, 1, d[0], d[1], d[3], d[4]);
    count(out, 2, d[0], d[1], d[3], d[4]);
    if (call->in[3] != NULL)
        count(out, 3, d[2], d[3], 1, 1);
    out->of[TAKT_OUT] = out->of[0];
}

static inline void expect_matmul(const takt_call *call, struct expected *out)
{
    const size_t m = call->shape.dim[0], n = call->shape.dim[1];
    const size_t k = call->shape.dim[2];
    const bool a = (call->flags & TAKT_TRANS_A) != 0;
    const bool b = (call->flags & TAKT_TRANS_B) != 0;

    count_rows(out, 0, a ? k : m, a ? m : k, call->ld[0]);
    count_rows(out, 1, b ? n : k, b ? k : n, call->ld[1]);
    count_rows(out, TAKT_OUT, m, n, call->ld[2]);
}

/* Means and maxima of nothing are refused. */
static inline void expect_axes(const takt_call *call, struct expected *out)
{
    const size_t *d = call->shape.dim;
    const enum takt_op_id op = takt__op_id(call->op);

    count(out, 0, d[0], d[1], 1, 1);
    if (form_of(call) == TAKT_FORM_bias) {
        count(out, 1, d[1], 1, 1, 1);
        out->of[TAKT_OUT] = out->of[0];
        return;
    }
    const size_t over = form_of(call) == TAKT_FORM_by_rows ? d[1] : d[0];
    count(out, TAKT_OUT, form_of(call) == TAKT_FORM_by_rows ? d[0] : d[1], 1, 1,
          1);
    if (over == 0 && op != TAKT_OP_row_sum && op != TAKT_OP_col_sum)
        out->status = TAKT_ESHAPE;
}

static inline void expect_rest(const takt_call *call, struct expected *out)
{
    const size_t *d = call->shape.dim;
    const bool trans = (call->flags & TAKT_TRANS_A) != 0;

    switch (form_of(call)) {
    case TAKT_FORM_batched:
        count(out, 0, d[0], d[1], d[3], 1);
        count(out, 1, d[0], d[3], d[2], 1);
        count(out, TAKT_OUT, d[0], d[1], d[2], 1);
        break;
    case TAKT_FORM_gemv:
        count_rows(out, 0, d[0], d[1], call->ld[0]);
        count(out, 1, trans ? d[0] : d[1], 1, 1, 1);
        count(out, TAKT_OUT, trans ? d[1] : d[0], 1, 1, 1);
        break;
    case TAKT_FORM_cholesky:
        count_rows(out, 0, d[0], d[1], call->ld[0]);
        count_rows(out, TAKT_OUT, d[0], d[1], call->ld[2]);
        out->status = d[0] == d[1] ? out->status : TAKT_ESHAPE;
        break;
    case TAKT_FORM_qr:
        count_rows(out, 0, d[0], d[1], call->ld[0]);
        count_rows(out, TAKT_OUT, takt__size_add(d[0], d[1]), d[1],
                   call->ld[2]);
        out->status = d[0] >= d[1] ? out->status : TAKT_ESHAPE;
        break;
    case TAKT_FORM_lstsq:
        count_rows(out, 0, d[0], d[1], call->ld[0]);
        count_rows(out, 1, d[0], d[2], call->ld[1]);
        count_rows(out, TAKT_OUT, d[1], d[2], call->ld[2]);
        out->status = d[0] >= d[1] ? out->status : TAKT_ESHAPE;
        break;
    case TAKT_FORM_solve:
        count_rows(out, 0, d[0], d[0], call->ld[0]);
        count_rows(out, 1, d[0], d[1], call->ld[1]);
        count_rows(out, TAKT_OUT, d[0], d[1], call->ld[2]);
        break;
    case TAKT_FORM_matrix:
        count_rows(out, 0, d[0], d[1], call->ld[0]);
        count_rows(out, TAKT_OUT, d[1], d[0], call->ld[2]);
        break;
    case TAKT_FORM_bias:
    case TAKT_FORM_by_rows:
    case TAKT_FORM_by_cols:
        expect_axes(call, out);
        break;
    case TAKT_FORM_rows:
        count(out, 0, d[0], d[1], 1, 1);
        out->of[1] = call->in[1] != NULL ? d[1] : 0;
        out->of[2] = call->in[2] != NULL ? d[1] : 0;
        out->of[TAKT_OUT] = out->of[0];
        break;
    default:
        for (unsigned i = 0; i < call->op->inputs; i++)
            count(out, i, d[0], 1, 1, 1);
        out->of[TAKT_OUT] = form_of(call) == TAKT_FORM_map ? d[0] : 1;
        break;
    }
}

static inline struct expected expect(const takt_call *call)
{
    struct expected out = {.status = TAKT_OK};

    switch (form_of(call)) {
    case TAKT_FORM_conv2d:
        expect_conv2d(call, &out);
        break;
    case TAKT_FORM_pool2d:
        expect_pooling(call, &out);
        break;
    case TAKT_FORM_attention:
        expect_attention(call, &out);
        break;
    case TAKT_FORM_matmul:
        expect_matmul(call, &out);
        break;
    default:
        expect_rest(call, &out);
        break;
    }
    return out;
}
