/* SPDX-License-Identifier: MIT */
/* rates.c - the roofline. */
#include "model/rates.h"

#include <stddef.h>

#include "op/key.h"

static const double least = 1e-12; /* so that there is a logarithm */

/* What a driver takes to open a GPU: 0.1 to 0.5 s are reported. */
static const double opening_s = 0.4;

struct parts {
    double moving, computing, starting, linking;
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
    if ((situation & TAKT_RESIDENT) == 0) {
        parts.starting += rates->link_s;
        parts.linking = bytes * rates->s_per_link_byte;
    }
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

static uint8_t bound_of(const struct parts *parts, double running)
{
    if (parts->linking > longer(parts->starting, running))
        return TAKT_BOUND_LINK;
    if (parts->starting > running)
        return TAKT_BOUND_STARTING;
    return parts->computing > parts->moving ? TAKT_BOUND_COMPUTING
                                            : (uint8_t)parts->level;
}

double takt__rates_expect(const struct takt_rates *rates, double bytes,
                          double flops, unsigned situation, uint8_t *bound)
{
    const struct parts parts = parts_of(rates, bytes, flops, situation);
    const double running = longer(parts.computing, parts.moving);

    if (bound != NULL)
        *bound = bound_of(&parts, running);
    return parts.starting + running + parts.linking + least;
}

double takt__rates_moving(const struct takt_rates *rates, double bytes,
                          uint8_t *level)
{
    const struct parts parts = parts_of(rates, bytes, 0, TAKT_RESIDENT);

    *level = (uint8_t)parts.level;
    return parts.moving + least;
}

double takt__rates_part(const struct takt_rates *rates, double bytes,
                        double flops, uint8_t bound)
{
    uint8_t level;

    return bound == TAKT_BOUND_COMPUTING
               ? flops * rates->s_per_flop + least
               : takt__rates_moving(rates, bytes, &level);
}

double takt__rates_seconds(const struct takt_rates *rates, double bytes,
                           double flops, unsigned situation)
{
    return takt__rates_expect(rates, bytes, flops, situation, NULL);
}

double takt__rates_link(const struct takt_rates *rates, unsigned link,
                        double bytes, uint8_t *bound)
{
    if (bound != NULL)
        *bound = link == TAKT_LINK_OPEN ? TAKT_BOUND_OPENING : TAKT_BOUND_LINK;
    if (link == TAKT_LINK_OPEN)
        return opening_s;
    return rates->link_s + bytes * rates->s_per_link_byte + least;
}
