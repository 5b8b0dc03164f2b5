/* SPDX-License-Identifier: MIT */
/* clock.h - the time, and what a thread used of it. */
#pragma once

#include <stdint.h>
#include <time.h>

static inline uint64_t takt__clock_ns(clockid_t clock)
{
    struct timespec now;

    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static inline uint64_t takt__now_ns(void)
{
    return takt__clock_ns(CLOCK_MONOTONIC);
}

/* CPU time of all threads. */
static inline uint64_t takt__process_ns(void)
{
    return takt__clock_ns(CLOCK_PROCESS_CPUTIME_ID);
}

/* CPU time of the calling thread. */
static inline uint64_t takt__thread_ns(void)
{
    return takt__clock_ns(CLOCK_THREAD_CPUTIME_ID);
}
