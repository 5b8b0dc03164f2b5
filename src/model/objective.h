/* SPDX-License-Identifier: MIT */
/* objective.h - what the best expert is the best at: data only. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* What a call is measured by. */
enum takt_measure {
    TAKT_MEASURE_TIME, /* the mean */
    TAKT_MEASURE_P95,
    TAKT_MEASURE_P99,
    TAKT_MEASURE_P999,
    TAKT_MEASURE_THROUGHPUT, /* time on the share of the machine it takes */
    TAKT_MEASURE_ENERGY,
    TAKT_MEASURE_EDP, /* energy times time */
    TAKT_MEASURES
};

/* The least of `goal`, among the arms whose `limited` is below `limit` (in
 * seconds or joules). All zero: the mean time. */
struct takt_objective {
    uint8_t goal;
    uint8_t limited;
    bool has_limit;
    double limit;
    double callers; /* at work under throughput; 0: as many as there are */
};

/* How many a model can have at once. */
enum { TAKT_OBJECTIVES = 4 };

static inline bool takt__measure_is_tail(unsigned measure)
{
    return measure >= TAKT_MEASURE_P95 && measure <= TAKT_MEASURE_P999;
}

static inline bool takt__measure_is_energy(unsigned measure)
{
    return measure == TAKT_MEASURE_ENERGY || measure == TAKT_MEASURE_EDP;
}

static inline bool takt__objective_uses_tails(const struct takt_objective *of)
{
    return takt__measure_is_tail(of->goal) ||
           (of->has_limit && takt__measure_is_tail(of->limited));
}

static inline bool takt__objective_uses_energy(const struct takt_objective *of)
{
    return takt__measure_is_energy(of->goal) ||
           (of->has_limit && takt__measure_is_energy(of->limited));
}

/* The share of calls that take longer than a quantile. */
static inline float takt__measure_beyond(unsigned measure)
{
    return measure == TAKT_MEASURE_P95   ? 0.05f
           : measure == TAKT_MEASURE_P99 ? 0.01f
                                         : 0.001f;
}
