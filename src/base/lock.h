/* SPDX-License-Identifier: MIT */
/*
 * lock.h - locks that a cancelled thread does not keep.
 *
 * A thread that pthread_cancel() ends in the middle of a critical section would
 * never leave it, and all others would wait for ever. So cancellation is off
 * from takt__lock() to takt__unlock(), and in other stretches that have to
 * be left again: a request is acted on when the last of them has ended. Pairs
 * nest and may end in any order, on the thread that began them. No callback of
 * a user's is called inside of one, unless its contract says so.
 *
 * An asynchronous request that was on its way when cancellation was turned off
 * is acted on all the same by some versions of glibc (2.36 has this), unless
 * the thread's type says otherwise: so sections set the type too. A stretch
 * without cancellation points needs no section: takt__cancel_defer().
 *
 * A signal handler may call exit() at any point. What runs then can ask whether
 * its own thread is inside of a section: if so, its locks will not be released.
 */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

void takt__section_begin(void);
void takt__section_end(void);
bool takt__section_is_open(void); /* on this thread */

/* No asynchronous cancellation until takt__cancel_undefer() has got the value
 * that this one returned. */
static inline int takt__cancel_defer(void)
{
    int type;

    pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, &type);
    return type;
}

static inline void takt__cancel_undefer(int type)
{
    pthread_setcanceltype(type, NULL);
}

void takt__lock(pthread_mutex_t *lock);
bool takt__trylock(pthread_mutex_t *lock);
void takt__unlock(pthread_mutex_t *lock);

/* Waits until that time of CLOCK_MONOTONIC at most; false: it was not to be
 * had. */
bool takt__lock_until(pthread_mutex_t *lock, uint64_t until_ns);
