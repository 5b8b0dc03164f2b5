/* SPDX-License-Identifier: MIT */
/*
 * reuse.h - operands that stay on a GPU between calls, while the program's
 * memory is known to be unchanged (tracking.h).
 *
 * Only if TAKT_RUN_REUSE is set. A large matrix that many calls read is copied
 * into a buffer of libtakt's as soon as calls have lost more by moving it than
 * the copy costs. Calls then get the buffer in its place. A copy that became
 * invalid before it paid makes the next one come later.
 *
 *
 * Threads: may be called from any thread. Calls without a large matrix take no
 * lock.
 */
#pragma once

#include "route.h"

enum { TAKT_REUSE_UNREAD, TAKT_REUSE_NO, TAKT_REUSE_YES };
extern _Atomic int takt__reuse_setting;
bool takt__reuse_read_setting(void);

static inline bool takt__is_reuse_wanted(void)
{
    const int setting =
        atomic_load_explicit(&takt__reuse_setting, memory_order_relaxed);

    return setting == TAKT_REUSE_UNREAD ? takt__reuse_read_setting()
                                        : setting == TAKT_REUSE_YES;
}

takt_status takt__run_reusing(const struct takt_route *route,
                              const takt_call *call, takt_decision *decision);

/* Runs a call as takt_run() does. */
static inline takt_status takt__reuse_run(const struct takt_route *route,
                                          const takt_call *call,
                                          takt_decision *decision)
{
    return takt__is_reuse_wanted()
               ? takt__run_reusing(route, call, decision)
               : route->takt->run(route->ctx, call, decision);
}
