/* SPDX-License-Identifier: MIT */
/*
 * tails.c - tails in the store.
 *
 * A tail is up to three records beside the one of the mean, under the same key
 * but for the situation. Their numbers are counts of samples
 * (docs/formats/history.md); they have no calls, which are that one's.
 * So they are written, merged and forgotten as all records are, and a Takt that
 * does not know them passes over situations that it does not know.
 */
#include <string.h>

#include "learn/inside.h"

/* Added to the situation, once for the lowest bins, twice for the next, ... */
enum { part = 256, parts = 3, part_bins = 4 };

_Static_assert(parts *part_bins == TAKT_TAIL_BINS - 1, "all bins have a part");

/* Fewer samples say nothing. */
static const float least = 8;

/* The bins of a part in the order of the columns. */
static void columns_of(struct takt_record *record, double *column[part_bins])
{
    column[0] = &record->m2;
    column[1] = &record->first_s;
    column[2] = &record->bytes;
    column[3] = &record->flops;
}

bool takt__is_tail(const struct takt_record *record)
{
    return record->situation >= part;
}

/* The first bin has a place in the first part alone: n. */
static void collect_part(struct takt_learner *learner,
                         const struct takt_record *mean,
                         const struct takt_tail *tail, unsigned number)
{
    const unsigned first = 1 + number * part_bins;
    struct takt_record record = *mean;
    double *column[part_bins], sum = 0;

    record.situation += part * (number + 1);
    record.mean = record.calls = record.seconds = 0;
    columns_of(&record, column);
    for (unsigned i = 0; i < part_bins; i++) {
        *column[i] = (double)tail->count[first + i] / TAKT_TAIL_UNIT;
        sum += *column[i];
    }
    record.n = number == 0 ? (double)tail->count[0] / TAKT_TAIL_UNIT : sum;
    if (number == 0 || sum > 0)
        takt__records_keep(&learner->unsaved, &record);
}

/* Programs under `takt run` are kept as ops whose times are ratios. */
void takt__tail_collect(struct takt_learner *learner,
                        const struct takt_record *mean,
                        const struct takt_tail *tail)
{
    if (takt__tail_samples(tail) < least || strncmp(mean->op, "run.", 4) == 0)
        return;
    for (unsigned i = 0; i < parts; i++)
        collect_part(learner, mean, tail, i);
}

/* In sixteenths; files are not trusted. */
static uint16_t count_of(double samples)
{
    return samples >= 0 && samples < UINT16_MAX / TAKT_TAIL_UNIT
               ? (uint16_t)(samples * TAKT_TAIL_UNIT + 0.5)
               : 0;
}

/* Samples of another version of the library count as three at most. */
static struct takt_tail tail_of(const struct takt_learner *learner,
                                const struct takt_record *record)
{
    const unsigned number = record->situation / part - 1;
    struct takt_record copy = *record;
    struct takt_tail tail = {{0}};
    double *column[part_bins];

    columns_of(&copy, column);
    for (unsigned i = 0; number < parts && i < part_bins; i++)
        tail.count[1 + number * part_bins + i] = count_of(*column[i]);
    if (number == 0)
        tail.count[0] = count_of(record->n);
    if (strcmp(record->software, learner->software) != 0)
        takt__tail_shrink(&tail, 3);
    return tail;
}

bool takt__tail_restore(struct takt_learner *learner,
                        const struct takt_record *record,
                        enum takt_tail_owner owner)
{
    struct takt_summary summary;

    if (!takt__record_find(learner, record, false, &summary))
        return false;
    summary.situation = record->situation % part;
    summary.tail = tail_of(learner, record);
    takt__model_add_tail(learner->model, &summary,
                         owner == TAKT_TAIL_OF_MACHINE ||
                             owner == TAKT_TAIL_OWN,
                         owner == TAKT_TAIL_OWN || owner == TAKT_TAIL_ADOPTED);
    return true;
}
