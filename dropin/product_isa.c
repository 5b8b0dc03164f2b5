/* SPDX-License-Identifier: MIT */
/*
 * product_isa.c - the tiles that this processor can run.
 *
 * The compiler's own function for this would have the library get a
 * constructor, which runs in every program that it is preloaded into.
 */
#include <stdatomic.h>

#include "product_tiles.h"

#if defined(__x86_64__)
#include <cpuid.h>

/* The registers that the operating system keeps, of which YMM are bits 1 and
 * 2, and ZMM bits 5 to 7 as well. */
static unsigned kept_registers(void)
{
    unsigned a, b, c, d, low, high;

    if (__get_cpuid(1, &a, &b, &c, &d) == 0 || (c & bit_OSXSAVE) == 0)
        return 0;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return low;
}

static const struct takt_product_tile *find_tiles(void)
{
    enum { ymm = 0x06, zmm = 0xe6 };
    const unsigned wide =
        bit_AVX512F | bit_AVX512DQ | bit_AVX512BW | bit_AVX512VL;
    const unsigned kept = kept_registers();
    unsigned a, b, c, d;

    if (__get_cpuid_count(7, 0, &a, &b, &c, &d) == 0)
        return takt__product_tiles_base;
    if ((b & wide) == wide && (kept & zmm) == zmm)
        return takt__product_tiles_avx512;
    return (b & bit_AVX2) != 0 && (kept & ymm) == ymm
               ? takt__product_tiles_avx2
               : takt__product_tiles_base;
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
