/* SPDX-License-Identifier: MIT */
/*
 * path.c - what calls cost on each arm, and the arms along a series.
 *
 * Predictions err. If every bucket took the cheapest arm, the arm would change
 * from size to size wherever some are about as fast. So the arms of all buckets
 * are chosen together, as a path: each is as good as the cheapest there, inside
 * the noise, and costs and changes together are the least. In this way a bucket
 * also goes by what was measured beside it.
 */
#include <math.h>

#include "model/inside.h"

/* In ln(seconds): as good is what is within the band, or within two standard
 * errors but no more than this. A change has to gain so much in all buckets of
 * its stretch together (`change`); a team twice as large has to gain `doubling`
 * in each bucket. Measured: docs/decisions/0034. */
static const float most_behind = 0.25f;
static const float change = 0.5f, doubling = 0.02f;

/* A quantile is estimated less precisely than a mean. So the mean counts too,
 * with this weight beside 1: of arms with about the same quantile, the faster
 * one is chosen. Simulated: docs/decisions/0064. */
static const float by_mean = 0.1f;

/* ---- costs --------------------------------------------------------------- */

/* The share of the machine that a call takes beyond its own core, as a factor
 * of its time: so many callers at once have to share the cores. */
static float crowding(const struct takt_posterior *posterior,
                      const struct takt_arm *arm)
{
    const struct takt_model *model = posterior->model;
    const double callers = posterior->objective->callers > 0
                               ? posterior->objective->callers
                               : model->callers;
    unsigned most = 1;

    for (unsigned i = 0; i < model->arm_count; i++)
        if (model->arm[i].rates.threads > most)
            most = model->arm[i].rates.threads;
    const double share = callers * arm->rates.threads / most;
    return takt__arm_is_gpu(arm) || share < 1 ? 0 : logf((float)share);
}

/* An arm whose watts are not known is taken to draw as much as any: it has to
 * be tried to be known. */
static void add_watts(const struct takt_model *model, unsigned arm,
                      unsigned bound, struct takt_arm_cost *cost)
{
    const struct takt_watts *of = model->watts_of[arm][bound].is_known
                                      ? &model->watts_of[arm][bound]
                                      : &model->watts[arm];
    float mean = of->mean, error = of->error;

    if (!of->is_known)
        for (unsigned i = 0; i < model->arm_count; i++)
            if (model->watts[i].is_known && model->watts[i].mean > mean)
                mean = error = model->watts[i].mean;
    mean = fmaxf(mean, 1e-3f);
    error = fminf(error / mean, 1);
    cost->log_mean += logf(mean);
    cost->variance += error * error;
}

/* What an arm that takes so long has of a measure: `of` is the first or second
 * of posterior->tail. */
static void apply_measure(const struct takt_posterior *posterior, unsigned i,
                          unsigned bucket, unsigned measure, unsigned of,
                          struct takt_arm_cost *cost)
{
    const struct takt_model *model = posterior->model;

    if (takt__measure_is_tail(measure)) {
        cost->log_mean += posterior->tail[of][i].mean[bucket];
        cost->variance += posterior->tail[of][i].variance[bucket];
    } else if (measure == TAKT_MEASURE_THROUGHPUT) {
        cost->log_mean += crowding(posterior, &model->arm[cost->arm]);
    } else if (takt__measure_is_energy(measure)) {
        if (measure == TAKT_MEASURE_EDP) {
            cost->log_mean *= 2;
            cost->variance *= 4;
        }
        add_watts(model, cost->arm, posterior->prediction[i].bound[bucket],
                  cost);
    }
}

/* Beyond the limit an arm costs more than any within it, the more the farther
 * beyond. */
static void apply_limit(const struct takt_posterior *posterior, unsigned i,
                        unsigned bucket, const struct takt_arm_cost *time,
                        struct takt_arm_cost *cost)
{
    static const float beyond_all = 60;
    struct takt_arm_cost limited = *time;

    apply_measure(posterior, i, bucket, posterior->objective->limited, 1,
                  &limited);
    limited.log_mean -= logf((float)posterior->objective->limit);
    if (limited.log_mean <= 0)
        return;
    cost->log_mean = beyond_all + limited.log_mean;
    cost->variance = limited.variance;
}

static void pursue(const struct takt_posterior *posterior, unsigned i,
                   unsigned bucket, struct takt_arm_cost *cost)
{
    const struct takt_objective *objective = posterior->objective;
    const struct takt_arm_cost time = *cost;

    apply_measure(posterior, i, bucket, objective->goal, 0, cost);
    if (objective->has_limit)
        apply_limit(posterior, i, bucket, &time, cost);
    cost->log_cost = cost->log_mean + cost->variance / 2;
    if (takt__measure_is_tail(objective->goal))
        cost->log_cost =
            (cost->log_cost + by_mean * time.log_cost) / (1 + by_mean);
}

struct takt_arm_cost takt__arm_cost(const struct takt_posterior *posterior,
                                    unsigned i, unsigned bucket)
{
    const unsigned arm = posterior->arm[i];
    const struct takt_prediction *prediction = &posterior->prediction[i];
    const double load =
        posterior->model->log_load[posterior->model->arm[arm].device];
    struct takt_arm_cost out = {
        .arm = arm, .variance = prediction->residuals.variance[bucket]};

    out.log_mean = prediction->log_rates[bucket] + (float)load +
                   prediction->residuals.mean[bucket];
    out.log_cost = out.log_mean + out.variance / 2;
    out.log_time = out.log_mean;
    out.time_variance = out.variance;
    if (posterior->objective->goal != TAKT_MEASURE_TIME ||
        posterior->objective->has_limit)
        pursue(posterior, i, bucket, &out);
    return out;
}

bool takt__arm_is_suspect(const struct takt_posterior *posterior, unsigned arm,
                          uint64_t now_ns)
{
    const struct takt_track *track = posterior->series->track[arm];
    return track != NULL && track->suspect_ns > now_ns;
}

static bool may_run(const struct takt_posterior *posterior, unsigned arm)
{
    return !takt__model_is_closed(posterior->model, arm) &&
           !posterior->model->arm[arm].is_observed &&
           ((posterior->situation & TAKT_RESIDENT) == 0 ||
            !takt__arm_is_gpu(&posterior->model->arm[arm]));
}

/* Suspended arms are left out, unless there are no others. */
void takt__rank_costs(const struct takt_posterior *posterior, unsigned bucket,
                      uint64_t now_ns, struct takt_ranking *out)
{
    bool are_all_suspect = true;

    for (unsigned i = 0; i < posterior->count && are_all_suspect; i++)
        are_all_suspect =
            !may_run(posterior, posterior->arm[i]) ||
            takt__arm_is_suspect(posterior, posterior->arm[i], now_ns);
    out->count = 0;
    for (unsigned i = 0; i < posterior->count; i++)
        if (may_run(posterior, posterior->arm[i]) &&
            (are_all_suspect ||
             !takt__arm_is_suspect(posterior, posterior->arm[i], now_ns)))
            out->of[out->count++] = takt__arm_cost(posterior, i, bucket);
}

unsigned takt__ranking_cheapest(const struct takt_ranking *ranking)
{
    unsigned best = 0;

    for (unsigned i = 1; i < ranking->count; i++)
        if (ranking->of[i].log_cost < ranking->of[best].log_cost)
            best = i;
    return best;
}

/* ---- the path ------------------------------------------------------------ */

enum { words = TAKT_MAX_ARMS / 64 };

/* The cheapest way up to each arm, by its position in the ranking, which is the
 * same at every bucket. */
struct path_walk {
    float total[TAKT_MAX_ARMS];
    uint64_t changes[TAKT_BUCKETS]
                    [words];    /* is another arm one bucket below: */
    uint8_t from[TAKT_BUCKETS]; /* this one */
    unsigned last;              /* the cheapest way so far ends here */
};

/* The noise is that of times: a tail is known less well, and in most places by
 * what is known of all calls, so that costs would have no say. */
static bool is_as_good(const struct takt_arm_cost *arm,
                       const struct takt_arm_cost *best)
{
    const float behind = arm->log_cost - best->log_cost;

    return behind <= takt_band ||
           (behind <= most_behind &&
            behind * behind <= 4 * (arm->time_variance + best->time_variance));
}

static float cost_of(const struct takt_model *model,
                     const struct takt_arm_cost *arm,
                     const struct takt_arm_cost *best)
{
    static const float never = 1e6f;
    const unsigned threads = model->arm[arm->arm].rates.threads;

    return is_as_good(arm, best) ? arm->log_cost - best->log_cost +
                                       doubling * log2f((float)threads)
                                 : never;
}

static void step(struct path_walk *walk, const struct takt_model *model,
                 const struct takt_ranking *ranking, unsigned bucket)
{
    const struct takt_arm_cost *best =
        &ranking->of[takt__ranking_cheapest(ranking)];
    const float changed = walk->total[walk->last] + change;
    unsigned last = 0;

    walk->from[bucket] = (uint8_t)walk->last;
    for (unsigned i = 0; i < ranking->count; i++) {
        if (walk->total[i] > changed) {
            walk->total[i] = changed;
            walk->changes[bucket][i / 64] |= (uint64_t)1 << i % 64;
        }
        walk->total[i] += cost_of(model, &ranking->of[i], best);
        if (walk->total[i] < walk->total[last])
            last = i;
    }
    walk->last = last;
}

void takt__path_find(struct takt_posterior *posterior, uint64_t now_ns)
{
    struct takt_ranking ranking;
    struct path_walk walk = {.last = 0};

    if (posterior->has_path)
        return;
    posterior->has_path = true;
    for (unsigned j = 0; j < TAKT_BUCKETS; j++) {
        takt__rank_costs(posterior, j, now_ns, &ranking);
        if (ranking.count > 0)
            step(&walk, posterior->model, &ranking, j);
    }
    for (unsigned j = TAKT_BUCKETS; j-- > 0 && ranking.count > 0;) {
        posterior->path[j] = (uint8_t)ranking.of[walk.last].arm;
        if ((walk.changes[j][walk.last / 64] >> walk.last % 64 & 1) != 0)
            walk.last = walk.from[j];
    }
}
