/* SPDX-License-Identifier: MIT */
/*
 * form.h - a form: what ops of one kind share.
 *
 * `add` and `exp` differ in a number; they have the same form. A form says how
 * the sizes of a call are read, which operands follow from them, what work they
 * mean, which flags a call may have, by which layouts its calls are told apart
 * and whether it can be cut. Everything else asks this table.
 */
#ifndef TAKT_OP_FORM_H
#define TAKT_OP_FORM_H

#include <stdbool.h>
#include <stdint.h>

#include "takt/call.h"

enum takt_form {
#define TAKT_FORM(name_, ...) TAKT_FORM_##name_,
#include "op/forms.def"
};
enum { TAKT_FORMS = TAKT_FORM_user + 1 };

/* Dimensions by name: the sizes of a shape, in order. */
enum { TAKT_N };
enum { TAKT_ROWS, TAKT_COLS };
enum { TAKT_GEMV_M, TAKT_GEMV_N };
enum { TAKT_MATMUL_M, TAKT_MATMUL_N, TAKT_MATMUL_K };
enum { TAKT_BATCHED_B, TAKT_BATCHED_M, TAKT_BATCHED_N, TAKT_BATCHED_K };
enum {
    TAKT_CONV2D_N, /* images */
    TAKT_CONV2D_C, /* channels */
    TAKT_CONV2D_H,
    TAKT_CONV2D_W,
    TAKT_CONV2D_K, /* filters */
    TAKT_CONV2D_R, /* rows of a filter */
    TAKT_CONV2D_S, /* columns of a filter */
    TAKT_CONV2D_STRIDE,
    TAKT_CONV2D_PAD,
    TAKT_CONV2D_GROUPS
};
enum {
    TAKT_POOL2D_N,
    TAKT_POOL2D_C,
    TAKT_POOL2D_H,
    TAKT_POOL2D_W,
    TAKT_POOL2D_WINDOW,
    TAKT_POOL2D_STRIDE,
    TAKT_POOL2D_PAD
};
enum {
    TAKT_ATTENTION_B,
    TAKT_ATTENTION_H, /* heads */
    TAKT_ATTENTION_Q, /* queries */
    TAKT_ATTENTION_K, /* keys */
    TAKT_ATTENTION_D  /* depth */
};

/* Dimensions that follow from the others, in forms with a window. */
enum {
    TAKT_DIM_OUT_H = TAKT_SHAPE_MAX_RANK,
    TAKT_DIM_OUT_W,
    TAKT_DIM_GROUP_C, /* channels of a group */
    TAKT_DIMS
};

/* Some dimensions, the outermost first. */
struct takt_dim_list {
    uint8_t count, of[4];
};

struct takt_form_operand {
    struct takt_dim_list dims;
    bool has_ld; /* two dimensions; rows are call->ld[ld] elements apart */
    uint8_t ld;
    uint8_t swap; /* a flag of the call that exchanges dims.of[0] and [1] */
    bool is_optional;
};

/* May the output be an input? */
enum takt_aliasing {
    TAKT_ALIAS_NONE,
    TAKT_ALIAS_SAME,  /* the very same array */
    TAKT_ALIAS_BLOCKS /* a block of the same matrix, side by side with it */
};

struct takt_op_entry;
struct takt_lengths;

struct takt_name_list {
    unsigned count;
    const char *const *of;
};

/* Where a window that slides over images has its sizes, in forms that begin
 * with N, C, H, W. `groups` is 0 where there are none, `usual_stride` the
 * dimension that a stride left out is equal to; 0: then it is 1. */
struct takt_form_window {
    uint8_t height, width, stride, pad, groups, usual_stride;
};

struct takt_form_entry {
    const char *shape;
    unsigned rank_min, rank_max;
    unsigned layouts; /* prefixes * names, 1 where there are none */

    /* Of the inputs an op has the first op.inputs, and optional ones. */
    struct takt_form_operand in[4], out;
    bool is_opaque; /* nothing is known of its operands */
    enum takt_aliasing aliasing;
    bool accumulates; /* beta * out takes part */

    /* Work: for each element of the output the op's operations, times these
     * dimensions, and row_flops for each row of the output. */
    struct takt_dim_list over;
    double row_flops;
    bool counts_flops; /* buckets are of operations, not of bytes */

    const struct takt_form_window *window; /* NULL: none */
    bool is_cut;    /* along its first dimension, into calls of the same op */
    unsigned flags; /* that a call may have, besides those of every op */

    /* Made of the members above, once for each form, so that compilers see the
     * numbers in them: what takt__form_work(), takt__lengths_of() and
     * takt__admit() do. */
    void (*work)(const struct takt_op_entry *entry, const takt_shape *shape,
                 double *elements, double *flops);
    void (*lengths)(const takt_call *call, struct takt_lengths *out);
    takt_status (*admit)(takt_call *call, bool *is_empty);

    /* The number of a layout, prefix * names.count + name. NULL: 0. */
    unsigned (*layout)(const takt_shape *shape, unsigned flags);
    struct takt_name_list prefixes, names;
};

extern const struct takt_form_entry takt__forms[TAKT_FORMS];

/* Bytes of an element. */
static inline size_t takt__dtype_size(takt_dtype dtype)
{
    return dtype == TAKT_F64 ? sizeof(double) : sizeof(float);
}

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
    unsigned series;  /* its first: see key.h */
    enum takt_form form;
    double flops; /* per element or per inner step */
    struct takt_tolerance tolerance;
    takt_work (*work)(const takt_shape *shape, takt_dtype dtype, void *self);
    void *self;
};

const size_t *takt__window_dims(const struct takt_form_entry *form,
                                const takt_shape *shape, size_t d[TAKT_DIMS]);

/* The dimensions of a shape that fits, by their numbers: the sizes themselves,
 * or, in forms with a window, a copy in `memory` with what was left out and
 * what follows. */
static inline const size_t *takt__form_dims(const struct takt_form_entry *form,
                                            const takt_shape *shape,
                                            size_t memory[TAKT_DIMS])
{
    return form->window == NULL ? shape->dim
                                : takt__window_dims(form, shape, memory);
}

/* Gives sizes of a window that were left out or are 0 their usual values. */
void takt__form_complete(const struct takt_form_entry *form, takt_shape *shape);

/* Whether the sizes make sense together, beyond their number. */
bool takt__form_fits(const struct takt_form_entry *form,
                     const takt_shape *shape);

/* Elements of the largest operand, SIZE_MAX when there are more. */
size_t takt__form_elements(const struct takt_op_entry *entry,
                           const takt_shape *shape);

/* Elements read and written, all operands together, and operations. */
static inline void takt__form_work(const struct takt_op_entry *entry,
                                   const takt_shape *shape, double *elements,
                                   double *flops)
{
    takt__forms[entry->form].work(entry, shape, elements, flops);
}

/* Whether the work of its ops is counted in operations, not in bytes. */
static inline bool takt__form_counts_flops(enum takt_form form)
{
    return takt__forms[form].counts_flops;
}

#endif
