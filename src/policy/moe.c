/* SPDX-License-Identifier: MIT */
/* moe.c - routing by complexity and number of elements. */
#include "takt/policy.h"

/* Above which the backend is taken; GPU is asked first. */
static const struct {
    size_t simd, gpu;
} above[] = {
    [TAKT_COMPLEXITY_LOW] = {.simd = 1000000, .gpu = SIZE_MAX},
    [TAKT_COMPLEXITY_MEDIUM] = {.simd = 10000, .gpu = 100000},
    [TAKT_COMPLEXITY_HIGH] = {.simd = 1000, .gpu = 10000},
};

takt_backend takt_moe_select(takt_complexity complexity, size_t elements)
{
    if ((unsigned)complexity > TAKT_COMPLEXITY_HIGH)
        return TAKT_BACKEND_SCALAR;
    if (elements > above[complexity].gpu)
        return TAKT_BACKEND_GPU;
    if (elements > above[complexity].simd)
        return TAKT_BACKEND_SIMD;
    return TAKT_BACKEND_SCALAR;
}

size_t takt_moe_threshold(takt_complexity complexity, takt_backend backend)
{
    if (backend == TAKT_BACKEND_SCALAR)
        return 0;
    if ((unsigned)complexity > TAKT_COMPLEXITY_HIGH)
        return SIZE_MAX;
    return backend == TAKT_BACKEND_GPU ? above[complexity].gpu
                                       : above[complexity].simd;
}
