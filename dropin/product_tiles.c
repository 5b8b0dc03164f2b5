/* SPDX-License-Identifier: MIT */
/* product_tiles.c - compiled once for each instruction set: TAKT_ISA. */
#include "product_tiles.h"

#if defined(__AVX512F__)
enum { VECTOR_BYTES = 64, TILE_ROWS = 8, TILE_VECTORS = 3 };
#elif defined(__AVX2__)
enum { VECTOR_BYTES = 32, TILE_ROWS = 4, TILE_VECTORS = 2 };
#else
enum { VECTOR_BYTES = 16, TILE_ROWS = 4, TILE_VECTORS = 2 };
#endif

/* Loops over constants vanish: each marked loop is written out in full. */
#ifdef __clang__
#define EVERY _Pragma("clang loop unroll(full)")
#else
#define EVERY _Pragma("GCC unroll 16")
#endif

#define TYPE uint32_t
#define NAME(word_) u32_##word_
#include "product_tile.h"

#define TYPE uint64_t
#define NAME(word_) u64_##word_
#include "product_tile.h"

#define TYPE float
#define NAME(word_) f32_##word_
#include "product_tile.h"

#define TILE(type_, name_)                                                    \
    {                                                                         \
        TILE_ROWS, TILE_VECTORS *VECTOR_BYTES / sizeof(type_), sizeof(type_), \
            name_##_add                                                       \
    }
#define TILES_PASTE(isa_) takt__product_tiles_##isa_
#define TILES(isa_) TILES_PASTE(isa_)

const struct takt_product_tile TILES(TAKT_ISA)[TAKT_SUMS] = {
    [TAKT_SUM_U32] = TILE(uint32_t, u32),
    [TAKT_SUM_U64] = TILE(uint64_t, u64),
    [TAKT_SUM_F32] = TILE(float, f32)};
