/* SPDX-License-Identifier: MIT */
/* records.c - lists of stored records, and what a record is about. */
#include <math.h>

#include "base/grow.h"
#include "base/name.h"
#include "learn/inside.h"

void takt__records_add(struct takt_records *list,
                       const struct takt_record *record)
{
    if (!takt__grow(&list->record, &list->capacity, list->count + 1,
                    sizeof *record))
        list->status = TAKT_ENOMEM;
    else
        list->record[list->count++] = *record;
}

/* The store refuses a whole batch for one record that is not valid. Of the
 * first four fields the store fills in all but the device. */
static bool is_sound(const struct takt_record *record)
{
    for (size_t i = 1; i < TAKT_RECORD_FIELDS; i++)
        if ((i == 1 || i >= 4) &&
            takt__field_fault(&takt__record_fields[i], record) != NULL)
            return false;
    return true;
}

/* Keeps measured values within what a reader accepts. */
static void confine(struct takt_record *record)
{
    const double most_m2 = TAKT_RECORD_MOST_SPREAD * (record->n + 1);

    if (record->n < TAKT_RECORD_LEAST_N)
        record->n = record->m2 = 0; /* other writers' samples outweigh these */
    record->m2 = fmin(record->m2, most_m2);
    record->n = fmin(record->n, TAKT_RECORD_MOST_N);
    record->calls = fmin(record->calls, TAKT_RECORD_MOST_CALLS);
    record->seconds = fmin(record->seconds, TAKT_RECORD_MOST_S);
}

void takt__records_keep(struct takt_records *list, struct takt_record *record)
{
    confine(record);
    if (is_sound(record))
        takt__records_add(list, record);
}

void takt__records_drop(struct takt_records *list, const char *op)
{
    size_t left = 0;

    for (size_t i = 0; op != NULL && i < list->count; i++)
        if (!takt__name_equal(list->record[i].op, op))
            list->record[left++] = list->record[i];
    list->count = left;
}

const char *takt__learner_device(const struct takt_learner *learner,
                                 unsigned expert)
{
    const struct takt_learner_callbacks *callbacks = &learner->callbacks;
    const char *device = callbacks->device_of == NULL
                             ? NULL
                             : callbacks->device_of(callbacks->self, expert);

    return device == NULL ? "" : device;
}

bool takt__record_find(struct takt_learner *learner,
                       const struct takt_record *record, bool may_add,
                       struct takt_summary *out)
{
    const struct takt_learner_callbacks *callbacks = &learner->callbacks;
    const int series = callbacks->find_series(callbacks->self, record->op,
                                              record->dtype, record->layout);
    if (series < 0)
        return false;
    int expert = callbacks->find_expert(callbacks->self, (unsigned)series,
                                        record->expert);
    if (expert < 0 && may_add)
        expert = callbacks->add_expert(callbacks->self, learner->model,
                                       (unsigned)series, record->expert);
    if (expert < 0)
        return false;
    *out = (struct takt_summary){
        .series = (unsigned)series,
        .arm = (unsigned)expert,
        .situation = record->situation,
        .bucket = record->bin,
        .n = record->n,
        .mean = record->mean,
        .m2 = record->m2,
        .first_s = record->first_s,
        .bytes = record->bytes,
        .flops = record->flops,
        .calls = record->calls,
        .seconds = record->seconds,
    };
    return true;
}
