/* SPDX-License-Identifier: MIT */
/* admit.c - the checks that a call passes on its way to the router. */
#include "admit.h"

#include "clock.h"
#include "mode.h"
#include "router.h"
#include "stack.h"
#include "switchback.h"

/* ---- how often a call asks the router ---------------------------------------
 *
 * Where results must not vary within a run, sides are not compared: every call
 * may ask. A decision takes some 0.1 microseconds. While the answer is the
 * baseline library, twice as many calls of that routine and size as before skip
 * the question, up to as many as bring its cost below half a percent:
 * exponential backoff. The next one asks again, so a change in what is known
 * takes effect. While the answer is another expert, every call asks. Each
 * thread has its own state.
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

/* Whether a call asks the router, by the backoff of its kind: for programs
 * whose results must not vary. */
static bool is_asking(struct takt_intercept *intercept,
                      struct takt_admission *out)
{
    out->backoff = backoff_of(intercept);
    return is_due(out->backoff);
}

/* Whether a call is on the routed side now. A rule, a pin file or a test that
 * decided for all calls is not questioned. */
static bool is_routed(struct takt_intercept *intercept,
                      struct takt_admission *out)
{
    static const double large_work = 1e8; /* multiply-adds: milliseconds */

    if (!out->route->is_adaptive || takt__mode_has(TAKT_MODE_EAGER))
        return true;
    if (takt__mode_has(TAKT_MODE_STEADY))
        return is_asking(intercept, out);
    if (intercept->work > large_work)
        takt__switchback_begin_call(takt__now_ns());
    return intercept->kind != NULL &&
           takt__side_of(intercept->kind) == TAKT_SIDE_ROUTED;
}

bool takt__admit_intercept(struct takt_intercept *intercept,
                           enum takt_routine op, double least,
                           struct takt_admission *out)
{
    if (takt__mode_has(TAKT_MODE_EARLY))
        takt__route_early(intercept->baseline);
    if (intercept->work < least && !takt__mode_has(TAKT_MODE_EAGER)) {
        intercept->why = TAKT_WHY_SMALL;
        return false;
    }
    if (!takt__has_stack()) {
        intercept->why = TAKT_WHY_FORM;
        return false;
    }
    intercept->kind = takt__kind_of(intercept->arguments);
    out->backoff = NULL;
    out->route = takt__route(intercept->baseline, &intercept->why);
    if (out->route == NULL)
        return false;
    if (out->route->op[op] == NULL) {
        intercept->why = TAKT_WHY_ROUTINE;
        return false;
    }
    intercept->why = TAKT_WHY_SETTLED;
    return is_routed(intercept, out);
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

    if (backoff == NULL)
        return;
    const double fit = quantum(intercept->routine) / intercept->work;
    const double most = fit < UINT16_MAX ? fit : UINT16_MAX;
    const unsigned next = 2 * backoff->stride + 1u;

    backoff->stride = !is_baseline   ? 0
                      : next <= most ? (uint16_t)next
                                     : (uint16_t)most;
    backoff->left = backoff->stride;
}
