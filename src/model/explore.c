/* SPDX-License-Identifier: MIT */
/*
 * explore.c - which arm to try instead of the best, and when.
 *
 * An arm is worth a trial if it may be better and has few samples, or if it is
 * due for another look (recovery.c). The cheapest trial comes first, within the
 * budget (budget.c).
 */
#include <math.h>

#include "model/inside.h"

/* Samples that settle an arm. Measured in simulation: docs/decisions/0005. */
static const float enough = 5;

/* In ln(seconds). Judgement. */
static const float ten_times = 2.3026f, twice = 0.6931f;

/* Of arms that differ only by their threads, those around the cheapest. */
static bool is_near(const struct takt_model *model,
                    const struct takt_ranking *ranking,
                    const struct takt_arm_cost *cost)
{
    const struct takt_arm *arm = &model->arm[cost->arm];
    const struct takt_arm_cost *cheapest = cost;

    for (unsigned i = 0; i < ranking->count; i++)
        if (model->arm[ranking->of[i].arm].kin == arm->kin &&
            ranking->of[i].log_cost < cheapest->log_cost)
            cheapest = &ranking->of[i];
    const unsigned x = arm->rates.threads;
    const unsigned y = model->arm[cheapest->arm].rates.threads;
    return (x < y ? x : y) * 2 >= (x < y ? y : x);
}

/* No arm is tried that may take ten times as long as the best, except where it
 * costs least to learn of one that was never run. */
static bool is_safe(const struct takt_posterior *posterior,
                    const struct takt_arm_cost *cost,
                    const struct takt_arm_cost *best, unsigned bucket)
{
    const float most = cost->log_mean + 2 * sqrtf(cost->variance);

    return most <= best->log_mean + ten_times ||
           (posterior->model->runs[cost->arm] <= 0 &&
            bucket <= posterior->series->first_bucket);
}

/* Whether the arm was better than the best is now, before it became slower. */
static bool is_fallen(const struct takt_stat *stat,
                      const struct takt_arm_cost *cost,
                      const struct takt_arm_cost *best)
{
    if (stat == NULL || stat->before.n <= 0)
        return false;
    const double before =
        (double)cost->log_mean + stat->before.mean - stat->all.mean;
    return before < (double)(best->log_mean - takt_band);
}

/* An arm that may be better and is not settled yet; or, when losers are due,
 * one that is not far behind and was not run since. */
static bool is_wanted(const struct takt_bandit *bandit,
                      const struct takt_stat *stat,
                      const struct takt_arm_cost *cost,
                      const struct takt_arm_cost *best)
{
    const float low = cost->log_mean - 2 * sqrtf(cost->variance);

    if (low >= best->log_mean + twice)
        return false;
    if ((stat == NULL ? 0 : stat->seen_ns) < bandit->losers.began_ns)
        return true;
    return low < best->log_mean - takt_band &&
           (stat == NULL || stat->all.n < (double)enough);
}

static bool is_worth_a_trial(const struct takt_posterior *posterior,
                             const struct takt_ranking *ranking,
                             const struct takt_bandit *bandit,
                             const struct takt_arm_cost *cost)
{
    const struct takt_arm_cost *best = &ranking->of[ranking->best];
    const struct takt_stat *stat =
        takt__posterior_stat(posterior, cost->arm, bandit->bucket);

    if (is_fallen(stat, cost, best) && stat->seen_ns < bandit->fallen.began_ns)
        return true;
    return is_wanted(bandit, stat, cost, best) &&
           is_safe(posterior, cost, best, bandit->bucket) &&
           is_near(posterior->model, ranking, cost);
}

/* The first of several trials in a row wakes the threads of the pool, if the
 * best arm does not use them; or, where the operands are in caches, moves them
 * to those of another team. The others show what a call takes. */
static unsigned tries_of(const struct takt_arm *arm,
                         const struct takt_arm *best, unsigned slot)
{
    const bool is_repeat = slot < TAKT_SITUATIONS && (slot & TAKT_REPEAT) != 0;

    if (arm->uses_pool && !best->uses_pool)
        return 3;
    return is_repeat && (arm->rates.threads > 1) != (best->rates.threads > 1)
               ? 2
               : 1;
}

/* What trials may take beyond the best: somewhat more than expected. Measured
 * in simulation: docs/decisions/0005. */
static double price_of(const struct takt_arm_cost *cost,
                       const struct takt_arm_cost *best, unsigned tries)
{
    const float most_s = expf(cost->log_mean + 1.3f * sqrtf(cost->variance));

    return tries * (double)fmaxf(0, most_s - expf(best->log_cost));
}

/* Trials that are worth their price. */
struct trials {
    unsigned arm, tries;
    double price_s; /* of all */
};

/* The cheapest; false: none. */
static bool find_cheapest(const struct takt_posterior *posterior,
                          const struct takt_ranking *ranking,
                          const struct takt_bandit *bandit, struct trials *out)
{
    const struct takt_model *model = posterior->model;
    const struct takt_arm_cost *best = &ranking->of[ranking->best];
    bool found = false;

    for (unsigned i = 0; i < ranking->count; i++) {
        const struct takt_arm_cost *cost = &ranking->of[i];
        if (i == ranking->best ||
            !is_worth_a_trial(posterior, ranking, bandit, cost))
            continue;
        const unsigned tries = tries_of(&model->arm[cost->arm],
                                        &model->arm[best->arm], bandit->slot);
        const double price_s = price_of(cost, best, tries);
        if (!found || price_s < out->price_s)
            *out = (struct trials){cost->arm, tries, price_s};
        found = true;
    }
    return found;
}

static void offer(struct takt_posterior *posterior, struct takt_bandit *bandit,
                  const struct trials *plan, uint64_t now_ns,
                  struct takt_verdict *out)
{
    const double wait_s = 1 + 10 * (plan->price_s + bandit->best_s);

    takt__offers_expire(posterior->series->budget, now_ns);
    if (!takt__budget_affords(posterior->model, posterior->series, bandit,
                              plan->price_s) ||
        !takt__offer_begin(posterior->series, bandit, plan->arm, plan->tries,
                           plan->price_s / plan->tries)) {
        bandit->wanted_s = fmax(plan->price_s, 1e-12);
        return;
    }
    bandit->offer_end_ns = now_ns + (uint64_t)(fmin(wait_s, 1e6) * 1e9);
    out->explore = bandit->offered;
    out->tries = plan->tries;
}

/* At most one offer is under way per bandit; one without a result is given up
 * after a while. */
void takt__explore(struct takt_posterior *posterior,
                   const struct takt_ranking *ranking,
                   struct takt_bandit *bandit, uint64_t now_ns,
                   struct takt_verdict *out)
{
    struct trials plan;

    if (!(posterior->model->exploration > 0) || bandit->calls < 1)
        return;
    takt__recheck_begin_due(bandit, now_ns);
    if (bandit->offered != TAKT_NO_ARM && now_ns < bandit->offer_end_ns) {
        out->explore = bandit->offered;
        out->tries = bandit->tries;
        out->is_offered = true;
        return;
    }
    takt__offer_end(posterior->series, bandit);
    bandit->wanted_s = 0;
    if (find_cheapest(posterior, ranking, bandit, &plan))
        offer(posterior, bandit, &plan, now_ns, out);
}
