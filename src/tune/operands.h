/* SPDX-License-Identifier: MIT */
/*
 * operands.h - a call to be timed: its scalars, the lengths of its operands,
 * and their contents.
 */
#pragma once

#include <stdbool.h>

#include "op/operands.h"
#include "takt/call.h"
#include "takt/tune.h"

/* Values that inputs are filled with, again and again. */
struct takt_fill_pattern {
    size_t bytes;
    unsigned char value[4096 * sizeof(double)];
};

/* Whether calls of that size, all sizes of which are given, compute something.
 */
bool takt__can_be_timed(const takt_op *op, const takt_shape *shape);

/* The ops of the options, or all of the catalogue; NULL beyond the last. */
const takt_op *takt__tune_op(const takt_tune_options *options, size_t index);

/* Whether calls of that size of one of these compute something. */
bool takt__tune_fits(const takt_tune_options *options, const takt_shape *shape);

/* Makes a call of that size which lacks only its operands, and says how long
 * they are. Optional sizes become explicit.
 * TAKT_ESHAPE: the shape does not fit the op. */
takt_status takt__timed_call(const takt_op *op, takt_dtype dtype,
                             const takt_shape *shape, unsigned flags,
                             takt_call *out, struct takt_lengths *lengths);

void takt__pattern_make(const takt_op *op, takt_dtype dtype,
                        struct takt_fill_pattern *out);
void takt__pattern_fill(const struct takt_fill_pattern *pattern, void *out,
                        size_t bytes);

/* Makes what the first input of that call was filled with one that the op can
 * do something with. */
void takt__pattern_finish(const takt_call *call, void *input);

/* Bytes of memory that the operands take, with gaps; a multiple of 64. */
size_t takt__operands_bytes(const struct takt_lengths *lengths,
                            takt_dtype dtype);

/* Gives the call operands in that much memory, which begins at a multiple of 64
 * bytes, and fills the inputs. */
void takt__operands_place(takt_call *call, const struct takt_lengths *lengths,
                          const struct takt_fill_pattern *pattern,
                          void *memory);

/* Makes such a call with operands in memory of its own, which is freed with it;
 * every page of it was written.
 * TAKT_ESHAPE as above, TAKT_ENOMEM: there is nothing to free. */
takt_status takt__operands_make(const takt_op *op, takt_dtype dtype,
                                const takt_shape *shape, takt_call *out,
                                struct takt_lengths *lengths);
void takt__operands_free(takt_call *call);

/* Whether the output of the op is its second input, too. */
bool takt__is_in_place(const takt_op *op);
