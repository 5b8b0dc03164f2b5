/* SPDX-License-Identifier: MIT */
/*
 * explore.c - which arm to try instead of the best, and when.
 *
 * An arm is worth a trial if it may be better and has few samples, or if losers
 * are due for another look (recovery.c). The cheapest trial comes first, within
 * the budget (budget.c).
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

/* An arm that may be better and is not settled yet; or, when losers are due,
 * one that is not far behind and was not run since. */
static bool is_wanted(const struct takt_posterior *posterior,
                      const struct takt_bandit *bandit,
                      const struct takt_arm_cost *cost,
                      const struct takt_arm_cost *best, unsigned bucket)
{
    const float low = cost->log_mean - 2 * sqrtf(cost->variance);

    if (low >= best->log_mean + twice)
        return false;
    const struct takt_stat *stat =
        takt__posterior_stat(posterior, cost->arm, bucket);
    if ((stat == NULL ? 0 : stat->seen_ns) < bandit->recheck_ns)
        return true;
    return low < best->log_mean - takt_band &&
           (stat == NULL || stat->all.n < (double)enough);
}

/* The position of the cheapest arm worth a trial, and what that is expected to
 * take beyond the best; -1: none. */
static int find_cheapest(const struct takt_posterior *posterior,
                         const struct takt_ranking *ranking,
                         const struct takt_bandit *bandit, unsigned bucket,
                         double *price_s)
{
    const struct takt_arm_cost *best = &ranking->of[ranking->best];
    int found = -1;

    for (unsigned i = 0; i < ranking->count; i++) {
        const struct takt_arm_cost *cost = &ranking->of[i];
        if (i == ranking->best ||
            !is_wanted(posterior, bandit, cost, best, bucket) ||
            !is_safe(posterior, cost, best, bucket) ||
            !is_near(posterior->model, ranking, cost))
            continue;
        const double extra_s =
            fmax((double)(expf(cost->log_cost) - expf(best->log_cost)), 0);
        if (found < 0 || extra_s < *price_s) {
            found = (int)i;
            *price_s = extra_s;
        }
    }
    return found;
}

/* At most one trial is under way per bandit; one without a result is given up
 * after a while. */
void takt__explore(struct takt_posterior *posterior,
                   const struct takt_ranking *ranking,
                   struct takt_bandit *bandit, unsigned bucket, uint64_t now_ns,
                   struct takt_verdict *out)
{
    double price_s = 0;

    if (!(posterior->model->exploration > 0) || bandit->calls < 1)
        return;
    if (takt__recheck_is_due(bandit))
        takt__recheck_begin(bandit, now_ns);
    if (bandit->offered != TAKT_NO_ARM && now_ns < bandit->offer_end_ns) {
        out->explore = bandit->offered;
        out->is_offered = true;
        return;
    }
    bandit->offered = TAKT_NO_ARM;
    bandit->wanted_s = 0;
    const int found =
        find_cheapest(posterior, ranking, bandit, bucket, &price_s);
    if (found < 0)
        return;
    if (!takt__bandit_affords(posterior->model, bandit, price_s)) {
        bandit->wanted_s = price_s;
        return;
    }
    const double wait_s = 1 + 10 * (price_s + bandit->best_s);
    bandit->offer_end_ns = now_ns + (uint64_t)(fmin(wait_s, 1e6) * 1e9);
    bandit->offered = (uint8_t)ranking->of[found].arm;
    out->explore = bandit->offered;
}
