/* SPDX-License-Identifier: MIT */
/*
 * form.h - how the sizes of an op are read, and what work they mean.
 *
 * A form is what ops of one kind share: the order of their sizes, which of
 * them are optional, how many elements the largest operand has, and the bytes
 * and operations of a call. `add` and `exp` differ in a number; they have the
 * same form.
 */
#ifndef TAKT_OP_FORM_H
#define TAKT_OP_FORM_H

#include <stdbool.h>

#include "takt/op.h"

enum takt_form {
    TAKT_FORM_map,       /* N */
    TAKT_FORM_view,      /* N, nothing is read */
    TAKT_FORM_reduce,    /* N to one value */
    TAKT_FORM_rows,      /* ROWSxCOLS, each row by itself */
    TAKT_FORM_matrix,    /* ROWSxCOLS */
    TAKT_FORM_gemv,      /* MxN */
    TAKT_FORM_matmul,    /* MxNxK */
    TAKT_FORM_batched,   /* BxMxNxK */
    TAKT_FORM_conv2d,    /* NxCxHxWxKxRxS and stride, padding, groups */
    TAKT_FORM_pool2d,    /* NxCxHxWxWINDOW and stride, padding */
    TAKT_FORM_attention, /* BxHxQxKxD: batch, heads, queries, keys, depth */
    TAKT_FORM_user       /* whatever the user says */
};

/* What the error of an expert is measured in; eps is the distance from 1 to
 * the next number of the dtype. */
enum takt_accuracy {
    TAKT_ACCURACY_EXACT,     /* the very same bits, of NaN too */
    TAKT_ACCURACY_VALUE,     /* the very same number, zeros by sign */
    TAKT_ACCURACY_ULP,       /* units in the last place of the exact result */
    TAKT_ACCURACY_RESULT,    /* eps * |exact result| */
    TAKT_ACCURACY_MAGNITUDE, /* eps * the sum of the magnitudes added up */
    TAKT_ACCURACY_ROOT,      /* the same, times the root of their number */
    TAKT_ACCURACY_FORMULA    /* as docs/numerics.md says for that op */
};

struct takt_tolerance {
    enum takt_accuracy of;
    double units;
};

/* An op and what the catalogue knows beyond its public part. The public part
 * comes first, so that a `const takt_op *` of ours is one of these. */
struct takt_op_entry {
    takt_op op;
    unsigned id;      /* an enum takt_op_id */
    unsigned user_op; /* which of the user's ops it is, if it is one */
    enum takt_form form;
    double flops; /* per element or per inner step */
    struct takt_tolerance tolerance;
    takt_work (*work)(const takt_shape *shape, takt_dtype dtype, void *self);
    void *self;
};

/* What a form says about the sizes of its ops, as initialisers of a takt_op.
 * Constants, so that the whole catalogue is one too. */
/* clang-format off */
#define TAKT_SIZES_map       .rank_min = 1, .rank_max = 1, .shape = "N"
#define TAKT_SIZES_view      .rank_min = 1, .rank_max = TAKT_SHAPE_MAX_RANK, .shape = "N[xN...]"
#define TAKT_SIZES_reduce    .rank_min = 1, .rank_max = 1, .shape = "N"
#define TAKT_SIZES_rows      .rank_min = 2, .rank_max = 2, .shape = "ROWSxCOLS"
#define TAKT_SIZES_matrix    .rank_min = 2, .rank_max = 2, .shape = "ROWSxCOLS"
#define TAKT_SIZES_gemv      .rank_min = 2, .rank_max = 2, .shape = "MxN"
#define TAKT_SIZES_matmul    .rank_min = 3, .rank_max = 3, .shape = "MxNxK"
#define TAKT_SIZES_batched   .rank_min = 4, .rank_max = 4, .shape = "BxMxNxK"
#define TAKT_SIZES_conv2d    .rank_min = 7, .rank_max = 10, .shape = "NxCxHxWxKxRxS[xSTRIDE[xPAD[xGROUPS]]]"
#define TAKT_SIZES_pool2d    .rank_min = 5, .rank_max = 7, .shape = "NxCxHxWxWINDOW[xSTRIDE[xPAD]]"
#define TAKT_SIZES_attention .rank_min = 5, .rank_max = 5, .shape = "BxHxQxKxD"
#define TAKT_SIZES_user      .rank_min = 1, .rank_max = TAKT_SHAPE_MAX_RANK, .shape = "N[xN...]"
/* clang-format on */

/* Whether the sizes make sense together, beyond their number. */
bool takt__form_fits(enum takt_form form, const takt_shape *shape);

/* Elements of the largest operand, SIZE_MAX when there are more. */
size_t takt__form_elements(enum takt_form form, const takt_shape *shape);

/* Elements read and written, all operands together, and operations. */
void takt__form_work(const struct takt_op_entry *entry, const takt_shape *shape,
                     double *elements, double *flops);

#endif
