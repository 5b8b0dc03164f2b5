/* SPDX-License-Identifier: MIT */
/*
 * run_compare_stats.c - medians, and the interval of a ratio.
 *
 * Times of a program have outliers, upwards, and pairs are few. So nothing is
 * assumed of their distribution: the logarithms of the ratios are judged by
 * their signed ranks (Wilcoxon). Because a coin decides which run of a pair
 * comes first, the test is exact where Takt makes no difference. The interval
 * is the one that belongs to the test, the estimate is that of Hodges and
 * Lehmann: the median of the means of all pairs of values, each with itself
 * included (the Walsh averages). See docs/decisions/0027.
 */
#include "run_compare_stats.h"

#include <math.h>
#include <stdlib.h>

static int compare_numbers(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static double middle(const double *sorted, size_t count)
{
    return (sorted[(count - 1) / 2] + sorted[count / 2]) / 2;
}

double median_of(double *number, size_t count)
{
    if (count == 0)
        return (double)NAN;
    qsort(number, count, sizeof *number, compare_numbers);
    return middle(number, count);
}

/* The chance of each sum, up to `size` of them: each rank counts or does not,
 * with the same chance. */
static void fill_chances(double *chance, size_t size, size_t count)
{
    chance[0] = 1;
    for (size_t rank = 1; rank <= count; rank++)
        for (size_t sum = size; sum-- > 0;)
            chance[sum] =
                (chance[sum] + (sum >= rank ? chance[sum - rank] : 0)) / 2;
}

long signed_rank_limit(size_t count)
{
    const double tail = 0.025;
    const size_t size = count * (count + 1) / 4 + 1; /* half of them */
    double *chance = calloc(size, sizeof *chance);
    double sum = 0;
    long limit = -1;

    if (chance == NULL)
        return -1;
    fill_chances(chance, size, count);
    for (size_t i = 0; i < size; i++) {
        sum += chance[i];
        if (sum > tail)
            break;
        limit = (long)i;
    }
    free(chance);
    return limit;
}

/* All means of two values, sorted; to be freed. NULL: no memory. */
static double *walsh_averages(const double *value, size_t count, size_t *size)
{
    double *mean = calloc(count * (count + 1) / 2, sizeof *mean);
    size_t used = 0;

    if (mean == NULL)
        return NULL;
    for (size_t i = 0; i < count; i++)
        for (size_t k = i; k < count; k++)
            mean[used++] = (value[i] + value[k]) / 2;
    qsort(mean, used, sizeof *mean, compare_numbers);
    *size = used;
    return mean;
}

static bool find_interval(const double *value, size_t count,
                          struct interval *out)
{
    const long limit = signed_rank_limit(count);
    size_t size;
    double *mean = walsh_averages(value, count, &size);

    if (mean == NULL)
        return false;
    out->ratio = exp(middle(mean, size));
    if (limit >= 0) {
        out->low = exp(mean[limit]);
        out->high = exp(mean[size - 1 - (size_t)limit]);
    }
    free(mean);
    return true;
}

bool ratio_interval(const double *numerator, const double *denominator,
                    size_t count, struct interval *out)
{
    const double unknown = (double)NAN;

    *out = (struct interval){unknown, unknown, unknown};
    if (count == 0)
        return true;
    double *value = calloc(count, sizeof *value);
    if (value == NULL)
        return false;
    for (size_t i = 0; i < count; i++)
        value[i] = log(numerator[i] / denominator[i]);
    const bool is_done = find_interval(value, count, out);
    free(value);
    return is_done;
}
