/* SPDX-License-Identifier: MIT */
/*
 * product_isa.c - which tiles this processor has. __builtin_cpu_supports()
 * would add a constructor, which runs in every process.
 */
#include <stdatomic.h>

#include "product_tiles.h"

#if defined(__x86_64__)
#include <cpuid.h>

/* Registers that the system saves. */
static uint32_t saved_registers(void)
{
    uint32_t low, high;

    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return low;
}

static const struct takt_product_tile *find_tiles(void)
{
    enum { saves = 1 << 27, ymm = 0x06, zmm = 0xe6, avx2 = 1 << 5 };
    static const uint32_t avx512 = 1u << 16 | 1u << 17 | 1u << 30 | 1u << 31;
    uint32_t a, b, c, d;

    if (__get_cpuid(1, &a, &b, &c, &d) == 0 || (c & saves) == 0)
        return takt__product_tiles_base;
    const uint32_t saved = saved_registers();
    if (__get_cpuid_count(7, 0, &a, &b, &c, &d) == 0 || (saved & ymm) != ymm ||
        (b & avx2) == 0)
        return takt__product_tiles_base;
    return (saved & zmm) == zmm && (b & avx512) == avx512
               ? takt__product_tiles_avx512
               : takt__product_tiles_avx2;
}

#else

static const struct takt_product_tile *find_tiles(void)
{
    return takt__product_tiles_base;
}

#endif

const struct takt_product_tile *takt__product_tile(enum takt_sum sum)
{
    static _Atomic(const struct takt_product_tile *) found;
    const struct takt_product_tile *tiles =
        atomic_load_explicit(&found, memory_order_relaxed);

    if (tiles == NULL) {
        tiles = find_tiles();
        atomic_store_explicit(&found, tiles, memory_order_relaxed);
    }
    return &tiles[sum];
}
