/* SPDX-License-Identifier: MIT */
/* curve.c - robust statistics per bucket, and the smoother between them. */
#include "model/curve.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A series has up to 96 of them for each of its experts. */
_Static_assert(sizeof(struct takt_stat) <= 152, "statistics stay small");

/* With more samples than these, older ones fade, so that the mean follows. */
static const double window = 64;

/* A spread to start from, and how many samples it is worth. */
static const double prior_sigma = 0.10, prior_worth = 4;
static const double least_sigma = 0.05;

/* In ln(seconds), judgement: what takes longer by less is rather a wrong rate
 * than a spike. */
static const float many_times = 2;

/* A single sample of a measurement, not of a call, has the caches, the clock
 * and the neighbours of one moment: its variance beside that of the others,
 * measured (docs/decisions/0071). */
static const float of_moment = 0.03f;

/* The correlation of residuals half an octave apart: e^(-0.5 / 8), measured
 * (docs/decisions/0005). */
static const float fading = 0.9394131f;

void takt__curve_destroy(struct takt_curve *curve)
{
    if (curve != NULL)
        free(curve->stat);
    free(curve);
}

/* The position of a bucket, or where it would be. */
static unsigned position(const struct takt_curve *curve, unsigned bucket)
{
    unsigned i = 0;

    while (i < curve->count && curve->stat[i].bucket < bucket)
        i++;
    return i;
}

struct takt_stat *takt__curve_find(const struct takt_curve *curve,
                                   unsigned bucket)
{
    const unsigned i = position(curve, bucket);

    return i < curve->count && curve->stat[i].bucket == bucket ? &curve->stat[i]
                                                               : NULL;
}

static bool grow(struct takt_curve *curve)
{
    const unsigned capacity = curve->capacity == 0 ? 4 : 2 * curve->capacity;
    struct takt_stat *stat = realloc(curve->stat, capacity * sizeof *stat);

    if (stat == NULL)
        return false;
    curve->stat = stat;
    curve->capacity = capacity;
    return true;
}

struct takt_stat *takt__stat_at(struct takt_curve **at, unsigned bucket)
{
    if (*at == NULL)
        *at = calloc(1, sizeof **at);
    struct takt_curve *curve = *at;
    if (curve == NULL)
        return NULL;
    const unsigned i = position(curve, bucket);
    if (i < curve->count && curve->stat[i].bucket == bucket)
        return &curve->stat[i];
    if (curve->count == curve->capacity && !grow(curve))
        return NULL;
    memmove(&curve->stat[i + 1], &curve->stat[i],
            (curve->count - i) * sizeof curve->stat[0]);
    curve->stat[i] = (struct takt_stat){.bucket = bucket & 127};
    curve->count++;
    return &curve->stat[i];
}

static double variance_of(const struct takt_sums *sums)
{
    const double sum = sums->m2 + prior_worth * prior_sigma * prior_sigma;
    const double variance = sum / (sums->n + prior_worth);
    const double least = least_sigma * least_sigma;

    return variance > least ? variance : least;
}

double takt__sums_sigma(const struct takt_sums *sums)
{
    return sqrt(variance_of(sums));
}

/* More than a few samples, since a few may be spikes. */
struct takt_sums takt__sums_worth(double mean, double variance)
{
    const double n = 8;
    const double m2 = variance * n * (n + prior_worth) -
                      prior_worth * prior_sigma * prior_sigma;

    return (struct takt_sums){n, mean, m2 > 0 ? m2 : 0};
}

/* After Chan, Golub and LeVeque. */
void takt__sums_pool(struct takt_sums *into, const struct takt_sums *from)
{
    const double n = into->n + from->n;
    const double distance = from->mean - into->mean;

    if (!(from->n > 0))
        return;
    into->m2 += from->m2 + distance * distance * into->n * from->n / n;
    into->mean += distance * from->n / n;
    into->n = n;
}

void takt__sums_move(struct takt_sums *sums, double mean, double n)
{
    sums->mean = mean;
    if (sums->n > 0)
        sums->m2 *= n / sums->n;
    sums->n = n;
}

bool takt__sums_is_outlier(const struct takt_sums *sums, double residual)
{
    return fabs(residual - sums->mean) > 3 * takt__sums_sigma(sums);
}

static void forget_one(struct takt_sums *sums)
{
    if (sums->n >= window)
        takt__sums_move(sums, sums->mean, window - 1);
    sums->n++;
}

static void add(struct takt_sums *sums, double value)
{
    const double distance = value - sums->mean;

    forget_one(sums);
    sums->mean += distance / sums->n;
    sums->m2 += distance * (value - sums->mean);
}

/* An outlier counts for the spread and not for the mean: when the speed has
 * changed for good, the drift detector moves the mean. */
static void widen(struct takt_sums *sums)
{
    const double distance = 3 * takt__sums_sigma(sums);

    forget_one(sums);
    sums->m2 += distance * distance;
}

/* Of two samples that disagree the faster one counts: interference only slows
 * down. */
static void settle(struct takt_sums *sums, double residual)
{
    if (residual < sums->mean)
        sums->mean = residual;
    sums->n = 2;
}

static void take(struct takt_sums *sums, double residual, bool is_outlier)
{
    if (!is_outlier || sums->n < 1)
        add(sums, residual);
    else if (sums->n < 2)
        settle(sums, residual);
    else
        widen(sums);
}

void takt__stat_add(struct takt_stat *stat, double residual)
{
    const bool is_outlier = takt__sums_is_outlier(&stat->all, residual);
    const bool is_only_others = stat->all.n >= 1 && stat->own.n < 1;

    take(&stat->all, residual, is_outlier);
    if (!is_outlier || !is_only_others)
        take(&stat->own, residual, is_outlier);
}

void takt__stat_add_tuned(struct takt_stat *stat, double residual)
{
    take(&stat->all, residual, false);
    take(&stat->own, residual, false);
}

/* The variance of a mean: samples spread, and a single one may be a spike if it
 * took many times longer than expected, where anything was expected. */
static float noise_of(const struct takt_stat *stat, float surprise, float prior)
{
    const struct takt_sums *sums = &stat->all;
    const bool is_moment = sums->n < 2 && stat->calls < 1;
    const float noise =
        (float)variance_of(sums) / (float)sums->n + (is_moment ? of_moment : 0);

    if (sums->n >= 2 || surprise < many_times || prior > 1 ||
        surprise * surprise < 4 * (prior + noise))
        return noise;
    return noise + 0.36f * surprise * surprise;
}

/* A Kalman filter up the buckets and a smoother down again, on the deviation
 * from the prior mean, in units of the prior standard deviation. */
void takt__curve_smooth(const struct takt_curve *curve,
                        struct takt_residuals *residuals)
{
    float mean[TAKT_BUCKETS], variance[TAKT_BUCKETS]; /* after the filter */
    const float spread = 1 - fading * fading;
    unsigned next = 0;
    float m = 0, p = 1;

    if (curve == NULL)
        return;
    for (unsigned j = 0; j < TAKT_BUCKETS; j++) {
        m *= fading;
        p = fading * fading * p + spread;
        if (next < curve->count && curve->stat[next].bucket == j) {
            const struct takt_stat *stat = &curve->stat[next++];
            const struct takt_sums *all = &stat->all;
            const float unit = sqrtf(residuals->variance[j]);
            const float surprise =
                (float)all->mean - residuals->mean[j] - m * unit;
            if (all->n > 0) {
                const float wide = p * unit * unit;
                const float noise = noise_of(stat, surprise, wide) + 1e-6f;
                m += p * unit * surprise / (wide + noise);
                p *= noise / (wide + noise);
            }
        }
        mean[j] = m;
        variance[j] = p;
    }
    for (unsigned j = TAKT_BUCKETS; j-- > 0;) {
        if (j + 1 < TAKT_BUCKETS) {
            const float ahead = fading * fading * variance[j] + spread;
            const float pull = fading * variance[j] / ahead;
            mean[j] += pull * (mean[j + 1] - fading * mean[j]);
            variance[j] += pull * pull * (variance[j + 1] - ahead);
        }
        residuals->mean[j] += mean[j] * sqrtf(residuals->variance[j]);
        residuals->variance[j] *= variance[j];
    }
}
