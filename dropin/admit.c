/* SPDX-License-Identifier: MIT */
/* admit.c - the checks that a call passes on its way to the router. */
#include "admit.h"

#include "backoff.h"
#include "mode.h"
#include "router.h"

bool takt__admit_intercept(struct takt_intercept *intercept,
                           enum takt_routine op, double least,
                           struct takt_admission *out)
{
    const bool is_eager = takt__is_eager();

    if (intercept->work < least && !is_eager) {
        intercept->why = TAKT_WHY_SMALL;
        return false;
    }
    out->backoff =
        takt__backoff(intercept->routine, intercept->type, intercept->work);
    if (!takt__backoff_is_due(out->backoff) && !is_eager) {
        intercept->why = TAKT_WHY_SETTLED;
        return false;
    }
    out->route = takt__route(intercept->baseline, &intercept->why);
    return out->route != NULL && out->route->op[op] != NULL;
}

void takt__admission_answered(const struct takt_admission *admission,
                              const struct takt_intercept *intercept,
                              bool is_baseline)
{
    takt__backoff_answered(admission->backoff, intercept->routine,
                           intercept->work, is_baseline);
}
