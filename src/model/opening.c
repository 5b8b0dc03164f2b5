/* SPDX-License-Identifier: MIT */
/* opening.c - when opening a GPU would have paid. */
#include <math.h>
#include <stdlib.h>

#include "model/inside.h"

void takt__model_set_closed(struct takt_model *model, unsigned arm,
                            bool is_closed)
{
    if (takt__model_is_closed(model, arm) == is_closed)
        return;
    model->closed[arm / 64] ^= (uint64_t)1 << arm % 64;
    model->regret_s[arm] = model->open_at_s[arm] = 0;
    takt__model_change_arm(model, arm);
}

/* ---- regret -------------------------------------------------------------- */

static void predict_all(struct takt_model *model,
                        const struct takt_series *series, unsigned arm,
                        float out[TAKT_BUCKETS])
{
    const float load = (float)model->log_load[model->arm[arm].device];
    struct takt_reference reference;
    struct takt_prediction prediction;

    takt__predict_reference(model, series, 0, &reference);
    takt__predict(model, series, &reference, arm, 0, &prediction);
    for (unsigned j = 0; j < TAKT_BUCKETS; j++)
        out[j] =
            expf(prediction.log_rates[j] + load + prediction.residuals.mean[j] +
                 prediction.residuals.variance[j] / 2);
}

/* What a closed arm would take for a call of a bucket, transfers included;
 * negative: no memory. Asked with every sample, so it is predicted anew only
 * when the questions have doubled. */
static double predict_closed(struct takt_model *model,
                             struct takt_series *series, unsigned arm,
                             unsigned bucket)
{
    struct takt_track *track = takt__track_at(series, arm);

    if (track == NULL)
        return -1;
    if (track->closed_s == NULL) {
        track->closed_s = calloc(TAKT_BUCKETS, sizeof *track->closed_s);
        track->asked = 0;
    }
    if (track->closed_s == NULL)
        return -1;
    track->asked++;
    if ((track->asked & (track->asked - 1)) == 0)
        predict_all(model, series, arm, track->closed_s);
    return (double)track->closed_s[bucket];
}

void takt__regret_add(struct takt_model *model,
                      const struct takt_observation *seen, unsigned arm)
{
    const struct takt_sample *sample = seen->sample;

    if (arm == sample->arm)
        return;
    const double would_s =
        predict_closed(model, seen->series, arm, sample->bucket);
    if (would_s > 0)
        model->regret_s[arm] +=
            takt__observed_excess(seen, would_s) * sample->calls;
}

/* ---- opening ------------------------------------------------------------- */

/* As measured here, or else on another machine; but no longer than the rates
 * say. A driver that had to compile first does not have to the next time, and
 * no call waits for it, since it is opened in a thread of its own. */
static double opening_of(const struct takt_model *model, unsigned arm)
{
    const struct takt_series *series =
        model->series[TAKT_SERIES_LINKS + TAKT_LINK_OPEN];
    const struct takt_track *track = series == NULL ? NULL : series->track[arm];
    const struct takt_curve *curve = NULL;

    if (track != NULL)
        curve = track->curve[0] != NULL ? track->curve[0] : track->hint[0];
    const struct takt_stat *stat =
        curve == NULL ? NULL : takt__curve_find(curve, 0);
    return takt__rates_link(&model->arm[arm].rates, TAKT_LINK_OPEN, 0, NULL) *
           fmin(exp(stat == NULL ? 0 : stat->all.mean), 1);
}

bool takt__model_next_to_open(struct takt_model *model, unsigned *arm)
{
    for (unsigned a = 0; a < model->arm_count; a++) {
        if (!takt__model_is_closed(model, a) || model->regret_s[a] <= 0)
            continue;
        if (model->open_at_s[a] <= 0)
            model->open_at_s[a] = opening_of(model, a);
        if (model->regret_s[a] < model->open_at_s[a])
            continue;
        model->open_at_s[a] = 2 * model->regret_s[a];
        *arm = a;
        return true;
    }
    return false;
}
