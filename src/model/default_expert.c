/* SPDX-License-Identifier: MIT */
/*
 * default_expert.c - when to replace the default expert.
 *
 * Another expert changes the last bits of results, so the change must be worth
 * it: the other one must be clearly faster, and in the middle of a program the
 * calls so far must have lost enough time.
 */
#include <math.h>

#include "model/inside.h"

/* In ln(seconds): 15%, and twice as fast. */
static const float clearly = 0.14f, twice = 0.6931f;

/* What calls would have gained so far, for a program to see another expert in
 * the middle of its work. */
static const double worth_s = 0.1;

/* By how much another arm has to be better: a little if it was measured, much
 * if it is a GPU, since a shadow run of that takes long. */
static float margin_of(const struct takt_model *model,
                       const struct takt_series *series, unsigned arm)
{
    return takt__is_measured(series, arm)       ? clearly
           : takt__arm_is_gpu(&model->arm[arm]) ? twice
                                                : INFINITY;
}

/* The position of the best arm that is better by its margin; `standard` if none
 * is. The incumbent stays unless another one is clearly better. */
static unsigned best_instead(const struct takt_model *model,
                             const struct takt_series *series,
                             const struct takt_ranking *ranking,
                             unsigned standard, unsigned incumbent)
{
    float lowest = INFINITY;
    unsigned best = standard;

    for (unsigned i = 0; i < ranking->count; i++) {
        const struct takt_arm_cost *of = &ranking->of[i];
        const float cost = of->log_cost - (of->arm == incumbent ? clearly : 0);
        if (i == standard || cost >= lowest ||
            of->log_cost + margin_of(model, series, of->arm) >
                ranking->of[standard].log_cost)
            continue;
        lowest = cost;
        best = i;
    }
    return best;
}

/* At first any arm may be chosen, by what was learned before; later the
 * incumbent, or an arm with which the calls so far would have gained enough. */
static bool is_worth_it(const struct takt_bandit *bandit, double calls,
                        const struct takt_arm_cost *standard,
                        const struct takt_arm_cost *best)
{
    const double gain_s =
        takt__seconds_of(standard->log_cost) - takt__seconds_of(best->log_cost);

    return bandit == NULL || bandit->incumbent == TAKT_NO_ARM ||
           bandit->incumbent == best->arm || calls * gain_s >= worth_s;
}

void takt__prefer_default(const struct takt_model *model,
                          const struct takt_series *series,
                          const struct takt_bandit *bandit, double calls,
                          struct takt_ranking *ranking)
{
    const unsigned first = ranking->best;
    unsigned standard = 0;

    while (standard < ranking->count &&
           !model->arm[ranking->of[standard].arm].is_default)
        standard++;
    if (standard == ranking->count)
        return;
    unsigned best =
        best_instead(model, series, ranking, standard,
                     bandit == NULL ? TAKT_NO_ARM : bandit->incumbent);
    if (!is_worth_it(bandit, calls, &ranking->of[standard], &ranking->of[best]))
        best = standard;
    if (best == first)
        return;
    ranking->best = best;
    ranking->second = first;
}
