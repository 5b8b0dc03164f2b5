/* SPDX-License-Identifier: MIT */
/*
 * tails.c - tails in the store.
 *
 * A tail is two records beside the one of the mean, under the same key but for
 * the situation. Their numbers are counts of samples: docs/formats/history.md.
 * So they are written, merged and forgotten as all records are, and a Takt that
 * does not know them passes over situations that it does not know.
 */
#include <string.h>

#include "learn/inside.h"

/* Added to the situation: the lower bins, and the upper ones. */
enum { low_part = 256, high_part = 512, part_bins = 6, unit = 16 };

_Static_assert(2 * part_bins == TAKT_TAIL_BINS - 1, "two parts hold all bins");

/* Fewer samples say nothing. */
static const float least = 8;

/* The bins of a part but for the first of all, in the order of the columns. */
static void columns_of(struct takt_record *record, double *column[part_bins])
{
    double *const in[part_bins] = {&record->m2,    &record->first_s,
                                   &record->bytes, &record->flops,
                                   &record->calls, &record->seconds};

    memcpy(column, in, sizeof in);
}

bool takt__is_tail(const struct takt_record *record)
{
    return record->situation >= low_part;
}

static void collect_part(struct takt_learner *learner,
                         const struct takt_record *mean,
                         const struct takt_tail *tail, unsigned part)
{
    const unsigned first = part == low_part ? 1 : 1 + part_bins;
    struct takt_record record = *mean;
    double *column[part_bins], sum = 0;

    record.situation |= part;
    record.mean = 0;
    columns_of(&record, column);
    for (unsigned i = 0; i < part_bins; i++) {
        *column[i] = (double)tail->count[first + i] / unit;
        sum += *column[i];
    }
    record.n = part == low_part ? (double)tail->count[0] / unit : sum;
    if (part == low_part || sum > 0)
        takt__records_keep(&learner->unsaved, &record);
}

/* Programs under `takt run` are kept as ops whose times are ratios. */
void takt__tail_collect(struct takt_learner *learner,
                        const struct takt_record *mean,
                        const struct takt_tail *tail)
{
    if (takt__tail_samples(tail) < least || strncmp(mean->op, "run.", 4) == 0)
        return;
    collect_part(learner, mean, tail, low_part);
    collect_part(learner, mean, tail, high_part);
}

/* In sixteenths; files are not trusted. */
static uint16_t count_of(double samples)
{
    return samples >= 0 && samples < UINT16_MAX / unit
               ? (uint16_t)(samples * unit + 0.5)
               : 0;
}

/* Samples of another version of the library count as three at most. */
static struct takt_tail tail_of(const struct takt_learner *learner,
                                const struct takt_record *record)
{
    const bool is_low = (record->situation & low_part) != 0;
    const unsigned first = is_low ? 1 : 1 + part_bins;
    struct takt_record copy = *record;
    struct takt_tail tail = {{0}};
    double *column[part_bins];

    columns_of(&copy, column);
    for (unsigned i = 0; i < part_bins; i++)
        tail.count[first + i] = count_of(*column[i]);
    if (is_low)
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
    summary.situation = record->situation & (low_part - 1);
    summary.tail = tail_of(learner, record);
    takt__model_add_tail(learner->model, &summary,
                         owner == TAKT_TAIL_OF_MACHINE ||
                             owner == TAKT_TAIL_OWN,
                         owner == TAKT_TAIL_OWN || owner == TAKT_TAIL_ADOPTED);
    return true;
}
