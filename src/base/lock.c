/* SPDX-License-Identifier: MIT */
/* lock.c - sections, counted per thread, and the locks that begin them. */
#include "base/lock.h"

#include <time.h>

#include "base/clock.h"

/* Volatile: a signal handler of the same thread reads it. */
static _Thread_local volatile unsigned open_sections
    __attribute__((tls_model("initial-exec")));
static _Thread_local int state_before
    __attribute__((tls_model("initial-exec")));
static _Thread_local int type_before __attribute__((tls_model("initial-exec")));

void takt__section_begin(void)
{
    if (open_sections++ > 0)
        return;
    type_before = takt__cancel_defer();
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state_before);
}

/* A handler that comes between the two lines may begin a section of its own. */
void takt__section_end(void)
{
    const int state = state_before, type = type_before;

    if (--open_sections > 0)
        return;
    pthread_setcancelstate(state, NULL);
    takt__cancel_undefer(type);
}

bool takt__section_is_open(void)
{
    return open_sections != 0;
}

void takt__lock(pthread_mutex_t *lock)
{
    takt__section_begin();
    pthread_mutex_lock(lock);
}

void takt__unlock(pthread_mutex_t *lock)
{
    pthread_mutex_unlock(lock);
    takt__section_end();
}

bool takt__trylock(pthread_mutex_t *lock)
{
    return takt__lock_until(lock, 0);
}

/* By looking now and then: not every libc has a lock with a limit by this
 * clock, and callers of this have time. */
bool takt__lock_until(pthread_mutex_t *lock, uint64_t until_ns)
{
    const struct timespec pause = {.tv_nsec = 500000};

    takt__section_begin();
    bool is_ours = pthread_mutex_trylock(lock) == 0;
    while (!is_ours && takt__now_ns() < until_ns) {
        nanosleep(&pause, NULL);
        is_ours = pthread_mutex_trylock(lock) == 0;
    }
    if (!is_ours)
        takt__section_end();
    return is_ours;
}
