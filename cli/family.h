/* SPDX-License-Identifier: MIT */
/*
 * family.h - shapes that stand for all the others.
 *
 * Calls of one op, dtype and layout are learned together and differ by their
 * size alone. A family is one layout with a shape for each size, so that sizes
 * can be walked through: by `takt tune` to measure them, by `takt map` to ask
 * who wins, by `takt history` to find a shape for work that was remembered.
 *
 * A step is half an octave of the side n that the shape is made of: 2, 3, 4,
 * 6, 8, 12, ... for steps 2, 3, 4, ...
 */
#ifndef TAKT_CLI_FAMILY_H
#define TAKT_CLI_FAMILY_H

#include <takt/takt.h>

enum { most_steps = 64 };

struct family {
    const char *shape; /* of the ops that have it, as takt_op.shape */
    const char *op;    /* the one op that has it; NULL: all of that shape */
    const char *layout;
    unsigned flags;      /* of the call */
    unsigned importance; /* 0: what most calls are like; 3: seldom */
    unsigned low, high;  /* steps worth looking at */
    unsigned rank;
    struct {
        unsigned fixed; /* 0: the side n ... */
        unsigned times; /* ... so many times */
    } dim[TAKT_SHAPE_MAX_RANK];
};

/* The families of an op, the most important first; NULL beyond the last. */
const struct family *family_at(const takt_op *op, size_t index);

/* The family of an op whose layout has that name; NULL: there is none. */
const struct family *family_of_layout(const takt_op *op, const char *layout);

size_t step_side(unsigned step);
takt_shape family_shape(const struct family *family, unsigned step);

/* A call of that family and size; the situation is fresh, the policy
 * adaptive. */
takt_request family_request(const struct family *family, const takt_op *op,
                            takt_dtype dtype, unsigned step);

/* The step whose work is nearest to `work`. */
unsigned family_step_for(const struct family *family, const takt_op *op,
                         takt_dtype dtype, const takt_work *work);

#endif
