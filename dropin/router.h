/* SPDX-License-Identifier: MIT */
/*
 * router.h - libtakt, opened when it pays, and its contexts.
 *
 * A process that hardly calls BLAS must not pay for a router: it is opened when
 * calls that would have asked it have taken a while. There is one context for
 * each baseline library and number of threads that the program allows it. In
 * each, the baseline library is an expert that is only observed; with
 * --same-bits, it is the default one.
 *
 * Threads: a thread of our own opens (opener.h). Calls are passed through
 * meanwhile, and wait for nothing.
 */
#pragma once

#include "route.h"
#include "stats.h"
#include "triangular.h"

/* The route for calls of that library at this moment; NULL: there is none, and
 * *why says why. */
struct takt_route *takt__route(const struct takt_baseline *baseline,
                               enum takt_why *why);

/* Opens the router and a route for that library now, unless it is open. */
void takt__route_early(const struct takt_baseline *baseline);

/* Adds the time of calls that would have asked the router: when that is enough,
 * the next one opens it. */
void takt__router_spent(uint64_t ns);

takt_call takt__product_call(const struct takt_route *route,
                             const struct takt_product *product);
