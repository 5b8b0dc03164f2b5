/* SPDX-License-Identifier: MIT */
/*
 * transpose_body.h - out of place, tile by tile.
 *
 * Included by transpose_f32.c and transpose_f64.c, after f32.h or f64.h.
 *
 * A tile is a square of vectors turned round in registers. Tiles are taken
 * down a strip as wide as a tile, so that what is written runs along the rows
 * of `out`; a strip ends after 256 rows, while their pages are still in the
 * TLB for the next one. The _nt variant writes past the caches where a row of
 * a tile is a cache line, and is the same as the plain one elsewhere.
 */
#include "base/size.h"
#include "kernels/kernel.h"

enum { TRANSPOSE_ROWS = 256 }; /* best of 16..1024 for 64..4096 squared */

struct transpose {
    size_t rows, cols;
    const REAL *in;
    size_t ld_in;
    REAL *out;
    size_t ld_out;
};

/* One tile of LANES x LANES. */
VINLINE void tile(const REAL *in, size_t ld_in, REAL *out, size_t ld_out,
                  bool streams)
{
    VREAL v[LANES];

    for (size_t i = 0; i < LANES; i++)
        v[i] = V(load)(in + i * ld_in);
    V(transpose)(v);
    for (size_t j = 0; j < LANES; j++)
        if (streams)
            V(stream)(out + j * ld_out, v[j]);
        else
            V(store)(out + j * ld_out, v[j]);
}

/* rows >= LANES, cols >= LANES. What does not fill a tile is covered by one
 * that overlaps its neighbour: the same values are written twice. */
VINLINE void tiles(struct transpose x, bool streams)
{
    for (size_t top = 0; top < x.rows; top += TRANSPOSE_ROWS) {
        const size_t bottom = takt__size_min(top + TRANSPOSE_ROWS, x.rows);
        for (size_t left = 0; left < x.cols; left += LANES) {
            const size_t j = takt__size_min(left, x.cols - LANES);
            for (size_t i = top; i < bottom; i += LANES) {
                const size_t k = takt__size_min(i, x.rows - LANES);
                tile(x.in + k * x.ld_in + j, x.ld_in, x.out + j * x.ld_out + k,
                     x.ld_out, streams);
            }
        }
    }
}

/* A tile of which only rows <= LANES and cols <= LANES are there. */
static void part(size_t rows, size_t cols, const REAL *in, size_t ld_in,
                 REAL *out, size_t ld_out)
{
    VREAL v[LANES];

    for (size_t i = 0; i < LANES; i++)
        v[i] = i < rows ? V(load_n)(in + i * ld_in, cols) : V(zero)();
    V(transpose)(v);
    for (size_t j = 0; j < LANES; j++)
        if (j < cols)
            V(store_n)(out + j * ld_out, v[j], rows);
}

/* Two or three rows, a constant: there is little to turn, and the compiler
 * knows how to interleave so few if they lie without gaps. */
VINLINE void few_rows(size_t rows, struct transpose x, size_t ld_out)
{
    const REAL *restrict in = x.in;
    REAL *restrict out = x.out;

    for (size_t j = 0; j < x.cols; j++)
        for (size_t i = 0; i < rows; i++)
            out[j * ld_out + i] = in[i * x.ld_in + j];
}

static void interleave(struct transpose x)
{
    if (x.rows == 2 && x.ld_out == 2)
        few_rows(2, x, 2);
    else if (x.rows == 2)
        few_rows(2, x, x.ld_out);
    else if (x.ld_out == 3)
        few_rows(3, x, 3);
    else
        few_rows(3, x, x.ld_out);
}

/* Fewer rows or fewer columns than a tile. */
VINLINE void thin(struct transpose x)
{
    for (size_t i = 0; i < x.rows; i += LANES)
        for (size_t j = 0; j < x.cols; j += LANES)
            part(takt__size_min(x.rows - i, LANES),
                 takt__size_min(x.cols - j, LANES), x.in + i * x.ld_in + j,
                 x.ld_in, x.out + j * x.ld_out + i, x.ld_out);
}

VINLINE void run(struct transpose x, bool streams)
{
    if (x.rows == 2 || x.rows == 3)
        interleave(x);
    else if (x.rows < LANES || x.cols < LANES)
        thin(x);
    else
        tiles(x, streams);
}

/* Streaming needs every store to be a whole, aligned cache line. */
VINLINE bool can_stream(struct transpose x)
{
    return sizeof(VREAL) == 64 && x.rows % LANES == 0 &&
           x.ld_out % LANES == 0 && (uintptr_t)x.out % sizeof(VREAL) == 0;
}

takt_transpose_kernel TAKT_K(F(transpose)), TAKT_K_NT(F(transpose));

void TAKT_K(F(transpose))(size_t rows, size_t cols, const void *in,
                          size_t ld_in, void *out, size_t ld_out)
{
    const struct transpose x = {rows, cols, in, ld_in, out, ld_out};
    run(x, false);
}

void TAKT_K_NT(F(transpose))(size_t rows, size_t cols, const void *in,
                             size_t ld_in, void *out, size_t ld_out)
{
    const struct transpose x = {rows, cols, in, ld_in, out, ld_out};

    if (!can_stream(x)) {
        run(x, false);
        return;
    }
    run(x, true);
    v_fence();
}
