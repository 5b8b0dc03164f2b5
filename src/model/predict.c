/* SPDX-License-Identifier: MIT */
/*
 * predict.c - what an arm is expected to take, also where little or nothing was
 * measured.
 *
 * In this order, each the prior of the next: how far the arm is off its rates
 * on other ops of this machine; hints from other machines; what the arm with
 * the most samples showed about the series (an op that takes longer than its
 * operations say does so on all arms, and a machine that is slower than others
 * is so with all of them); the arm itself in the situation of which most is
 * known; the arm itself in the situation in question.
 */
#include <math.h>
#include <string.h>

#include "model/inside.h"

/* Variances of ln(seconds): judgement, checked by simulation. */
static const double unknown = 0.5;      /* an arm without samples */
static const double unrated = 1.78;     /* one without rates: it may well take
                                         * ten times as long as another */
static const double between_ops = 0.15; /* of one arm, worth two series */
static const double within_op = 0.04;   /* from bucket to bucket */
static const double other_situation = 0.04;

/* The correlation between what two arms are off their rates on a series: any
 * two, and two of one kin whose teams differ by a factor of two. */
static const float other_arm = 0.6f, next_team = 0.9f;

/* ---- calibration --------------------------------------------------------- */

struct average {
    double count, mean;
};

static void count_curve(struct takt_model *model,
                        const struct takt_series *series, unsigned arm,
                        unsigned situation, struct average by_bound[])
{
    const struct takt_curve *curve = series->track[arm]->curve[situation];

    for (unsigned i = 0; curve != NULL && i < curve->count; i++) {
        const struct takt_stat *stat = &curve->stat[i];
        if (stat->all.n < 1)
            continue;
        uint8_t bound;
        const takt_work *work = &series->typical[stat->bucket];
        const double by_rates = takt__series_expect(series, &model->arm[arm],
                                                    work, situation, &bound);
        takt__limit_see(model, series, &model->arm[arm], work, bound,
                        by_rates * exp(stat->all.mean));
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
    takt__limit_reset(model->limit);
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

/* ---- the series ---------------------------------------------------------- */

static double samples_of(const struct takt_track *track)
{
    double all = 0;

    for (unsigned s = 0; s < TAKT_SITUATIONS; s++)
        all += track->samples[s];
    return all;
}

static unsigned most_sampled(const struct takt_series *series)
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

static unsigned most_sampled_situation(const struct takt_track *track,
                                       unsigned situation)
{
    for (unsigned s = 0; s < TAKT_SITUATIONS; s++)
        if (track->samples[s] > track->samples[situation])
            situation = s;
    return situation;
}

/* The first prior: the rates, and other ops. */
static void start(const struct takt_model *model,
                  const struct takt_series *series, unsigned arm,
                  unsigned situation, struct takt_prediction *out)
{
    double offset[TAKT_BOUNDS], variance[TAKT_BOUNDS];

    for (unsigned b = 0; b < TAKT_BOUNDS; b++)
        offset_of(&model->calibration[arm][b], &offset[b], &variance[b]);
    for (unsigned j = 0; j < TAKT_BUCKETS; j++) {
        out->log_rates[j] = logf((float)takt__series_expect(
            series, &model->arm[arm], &series->typical[j], situation,
            &out->bound[j]));
        out->residuals.mean[j] = (float)offset[out->bound[j]];
        out->residuals.variance[j] = model->arm[arm].is_unrated
                                         ? (float)unrated
                                         : (float)variance[out->bound[j]];
    }
}

static float correlation_of(const struct takt_arm *a, const struct takt_arm *b)
{
    const unsigned x = a->rates.threads, y = b->rates.threads;
    float rho = next_team;

    if (a->kin != b->kin)
        return other_arm;
    for (unsigned less = 2 * (x < y ? x : y); less < (x < y ? y : x); less *= 2)
        rho *= next_team;
    return fmaxf(rho, other_arm);
}

/* What the reference showed about the series, for another arm: two correlated
 * normal variables, of which one is seen. Moving operands over a link takes the
 * same time for every op. Of an arm without rates, the time of another one is
 * all that is known. */
static void carry_over(const struct takt_model *model,
                       const struct takt_reference *reference, unsigned arm,
                       struct takt_prediction *prediction)
{
    const bool is_unrated = model->arm[arm].is_unrated;
    const float rho =
        correlation_of(&model->arm[arm], &model->arm[reference->arm]);
    struct takt_residuals *residuals = &prediction->residuals;

    for (unsigned j = 0; j < TAKT_BUCKETS; j++) {
        const float before = reference->before.variance[j];
        const struct takt_residuals *after = &reference->prediction.residuals;
        const float known = 1 - after->variance[j] / before;
        const float surprise = after->mean[j] - reference->before.mean[j];
        if ((prediction->bound[j] == TAKT_BOUND_LINK) !=
            (reference->prediction.bound[j] == TAKT_BOUND_LINK))
            continue;
        if (is_unrated) {
            residuals->mean[j] = after->mean[j] +
                                 reference->prediction.log_rates[j] -
                                 prediction->log_rates[j];
            continue;
        }
        residuals->mean[j] +=
            rho * sqrtf(residuals->variance[j] / before) * surprise;
        residuals->variance[j] *= 1 - rho * rho * fmaxf(0, known);
    }
}

/* The same for two arms with hints: how far this machine is off the others.
 * That is no more for the arm of which less is known. What is too far off to be
 * the usual difference between machines may concern one of the two alone (cores
 * that others use slow down teams): then hints are believed less. */
static void carry_over_hints(const struct takt_model *model,
                             const struct takt_reference *reference,
                             unsigned arm, struct takt_prediction *prediction)
{
    const struct takt_residuals *after = &reference->prediction.residuals;
    struct takt_residuals *residuals = &prediction->residuals;
    const float rho =
        correlation_of(&model->arm[arm], &model->arm[reference->arm]);

    for (unsigned j = 0; j < TAKT_BUCKETS; j++) {
        const float before = reference->hinted.variance[j];
        const float usual = 2 * sqrtf(before);
        const float surprise = after->mean[j] - reference->hinted.mean[j];
        const float common = fmaxf(-usual, fminf(surprise, usual));
        const float known = fmaxf(0, 1 - after->variance[j] / before);
        if ((prediction->bound[j] == TAKT_BOUND_LINK) !=
            (reference->prediction.bound[j] == TAKT_BOUND_LINK))
            continue;
        residuals->mean[j] +=
            rho * fminf(1, sqrtf(residuals->variance[j] / before)) * common;
        residuals->variance[j] *= 1 - rho * rho * known;
        residuals->variance[j] =
            fmaxf(residuals->variance[j],
                  fminf(residuals->variance[j] +
                            (surprise - common) * (surprise - common),
                        (float)unknown));
    }
}

/* What was seen in another situation. The more the two differ by the rates, the
 * less one says about the other; and the time to move operands to a GPU says
 * nothing about the time to compute there. */
static void smooth_across(const struct takt_arm *arm,
                          const struct takt_series *series,
                          const struct takt_curve *curve, unsigned from,
                          struct takt_prediction *prediction)
{
    const struct takt_residuals before = prediction->residuals;
    struct takt_residuals *residuals = &prediction->residuals;

    takt__curve_smooth(curve, residuals);
    for (unsigned j = 0; j < TAKT_BUCKETS; j++) {
        uint8_t bound;
        const float there = logf((float)takt__series_expect(
            series, arm, &series->typical[j], from, &bound));
        const float ratio = there - prediction->log_rates[j];
        residuals->variance[j] += (float)other_situation + 0.1f * ratio * ratio;
        if (takt__arm_is_gpu(arm) && bound != prediction->bound[j]) {
            residuals->mean[j] = before.mean[j];
            residuals->variance[j] = before.variance[j];
        }
    }
}

/* What other machines saw, in this situation or else in any. False: nothing. */
static bool take_hints(const struct takt_model *model,
                       const struct takt_series *series, unsigned arm,
                       unsigned situation, struct takt_prediction *prediction)
{
    const struct takt_track *track = series->track[arm];
    unsigned from = situation;

    if (track == NULL)
        return false;
    for (unsigned s = 0; s < TAKT_SITUATIONS && track->hint[from] == NULL; s++)
        from = s;
    if (track->hint[from] == NULL)
        return false;
    if (from == situation)
        takt__curve_smooth(track->hint[from], &prediction->residuals);
    else
        smooth_across(&model->arm[arm], series, track->hint[from], from,
                      prediction);
    return true;
}

/* The arm itself: its most sampled situation, the one in question. */
static void refine(const struct takt_model *model,
                   const struct takt_series *series, unsigned arm,
                   unsigned situation, struct takt_prediction *prediction)
{
    const struct takt_track *track = series->track[arm];
    const struct takt_arm *of = &model->arm[arm];

    if (track == NULL)
        return;
    const unsigned best = most_sampled_situation(track, situation);
    if (best != situation)
        smooth_across(of, series, track->curve[best], best, prediction);
    takt__curve_smooth(track->curve[situation], &prediction->residuals);
}

/* What a GPU shows about an op is the time to compute, not to move operands. */
void takt__predict_reference(struct takt_model *model,
                             const struct takt_series *series,
                             unsigned situation, struct takt_reference *out)
{
    calibrate(model);
    out->arm = most_sampled(series);
    if (out->arm == TAKT_NO_ARM)
        return;
    if (takt__arm_is_gpu(&model->arm[out->arm]))
        situation = TAKT_RESIDENT;
    situation = takt__track_situation(series, &model->arm[out->arm], situation);
    out->situation = situation;
    start(model, series, out->arm, situation, &out->prediction);
    out->before = out->prediction.residuals;
    out->is_hinted =
        take_hints(model, series, out->arm, situation, &out->prediction);
    out->hinted = out->prediction.residuals;
    refine(model, series, out->arm, situation, &out->prediction);
}

void takt__predict_before(const struct takt_model *model,
                          const struct takt_series *series,
                          const struct takt_reference *reference, unsigned arm,
                          unsigned situation, struct takt_prediction *out)
{
    situation = takt__track_situation(series, &model->arm[arm], situation);
    start(model, series, arm, situation, out);
    const bool is_hinted = take_hints(model, series, arm, situation, out);
    if (reference->arm == TAKT_NO_ARM || reference->arm == arm)
        return;
    if (!is_hinted)
        carry_over(model, reference, arm, out);
    else if (reference->is_hinted)
        carry_over_hints(model, reference, arm, out);
}

void takt__predict_after(const struct takt_model *model,
                         const struct takt_series *series, unsigned arm,
                         unsigned situation, struct takt_prediction *out)
{
    situation = takt__track_situation(series, &model->arm[arm], situation);
    refine(model, series, arm, situation, out);
    takt__limit_apply(model, series, arm, situation, out);
}

void takt__predict(const struct takt_model *model,
                   const struct takt_series *series,
                   const struct takt_reference *reference, unsigned arm,
                   unsigned situation, struct takt_prediction *out)
{
    takt__predict_before(model, series, reference, arm, situation, out);
    takt__predict_after(model, series, arm, situation, out);
}

/* ---- teams --------------------------------------------------------------- */

void takt__team_begin(struct takt_team_belief belief[TAKT_BUCKETS])
{
    for (unsigned j = 0; j < TAKT_BUCKETS; j++)
        belief[j] = (struct takt_team_belief){0, 1};
}

/* What the samples of a team say: what it is off what was expected of it, and
 * how much of the doubt about it is gone. */
void takt__team_see(struct takt_team_belief belief[TAKT_BUCKETS],
                    const struct takt_residuals *before,
                    const struct takt_residuals *after)
{
    for (unsigned j = 0; j < TAKT_BUCKETS; j++) {
        const float known = 1 - after->variance[j] / before->variance[j];
        if (!(known > 0))
            continue;
        const float off = (after->mean[j] - before->mean[j]) /
                          (known * sqrtf(before->variance[j]));
        const float noise = (1 - known) / known;
        const float gain = belief[j].variance / (belief[j].variance + noise);
        belief[j].mean += gain * (off - belief[j].mean);
        belief[j].variance *= 1 - gain;
    }
}

void takt__team_step(struct takt_team_belief belief[TAKT_BUCKETS],
                     const struct takt_arm *from, const struct takt_arm *to)
{
    const float rho = correlation_of(from, to);

    for (unsigned j = 0; j < TAKT_BUCKETS; j++) {
        belief[j].mean *= rho;
        belief[j].variance = 1 - rho * rho * (1 - belief[j].variance);
    }
}

/* Two normal beliefs of one variable, which share the prior. */
void takt__team_learn(const struct takt_team_belief smaller[TAKT_BUCKETS],
                      const struct takt_team_belief larger[TAKT_BUCKETS],
                      struct takt_residuals *residuals)
{
    for (unsigned j = 0; j < TAKT_BUCKETS; j++) {
        const float low = 1 / smaller[j].variance,
                    high = 1 / larger[j].variance, sure = low + high - 1;
        const float off =
            (low * smaller[j].mean + high * larger[j].mean) / sure;
        residuals->mean[j] += off * sqrtf(residuals->variance[j]);
        residuals->variance[j] /= sure;
    }
}
