/* SPDX-License-Identifier: MIT */
/*
 * hint.c - what other machines measured, as a prior.
 *
 * Machines differ, so their means are pooled with random effects (DerSimonian
 * and Laird): a machine with a thousand samples counts hardly more than one
 * with twenty, and machines that disagree leave a large variance. A machine far
 * from the median of five or more is left out.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "learn/inside.h"

/* Variances of ln(seconds) from one processor to another, from one GPU to
 * another, and of the same GPU in another machine: judgement. */
static const double other_machine = 0.5, other_gpu = 1, same_gpu = 0.05;

enum { most_machines = 64 }; /* of one key */

struct effect {
    double mean, variance;
};

static int compare_keys(const struct takt_record *a,
                        const struct takt_record *b)
{
    int order = strcmp(a->op, b->op);

    if (order == 0)
        order = strcmp(a->layout, b->layout);
    if (order == 0)
        order = strcmp(a->expert, b->expert);
    if (order == 0)
        order = (a->dtype > b->dtype) - (a->dtype < b->dtype);
    if (order == 0)
        order = (a->situation > b->situation) - (a->situation < b->situation);
    if (order == 0)
        order = (a->bin > b->bin) - (a->bin < b->bin);
    return order;
}

static int by_key(const void *a, const void *b)
{
    const struct takt_record *x = a, *y = b;
    int order = compare_keys(x, y);

    if (order == 0)
        order = strcmp(x->device, y->device);
    return order != 0 ? order : strcmp(x->machine, y->machine);
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* One effect per machine and GPU: its writers pooled. Returns their number. */
static size_t gather(const struct takt_record *record, size_t count,
                     struct effect *out)
{
    size_t machines = 0;

    for (size_t i = 0; i < count && machines < most_machines;) {
        struct takt_sums sums = {0};
        const char *machine = record[i].machine, *device = record[i].device;
        for (; i < count && strcmp(record[i].machine, machine) == 0 &&
               strcmp(record[i].device, device) == 0;
             i++)
            takt__sums_pool(
                &sums,
                &(struct takt_sums){record[i].n, record[i].mean, record[i].m2});
        const double sigma = takt__sums_sigma(&sums);
        const double n = sums.n < 64 ? sums.n : 64;
        if (sums.n > 0)
            out[machines++] =
                (struct effect){sums.mean, sigma * sigma / n + 0.02 * 0.02};
    }
    return machines;
}

static double median_of(const double *values, size_t count)
{
    double sorted[most_machines];

    memcpy(sorted, values, count * sizeof sorted[0]);
    qsort(sorted, count, sizeof sorted[0], by_value);
    return sorted[count / 2];
}

static size_t drop_outliers(struct effect *effect, size_t count)
{
    double value[most_machines];
    size_t left = 0;

    if (count < 5)
        return count;
    for (size_t i = 0; i < count; i++)
        value[i] = effect[i].mean;
    const double middle = median_of(value, count);
    for (size_t i = 0; i < count; i++)
        value[i] = fabs(effect[i].mean - middle);
    const double far = 3 * 1.4826 * median_of(value, count);
    for (size_t i = 0; i < count; i++)
        if (fabs(effect[i].mean - middle) <= far)
            effect[left++] = effect[i];
    return left;
}

static struct effect pool(const struct effect *effect, size_t count)
{
    double w = 0, w2 = 0, mean = 0, q = 0;

    for (size_t i = 0; i < count; i++) {
        const double weight = 1 / effect[i].variance;
        w += weight;
        w2 += weight * weight;
        mean += weight * effect[i].mean;
    }
    mean /= w;
    for (size_t i = 0; i < count; i++)
        q += (effect[i].mean - mean) * (effect[i].mean - mean) /
             effect[i].variance;
    const double divisor = w - w2 / w;
    const double excess = divisor > 0 ? (q - (double)(count - 1)) / divisor : 0;
    const double between = excess > 0 ? excess : 0;
    struct effect out = {0, 0};
    for (size_t i = 0; i < count; i++) {
        const double weight = 1 / (effect[i].variance + between);
        out.variance += weight;
        out.mean += weight * effect[i].mean;
    }
    out.mean /= out.variance;
    out.variance = between + 1 / out.variance + 0.05 * 0.05;
    return out;
}

/* Of records in the order of their devices, those of one device: their number,
 * and where they begin. */
static size_t of_device(const struct takt_record **record, size_t count,
                        const char *device)
{
    size_t first = 0, last;

    while (first < count && strcmp((*record)[first].device, device) != 0)
        first++;
    for (last = first; last < count; last++)
        if (strcmp((*record)[last].device, device) != 0)
            break;
    *record += first < count ? first : 0;
    return last - first;
}

/* The link of a GPU is its machine's. */
static double variance_between(const char *device, bool is_same,
                               unsigned series)
{
    if (!is_same)
        return other_gpu;
    return device[0] == '\0' || takt__link_name(series) != NULL ? other_machine
                                                                : same_gpu;
}

/* What machines like this one are expected to take, by the fleet; NULL: it
 * knows nothing of this key. */
static const struct takt_record *of_fleet(const struct takt_learner *learner,
                                          const struct takt_record *record,
                                          size_t count, const char *device)
{
    char fleet[TAKT_SHA256_HEX];

    takt__record_fleet(learner->machine, fleet);
    for (size_t i = 0; i < count; i++)
        if (strcmp(record[i].machine, fleet) == 0 && record[i].n > 0 &&
            strcmp(record[i].device, device) == 0)
            return &record[i];
    return NULL;
}

/* The fleet has weighed its machines: nothing is added for their differing. */
static void give_fleet_hint(struct takt_learner *learner,
                            const struct takt_record *record,
                            struct takt_summary *hint)
{
    hint->n = 1;
    hint->mean = record->mean;
    hint->bytes = record->bytes;
    hint->flops = record->flops;
    hint->m2 = hint->first_s = hint->seconds = 0;
    hint->calls = record->n;
    takt__model_hint(learner->model, hint,
                     record->m2 / record->n + 0.02 * 0.02);
}

/* From what the fleet says, or else from the records of the same GPU, if there
 * are any, or else from all. False: their op or their expert is not known. */
static bool give_hint(struct takt_learner *learner,
                      const struct takt_record *record, size_t count)
{
    struct takt_summary hint;
    struct effect effect[most_machines];

    if (!takt__record_find(learner, record, false, &hint))
        return false;
    const char *device = takt__learner_device(learner, hint.arm);
    const struct takt_record *fleet = of_fleet(learner, record, count, device);
    if (fleet != NULL) {
        give_fleet_hint(learner, fleet, &hint);
        return true;
    }
    const size_t same = of_device(&record, count, device);
    size_t machines = gather(record, same > 0 ? same : count, effect);
    machines = drop_outliers(effect, machines);
    if (machines == 0)
        return true;
    const struct effect all = pool(effect, machines);
    hint.n = 1;
    hint.mean = all.mean;
    hint.m2 = hint.first_s = hint.calls = hint.seconds = 0;
    hint.bytes = record->bytes;
    hint.flops = record->flops;
    takt__model_hint(learner->model, &hint,
                     all.variance +
                         variance_between(device, same > 0, hint.series));
    return true;
}

/* Tails are taken as they come: what they say of teams is no mean. */
static void take_tails(struct takt_learner *learner,
                       struct takt_records *foreign)
{
    size_t left = 0;

    for (size_t i = 0; i < foreign->count; i++)
        if (!takt__is_tail(&foreign->record[i]) ||
            !takt__tail_restore(learner, &foreign->record[i],
                                TAKT_TAIL_FOREIGN))
            foreign->record[left++] = foreign->record[i];
    foreign->count = left;
}

void takt__learner_hint(struct takt_learner *learner,
                        struct takt_records *foreign)
{
    struct takt_record *record = foreign->record;
    size_t left = 0;

    take_tails(learner, foreign);
    if (foreign->count == 0)
        return;
    qsort(record, foreign->count, sizeof record[0], by_key);
    for (size_t i = 0, j; i < foreign->count; i = j) {
        for (j = i + 1; j < foreign->count; j++)
            if (compare_keys(&record[i], &record[j]) != 0)
                break;
        if (give_hint(learner, &record[i], j - i))
            continue;
        memmove(&record[left], &record[i], (j - i) * sizeof record[0]);
        left += j - i;
    }
    foreign->count = left;
}
