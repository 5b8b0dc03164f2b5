/* SPDX-License-Identifier: MIT */
/* posterior.c - the predictions of all arms, for one series and situation. */
#include <math.h>

#include "model/inside.h"

struct takt_posterior *takt__model_posterior(struct takt_model *model,
                                             unsigned series,
                                             unsigned situation)
{
    struct takt_posterior *out = &model->posterior;

    out->model = model;
    out->series = takt__series_at(model, series);
    out->situation = situation;
    out->count = 0;
    if (out->series == NULL)
        return out;
    takt__predict_reference(model, out->series, situation, &out->reference);
    for (unsigned arm = 0; arm < model->arm_count; arm++) {
        if (!takt__model_allows(model, series, arm))
            continue;
        takt__predict(model, out->series, &out->reference, arm, situation,
                      &out->prediction[out->count]);
        out->arm[out->count++] = arm;
    }
    return out;
}

unsigned takt__posterior_position(const struct takt_posterior *posterior,
                                  unsigned arm)
{
    unsigned i = 0;

    while (i < posterior->count && posterior->arm[i] != arm)
        i++;
    return i;
}

const struct takt_stat *
takt__posterior_stat(const struct takt_posterior *posterior, unsigned arm,
                     unsigned bucket)
{
    const struct takt_track *track = posterior->series->track[arm];
    const unsigned situation = takt__track_situation(
        posterior->series, &posterior->model->arm[arm], posterior->situation);

    return track == NULL || track->curve[situation] == NULL
               ? NULL
               : takt__curve_find(track->curve[situation], bucket);
}

double takt__posterior_samples(const struct takt_posterior *posterior,
                               unsigned arm, unsigned bucket)
{
    const struct takt_stat *stat = takt__posterior_stat(posterior, arm, bucket);
    return stat == NULL ? 0 : stat->all.n;
}

bool takt__is_measured(const struct takt_series *series, unsigned arm)
{
    const struct takt_track *track = series->track[arm];

    for (unsigned s = 0; track != NULL && s < TAKT_SITUATIONS; s++)
        if (track->samples[s] > 0)
            return true;
    return false;
}

static double longest_first_run(const struct takt_track *track)
{
    double longest = 0;

    for (unsigned s = 0; track != NULL && s < TAKT_SITUATIONS; s++)
        for (unsigned i = 0;
             track->curve[s] != NULL && i < track->curve[s]->count; i++)
            longest = fmax(longest, (double)track->curve[s]->stat[i].first_s);
    return longest;
}

struct takt_arm_estimate
takt__posterior_estimate(const struct takt_posterior *posterior, unsigned arm,
                         unsigned bucket, const takt_work *work)
{
    struct takt_arm_estimate out = {.seconds = -1, .variance = -1};
    const unsigned i = takt__posterior_position(posterior, arm);
    if (i == posterior->count)
        return out;
    const struct takt_track *track = posterior->series->track[arm];
    const struct takt_residuals *residuals =
        &posterior->prediction[i].residuals;
    const struct takt_arm *of = &posterior->model->arm[arm];
    if (work == NULL)
        work = &posterior->series->typical[bucket];
    const double rates_s = takt__series_expect(posterior->series, of, work,
                                               posterior->situation, NULL);
    out.variance = (double)residuals->variance[bucket];
    out.log_mean = log(rates_s) + (double)residuals->mean[bucket] +
                   posterior->model->log_load[of->device];
    out.seconds = exp(out.log_mean + out.variance / 2);
    out.samples = takt__posterior_samples(posterior, arm, bucket);
    out.is_suspect = track != NULL && track->suspect_ns != 0;
    out.first_s = longest_first_run(track);
    return out;
}
