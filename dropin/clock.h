/* SPDX-License-Identifier: MIT */
/* clock.h - the time. */
#pragma once

#include <stdint.h>
#include <time.h>

static inline uint64_t takt__now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}
