/* SPDX-License-Identifier: MIT */
/*
 * rates.h - from rates to seconds, for what was never measured.
 *
 * A roofline: the longer of moving the bytes and doing the arithmetic, plus
 * what it takes to get going. Everything learned is kept as a ratio to it, so
 * it only has to have the right shape; how far off it is, is learned.
 */
#pragma once

#include <stdint.h>

struct takt_rates {
    unsigned threads;
    double call_s; /* of a call that does nothing */
    double s_per_flop;
    double s_per_byte[3]; /* operands in L2, in L3, in memory */
    double l2_bytes;      /* of all its cores */
    double l3_bytes;
    double awake_s;  /* to start its other threads when they spin ... */
    double asleep_s; /* ... and when they sleep */
    /* Operands that the caller has just written are fetched out of its cache
     * by the other threads: so much per byte, for at most so many. */
    double s_per_fetched_byte;
    double fetched_bytes;
    /* Operands that are not where the expert works are brought there, and the
     * result back: so much to get going, and per byte (0: need not be moved).
     */
    double link_s;
    double s_per_link_byte;
};

/* Seconds of a call in that situation (bits of op/key.h). */
double takt__rates_seconds(const struct takt_rates *rates, double bytes,
                           double flops, unsigned situation);

/* The same, and which part of it is the longest: 0 to 2, moving in L2, L3 or
 * memory; 3, arithmetic; 4, getting going; 5, the link. What was learned of an
 * expert on one op is carried to another op by these. The last one is opening,
 * which says nothing of anything else. */
enum {
    TAKT_BOUND_COMPUTING = 3,
    TAKT_BOUND_STARTING = 4,
    TAKT_BOUND_LINK = 5,
    TAKT_BOUND_OPENING = 6,
    TAKT_BOUNDS = 7
};
double takt__rates_expect(const struct takt_rates *rates, double bytes,
                          double flops, unsigned situation, uint8_t *bound);

/* One part of it alone: moving (0 to 2) or arithmetic (3). */
double takt__rates_part(const struct takt_rates *rates, double bytes,
                        double flops, uint8_t bound);

/* Moving alone, and the level that most of it comes from. */
double takt__rates_moving(const struct takt_rates *rates, double bytes,
                          uint8_t *level);

/* Seconds to move that much over one of the links of op/key.h, or to open it.
 */
double takt__rates_link(const struct takt_rates *rates, unsigned link,
                        double bytes, uint8_t *bound);
