/* SPDX-License-Identifier: MIT */
/*
 * bench_operands.h - a call to be timed, with memory of its own.
 */
#ifndef TAKT_CLI_BENCH_OPERANDS_H
#define TAKT_CLI_BENCH_OPERANDS_H

#include <stdbool.h>

#include <takt/call.h>

/* Elements of the operands of a call; 0 where the op has none. */
struct operand_lengths {
    size_t in[4];
    size_t out;
};

/* The sizes that tell most about an op, as --sizes would take them. */
const char *usual_sizes(const takt_op *op);

/* The shape must fit the op; sizes that are optional become explicit. */
struct operand_lengths find_lengths(const takt_op *op, takt_shape *shape);

/* How the operands pass through memory: arrays that count are those at least
 * half as long as the longest one. */
unsigned streams_read(const struct operand_lengths *lengths);
bool is_written(const struct operand_lengths *lengths);

/* Bytes to allocate; more than fits a double never happens. */
double operand_bytes(const struct operand_lengths *lengths, takt_dtype dtype);

/* Sets what the op takes beside arrays: see takt/call.h. */
void set_values(const takt_op *op, takt_call *call);

/* Allocates the operands at multiples of 64 bytes and fills them with random
 * values, so that every page is there. False: there is no memory. */
bool make_operands(const takt_op *op, takt_dtype dtype, takt_shape shape,
                   takt_call *out);
void free_operands(takt_call *call);

#endif
