/* SPDX-License-Identifier: MIT */
/* solve.h - what the experts for factors and systems of equations share. */
#pragma once

#include "expert/expert.h"

/* Fills an operand of rows with NaN: the result of a call that has none. */
void takt__fill_nan(const struct takt_rows *rows, takt_dtype dtype, void *to);

/* Copies rows of `cols` elements of `size` bytes. */
void takt__copy_rows(const struct takt_rows *rows, size_t size,
                     const void *from, size_t ld_from, void *to);

/* library_solve.c: cholesky and solve by a library. */
bool takt__library_can_solve(const struct takt_expert *expert,
                             const takt_call *call);
takt_status takt__library_solve(struct takt_experts *experts,
                                const struct takt_expert *expert,
                                const takt_call *call);
