/* SPDX-License-Identifier: MIT */
/* wait.c - the clock of a channel, and waiting by it. */
#include "inside.h"

#include <time.h>

uint64_t takt__otel_now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

void takt__otel_wait(pthread_cond_t *condition, pthread_mutex_t *lock,
                     uint64_t until_ns)
{
    const uint64_t second = 1000000000;
    const struct timespec until = {.tv_sec = (time_t)(until_ns / second),
                                   .tv_nsec = (long)(until_ns % second)};

    if (until_ns == UINT64_MAX)
        pthread_cond_wait(condition, lock);
    else
        pthread_cond_timedwait(condition, lock, &until);
}
