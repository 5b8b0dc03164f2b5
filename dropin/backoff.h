/* SPDX-License-Identifier: MIT */
/*
 * backoff.h - how often a call asks the router: exponential backoff.
 *
 * A decision takes some 0.1 microseconds. While the answer is the baseline
 * library, twice as many calls of that routine and size as before skip the
 * question, up to as many as bring its cost below half a percent. The next one
 * asks again, so a change in what is known takes effect. While the answer is
 * another expert, every call asks. Each thread has its own state.
 */
#ifndef TAKT_DROPIN_BACKOFF_H
#define TAKT_DROPIN_BACKOFF_H

#include <stdbool.h>
#include <stdint.h>

#include "routine.h"

struct takt_backoff {
    uint16_t left;   /* calls that still skip the question */
    uint16_t stride; /* how many did the last time */
};

struct takt_backoff *takt__backoff(enum takt_routine routine,
                                   enum takt_blas_type type, double work);

static inline bool takt__backoff_is_due(struct takt_backoff *backoff)
{
    if (backoff->left == 0)
        return true;
    backoff->left--;
    return false;
}

void takt__backoff_answered(struct takt_backoff *backoff,
                            enum takt_routine routine, double work,
                            bool is_baseline);

#endif
