/* SPDX-License-Identifier: MIT */
/*
 * key.h - under which number a call is learned and decided.
 *
 * Calls of one op, dtype and layout form a series; along a series they differ
 * by their work alone, cut into buckets of half an octave. A layout is what
 * changes which expert is first at the same work: transposes, and which sides
 * of a product are thin. Series of the catalogue are numbered at compile time;
 * ops of the user come after them. The last series are no ops but links: what
 * it takes to move so many bytes to or from a device, and to open it.
 *
 * The situation is what a benchmark loop hides: whether the operands lie where
 * the previous call left them, and whether the threads of the pool sleep; and
 * whether they are in the memory that the expert works on. A place is where a
 * decision is looked up: a situation, or a GPU that has all operands.
 */
#ifndef TAKT_OP_KEY_H
#define TAKT_OP_KEY_H

#include <stdint.h>
#include <string.h>

#include "op/op_id.h"

enum {
    TAKT_BUCKETS = 96,
    TAKT_SITUATIONS = 8,
    TAKT_PLACE_GPU = TAKT_SITUATIONS, /* of the first GPU; 8 at most */
    TAKT_PLACES = TAKT_PLACE_GPU + 8,
    TAKT_MAX_USER_OPS = 256,
    TAKT_OP_NUMBERS = TAKT_OP_COUNT + TAKT_MAX_USER_OPS,
    TAKT_LAYOUT_NAME = 16
};

/* Bits of a situation. The third: nothing has to be moved, the operands are
 * where the expert wants them. */
enum { TAKT_REPEAT = 1, TAKT_ASLEEP = 2, TAKT_RESIDENT = 4 };

/* Series that are no ops, from TAKT_SERIES_LINKS on; all by bytes, but the
 * last, which has one bucket. */
enum {
    TAKT_LINK_IN,        /* into the memory of a device ... */
    TAKT_LINK_IN_PINNED, /* ... from memory that is pinned */
    TAKT_LINK_OUT,
    TAKT_LINK_OUT_PINNED,
    TAKT_LINK_OPEN, /* what it takes to open the device */
    TAKT_LINKS
};

/* How many layouts the ops of a form are told apart by; those of a matmul
 * without transposes come first, one for each combination of thin sides. */
enum {
    TAKT_ASPECTS = 7,
    TAKT_LAYOUTS_map = 1,
    TAKT_LAYOUTS_view = 1,
    TAKT_LAYOUTS_reduce = 1,
    TAKT_LAYOUTS_rows = 3,
    TAKT_LAYOUTS_matrix = 3,
    TAKT_LAYOUTS_gemv = 6,
    TAKT_LAYOUTS_matmul = 28,
    TAKT_LAYOUTS_batched = 7,
    TAKT_LAYOUTS_conv2d = 4,
    TAKT_LAYOUTS_pool2d = 2,
    TAKT_LAYOUTS_attention = 4,
    TAKT_LAYOUTS_user = 1
};

/* The first series of each op; f32 first, then f64. */
enum {
#define TAKT_OP(name_, complexity_, form_, inputs_, flops_, dtypes_, \
                accuracy_, summary_)                                 \
    TAKT_SERIES_##name_,                                             \
        TAKT_SERIES_END_##name_ =                                    \
            TAKT_SERIES_##name_ + 2 * TAKT_LAYOUTS_##form_ - 1,
#include "op/ops.def"
    TAKT_SERIES_USER,
    TAKT_SERIES_LINKS = TAKT_SERIES_USER + 2 * TAKT_MAX_USER_OPS,
    TAKT_SERIES_COUNT = TAKT_SERIES_LINKS + TAKT_LINKS
};

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

/* The work in the middle of a bucket. */
double takt__bucket_work(unsigned bucket);

/* Whether the work of a series is counted in operations, not in bytes. */
bool takt__form_counts_flops(enum takt_form form);

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

/* The number of its op alone: of the catalogue, then of the user; of a link
 * TAKT_OP_NUMBERS. */
unsigned takt__series_op(unsigned series);

/* The series of an op with a layout of that name; -1: there is none. */
int takt__series_find(const takt_op *op, takt_dtype dtype, const char *layout);

/* "in", "in.pinned", "out", "out.pinned" or "open"; NULL: that is no link. */
const char *takt__link_name(unsigned series);

/* The series of the link of that name; -1: there is none. */
int takt__link_find(const char *name);

#endif
