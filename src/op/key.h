/* SPDX-License-Identifier: MIT */
/*
 * key.h - under which number a call is learned and decided.
 *
 * Calls of one op, dtype and layout form a series; along a series they differ
 * by their work alone, cut into buckets of half an octave. A layout is what
 * changes which expert is fastest at the same work: transposes, and which sides
 * of a product are thin. Series of the catalogue are numbered at compile time;
 * ops of the user come after them. The last series are no ops but links: what
 * it takes to move so many bytes to or from a device, and to open it.
 *
 * The situation is the state that changes the time of the same call: whether
 * the operands lie where the previous call left them, whether the threads of
 * the pool sleep, and whether operands are in the memory that the expert works
 * on. Decisions are looked up by situation, or by the GPU that has all
 * operands.
 */
#pragma once

#include <string.h>

#include "op/op_id.h"

enum {
    TAKT_BUCKETS = 96,
    TAKT_SITUATIONS = 8,
    TAKT_ALL_SITUATIONS = (1 << TAKT_SITUATIONS) - 1, /* bit 1 << situation */
    TAKT_COLUMN_GPU = TAKT_SITUATIONS, /* of the first GPU; 8 at most */
    TAKT_COLUMNS = TAKT_COLUMN_GPU + 8,
    TAKT_OP_NUMBERS = TAKT_OP_COUNT + TAKT_MAX_USER_OPS,
    TAKT_LAYOUT_NAME = 16,
    TAKT_ASPECTS = 7 /* layouts of a matmul without transposes, the first */
};

/* Bits of a situation. The third: nothing has to be moved, the operands are
 * where the expert wants them. */
enum { TAKT_REPEAT = 1, TAKT_ASLEEP = 2, TAKT_RESIDENT = 4 };

/* Trials of an expert in a row, at most. */
enum { TAKT_MOST_TRIES = 63 };

struct takt_key {
    uint16_t series;
    uint8_t bucket;
};

/* The bucket of so much work: two per octave, by the exponent and the highest
 * bit of the fraction. */
static inline uint8_t takt__bucket_of(double work)
{
    uint64_t bits;

    if (!(work >= 1))
        return 0;
    memcpy(&bits, &work, sizeof bits);
    const uint64_t bucket = (bits >> 51) - 1023 * 2;
    return bucket < TAKT_BUCKETS ? (uint8_t)bucket : TAKT_BUCKETS - 1;
}

/* The least work of a bucket, and that in the middle of it. */
double takt__bucket_low(unsigned bucket);
double takt__bucket_work(unsigned bucket);

/* The key of a call with a full shape and that work. */
struct takt_key takt__key_of(const takt_op *op, takt_dtype dtype,
                             const takt_shape *shape, unsigned flags,
                             const takt_work *work);

/* The other way round, for people and for the store. The op of a user's series
 * is its number among the user's ops, *op then TAKT_OP_COUNT; of a link it is
 * TAKT_MAX_USER_OPS, which no op has, the dtype f32, and the layout its name.
 */
void takt__series_name(unsigned series, enum takt_op_id *op, unsigned *user_op,
                       takt_dtype *dtype, char layout[TAKT_LAYOUT_NAME]);

/* Its op and dtype, if the op is one of the catalogue's; else TAKT_OP_COUNT. */
enum takt_op_id takt__series_of(unsigned series, takt_dtype *dtype);

/* The number of its op alone: of the catalogue, then of the user; of a link
 * TAKT_OP_NUMBERS. */
unsigned takt__series_op(unsigned series);

/* How many times as long as so many multiply-adds the operations of a series
 * take on a processor: ops.def. */
double takt__series_cost(unsigned series);

/* Operations per byte at which half of a call's time passes on one thread, on
 * however many it runs (0: none does), and how many times as long a call takes
 * on so many threads as if none did. */
double takt__series_serial(unsigned series);
static inline double takt__serial_factor(double serial, const takt_work *work,
                                         unsigned threads)
{
    const double all = serial * work->bytes + work->flops;

    if (serial <= 0 || all <= 0)
        return 1;
    return 1 + serial * work->bytes / all * (threads - 1);
}

/* The series of an op with a layout of that name; -1: there is none. */
int takt__series_find(const takt_op *op, takt_dtype dtype, const char *layout);

/* "in", "in.pinned", "out", "out.pinned" or "open"; NULL: that is no link. */
const char *takt__link_name(unsigned series);

/* The series of the link of that name; -1: there is none. */
int takt__link_find(const char *name);
