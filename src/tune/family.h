/* SPDX-License-Identifier: MIT */
/*
 * family.h - typical shapes of each op and layout.
 *
 * Calls of one op, dtype and layout are learned together and differ by their
 * size alone. A family is one layout with a shape for each size, so that sizes
 * can be enumerated: by takt_tune() to measure them, by `takt map` to find out
 * which expert is best, by `takt history` to find a shape for work that was
 * recorded.
 *
 * A step is half an octave of the side n that the shape is made of: 2, 3, 4,
 * 6, 8, 12, ... for steps 2, 3, 4, ...
 */
#pragma once

#include "takt/context.h"

enum { TAKT_FAMILY_STEPS = 64 };

struct takt_family {
    const char *shape; /* of the ops that have it, as takt_op.shape */
    const char *op;    /* the one op that has it; NULL: all of that shape */
    const char *layout;
    unsigned flags;      /* of the call */
    unsigned importance; /* 0: the most common; 3: rare */
    unsigned low, high;  /* steps worth looking at */
    unsigned rank;
    struct {
        unsigned fixed; /* 0: the side n ... */
        unsigned times; /* ... so many times */
    } dim[TAKT_SHAPE_MAX_RANK];
};

/* The families of an op, the most important first; NULL beyond the last. */
const struct takt_family *takt__family_at(const takt_op *op, size_t index);

/* The family of an op whose layout has that name; NULL: there is none. */
const struct takt_family *takt__family_of_layout(const takt_op *op,
                                                 const char *layout);

size_t takt__step_side(unsigned step);
takt_shape takt__family_shape(const struct takt_family *family, unsigned step);

/* A call of that family and size; the situation is fresh, the policy
 * adaptive. */
takt_request takt__family_request(const struct takt_family *family,
                                  const takt_op *op, takt_dtype dtype,
                                  unsigned step);

/* The step whose work is nearest to `work`. */
unsigned takt__family_step_for(const struct takt_family *family,
                               const takt_op *op, takt_dtype dtype,
                               const takt_work *work);
