/* SPDX-License-Identifier: MIT */
/*
 * watts.c - what experts draw, kept in the store.
 *
 * As records of an op of their own, which a version that does not know it
 * passes over. Of several writers the latest counts: what an expert draws
 * depends on clocks, limits and temperatures, and is not averaged over months.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "learn/inside.h"

static const char op[] = "takt:watts"; /* no op has that name */
static const int64_t oldest_s = INT64_C(30) * 86400;

/* The layout of a record says which calls it is of: what bounds them. */
static const char *const names[TAKT_BOUNDS + 1] = {
    "l2", "l3", "memory", "computing", "starting", "link", "opening", "all"};

bool takt__is_watts(const struct takt_record *record)
{
    return strcmp(record->op, op) == 0;
}

void takt__watts_set(struct takt_learner *learner, unsigned arm, unsigned bound,
                     struct takt_watts watts)
{
    if (bound == TAKT_BOUNDS)
        takt__model_set_watts(learner->model, arm, watts);
    else
        takt__model_set_watts_of(learner->model, arm, bound, watts);
}

struct takt_watts takt__watts_get(const struct takt_learner *learner,
                                  unsigned arm, unsigned bound)
{
    return bound == TAKT_BOUNDS
               ? takt__model_watts(learner->model, arm)
               : takt__model_watts_of(learner->model, arm, bound);
}

/* ---- reading ------------------------------------------------------------- */

/* Of this library, and not too old; a store is not trusted. */
static bool is_valid(const struct takt_learner *learner,
                     const struct takt_record *record)
{
    const int64_t age_s = (int64_t)time(NULL) - record->last_unix_s;

    return strcmp(record->software, learner->software) == 0 &&
           age_s >= -86400 && age_s <= oldest_s && record->n > 0 &&
           record->mean < log(1e6 * 1e9) && record->m2 / record->n < 0.01;
}

bool takt__watts_restore(struct takt_learner *learner,
                         const struct takt_record *record)
{
    const struct takt_learner_callbacks *ask = &learner->callbacks;
    const int arm = ask->find_expert(ask->self, 0, record->expert);
    const double watts = exp(record->mean) * 1e-9;
    unsigned bound = 0;

    while (bound <= TAKT_BOUNDS && strcmp(record->layout, names[bound]) != 0)
        bound++;
    if (arm < 0)
        return false;
    if (bound > TAKT_BOUNDS || !is_valid(learner, record) ||
        strcmp(record->device, takt__learner_device(learner, (unsigned)arm)) !=
            0 ||
        record->last_unix_s < learner->energy.stored_unix_s[arm][bound])
        return true;
    learner->energy.stored_unix_s[arm][bound] = record->last_unix_s;
    takt__watts_set(
        learner, (unsigned)arm, bound,
        (struct takt_watts){
            (float)watts, (float)(watts * sqrt(record->m2 / record->n)), true});
    return true;
}

/* ---- writing ------------------------------------------------------------- */

/* The same as if watts were seconds. */
static void collect(void *self, unsigned arm, unsigned bound)
{
    struct takt_learner *learner = self;
    const struct takt_energy_watts watts =
        takt__energy_watts(learner->energy.energy, arm, bound);
    struct takt_record record = {
        .seq = learner->seq,
        .n = 1,
        .mean = log(watts.mean * 1e9),
        .m2 = watts.error / watts.mean * (watts.error / watts.mean),
        .last_unix_s = (int64_t)time(NULL),
    };

    if (!watts.is_known || !(watts.mean > 0))
        return;
    strcpy(record.op, op);
    strcpy(record.layout, names[bound]);
    snprintf(record.device, sizeof record.device, "%s",
             takt__learner_device(learner, arm));
    snprintf(record.expert, sizeof record.expert, "%s",
             takt__model_arm(learner->model, arm)->name);
    takt__records_keep(&learner->unsaved, &record);
}

void takt__watts_collect(struct takt_learner *learner)
{
    if (learner->energy.energy != NULL)
        takt__energy_each(learner->energy.energy, collect, learner);
}
