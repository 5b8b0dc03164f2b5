/* SPDX-License-Identifier: MIT */
/*
 * form.h - a form: what ops of one kind share.
 *
 * `add` and `exp` differ in a number; they have the same form. A form says how
 * the sizes of a call are read, which operands follow from them, what work they
 * mean, which flags a call may have, by which layouts its calls are
 * distinguished and whether it can be cut. Everything else reads this table.
 */
#pragma once

#include "op/dims.h"
#include "takt/call.h"

enum takt_form {
#define TAKT_FORM(name_, ...) TAKT_FORM_##name_,
#include "op/forms.def"
};
enum { TAKT_FORMS = TAKT_FORM_user + 1 };

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

enum { TAKT_OUT = 4, TAKT_OPERANDS = 5 }; /* in[0..3], then out */

/* Elements of each operand, gaps between rows included; 0 where the op has
 * none. A position (argmax) counts as one element. */
struct takt_lengths {
    size_t of[TAKT_OPERANDS];
    bool overflow; /* one does not fit an address space, sizes of 0 counted as
                    * 1 and the last row as a whole one */
};

struct takt_name_list {
    unsigned count;
    const char *const *of;
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
     * dimensions, and more_flops times the dimensions in `more`. */
    struct takt_dim_list over, more;
    double more_flops;
    bool counts_flops; /* buckets are of operations, not of bytes */
    /* Operations per element at which half of a call's time passes on one
     * thread, on however many it runs: less of it in larger calls. 0: none. */
    double serial;

    const struct takt_form_window *window; /* NULL: none */
    bool is_square;                        /* its first two sizes are equal */
    bool is_tall;   /* the first one is at least the second */
    bool has_sum;   /* TAKT_DIM_SUM is a dimension of an operand */
    bool is_cut;    /* along its first dimension, into calls of the same op */
    unsigned flags; /* that a call may have, besides those of every op */

    /* Made of the members above, once for each form, so that compilers see the
     * numbers in them: what takt__form_work(), takt__lengths_of() and
     * takt__admit() do. */
    void (*work)(const struct takt_op_entry *entry, const takt_shape *shape,
                 double *elements, double *flops);
    void (*lengths)(const takt_call *call, struct takt_lengths *out);
    takt_status (*admit)(takt_call *call, unsigned rules, bool *is_empty);

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
    TAKT_ACCURACY_BACKWARD,  /* n * eps * the norms of the operands: of the
                              * equation that results solve, not of these */
    TAKT_ACCURACY_FORMULA    /* as docs/numerics.md says for that op */
};

struct takt_tolerance {
    enum takt_accuracy of;
    double units;
    double units_f64; /* 0: as many */
};

static inline double takt__units(const struct takt_tolerance *tolerance,
                                 takt_dtype dtype)
{
    return dtype == TAKT_F64 && tolerance->units_f64 != 0 ? tolerance->units_f64
                                                          : tolerance->units;
}

/* An op and what the catalogue has beyond its public part. The public part
 * comes first, so that a `const takt_op *` of ours is one of these. */
struct takt_op_entry {
    takt_op op;
    unsigned id;      /* an enum takt_op_id */
    unsigned user_op; /* which of the user's ops it is, if it is one */
    unsigned series;  /* its first: see key.h */
    enum takt_form form;
    double flops;   /* per element or per inner step */
    double cost[2]; /* by dtype: times what so many multiply-adds take */
    struct takt_tolerance tolerance;
    takt_work (*work)(const takt_shape *shape, takt_dtype dtype, void *self);
    void *self;
};

/* The dimensions of a shape that fits, by their numbers: the sizes themselves,
 * or, in forms with a window or a sum, a copy in `memory` with what was left
 * out and what follows. */
static inline const size_t *takt__form_dims(const struct takt_form_entry *form,
                                            const takt_shape *shape,
                                            size_t memory[TAKT_DIMS])
{
    if (form->has_sum)
        return takt__sum_dims(shape, memory);
    return form->window == NULL
               ? shape->dim
               : takt__window_dims(form->window, shape, memory);
}

/* Whether the sizes make sense together; their number is right. */
static inline bool takt__form_fits(const struct takt_form_entry *form,
                                   const takt_shape *shape)
{
    return (form->window == NULL || takt__window_fits(form->window, shape)) &&
           (!form->is_square || shape->dim[0] == shape->dim[1]) &&
           (!form->is_tall || shape->dim[0] >= shape->dim[1]);
}

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

/* How an operand of a form is laid out, and which of its dimensions is the
 * i-th, the outermost first, in a call with these flags. */
static inline const struct takt_form_operand *
takt__form_operand(const struct takt_form_entry *form, unsigned operand)
{
    return operand == TAKT_OUT ? &form->out : &form->in[operand];
}

static inline unsigned takt__operand_dim(const struct takt_form_operand *is,
                                         unsigned flags, unsigned i)
{
    return (flags & is->swap) != 0 ? is->dims.of[i ^ 1] : is->dims.of[i];
}

/* Whether a call has that operand. */
static inline bool takt__call_has(const takt_call *call,
                                  const struct takt_form_entry *form,
                                  unsigned operand)
{
    if (form->is_opaque)
        return false;
    return operand == TAKT_OUT || operand < call->op->inputs ||
           (form->in[operand].is_optional && call->in[operand] != NULL);
}

/* An operand of an admitted call as rows of elements, `ld` apart; without
 * dimensions, or with one, as rows of one element. All 0: it has none. */
struct takt_rows {
    size_t rows, cols, ld;
};

/* The form is that of the call. */
struct takt_rows takt__form_rows(const struct takt_form_entry *form,
                                 const takt_call *call, unsigned operand);

/* Whether the work of its ops is counted in operations, not in bytes. */
static inline bool takt__form_counts_flops(enum takt_form form)
{
    return takt__forms[form].counts_flops;
}
