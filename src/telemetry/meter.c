/* SPDX-License-Identifier: MIT */
/* meter.c - a small hash table of histograms. */
#include "telemetry/meter.h"

#include <math.h>

/* Three to a decade, from a tenth of a microsecond to ten seconds. */
static const double bounds[TAKT_DURATION_BOUNDS] = {
    1e-7, 2.5e-7, 5e-7, 1e-6, 2.5e-6, 5e-6, 1e-5, 2.5e-5, 5e-5,
    1e-4, 2.5e-4, 5e-4, 1e-3, 2.5e-3, 5e-3, 1e-2, 2.5e-2, 5e-2,
    1e-1, 2.5e-1, 5e-1, 1e0,  2.5e0,  5e0,  1e1};

const double *takt_duration_bounds(void)
{
    return bounds;
}

static unsigned class_of(double seconds)
{
    unsigned low = 0, high = TAKT_DURATION_BOUNDS;

    while (low < high) {
        const unsigned middle = (low + high) / 2;
        if (seconds <= bounds[middle])
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

void takt__meters_init(struct takt_meters *meters)
{
    pthread_mutex_init(&meters->lock, NULL);
}

static struct takt_meter *find(struct takt_meters *meters, unsigned op,
                               unsigned expert)
{
    const unsigned key = (op + 1) << 8 | expert;
    unsigned at = (key * 2654435761u) >> 22; /* its high 10 bits */

    for (unsigned i = 0; i < TAKT_METERS; i++, at++) {
        struct takt_meter *meter = &meters->of[at & (TAKT_METERS - 1)];
        if (meter->op == op + 1 && meter->expert == expert)
            return meter;
        if (meter->op != 0)
            continue;
        meter->op = (uint16_t)(op + 1);
        meter->expert = (uint8_t)expert;
        meter->metric.least_s = INFINITY;
        return meter;
    }
    return NULL;
}

void takt__meters_add(struct takt_meters *meters, unsigned op, unsigned expert,
                      double seconds, uint64_t calls)
{
    takt__lock(&meters->lock);
    struct takt_meter *meter = find(meters, op, expert);
    if (meter != NULL) {
        takt_duration_metric *metric = &meter->metric;
        metric->calls += calls;
        metric->seconds += seconds * (double)calls;
        metric->least_s = fmin(metric->least_s, seconds);
        metric->most_s = fmax(metric->most_s, seconds);
        metric->in_class[class_of(seconds)] += calls;
    }
    takt__unlock(&meters->lock);
}

unsigned takt__meters_copy(struct takt_meters *meters, struct takt_meter *out)
{
    unsigned count = 0;

    takt__lock(&meters->lock);
    for (unsigned i = 0; i < TAKT_METERS; i++)
        if (meters->of[i].op != 0)
            out[count++] = meters->of[i];
    takt__unlock(&meters->lock);
    return count;
}
