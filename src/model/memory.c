/* SPDX-License-Identifier: MIT */
/* memory.c - what is known, out to the store and back in. */
#include <math.h>
#include <stdlib.h>

#include "model/inside.h"

/* Residuals are relative to the rates; what is stored is a time. */
static double log_rates_ns(const struct takt_series *series,
                           const struct takt_arm *arm,
                           const struct takt_work_of *work, unsigned situation)
{
    return log(takt__series_seconds(series, arm, work, situation) * 1e9);
}

static struct takt_memory memory_of(const struct takt_model *model,
                                    unsigned series, unsigned arm,
                                    unsigned situation,
                                    const struct takt_stat *stat,
                                    const struct takt_sums *sums)
{
    const struct takt_series *of = model->series[series];
    const struct takt_work_of work = of->typical[stat->bucket];

    return (struct takt_memory){
        .series = series,
        .arm = arm,
        .situation = situation,
        .bucket = stat->bucket,
        .n = sums->n,
        .mean =
            sums->mean + log_rates_ns(of, &model->arm[arm], &work, situation),
        .m2 = sums->m2,
        .first_s = (double)stat->first_s,
        .bytes = work.bytes,
        .flops = work.flops,
        .calls = stat->calls,
        .seconds = stat->seconds,
    };
}

struct visitor {
    struct takt_model *model;
    takt_memory_visit *visit;
    void *self;
    bool only_changed;
};

static void visit_curve(const struct visitor *visitor, unsigned series,
                        unsigned arm, unsigned situation)
{
    struct takt_curve *curve =
        visitor->model->series[series]->track[arm]->curve[situation];

    for (unsigned i = 0; curve != NULL && i < curve->count; i++) {
        struct takt_stat *stat = &curve->stat[i];
        if (visitor->only_changed && !stat->is_changed)
            continue;
        const struct takt_memory memory =
            memory_of(visitor->model, series, arm, situation, stat,
                      visitor->only_changed ? &stat->own : &stat->all);
        if (visitor->only_changed)
            stat->is_changed = false;
        visitor->visit(visitor->self, &memory);
    }
}

static void visit_all(const struct visitor *visitor)
{
    for (unsigned series = 0; series < TAKT_SERIES_COUNT; series++) {
        const struct takt_series *found = visitor->model->series[series];
        for (unsigned i = 0; found != NULL && i < found->arm_count; i++)
            for (unsigned s = 0; s < TAKT_SITUATIONS; s++)
                visit_curve(visitor, series, found->arm[i], s);
    }
}

void takt__model_visit(struct takt_model *model, takt_memory_visit *visit,
                       void *self)
{
    visit_all(&(struct visitor){model, visit, self, false});
}

void takt__model_visit_changed(struct takt_model *model,
                               takt_memory_visit *visit, void *self)
{
    visit_all(&(struct visitor){model, visit, self, true});
}

/* ---- in again --------------------------------------------------------------
 */

static bool makes_sense(const struct takt_model *model,
                        const struct takt_memory *memory)
{
    return memory->series < TAKT_SERIES_COUNT &&
           memory->arm < model->arm_count &&
           memory->situation < TAKT_SITUATIONS &&
           memory->bucket < TAKT_BUCKETS && memory->n >= 0 &&
           memory->n < 1e15 && isfinite(memory->mean) &&
           fabs(memory->mean) < 100 && memory->m2 >= 0 && memory->m2 < 1e15 &&
           memory->bytes >= 0 && memory->flops >= 0 && memory->bytes < 1e300 &&
           memory->flops < 1e300 &&
           (memory->bytes + memory->flops > 0 ||
            memory->series == TAKT_SERIES_LINKS + TAKT_LINK_OPEN) &&
           memory->calls >= 0 && memory->seconds >= 0 &&
           isfinite(memory->calls) && isfinite(memory->seconds) &&
           isfinite(memory->first_s);
}

static struct takt_track *track_for(struct takt_model *model,
                                    const struct takt_memory *memory)
{
    const struct takt_work_of work = {memory->bytes, memory->flops};

    if (takt__model_meet(model, memory->series, memory->bucket, &work) !=
        TAKT_OK)
        return NULL;
    return takt__track_at(model->series[memory->series], memory->arm);
}

static double residual_of(const struct takt_model *model,
                          const struct takt_memory *memory)
{
    const struct takt_work_of work = {memory->bytes, memory->flops};

    return memory->mean - log_rates_ns(model->series[memory->series],
                                       &model->arm[memory->arm], &work,
                                       memory->situation);
}

static unsigned situation_of(const struct takt_model *model,
                             const struct takt_memory *memory)
{
    return takt__track_situation(model->series[memory->series],
                                 &model->arm[memory->arm], memory->situation);
}

static struct takt_stat *stat_for(struct takt_curve **at, unsigned bucket)
{
    if (*at == NULL)
        *at = calloc(1, sizeof **at);
    return *at == NULL ? NULL : takt__curve_at(*at, bucket);
}

takt_status takt__model_recall(struct takt_model *model,
                               const struct takt_memory *memory, bool is_own)
{
    if (!makes_sense(model, memory))
        return TAKT_OK;
    struct takt_track *track = track_for(model, memory);
    if (track == NULL)
        return TAKT_ENOMEM;
    const unsigned situation = situation_of(model, memory);
    struct takt_stat *stat = stat_for(&track->curve[situation], memory->bucket);
    if (stat == NULL)
        return TAKT_ENOMEM;
    const struct takt_sums sums = {memory->n, residual_of(model, memory),
                                   memory->m2};
    takt__sums_pool(&stat->all, &sums);
    if (is_own) {
        takt__sums_pool(&stat->own, &sums);
        stat->calls += memory->calls;
        stat->seconds += memory->seconds;
    }
    if (memory->first_s > 0)
        stat->first_s = (float)memory->first_s;
    track->samples[situation] += memory->n;
    track->asked = 0; /* what one who sleeps would take is another matter now */
    takt__series_change(model->series[memory->series]);
    model->uncalibrated++;
    return TAKT_OK;
}

takt_status takt__model_adopt(struct takt_model *model,
                              const struct takt_memory *memory)
{
    if (!makes_sense(model, memory))
        return TAKT_OK;
    struct takt_track *track = track_for(model, memory);
    struct takt_stat *stat =
        track == NULL ? NULL
                      : stat_for(&track->curve[situation_of(model, memory)],
                                 memory->bucket);

    if (stat == NULL)
        return TAKT_ENOMEM;
    takt__sums_pool(
        &stat->own,
        &(struct takt_sums){memory->n, residual_of(model, memory), memory->m2});
    stat->calls += memory->calls;
    stat->seconds += memory->seconds;
    return TAKT_OK;
}

void takt__model_hint(struct takt_model *model,
                      const struct takt_memory *memory, double variance)
{
    if (!makes_sense(model, memory) || !(variance > 0))
        return;
    struct takt_track *track = track_for(model, memory);
    if (track == NULL)
        return;
    const unsigned situation = situation_of(model, memory);
    struct takt_stat *stat = stat_for(&track->hint[situation], memory->bucket);
    if (stat != NULL)
        stat->all = takt__sums_worth(residual_of(model, memory), variance);
    track->asked = 0;
    takt__series_change(model->series[memory->series]);
}

static void disown(struct takt_curve *curve)
{
    for (unsigned i = 0; curve != NULL && i < curve->count; i++) {
        struct takt_stat *stat = &curve->stat[i];
        stat->own = (struct takt_sums){0};
        stat->calls = stat->seconds = 0;
        stat->is_changed = false;
    }
}

void takt__model_disown(struct takt_model *model)
{
    for (unsigned l = 0; l < TAKT_SERIES_COUNT; l++) {
        const struct takt_series *series = model->series[l];
        for (unsigned i = 0; series != NULL && i < series->arm_count; i++)
            for (unsigned s = 0; s < TAKT_SITUATIONS; s++)
                disown(series->track[series->arm[i]]->curve[s]);
    }
}

/* ---- other rates -----------------------------------------------------------
 */

static void move_residuals(const struct takt_series *series,
                           const struct takt_arm *from,
                           const struct takt_arm *to, unsigned situation,
                           struct takt_curve *curve)
{
    for (unsigned i = 0; curve != NULL && i < curve->count; i++) {
        struct takt_stat *stat = &curve->stat[i];
        const struct takt_work_of *work = &series->typical[stat->bucket];
        const double shift = log_rates_ns(series, from, work, situation) -
                             log_rates_ns(series, to, work, situation);
        stat->all.mean += shift;
        stat->own.mean += shift;
        stat->before.mean += shift;
        stat->published += (float)shift;
        if (stat->first != 0)
            stat->first += (float)shift;
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
        struct takt_series *series = model->series[l];
        if (series == NULL)
            continue;
        struct takt_track *track = series->track[arm];
        for (unsigned s = 0; track != NULL && s < TAKT_SITUATIONS; s++) {
            move_residuals(series, &from, &model->arm[arm], s, track->curve[s]);
            move_residuals(series, &from, &model->arm[arm], s, track->hint[s]);
        }
        if (track != NULL)
            track->asked = 0;
        if (takt__model_allows(model, l, arm))
            takt__series_change(series);
    }
}
