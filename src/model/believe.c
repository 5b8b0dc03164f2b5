/* SPDX-License-Identifier: MIT */
/*
 * believe.c - what to believe of an arm where little or nothing was measured.
 *
 * In this order, each the starting point of the next: how far the arm is off
 * its rates on other ops of this machine; what the most used arm of the series
 * showed about the series (an op that is dearer than its operations say is so
 * for everyone); hints from other machines; the arm itself in the situation in
 * which it is known best; the arm itself in the situation asked about.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model/inside.h"

/* Doubt in ln(seconds), squared: judgement, checked by simulation. */
static const double unknown = 0.5;      /* nobody has seen this arm */
static const double between_ops = 0.15; /* of one arm, worth two series */
static const double within_op = 0.04;   /* from bucket to bucket */
static const double other_situation = 0.04;

/* How much of what is peculiar to a series is so for another arm as well. */
static const double other_arm = 0.6, same_kin = 0.9;

/* ---- calibration -----------------------------------------------------------
 */

struct average {
    double count, mean;
};

static void count_curve(const struct takt_model *model,
                        const struct takt_series *series, unsigned arm,
                        unsigned situation, struct average by_bound[])
{
    const struct takt_curve *curve = series->track[arm]->curve[situation];

    for (unsigned i = 0; curve != NULL && i < curve->count; i++) {
        const struct takt_stat *stat = &curve->stat[i];
        if (stat->all.n < 2)
            continue;
        const struct takt_work_of work = series->typical[stat->bucket];
        uint8_t bound;
        takt__series_expect(series, &model->arm[arm], &work, situation, &bound);
        struct average *into = &by_bound[bound];
        into->count++;
        into->mean += (stat->all.mean - into->mean) / into->count;
    }
}

static void count_series(struct takt_model *model,
                         const struct takt_series *series, unsigned arm)
{
    struct average by_bound[TAKT_BOUNDS] = {{0, 0}};

    for (unsigned s = 0; s < TAKT_SITUATIONS; s++)
        count_curve(model, series, arm, s, by_bound);
    for (unsigned b = 0; b < TAKT_BOUNDS; b++) {
        struct takt_calibration *into = &model->calibration[arm][b];
        const double distance = by_bound[b].mean - into->mean;
        if (by_bound[b].count <= 0)
            continue;
        into->series++;
        into->mean += distance / into->series;
        into->m2 += distance * (by_bound[b].mean - into->mean);
    }
}

/* Made anew when a sixteenth more is known: it moves slowly, and takes a tenth
 * of a millisecond when much is known. */
static void calibrate(struct takt_model *model)
{
    if (model->is_calibrated &&
        model->uncalibrated < 16 + model->counters.samples / 16 &&
        model->uncalibrated < 2000)
        return;
    model->uncalibrated = 0;
    model->is_calibrated = true;
    memset(model->calibration, 0,
           model->arm_count * sizeof model->calibration[0]);
    for (unsigned l = 0; l < TAKT_SERIES_COUNT; l++) {
        const struct takt_series *series = model->series[l];
        for (unsigned i = 0; series != NULL && i < series->arm_count; i++)
            count_series(model, series, series->arm[i]);
    }
}

/* What an arm is off its rates, shrunk towards nothing while little is known;
 * and how much a new series may differ from that. */
static void offset_of(const struct takt_calibration *known, double *offset,
                      double *variance)
{
    const double series = known->series;
    const double between = (known->m2 + 2 * between_ops) / (series + 1);
    const double share = unknown * series / (unknown * series + between_ops);

    *offset = known->mean * share;
    *variance =
        series < 1 ? unknown
                   : fmin(unknown, between + within_op + unknown * (1 - share));
}

/* ---- the series
 * --------------------------------------------------------------
 */

static double samples_of(const struct takt_track *track)
{
    double all = 0;

    for (unsigned s = 0; s < TAKT_SITUATIONS; s++)
        all += track->samples[s];
    return all;
}

static unsigned best_known(const struct takt_series *series)
{
    unsigned best = TAKT_NO_ARM;
    double most = 0;

    for (unsigned i = 0; i < series->arm_count; i++) {
        const double samples = samples_of(series->track[series->arm[i]]);
        if (samples > most) {
            most = samples;
            best = series->arm[i];
        }
    }
    return best;
}

/* The situation in which an arm is known best. */
static unsigned best_situation(const struct takt_track *track,
                               unsigned situation)
{
    for (unsigned s = 0; s < TAKT_SITUATIONS; s++)
        if (track->samples[s] > track->samples[situation])
            situation = s;
    return situation;
}

/* Where everything starts: the rates, and other ops. */
static void start(const struct takt_model *model,
                  const struct takt_series *series, unsigned arm,
                  unsigned situation, struct takt_prospect *out)
{
    double offset[TAKT_BOUNDS], variance[TAKT_BOUNDS];

    for (unsigned b = 0; b < TAKT_BOUNDS; b++)
        offset_of(&model->calibration[arm][b], &offset[b], &variance[b]);
    for (unsigned j = 0; j < TAKT_BUCKETS; j++) {
        const struct takt_work_of work = series->typical[j];
        out->log_rates[j] = logf((float)takt__series_expect(
            series, &model->arm[arm], &work, situation, &out->bound[j]));
        out->belief.mean[j] = (float)offset[out->bound[j]];
        out->belief.variance[j] = (float)variance[out->bound[j]];
    }
}

/* What the reference showed about the series, for another arm: as when two
 * normal variables are correlated and one is seen. Moving operands over a link
 * takes what it takes, whatever the op. */
static void carry_over(const struct takt_reference *reference,
                       double correlation, struct takt_prospect *prospect)
{
    const float rho = (float)correlation;
    struct takt_belief *belief = &prospect->belief;

    for (unsigned j = 0; j < TAKT_BUCKETS; j++) {
        const float before = reference->before.variance[j];
        const struct takt_belief *after = &reference->prospect.belief;
        const float known = 1 - after->variance[j] / before;
        const float surprise = after->mean[j] - reference->before.mean[j];
        if ((prospect->bound[j] == TAKT_BOUND_LINK) !=
            (reference->prospect.bound[j] == TAKT_BOUND_LINK))
            continue;
        belief->mean[j] += rho * sqrtf(belief->variance[j] / before) * surprise;
        belief->variance[j] *= 1 - rho * rho * fmaxf(0, known);
    }
}

static void learn_from(const struct takt_curve *curve,
                       struct takt_belief *belief)
{
    if (curve != NULL)
        takt__curve_believe(curve, belief, belief);
}

/* What was seen in another situation. The more the two differ by the rates, the
 * less one says of the other; and what moving operands to a GPU takes says
 * nothing of what computing there does. */
static void learn_across(const struct takt_arm *arm,
                         const struct takt_series *series,
                         const struct takt_curve *curve, unsigned from,
                         struct takt_prospect *prospect)
{
    const struct takt_belief before = prospect->belief;
    struct takt_belief *belief = &prospect->belief;

    learn_from(curve, belief);
    for (unsigned j = 0; j < TAKT_BUCKETS; j++) {
        const struct takt_work_of work = series->typical[j];
        uint8_t bound;
        const float there =
            logf((float)takt__series_expect(series, arm, &work, from, &bound));
        const float ratio = there - prospect->log_rates[j];
        belief->variance[j] += (float)other_situation + 0.1f * ratio * ratio;
        if (takt__arm_is_gpu(arm) && bound != prospect->bound[j]) {
            belief->mean[j] = before.mean[j];
            belief->variance[j] = before.variance[j];
        }
    }
}

/* What other machines saw, in this situation or else in any. */
static void take_hints(const struct takt_arm *arm,
                       const struct takt_series *series,
                       struct takt_curve *const hint[], unsigned situation,
                       struct takt_prospect *prospect)
{
    unsigned from = situation;

    for (unsigned s = 0; s < TAKT_SITUATIONS && hint[from] == NULL; s++)
        from = s;
    if (from == situation)
        learn_from(hint[from], &prospect->belief);
    else if (hint[from] != NULL)
        learn_across(arm, series, hint[from], from, prospect);
}

/* An arm by itself: hints, its best known situation, the one asked about. */
static void refine(const struct takt_model *model,
                   const struct takt_series *series, unsigned arm,
                   unsigned situation, struct takt_prospect *prospect)
{
    const struct takt_track *track = series->track[arm];
    const struct takt_arm *of = &model->arm[arm];

    if (track == NULL)
        return;
    const unsigned best = best_situation(track, situation);
    take_hints(of, series, track->hint, situation, prospect);
    if (best != situation)
        learn_across(of, series, track->curve[best], best, prospect);
    learn_from(track->curve[situation], &prospect->belief);
}

/* A GPU shows what an op is like by computing, not by moving its operands. */
void takt__reference_find(struct takt_model *model,
                          const struct takt_series *series, unsigned situation,
                          struct takt_reference *out)
{
    calibrate(model);
    out->arm = best_known(series);
    if (out->arm == TAKT_NO_ARM)
        return;
    if (takt__arm_is_gpu(&model->arm[out->arm]))
        situation = TAKT_RESIDENT;
    situation = takt__track_situation(series, &model->arm[out->arm], situation);
    out->situation = situation;
    start(model, series, out->arm, situation, &out->prospect);
    out->before = out->prospect.belief;
    refine(model, series, out->arm, situation, &out->prospect);
}

void takt__believe(const struct takt_model *model,
                   const struct takt_series *series,
                   const struct takt_reference *reference, unsigned arm,
                   unsigned situation, struct takt_prospect *out)
{
    const unsigned kin = model->arm[arm].kin;

    situation = takt__track_situation(series, &model->arm[arm], situation);
    if (reference->arm == arm && reference->situation == situation) {
        *out = reference->prospect;
        return;
    }
    start(model, series, arm, situation, out);
    if (reference->arm != TAKT_NO_ARM && reference->arm != arm)
        carry_over(reference,
                   kin == model->arm[reference->arm].kin ? same_kin : other_arm,
                   out);
    refine(model, series, arm, situation, out);
}

/* ---- who is asleep ---------------------------------------------------------
 */

static void expect_asleep(struct takt_model *model,
                          const struct takt_series *series, unsigned arm,
                          float out[TAKT_BUCKETS])
{
    const float load = (float)model->log_load[model->arm[arm].device];
    struct takt_reference reference;
    struct takt_prospect prospect;

    takt__reference_find(model, series, 0, &reference);
    takt__believe(model, series, &reference, arm, 0, &prospect);
    for (unsigned j = 0; j < TAKT_BUCKETS; j++)
        out[j] = expf(prospect.log_rates[j] + load + prospect.belief.mean[j] +
                      prospect.belief.variance[j] / 2);
}

/* Asked with every sample, so it is made anew only when the questions have
 * doubled. */
double takt__expected_asleep(struct takt_model *model,
                             struct takt_series *series, unsigned arm,
                             unsigned bucket)
{
    struct takt_track *track = takt__track_at(series, arm);

    if (track == NULL)
        return -1;
    if (track->asleep_s == NULL) {
        track->asleep_s = calloc(TAKT_BUCKETS, sizeof *track->asleep_s);
        track->asked = 0;
    }
    if (track->asleep_s == NULL)
        return -1;
    track->asked++;
    if ((track->asked & (track->asked - 1)) == 0)
        expect_asleep(model, series, arm, track->asleep_s);
    return (double)track->asleep_s[bucket];
}
