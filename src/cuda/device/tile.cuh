/* SPDX-License-Identifier: MIT */
/*
 * tile.cuh - one block's tile of a product, side x side elements, and what
 * matrix products and convolutions have in common around it.
 *
 * Both operands go through shared memory in panels that are `deep` elements of
 * the sum deep; while one pair of panels is multiplied, the next is on its way
 * to registers. Where there are fewer tiles than the device has use for, the
 * sum is cut into pieces, each for a block of its own; the last block of a tile
 * adds the pieces up, always in the same order.
 */
#ifndef TAKT_CUDA_DEVICE_TILE_CUH
#define TAKT_CUDA_DEVICE_TILE_CUH

#include "cuda/device/common.cuh"

enum { deep = TAKT_CUDA_GEMM_DEEP, tile_threads = TAKT_CUDA_GEMM_THREADS };

/* Threads stand in a square; each has `each` x `each` elements of the tile, in
 * groups as long as a vector. */
template <class T, int side_> struct tile {
    typedef T real;
    enum {
        side = side_,
        row = side + 4, /* of a panel, with a gap against bank conflicts */
        width = vector_of<T>::width,
        threads_across = 16,
        each = side / threads_across,
        groups = each / width
    };
    typedef T panel[deep][row];
};

/* Where thread `t` of 16 has its element `i` of a tile's side. */
template <class S>
__device__ __forceinline__ unsigned place_of(unsigned t, int i)
{
    return i / S::width * (S::width * S::threads_across) + t * S::width +
           i % S::width;
}

/* ---- a matrix as an operand -------------------------------------------------
 */

/* Element (i, p), p along the sum, is at[i * ld + p] where `is_along`, else
 * at[p * ld + i]. */
template <class T> struct matrix {
    const T *at;
    uint64_t ld;
    bool is_along;
};

template <class S> struct matrix_panel {
    typedef typename S::real T;
    enum { vectors = S::side * deep / tile_threads / S::width };
    matrix<T> from;
    uint64_t first, end; /* of the outer elements */
    bool is_aligned;
    pack<T> held[vectors];

    __device__ __forceinline__ matrix_panel(const matrix<T> &matrix,
                                            uint64_t first_, uint64_t end_)
        : from(matrix), first(first_), end(end_)
    {
        is_aligned = (uint64_t)from.at % 16 == 0 && from.ld % S::width == 0;
    }
    __device__ __forceinline__ void where(int v, unsigned &outer,
                                          unsigned &p) const
    {
        const unsigned id = threadIdx.x + v * tile_threads;
        outer = from.is_along ? id / (deep / S::width)
                              : id % (S::side / S::width) * S::width;
        p = from.is_along ? id % (deep / S::width) * S::width
                          : id / (S::side / S::width);
    }
    /* What is outside is 0 on both sides and adds nothing. */
    __device__ __forceinline__ void fetch(uint64_t k, uint64_t k_end)
    {
#pragma unroll
        for (int v = 0; v < vectors; v++) {
            unsigned outer, p;
            where(v, outer, p);
            const uint64_t i = first + outer, j = k + p;
            const uint64_t left_i = i < end ? end - i : 0;
            const uint64_t left_j = j < k_end ? k_end - j : 0;
            const T *at =
                from.at + (from.is_along ? i * from.ld + j : j * from.ld + i);
            const uint64_t left = from.is_along ? (left_i > 0 ? left_j : 0)
                                                : (left_j > 0 ? left_i : 0);
            if (is_aligned && left >= S::width)
                held[v] = load_pack(at);
            else
#pragma unroll
                for (int e = 0; e < S::width; e++)
                    held[v].element[e] = e < left ? at[e] : (T)0;
        }
    }
    __device__ __forceinline__ void put(typename S::panel &panel) const
    {
#pragma unroll
        for (int v = 0; v < vectors; v++) {
            unsigned outer, p;
            where(v, outer, p);
            if (from.is_along)
#pragma unroll
                for (int e = 0; e < S::width; e++)
                    panel[p + e][outer] = held[v].element[e];
            else
                store_pack(&panel[p][outer], held[v]);
        }
    }
};

/* ---- the product of two panels ----------------------------------------------
 */

template <class S> struct sums {
    typename S::real of[S::each][S::each];
};

template <class S>
__device__ __forceinline__ void read_panel(const typename S::panel &panel,
                                           int p, unsigned t,
                                           typename S::real *to)
{
#pragma unroll
    for (int g = 0; g < S::groups; g++) {
        const pack<typename S::real> all =
            load_pack(&panel[p][place_of<S>(t, g * S::width)]);
#pragma unroll
        for (int e = 0; e < S::width; e++)
            to[g * S::width + e] = all.element[e];
    }
}

template <class S>
__device__ __forceinline__ void
multiply(const typename S::panel &a, const typename S::panel &b, unsigned down,
         unsigned across, sums<S> &sum)
{
#pragma unroll 8
    for (int p = 0; p < deep; p++) {
        typename S::real x[S::each], y[S::each];
        read_panel<S>(a, p, down, x);
        read_panel<S>(b, p, across, y);
#pragma unroll
        for (int i = 0; i < S::each; i++)
#pragma unroll
            for (int j = 0; j < S::each; j++)
                sum.of[i][j] = fused(x[i], y[j], sum.of[i][j]);
    }
}

/* Adds up k_from .. k_end - 1. A and B have fetch() and put(). */
template <class S, class A, class B>
__device__ __forceinline__ void multiply_panels(A &a, B &b, uint64_t k_from,
                                                uint64_t k_end, sums<S> &sum)
{
    __shared__ __align__(16) typename S::panel a_panel[2], b_panel[2];
    const unsigned down = threadIdx.x / S::threads_across;
    const unsigned across = threadIdx.x % S::threads_across;
    int now = 0;

#pragma unroll
    for (int i = 0; i < S::each; i++)
#pragma unroll
        for (int j = 0; j < S::each; j++)
            sum.of[i][j] = 0;
    if (k_from >= k_end)
        return;
    a.fetch(k_from, k_end);
    b.fetch(k_from, k_end);
    a.put(a_panel[0]);
    b.put(b_panel[0]);
    __syncthreads();
#pragma unroll 1
    for (uint64_t k = k_from; k < k_end; k += deep) {
        const bool has_more = k + deep < k_end;
        if (has_more) {
            a.fetch(k + deep, k_end);
            b.fetch(k + deep, k_end);
        }
        multiply<S>(a_panel[now], b_panel[now], down, across, sum);
        if (has_more) {
            a.put(a_panel[1 - now]);
            b.put(b_panel[1 - now]);
        }
        __syncthreads();
        now = 1 - now;
    }
}

/* ---- pieces of the sum ------------------------------------------------------
 */

/* Leaves this block's piece of tile `index` for the last one, and is true in
 * that one, which then has the whole sum. */
template <class S>
__device__ __forceinline__ bool add_pieces(const args_t &args, unsigned index,
                                           unsigned piece, unsigned pieces,
                                           sums<S> &sum)
{
    typedef typename S::real T;
    enum { many = S::each * S::each };
    T *all = parts<T>(args) + (uint64_t)index * pieces * many * tile_threads +
             threadIdx.x;

    if (pieces == 1)
        return true;
#pragma unroll
    for (int i = 0; i < many; i++)
        all[(piece * many + i) * tile_threads] =
            sum.of[i / S::each][i % S::each];
    if (!is_last_block(counter(args, index), pieces))
        return false;
#pragma unroll
    for (int i = 0; i < many; i++)
        sum.of[i / S::each][i % S::each] = all[i * tile_threads];
#pragma unroll 1
    for (unsigned p = 1; p < pieces; p++)
#pragma unroll
        for (int i = 0; i < many; i++)
            sum.of[i / S::each][i % S::each] +=
                all[(p * many + i) * tile_threads];
    return true;
}

/* ---- which tile
 * --------------------------------------------------------------
 */

struct tile_at {
    uint64_t row, col; /* of the tiles */
    unsigned batch;
};

/* Tiles are numbered down eight rows before the next column, so that blocks
 * that run together share operands in the cache. */
__device__ __forceinline__ tile_at find_tile(unsigned number, unsigned down,
                                             unsigned across)
{
    enum { band = 8 };
    const unsigned each = down * across;
    const unsigned at = number % each;
    const unsigned first = at / (band * across) * band;
    const unsigned high = down - first < band ? down - first : band;
    const unsigned inside = at - first * across;

    return {first + inside % high, inside / high, number / each};
}

#endif
