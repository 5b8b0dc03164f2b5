/* SPDX-License-Identifier: MIT */
/* rates.c - the roofline. */
#include "model/rates.h"

#include "op/key.h"

struct parts {
    double moving, computing, starting;
    unsigned level;
};

/* A cache that is too small by a half misses half the time: operands twice its
 * size or more come from below it altogether. */
static double share_beyond(double bytes, double cache)
{
    if (bytes <= cache)
        return 0;
    return bytes >= 2 * cache ? 1 : bytes / cache - 1;
}

static struct parts parts_of(const struct takt_rates *rates, double bytes,
                             double flops, unsigned situation)
{
    const double past_l2 = share_beyond(bytes, rates->l2_bytes);
    const double past_l3 = share_beyond(bytes, rates->l3_bytes);
    const double *each = rates->s_per_byte;
    struct parts parts = {.level = past_l3 > 0.5 ? 2 : past_l2 > 0.5 ? 1 : 0};

    parts.moving = bytes * (each[0] + past_l2 * (each[1] - each[0]) +
                            past_l3 * (each[2] - each[1]));
    parts.computing = flops * rates->s_per_flop;
    parts.starting = rates->call_s;
    if (rates->threads > 1) {
        parts.starting +=
            (situation & TAKT_ASLEEP) != 0 ? rates->asleep_s : rates->awake_s;
        if ((situation & TAKT_REPEAT) == 0)
            parts.starting +=
                (bytes < rates->fetched_bytes ? bytes : rates->fetched_bytes) *
                rates->s_per_fetched_byte;
    }
    return parts;
}

static double longer(double a, double b)
{
    return a > b ? a : b;
}

double takt__rates_expect(const struct takt_rates *rates, double bytes,
                          double flops, unsigned situation, uint8_t *bound)
{
    const struct parts parts = parts_of(rates, bytes, flops, situation);
    const double running = longer(parts.computing, parts.moving);
    const double least = 1e-12; /* there is always a logarithm */

    *bound = (uint8_t)(parts.starting > running         ? 4
                       : parts.computing > parts.moving ? 3
                                                        : parts.level);
    return parts.starting + running + least;
}

double takt__rates_seconds(const struct takt_rates *rates, double bytes,
                           double flops, unsigned situation)
{
    uint8_t bound;
    return takt__rates_expect(rates, bytes, flops, situation, &bound);
}
