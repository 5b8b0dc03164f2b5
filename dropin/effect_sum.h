/* SPDX-License-Identifier: MIT */
/* effect_sum.h - what steps with Takt off and on say of the whole program. */
#pragma once

#include "kind.h"
#include "sides.h"

/* TAKT_SIDE_BASELINE: in off slices. TAKT_SIDE_ROUTED: at all other times. */
struct takt_kind_steps {
    const void *kind;
    struct takt_moments call[TAKT_SIDES]; /* ns per unit of work */
    struct takt_moments gap[TAKT_SIDES];  /* ns */
    double work[TAKT_SIDES], gaps[TAKT_SIDES];
    bool is_begun;
};

struct takt_effect {
    double gain_ns, baseline_ns, variance; /* variance: of the gain */
    double covered_ns;                     /* in calls, with Takt on */
};

/* `slices`: how many there were, of which short ones are parts; above 0.
 * `noise`: how slices of the same work differ, as shares of their time. */
struct takt_effect takt__effect_sum(const struct takt_kind_steps *kind,
                                    unsigned kinds, double slices,
                                    const struct takt_moments *noise);
