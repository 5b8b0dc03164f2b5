/* SPDX-License-Identifier: MIT */
/*
 * kind.h - kinds of calls, and what their calls took on each side.
 *
 * Calls of one routine, type and layout whose work is within half an octave
 * are of one kind. A call runs on one of two sides: in the baseline library, or
 * routed by Takt. Both are measured in the same process, in turns
 * (switchback.h), so that the difference is evidence and not a prediction.
 *
 * Threads: kinds are found without a lock; statistics are changed by one thread
 * at a time (switchback.c).
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "arguments.h"

enum takt_side { TAKT_SIDE_BASELINE, TAKT_SIDE_ROUTED, TAKT_SIDES };

struct takt_moments {
    double n, mean, m2;    /* m2: sum of squared distances from the mean */
    double clips, clipped; /* values that were clipped, and by how much */
};

struct takt_kind {
    _Atomic uint32_t key;                 /* 0: free */
    struct takt_moments call[TAKT_SIDES]; /* ns per unit of work */
    struct takt_moments gap[TAKT_SIDES];  /* ns between calls */
    double work, calls;                   /* lately, older ones count less */
    double longest_ns;                    /* of a call lately */
    double least; /* of a call in the baseline library while a GPU is opened,
                   * ns per unit of work; 0: none */
    _Atomic bool is_kept; /* runs in the baseline library also while others are
                           * routed: routing it was clearly slower */
    /* What the baseline library takes, by the calls that it ran; ns per unit of
     * work, and the standard error of that. 0: not measured. */
    _Atomic float control, control_error;
    /* The same of routed calls. */
    _Atomic float routed;
};

/* The kind of a call; NULL: there are too many. */
struct takt_kind *takt__kind_of(const struct takt_arguments *arguments);

/* Every kind that was found so far. */
typedef void takt_kind_visit(void *self, struct takt_kind *kind);
void takt__kinds_each(takt_kind_visit *visit, void *self);

/* Adds a value. One that is far above the mean is clipped to three times the
 * mean: another process had the processor. So are the first few, if a later one
 * is far below them. */
void takt__moments_add(struct takt_moments *moments, double value);

/* Adds a value as it is. */
void takt__moments_add_whole(struct takt_moments *moments, double value);

/* Lets what was added so far count as that many values at most. */
void takt__moments_limit(struct takt_moments *moments, double most);

/* Lets what was added so far count for less. */
void takt__moments_age(struct takt_moments *moments);

/* The variance of the mean. */
static inline double takt__moments_error2(const struct takt_moments *moments)
{
    return moments->n > 1 ? moments->m2 / (moments->n - 1) / moments->n : 0;
}
