/* SPDX-License-Identifier: MIT */
/*
 * summary.c - the statistics of the model, out to the store and back in.
 *
 * Residuals are relative to the rates of an arm; a summary holds a time.
 */
#include <math.h>

#include "model/inside.h"

static double log_rates_ns(const struct takt_series *series,
                           const struct takt_arm *arm, const takt_work *work,
                           unsigned situation)
{
    return log(takt__series_expect(series, arm, work, situation, NULL) * 1e9);
}

/* ---- out ----------------------------------------------------------------- */

struct visitor {
    struct takt_model *model;
    takt_summary_visit *visit;
    void *self;
    bool only_changed; /* then the writer's own samples */
};

static void visit_stat(const struct visitor *visitor,
                       const struct takt_curve_at *at, struct takt_stat *stat)
{
    const struct takt_model *model = visitor->model;
    const struct takt_series *of = model->series[at->series];
    const takt_work work = of->typical[stat->bucket];
    const struct takt_sums *sums =
        visitor->only_changed ? &stat->own : &stat->all;
    const double log_rates =
        log_rates_ns(of, &model->arm[at->arm], &work, at->situation);
    const struct takt_summary summary = {
        .series = at->series,
        .arm = at->arm,
        .situation = at->situation,
        .bucket = stat->bucket,
        .n = sums->n,
        .mean = sums->mean + log_rates,
        .m2 = sums->m2,
        .first_s = (double)stat->first_s,
        .bytes = work.bytes,
        .flops = work.flops,
        .calls = stat->calls,
        .seconds = stat->seconds,
        .tail = visitor->only_changed ? stat->own_tail : stat->tail,
        .origin = (double)stat->origin + log_rates,
    };

    if (visitor->only_changed)
        stat->is_changed = false;
    visitor->visit(visitor->self, &summary);
}

static void visit_curve(void *self, const struct takt_curve_at *at)
{
    const struct visitor *visitor = self;

    for (unsigned i = 0; i < at->curve->count; i++)
        if (!visitor->only_changed || at->curve->stat[i].is_changed)
            visit_stat(visitor, at, &at->curve->stat[i]);
}

void takt__model_visit(struct takt_model *model, bool only_changed,
                       takt_summary_visit *visit, void *self)
{
    struct visitor visitor = {model, visit, self, only_changed};

    takt__model_each_curve(model, visit_curve, &visitor);
}

/* ---- in ------------------------------------------------------------------ */

static bool is_within(double value, double most)
{
    return value >= 0 && value < most;
}

static bool is_valid(const struct takt_model *model,
                     const struct takt_summary *summary)
{
    return summary->series < TAKT_SERIES_COUNT &&
           summary->arm < model->arm_count &&
           summary->situation < TAKT_SITUATIONS &&
           summary->bucket < TAKT_BUCKETS && is_within(summary->n, 1e15) &&
           is_within(fabs(summary->mean), 100) &&
           is_within(summary->m2, 1e15) && is_within(summary->bytes, 1e300) &&
           is_within(summary->flops, 1e300) &&
           (summary->bytes + summary->flops > 0 ||
            summary->series == TAKT_SERIES_LINKS + TAKT_LINK_OPEN) &&
           is_within(summary->calls, INFINITY) &&
           is_within(summary->seconds, INFINITY) && isfinite(summary->first_s);
}

/* What a summary is about. */
struct target {
    struct takt_track *track;
    unsigned situation; /* as it matters to the arm */
    struct takt_stat *stat;
    struct takt_sums sums;
};

/* TAKT_EINVAL: the summary is not valid. */
static takt_status find_target(struct takt_model *model,
                               const struct takt_summary *summary, bool is_hint,
                               struct target *out)
{
    const takt_work work = {summary->bytes, summary->flops};

    if (!is_valid(model, summary))
        return TAKT_EINVAL;
    if (takt__model_set_typical(model, summary->series, summary->bucket,
                                &work) != TAKT_OK)
        return TAKT_ENOMEM;
    struct takt_series *series = model->series[summary->series];
    const struct takt_arm *arm = &model->arm[summary->arm];
    out->track = takt__track_at(series, summary->arm);
    if (out->track == NULL)
        return TAKT_ENOMEM;
    out->situation = takt__track_situation(series, arm, summary->situation);
    out->stat = takt__stat_at(is_hint ? &out->track->hint[out->situation]
                                      : &out->track->curve[out->situation],
                              summary->bucket);
    out->sums = (struct takt_sums){
        summary->n,
        summary->mean - log_rates_ns(series, arm, &work, summary->situation),
        summary->m2};
    return out->stat == NULL ? TAKT_ENOMEM : TAKT_OK;
}

static void add_own(const struct target *target,
                    const struct takt_summary *summary)
{
    takt__sums_pool(&target->stat->own, &target->sums);
    target->stat->calls += summary->calls;
    target->stat->seconds += summary->seconds;
}

/* Predictions of the arm are made anew, and so are verdicts. */
static void mark_changed(struct takt_model *model, const struct target *target,
                         unsigned series)
{
    target->track->asked = 0;
    takt__series_change(model->series[series]);
}

takt_status takt__model_restore(struct takt_model *model,
                                const struct takt_summary *summary, bool is_own)
{
    struct target target;
    const takt_status status = find_target(model, summary, false, &target);

    if (status != TAKT_OK)
        return status == TAKT_EINVAL ? TAKT_OK : status;
    takt__sums_pool(&target.stat->all, &target.sums);
    if (is_own)
        add_own(&target, summary);
    if (summary->first_s > 0)
        target.stat->first_s = (float)summary->first_s;
    target.track->samples[target.situation] += summary->n;
    mark_changed(model, &target, summary->series);
    model->uncalibrated++;
    return TAKT_OK;
}

takt_status takt__model_adopt(struct takt_model *model,
                              const struct takt_summary *summary)
{
    struct target target;
    const takt_status status = find_target(model, summary, false, &target);

    if (status == TAKT_OK)
        add_own(&target, summary);
    return status == TAKT_EINVAL ? TAKT_OK : status;
}

void takt__model_hint(struct takt_model *model,
                      const struct takt_summary *summary, double variance)
{
    struct target target;

    if (!(variance > 0) ||
        find_target(model, summary, true, &target) != TAKT_OK)
        return;
    target.stat->all = takt__sums_worth(target.sums.mean, variance);
    target.stat->calls = summary->calls;
    mark_changed(model, &target, summary->series);
}

void takt__model_add_tail(struct takt_model *model,
                          const struct takt_summary *summary, bool to_all,
                          bool to_own)
{
    struct takt_series *series = summary->series < TAKT_SERIES_COUNT
                                     ? model->series[summary->series]
                                     : NULL;

    if (series == NULL || summary->arm >= model->arm_count ||
        summary->situation >= TAKT_SITUATIONS ||
        summary->bucket >= TAKT_BUCKETS || series->link >= 0)
        return;
    const struct takt_arm *arm = &model->arm[summary->arm];
    const struct takt_track *track = series->track[summary->arm];
    const struct takt_curve_at at = {
        .curve = track == NULL ? NULL
                               : track->curve[takt__track_situation(
                                     series, arm, summary->situation)],
        .series = summary->series,
        .arm = summary->arm,
        .situation = summary->situation};
    struct takt_stat *stat =
        at.curve == NULL ? NULL : takt__curve_find(at.curve, summary->bucket);
    if (stat == NULL) {
        if (!to_all && !to_own)
            takt__tails_hint(model, &at, summary->bucket, &summary->tail);
        return;
    }
    if (to_all)
        takt__tails_restore(model, &at, stat, &summary->tail);
    if (to_own)
        takt__tail_pool(&stat->own_tail, &summary->tail);
}

static void disown(void *self, const struct takt_curve_at *at)
{
    (void)self;
    for (unsigned i = 0; i < at->curve->count; i++) {
        struct takt_stat *stat = &at->curve->stat[i];
        stat->own = (struct takt_sums){0};
        stat->own_tail = (struct takt_tail){{0}};
        stat->calls = stat->seconds = 0;
        stat->is_changed = false;
    }
}

void takt__model_disown(struct takt_model *model)
{
    takt__model_each_curve(model, disown, NULL);
}

/* ---- other rates --------------------------------------------------------- */

static void move_residuals(const struct takt_series *series,
                           const struct takt_arm *from,
                           const struct takt_arm *to, unsigned situation,
                           struct takt_curve *curve)
{
    for (unsigned i = 0; curve != NULL && i < curve->count; i++) {
        struct takt_stat *stat = &curve->stat[i];
        const takt_work *work = &series->typical[stat->bucket];
        const double shift = log_rates_ns(series, from, work, situation) -
                             log_rates_ns(series, to, work, situation);
        stat->all.mean += shift;
        stat->own.mean += shift;
        stat->middle += (float)shift;
        stat->origin += (float)shift;
        stat->published += (float)shift;
        if (stat->before_n > 0 || stat->before != 0)
            stat->before += (float)shift;
    }
}

/* Means are relative to the rates, and move against them. */
void takt__model_set_rates(struct takt_model *model, unsigned arm,
                           const struct takt_rates *rates)
{
    const struct takt_arm from = model->arm[arm];

    model->arm[arm].rates = *rates;
    model->is_calibrated = false;
    for (unsigned l = 0; l < TAKT_SERIES_COUNT; l++) {
        const struct takt_series *series = model->series[l];
        struct takt_track *track = series == NULL ? NULL : series->track[arm];
        if (track == NULL)
            continue;
        for (unsigned s = 0; s < TAKT_SITUATIONS; s++) {
            move_residuals(series, &from, &model->arm[arm], s, track->curve[s]);
            move_residuals(series, &from, &model->arm[arm], s, track->hint[s]);
        }
        track->asked = 0;
    }
    takt__model_change_arm(model, arm);
}
