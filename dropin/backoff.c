/* SPDX-License-Identifier: MIT */
/* backoff.c - the backoff of each routine, type and size. */
#include "backoff.h"

enum { classes = 24, first_class = 12 }; /* powers of two of work */

static _Thread_local struct takt_backoff backoffs[TAKT_ROUTINES][2][classes];

struct takt_backoff *takt__backoff(enum takt_routine routine,
                                   enum takt_blas_type type, double work)
{
    const int class = (int)takt__exponent(work) - first_class;

    return &backoffs[routine][type == TAKT_D][class < 0         ? 0
                                              : class < classes ? class
                                                                : classes - 1];
}

/* Work of about 20 microseconds: two hundred decisions take as long, so one in
 * that time is half a percent. */
static double quantum(enum takt_routine routine)
{
    return routine <= TAKT_TRSM ? 1e6 : 160e3;
}

void takt__backoff_answered(struct takt_backoff *backoff,
                            enum takt_routine routine, double work,
                            bool is_baseline)
{
    const double fit = quantum(routine) / work;
    const double most = fit < UINT16_MAX ? fit : UINT16_MAX;
    const unsigned next = 2 * backoff->stride + 1u;

    backoff->stride = !is_baseline   ? 0
                      : next <= most ? (uint16_t)next
                                     : (uint16_t)most;
    backoff->left = backoff->stride;
}
