/* SPDX-License-Identifier: MIT */
/* backoff.c - counting calls that go unasked. */
#include "backoff.h"

enum { classes = 24, first_class = 12 }; /* powers of two of work */

static _Thread_local struct takt_backoff gates[TAKT_ROUTINES][2][classes];

struct takt_backoff *takt__backoff(enum takt_routine routine,
                                   enum takt_blas_type type, double work)
{
    const int class = (int)takt__exponent(work) - first_class;

    return &gates[routine][type == TAKT_D][class < 0         ? 0
                                           : class < classes ? class
                                                             : classes - 1];
}

/* About 20 microseconds of work: two hundred questions take that long, so a
 * question in that time is half a percent. */
static double quantum(enum takt_routine routine)
{
    return routine <= TAKT_TRSM ? 1e6 : 160e3;
}

void takt__backoff_answered(struct takt_backoff *backoff,
                            enum takt_routine routine, double work,
                            bool is_plain)
{
    const double fit = quantum(routine) / work;
    const double most = fit < UINT16_MAX ? fit : UINT16_MAX;
    const unsigned next = 2 * backoff->stride + 1u;

    backoff->stride = !is_plain      ? 0
                      : next <= most ? (uint16_t)next
                                     : (uint16_t)most;
    backoff->left = backoff->stride;
}
