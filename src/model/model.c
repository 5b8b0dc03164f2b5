/* SPDX-License-Identifier: MIT */
/* model.c - arms and series: memory is taken only for what was called. */
#include "model/inside.h"

#include <math.h>
#include <stdlib.h>

struct takt_model *takt__model_create(double exploration)
{
    struct takt_model *model = calloc(1, sizeof *model);

    if (model != NULL)
        model->exploration = exploration;
    return model;
}

static void free_series(struct takt_series *series)
{
    if (series == NULL)
        return;
    for (unsigned i = 0; i < series->arm_count; i++) {
        struct takt_track *track = series->track[series->arm[i]];
        for (unsigned s = 0; s < TAKT_SITUATIONS; s++) {
            takt__curve_destroy(track->curve[s]);
            takt__curve_destroy(track->hint[s]);
        }
        free(track->closed_s);
        free(track);
    }
    for (unsigned i = 0; i < TAKT_OBJECTIVES * TAKT_COLUMNS; i++)
        free(series->bandit[i]);
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

/* ---- arms ---------------------------------------------------------------- */

int takt__model_add_arm(struct takt_model *model, const struct takt_arm *arm)
{
    const unsigned number = model->arm_count;

    if (number >= TAKT_NO_ARM ||
        (takt__arm_is_gpu(arm) && takt__arm_column(arm) >= TAKT_COLUMNS))
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
        takt__series_change(model->series[series]);
}

bool takt__model_allows(const struct takt_model *model, unsigned series,
                        unsigned arm)
{
    return arm < model->arm_count &&
           (model->allowed[series][arm / 64] >> arm % 64 & 1) != 0;
}

void takt__model_change_arm(struct takt_model *model, unsigned arm)
{
    for (unsigned i = 0; i < TAKT_SERIES_COUNT; i++)
        if (model->series[i] != NULL && takt__model_allows(model, i, arm))
            takt__series_change(model->series[i]);
}

void takt__model_each_arm(struct takt_model *model,
                          const struct takt_observation *seen,
                          const uint64_t set[], takt_arm_visit *visit)
{
    const uint64_t *allowed = model->allowed[seen->sample->series];

    for (unsigned i = 0; i < TAKT_MAX_ARMS / 64; i++)
        for (uint64_t left = set[i] & allowed[i]; left != 0; left &= left - 1)
            visit(model, seen, 64 * i + (unsigned)__builtin_ctzll(left));
}

bool takt__model_is_closed(const struct takt_model *model, unsigned arm)
{
    return (model->closed[arm / 64] >> arm % 64 & 1) != 0;
}

bool takt__model_has_gpu(const struct takt_model *model, unsigned series)
{
    uint64_t found = 0;

    for (unsigned i = 0; i < TAKT_MAX_ARMS / 64; i++)
        found |= model->allowed[series][i] & model->gpus[i] & ~model->closed[i];
    return found != 0;
}

/* ---- series -------------------------------------------------------------- */

static bool counts_flops(unsigned series)
{
    takt_dtype dtype;
    const enum takt_op_id op = takt__series_of(series, &dtype);

    return op != TAKT_OP_COUNT &&
           takt__form_counts_flops(takt__op_entry(takt_op_at(op))->form);
}

/* By the element type; of ops whose work is known for certain. */
static int8_t limit_of(unsigned series)
{
    takt_dtype dtype;
    const enum takt_op_id op = takt__series_of(series, &dtype);

    return op == TAKT_OP_COUNT ? -1 : (int8_t)(dtype == TAKT_F64);
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
    made->cost = takt__series_cost(series);
    made->serial = takt__series_serial(series);
    made->limit = limit_of(series);
    made->is_wanted = made->link >= 0; /* of whatever op it is a part */
    made->budget = &model->budget[takt__series_op(series)];
    for (unsigned i = 0; i < TAKT_BUCKETS; i++)
        made->typical[i] =
            (takt_work){takt__bucket_work(i), takt__bucket_work(i)};
    model->series[series] = made;
    model->used[model->used_count++] = (uint16_t)series;
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

bool takt__model_has_series(const struct takt_model *model, unsigned series)
{
    return series < TAKT_SERIES_COUNT && model->series[series] != NULL;
}

void takt__model_each_curve(const struct takt_model *model,
                            takt_curve_visit *visit, void *self)
{
    for (unsigned i = 0; i < TAKT_SERIES_COUNT; i++) {
        const struct takt_series *series = model->series[i];
        for (unsigned a = 0; series != NULL && a < series->arm_count; a++)
            for (unsigned s = 0; s < TAKT_SITUATIONS; s++) {
                const struct takt_curve_at at = {
                    series->track[series->arm[a]]->curve[s], i, series->arm[a],
                    s};
                if (at.curve != NULL)
                    visit(self, &at);
            }
    }
}

takt_status takt__model_set_typical(struct takt_model *model, unsigned series,
                                    unsigned bucket, const takt_work *work)
{
    struct takt_series *found = takt__series_at(model, series);

    if (found == NULL)
        return TAKT_ENOMEM;
    if (!found->is_typical_known[bucket]) {
        takt__series_set_typical(found, bucket, work);
        takt__series_change(found);
    }
    return TAKT_OK;
}

static unsigned nearest_known(const struct takt_series *series, unsigned bucket)
{
    for (unsigned away = 1; away < TAKT_BUCKETS; away++) {
        if (bucket >= away && series->is_typical_known[bucket - away])
            return bucket - away;
        if (bucket + away < TAKT_BUCKETS &&
            series->is_typical_known[bucket + away])
            return bucket + away;
    }
    return bucket;
}

/* Buckets without a call are scaled from the nearest one with a call. Of
 * matrices, bytes grow with the power 2/3 of the operations; of everything else
 * both grow alike. */
void takt__series_set_typical(struct takt_series *series, unsigned bucket,
                              const takt_work *work)
{
    series->is_typical_known[bucket] = true;
    series->typical[bucket] = *work;
    for (unsigned i = 0; i < TAKT_BUCKETS; i++) {
        if (series->is_typical_known[i])
            continue;
        const unsigned near = nearest_known(series, i);
        const double ratio = takt__bucket_work(i) / takt__bucket_work(near);
        series->typical[i].flops = series->typical[near].flops * ratio;
        series->typical[i].bytes =
            series->typical[near].bytes *
            (series->counts_flops ? pow(ratio, 2.0 / 3) : ratio);
    }
}

void takt__series_change(struct takt_series *series)
{
    series->changed = (struct takt_marks){.situations = TAKT_ALL_SITUATIONS,
                                          .last = TAKT_BUCKETS - 1};
    series->is_stale = false;
}

static void mark(struct takt_marks *marks, unsigned situations, unsigned first,
                 unsigned last)
{
    if (marks->situations == 0 || first < marks->first)
        marks->first = (uint8_t)first;
    if (marks->situations == 0 || last > marks->last)
        marks->last = (uint8_t)last;
    marks->situations |= (uint8_t)situations;
}

void takt__series_change_at(struct takt_series *series, unsigned situations,
                            unsigned bucket)
{
    mark(&series->changed, situations, bucket, bucket);
}

/* To judge a series takes as long as a few hundred of its samples take to
 * learn, and the means of a busy machine are never still. */
void takt__series_move_at(struct takt_series *series, unsigned situations,
                          unsigned bucket, uint64_t now_ns)
{
    static const uint64_t pause_ns = 10000000;
    struct takt_marks *moved = &series->moved;

    mark(moved, situations, bucket, bucket);
    if (now_ns - series->moved_ns < pause_ns)
        return;
    mark(&series->changed, moved->situations, moved->first, moved->last);
    *moved = (struct takt_marks){0};
    series->moved_ns = now_ns;
}

/* Without a GPU nothing is resident; where one was just closed, what was
 * published of it is withdrawn. Of a link nothing but GPUs is judged. */
static unsigned situations_of(struct takt_model *model, unsigned number,
                              unsigned wanted)
{
    struct takt_series *series = model->series[number];
    const bool has_gpu = takt__model_has_gpu(model, number);
    const bool has_gpu_columns = has_gpu || series->has_gpu_columns;
    const unsigned changed = series->changed.situations & wanted;

    if ((changed & 1u << TAKT_RESIDENT) != 0)
        series->has_gpu_columns = has_gpu;
    if (series->link >= 0)
        return has_gpu_columns ? changed & 1u << TAKT_RESIDENT : 0;
    return has_gpu_columns ? changed : changed & ((1u << TAKT_RESIDENT) - 1);
}

/* A sample says less the farther away it is; three octaves are judged anew. */
static struct takt_change change_of(struct takt_model *model, unsigned number,
                                    unsigned wanted)
{
    const struct takt_series *series = model->series[number];
    enum { reach = 6 };
    const unsigned first = series->changed.first, last = series->changed.last;

    return (struct takt_change){
        .series = number,
        .situations = situations_of(model, number, wanted),
        .first = first > reach ? first - reach : 0,
        .last = last + reach < TAKT_BUCKETS ? last + reach : TAKT_BUCKETS - 1,
    };
}

takt_status takt__model_want(struct takt_model *model, unsigned series)
{
    struct takt_series *found = takt__series_at(model, series);

    if (found == NULL)
        return TAKT_ENOMEM;
    found->is_wanted = true;
    return TAKT_OK;
}

bool takt__model_take_change(struct takt_model *model, unsigned number,
                             unsigned situations, struct takt_change *out)
{
    struct takt_series *series = model->series[number];

    if (series == NULL || (series->changed.situations & situations) == 0 ||
        !series->is_wanted)
        return false;
    *out = change_of(model, number, situations);
    series->changed.situations &= (uint8_t)~situations;
    return out->situations != 0;
}

/* The next series in turn that has one. */
static bool find_change(struct takt_model *model, struct takt_change *out)
{
    for (unsigned i = 0; i < model->used_count; i++) {
        const unsigned at = (model->next_used + i) % model->used_count;
        if (!takt__model_take_change(model, model->used[at],
                                     TAKT_ALL_SITUATIONS, out))
            continue;
        model->next_used = at + 1;
        return true;
    }
    return false;
}

/* Marks one series that is stale as changed; false: none is. */
static bool mark_stale(struct takt_model *model)
{
    for (unsigned i = 0; i < model->used_count; i++) {
        const unsigned at = (model->next_used + i) % model->used_count;
        struct takt_series *series = model->series[model->used[at]];
        if (series == NULL || !series->is_stale || !series->is_wanted)
            continue;
        takt__series_change(series);
        return true;
    }
    return false;
}

bool takt__model_next_change(struct takt_model *model, struct takt_change *out)
{
    while (!find_change(model, out))
        if (!mark_stale(model))
            return false;
    return true;
}

void takt__model_forget(struct takt_model *model, unsigned series)
{
    unsigned at = 0;

    while (at < model->used_count && model->used[at] != series)
        at++;
    if (at < model->used_count)
        model->used[at] = model->used[--model->used_count];
    free_series(model->series[series]);
    model->series[series] = NULL;
    model->is_calibrated = false;
}

/* ---- questions ----------------------------------------------------------- */

struct takt_model_counters takt__model_counters(const struct takt_model *model)
{
    return model->counters;
}

/* Small loads count as none, so that curves are learned and not the load. */
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
    for (unsigned i = 0; i < TAKT_SERIES_COUNT; i++)
        if (model->series[i] != NULL)
            takt__series_change(model->series[i]);
}

double takt__model_load(const struct takt_model *model, unsigned device)
{
    return exp(model->log_load[device]);
}
