/* SPDX-License-Identifier: MIT */
/*
 * hint.c - what other machines measured, as a starting point.
 *
 * Machines differ, so their means are pooled with random effects (DerSimonian
 * and Laird): a machine that measured a thousand times counts hardly more than
 * one that measured twenty times, and machines that disagree leave doubt. A
 * machine far from the median of five or more is left out.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "learn/inside.h"

/* Doubt from one processor to another, from one GPU to another, and of the same
 * GPU in another machine, in ln(seconds) squared: judgement. */
static const double other_machine = 0.5, other_gpu = 1, same_gpu = 0.05;

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

/* One effect per machine and GPU: its writers pooled. Returns how many. */
static size_t gather(const struct takt_record *record, size_t count,
                     struct effect *out, size_t room)
{
    size_t machines = 0;

    for (size_t i = 0; i < count && machines < room;) {
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
    double sorted[64];

    memcpy(sorted, values, count * sizeof sorted[0]);
    qsort(sorted, count, sizeof sorted[0], by_value);
    return sorted[count / 2];
}

static size_t drop_outliers(struct effect *effect, size_t count)
{
    double value[64];
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

/* Of records in the order of their devices, those of one: how many, and where
 * they begin. */
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
static double doubt_of(const char *device, bool is_same, int series)
{
    if (!is_same)
        return other_gpu;
    return device[0] == '\0' || takt__link_name((unsigned)series) != NULL
               ? other_machine
               : same_gpu;
}

/* Those of the same GPU, if there are any, or else all. */
static void give_hint(struct takt_learner *learner,
                      const struct takt_record *record, size_t count)
{
    const struct takt_learner_names *names = &learner->names;
    const int series = names->find_series(names->self, record->op,
                                          record->dtype, record->layout);
    const int arm = series < 0 ? -1
                               : names->find_arm(names->self, (unsigned)series,
                                                 record->expert);
    struct effect effect[64];

    if (arm < 0)
        return;
    const char *device = takt__learner_device(learner, (unsigned)arm);
    const size_t same = of_device(&record, count, device);
    size_t machines = gather(record, same > 0 ? same : count, effect, 64);
    machines = drop_outliers(effect, machines);
    if (machines == 0)
        return;
    const struct effect all = pool(effect, machines);
    takt__model_hint(learner->model,
                     &(struct takt_memory){.series = (unsigned)series,
                                           .arm = (unsigned)arm,
                                           .situation = record->situation,
                                           .bucket = record->bin,
                                           .n = 1,
                                           .mean = all.mean,
                                           .bytes = record->bytes,
                                           .flops = record->flops},
                     all.variance + doubt_of(device, same > 0, series));
}

void takt__learner_hint(struct takt_learner *learner,
                        const struct takt_records *foreign)
{
    if (foreign->count == 0)
        return;
    qsort(foreign->record, foreign->count, sizeof foreign->record[0], by_key);
    for (size_t i = 0, j; i < foreign->count; i = j) {
        for (j = i + 1; j < foreign->count; j++)
            if (compare_keys(&foreign->record[i], &foreign->record[j]) != 0)
                break;
        give_hint(learner, &foreign->record[i], j - i);
    }
}
