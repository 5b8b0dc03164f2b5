/* SPDX-License-Identifier: MIT */
/* guard.c - signals and cancellation, held back. */
#include "guard.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

/* The type too: glibc 2.36 acts on an asynchronous request that was on its way
 * whatever the state is. One that came meanwhile is acted on when the type is
 * restored; by the state, it would end the thread without PTHREAD_CANCELED. */
struct takt_cancel takt__cancel_off(void)
{
    struct takt_cancel before;

    pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, &before.type);
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before.state);
    return before;
}

void takt__cancel_restore(struct takt_cancel before)
{
    int now;

    pthread_setcancelstate(before.state, &now);
    pthread_setcanceltype(before.type, &now);
}

void takt__guard_begin(struct takt_guard *guard)
{
    sigset_t all;

    sigfillset(&all);
    guard->cancel = takt__cancel_off();
    pthread_sigmask(SIG_SETMASK, &all, &guard->signals);
}

void takt__guard_end(const struct takt_guard *guard)
{
    pthread_sigmask(SIG_SETMASK, &guard->signals, NULL);
    takt__cancel_restore(guard->cancel);
}

/* A call in a handler is passed through, so a call that finds this set has
 * jumped. */
static _Thread_local volatile bool is_inside;
static _Atomic bool was_jumped_out_of;

bool takt__guard_enter_libtakt(struct takt_cancel *cancel)
{
    if (is_inside)
        atomic_store(&was_jumped_out_of, true);
    if (atomic_load(&was_jumped_out_of))
        return false;
    *cancel = takt__cancel_off();
    is_inside = true;
    return true;
}

void takt__guard_leave_libtakt(struct takt_cancel cancel)
{
    is_inside = false;
    takt__cancel_restore(cancel);
}
