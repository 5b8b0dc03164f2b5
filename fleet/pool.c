/* SPDX-License-Identifier: MIT */
/* pool.c - medians. */
#include "fleet/pool.h"

#include <math.h>
#include <stdlib.h>

static int by_mean(const void *a, const void *b)
{
    const struct takt_fleet_cell *x = a, *y = b;

    return (x->mean > y->mean) - (x->mean < y->mean);
}

static int by_first(const void *a, const void *b)
{
    const struct takt_fleet_cell *x = a, *y = b;

    return (x->first_s > y->first_s) - (x->first_s < y->first_s);
}

/* The median distance from `middle`, of cells by their means: the two ends are
 * the farthest of what is left. */
static double median_distance(const struct takt_fleet_cell *cell, size_t count,
                              double middle)
{
    size_t first = 0, last = count - 1;

    for (size_t left = count; left > count / 2 + 1; left--) {
        if (middle - (double)cell[first].mean >
            (double)cell[last].mean - middle)
            first++;
        else
            last--;
    }
    return fmax(middle - (double)cell[first].mean,
                (double)cell[last].mean - middle);
}

void takt__fleet_pool(struct takt_fleet_cell *cell, size_t count,
                      struct takt_fleet_cell *out)
{
    static const double normal = 1.4826; /* the spread of one by its MAD */

    qsort(cell, count, sizeof *cell, by_mean);
    *out = cell[count / 2];
    const double middle =
        ((double)cell[(count - 1) / 2].mean + (double)cell[count / 2].mean) / 2;
    const double spread = normal * median_distance(cell, count, middle);
    out->mean = (float)middle;
    out->n = (float)count;
    out->m2 =
        (float)fmin((double)count * spread * spread, 49 * ((double)count + 1));
    qsort(cell, count, sizeof *cell, by_first);
    out->first_s = cell[count / 2].first_s; /* 0: most do not know */
}
