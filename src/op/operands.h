/* SPDX-License-Identifier: MIT */
/*
 * operands.h - how much memory each operand of a call is.
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
void takt__lengths_of(const takt_call *call, struct takt_lengths *out);

/* Whether the result is a position: a size_t, not an element. */
bool takt__is_position(const takt_call *call);

/* What an admitted call does with the memory of its operands. */
struct takt_extents {
    size_t bytes[TAKT_OPERANDS];
    bool out_is_read; /* what is in `out` before takes part, or stays in gaps
                       * between its rows */
};

void takt__extents_of(const takt_call *call, struct takt_extents *out);

#endif
