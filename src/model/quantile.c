/* SPDX-License-Identifier: MIT */
/*
 * quantile.c - the tails of arms: learned, and predicted where few samples are.
 *
 * The prior of a tail is what teams of that size show on calls of that length,
 * in all series; then come the neighbouring buckets, then the bucket itself.
 */
#include <math.h>
#include <string.h>

#include "model/inside.h"

/* How many samples the prior is worth at most, what one other size of team adds
 * to it, what is left of it in the end, and what neighbours are worth together.
 * Measured in simulation (test_tail): docs/decisions/0064. */
static const float most_prior = 30, most_other_team = 10, least_prior = 4,
                   most_neighbours = 20;

/* Judgement: fewer samples say little about where their middle is. */
static const float few = 8;

/* What is left of a tail that has changed. */
static const float left_of_changed = 32;

static unsigned team_of(const struct takt_arm *arm)
{
    if (takt__arm_is_gpu(arm))
        return TAKT_TEAM_GPU;
    const unsigned team = 31 - (unsigned)__builtin_clz(arm->rates.threads | 1);
    return team < TAKT_TEAM_GPU ? team : TAKT_TEAM_GPU - 1;
}

static unsigned length_of(float log_seconds)
{
    static const float from[] = {-10.82f, -8.52f, -6.21f}; /* 20 us, ... */
    unsigned length = 0;

    while (length < TAKT_LENGTHS - 1 && log_seconds >= from[length])
        length++;
    return length;
}

/* What a typical call takes, by the rates and the samples of its bucket, if it
 * has any. */
static float log_seconds_of(const struct takt_series *series,
                            const struct takt_arm *arm, unsigned situation,
                            unsigned bucket, const struct takt_stat *stat)
{
    const double by_rates = takt__series_expect(
        series, arm, &series->typical[bucket], situation, NULL);

    return logf((float)by_rates) + (stat == NULL ? 0 : (float)stat->all.mean);
}

/* What all arms of that size show on calls of that length. */
static struct takt_tail *team_tail(struct takt_model *model,
                                   const struct takt_arm *arm,
                                   float log_seconds)
{
    return &model->tail[team_of(arm)][length_of(log_seconds)];
}

/* ---- learning ------------------------------------------------------------ */

/* Half of all samples are on either side of it in the end; one alone moves it
 * little. */
static void follow_middle(struct takt_stat *stat, float residual)
{
    const float sigma = (float)takt__sums_sigma(&stat->all);
    const float step = fmaxf(sigma / (float)(stat->settled + 1), 0.004f);

    stat->middle += residual > stat->middle ? step : -step;
    if (stat->settled < UINT8_MAX)
        stat->settled++;
}

/* In ln(seconds), judgement. */
static const float near = 0.15f;

static void recount(struct takt_tail *tail, float by)
{
    takt__tail_shift(tail, by);
    takt__tail_shrink(tail, left_of_changed);
}

/* Tails are counted from about the middle. When that has moved, what was
 * counted before says little: else a wrong beginning would look like a tail for
 * thousands of calls. A mean that moves with a burst moves nothing here: such
 * bursts are the tail. */
static void follow_origin(struct takt_stat *stat)
{
    const float by = stat->middle - stat->origin;
    const struct takt_tail stored = stat->own_tail;

    if (fabsf(by) <= near)
        return;
    recount(&stat->tail, by);
    recount(&stat->own_tail, by);
    takt__tail_keep_bins(&stat->own_tail, &stored);
    stat->origin = stat->middle;
    stat->watch = (struct takt_tail_watch){0};
}

static void begin(struct takt_stat *stat)
{
    stat->origin = stat->middle = (float)stat->all.mean;
    stat->settled = 0;
}

static void raise_alarm(struct takt_model *model,
                        const struct takt_observation *seen)
{
    takt__tail_shrink(&seen->stat->tail, left_of_changed);
    takt__tail_shrink(&seen->stat->own_tail, left_of_changed);
    model->counters.tail_alarms++;
    takt__series_change(seen->series);
}

/* A quantile moves with a sample in the tail; and with every one, the less the
 * more there are. That of many samples is judged in its time. */
static void mark(struct takt_series *series, const struct takt_stat *stat,
                 unsigned bin, float samples, uint64_t now_ns)
{
    static const float settled = 512;
    static const unsigned all = (1u << TAKT_SITUATIONS) - 1;

    if (bin < stat->watch.level && ((unsigned)samples & 7) != 0)
        return;
    if (samples < settled)
        takt__series_change_at(series, all, stat->bucket);
    else
        takt__series_move_at(series, all, stat->bucket, now_ns);
}

static unsigned threads_of(const struct takt_model *model, unsigned arm)
{
    return model->arm[arm].rates.threads;
}

/* A trial among calls on fewer threads: workers have just been woken, and the
 * operands are not in their caches. All such calls take longer, which says
 * little about a mean and nothing about a tail. */
static bool is_out_of_place(const struct takt_model *model,
                            const struct takt_observation *seen)
{
    if ((seen->sample->flags & TAKT_SAMPLE_EXPLORED) == 0)
        return false;
    const struct takt_bandit *bandit = takt__bandit_at(
        seen->series, seen->objective, seen->column, seen->sample->bucket);
    return bandit != NULL && bandit->incumbent != TAKT_NO_ARM &&
           threads_of(model, bandit->incumbent) <
               threads_of(model, seen->sample->arm);
}

static void fade_arm(struct takt_model *model,
                     const struct takt_observation *seen, unsigned number)
{
    const struct takt_arm *arm = &model->arm[number];
    const struct takt_track *track = seen->series->track[number];
    const unsigned bucket = seen->sample->bucket;

    for (unsigned s = 0; s < TAKT_SITUATIONS; s++) {
        struct takt_stat *stat =
            track->curve[s] == NULL ? NULL
                                    : takt__curve_find(track->curve[s], bucket);
        if (stat == NULL)
            continue;
        takt__tail_fade(&stat->tail);
        takt__tail_fade(team_tail(
            model, arm, log_seconds_of(seen->series, arm, s, bucket, stat)));
    }
}

/* What was measured of arms with more threads loses weight, since trials do not
 * renew it: after some ten thousand calls they are expected to be as any arm of
 * their size. If that is better, they are chosen, and measured again. Simulated
 * in test_tail. */
static void fade_others(struct takt_model *model,
                        const struct takt_observation *seen, unsigned samples)
{
    enum { every = 64 };
    struct takt_bandit *bandit = takt__bandit_at(
        seen->series, seen->objective, seen->column, seen->sample->bucket);

    if (samples % every != 0 ||
        (bandit != NULL && ++bandit->fades % (1u << bandit->setbacks) != 0))
        return;
    for (unsigned i = 0; i < seen->series->arm_count; i++) {
        const unsigned arm = seen->series->arm[i];
        if (threads_of(model, arm) > threads_of(model, seen->sample->arm))
            fade_arm(model, seen, arm);
    }
}

void takt__tails_add(struct takt_model *model,
                     const struct takt_observation *seen)
{
    struct takt_stat *stat = seen->stat;
    const struct takt_arm *arm = &model->arm[seen->sample->arm];

    if (stat->all.n < 2 || seen->series->link >= 0)
        return;
    if (is_out_of_place(model, seen))
        return;
    const float samples = takt__tail_samples(&stat->tail);
    fade_others(model, seen, (unsigned)samples);
    if (samples < 1)
        begin(stat);
    follow_middle(stat, (float)seen->residual);
    follow_origin(stat);
    const unsigned bin = takt__tail_bin((float)seen->residual - stat->origin);
    if (takt__tail_watch(&stat->watch, &stat->tail, (unsigned)samples, bin))
        raise_alarm(model, seen);
    takt__tail_add(&stat->tail, bin);
    takt__tail_add(&stat->own_tail, bin);
    takt__tail_add(
        team_tail(model, arm, (float)(seen->log_rates + stat->all.mean)), bin);
    if (model->uses_tails)
        mark(seen->series, stat, bin, samples, seen->sample->start_ns);
}

void takt__tails_hint(struct takt_model *model, const struct takt_curve_at *at,
                      unsigned bucket, const struct takt_tail *tail)
{
    const struct takt_arm *arm = &model->arm[at->arm];
    const struct takt_series *series = model->series[at->series];
    const struct takt_stat *stat =
        at->curve == NULL ? NULL : takt__curve_find(at->curve, bucket);
    struct takt_tail few_of_it = *tail;

    if (stat == NULL)
        takt__tail_shrink(&few_of_it, few);
    takt__tail_pool(
        team_tail(model, arm,
                  log_seconds_of(series, arm, at->situation, bucket, stat)),
        &few_of_it);
}

void takt__tails_restore(struct takt_model *model,
                         const struct takt_curve_at *at, struct takt_stat *stat,
                         const struct takt_tail *tail)
{
    if (!(takt__tail_samples(&stat->tail) > 0))
        begin(stat);
    takt__tail_pool(&stat->tail, tail);
    takt__tails_hint(model, at, stat->bucket, tail);
    takt__series_change(model->series[at->series]);
}

/* ---- predicting ---------------------------------------------------------- */

/* What is expected of a call of that length before its series is looked at. */
static void expect(const struct takt_model *model, const struct takt_arm *arm,
                   unsigned length, struct takt_tail_shares *out)
{
    const unsigned own = team_of(arm);
    const struct takt_tail *tail = &model->tail[own][length];
    const unsigned threads = own == TAKT_TEAM_GPU ? 1 : arm->rates.threads;

    takt__tail_prior(threads, out);
    for (unsigned team = 0; team < TAKT_TEAM_GPU && own != TAKT_TEAM_GPU;
         team++)
        if (team != own)
            takt__tail_learn_team(out, &model->tail[team][length],
                                  (float)threads / (float)(1u << team),
                                  most_other_team);
    takt__tail_learn(out, tail,
                     fminf(1, most_prior / (takt__tail_samples(tail) + 1)));
    out->worth = fminf(out->worth, most_prior);
}

/* Of each bucket up to three away, half as much as of the one before it. */
static void borrow(const struct takt_curve *curve, unsigned at,
                   struct takt_tail_shares *shares)
{
    float weight[7] = {0}, sum = 0;

    for (unsigned pass = 0; pass < 2; pass++)
        for (unsigned i = at > 3 ? at - 3 : 0; i <= at + 3 && i < curve->count;
             i++) {
            const struct takt_stat *stat = &curve->stat[i];
            const unsigned away =
                stat->bucket > curve->stat[at].bucket
                    ? (unsigned)(stat->bucket - curve->stat[at].bucket)
                    : (unsigned)(curve->stat[at].bucket - stat->bucket);
            if (away == 0 || away > 3)
                continue;
            float *of = &weight[i + 3 - at];
            if (pass == 0) {
                *of = 1 / (float)(1u << away);
                sum += *of * takt__tail_samples(&stat->tail);
            } else {
                takt__tail_learn(shares, &stat->tail,
                                 *of * fminf(1, most_neighbours / (sum + 1)));
            }
        }
}

/* What others show may be wrong by half for an arm, as long as so few samples
 * of its own are beyond the quantile. */
static float doubt_of(float mean, float samples, float beyond)
{
    const float doubt = 0.5f * mean / (1 + 2 * samples * beyond);
    return doubt * doubt;
}

/* One bucket that was measured. The middle of its samples may not be what the
 * mean is now. */
static void predict_stat(const struct takt_curve *curve, unsigned at,
                         const struct takt_tail_shares *expected, float beyond,
                         float residual, struct takt_residuals *out)
{
    const struct takt_stat *stat = &curve->stat[at];
    const float samples = takt__tail_samples(&stat->tail);
    struct takt_tail_shares shares = *expected;

    shares.worth = least_prior +
                   (shares.worth - least_prior) / (1 + samples / least_prior);
    borrow(curve, at, &shares);
    takt__tail_learn(&shares, &stat->tail, 1);
    takt__tail_quantile(&shares, beyond, &out->mean[stat->bucket],
                        &out->variance[stat->bucket]);
    out->variance[stat->bucket] +=
        doubt_of(out->mean[stat->bucket], samples, beyond);
    if (samples > 0)
        out->mean[stat->bucket] +=
            (stat->origin - residual) * samples / (samples + few);
}

static const struct takt_curve *curve_of(const struct takt_posterior *posterior,
                                         unsigned i)
{
    const struct takt_arm *arm = &posterior->model->arm[posterior->arm[i]];
    const struct takt_track *track =
        posterior->series->track[posterior->arm[i]];

    return track == NULL ? NULL
                         : track->curve[takt__track_situation(
                               posterior->series, arm, posterior->situation)];
}

static void expect_team(const struct takt_model *model,
                        const struct takt_arm *arm, float beyond,
                        struct takt_team_tail *out)
{
    out->team = team_of(arm);
    out->threads = arm->rates.threads;
    for (unsigned l = 0; l < TAKT_LENGTHS; l++) {
        expect(model, arm, l, &out->expected[l]);
        takt__tail_quantile(&out->expected[l], beyond, &out->mean[l],
                            &out->variance[l]);
        out->variance[l] += doubt_of(out->mean[l], 0, beyond);
    }
}

/* The same for all arms with as many threads, so found once: a quantile takes
 * more than a microsecond. */
static const struct takt_team_tail *
tail_of_team(struct takt_posterior *posterior, const struct takt_arm *arm,
             float beyond)
{
    struct takt_team_tail *at = posterior->team;
    const struct takt_team_tail *end = at + posterior->team_count;

    while (at < end &&
           (at->team != team_of(arm) || at->threads != arm->rates.threads))
        at++;
    if (at < end)
        return at;
    if (posterior->team_count < TAKT_TEAM_TAILS)
        posterior->team_count++;
    else
        at--; /* the last one is found anew each time */
    expect_team(posterior->model, arm, beyond, at);
    return at;
}

static void predict_tail(struct takt_posterior *posterior, unsigned i,
                         float beyond, struct takt_residuals *out)
{
    const struct takt_prediction *prediction = &posterior->prediction[i];
    const struct takt_arm *arm = &posterior->model->arm[posterior->arm[i]];
    const struct takt_curve *curve = curve_of(posterior, i);
    const struct takt_team_tail *team = tail_of_team(posterior, arm, beyond);

    for (unsigned j = 0, at = 0; j < TAKT_BUCKETS; j++) {
        const float residual = prediction->residuals.mean[j];
        const unsigned length = length_of(prediction->log_rates[j] + residual);
        out->mean[j] = team->mean[length];
        out->variance[j] = team->variance[length];
        if (curve == NULL || at == curve->count || curve->stat[at].bucket != j)
            continue;
        predict_stat(curve, at, &team->expected[length], beyond, residual, out);
        at++;
    }
}

void takt__tails_predict(struct takt_posterior *posterior, float beyond,
                         struct takt_residuals out[TAKT_MAX_ARMS])
{
    posterior->team_count = 0;
    for (unsigned i = 0; i < posterior->count; i++)
        predict_tail(posterior, i, beyond, &out[i]);
}

void takt__tails_predict_at(const struct takt_posterior *posterior, unsigned i,
                            unsigned bucket, float beyond,
                            struct takt_residuals *out)
{
    const struct takt_prediction *prediction = &posterior->prediction[i];
    const struct takt_arm *arm = &posterior->model->arm[posterior->arm[i]];
    const struct takt_curve *curve = curve_of(posterior, i);
    const float residual = prediction->residuals.mean[bucket];
    const struct takt_stat *stat =
        curve == NULL ? NULL : takt__curve_find(curve, bucket);
    struct takt_tail_shares expected;

    expect(posterior->model, arm,
           length_of(prediction->log_rates[bucket] + residual), &expected);
    if (stat != NULL) {
        predict_stat(curve, (unsigned)(stat - curve->stat), &expected, beyond,
                     residual, out);
        return;
    }
    takt__tail_quantile(&expected, beyond, &out->mean[bucket],
                        &out->variance[bucket]);
    out->variance[bucket] += doubt_of(out->mean[bucket], 0, beyond);
}
