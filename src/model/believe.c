/* SPDX-License-Identifier: MIT */
/*
 * believe.c - what to believe of an arm where little or nothing was measured.
 *
 * In this order, each the starting point of the next: how far the arm is off
 * its rates on other ops of this machine; what the most used arm of the line
 * showed about the line (an op that is dearer than its operations say is so for
 * everyone); hints from other machines; the arm itself in the situation in
 * which it is known best; the arm itself in the situation asked about.
 */
#include <math.h>
#include <string.h>

#include "model/inside.h"

/* Doubt in ln(seconds), squared: judgement, checked by simulation. */
static const double unknown = 0.5;      /* nobody has seen this arm */
static const double between_ops = 0.15; /* of one arm, worth two lines */
static const double within_op = 0.04;   /* from bin to bin */
static const double other_situation = 0.04;

/* How much of what is peculiar to a line is so for another arm as well. */
static const double other_arm = 0.6, same_kin = 0.9;

/* ---- calibration -----------------------------------------------------------
 */

struct average {
    double count, mean;
};

static void count_curve(const struct takt_model *model,
                        const struct takt_line *line, unsigned arm,
                        unsigned situation, struct average by_bound[])
{
    const struct takt_curve *curve = line->track[arm]->curve[situation];

    for (unsigned i = 0; curve != NULL && i < curve->count; i++) {
        const struct takt_stat *stat = &curve->stat[i];
        if (stat->all.n < 2)
            continue;
        const struct takt_work_of work = line->typical[stat->bin];
        uint8_t bound;
        takt__rates_expect(&model->arm[arm].rates, work.bytes, work.flops,
                           situation, &bound);
        struct average *into = &by_bound[bound];
        into->count++;
        into->mean += (stat->all.mean - into->mean) / into->count;
    }
}

static void count_line(struct takt_model *model, const struct takt_line *line,
                       unsigned arm)
{
    struct average by_bound[TAKT_BOUNDS] = {{0, 0}};

    for (unsigned s = 0; s < TAKT_SITUATIONS; s++)
        count_curve(model, line, arm, s, by_bound);
    for (unsigned b = 0; b < TAKT_BOUNDS; b++) {
        struct takt_calibration *into = &model->calibration[arm][b];
        const double distance = by_bound[b].mean - into->mean;
        if (by_bound[b].count <= 0)
            continue;
        into->lines++;
        into->mean += distance / into->lines;
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
    for (unsigned l = 0; l < TAKT_LINES; l++) {
        const struct takt_line *line = model->line[l];
        for (unsigned i = 0; line != NULL && i < line->arm_count; i++)
            count_line(model, line, line->arm[i]);
    }
}

/* What an arm is off its rates, shrunk towards nothing while little is known;
 * and how much a new line may differ from that. */
static void offset_of(const struct takt_calibration *known, double *offset,
                      double *variance)
{
    const double lines = known->lines;
    const double between = (known->m2 + 2 * between_ops) / (lines + 1);
    const double share = unknown * lines / (unknown * lines + between_ops);

    *offset = known->mean * share;
    *variance =
        lines < 1 ? unknown
                  : fmin(unknown, between + within_op + unknown * (1 - share));
}

/* ---- the line --------------------------------------------------------------
 */

static double samples_of(const struct takt_track *track)
{
    double all = 0;

    for (unsigned s = 0; s < TAKT_SITUATIONS; s++)
        all += track->samples[s];
    return all;
}

static unsigned best_known(const struct takt_line *line)
{
    unsigned best = TAKT_NO_ARM;
    double most = 0;

    for (unsigned i = 0; i < line->arm_count; i++) {
        const double samples = samples_of(line->track[line->arm[i]]);
        if (samples > most) {
            most = samples;
            best = line->arm[i];
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
static void start(const struct takt_model *model, const struct takt_line *line,
                  unsigned arm, unsigned situation, struct takt_prospect *out)
{
    const struct takt_rates *rates = &model->arm[arm].rates;
    double offset[TAKT_BOUNDS], variance[TAKT_BOUNDS];

    for (unsigned b = 0; b < TAKT_BOUNDS; b++)
        offset_of(&model->calibration[arm][b], &offset[b], &variance[b]);
    for (unsigned j = 0; j < TAKT_BINS; j++) {
        const struct takt_work_of work = line->typical[j];
        out->log_rates[j] = logf((float)takt__rates_expect(
            rates, work.bytes, work.flops, situation, &out->bound[j]));
        out->belief.mean[j] = (float)offset[out->bound[j]];
        out->belief.variance[j] = (float)variance[out->bound[j]];
    }
}

/* What the reference showed about the line, for another arm: as when two
 * normal variables are correlated and one is seen. */
static void carry_over(const struct takt_reference *reference,
                       double correlation, struct takt_belief *belief)
{
    const float rho = (float)correlation;

    for (unsigned j = 0; j < TAKT_BINS; j++) {
        const float before = reference->before.variance[j];
        const struct takt_belief *after = &reference->prospect.belief;
        const float known = 1 - after->variance[j] / before;
        const float surprise = after->mean[j] - reference->before.mean[j];
        belief->mean[j] += rho * sqrtf(belief->variance[j] / before) * surprise;
        belief->variance[j] *= 1 - rho * rho * fmaxf(0, known);
    }
}

/* The more two situations differ by the rates, the less one says of the
 * other. */
static void change_situation(const struct takt_rates *rates,
                             const struct takt_line *line, unsigned from,
                             struct takt_prospect *prospect)
{
    for (unsigned j = 0; j < TAKT_BINS; j++) {
        const struct takt_work_of work = line->typical[j];
        const float there = logf(
            (float)takt__rates_seconds(rates, work.bytes, work.flops, from));
        const float ratio = there - prospect->log_rates[j];
        prospect->belief.variance[j] +=
            (float)other_situation + 0.1f * ratio * ratio;
    }
}

static void learn_from(const struct takt_curve *curve,
                       struct takt_belief *belief)
{
    if (curve != NULL)
        takt__curve_believe(curve, belief, belief);
}

/* What other machines saw, in this situation or else in any. */
static void take_hints(const struct takt_rates *rates,
                       const struct takt_line *line,
                       struct takt_curve *const hint[], unsigned situation,
                       struct takt_prospect *prospect)
{
    unsigned from = situation;

    for (unsigned s = 0; s < TAKT_SITUATIONS && hint[from] == NULL; s++)
        from = s;
    learn_from(hint[from], &prospect->belief);
    if (hint[from] != NULL && from != situation)
        change_situation(rates, line, from, prospect);
}

/* An arm by itself: hints, its best known situation, the one asked about. */
static void refine(const struct takt_model *model, const struct takt_line *line,
                   unsigned arm, unsigned situation,
                   struct takt_prospect *prospect)
{
    const struct takt_track *track = line->track[arm];
    const struct takt_rates *rates = &model->arm[arm].rates;

    if (track == NULL)
        return;
    const unsigned best = best_situation(track, situation);
    take_hints(rates, line, track->hint, situation, prospect);
    learn_from(track->curve[best], &prospect->belief);
    if (best == situation)
        return;
    change_situation(rates, line, best, prospect);
    learn_from(track->curve[situation], &prospect->belief);
}

void takt__reference_find(struct takt_model *model,
                          const struct takt_line *line, unsigned situation,
                          struct takt_reference *out)
{
    calibrate(model);
    out->arm = best_known(line);
    if (out->arm == TAKT_NO_ARM)
        return;
    situation = takt__track_situation(&model->arm[out->arm], situation);
    start(model, line, out->arm, situation, &out->prospect);
    out->before = out->prospect.belief;
    refine(model, line, out->arm, situation, &out->prospect);
}

void takt__believe(const struct takt_model *model, const struct takt_line *line,
                   const struct takt_reference *reference, unsigned arm,
                   unsigned situation, struct takt_prospect *out)
{
    const unsigned kin = model->arm[arm].kin;

    if (reference->arm == arm) {
        *out = reference->prospect;
        return;
    }
    situation = takt__track_situation(&model->arm[arm], situation);
    start(model, line, arm, situation, out);
    if (reference->arm != TAKT_NO_ARM)
        carry_over(reference,
                   kin == model->arm[reference->arm].kin ? same_kin : other_arm,
                   &out->belief);
    refine(model, line, arm, situation, out);
}
