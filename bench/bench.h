/* SPDX-License-Identifier: MIT */
/*
 * bench.h - timing on a machine that is never quiet.
 *
 * The shortest of many rounds is what the code costs; everything above it is
 * somebody else's. Candidates are timed in turns, so that a slow spell of the
 * machine hits all of them.
 */
#ifndef TAKT_BENCH_BENCH_H
#define TAKT_BENCH_BENCH_H

#include <time.h>

static inline double bench_now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

/* Keeps the compiler from dropping a value or moving it out of a loop. */
#define BENCH_USE(value) __asm__ volatile("" : : "g"(value) : "memory")
#define BENCH_HIDE(value) __asm__ volatile("" : "+r"(value))

#endif
