/* SPDX-License-Identifier: MIT */
/*
 * budget.c - what calls and trials took, and what exploration may cost.
 *
 * The budget is hard: what trials take beyond the best arm may not exceed a
 * share of the time of these calls, plus four calls of the best.
 */
#include <math.h>
#include <stdlib.h>

#include "model/inside.h"

static const double free_calls = 4; /* of the best arm, before any budget */

struct takt_bandit *takt__bandit_at(struct takt_series *series, unsigned slot,
                                    unsigned bucket)
{
    if (series->bandit[slot] == NULL) {
        series->bandit[slot] =
            calloc(TAKT_BUCKETS, sizeof *series->bandit[slot]);
        if (series->bandit[slot] == NULL)
            return NULL;
        for (unsigned i = 0; i < TAKT_BUCKETS; i++) {
            struct takt_bandit *made = &series->bandit[slot][i];
            made->offered = made->incumbent = TAKT_NO_ARM;
            takt__recheck_init(made);
        }
    }
    return &series->bandit[slot][bucket];
}

bool takt__bandit_affords(const struct takt_model *model,
                          const struct takt_bandit *bandit, double price_s)
{
    return bandit->explored_s + price_s <=
           model->exploration * bandit->seconds + free_calls * bandit->best_s;
}

/* Whether a verdict may differ although no mean moved: a trial has come within
 * the budget, losers are due, or a quarter more calls were made. */
static bool is_worth_judging(const struct takt_model *model,
                             const struct takt_bandit *bandit)
{
    if (bandit->calls >= 1.25 * bandit->judged)
        return true;
    return model->exploration > 0 &&
           (takt__recheck_is_due(bandit) ||
            (bandit->wanted_s > 0 &&
             takt__bandit_affords(model, bandit, bandit->wanted_s)));
}

/* No arm is charged for a spike: one that was run before is charged no more
 * than three sigma above its mean. */
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

static void charge_trial(struct takt_model *model,
                         const struct takt_observation *seen,
                         struct takt_bandit *bandit)
{
    const bool is_shadow = (seen->sample->flags & TAKT_SAMPLE_SHADOW) != 0;
    const double extra =
        takt__observed_excess(seen, is_shadow ? 0 : bandit->best_s);

    bandit->offered = TAKT_NO_ARM;
    bandit->explored_s += extra;
    model->counters.explored++;
    model->counters.explored_s += extra;
}

static void charge(struct takt_model *model,
                   const struct takt_observation *seen, unsigned slot)
{
    const struct takt_sample *sample = seen->sample;
    struct takt_bandit *bandit =
        takt__bandit_at(seen->series, slot, sample->bucket);
    const unsigned affected = slot < TAKT_SITUATIONS
                                  ? 1u << slot | 1u << (slot ^ TAKT_ASLEEP)
                                  : 1u << TAKT_RESIDENT;
    const bool is_trial =
        slot == seen->slot && (sample->flags & TAKT_SAMPLE_EXPLORED) != 0;

    if (bandit == NULL)
        return;
    /* Whether a GPU was tried or chosen, it was run. */
    if (slot == seen->slot && slot >= TAKT_COLUMN_GPU)
        bandit->offered = TAKT_NO_ARM;
    if (is_trial)
        charge_trial(model, seen, bandit);
    bandit->calls += sample->calls;
    bandit->seconds += sample->seconds * sample->calls;
    if (is_trial || is_worth_judging(model, bandit))
        takt__series_change_at(seen->series, affected, sample->bucket);
}

static void charge_gpu(struct takt_model *model,
                       const struct takt_observation *seen, unsigned arm)
{
    if (!takt__model_is_closed(model, arm))
        charge(model, seen, takt__arm_slot(&model->arm[arm]));
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

    if (found == NULL || found->bandit[situation] == NULL)
        return (struct takt_account){0};
    const struct takt_bandit *bandit = &found->bandit[situation][bucket];
    return (struct takt_account){bandit->calls, bandit->seconds,
                                 bandit->explored_s};
}
