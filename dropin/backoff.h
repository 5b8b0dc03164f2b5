/* SPDX-License-Identifier: MIT */
/*
 * backoff.h - how often a call is worth a question.
 *
 * Asking takes some 0.1 microseconds. Where the answer keeps being "the
 * baseline library", calls of that routine and size go there without being
 * asked, more and more of them in a row: as many as bring what asking costs
 * below half a percent. The next one asks again, so what is learned later is
 * heard of. Where the answer is another one, every call asks. Each thread has
 * gates of its own.
 */
#ifndef TAKT_DROPIN_BACKOFF_H
#define TAKT_DROPIN_BACKOFF_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "routine.h"

/* The binary logarithm of some work, rounded down; 0 of less than 1. Without
 * libm, which a process that calls no BLAS should not have to load. */
static inline unsigned takt__exponent(double work)
{
    uint64_t bits;

    if (!(work >= 1))
        return 0;
    memcpy(&bits, &work, sizeof bits);
    return (unsigned)(bits >> 52) - 1023;
}

struct takt_backoff {
    uint16_t left;   /* calls that still pass unasked */
    uint16_t stride; /* how many did the last time */
};

struct takt_backoff *takt__backoff(enum takt_routine routine,
                                   enum takt_blas_type type, double work);

static inline bool takt__backoff_asks(struct takt_backoff *backoff)
{
    if (backoff->left == 0)
        return true;
    backoff->left--;
    return false;
}

/* What the answer was. */
void takt__backoff_answered(struct takt_backoff *backoff,
                            enum takt_routine routine, double work,
                            bool is_plain);

#endif
