/* SPDX-License-Identifier: MIT */
/*
 * clock.h - time, read from the cheapest clock that the processor has.
 *
 * Ticks are the processor's own counter where it runs at a constant rate (9 ns
 * a reading, against 23 of clock_gettime() on the machine this was measured
 * on), and nanoseconds where it does not. They never go back.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

extern bool takt__has_counter; /* set by takt__clock_start() */

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

static inline uint64_t takt__ticks(void)
{
#if defined(__x86_64__)
    if (takt__has_counter)
        return __builtin_ia32_rdtsc(); /* <x86intrin.h> is 30,000 lines */
#endif
    return takt__now_ns();
}

/* Finds out what a tick is; takes a fraction of a millisecond the first time.
 * Nothing else of this file but takt__now_ns() may be used before. */
void takt__clock_start(void);

double takt__seconds_per_tick(void);

/* The time of CLOCK_MONOTONIC at a tick of the recent past. */
uint64_t takt__ns_at(uint64_t ticks);
