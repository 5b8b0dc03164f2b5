/* SPDX-License-Identifier: MIT */
/*
 * judge.c - from the posterior to a verdict: the best arm by expected cost, the
 * confidence that it is the best, and a trial if one is due (explore.c).
 */
#include <float.h>
#include <math.h>

#include "model/inside.h"

/* ---- the best ------------------------------------------------------------ */

/* In ln(seconds), judgement: a quantile that is lower by less is no reason to
 * change the number of threads. Trials do not measure quantiles of larger teams
 * (quantile.c), so such a change is made by an estimate alone. */
static const float tail_band = 0.15f;

/* By how much the incumbent may be behind. */
static float band_of(const struct takt_posterior *posterior, unsigned incumbent,
                     unsigned cheapest)
{
    const struct takt_arm *arm = posterior->model->arm;

    return incumbent != TAKT_NO_ARM &&
                   takt__measure_is_tail(posterior->objective->goal) &&
                   arm[incumbent].rates.threads != arm[cheapest].rates.threads
               ? tail_band
               : takt_band;
}

/* The incumbent if it is as good as any; else what is best along the sizes. */
static unsigned choose(const struct takt_posterior *posterior, unsigned bucket,
                       const struct takt_ranking *ranking, unsigned incumbent)
{
    const unsigned cheapest = takt__ranking_cheapest(ranking);
    const float most = ranking->of[cheapest].log_cost +
                       band_of(posterior, incumbent, ranking->of[cheapest].arm);
    unsigned best = cheapest;

    for (unsigned i = 0; i < ranking->count; i++) {
        if (ranking->of[i].arm == incumbent && ranking->of[i].log_cost <= most)
            return i;
        if (ranking->of[i].arm == posterior->path[bucket])
            best = i;
    }
    return best;
}

static void rank(struct takt_posterior *posterior, unsigned bucket,
                 uint64_t now_ns, unsigned incumbent,
                 struct takt_ranking *ranking)
{
    takt__path_find(posterior, now_ns);
    const unsigned best = choose(posterior, bucket, ranking, incumbent);
    unsigned second = best;

    for (unsigned i = 0; i < ranking->count; i++)
        if (i != best && (second == best || ranking->of[i].log_cost <
                                                ranking->of[second].log_cost))
            second = i;
    ranking->best = best;
    ranking->second = second;
}

/* P(the best is the best), taking the others as independent. An arm that is
 * three sigma behind does not matter. */
static double confidence_of(const struct takt_ranking *ranking)
{
    const struct takt_arm_cost *best = &ranking->of[ranking->best];
    float all = 1;

    for (unsigned i = 0; i < ranking->count; i++) {
        const struct takt_arm_cost *other = &ranking->of[i];
        const float distance = other->log_mean - best->log_mean;
        const float spread = other->variance + best->variance;
        if (i == ranking->best ||
            (distance > 0 && distance * distance > 9 * spread))
            continue;
        all *= 0.5f * erfcf(-distance / sqrtf(2 * spread));
    }
    return (double)all;
}

/* ---- verdicts ------------------------------------------------------------ */

static struct takt_bandit *find_bandit(const struct takt_posterior *posterior,
                                       unsigned column, unsigned bucket)
{
    if (posterior->series == NULL || posterior->number >= TAKT_OBJECTIVES)
        return NULL;
    struct takt_bandit *bandits =
        posterior->series->bandit[posterior->number * TAKT_COLUMNS + column];

    return bandits == NULL ? NULL : &bandits[bucket];
}

/* Awake and asleep together: which of the two it was is known only of calls
 * that had a use for threads. */
static double calls_at(const struct takt_posterior *posterior, unsigned bucket)
{
    const unsigned situation = posterior->situation & ~(unsigned)TAKT_ASLEEP;
    const struct takt_bandit *awake = find_bandit(posterior, situation, bucket);
    const struct takt_bandit *asleep =
        find_bandit(posterior, situation | TAKT_ASLEEP, bucket);

    return (awake == NULL ? 0 : awake->calls) +
           (asleep == NULL ? 0 : asleep->calls);
}

static struct takt_verdict verdict_of(const struct takt_posterior *posterior,
                                      unsigned bucket,
                                      const struct takt_arm_cost *best,
                                      unsigned runner_up)
{
    return (struct takt_verdict){
        .best = (uint8_t)best->arm,
        .runner_up = (uint8_t)runner_up,
        .explore = -1,
        .seconds = takt__cost_seconds(best),
        .samples = takt__posterior_samples(posterior, best->arm, bucket),
        .is_measured = takt__is_measured(posterior->series, best->arm),
    };
}

/* A larger team that loses its place soon after it got it comes back the later,
 * the more often that happened (quantile.c). */
static void note_setback(const struct takt_arm *arm, struct takt_bandit *bandit,
                         unsigned best)
{
    static const double soon = 10000; /* calls */
    enum { most = 5 };
    const unsigned before = bandit->incumbent;

    if (best == before)
        return;
    if (before != TAKT_NO_ARM &&
        arm[best].rates.threads < arm[before].rates.threads) {
        if (bandit->calls - bandit->placed > soon)
            bandit->setbacks = 0;
        else if (bandit->setbacks < most)
            bandit->setbacks++;
    }
    bandit->placed = bandit->calls;
}

bool takt__posterior_judge(struct takt_posterior *posterior, unsigned bucket,
                           uint64_t now_ns, bool is_question,
                           struct takt_verdict *out)
{
    struct takt_bandit *bandit =
        find_bandit(posterior, posterior->situation, bucket);
    struct takt_ranking ranking;

    takt__rank_costs(posterior, bucket, now_ns, &ranking);
    if (bandit != NULL && !is_question)
        bandit->judged = bandit->calls;
    if (ranking.count == 0)
        return false;
    rank(posterior, bucket, now_ns,
         bandit == NULL ? TAKT_NO_ARM : bandit->incumbent, &ranking);
    takt__prefer_default(posterior->model, posterior->series, bandit,
                         calls_at(posterior, bucket), &ranking);
    const struct takt_arm_cost *best = &ranking.of[ranking.best];
    *out = verdict_of(posterior, bucket, best, ranking.of[ranking.second].arm);
    out->confidence = confidence_of(&ranking);
    if (is_question || bandit == NULL)
        return true;
    note_setback(posterior->model->arm, bandit, best->arm);
    bandit->incumbent = (uint8_t)best->arm;
    bandit->best_s = out->seconds;
    takt__explore(posterior, &ranking, bandit, bucket, now_ns, out);
    return true;
}

/* Trials are offered as if the GPU were to replace the processor's best. */
static void explore_gpu(struct takt_posterior *posterior,
                        const struct takt_arm_cost *gpu,
                        struct takt_bandit *bandit, unsigned bucket,
                        uint64_t now_ns, struct takt_verdict *out)
{
    struct takt_ranking ranking;

    takt__rank_costs(posterior, bucket, now_ns, &ranking);
    if (ranking.count == 0)
        return;
    rank(posterior, bucket, now_ns, TAKT_NO_ARM, &ranking);
    ranking.of[0] = ranking.of[ranking.best];
    ranking.of[1] = *gpu;
    ranking.count = 2;
    ranking.best = 0;
    bandit->best_s = takt__cost_seconds(&ranking.of[0]);
    takt__explore(posterior, &ranking, bandit, bucket, now_ns, out);
}

bool takt__posterior_judge_gpu(struct takt_posterior *posterior, unsigned arm,
                               unsigned bucket, uint64_t now_ns,
                               struct takt_verdict *out)
{
    const unsigned i = takt__posterior_position(posterior, arm);

    if (i == posterior->count || takt__model_is_closed(posterior->model, arm))
        return false;
    struct takt_bandit *bandit = find_bandit(
        posterior, takt__arm_column(&posterior->model->arm[arm]), bucket);
    const struct takt_arm_cost gpu = takt__arm_cost(posterior, i, bucket);
    const bool is_suspended = takt__arm_is_suspect(posterior, arm, now_ns);
    *out = verdict_of(posterior, bucket, &gpu, arm);
    out->confidence = (double)expf(-2 * sqrtf(gpu.variance));
    if (is_suspended)
        out->seconds = (double)FLT_MAX;
    if (bandit == NULL)
        return true;
    bandit->judged = bandit->calls;
    if (!is_suspended)
        explore_gpu(posterior, &gpu, bandit, bucket, now_ns, out);
    return true;
}
