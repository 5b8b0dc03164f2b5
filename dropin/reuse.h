/* SPDX-License-Identifier: MIT */
/*
 * reuse.h - operands that stay on a GPU between calls, while the program's
 * memory is known to be unchanged (tracking.h).
 *
 * TAKT_RUN_REUSE=1 does it, and 0 forbids it. If it is not set, that is
 * done where the kernel can track memory at little cost, unless the program
 * uses a GPU itself: then devices may write its memory unseen.
 *
 * A large matrix that many calls read is copied into a buffer of libtakt's as
 * soon as calls have lost more by moving it than the copy costs. Calls then get
 * the buffer in its place. A copy that became invalid before it paid makes the
 * next one come later. Before a GPU is open, calls in the baseline library tell
 * which matrices they read, so that it is opened when that would pay.
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

/* What the last call of this thread took to make copies. It is paid once, for
 * all calls that follow. */
extern _Thread_local uint64_t takt__reuse_copy_ns;

/* A product ran in the baseline library. */
void takt__reuse_note(const struct takt_route *route, const takt_call *call);

/* So many products took so long there each: opens the GPU if that would pay. */
void takt__reuse_expect(const struct takt_route *route, const takt_call *call,
                        double calls, double seconds);

/* Runs a call as takt_run() does. */
static inline takt_status takt__reuse_run(const struct takt_route *route,
                                          const takt_call *call,
                                          takt_decision *decision)
{
    return route->has_gpu && takt__is_reuse_wanted()
               ? takt__run_reusing(route, call, decision)
               : route->takt->run(route->ctx, call, decision);
}
