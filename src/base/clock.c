/* SPDX-License-Identifier: MIT */
/* clock.c - how long a tick is. */
#include "base/clock.h"

#include <pthread.h>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

bool takt__has_counter;

static double seconds_per_tick = 1e-9;
static uint64_t anchor_ticks, anchor_ns;
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* Whether the counter runs at one rate whatever the processor does. */
static bool is_constant(void)
{
#if defined(__x86_64__)
    unsigned a, b, c, d;

    return __get_cpuid(0x80000007, &a, &b, &c, &d) != 0 && (d >> 8 & 1) != 0;
#else
    return false;
#endif
}

/* Both clocks, a fifth of a millisecond apart: reading them takes 30 ns or so,
 * so the rate is right within a few parts in ten thousand. */
static void start(void)
{
    enum { apart_ns = 200000 };

    if (!is_constant()) {
        anchor_ticks = anchor_ns = takt__now_ns();
        return;
    }
    takt__has_counter = true;
    const uint64_t first_ns = takt__now_ns(), first = takt__ticks();
    do {
        anchor_ns = takt__now_ns();
        anchor_ticks = takt__ticks();
    } while (anchor_ns - first_ns < apart_ns);
    seconds_per_tick =
        (double)(anchor_ns - first_ns) * 1e-9 / (double)(anchor_ticks - first);
}

void takt__clock_start(void)
{
    pthread_once(&once, start);
}

double takt__seconds_per_tick(void)
{
    return seconds_per_tick;
}

uint64_t takt__ns_at(uint64_t ticks)
{
    const double since = (double)(int64_t)(ticks - anchor_ticks);
    return anchor_ns + (uint64_t)(int64_t)(since * seconds_per_tick * 1e9);
}
