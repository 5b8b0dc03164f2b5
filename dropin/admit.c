/* SPDX-License-Identifier: MIT */
/* admit.c - the checks that a call passes on its way to the router. */
#include "admit.h"

#include "mode.h"
#include "router.h"

/* ---- how often a call asks the router ---------------------------------------
 *
 * A decision takes some 0.1 microseconds. While the answer is the baseline
 * library, twice as many calls of that routine and size as before skip the
 * question, up to as many as bring its cost below half a percent: exponential
 * backoff. The next one asks again, so a change in what is known takes effect.
 * While the answer is another expert, every call asks. Each thread has its own
 * state.
 */

struct takt_backoff {
    uint16_t left;   /* calls that still skip the question */
    uint16_t stride; /* how many did the last time */
};

enum { classes = 24, first_class = 12 }; /* powers of two of work */

static _Thread_local struct takt_backoff backoffs[TAKT_ROUTINES][2][classes];

static struct takt_backoff *backoff_of(const struct takt_intercept *intercept)
{
    const int class = (int)takt__exponent(intercept->work) - first_class;

    return &backoffs[intercept->routine][intercept->type == TAKT_D]
                    [class < 0         ? 0
                     : class < classes ? class
                                       : classes - 1];
}

static bool is_due(struct takt_backoff *backoff)
{
    if (backoff->left == 0)
        return true;
    backoff->left--;
    return false;
}

bool takt__admit_intercept(struct takt_intercept *intercept,
                           enum takt_routine op, double least,
                           struct takt_admission *out)
{
    const bool is_eager = takt__is_eager();

    if (intercept->work < least && !is_eager) {
        intercept->why = TAKT_WHY_SMALL;
        return false;
    }
    out->backoff = backoff_of(intercept);
    if (!is_due(out->backoff) && !is_eager) {
        intercept->why = TAKT_WHY_SETTLED;
        return false;
    }
    out->route = takt__route(intercept->baseline, &intercept->why);
    if (out->route == NULL)
        return false;
    intercept->why = TAKT_WHY_ROUTINE;
    return out->route->op[op] != NULL;
}

/* Work of about 20 microseconds: two hundred decisions take as long, so one in
 * that time is half a percent. */
static double quantum(enum takt_routine routine)
{
    return routine <= TAKT_TRSM ? 1e6 : 160e3;
}

void takt__admission_answered(const struct takt_admission *admission,
                              const struct takt_intercept *intercept,
                              bool is_baseline)
{
    struct takt_backoff *backoff = admission->backoff;
    const double fit = quantum(intercept->routine) / intercept->work;
    const double most = fit < UINT16_MAX ? fit : UINT16_MAX;
    const unsigned next = 2 * backoff->stride + 1u;

    backoff->stride = !is_baseline   ? 0
                      : next <= most ? (uint16_t)next
                                     : (uint16_t)most;
    backoff->left = backoff->stride;
}
