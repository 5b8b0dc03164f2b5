/* SPDX-License-Identifier: MIT */
/*
 * drift.c - detects that an arm became slower or faster, however long its
 * history.
 *
 * A two-sided cumulative sum of the distances from the mean, each clipped to
 * three sigma, so that no single spike can raise an alarm. An alarm moves the
 * means of the neighbouring buckets to where the last samples are and lets them
 * follow quickly. The means before are kept, so that a change that comes and
 * goes costs three calls, not a new beginning.
 *
 * What changes to and fro faster than verdicts can follow is no change of speed
 * but spread: a core that the host takes away for milliseconds makes calls of a
 * team take twice as long, hundreds of them in a row. Then the mean is that of
 * both, and samples count if they are so far apart in time that they do not
 * depend on each other.
 *
 * When most of what runs on a device changes at once, the device has changed:
 * then its load moves, and the curves stay as they were learned.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model/inside.h"

/* Measured in simulation (docs/decisions/0005): a change of 1.2 or more is
 * found after 7 calls, a false alarm comes less than once in 500,000. */
static const float allowance = 1, threshold = 12, clip = 3;

/* Judgement: regimes nearer than this are one, samples nearer are the same. */
static const double apart = 0.2, alike = 0.1;

static const uint64_t moment_ns = 2000000000; /* "at once" */

static int by_value(const void *a, const void *b)
{
    const float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

static float median_of(const float *values, unsigned count)
{
    float sorted[TAKT_DRIFT_RECENT];

    memcpy(sorted, values, count * sizeof sorted[0]);
    qsort(sorted, count, sizeof sorted[0], by_value);
    return sorted[count / 2];
}

static void remember(struct takt_drift *drift, float distance)
{
    for (unsigned i = TAKT_DRIFT_RECENT - 1; i > 0; i--)
        drift->recent[i] = drift->recent[i - 1];
    drift->recent[0] = distance;
    if (drift->recent_count < TAKT_DRIFT_RECENT)
        drift->recent_count++;
}

static void start_over(struct takt_drift *drift)
{
    drift->up = drift->down = 0;
    drift->recent_count = 0;
    drift->agreeing = 0;
}

/* ---- regimes ------------------------------------------------------------- */

static void move(struct takt_stat *stat, double mean, double n)
{
    const double own_mean = stat->own.mean + mean - stat->all.mean;
    const double own_n = stat->own.n * n / stat->all.n;

    takt__sums_move(&stat->own, own_mean, fmin(own_n, n));
    takt__sums_move(&stat->all, mean, n);
    stat->is_changed = true;
}

/* One that changed has a sample at least. More than a few count as these. */
static void keep_before(struct takt_stat *stat, const struct takt_sums *sums)
{
    static const double most = 1024;

    stat->before = (float)sums->mean;
    stat->before_n = (uint16_t)fmax(fmin(sums->n, most), 1);
}

/* Moves all buckets that are watched together, and keeps where they were. */
static void shift_buckets(struct takt_curve *curve, unsigned group,
                          double shift)
{
    for (unsigned i = 0; i < curve->count; i++) {
        struct takt_stat *stat = &curve->stat[i];
        if (stat->bucket / TAKT_DRIFT_BUCKETS != group || stat->all.n <= 0)
            continue;
        keep_before(stat, &stat->all);
        move(stat, stat->all.mean + shift, fmin(stat->all.n, 2));
    }
}

/* Swaps with what was before the last alarm. */
static void swap_buckets(struct takt_curve *curve, unsigned group)
{
    for (unsigned i = 0; i < curve->count; i++) {
        struct takt_stat *stat = &curve->stat[i];
        const struct takt_sums now = stat->all;
        if (stat->bucket / TAKT_DRIFT_BUCKETS != group || stat->before_n == 0)
            continue;
        move(stat, (double)stat->before, (double)stat->before_n);
        keep_before(stat, &now);
    }
}

/* The other arms in these buckets are worth a trial soon. */
static void discount_others(struct takt_series *series, unsigned arm,
                            unsigned group)
{
    for (unsigned s = 0; s < TAKT_SITUATIONS; s++)
        for (unsigned i = 0; i < series->arm_count; i++) {
            const struct takt_curve *curve =
                series->track[series->arm[i]]->curve[s];
            for (unsigned b = 0; curve != NULL && b < curve->count; b++) {
                struct takt_sums *all = &curve->stat[b].all;
                if (curve->stat[b].bucket / TAKT_DRIFT_BUCKETS == group &&
                    series->arm[i] != arm && all->n > 4)
                    takt__sums_move(all, all->mean, 4);
            }
        }
}

/* ---- changes to and fro -------------------------------------------------- */

/* Samples of short calls of a team count if they are so far apart: those
 * between them say the same. It is twice as far after each change to and fro.
 */
static const unsigned spacing_ns = 1 << 20;
enum { most_doublings = 3, few = 16 };

/* Verdicts are published every few milliseconds. */
static const uint32_t fast_ms = 20;

/* Of trials and of runs that programs report, the time says nothing about the
 * sample before. */
static bool is_in_place(const struct takt_sample *sample)
{
    return (sample->flags & (TAKT_SAMPLE_EXPLORED | TAKT_SAMPLE_REPORTED)) == 0;
}

bool takt__drift_is_dense(const struct takt_model *model,
                          const struct takt_observation *seen)
{
    const struct takt_drift *drift =
        &seen->curve->drift[seen->sample->bucket / TAKT_DRIFT_BUCKETS];
    const uint64_t now_ns = seen->sample->start_ns;

    return model->arm[seen->sample->arm].rates.threads > 1 &&
           (seen->stat->all.n >= few || drift->changed > 0) &&
           is_in_place(seen->sample) && now_ns > drift->seen_ns &&
           now_ns - drift->seen_ns < spacing_ns << drift->doublings;
}

/* Notes a change. Whether the last one was a moment ago. What a trial finds may
 * have changed while other arms ran. */
static bool is_to_and_fro(struct takt_drift *drift,
                          const struct takt_sample *sample)
{
    const uint32_t now_ms = (uint32_t)(sample->start_ns >> 20);
    const uint32_t before = drift->changed;

    drift->changed = now_ms > 0 ? now_ms : 1;
    return is_in_place(sample) && before > 0 &&
           now_ms - before < fast_ms << drift->doublings;
}

/* Means and spreads that hold what was before and after a change. */
static void spread_buckets(struct takt_curve *curve, unsigned group,
                           double shift)
{
    struct takt_drift *drift = &curve->drift[group];

    for (unsigned i = 0; i < curve->count; i++) {
        struct takt_stat *stat = &curve->stat[i];
        if (stat->bucket / TAKT_DRIFT_BUCKETS != group || stat->all.n <= 0)
            continue;
        const double sigma =
            fmax(takt__sums_sigma(&stat->all), fabs(shift) / 2);
        const struct takt_sums both =
            takt__sums_worth(stat->all.mean + shift / 2, sigma * sigma);
        move(stat, both.mean, both.n);
        stat->all.m2 = both.m2;
        stat->own.m2 = both.m2 * stat->own.n / stat->all.n;
        stat->before_n = 0;
    }
    if (drift->doublings < most_doublings)
        drift->doublings++;
    start_over(drift);
}

/* ---- devices ------------------------------------------------------------- */

/* The arms of a device that were run just now. */
struct census {
    const struct takt_model *model;
    unsigned device;
    uint64_t now_ns;
    unsigned active, alarmed;
    float shift[64]; /* of those alarmed; more do not matter */
};

static bool is_recent(uint64_t then_ns, uint64_t now_ns)
{
    return then_ns != 0 && now_ns - then_ns <= moment_ns;
}

static void count(void *self, const struct takt_curve_at *at)
{
    struct census *census = self;

    if (census->model->arm[at->arm].device != census->device)
        return;
    for (unsigned g = 0; g < TAKT_BUCKETS / TAKT_DRIFT_BUCKETS; g++) {
        const struct takt_drift *drift = &at->curve->drift[g];
        if (!is_recent(drift->seen_ns, census->now_ns))
            continue;
        census->active++;
        if (!is_recent(drift->alarm_ns, census->now_ns))
            continue;
        if (census->alarmed < 64)
            census->shift[census->alarmed] = drift->shift;
        census->alarmed++;
    }
}

static void withdraw_alarms(void *self, const struct takt_curve_at *at)
{
    const struct census *census = self;

    if (census->model->arm[at->arm].device != census->device)
        return;
    for (unsigned g = 0; g < TAKT_BUCKETS / TAKT_DRIFT_BUCKETS; g++) {
        struct takt_drift *drift = &at->curve->drift[g];
        if (!is_recent(drift->alarm_ns, census->now_ns))
            continue;
        swap_buckets(at->curve, g);
        drift->alarm_ns = 0;
        start_over(drift);
    }
}

/* Whether most of the device changed at once, in the same direction. */
static void check_device(struct takt_model *model, unsigned device,
                         uint64_t now_ns)
{
    struct census census = {model, device, now_ns, 0, 0, {0}};

    takt__model_each_curve(model, count, &census);
    if (census.active < 5 || census.alarmed * 10 < census.active * 6)
        return;
    const unsigned known = census.alarmed < 64 ? census.alarmed : 64;
    qsort(census.shift, known, sizeof census.shift[0], by_value);
    const float low = census.shift[0], high = census.shift[known - 1];
    if (low * high <= 0)
        return;
    takt__model_each_curve(model, withdraw_alarms, &census);
    takt__model_move_load(model, device, (double)census.shift[known / 2]);
    model->counters.device_alarms++;
}

/* ---- one arm ------------------------------------------------------------- */

void takt__drift_alarm(struct takt_model *model,
                       const struct takt_observation *seen, double shift)
{
    const struct takt_sample *sample = seen->sample;
    const unsigned group = sample->bucket / TAKT_DRIFT_BUCKETS;
    struct takt_drift *drift = &seen->curve->drift[group];

    if (is_to_and_fro(drift, sample)) {
        spread_buckets(seen->curve, group, shift);
        takt__series_change(seen->series);
        return;
    }
    drift->shift = (float)shift;
    drift->alarm_ns = sample->start_ns;
    shift_buckets(seen->curve, group, shift);
    start_over(drift);
    discount_others(seen->series, sample->arm, group);
    model->counters.alarms++;
    takt__series_change(seen->series);
    check_device(model, model->arm[sample->arm].device, sample->start_ns);
}

/* Whether the speed is again what it was before the last alarm. */
static bool is_back(struct takt_drift *drift, const struct takt_stat *stat,
                    double residual)
{
    if (stat->before_n > 0 && fabs(residual - (double)stat->before) < alike &&
        fabs((double)stat->before - stat->all.mean) > apart)
        drift->agreeing++;
    else
        drift->agreeing = 0;
    return drift->agreeing >= 3;
}

void takt__drift_watch(struct takt_model *model,
                       const struct takt_observation *seen)
{
    const struct takt_stat *stat = seen->stat;
    const unsigned group = stat->bucket / TAKT_DRIFT_BUCKETS;
    struct takt_drift *drift = &seen->curve->drift[group];
    const float distance = (float)(seen->residual - stat->all.mean);
    const float sigma =
        (float)(takt__sums_sigma(&stat->all) * sqrt(1 + 1 / stat->all.n));
    const float z = fminf(clip, fmaxf(-clip, distance / sigma));

    drift->seen_ns = seen->sample->start_ns;
    remember(drift, distance);
    if (is_back(drift, stat, seen->residual)) {
        if (is_to_and_fro(drift, seen->sample)) {
            spread_buckets(seen->curve, group,
                           (double)stat->before - stat->all.mean);
        } else {
            swap_buckets(seen->curve, group);
            start_over(drift);
            model->counters.restored++;
        }
        takt__series_change(seen->series);
        return;
    }
    drift->up = fmaxf(0, drift->up + z - allowance);
    drift->down = fmaxf(0, drift->down - z - allowance);
    if (drift->up > threshold || drift->down > threshold)
        takt__drift_alarm(
            model, seen, (double)median_of(drift->recent, drift->recent_count));
}
