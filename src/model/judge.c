/* SPDX-License-Identifier: MIT */
/*
 * judge.c - from beliefs to a choice: whom to take, how sure that is, and whom
 * to try.
 *
 * Exploration has a hard budget: what it costs beyond the best may not exceed
 * a share of the time spent in these calls, plus four calls of the best. The
 * cheapest information is bought first.
 */
#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "model/inside.h"

/* Measured in simulation: docs/decisions/0005. */
static const float band = 0.03f; /* nearer than this is as good */
static const float enough = 5;   /* samples that settle an arm */

/* Judgement. */
static const float ten_times = 2.3026f, twice = 0.6931f;

struct takt_outlook {
    struct takt_model *model;
    struct takt_series *series;
    unsigned situation;
    unsigned arm[TAKT_MAX_ARMS];
    unsigned count;
    struct takt_reference reference;
    struct takt_prospect prospect[TAKT_MAX_ARMS]; /* of arm[i] */
};

struct takt_outlook *takt__outlook_create(void)
{
    return calloc(1, sizeof(struct takt_outlook));
}

void takt__outlook_destroy(struct takt_outlook *outlook)
{
    free(outlook);
}

void takt__outlook_fill(struct takt_outlook *outlook, struct takt_model *model,
                        unsigned series, unsigned situation)
{
    outlook->model = model;
    outlook->series = takt__series_at(model, series);
    outlook->situation = situation;
    outlook->count = 0;
    if (outlook->series == NULL)
        return;
    takt__reference_find(model, outlook->series, situation,
                         &outlook->reference);
    for (unsigned arm = 0; arm < model->arm_count; arm++) {
        if (!takt__model_allows(model, series, arm))
            continue;
        takt__believe(model, outlook->series, &outlook->reference, arm,
                      situation, &outlook->prospect[outlook->count]);
        outlook->arm[outlook->count++] = arm;
    }
}

/* ---- one arm ---------------------------------------------------------------
 */

static const struct takt_stat *stat_at(const struct takt_outlook *outlook,
                                       unsigned arm, unsigned bucket)
{
    const struct takt_track *track = outlook->series->track[arm];
    const unsigned situation = takt__track_situation(
        outlook->series, &outlook->model->arm[arm], outlook->situation);

    return track == NULL || track->curve[situation] == NULL
               ? NULL
               : takt__curve_find(track->curve[situation], bucket);
}

static double samples_at(const struct takt_outlook *outlook, unsigned arm,
                         unsigned bucket)
{
    const struct takt_stat *stat = stat_at(outlook, arm, bucket);
    return stat == NULL ? 0 : stat->all.n;
}

static double first_run_of(const struct takt_outlook *outlook, unsigned arm)
{
    const struct takt_track *track = outlook->series->track[arm];
    double longest = 0;

    for (unsigned s = 0; track != NULL && s < TAKT_SITUATIONS; s++)
        for (unsigned i = 0;
             track->curve[s] != NULL && i < track->curve[s]->count; i++)
            longest = fmax(longest, (double)track->curve[s]->stat[i].first_s);
    return longest;
}

static unsigned position_of(const struct takt_outlook *outlook, unsigned arm)
{
    for (unsigned i = 0; i < outlook->count; i++)
        if (outlook->arm[i] == arm)
            return i;
    return outlook->count;
}

struct takt_estimate_of
takt__outlook_estimate(const struct takt_outlook *outlook, unsigned arm,
                       unsigned bucket, const struct takt_work_of *work)
{
    struct takt_estimate_of out = {.seconds = -1, .variance = -1};
    const unsigned i = position_of(outlook, arm);
    if (i == outlook->count)
        return out;
    const struct takt_track *track = outlook->series->track[arm];
    const struct takt_belief *belief = &outlook->prospect[i].belief;
    const struct takt_arm *of = &outlook->model->arm[arm];
    if (work == NULL)
        work = &outlook->series->typical[bucket];
    const double rates =
        takt__series_seconds(outlook->series, of, work, outlook->situation);
    out.variance = (double)belief->variance[bucket];
    out.log_mean = log(rates) + (double)belief->mean[bucket] +
                   outlook->model->log_load[of->device];
    out.seconds = exp(out.log_mean + out.variance / 2);
    out.samples = samples_at(outlook, arm, bucket);
    out.is_suspect = track != NULL && track->suspect_ns != 0;
    out.first_s = first_run_of(outlook, arm);
    return out;
}

/* ---- all arms --------------------------------------------------------------
 */

/* What a call costs there beyond its own time. Whoever has to be opened first
 * costs more until so many calls were made that opening would have paid. */
static double burden_of(const struct takt_outlook *outlook,
                        const struct takt_burden *burden,
                        const struct takt_spot *spot, unsigned arm)
{
    double all = 0;

    if (burden != NULL)
        all +=
            burden[arm].transfer_s + burden[arm].queue_s + burden[arm].switch_s;
    if (outlook->model->runs[arm] <= 0)
        all += outlook->model->arm[arm].opening_s /
               (spot == NULL ? 1 : spot->calls + 1);
    return all;
}

static bool is_suspect(const struct takt_outlook *outlook, unsigned arm,
                       uint64_t now_ns)
{
    const struct takt_track *track = outlook->series->track[arm];
    return track != NULL && track->suspect_ns > now_ns;
}

static inline struct takt_candidate
candidate_of(const struct takt_outlook *outlook, unsigned i, unsigned bucket,
             const struct takt_burden *burden, const struct takt_spot *spot)
{
    const unsigned arm = outlook->arm[i];
    const struct takt_prospect *prospect = &outlook->prospect[i];
    const double load =
        outlook->model->log_load[outlook->model->arm[arm].device];
    struct takt_candidate out = {.arm = arm,
                                 .variance = prospect->belief.variance[bucket]};

    out.log_mean = prospect->log_rates[bucket] + (float)load +
                   prospect->belief.mean[bucket];
    out.log_cost = out.log_mean + out.variance / 2;
    const float extra = (float)burden_of(outlook, burden, spot, arm);
    if (extra > 0) {
        out.log_mean = logf(expf(out.log_mean) + extra);
        out.log_cost = logf(expf(out.log_cost) + extra);
    }
    return out;
}

static bool may_run(const struct takt_outlook *outlook, unsigned arm)
{
    return !takt__model_is_asleep(outlook->model, arm) &&
           ((outlook->situation & TAKT_RESIDENT) == 0 ||
            !takt__arm_is_gpu(&outlook->model->arm[arm]));
}

/* Suspects are left out, unless there is nobody else. */
static void gather(const struct takt_outlook *outlook, unsigned bucket,
                   const struct takt_burden *burden,
                   const struct takt_spot *spot, uint64_t now_ns,
                   struct takt_field *out)
{
    bool are_all_suspect = true;

    for (unsigned i = 0; i < outlook->count && are_all_suspect; i++)
        are_all_suspect = !may_run(outlook, outlook->arm[i]) ||
                          is_suspect(outlook, outlook->arm[i], now_ns);
    out->count = 0;
    for (unsigned i = 0; i < outlook->count; i++)
        if (may_run(outlook, outlook->arm[i]) &&
            (are_all_suspect || !is_suspect(outlook, outlook->arm[i], now_ns)))
            out->of[out->count++] =
                candidate_of(outlook, i, bucket, burden, spot);
}

/* The cheapest, or the incumbent if it is as good; and the next. */
static void rank(struct takt_field *field, unsigned incumbent)
{
    unsigned best = 0;

    for (unsigned i = 1; i < field->count; i++)
        if (field->of[i].log_cost < field->of[best].log_cost)
            best = i;
    for (unsigned i = 0; i < field->count; i++)
        if (field->of[i].arm == incumbent &&
            field->of[i].log_cost <= field->of[best].log_cost + band)
            best = i;
    unsigned second = best;
    for (unsigned i = 0; i < field->count; i++)
        if (i != best && (second == best ||
                          field->of[i].log_cost < field->of[second].log_cost))
            second = i;
    field->best = best;
    field->second = second;
}

/* P(the best is the best), taking the others as independent. Whoever is three
 * sigma behind does not matter. */
static double confidence_of(const struct takt_field *field)
{
    const struct takt_candidate *best = &field->of[field->best];
    float all = 1;

    for (unsigned i = 0; i < field->count; i++) {
        const struct takt_candidate *other = &field->of[i];
        const float distance = other->log_mean - best->log_mean;
        const float spread = other->variance + best->variance;
        if (i == field->best ||
            (distance > 0 && distance * distance > 9 * spread))
            continue;
        all *= 0.5f * erfcf(-distance / sqrtf(2 * spread));
    }
    return (double)all;
}

/* ---- exploration -----------------------------------------------------------
 */

static float lowest(const struct takt_candidate *who)
{
    return who->log_mean - 2 * sqrtf(who->variance);
}

/* Of arms that differ only by their threads, those around the cheapest. */
static bool is_near(const struct takt_model *model,
                    const struct takt_field *field,
                    const struct takt_candidate *who)
{
    const struct takt_arm *arm = &model->arm[who->arm];
    const struct takt_candidate *cheapest = who;

    for (unsigned i = 0; i < field->count; i++)
        if (model->arm[field->of[i].arm].kin == arm->kin &&
            field->of[i].log_cost < cheapest->log_cost)
            cheapest = &field->of[i];
    const unsigned x = arm->rates.threads;
    const unsigned y = model->arm[cheapest->arm].rates.threads;
    return (x < y ? x : y) * 2 >= (x < y ? y : x);
}

/* Not foolhardy: nobody is tried who may take ten times as long as the best,
 * except where it costs least to learn of one who was never run. */
static bool is_safe(const struct takt_outlook *outlook,
                    const struct takt_candidate *who,
                    const struct takt_candidate *best, unsigned bucket)
{
    const float most = who->log_mean + 2 * sqrtf(who->variance);

    return most <= best->log_mean + ten_times ||
           (outlook->model->runs[who->arm] <= 0 &&
            bucket <= outlook->series->first_bucket);
}

/* One who may be better and is not settled yet; or, when losers are due, one
 * who is not far behind and was not seen since. */
static bool is_wanted(const struct takt_outlook *outlook,
                      const struct takt_spot *spot,
                      const struct takt_candidate *who,
                      const struct takt_candidate *best, unsigned bucket)
{
    const float low = lowest(who);

    if (low >= best->log_mean + twice)
        return false;
    const struct takt_stat *stat = stat_at(outlook, who->arm, bucket);
    if ((stat == NULL ? 0 : stat->seen_ns) < spot->beat_ns)
        return true;
    return low < best->log_mean - band &&
           (stat == NULL || stat->all.n < (double)enough);
}

/* What a try is expected to cost beyond the best: its opening included. */
static double price_of(const struct takt_outlook *outlook,
                       const struct takt_candidate *who,
                       const struct takt_candidate *best)
{
    const struct takt_model *model = outlook->model;
    const double extra = (double)(expf(who->log_cost) - expf(best->log_cost));

    return fmax(extra, 0) +
           (model->runs[who->arm] <= 0 ? model->arm[who->arm].opening_s : 0);
}

/* The position of the cheapest arm worth a try; -1: none. */
static int cheapest(const struct takt_outlook *outlook,
                    const struct takt_field *field,
                    const struct takt_spot *spot, unsigned bucket,
                    double *price)
{
    const struct takt_candidate *best = &field->of[field->best];
    int found = -1;

    for (unsigned i = 0; i < field->count; i++) {
        const struct takt_candidate *who = &field->of[i];
        if (i == field->best || !is_wanted(outlook, spot, who, best, bucket) ||
            !is_safe(outlook, who, best, bucket) ||
            !is_near(outlook->model, field, who))
            continue;
        const double extra = price_of(outlook, who, best);
        if (found < 0 || extra < *price) {
            found = (int)i;
            *price = extra;
        }
    }
    return found;
}

static void keep_beat(struct takt_spot *spot, uint64_t now_ns)
{
    if (spot->calls < spot->next_beat)
        return;
    spot->beat_ns = now_ns;
    spot->beat_calls *= 2;
    spot->next_beat = spot->calls + spot->beat_calls;
}

/* At most one try is under way per spot; one that was never heard of again is
 * given up after a while. */
static void explore(struct takt_outlook *outlook,
                    const struct takt_field *field, struct takt_spot *spot,
                    unsigned bucket, uint64_t now_ns, struct takt_verdict *out)
{
    double price = 0;

    if (!(outlook->model->options.exploration > 0) || spot->calls < 1)
        return;
    keep_beat(spot, now_ns);
    if (spot->offered != TAKT_NO_ARM && now_ns < spot->patience_ns) {
        out->explore = spot->offered;
        out->is_offered = true;
        return;
    }
    spot->offered = TAKT_NO_ARM;
    spot->wanted_s = 0;
    const int found = cheapest(outlook, field, spot, bucket, &price);
    if (found < 0)
        return;
    if (!takt__spot_affords(outlook->model, spot, price)) {
        spot->wanted_s = price;
        return;
    }
    const double patience_s = 1 + 10 * (price + spot->best_s);
    spot->patience_ns = now_ns + (uint64_t)(fmin(patience_s, 1e6) * 1e9);
    spot->offered = (uint8_t)field->of[found].arm;
    out->explore = spot->offered;
}

/* Whether threads slept is known of calls that had a use for them alone. */
static double calls_at(const struct takt_outlook *outlook, unsigned bucket)
{
    const unsigned situation = outlook->situation & ~(unsigned)TAKT_ASLEEP;
    const struct takt_spot *awake = outlook->series->spot[situation];
    const struct takt_spot *asleep =
        outlook->series->spot[situation | TAKT_ASLEEP];

    return (awake == NULL ? 0 : awake[bucket].calls) +
           (asleep == NULL ? 0 : asleep[bucket].calls);
}

bool takt__outlook_judge(struct takt_outlook *outlook, unsigned bucket,
                         const struct takt_burden *burden, uint64_t now_ns,
                         bool is_question, struct takt_verdict *out)
{
    struct takt_spot *spots = outlook->series == NULL
                                  ? NULL
                                  : outlook->series->spot[outlook->situation];
    struct takt_spot *spot = spots == NULL ? NULL : &spots[bucket];
    struct takt_field field;

    gather(outlook, bucket, burden, spot, now_ns, &field);
    if (spot != NULL && !is_question)
        spot->judged = spot->calls;
    if (field.count == 0)
        return false;
    rank(&field, spot == NULL ? TAKT_NO_ARM : spot->incumbent);
    takt__usual_prefer(outlook->model, outlook->series, spot,
                       calls_at(outlook, bucket), &field);
    const struct takt_candidate *best = &field.of[field.best];
    *out = (struct takt_verdict){
        .best = (uint8_t)best->arm,
        .runner_up = (uint8_t)field.of[field.second].arm,
        .explore = -1,
        .confidence = confidence_of(&field),
        .seconds = (double)expf(best->log_cost),
        .samples = samples_at(outlook, best->arm, bucket),
        .is_measured = takt__is_measured(outlook->series, best->arm),
    };
    if (is_question || spot == NULL)
        return true;
    spot->incumbent = (uint8_t)best->arm;
    spot->best_s = out->seconds;
    explore(outlook, &field, spot, bucket, now_ns, out);
    return true;
}

/* Tries are offered as if the best of the processor were to be replaced. */
static void explore_place(struct takt_outlook *outlook,
                          const struct takt_candidate *gpu,
                          struct takt_spot *spot, unsigned bucket,
                          uint64_t now_ns, struct takt_verdict *out)
{
    struct takt_field field;

    gather(outlook, bucket, NULL, NULL, now_ns, &field);
    if (field.count == 0)
        return;
    rank(&field, TAKT_NO_ARM);
    field.of[0] = field.of[field.best];
    field.of[1] = *gpu;
    field.count = 2;
    field.best = 0;
    spot->best_s = (double)expf(field.of[0].log_cost);
    explore(outlook, &field, spot, bucket, now_ns, out);
}

bool takt__outlook_place(struct takt_outlook *outlook, unsigned arm,
                         unsigned bucket, uint64_t now_ns,
                         struct takt_verdict *out)
{
    const unsigned place = takt__arm_place(&outlook->model->arm[arm]);
    const unsigned i = position_of(outlook, arm);

    if (i == outlook->count || takt__model_is_asleep(outlook->model, arm))
        return false;
    struct takt_spot *spots = outlook->series->spot[place];
    struct takt_spot *spot = spots == NULL ? NULL : &spots[bucket];
    const struct takt_candidate gpu =
        candidate_of(outlook, i, bucket, NULL, NULL);
    const bool is_left_alone = is_suspect(outlook, arm, now_ns);
    *out = (struct takt_verdict){
        .best = (uint8_t)arm,
        .runner_up = (uint8_t)arm,
        .explore = -1,
        .confidence = (double)expf(-2 * sqrtf(gpu.variance)),
        .seconds = is_left_alone ? (double)FLT_MAX : (double)expf(gpu.log_cost),
        .samples = samples_at(outlook, arm, bucket),
        .is_measured = takt__is_measured(outlook->series, arm),
    };
    if (spot == NULL)
        return true;
    spot->judged = spot->calls;
    if (!is_left_alone)
        explore_place(outlook, &gpu, spot, bucket, now_ns, out);
    return true;
}
