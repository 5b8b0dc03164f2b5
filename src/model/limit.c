/* SPDX-License-Identifier: MIT */
/*
 * limit.c - what the machine can do at most, as far as it was seen.
 *
 * What is learned of one size or expert is carried to others, and where it is
 * carried too far a library is expected to compute faster than the machine can.
 * The rates of all experts are those of one machine, for arithmetic and for
 * each level of memory. So none is expected to beat its rates by more than the
 * one that was measured to beat its own by most; while nothing was measured,
 * none is expected to beat them.
 */
#include <math.h>

#include "model/inside.h"

void takt__limit_reset(struct takt_limit limit[2])
{
    for (unsigned b = 0; b <= TAKT_BOUND_COMPUTING; b++)
        limit[0].factor[b] = limit[1].factor[b] = 1;
}

static bool has_limit(const struct takt_series *series,
                      const struct takt_arm *arm)
{
    return series->limit >= 0 && !takt__arm_is_gpu(arm);
}

void takt__limit_see(struct takt_model *model, const struct takt_series *series,
                     const struct takt_arm *arm, const takt_work *work,
                     unsigned bound, double seconds)
{
    if (!has_limit(series, arm) || bound > TAKT_BOUND_COMPUTING)
        return;
    double *factor = &model->limit[series->limit].factor[bound];
    const double by_rates =
        takt__rates_part(&arm->rates, work->bytes,
                         takt__series_flops(series, arm, work), (uint8_t)bound);
    *factor = fmin(*factor, seconds / by_rates);
}

/* The least time of a call, in ln(seconds). */
static float log_least(const struct takt_limit *limit,
                       const struct takt_series *series,
                       const struct takt_arm *arm, const takt_work *work)
{
    uint8_t level;
    const double moving = takt__rates_moving(&arm->rates, work->bytes, &level);
    const double computing = takt__rates_part(
        &arm->rates, work->bytes, takt__series_flops(series, arm, work),
        TAKT_BOUND_COMPUTING);

    return logf((float)fmax(moving * limit->factor[level],
                            computing * limit->factor[TAKT_BOUND_COMPUTING]));
}

static bool has_stat(const struct takt_curve *curve, unsigned bucket)
{
    for (unsigned i = 0; curve != NULL && i < curve->count; i++)
        if (curve->stat[i].bucket == bucket && curve->stat[i].all.n > 0)
            return true;
    return false;
}

/* Here in this situation, or on other machines in any. */
static bool is_measured(const struct takt_track *track, unsigned situation,
                        unsigned bucket)
{
    bool is_known = track != NULL && has_stat(track->curve[situation], bucket);

    for (unsigned s = 0; track != NULL && !is_known && s < TAKT_SITUATIONS; s++)
        is_known = has_stat(track->hint[s], bucket);
    return is_known;
}

void takt__limit_apply(const struct takt_model *model,
                       const struct takt_series *series, unsigned arm,
                       unsigned situation, struct takt_prediction *prediction)
{
    const struct takt_track *track = series->track[arm];
    const struct takt_arm *of = &model->arm[arm];
    float *mean = prediction->residuals.mean;

    if (!has_limit(series, of))
        return;
    for (unsigned j = 0; j < TAKT_BUCKETS; j++) {
        const float least = log_least(&model->limit[series->limit], series, of,
                                      &series->typical[j]) -
                            prediction->log_rates[j];
        if (mean[j] < least && !is_measured(track, situation, j))
            mean[j] = least;
    }
}
