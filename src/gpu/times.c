/* SPDX-License-Identifier: MIT */
/* times.c - sums of each thread. */
#include "gpu/times.h"

#include "base/clock.h"
#include "base/lock.h"

_Thread_local struct takt_device_times takt__device_times;

void takt__device_lock(pthread_mutex_t *lock)
{
    if (takt__trylock(lock))
        return;
    const uint64_t start = takt__ticks();
    takt__lock(lock);
    takt__device_times.waited += takt__ticks() - start;
}
