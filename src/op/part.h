/* SPDX-License-Identifier: MIT */
/* part.h - a call cut into calls on parts of the same operands. */
#pragma once

#include "op/operands.h"

/* The input that is also the output; -1: none. */
int takt__call_twin(const takt_call *call);

/* Which operands are cut when the first dimension is: bit i; 0: cannot be. */
unsigned takt__call_cut(const takt_call *call);

/* The part of a call that computes [first, first + count) of one dimension:
 * one of its output, and not inside of another one that is larger than 1. */
takt_call takt__call_slice(const takt_call *call, unsigned dim, size_t first,
                           size_t count);

/* Whether a call may be run a second time over whatever the first left in its
 * output. */
bool takt__call_is_repeatable(const takt_call *call);

/* Rows [first, first + rows) of the output of a call that is not repeatable, as
 * calls of their own, handed to `visit` one by one. Rows are those of
 * takt__rows_of(). */
typedef takt_status takt_part_visit(void *self, const takt_call *part);
takt_status takt__call_rows(const takt_call *call, size_t first, size_t rows,
                            takt_part_visit *visit, void *self);
