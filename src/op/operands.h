/* SPDX-License-Identifier: MIT */
/*
 * operands.h - the operands of a call: how much memory each is, and how it is
 * laid out.
 */
#pragma once

#include "op/op_id.h"
#include "takt/call.h"

/* What follows from the sizes of a call, which takt_op_check_shape() accepts
 * and which need not be admitted yet. */
static inline void takt__lengths_of(const takt_call *call,
                                    struct takt_lengths *out)
{
    takt__op_form(call->op)->lengths(call, out);
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

/* The bytes of all of them together. */
size_t takt__call_bytes(const takt_call *call);

/* An operand of an admitted call as rows. */
static inline struct takt_rows takt__rows_of(const takt_call *call,
                                             unsigned operand)
{
    return takt__form_rows(takt__op_form(call->op), call, operand);
}

/* Whether what is in `out` before takes part in the result. */
bool takt__call_accumulates(const takt_call *call);
