/* SPDX-License-Identifier: MIT */
/* model.c - arms, series, and the memory they take: only what was called. */
#include "model/inside.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Calls until losers are tried again; doubled each time. Judgement. */
static const double first_beat = 256;

takt_status takt__model_create(const struct takt_model_options *options,
                               struct takt_model **out)
{
    struct takt_model *model = calloc(1, sizeof *model);

    *out = model;
    if (model == NULL)
        return TAKT_ENOMEM;
    model->options = *options;
    return TAKT_OK;
}

static void free_curve(struct takt_curve *curve)
{
    if (curve != NULL)
        takt__curve_fini(curve);
    free(curve);
}

static void free_series(struct takt_series *series)
{
    if (series == NULL)
        return;
    for (unsigned i = 0; i < series->arm_count; i++) {
        struct takt_track *track = series->track[series->arm[i]];
        for (unsigned s = 0; s < TAKT_SITUATIONS; s++) {
            free_curve(track->curve[s]);
            free_curve(track->hint[s]);
        }
        free(track->asleep_s);
        free(track);
    }
    for (unsigned place = 0; place < TAKT_PLACES; place++)
        free(series->spot[place]);
    free(series);
}

void takt__model_destroy(struct takt_model *model)
{
    if (model == NULL)
        return;
    for (unsigned i = 0; i < TAKT_SERIES_COUNT; i++)
        free_series(model->series[i]);
    free(model);
}

/* ---- arms ------------------------------------------------------------------
 */

int takt__model_add_arm(struct takt_model *model, const struct takt_arm *arm)
{
    const unsigned number = model->arm_count;

    if (number >= TAKT_NO_ARM ||
        (takt__arm_is_gpu(arm) && takt__arm_place(arm) >= TAKT_PLACES))
        return -1;
    model->arm[number] = *arm;
    if (takt__arm_is_gpu(arm))
        model->gpus[number / 64] |= (uint64_t)1 << number % 64;
    model->arm_count++;
    return (int)number;
}

void takt__model_set_arm(struct takt_model *model, unsigned number,
                         const struct takt_arm *arm)
{
    model->arm[number] = *arm;
}

unsigned takt__model_arm_count(const struct takt_model *model)
{
    return model->arm_count;
}

const struct takt_arm *takt__model_arm(const struct takt_model *model,
                                       unsigned arm)
{
    return &model->arm[arm];
}

void takt__model_allow(struct takt_model *model, unsigned series, unsigned arm)
{
    model->allowed[series][arm / 64] |= (uint64_t)1 << arm % 64;
    if (model->series[series] != NULL)
        takt__series_change(
            model->series[series]); /* a newcomer may be first */
}

bool takt__model_allows(const struct takt_model *model, unsigned series,
                        unsigned arm)
{
    return arm < model->arm_count &&
           (model->allowed[series][arm / 64] >> arm % 64 & 1) != 0;
}

/* All series that an arm may run, as far as there are any. */
static void change_series_of(struct takt_model *model, unsigned arm)
{
    for (unsigned l = 0; l < TAKT_SERIES_COUNT; l++)
        if (model->series[l] != NULL && takt__model_allows(model, l, arm))
            takt__series_change(model->series[l]);
}

/* ---- who is asleep ---------------------------------------------------------
 */

void takt__model_set_asleep(struct takt_model *model, unsigned arm,
                            bool is_asleep)
{
    const uint64_t bit = (uint64_t)1 << arm % 64;

    if (takt__model_is_asleep(model, arm) == is_asleep)
        return;
    model->asleep[arm / 64] ^= bit;
    model->missed_s[arm] = model->wake_s[arm] = 0;
    change_series_of(model, arm);
}

bool takt__model_is_asleep(const struct takt_model *model, unsigned arm)
{
    return (model->asleep[arm / 64] >> arm % 64 & 1) != 0;
}

double takt__model_missed_s(const struct takt_model *model, unsigned arm)
{
    return model->missed_s[arm];
}

/* As it was before, here or else on another machine; but no longer than usual.
 * Where a driver had to compile first, it does not the next time; and nobody
 * waits for it, since it is opened in a thread of its own. */
static double opening_of(const struct takt_model *model, unsigned arm)
{
    const struct takt_series *series =
        model->series[TAKT_SERIES_LINKS + TAKT_LINK_OPEN];
    const struct takt_track *track = series == NULL ? NULL : series->track[arm];
    const struct takt_curve *curve = NULL;
    uint8_t bound;

    if (track != NULL)
        curve = track->curve[0] != NULL ? track->curve[0] : track->hint[0];
    const struct takt_stat *stat =
        curve == NULL ? NULL : takt__curve_find(curve, 0);
    return takt__rates_link(&model->arm[arm].rates, TAKT_LINK_OPEN, 0, &bound) *
           fmin(exp(stat == NULL ? 0 : stat->all.mean), 1);
}

bool takt__model_next_wake(struct takt_model *model, unsigned *arm)
{
    for (unsigned a = 0; a < model->arm_count; a++) {
        if (!takt__model_is_asleep(model, a) || model->missed_s[a] <= 0)
            continue;
        if (model->wake_s[a] <= 0)
            model->wake_s[a] = opening_of(model, a);
        if (model->missed_s[a] < model->wake_s[a])
            continue;
        model->wake_s[a] = 2 * model->missed_s[a];
        *arm = a;
        return true;
    }
    return false;
}

bool takt__model_has_gpu(const struct takt_model *model, unsigned series)
{
    uint64_t found = 0;

    for (unsigned i = 0; i < TAKT_MAX_ARMS / 64; i++)
        found |= model->allowed[series][i] & model->gpus[i] & ~model->asleep[i];
    return found != 0;
}

/* ---- series -----------------------------------------------------------------
 */

static bool counts_flops(unsigned series)
{
    enum takt_op_id op;
    unsigned user_op;
    takt_dtype dtype;
    char layout[TAKT_LAYOUT_NAME];

    takt__series_name(series, &op, &user_op, &dtype, layout);
    return op != TAKT_OP_COUNT &&
           takt__form_counts_flops(takt__op_entry(takt_op_at(op))->form);
}

struct takt_series *takt__series_at(struct takt_model *model, unsigned series)
{
    if (model->series[series] != NULL)
        return model->series[series];
    struct takt_series *made = calloc(1, sizeof *made);
    if (made == NULL)
        return NULL;
    made->counts_flops = counts_flops(series);
    made->link =
        (int8_t)(series < TAKT_SERIES_LINKS ? -1
                                            : (int)series - TAKT_SERIES_LINKS);
    made->first_bucket = TAKT_BUCKETS;
    for (unsigned i = 0; i < TAKT_BUCKETS; i++)
        made->typical[i] =
            (struct takt_work_of){takt__bucket_work(i), takt__bucket_work(i)};
    model->series[series] = made;
    return made;
}

struct takt_track *takt__track_at(struct takt_series *series, unsigned arm)
{
    if (series->track[arm] == NULL) {
        series->track[arm] = calloc(1, sizeof *series->track[arm]);
        if (series->track[arm] != NULL)
            series->arm[series->arm_count++] = (uint8_t)arm;
    }
    return series->track[arm];
}

struct takt_spot *takt__spot_at(struct takt_series *series, unsigned place,
                                unsigned bucket)
{
    if (series->spot[place] == NULL) {
        series->spot[place] = calloc(TAKT_BUCKETS, sizeof *series->spot[place]);
        if (series->spot[place] == NULL)
            return NULL;
        for (unsigned i = 0; i < TAKT_BUCKETS; i++)
            series->spot[place][i] = (struct takt_spot){
                .offered = TAKT_NO_ARM,
                .incumbent = TAKT_NO_ARM,
                .next_beat = first_beat,
                .beat_calls = first_beat,
            };
    }
    return &series->spot[place][bucket];
}

const struct takt_spot *takt__spot_find(const struct takt_series *series,
                                        unsigned place, unsigned bucket)
{
    return series->spot[place] == NULL ? NULL : &series->spot[place][bucket];
}

bool takt__model_has_series(const struct takt_model *model, unsigned series)
{
    return series < TAKT_SERIES_COUNT && model->series[series] != NULL;
}

takt_status takt__model_meet(struct takt_model *model, unsigned series,
                             unsigned bucket, const struct takt_work_of *work)
{
    struct takt_series *found = takt__series_at(model, series);

    if (found == NULL)
        return TAKT_ENOMEM;
    if (!found->is_met[bucket]) {
        takt__series_meet(found, bucket, work);
        takt__series_change(found);
    }
    return TAKT_OK;
}

static unsigned nearest_met(const struct takt_series *series, unsigned bucket)
{
    for (unsigned away = 1; away < TAKT_BUCKETS; away++) {
        if (bucket >= away && series->is_met[bucket - away])
            return bucket - away;
        if (bucket + away < TAKT_BUCKETS && series->is_met[bucket + away])
            return bucket + away;
    }
    return bucket;
}

/* Bins that were never met are like the nearest one that was. Of matrices,
 * bytes grow with the power 2/3 of the operations; of everything else both
 * grow alike. */
void takt__series_meet(struct takt_series *series, unsigned bucket,
                       const struct takt_work_of *work)
{
    series->is_met[bucket] = true;
    series->typical[bucket] = *work;
    for (unsigned i = 0; i < TAKT_BUCKETS; i++) {
        if (series->is_met[i])
            continue;
        const unsigned near = nearest_met(series, i);
        const double ratio = takt__bucket_work(i) / takt__bucket_work(near);
        series->typical[i].flops = series->typical[near].flops * ratio;
        series->typical[i].bytes =
            series->typical[near].bytes *
            (series->counts_flops ? pow(ratio, 2.0 / 3) : ratio);
    }
}

void takt__series_change(struct takt_series *series)
{
    series->changed = (1u << TAKT_SITUATIONS) - 1;
    series->changed_first = 0;
    series->changed_last = TAKT_BUCKETS - 1;
}

void takt__series_change_at(struct takt_series *series, unsigned situations,
                            unsigned bucket)
{
    if (series->changed == 0) {
        series->changed_first = series->changed_last = (uint8_t)bucket;
    } else {
        if (bucket < series->changed_first)
            series->changed_first = (uint8_t)bucket;
        if (bucket > series->changed_last)
            series->changed_last = (uint8_t)bucket;
    }
    series->changed |= (uint8_t)situations;
}

/* Without a GPU nothing is resident; where one has just fallen asleep, what was
 * published of it is taken back. Of a link nothing but GPUs is judged. */
static unsigned situations_of(struct takt_model *model, unsigned number)
{
    struct takt_series *series = model->series[number];
    const bool has_gpu = takt__model_has_gpu(model, number);
    const bool has_places = has_gpu || series->has_places;

    series->has_places = has_gpu;
    if (series->link >= 0)
        return has_places ? series->changed & 1u << TAKT_RESIDENT : 0;
    return has_places ? series->changed
                      : series->changed & ((1u << TAKT_RESIDENT) - 1);
}

/* Beliefs fade with the distance; within three octaves they are judged too. */
static struct takt_change change_of(struct takt_model *model, unsigned number)
{
    const struct takt_series *series = model->series[number];
    enum { reach = 6 };
    const unsigned first = series->changed_first, last = series->changed_last;

    return (struct takt_change){
        .series = number,
        .situations = situations_of(model, number),
        .first = first > reach ? first - reach : 0,
        .last = last + reach < TAKT_BUCKETS ? last + reach : TAKT_BUCKETS - 1,
    };
}

bool takt__model_next_change(struct takt_model *model, struct takt_change *out)
{
    for (unsigned i = 0; i < TAKT_SERIES_COUNT; i++) {
        const unsigned series = (model->next_changed + i) % TAKT_SERIES_COUNT;
        if (model->series[series] == NULL ||
            model->series[series]->changed == 0)
            continue;
        *out = change_of(model, series);
        model->series[series]->changed = 0;
        if (out->situations == 0)
            continue;
        model->next_changed = series + 1;
        return true;
    }
    return false;
}

void takt__model_forget(struct takt_model *model, unsigned series)
{
    free_series(model->series[series]);
    model->series[series] = NULL;
    model->is_calibrated = false;
}

/* ---- questions -------------------------------------------------------------
 */

struct takt_model_counters takt__model_counters(const struct takt_model *model)
{
    return model->counters;
}

static void change_all(struct takt_model *model)
{
    for (unsigned l = 0; l < TAKT_SERIES_COUNT; l++)
        if (model->series[l] != NULL)
            takt__series_change(model->series[l]);
}

/* Small loads are none, so that shapes are learned and not the load. */
void takt__model_move_load(struct takt_model *model, unsigned device,
                           double shift)
{
    double load = model->log_load[device] + shift;

    load = fmax(log(0.25), fmin(log(20), load));
    if (fabs(load) < 0.03)
        load = 0;
    model->log_load[device] = load;
    if (fabs(load - model->published_load[device]) < 0.02)
        return;
    model->published_load[device] = load;
    change_all(model);
}

double takt__model_load(const struct takt_model *model, unsigned device)
{
    return exp(model->log_load[device]);
}

struct takt_account takt__model_account(const struct takt_model *model,
                                        unsigned series, unsigned situation,
                                        unsigned bucket)
{
    const struct takt_series *found = model->series[series];
    const struct takt_spot *spot =
        found == NULL ? NULL : takt__spot_find(found, situation, bucket);

    if (spot == NULL)
        return (struct takt_account){0};
    return (struct takt_account){spot->calls, spot->seconds, spot->explored_s};
}
