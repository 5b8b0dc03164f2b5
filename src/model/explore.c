/* SPDX-License-Identifier: MIT */
/*
 * explore.c - which arm to try instead of the best, and when.
 *
 * An arm is worth a trial if it may be better and has few samples. Any other is
 * tried again after a time: the more samples it has and the longer a trial
 * takes, the later. The cheapest trial comes first, within the budget
 * (budget.c).
 */
#include <math.h>

#include "model/inside.h"

/* Samples that settle an arm. Measured in simulation: docs/decisions/0005. Of
 * one that machines of the fleet have measured they are fewer: 0069. */
static const double enough = 5, enough_told = 2;

/* Those that settle a tail, as docs/decisions/0064 says. */
static const double enough_beyond[] = {[TAKT_MEASURE_P95] = 80,
                                       [TAKT_MEASURE_P99] = 400,
                                       [TAKT_MEASURE_P999] = 800};

/* What a trial may take: the mean and 1.5 sigma. */
static const float likely = 1.5f;

/* An arm with n samples is tried again after 100 * n^1.5 times what a trial
 * takes, with n between 1 and 64: docs/decisions/0031. */
static const double trusted = 100, least_trusted = 1, most_trusted = 64;

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

/* Whether the arm was better than the best is now, before it became slower. */
static bool is_fallen(const struct takt_stat *stat,
                      const struct takt_arm_cost *cost,
                      const struct takt_arm_cost *best)
{
    if (stat == NULL || stat->before_n == 0)
        return false;
    const double before =
        (double)cost->log_mean + (double)stat->before - stat->all.mean;
    return before < (double)(best->log_mean - takt_band);
}

/* A thread that sleeps takes that long to come (docs/decisions/0039). */
static const double wake_s = 100e-6;

/* The first of several trials in a row wakes the threads of the pool, if the
 * best arm does not use them; until these are there, trials take what calls
 * take whose threads sleep. Or, where the operands are in caches, the first one
 * moves them to those of another team, and is not learned from
 * (TAKT_SAMPLE_SWITCHED). The others show what a call takes. */
static unsigned tries_of(const struct takt_arm *arm,
                         const struct takt_arm_cost *best_cost,
                         const struct takt_posterior *posterior)
{
    const struct takt_arm *best = &posterior->model->arm[best_cost->arm];
    const double asleep = fmin(wake_s / takt__cost_seconds(best_cost),
                               (double)TAKT_MOST_TRIES - 3);

    if (arm->uses_pool && !best->uses_pool)
        return 3 + (posterior->situation & TAKT_ASLEEP ? 0 : (unsigned)asleep);
    return (posterior->situation & TAKT_REPEAT) != 0 &&
                   arm->rates.threads != best->rates.threads
               ? 2
               : 1;
}

/* Trials that are worth their price. */
struct trials {
    unsigned arm, tries;
    double price_s; /* of each, beyond the best */
    double order;   /* the least comes first */
};

/* What a trial may take beyond the best: somewhat more than expected, but of an
 * arm whose only run so far was kept apart, not more than that took. */
static double price_of(const struct takt_posterior *posterior,
                       const struct takt_arm_cost *cost,
                       const struct takt_arm_cost *best, unsigned bucket)
{
    const struct takt_stat *stat =
        takt__posterior_stat(posterior, cost->arm, bucket);
    double most_s =
        takt__seconds_of(cost->log_time + likely * sqrtf(cost->time_variance));

    if (stat != NULL && stat->all.n < 1 && stat->first_s > 0)
        most_s = fmin(most_s, (double)stat->first_s);
    return fmax(0, most_s - takt__cost_seconds(best));
}

/* The time of the bucket at which an arm is to be tried again. What was learned
 * of an arm that became slower is believed least. */
static double due_at(const struct takt_stat *stat, double price_s,
                     double best_s, bool is_fallen_arm)
{
    const double samples = stat == NULL ? enough : stat->all.n;
    const double n = is_fallen_arm
                         ? least_trusted
                         : fmax(least_trusted, fmin(most_trusted, samples));

    return (stat == NULL ? 0 : (double)stat->seen_s) +
           trusted * n * sqrt(n) * (price_s + best_s);
}

/* Whether machines of a fleet have measured the arm on this series. */
static bool is_told(const struct takt_series *series, unsigned arm)
{
    const struct takt_track *track = series->track[arm];

    for (unsigned s = 0; track != NULL && s < TAKT_SITUATIONS; s++)
        if (track->hint[s] != NULL && track->hint[s]->count > 0 &&
            track->hint[s]->stat[0].calls > 0)
            return true;
    return false;
}

/* How many sigma better than expected an arm may be. One that was measured at
 * other sizes of the series is expected by more than the rates. Where machines
 * like this one have measured it, it was tried: they spared this one that. By
 * simulation: docs/decisions/0069. */
static float doubt_of(const struct takt_posterior *posterior, unsigned arm,
                      const struct takt_stat *stat)
{
    const bool is_measured_here = stat != NULL && stat->all.n >= 1;

    if (is_told(posterior->series, arm))
        return 0.7f;
    return !is_measured_here && takt__is_measured(posterior->series, arm) ? 1
                                                                          : 2;
}

/* Whether more trials would not tell much more about an arm. Of one with more
 * threads than the best they tell the mean alone: quantile.c. */
static bool is_settled(const struct takt_posterior *posterior, unsigned arm,
                       unsigned best, const struct takt_stat *stat)
{
    const struct takt_objective *objective = posterior->objective;
    const struct takt_arm *of = posterior->model->arm;
    const double least = is_told(posterior->series, arm) ? enough_told : enough;
    double wanted = 0;

    if (stat == NULL || stat->all.n < least)
        return false;
    if (of[arm].rates.threads > of[best].rates.threads)
        return true;
    if (takt__measure_is_tail(objective->goal))
        wanted = enough_beyond[objective->goal];
    if (objective->has_limit && takt__measure_is_tail(objective->limited))
        wanted = fmax(wanted, enough_beyond[objective->limited]);
    return (double)takt__tail_samples(&stat->tail) >= wanted;
}

/* Whether an arm is worth a trial now; if not, *due_s may become the time when
 * it is. */
static bool is_wanted(const struct takt_posterior *posterior,
                      const struct takt_ranking *ranking,
                      const struct takt_arm_cost *cost, unsigned bucket,
                      double price_s, double *due_s)
{
    const struct takt_arm_cost *best = &ranking->of[ranking->best];
    const struct takt_stat *stat =
        takt__posterior_stat(posterior, cost->arm, bucket);
    const float low = cost->log_mean - doubt_of(posterior, cost->arm, stat) *
                                           sqrtf(cost->variance);

    if (!is_near(posterior->model, ranking, cost) ||
        (posterior->model->arm[cost->arm].is_unrated &&
         !(takt__posterior_samples(posterior, best->arm, bucket) > 0)))
        return false;
    if (low < best->log_mean - takt_band &&
        !is_settled(posterior, cost->arm, best->arm, stat))
        return true;
    const double at_s = due_at(stat, price_s, takt__cost_seconds(best),
                               is_fallen(stat, cost, best));
    if (takt__bucket_seconds(posterior->series, bucket) >= at_s)
        return true;
    if (*due_s <= 0 || at_s < *due_s)
        *due_s = at_s;
    return false;
}

/* What is expected of an arm. One without rates that was never run is taken to
 * be about as fast as the best. */
static struct takt_arm_cost expected_of(const struct takt_posterior *posterior,
                                        const struct takt_ranking *ranking,
                                        unsigned i)
{
    struct takt_arm_cost out = ranking->of[i];

    if (posterior->model->arm[out.arm].is_unrated &&
        !takt__is_measured(posterior->series, out.arm)) {
        const struct takt_arm_cost *best = &ranking->of[ranking->best];
        out.log_mean = fminf(out.log_mean, best->log_mean);
        out.log_time = fminf(out.log_time, best->log_time);
    }
    return out;
}

/* The cheapest trial comes first. A tail takes many: there it is that of the
 * arm that may be the best, or the cheapest would take all of the budget. */
static double order_of(const struct takt_posterior *posterior,
                       const struct takt_arm_cost *cost, double price_s)
{
    return takt__objective_uses_tails(posterior->objective)
               ? (double)(cost->log_mean - 2 * sqrtf(cost->variance))
               : price_s;
}

/* The first in order; false: none. */
static bool find_first(const struct takt_posterior *posterior,
                       const struct takt_ranking *ranking,
                       struct takt_bandit *bandit, unsigned bucket,
                       struct trials *out)
{
    const struct takt_model *model = posterior->model;
    const struct takt_arm_cost *best = &ranking->of[ranking->best];
    bool found = false;

    bandit->due_s = 0;
    for (unsigned i = 0; i < ranking->count; i++) {
        if (i == ranking->best)
            continue;
        const struct takt_arm_cost cost = expected_of(posterior, ranking, i);
        const double price_s = price_of(posterior, &cost, best, bucket);
        if (!is_wanted(posterior, ranking, &cost, bucket, price_s,
                       &bandit->due_s))
            continue;
        const unsigned tries = tries_of(&model->arm[cost.arm], best, posterior);
        const double order = order_of(posterior, &cost, tries * price_s);
        if (!found || order < out->order)
            *out = (struct trials){cost.arm, tries, price_s, order};
        found = true;
    }
    return found;
}

static void offer(struct takt_posterior *posterior, struct takt_bandit *bandit,
                  const struct trials *trials, uint64_t now_ns,
                  struct takt_verdict *out)
{
    const double all_s = trials->tries * trials->price_s;
    const double wait_s = 1 + 10 * (all_s + bandit->best_s);

    takt__offers_expire(posterior->model, posterior->series->budget, now_ns);
    if (!takt__budget_affords(posterior->model, posterior->series, bandit,
                              all_s)) {
        bandit->wanted_s = fmax(all_s, 1e-12); /* 0: none */
        return;
    }
    bandit->offer_end_ns = now_ns + (uint64_t)(fmin(wait_s, 1e6) * 1e9);
    takt__offer_begin(posterior->series, bandit, trials->arm, trials->tries,
                      trials->price_s);
    out->explore = bandit->offered;
    out->tries = trials->tries;
}

/* At most one offer is under way per bandit; one without a result is given up
 * after a while. */
void takt__explore(struct takt_posterior *posterior,
                   const struct takt_ranking *ranking,
                   struct takt_bandit *bandit, unsigned bucket, uint64_t now_ns,
                   struct takt_verdict *out)
{
    struct trials trials = {0};

    if (!(posterior->model->exploration > 0) || bandit->calls < 1)
        return;
    if (bandit->offered != TAKT_NO_ARM && now_ns < bandit->offer_end_ns) {
        out->explore = bandit->offered;
        out->tries = bandit->tries;
        out->is_offered = true;
        return;
    }
    takt__offer_end(posterior->series, bandit);
    bandit->wanted_s = 0;
    if (find_first(posterior, ranking, bandit, bucket, &trials))
        offer(posterior, bandit, &trials, now_ns, out);
}
