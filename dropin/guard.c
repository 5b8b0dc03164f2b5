/* SPDX-License-Identifier: MIT */
/* guard.c - signals and cancellation, held back. */
#include "guard.h"

#include <pthread.h>
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
