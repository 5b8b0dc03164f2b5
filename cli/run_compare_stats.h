/* SPDX-License-Identifier: MIT */
/* run_compare_stats.h - medians, and the interval of a ratio. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum {
    compare_least = 6,   /* pairs; fewer have no interval of 95% */
    compare_given = 1000 /* pairs that may be asked for */
};

/* Of a ratio; `low` and `high` are NAN where there are too few pairs. */
struct interval {
    double ratio, low, high;
};

/* The median of `count` numbers, which it sorts; NAN of none. */
double median_of(double *number, size_t count);

/* The largest sum of ranks that 2.5% of all signed-rank sums of `count` pairs
 * do not exceed; -1: there is none, or no memory. */
long signed_rank_limit(size_t count);

/* Of numerator / denominator, pair by pair: the Hodges-Lehmann estimate on
 * logarithms, and the 95% interval of the signed-rank test. All numbers are
 * above 0. False: no memory. */
bool ratio_interval(const double *numerator, const double *denominator,
                    size_t count, struct interval *out);
