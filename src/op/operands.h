/* SPDX-License-Identifier: MIT */
/*
 * operands.h - the operands of a call: how much memory each is, and how it is
 * laid out.
 */
#ifndef TAKT_OP_OPERANDS_H
#define TAKT_OP_OPERANDS_H

#include "op/op_id.h"
#include "takt/call.h"

enum { TAKT_OUT = 4, TAKT_OPERANDS = 5 }; /* in[0..3], then out */

/* Elements of each operand, gaps between rows included; 0 where the op has
 * none. A position (argmax) counts as one element. */
struct takt_lengths {
    size_t of[TAKT_OPERANDS];
    bool overflow; /* one does not fit an address space, sizes of 0 counted as
                    * 1 and the last row as a whole one */
};

/* What follows from the sizes of a call, which takt_op_check_shape() accepts
 * and which need not be admitted yet. */
static inline void takt__lengths_of(const takt_call *call,
                                    struct takt_lengths *out)
{
    takt__op_form(call->op)->lengths(call, out);
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

/* Whether the result is a position: a size_t, not an element. */
bool takt__is_position(const takt_call *call);

/* What an admitted call does with the memory of its operands. */
struct takt_extents {
    size_t bytes[TAKT_OPERANDS];
    bool out_is_read; /* what is in `out` before takes part, or stays in gaps
                       * between its rows */
};

void takt__extents_of(const takt_call *call, struct takt_extents *out);

/* An operand of an admitted call as rows of elements, `ld` apart; without
 * dimensions, or with one, as rows of one element. All 0: it has none. */
struct takt_rows {
    size_t rows, cols, ld;
};

struct takt_rows takt__rows_of(const takt_call *call, unsigned operand);

/* Whether what is in `out` before takes part in the result. */
bool takt__call_accumulates(const takt_call *call);

#endif
