/* SPDX-License-Identifier: MIT */
/* tail.c - counts of ratios, and what follows for quantiles. */
#include "model/tail.h"

#include <math.h>
#include <string.h>

enum { bounds = TAKT_TAIL_BINS - 1, unit = TAKT_TAIL_UNIT };

const float takt__tail_bound[bounds] = {
    0.05f, 0.11f, 0.18f, 0.27f, 0.38f, 0.52f,
    0.70f, 0.93f, 1.22f, 1.60f, 2.10f, 2.80f,
};

/* The last bin is taken to end here: 40 times the mean. */
static const float farthest = 3.7f;

/* ---- counting ------------------------------------------------------------ */

void takt__tail_halve(struct takt_tail *tail)
{
    for (unsigned i = 0; i < TAKT_TAIL_BINS; i++)
        tail->count[i] = (uint16_t)((tail->count[i] + 1) / 2);
}

void takt__tail_fade(struct takt_tail *tail)
{
    for (unsigned i = 0; i < TAKT_TAIL_BINS; i++)
        tail->count[i] = (uint16_t)(tail->count[i] * 31u / 32);
}

void takt__tail_shrink(struct takt_tail *tail, float most)
{
    const float samples = takt__tail_samples(tail);

    if (samples <= most)
        return;
    for (unsigned i = 0; i < TAKT_TAIL_BINS; i++)
        tail->count[i] =
            (uint16_t)ceilf((float)tail->count[i] * most / samples);
}

void takt__tail_pool(struct takt_tail *into, const struct takt_tail *from)
{
    for (unsigned i = 0; i < TAKT_TAIL_BINS; i++) {
        const uint32_t sum = (uint32_t)into->count[i] + from->count[i];
        into->count[i] = (uint16_t)(sum < UINT16_MAX ? sum : UINT16_MAX);
    }
    for (unsigned i = 0; i < TAKT_TAIL_BINS; i++)
        while (into->count[i] >= TAKT_TAIL_FULL)
            takt__tail_halve(into);
}

/* Where a bin begins and ends. What is not above the point by more than 5% is
 * taken to be near it. */
static float begin_of(unsigned bin)
{
    return bin == 0 ? -0.10f : takt__tail_bound[bin - 1];
}

static float end_of(unsigned bin)
{
    return bin == bounds ? farthest : takt__tail_bound[bin];
}

/* The share of a bin that is in another one when it is moved down. */
static float overlap(unsigned from, unsigned to, float by)
{
    const float begin = begin_of(from) - by, end = end_of(from) - by;
    const float low = to == 0 ? fminf(begin, begin_of(0)) : begin_of(to);
    const float high = to == bounds ? fmaxf(end, end_of(to)) : end_of(to);
    const float common = fminf(end, high) - fmaxf(begin, low);

    return fmaxf(common, 0) / (end - begin);
}

void takt__tail_shift(struct takt_tail *tail, float by)
{
    struct takt_tail moved;

    for (unsigned to = 0; to < TAKT_TAIL_BINS; to++) {
        float sum = 0.5f;
        for (unsigned from = 0; from < TAKT_TAIL_BINS; from++)
            sum += (float)tail->count[from] * overlap(from, to, by);
        moved.count[to] = (uint16_t)fminf(sum, TAKT_TAIL_FULL - 1);
    }
    *tail = moved;
}

void takt__tail_keep_bins(struct takt_tail *tail,
                          const struct takt_tail *before)
{
    for (unsigned i = 0; i < TAKT_TAIL_BINS; i++)
        if (tail->count[i] == 0 && before->count[i] != 0)
            tail->count[i] = 1;
}

/* ---- shares -------------------------------------------------------------- */

/* Judgement: noise of 7%, and three calls in a thousand that are held up. */
static float one_thread_beyond(float x)
{
    return 0.5f * erfcf(x * (0.70710678f / 0.07f)) + 0.003f * expf(-x);
}

static const float prior_worth = 10;

void takt__tail_prior(unsigned threads, struct takt_tail_shares *out)
{
    for (unsigned i = 0; i < bounds; i++)
        out->beyond[i] = 1 - powf(1 - one_thread_beyond(takt__tail_bound[i]),
                                  (float)(threads > 1 ? threads : 1));
    out->worth = prior_worth;
}

void takt__tail_learn(struct takt_tail_shares *shares,
                      const struct takt_tail *tail, float weight)
{
    const float worth = weight * takt__tail_samples(tail);
    const float sum = shares->worth + worth;
    float above = 0;

    if (!(worth > 0))
        return;
    for (unsigned i = bounds; i-- > 0;) {
        above += weight * (float)tail->count[i + 1] / unit;
        shares->beyond[i] = (shares->beyond[i] * shares->worth + above) / sum;
    }
    shares->worth = sum;
}

void takt__tail_learn_team(struct takt_tail_shares *shares,
                           const struct takt_tail *tail, float ratio,
                           float most)
{
    const float samples = takt__tail_samples(tail);
    const float worth = fminf(samples, most);
    const float sum = shares->worth + worth;
    float above = 0;

    if (!(samples > 0))
        return;
    for (unsigned i = bounds; i-- > 0;) {
        above += (float)tail->count[i + 1] / unit;
        const float share =
            1 - powf(1 - fminf(above / samples, 0.9999f), ratio);
        shares->beyond[i] =
            (shares->beyond[i] * shares->worth + share * worth) / sum;
    }
    shares->worth = sum;
}

/* ---- quantiles ----------------------------------------------------------- */

/* P(a share is greater than `least`), where about `seen` samples of `worth`
 * were beyond: a Gamma distribution, after Wilson and Hilferty. */
static float is_greater(float seen, float least, float worth)
{
    const float shape = fmaxf(seen, 1e-3f);
    const float root = cbrtf(least * worth / shape);
    const float z = (1 - 1 / (9 * shape) - root) * 3 * sqrtf(shape);

    return z > 4 ? 1 : z < -4 ? 0 : 0.5f * erfcf(-0.70710678f * z);
}

/* The shares at the ends of a bin; below the first bound half of all calls take
 * longer than the mean, or as many as beyond that bound. */
static void ends_of(const struct takt_tail_shares *shares, unsigned bin,
                    float x[2], float share[2])
{
    x[0] = bin == 0 ? 0 : takt__tail_bound[bin - 1];
    x[1] = bin == bounds ? farthest : takt__tail_bound[bin];
    share[0] =
        bin == 0 ? fmaxf(0.5f, shares->beyond[0]) : shares->beyond[bin - 1];
    share[1] = bin == bounds ? 0 : shares->beyond[bin];
}

/* The mean of a variable above 0 is the integral of the probability that it is
 * greater than x. Between the bounds the root of the share is taken to be
 * straight: somewhere between an even bin and an exponential one. */
void takt__tail_quantile(const struct takt_tail_shares *shares, float share,
                         float *mean, float *variance)
{
    enum { steps = 3 };
    float first = 0, second = 0;

    for (unsigned bin = 0; bin <= bounds; bin++) {
        float x[2], ends[2];
        ends_of(shares, bin, x, ends);
        const float width = (x[1] - x[0]) / steps;
        const float roots[2] = {sqrtf(ends[0]), sqrtf(ends[1])};
        for (unsigned i = 0; i < steps; i++) {
            const float at = ((float)i + 0.5f) / steps;
            const float root = roots[0] + (roots[1] - roots[0]) * at;
            const float p =
                is_greater(root * root * shares->worth, share, shares->worth);
            first += width * p;
            second += 2 * width * p * (x[0] + (x[1] - x[0]) * at);
        }
    }
    *mean = first;
    *variance = fmaxf(second - first * first, 0) + 1e-4f;
}

/* ---- changes ------------------------------------------------------------- */

static const float seldom = 0.025f, least_rate = 0.008f;
enum {
    least_samples = 64,
    scale = 2048,
    threshold = 9 * scale,
    most_sum = 15 * scale,
    ln_four = 2839 /* 1.3863, times scale */
};

/* The lowest bin that few samples reach. */
static void set_level(struct takt_tail_watch *watch,
                      const struct takt_tail *tail)
{
    const float samples = takt__tail_samples(tail);
    unsigned level = TAKT_TAIL_BINS;
    float above = 0;

    while (level > 1) {
        const float with = above + (float)tail->count[level - 1] / unit;
        if (with > seldom * samples)
            break;
        above = with;
        level--;
    }
    if (level == TAKT_TAIL_BINS) /* most are beyond the last bound */
        above = (float)tail->count[--level] / unit;
    const float rate = fminf((above + 0.5f) / (samples + 1), 0.2f);
    watch->level = (uint8_t)level;
    watch->rate = (uint16_t)(fmaxf(rate, least_rate) * 65536);
}

/* With every doubling of the samples. */
static bool is_milestone(unsigned samples, bool is_first)
{
    return samples >= least_samples &&
           (is_first || (samples & (samples - 1)) == 0);
}

static int16_t step(int sum, int by)
{
    const int next = sum + by;
    return (int16_t)(next < 0 ? 0 : next > most_sum ? most_sum : next);
}

/* A sum of log-likelihood ratios for four times as many beyond the level, and
 * one for a quarter of them (after Page): of a sample that is not beyond, these
 * are about -3 and 3/4 of the rate. */
bool takt__tail_watch(struct takt_tail_watch *watch,
                      const struct takt_tail *tail, unsigned samples,
                      unsigned bin)
{
    if (is_milestone(samples, watch->level == 0))
        set_level(watch, tail);
    if (watch->level == 0)
        return false;
    const int thrice = 3 * watch->rate / (65536 / scale);
    const bool is_beyond = bin >= watch->level;
    watch->up = step(watch->up, is_beyond ? ln_four : -thrice);
    watch->down = step(watch->down, is_beyond ? -ln_four : thrice / 4);
    if (watch->up < threshold && watch->down < threshold)
        return false;
    memset(watch, 0, sizeof *watch);
    return true;
}
