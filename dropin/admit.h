/* SPDX-License-Identifier: MIT */
/*
 * admit.h - whether an intercepted call is routed or passed through: the last
 * checks. intercept.c first passes on routines, types and forms that Takt
 * cannot run.
 *
 * A call is admitted to the router if it is large enough, its kind is on the
 * routed side now (switchback.h), and libtakt is open for its library and
 * number of threads. With --same-bits it has to be due by a backoff instead.
 * (Calls that the baseline library makes itself are part of another call, and
 * do not come here.)
 */
#pragma once

#include "intercepted.h"
#include "route.h"

/* An admitted call. */
struct takt_admission {
    struct takt_route *route;
    struct takt_backoff *backoff;
};

/* `op` is the routine whose op of Takt's runs the call; `least` is the least
 * work of its kind. False: it is passed through, and intercept->why says why.
 */
bool takt__admit_intercept(struct takt_intercept *intercept,
                           enum takt_routine op, double least,
                           struct takt_admission *out);

/* What the router answered: the baseline library, or another expert. Decides
 * how soon a call of this kind is admitted again. */
void takt__admission_answered(const struct takt_admission *admission,
                              const struct takt_intercept *intercept,
                              bool is_baseline);
