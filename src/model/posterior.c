/* SPDX-License-Identifier: MIT */
/* posterior.c - the predictions of all arms, for one series and situation. */
#include <limits.h>
#include <math.h>

#include "model/inside.h"

/* Whether samples of an arm say something about others of its kin; those of the
 * reference have said it to all. */
static bool is_evidence(const struct takt_posterior *posterior, unsigned i)
{
    return posterior->arm[i] != posterior->reference.arm &&
           takt__is_measured(posterior->series, posterior->arm[i]);
}

static unsigned threads_of(const struct takt_posterior *posterior, unsigned i)
{
    return posterior->model->arm[posterior->arm[i]].rates.threads;
}

/* The next team of its kin on the way to an arm, from the smallest up or from
 * the largest down, after one of `passed` threads; count: there is none. */
static unsigned next_team(const struct takt_posterior *posterior, unsigned i,
                          unsigned passed, bool is_larger)
{
    const struct takt_arm *arm = posterior->model->arm;
    const unsigned kin = arm[posterior->arm[i]].kin;
    unsigned next = posterior->count, nearest = threads_of(posterior, i);

    for (unsigned k = 0; k < posterior->count; k++) {
        const unsigned threads = threads_of(posterior, k);
        const bool is_next = is_larger ? threads > nearest && threads < passed
                                       : threads < nearest && threads > passed;
        if (is_next && arm[posterior->arm[k]].kin == kin &&
            is_evidence(posterior, k)) {
            next = k;
            nearest = threads;
        }
    }
    return next;
}

/* What the smaller or the larger teams of its kin say about an arm. False:
 * nothing. */
static bool ask_teams(const struct takt_posterior *posterior, unsigned i,
                      bool is_larger, struct takt_team_belief *out)
{
    const struct takt_arm *arm = posterior->model->arm;
    const unsigned none = posterior->count;
    unsigned passed = is_larger ? UINT_MAX : 0, at = none, next;

    takt__team_begin(out);
    while ((next = next_team(posterior, i, passed, is_larger)) < none) {
        if (at < none)
            takt__team_step(out, &arm[posterior->arm[at]],
                            &arm[posterior->arm[next]]);
        takt__team_see(out, &posterior->before[next], &posterior->after[next]);
        at = next;
        passed = threads_of(posterior, at);
    }
    if (at < none)
        takt__team_step(out, &arm[posterior->arm[at]], &arm[posterior->arm[i]]);
    return at < none;
}

/* A team is predicted from the samples of other teams of its kin, the nearer
 * the more, and from its own. All of them count at every size: if the one with
 * the most samples did alone, predictions would jump where the next size has
 * samples of another one. */
static void predict_team(struct takt_posterior *posterior, unsigned i)
{
    struct takt_team_belief smaller[TAKT_BUCKETS], larger[TAKT_BUCKETS];
    const bool has_smaller = ask_teams(posterior, i, false, smaller);
    const bool has_larger = ask_teams(posterior, i, true, larger);

    if (has_smaller || has_larger)
        takt__team_learn(smaller, larger, &posterior->prediction[i].residuals);
    takt__predict_after(posterior->model, posterior->series, posterior->arm[i],
                        posterior->situation, &posterior->prediction[i]);
}

struct takt_posterior *takt__model_posterior(struct takt_model *model,
                                             unsigned series,
                                             unsigned situation)
{
    struct takt_posterior *out = &model->posterior;

    out->model = model;
    out->series = takt__series_at(model, series);
    out->situation = situation;
    out->count = 0;
    out->has_path = false;
    out->objective = &model->objective[0];
    out->number = 0;
    if (out->series == NULL)
        return out;
    takt__predict_reference(model, out->series, situation, &out->reference);
    for (unsigned arm = 0; arm < model->arm_count; arm++) {
        if (!takt__model_allows(model, series, arm))
            continue;
        struct takt_prediction *prediction = &out->prediction[out->count];
        takt__predict_before(model, out->series, &out->reference, arm,
                             situation, prediction);
        out->before[out->count] = prediction->residuals;
        out->arm[out->count++] = arm;
    }
    for (unsigned i = 0; i < out->count; i++) {
        struct takt_prediction alone = out->prediction[i];
        if (!is_evidence(out, i))
            continue;
        takt__predict_after(model, out->series, out->arm[i], situation, &alone);
        out->after[i] = alone.residuals;
    }
    for (unsigned i = 0; i < out->count; i++)
        predict_team(out, i);
    takt__posterior_pursue(out, &model->objective[0], 0);
    return out;
}

static void predict_tails(struct takt_posterior *posterior, unsigned measure,
                          unsigned of)
{
    if (takt__measure_is_tail(measure))
        takt__tails_predict(posterior, takt__measure_beyond(measure),
                            posterior->tail[of]);
}

void takt__posterior_pursue(struct takt_posterior *posterior,
                            const struct takt_objective *objective,
                            unsigned number)
{
    posterior->objective = objective;
    posterior->number = number;
    posterior->has_path = false;
    predict_tails(posterior, objective->goal, 0);
    if (objective->has_limit)
        predict_tails(posterior, objective->limited, 1);
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

/* The machines of the fleet behind the hint at a bucket; 0: there is none. */
static double hinting_machines(const struct takt_posterior *posterior,
                               unsigned arm, unsigned bucket)
{
    const struct takt_track *track = posterior->series->track[arm];
    const unsigned situation = takt__track_situation(
        posterior->series, &posterior->model->arm[arm], posterior->situation);
    double most = 0;

    for (unsigned s = 0; track != NULL && s < TAKT_SITUATIONS; s++) {
        const struct takt_stat *stat =
            track->hint[s] == NULL || (s != situation && most > 0)
                ? NULL
                : takt__curve_find(track->hint[s], bucket);
        if (stat != NULL && (s == situation || stat->calls > most))
            most = stat->calls;
    }
    return most;
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
    out.machines = hinting_machines(posterior, arm, bucket);
    return out;
}

double takt__posterior_tail_samples(const struct takt_posterior *posterior,
                                    unsigned arm, unsigned bucket)
{
    const struct takt_stat *stat = takt__posterior_stat(posterior, arm, bucket);
    return stat == NULL ? 0 : (double)takt__tail_samples(&stat->tail);
}

static void predict_tail_at(struct takt_posterior *posterior, unsigned i,
                            unsigned bucket, unsigned measure)
{
    if (takt__measure_is_tail(measure))
        takt__tails_predict_at(posterior, i, bucket,
                               takt__measure_beyond(measure),
                               &posterior->tail[0][i]);
}

/* The costs are made under an objective that has no other goal. */
bool takt__posterior_measure(struct takt_posterior *posterior, unsigned arm,
                             unsigned bucket, const takt_work *work,
                             enum takt_measure measure,
                             struct takt_arm_measure *out)
{
    const unsigned i = takt__posterior_position(posterior, arm);
    const struct takt_objective *before = posterior->objective;
    const struct takt_objective alone = {.goal = (uint8_t)measure};

    if (i == posterior->count || (takt__measure_is_energy(measure) &&
                                  !posterior->model->watts[arm].is_known))
        return false;
    posterior->objective = &alone;
    predict_tail_at(posterior, i, bucket, measure);
    const struct takt_arm_cost cost = takt__arm_cost(posterior, i, bucket);
    const struct takt_arm_estimate time =
        takt__posterior_estimate(posterior, arm, bucket, work);
    const double times = measure == TAKT_MEASURE_EDP ? 2 : 1;
    out->value = exp(
        (double)cost.log_mean +
        times * (time.log_mean - (double)cost.log_time + time.variance / 2));
    out->deviation = sqrt((double)cost.variance);
    posterior->objective = before;
    predict_tail_at(posterior, i, bucket, before->goal);
    return true;
}
