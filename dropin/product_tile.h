/* SPDX-License-Identifier: MIT */
/*
 * product_tile.h - the innermost part of a product of integers or halves: a
 * tile of the sums stays in registers for some steps.
 *
 * Sums are added up one step after the other, without fused operations, as
 * NumPy's own loop does: floats get the same bits.
 *
 * Included by product_tiles.c for each type of sums: TYPE, and NAME(word).
 */

typedef TYPE NAME(vector) __attribute__((vector_size(VECTOR_BYTES),
                                         aligned(sizeof(TYPE)), may_alias));

static void NAME(add)(size_t steps, const void *left, const void *right,
                      void *sums, size_t stride)
{
    enum { lanes = VECTOR_BYTES / sizeof(TYPE) };
    const TYPE *a = left;
    const NAME(vector) *b = right;
    NAME(vector) sum[TILE_ROWS][TILE_VECTORS];

    EVERY for (size_t i = 0; i < TILE_ROWS; i++)
        EVERY for (size_t v = 0; v < TILE_VECTORS; v++) sum[i][v] =
            *(const NAME(vector) *)((TYPE *)sums + i * stride + v * lanes);
    for (size_t step = 0; step < steps; step++) {
        EVERY for (size_t i = 0; i < TILE_ROWS; i++)
            EVERY for (size_t v = 0; v < TILE_VECTORS; v++) sum[i][v] +=
            b[v] * a[i];
        a += TILE_ROWS;
        b += TILE_VECTORS;
    }
    EVERY for (size_t i = 0; i < TILE_ROWS; i++)
            EVERY for (size_t v = 0; v < TILE_VECTORS; v++) *
        (NAME(vector) *)((TYPE *)sums + i * stride + v * lanes) = sum[i][v];
}

#undef TYPE
#undef NAME
