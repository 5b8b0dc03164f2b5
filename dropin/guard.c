/* SPDX-License-Identifier: MIT */
/* guard.c - signals and cancellation, held back. */
#include "guard.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

void takt__guard_begin(struct takt_guard *guard)
{
    sigset_t all;

    sigfillset(&all);
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &guard->cancel);
    pthread_sigmask(SIG_SETMASK, &all, &guard->signals);
}

void takt__guard_end(const struct takt_guard *guard)
{
    int before;

    pthread_sigmask(SIG_SETMASK, &guard->signals, NULL);
    pthread_setcancelstate(guard->cancel, &before);
}

/* A call in a handler is passed through, so a call that finds this set has
 * jumped. */
static _Thread_local volatile bool is_inside;
static _Atomic bool was_jumped_out_of;

bool takt__guard_enter_libtakt(int *cancel)
{
    if (is_inside)
        atomic_store(&was_jumped_out_of, true);
    if (atomic_load(&was_jumped_out_of))
        return false;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, cancel);
    is_inside = true;
    return true;
}

void takt__guard_leave_libtakt(int cancel)
{
    int before;

    is_inside = false;
    pthread_setcancelstate(cancel, &before);
}
