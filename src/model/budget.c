/* SPDX-License-Identifier: MIT */
/*
 * budget.c - what calls and trials took, and what exploration may cost.
 *
 * The budget is hard: what the trials of an op take beyond the best arm may not
 * exceed a share of the time of its calls, plus four calls of the best. What a
 * trial may take is set aside before it is offered. It pays for what it took,
 * also for a page fault or a while without a core; after that there are none
 * until the calls have earned it.
 */
#include <math.h>
#include <stdlib.h>

#include "model/inside.h"

static const double free_calls = 4; /* of the best arm, before any budget */
static const double spike_s = 20e-3, spike_calls = 16;

struct takt_bandit *takt__bandit_at(struct takt_series *series,
                                    unsigned objective, unsigned column,
                                    unsigned bucket)
{
    if (objective >= series->objectives)
        series->objectives = (uint8_t)(objective + 1);
    column += objective * TAKT_COLUMNS;
    if (series->bandit[column] == NULL) {
        series->bandit[column] =
            calloc(TAKT_BUCKETS, sizeof *series->bandit[column]);
        if (series->bandit[column] == NULL)
            return NULL;
        for (unsigned i = 0; i < TAKT_BUCKETS; i++) {
            struct takt_bandit *made = &series->bandit[column][i];
            made->offered = made->incumbent = TAKT_NO_ARM;
        }
    }
    return &series->bandit[column][bucket];
}

double takt__bucket_seconds(const struct takt_series *series, unsigned bucket)
{
    double sum = 0;

    for (unsigned o = 0; o < series->objectives; o++)
        for (unsigned s = 0; s < TAKT_SITUATIONS; s++) {
            const struct takt_bandit *of = series->bandit[o * TAKT_COLUMNS + s];
            sum += of == NULL ? 0 : of[bucket].seconds;
        }
    return sum;
}

/* ---- offers -------------------------------------------------------------- */

/* Negative: more was spent than there is. */
static double left_of(const struct takt_model *model,
                      const struct takt_budget *budget, double best_s)
{
    const double mean_s =
        budget->calls > 0 ? budget->best_s / budget->calls : 0;

    return model->exploration * budget->seconds +
           free_calls * fmin(mean_s, best_s) - budget->explored_s -
           budget->reserved_s;
}

bool takt__budget_affords(const struct takt_model *model,
                          const struct takt_series *series,
                          const struct takt_bandit *bandit, double price_s)
{
    return price_s <= left_of(model, series->budget, bandit->best_s);
}

void takt__offer_begin(struct takt_series *series, struct takt_bandit *bandit,
                       unsigned arm, unsigned tries, double price_s)
{
    struct takt_budget *budget = series->budget;

    bandit->offered = (uint8_t)arm;
    bandit->tries = (uint8_t)tries;
    bandit->price_s = price_s;
    budget->reserved_s += tries * price_s;
    if (budget->offer_end_ns < bandit->offer_end_ns)
        budget->offer_end_ns = bandit->offer_end_ns;
}

/* Gives back what is set aside for so many trials. */
static void release(struct takt_budget *budget,
                    const struct takt_bandit *bandit, unsigned tries)
{
    if (bandit->offer_end_ns > budget->expired_ns)
        budget->reserved_s =
            fmax(0, budget->reserved_s - tries * bandit->price_s);
}

void takt__offer_end(struct takt_series *series, struct takt_bandit *bandit)
{
    release(series->budget, bandit, bandit->tries);
    bandit->offered = TAKT_NO_ARM;
    bandit->tries = 0;
}

/* All of them together: their cells are written anew, without the trial. */
void takt__offers_expire(struct takt_model *model, struct takt_budget *budget,
                         uint64_t now_ns)
{
    if (!(budget->reserved_s > 0) || now_ns < budget->offer_end_ns)
        return;
    budget->reserved_s = 0;
    budget->expired_ns = budget->offer_end_ns;
    for (unsigned i = 0; i < TAKT_SERIES_COUNT; i++)
        if (model->series[i] != NULL && model->series[i]->budget == budget)
            takt__series_change(model->series[i]);
}

/* ---- charges ------------------------------------------------------------- */

/* Whether a verdict may differ although no mean moved: a trial has come within
 * the budget, an arm is to be tried again, or a quarter more calls were made.
 */
static bool is_worth_judging(const struct takt_model *model,
                             const struct takt_series *series,
                             const struct takt_bandit *bandit, unsigned bucket)
{
    if (bandit->calls >= 1.25 * bandit->judged)
        return true;
    return (bandit->wanted_s > 0 &&
            takt__budget_affords(model, series, bandit, bandit->wanted_s)) ||
           (bandit->due_s > 0 &&
            takt__bucket_seconds(series, bucket) >= bandit->due_s);
}

/* Without spikes: an arm that was run before is taken to need no more than
 * three sigma above its mean. */
double takt__observed_excess(const struct takt_observation *seen,
                             double other_s)
{
    const struct takt_sums *all = &seen->stat->all;
    double seconds = seen->sample->seconds;

    if (all->n >= 2)
        seconds = fmin(seconds, exp(seen->log_rates + all->mean +
                                    3 * takt__sums_sigma(all)));
    return seconds > other_s ? seconds - other_s : 0;
}

/* A trial pays for a spike too, up to what a second of calls earns (judgement):
 * a process that was stopped for a minute must not end all trials. */
static double price_paid(const struct takt_observation *seen, double best_s)
{
    const double all_s = fmax(0, seen->sample->seconds - best_s);

    return fmin(all_s, takt__observed_excess(seen, best_s) +
                           fmax(spike_s, spike_calls * best_s));
}

/* Of several in a row the next ones are called off when the first has taken
 * what there was. */
static void charge_trial(struct takt_model *model,
                         const struct takt_observation *seen,
                         struct takt_bandit *bandit)
{
    const bool is_shadow = (seen->sample->flags & TAKT_SAMPLE_SHADOW) != 0;
    const double extra = price_paid(seen, is_shadow ? 0 : bandit->best_s);
    struct takt_budget *budget = seen->series->budget;

    bandit->explored_s += extra;
    budget->explored_s += extra;
    model->counters.explored++;
    model->counters.explored_s += extra;
    if (bandit->tries > 0) {
        release(budget, bandit, 1);
        bandit->tries--;
    }
    if (bandit->tries == 0 || left_of(model, budget, bandit->best_s) < 0)
        takt__offer_end(seen->series, bandit);
}

static void count_for_all(struct takt_model *model,
                          const struct takt_sample *sample)
{
    const double seconds = sample->seconds * sample->calls;

    if ((sample->flags & TAKT_SAMPLE_REPORTED) != 0)
        return;
    model->counters.calls += sample->calls;
    model->counters.called_s += seconds;
    model->counters.budget_s += model->exploration * seconds;
}

/* A call counts once for its op, in whatever columns it counts. */
static void count_for_op(struct takt_model *model,
                         const struct takt_observation *seen,
                         const struct takt_bandit *bandit)
{
    const struct takt_sample *sample = seen->sample;
    struct takt_budget *budget = seen->series->budget;
    const double best_s = bandit->best_s > 0
                              ? fmin(bandit->best_s, sample->seconds)
                              : sample->seconds;

    budget->calls += sample->calls;
    budget->seconds += sample->seconds * sample->calls;
    budget->best_s += best_s * sample->calls;
    count_for_all(model, sample);
}

static void charge(struct takt_model *model,
                   const struct takt_observation *seen, unsigned column)
{
    const struct takt_sample *sample = seen->sample;
    struct takt_bandit *bandit =
        takt__bandit_at(seen->series, seen->objective, column, sample->bucket);
    const unsigned affected = column < TAKT_SITUATIONS
                                  ? 1u << column | 1u << (column ^ TAKT_ASLEEP)
                                  : 1u << TAKT_RESIDENT;
    const bool is_trial =
        column == seen->column && (sample->flags & TAKT_SAMPLE_EXPLORED) != 0;

    if (bandit == NULL)
        return;
    /* Whether a GPU was tried or chosen, it was run. */
    if (column == seen->column && column >= TAKT_COLUMN_GPU && !is_trial)
        takt__offer_end(seen->series, bandit);
    if (is_trial)
        charge_trial(model, seen, bandit);
    bandit->calls += sample->calls;
    bandit->seconds += sample->seconds * sample->calls;
    if (column == seen->called_in)
        count_for_op(model, seen, bandit);
    if (is_trial ||
        is_worth_judging(model, seen->series, bandit, sample->bucket))
        takt__series_change_at(seen->series, affected, sample->bucket);
}

static void charge_gpu(struct takt_model *model,
                       const struct takt_observation *seen, unsigned arm)
{
    if (!takt__model_is_closed(model, arm))
        charge(model, seen, takt__arm_column(&model->arm[arm]));
}

/* A call whose operands may be on GPUs counts for the budget of each. */
void takt__bandits_charge(struct takt_model *model,
                          const struct takt_observation *seen)
{
    charge(model, seen, seen->called_in);
    if ((seen->called_in & TAKT_RESIDENT) != 0)
        takt__model_each_arm(model, seen, model->gpus, charge_gpu);
}

struct takt_account takt__model_account(const struct takt_model *model,
                                        unsigned series, unsigned situation,
                                        unsigned bucket)
{
    const struct takt_series *found = model->series[series];
    struct takt_account sum = {0};

    for (unsigned o = 0; found != NULL && o < TAKT_OBJECTIVES; o++) {
        const struct takt_bandit *of =
            found->bandit[o * TAKT_COLUMNS + situation];
        if (of == NULL)
            continue;
        sum.calls += of[bucket].calls;
        sum.seconds += of[bucket].seconds;
        sum.explored_s += of[bucket].explored_s;
    }
    return sum;
}
