/* SPDX-License-Identifier: MIT */
/*
 * reuse.h - operands that stay on a GPU between calls, while the program's
 * memory is known to be unchanged (tracking.h).
 *
 * Only where TAKT_RUN_REUSE is set. A large matrix that is read again and again
 * is copied into a buffer of libtakt's as soon as what its moves have cost, or
 * have cached from a GPU, is more than the copy would have; calls are then
 * given the buffer in its place. A copy that was outdated before it was of use
 * makes the next one come later.
 *
 * Threads: may be called from any thread. Calls without a large matrix take no
 * lock.
 */
#ifndef TAKT_DROPIN_REUSE_H
#define TAKT_DROPIN_REUSE_H

#include "route.h"

enum takt_wish { TAKT_WISH_UNREAD, TAKT_WISH_NO, TAKT_WISH_YES };
extern _Atomic int takt__reuse_wish;
bool takt__reuse_read_wish(void);

static inline bool takt__is_reuse_wanted(void)
{
    const int wish =
        atomic_load_explicit(&takt__reuse_wish, memory_order_relaxed);

    return wish == TAKT_WISH_UNREAD ? takt__reuse_read_wish()
                                    : wish == TAKT_WISH_YES;
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

#endif
