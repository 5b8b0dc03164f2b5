/* SPDX-License-Identifier: MIT */
/*
 * day.c - what was learned on each day, for people.
 *
 * Statistics do not show when something was learned. So every writer also keeps
 * sums of the day, by UTC, as records of an op of their own. Their bin is the
 * number of the day modulo 400: a day replaces the one 400 days before it,
 * under the same key and with a later seq, so nothing has to be removed, and
 * stores are merged as always. docs/formats/history.md has the columns.
 */
#include <math.h>
#include <string.h>
#include <time.h>

#include "learn/inside.h"

enum { most_days = 400 };

static const char op[] = "takt:day"; /* no op has that name */
static const int64_t day_s = 86400;

/* The expert of a record says what it counts. */
static const char *const part_names[TAKT_DAY_PARTS] = {
    [TAKT_DAY_CALLS] = "calls",   [TAKT_DAY_TRIALS] = "trials",
    [TAKT_DAY_BUDGET] = "budget", [TAKT_DAY_CHANGES] = "changes",
    [TAKT_DAY_GAIN] = "gain",
};

bool takt__is_day(const struct takt_record *record)
{
    return strcmp(record->op, op) == 0;
}

/* A clock that is set back does not begin an earlier day again: its record
 * would be replaced by one with less in it. */
static void begin_today(struct takt_day *day)
{
    const int64_t today = (int64_t)time(NULL) / day_s;

    if (today <= day->number)
        return;
    day->number = today;
    memset(day->part, 0, sizeof day->part);
}

/* What the model has counted since the last time. */
static void count(struct takt_learner *learner)
{
    struct takt_day *day = &learner->day;
    const struct takt_model_counters now = takt__model_counters(learner->model),
                                     *then = &day->counted;

    day->part[TAKT_DAY_CALLS].times.n += (double)(now.samples - then->samples);
    day->part[TAKT_DAY_CALLS].calls += now.calls - then->calls;
    day->part[TAKT_DAY_CALLS].seconds += now.called_s - then->called_s;
    day->part[TAKT_DAY_TRIALS].calls += (double)(now.explored - then->explored);
    day->part[TAKT_DAY_TRIALS].seconds += now.explored_s - then->explored_s;
    day->part[TAKT_DAY_BUDGET].seconds += now.budget_s - then->budget_s;
    day->part[TAKT_DAY_CHANGES].calls += (double)(now.alarms - then->alarms);
    day->counted = now;
}

void takt__learner_compare(struct takt_learner *learner, double ratio)
{
    const struct takt_sums one = {.n = 1, .mean = log(ratio * 1e9)};

    begin_today(&learner->day);
    takt__sums_pool(&learner->day.part[TAKT_DAY_GAIN].times, &one);
}

void takt__day_forget(struct takt_learner *learner)
{
    memset(learner->day.part, 0, sizeof learner->day.part);
    learner->day.counted = takt__model_counters(learner->model);
}

void takt__day_restore(struct takt_learner *learner,
                       const struct takt_record *record)
{
    struct takt_day *day = &learner->day;
    const struct takt_sums times = {record->n, record->mean, record->m2};

    begin_today(day);
    for (int i = 0; i < TAKT_DAY_PARTS; i++)
        if (record->last_unix_s / day_s == day->number &&
            strcmp(record->expert, part_names[i]) == 0) {
            takt__sums_pool(&day->part[i].times, &times);
            day->part[i].calls += record->calls;
            day->part[i].seconds += record->seconds;
        }
}

static void collect_part(struct takt_learner *learner, int i, int64_t now_s)
{
    const struct takt_day *day = &learner->day;
    const struct takt_day_part *part = &day->part[i];
    struct takt_record record = {
        .bin = (unsigned)(day->number % most_days),
        .seq = learner->seq,
        .n = part->times.n,
        .mean = part->times.mean,
        .m2 = part->times.m2,
        .calls = part->calls,
        .seconds = part->seconds,
        .last_unix_s = now_s,
    };

    strcpy(record.op, op);
    strcpy(record.expert, part_names[i]);
    if (part->times.n > 0 || part->calls > 0 || part->seconds > 0)
        takt__records_keep(&learner->unsaved, &record);
}

void takt__day_collect(struct takt_learner *learner)
{
    const int64_t now_s = (int64_t)time(NULL);

    begin_today(&learner->day);
    count(learner);
    const int64_t first_s = learner->day.number * day_s;
    for (int i = 0; i < TAKT_DAY_PARTS; i++)
        collect_part(learner, i, now_s > first_s ? now_s : first_s);
}
