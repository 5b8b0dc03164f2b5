/* SPDX-License-Identifier: MIT */
/*
 * random.h - repeatable random numbers for property tests (splitmix64).
 */
#pragma once

#include <math.h>
#include <stddef.h>
#include <stdint.h>

static inline uint64_t random_next(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9E3779B97F4A7C15);

    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return z ^ (z >> 31);
}

/* Between 0 and 1. */
static inline double random_unit(uint64_t *state)
{
    return (double)(random_next(state) >> 11) * 0x1p-53;
}

/* As likely in each power of ten between 10^low and 10^high. */
static inline double random_real(uint64_t *state, double low, double high)
{
    return pow(10, low + (high - low) * random_unit(state));
}

/* As likely in each power of two. */
static inline size_t random_size(uint64_t *state)
{
    const unsigned shift = (unsigned)(random_next(state) % 64);
    return (size_t)(random_next(state) >> shift);
}
