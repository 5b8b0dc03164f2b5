/* SPDX-License-Identifier: MIT */
/*
 * tail.h - how much longer than usual calls take.
 *
 * A tail counts samples by ln(time) above an origin near their median, in bins.
 * What it says about a quantile is a distribution, wide while there are few
 * samples.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum {
    TAKT_TAIL_BINS = 13,
    TAKT_TAIL_UNIT = 16, /* of a count: one sample */
    TAKT_TAIL_FULL = 1024 * TAKT_TAIL_UNIT
};

/* In ln(time): where the bins from the second on begin. */
extern const float takt__tail_bound[TAKT_TAIL_BINS - 1];

/* Samples in sixteenths, so that a few are left of a few when all are halved.
 * The first bin has all that is not above the mean by more than 5%. */
struct takt_tail {
    uint16_t count[TAKT_TAIL_BINS];
};

/* The bin of a sample that took e^distance times the mean. */
static inline unsigned takt__tail_bin(float distance)
{
    unsigned bin = 0;

    for (unsigned i = 0; i < TAKT_TAIL_BINS - 1; i++)
        bin += distance >= takt__tail_bound[i];
    return bin;
}

void takt__tail_halve(struct takt_tail *tail);

/* Adds a sample; what is full is halved. */
static inline void takt__tail_add(struct takt_tail *tail, unsigned bin)
{
    tail->count[bin] = (uint16_t)(tail->count[bin] + TAKT_TAIL_UNIT);
    if (tail->count[bin] >= TAKT_TAIL_FULL)
        takt__tail_halve(tail);
}

/* How many samples it counts. */
static inline float takt__tail_samples(const struct takt_tail *tail)
{
    uint32_t sum = 0;

    for (unsigned i = 0; i < TAKT_TAIL_BINS; i++)
        sum += tail->count[i];
    return (float)sum / TAKT_TAIL_UNIT;
}

/* Leaves so many of them at most. As when all are halved, of a bin that is not
 * empty something is left: what is stored of it is written over. */
void takt__tail_shrink(struct takt_tail *tail, float most);

/* Takes a 32nd of them away. */
void takt__tail_fade(struct takt_tail *tail);

/* Counts from a point that is `by` higher, in ln(time). Samples of a bin are
 * taken to be spread evenly in it. */
void takt__tail_shift(struct takt_tail *tail, float by);

/* Leaves something in the bins that were not empty before: what is stored of
 * them is written over. */
void takt__tail_keep_bins(struct takt_tail *tail,
                          const struct takt_tail *before);

/* Adds what another one counted. */
void takt__tail_pool(struct takt_tail *into, const struct takt_tail *from);

/* What is expected: the share of calls beyond each bound, and how many samples
 * that is worth. */
struct takt_tail_shares {
    float beyond[TAKT_TAIL_BINS - 1];
    float worth;
};

/* Of a team of so many threads when nothing was seen. */
void takt__tail_prior(unsigned threads, struct takt_tail_shares *out);

/* Takes in what was counted, each sample with that weight. */
void takt__tail_learn(struct takt_tail_shares *shares,
                      const struct takt_tail *tail, float weight);

/* The same of a team of other size, which waits for the slowest of another
 * number of threads: `ratio` of them. */
void takt__tail_learn_team(struct takt_tail_shares *shares,
                           const struct takt_tail *tail, float ratio,
                           float most);

/* The time that a share of calls exceeds: mean and variance of
 * ln(time / mean). */
void takt__tail_quantile(const struct takt_tail_shares *shares, float share,
                         float *mean, float *variance);

/* Watches for a change of the tail alone. All zero: not yet. */
struct takt_tail_watch {
    uint16_t rate;    /* how many samples reach the level, of 65,536 */
    int16_t up, down; /* cumulative sums, in 1/2,048 */
    uint8_t level;    /* the bin that they seldom reach; 0: none yet */
};

/* Looks at a sample before it is added to a tail of so many samples; true: the
 * tail has changed. */
bool takt__tail_watch(struct takt_tail_watch *watch,
                      const struct takt_tail *tail, unsigned samples,
                      unsigned bin);
