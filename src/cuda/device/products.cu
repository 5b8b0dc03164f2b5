/* SPDX-License-Identifier: MIT */
/*
 * products.cu - matrix and matrix-vector products.
 *
 * Sums are added up in the dtype with fused multiply-adds. With beta == 0 the
 * old output is not read; with alpha == 0 neither operand is.
 */
#include "cuda/device/tile.cuh"

/* alpha * sum + beta * old; without a sum (`is_empty`), beta * old alone. */
template <class T> struct factors {
    T alpha, beta;
    bool is_empty;

    __device__ __forceinline__ factors(const args_t &args, uint64_t k)
        : alpha((T)args.alpha), beta((T)args.beta),
          is_empty(k == 0 || (T)args.alpha == 0)
    {
    }
    __device__ __forceinline__ void apply(T *out, T sum) const
    {
        const T old = beta == 0 ? (T)0 : beta * *out;
        *out = is_empty ? old : alpha * sum + old;
    }
};

/* ---- matrix products --------------------------------------------------------
 */

template <class S>
__device__ __forceinline__ void
store_tile(const sums<S> &sum, typename S::real *c, uint64_t ld, uint64_t row,
           uint64_t rows, uint64_t col, uint64_t cols,
           factors<typename S::real> by)
{
    typedef typename S::real T;
    const unsigned down = threadIdx.x / S::threads_across;
    const unsigned across = threadIdx.x % S::threads_across;
    const bool is_aligned = (uint64_t)c % 16 == 0 && ld % S::width == 0;

#pragma unroll
    for (int i = 0; i < S::each; i++) {
        const uint64_t y = row + place_of<S>(down, i);
        if (y >= rows)
            continue;
#pragma unroll
        for (int g = 0; g < S::groups; g++) {
            const uint64_t x = col + place_of<S>(across, g * S::width);
            T *at = c + y * ld + x;
            if (is_aligned && x + S::width <= cols) {
                pack<T> all;
                if (by.beta != 0)
                    all = load_pack(at);
#pragma unroll
                for (int e = 0; e < S::width; e++)
                    by.apply(&all.element[e], sum.of[i][g * S::width + e]);
                store_pack(at, all);
            } else {
#pragma unroll
                for (int e = 0; e < S::width; e++)
                    if (x + e < cols)
                        by.apply(at + e, sum.of[i][g * S::width + e]);
            }
        }
    }
}

/* A product for each of dim[0] where `is_batched`, else one. */
template <class S, bool is_batched>
__device__ __forceinline__ void product(const args_t &args)
{
    typedef typename S::real T;
    const uint64_t *dim = args.dim + (is_batched ? 1 : 0);
    const uint64_t m = dim[0], n = dim[1], k = dim[2];
    const bool trans_a = (args.flags & TAKT_CUDA_TRANS_A) != 0;
    const bool trans_b = (args.flags & TAKT_CUDA_TRANS_B) != 0;
    const uint64_t lds[3] = {is_batched ? k : args.ld[0],
                             is_batched ? n : args.ld[1],
                             is_batched ? n : args.ld[2]};
    const tile_at at =
        find_tile(blockIdx.x, (unsigned)((m + S::side - 1) / S::side),
                  (unsigned)((n + S::side - 1) / S::side));
    const uint64_t row = at.row * S::side, col = at.col * S::side;
    const T *a =
        pointer<const T>(args.in[0]) + (is_batched ? at.batch * m * k : 0);
    const T *b =
        pointer<const T>(args.in[1]) + (is_batched ? at.batch * k * n : 0);
    T *c = pointer<T>(args.out) + (is_batched ? at.batch * m * n : 0);
    const factors<T> by(args, k);
    const uint64_t depth = by.is_empty ? 0 : k;
    const uint64_t from = (uint64_t)blockIdx.y * args.cut[1];
    const uint64_t to = from + args.cut[1];
    matrix_panel<S> left({a, lds[0], is_batched || !trans_a}, row, m);
    matrix_panel<S> right({b, lds[1], !is_batched && trans_b}, col, n);
    sums<S> sum;

    multiply_panels<S>(left, right, from, to < depth ? to : depth, sum);
    if (add_pieces<S>(args, blockIdx.x, blockIdx.y, args.cut[0], sum))
        store_tile<S>(sum, c, lds[2], row, m, col, n, by);
}

#define PRODUCT(name, real, side, blocks, is_batched)                  \
    extern "C" __global__ void __launch_bounds__(tile_threads, blocks) \
        takt_##name(const __grid_constant__ args_t args)               \
    {                                                                  \
        product<tile<real, side>, is_batched>(args);                   \
    }

PRODUCT(matmul_f32, float, TAKT_CUDA_GEMM_SIDE, 2, false)
PRODUCT(matmul_f32_small, float, TAKT_CUDA_GEMM_SMALL_SIDE, 3, false)
PRODUCT(matmul_f64, double, TAKT_CUDA_GEMM_SMALL_SIDE, 2, false)
PRODUCT(batched_matmul_f32, float, TAKT_CUDA_GEMM_SIDE, 2, true)
PRODUCT(batched_matmul_f32_small, float, TAKT_CUDA_GEMM_SMALL_SIDE, 3, true)
PRODUCT(batched_matmul_f64, double, TAKT_CUDA_GEMM_SMALL_SIDE, 2, true)

/* ---- matrix-vector products -------------------------------------------------
 */

/* What `threads` threads with number `t` add up of a row, from..to - 1. */
template <class T>
__device__ __forceinline__ T row_sum(const T *a, const T *x, uint64_t from,
                                     uint64_t to, unsigned t, unsigned threads)
{
    enum { width = vector_of<T>::width };
    const bool is_aligned =
        ((uint64_t)(a + from) | (uint64_t)(x + from)) % 16 == 0;
    const uint64_t vectors = is_aligned ? (to - from) / width : 0;
    T sum[width] = {};

#pragma unroll 4
    for (uint64_t i = t; i < vectors; i += threads) {
        const pack<T> u = load_pack(a + from + i * width);
        const pack<T> v = load_pack(x + from + i * width);
#pragma unroll
        for (int e = 0; e < width; e++)
            sum[e] = fused(u.element[e], v.element[e], sum[e]);
    }
#pragma unroll 4
    for (uint64_t i = from + vectors * width + t; i < to; i += threads)
        sum[0] = fused(a[i], x[i], sum[0]);
#pragma unroll
    for (int e = 1; e < width; e++)
        sum[0] += sum[e];
    return sum[0];
}

/* Rows of A; cut[0] threads for each (a warp or the block), cut[1] pieces. */
template <class T> __device__ __forceinline__ void gemv(const args_t &args)
{
    enum { warps = TAKT_CUDA_GEMV_THREADS / 32 };
    __shared__ T room[warps];
    const uint64_t m = args.dim[0], n = args.dim[1];
    const factors<T> by(args, n);
    const unsigned threads = args.cut[0], pieces = args.cut[1];
    const unsigned rows = TAKT_CUDA_GEMV_THREADS / threads;
    const unsigned t = threadIdx.x % threads;
    const uint64_t row = (uint64_t)blockIdx.x * rows + threadIdx.x / threads;
    const uint64_t each = ((n + pieces - 1) / pieces + 3) / 4 * 4;
    const uint64_t from = blockIdx.y * each;
    const uint64_t to = from + each < n ? from + each : n;
    const bool is_real = row < m && !by.is_empty && from < to;
    T *y = pointer<T>(args.out);
    T *part = parts<T>(args);
    T sum = 0;

    if (is_real)
        sum = row_sum(pointer<const T>(args.in[0]) + row * args.ld[0],
                      pointer<const T>(args.in[1]), from, to, t, threads);
    sum = threads == 32 ? sum_lanes<32>(sum) : sum_block(sum, room);
    if (pieces > 1) {
        if (t == 0 && row < m)
            part[row * pieces + blockIdx.y] = sum;
        if (!is_last_block(counter(args, blockIdx.x), pieces))
            return;
        sum = 0;
        for (unsigned i = 0; i < pieces && t == 0 && row < m; i++)
            sum += part[row * pieces + i];
    }
    if (t == 0 && row < m)
        by.apply(y + row, sum);
}

/* Columns of A: each warp of a block takes other rows of the same 32 columns;
 * cut[1] pieces of the rows. */
template <class T>
__device__ __forceinline__ void gemv_trans(const args_t &args)
{
    enum { warps = TAKT_CUDA_GEMV_THREADS / 32, wide = TAKT_CUDA_GEMV_COLUMNS };
    __shared__ T room[warps][wide];
    const uint64_t m = args.dim[0], n = args.dim[1], ld = args.ld[0];
    const factors<T> by(args, m);
    const unsigned pieces = args.cut[1], lane = threadIdx.x % 32;
    const uint64_t col = (uint64_t)blockIdx.x * wide + lane;
    const uint64_t each = (m + pieces - 1) / pieces;
    const uint64_t from = blockIdx.y * each;
    const uint64_t to = from + each < m ? from + each : m;
    const T *a = pointer<const T>(args.in[0]) + col;
    const T *x = pointer<const T>(args.in[1]);
    T *part = parts<T>(args);
    T sum = 0;

    if (col < n && !by.is_empty)
#pragma unroll 8
        for (uint64_t i = from + threadIdx.x / 32; i < to; i += warps)
            sum = fused(a[i * ld], x[i], sum);
    room[threadIdx.x / 32][lane] = sum;
    __syncthreads();
    if (threadIdx.x < 32)
        for (int w = 1; w < warps; w++)
            sum += room[w][lane];
    if (pieces > 1) {
        if (threadIdx.x < 32 && col < n)
            part[blockIdx.y * n + col] = sum;
        if (!is_last_block(counter(args, blockIdx.x), pieces))
            return;
        sum = 0;
        for (unsigned i = 0; i < pieces && threadIdx.x < 32 && col < n; i++)
            sum += part[i * n + col];
    }
    if (threadIdx.x < 32 && col < n)
        by.apply(pointer<T>(args.out) + col, sum);
}

#define GEMV(dtype, real)                                                \
    extern "C" __global__ void __launch_bounds__(TAKT_CUDA_GEMV_THREADS) \
        takt_gemv_##dtype(const __grid_constant__ args_t args)           \
    {                                                                    \
        gemv<real>(args);                                                \
    }                                                                    \
    extern "C" __global__ void __launch_bounds__(TAKT_CUDA_GEMV_THREADS) \
        takt_gemv_##dtype##_trans(const __grid_constant__ args_t args)   \
    {                                                                    \
        gemv_trans<real>(args);                                          \
    }

GEMV(f32, float)
GEMV(f64, double)
