/* SPDX-License-Identifier: MIT */
/*
 * rows.cu - softmax and layernorm of rows, transposes and pooling.
 *
 * A row is read once and kept in registers: a short one by some lanes of a
 * warp, a longer one by a block, in vectors of 16 bytes where it lies at such
 * addresses. What is too long for a block is read again for each step. Sums are
 * added up in double. The output may be the input.
 */
#include "cuda/device/common.cuh"

enum { most_warps = 32, kept = TAKT_CUDA_SHORT_ROW / 32 };

/* Whether all rows of operands lie at whole vectors. */
__device__ __forceinline__ bool in_vectors(const args_t &args)
{
    uint64_t low = args.in[0] | args.out | args.dim[1] * sizeof(float);

    if ((args.has & 2) != 0)
        low |= args.in[1];
    if ((args.has & 4) != 0)
        low |= args.in[2];
    return low % 16 == 0;
}

/* The threads that keep a row: some lanes of a warp, or the whole block. */
template <int count> struct lanes {
    static __device__ __forceinline__ unsigned index()
    {
        return threadIdx.x % count;
    }
    static __device__ __forceinline__ unsigned threads()
    {
        return count;
    }
    __device__ __forceinline__ float max(float mine)
    {
        return max_lanes<count>(mine);
    }
    __device__ __forceinline__ double sum(double mine)
    {
        return sum_lanes<count>(mine);
    }
};

struct block {
    float *room;
    double *wide_room;

    static __device__ __forceinline__ unsigned index()
    {
        return threadIdx.x;
    }
    static __device__ __forceinline__ unsigned threads()
    {
        return blockDim.x;
    }
    __device__ __forceinline__ float max(float mine)
    {
        return max_block(mine, room);
    }
    __device__ __forceinline__ double sum(double mine)
    {
        return sum_block(mine, wide_room);
    }
};

/* A row of at most so many vectors for each of the threads that keep it. */
template <int vectors> struct row {
    pack<float> part[vectors];
    unsigned cols, first, step; /* elements */

    template <class Threads>
    __device__ __forceinline__ row(const float *x, unsigned cols, Threads)
        : cols(cols), first(Threads::index() * 4), step(Threads::threads() * 4)
    {
#pragma unroll
        for (int v = 0; v < vectors; v++)
            if (has(v))
                part[v] = load_pack(x + at(v));
    }
    __device__ __forceinline__ unsigned at(int v) const
    {
        return first + v * step;
    }
    __device__ __forceinline__ bool has(int v) const
    {
        return at(v) < cols;
    }
};

/* ---- softmax ---------------------------------------------------------------
 */

template <int vectors, class Threads>
__device__ __forceinline__ void softmax_kept(const float *x, float *y,
                                             unsigned cols, Threads threads)
{
    row<vectors> row(x, cols, threads);
    float most = -INFINITY;
    double sum = 0.0;

#pragma unroll
    for (int v = 0; v < vectors; v++)
        if (row.has(v)) {
            const float *e = row.part[v].element;
            most = fmaxf(most, fmaxf(fmaxf(e[0], e[1]), fmaxf(e[2], e[3])));
        }
    most = threads.max(most);
#pragma unroll
    for (int v = 0; v < vectors; v++)
        if (row.has(v)) {
            float *e = row.part[v].element;
#pragma unroll
            for (int i = 0; i < 4; i++)
                e[i] = exp_of(e[i] - most);
            sum += (double)((e[0] + e[1]) + (e[2] + e[3]));
        }
    const float share = (float)inverse_of(threads.sum(sum));
#pragma unroll
    for (int v = 0; v < vectors; v++)
        if (row.has(v)) {
#pragma unroll
            for (int i = 0; i < 4; i++)
                row.part[v].element[i] *= share;
            store_pack(y + row.at(v), row.part[v]);
        }
}

/* Of any length and at any address. */
__device__ __forceinline__ void softmax_long(const float *x, float *y,
                                             uint64_t cols, block threads)
{
    float most = -INFINITY;
    double sum = 0.0;

#pragma unroll 4
    for (uint64_t j = threadIdx.x; j < cols; j += blockDim.x)
        most = fmaxf(most, x[j]);
    most = threads.max(most);
#pragma unroll 4
    for (uint64_t j = threadIdx.x; j < cols; j += blockDim.x)
        sum += (double)exp_of(x[j] - most);
    const float share = (float)(1.0 / threads.sum(sum));
#pragma unroll 4
    for (uint64_t j = threadIdx.x; j < cols; j += blockDim.x)
        y[j] = exp_of(x[j] - most) * share;
}

extern "C" __global__ void __launch_bounds__(1024)
    takt_softmax_f32(const __grid_constant__ args_t args)
{
    __shared__ float room[most_warps];
    __shared__ double wide_room[most_warps];
    const block threads = {room, wide_room};
    const uint64_t cols = args.dim[1];
    const bool is_kept =
        in_vectors(args) && cols <= blockDim.x * TAKT_CUDA_ROW_VECTORS * 4;

    for (uint64_t at = blockIdx.x; at < args.dim[0]; at += gridDim.x) {
        const float *x = pointer<const float>(args.in[0]) + at * cols;
        float *y = pointer<float>(args.out) + at * cols;
        if (is_kept)
            softmax_kept<TAKT_CUDA_ROW_VECTORS>(x, y, (unsigned)cols, threads);
        else
            softmax_long(x, y, cols, threads);
    }
}

/* Elements of a row beyond its end count as -inf. */
__device__ __forceinline__ void softmax_elements(const float *x, float *y,
                                                 unsigned cols)
{
    const unsigned lane = threadIdx.x % 32;
    float part[kept];
    float most = -INFINITY;
    double sum = 0.0;

#pragma unroll
    for (int k = 0; k < kept; k++)
        if (k * 32 < cols) {
            const unsigned j = k * 32 + lane;
            part[k] = j < cols ? x[j] : -INFINITY;
            most = fmaxf(most, part[k]);
        }
    most = max_lanes<32>(most);
#pragma unroll
    for (int k = 0; k < kept; k++)
        if (k * 32 < cols) {
            part[k] = k * 32 + lane < cols ? exp_of(part[k] - most) : 0.0F;
            sum += (double)part[k];
        }
    const float share = (float)(1.0 / sum_lanes<32>(sum));
#pragma unroll
    for (int k = 0; k < kept; k++)
        if (k * 32 + lane < cols)
            y[k * 32 + lane] = part[k] * share;
}

struct softmax {
    const args_t &args;

    template <int vectors, class Threads>
    __device__ __forceinline__ void in_vectors(const float *x, float *y,
                                               Threads threads) const
    {
        softmax_kept<vectors>(x, y, (unsigned)args.dim[1], threads);
    }
    __device__ __forceinline__ void in_elements(const float *x, float *y) const
    {
        softmax_elements(x, y, (unsigned)args.dim[1]);
    }
};

/* Every row of the call, `count` lanes each. All lanes of a warp take part in
 * the sums, so those without a row do the warp's first again. */
template <int count, int vectors, class F>
__device__ __forceinline__ void each_row(const args_t &args, const F &f)
{
    enum { in_warp = 32 / count };
    const uint64_t rows = args.dim[0], cols = args.dim[1];
    const uint64_t step = (uint64_t)gridDim.x * (blockDim.x / count);
    const unsigned mine = threadIdx.x % 32 / count;
    uint64_t first = ((uint64_t)blockIdx.x * blockDim.x + threadIdx.x) / 32 *
                     in_warp;

#pragma unroll 1
    for (; first < rows; first += step) {
        const uint64_t at = first + mine < rows ? first + mine : first;
        const float *x = pointer<const float>(args.in[0]) + at * cols;
        float *y = pointer<float>(args.out) + at * cols;
        if constexpr (vectors > 0)
            f.template in_vectors<vectors>(x, y, lanes<count>());
        else
            f.in_elements(x, y);
    }
}

/* With as many lanes for a row as compute.c says in cut[0]. */
template <class F>
__device__ __forceinline__ void short_rows(const args_t &args, const F &f)
{
    if (!in_vectors(args))
        each_row<32, 0>(args, f);
    else if (args.cut[0] == 8)
        each_row<8, 4>(args, f);
    else if (args.cut[0] == 16)
        each_row<16, 4>(args, f);
    else
        each_row<32, 8>(args, f);
}

extern "C" __global__ void __launch_bounds__(256)
    takt_softmax_f32_short(const __grid_constant__ args_t args)
{
    short_rows(args, softmax{args});
}

/* ---- layernorm -------------------------------------------------------------
 */

struct affine {
    const float *gain, *bias; /* NULL: one, zero */

    __device__ __forceinline__ affine(const args_t &args)
    {
        gain = pointer<const float>((args.has & 2) != 0 ? args.in[1] : 0);
        bias = pointer<const float>((args.has & 4) != 0 ? args.in[2] : 0);
    }
    __device__ __forceinline__ float of(double z, uint64_t j) const
    {
        const double by = gain == nullptr ? 1.0 : (double)gain[j];
        const double plus = bias == nullptr ? 0.0 : (double)bias[j];
        return (float)(z * by + plus);
    }
    /* Four at a time. */
    __device__ __forceinline__ pack<float> of(const pack<float> &z,
                                              unsigned j) const
    {
        pack<float> by, plus, y;
        by.whole = make_float4(1, 1, 1, 1);
        plus.whole = make_float4(0, 0, 0, 0);
        if (gain != nullptr)
            by = load_pack(gain + j);
        if (bias != nullptr)
            plus = load_pack(bias + j);
#pragma unroll
        for (int i = 0; i < 4; i++)
            y.element[i] =
                fmaf(z.element[i], by.element[i], plus.element[i]);
        return y;
    }
};

template <int vectors, class Threads>
__device__ __forceinline__ void
layernorm_kept(const float *x, float *y, unsigned cols, const affine &affine,
               double epsilon, Threads threads)
{
    row<vectors> row(x, cols, threads);
    /* To the last bit: it is multiplied by sums that may be large. */
    const double about = inverse_of((double)cols);
    const double each = fma(about, fma(-(double)cols, about, 1.0), about);
    double sum = 0.0, around = 0.0;

#pragma unroll
    for (int v = 0; v < vectors; v++)
        if (row.has(v))
#pragma unroll
            for (int i = 0; i < 4; i++)
                sum += (double)row.part[v].element[i];
    const double mean = threads.sum(sum) * each;
#pragma unroll
    for (int v = 0; v < vectors; v++)
        if (row.has(v))
#pragma unroll
            for (int i = 0; i < 4; i++) {
                const double apart = (double)row.part[v].element[i] - mean;
                around = fma(apart, apart, around);
            }
    const double variance = threads.sum(around) * each;
    const double inverse = inverse_root_of(variance + epsilon);
#pragma unroll
    for (int v = 0; v < vectors; v++)
        if (row.has(v)) {
            pack<float> z;
#pragma unroll
            for (int i = 0; i < 4; i++)
                z.element[i] =
                    (float)(((double)row.part[v].element[i] - mean) * inverse);
            store_pack(y + row.at(v), affine.of(z, row.at(v)));
        }
}

__device__ __forceinline__ void layernorm_long(const float *x, float *y,
                                               uint64_t cols,
                                               const affine &affine,
                                               double epsilon, block threads)
{
    double sum = 0.0, around = 0.0;

#pragma unroll 4
    for (uint64_t j = threadIdx.x; j < cols; j += blockDim.x)
        sum += (double)x[j];
    const double mean = threads.sum(sum) / (double)cols;
#pragma unroll 4
    for (uint64_t j = threadIdx.x; j < cols; j += blockDim.x) {
        const double apart = (double)x[j] - mean;
        around = fma(apart, apart, around);
    }
    const double variance = threads.sum(around) / (double)cols;
    const double inverse = 1.0 / __dsqrt_rn(variance + epsilon);
#pragma unroll 4
    for (uint64_t j = threadIdx.x; j < cols; j += blockDim.x)
        y[j] = affine.of(((double)x[j] - mean) * inverse, j);
}

extern "C" __global__ void __launch_bounds__(1024)
    takt_layernorm_f32(const __grid_constant__ args_t args)
{
    __shared__ double room[most_warps];
    const block threads = {nullptr, room};
    const uint64_t cols = args.dim[1];
    const affine affine(args);
    const bool is_kept =
        in_vectors(args) && cols <= blockDim.x * TAKT_CUDA_ROW_VECTORS * 4;

    for (uint64_t at = blockIdx.x; at < args.dim[0]; at += gridDim.x) {
        const float *x = pointer<const float>(args.in[0]) + at * cols;
        float *y = pointer<float>(args.out) + at * cols;
        if (is_kept)
            layernorm_kept<TAKT_CUDA_ROW_VECTORS>(x, y, (unsigned)cols, affine,
                                                  args.alpha, threads);
        else
            layernorm_long(x, y, cols, affine, args.alpha, threads);
    }
}

__device__ __forceinline__ void layernorm_elements(const float *x, float *y,
                                                   unsigned cols,
                                                   const affine &affine,
                                                   double epsilon)
{
    const unsigned lane = threadIdx.x % 32;
    float part[kept];
    double sum = 0.0, around = 0.0;

#pragma unroll
    for (int k = 0; k < kept; k++)
        if (k * 32 < cols) {
            part[k] = k * 32 + lane < cols ? x[k * 32 + lane] : 0.0F;
            sum += (double)part[k];
        }
    const double mean = sum_lanes<32>(sum) / (double)cols;
#pragma unroll
    for (int k = 0; k < kept; k++)
        if (k * 32 + lane < cols) {
            const double apart = (double)part[k] - mean;
            around = fma(apart, apart, around);
        }
    const double variance = sum_lanes<32>(around) / (double)cols;
    const double inverse = 1.0 / __dsqrt_rn(variance + epsilon);
#pragma unroll
    for (int k = 0; k < kept; k++)
        if (k * 32 + lane < cols)
            y[k * 32 + lane] =
                affine.of(((double)part[k] - mean) * inverse, k * 32 + lane);
}

struct layernorm {
    const args_t &args;
    affine by;

    template <int vectors, class Threads>
    __device__ __forceinline__ void in_vectors(const float *x, float *y,
                                               Threads threads) const
    {
        layernorm_kept<vectors>(x, y, (unsigned)args.dim[1], by, args.alpha,
                                threads);
    }
    __device__ __forceinline__ void in_elements(const float *x, float *y) const
    {
        layernorm_elements(x, y, (unsigned)args.dim[1], by, args.alpha);
    }
};

extern "C" __global__ void __launch_bounds__(256)
    takt_layernorm_f32_short(const __grid_constant__ args_t args)
{
    short_rows(args, layernorm{args, affine(args)});
}

/* ---- transpose -------------------------------------------------------------
 *
 * Through a square in shared memory, whose rows are one element longer so that
 * a column of it lies in all banks. */

template <class T> __device__ __forceinline__ void transpose(const args_t &args)
{
    enum { side = TAKT_CUDA_TRANSPOSE_SIDE, high = 8 };
    __shared__ T square[side][side + 1];
    const T *in = pointer<const T>(args.in[0]);
    T *out = pointer<T>(args.out);
    const uint64_t rows = args.dim[0], cols = args.dim[1];
    const uint64_t across = (cols + side - 1) / side;
    const uint64_t squares = across * ((rows + side - 1) / side);
    const unsigned x = threadIdx.x % side, y = threadIdx.x / side;

    for (uint64_t at = blockIdx.x; at < squares; at += gridDim.x) {
        const uint64_t row = at / across * side, col = at % across * side;
#pragma unroll
        for (unsigned i = y; i < side; i += high)
            if (row + i < rows && col + x < cols)
                square[i][x] = in[(row + i) * args.ld[0] + col + x];
        __syncthreads();
#pragma unroll
        for (unsigned i = y; i < side; i += high)
            if (col + i < cols && row + x < rows)
                out[(col + i) * args.ld[2] + row + x] = square[x][i];
        __syncthreads();
    }
}

extern "C" __global__ void __launch_bounds__(256)
    takt_transpose_f32(const __grid_constant__ args_t args)
{
    transpose<uint32_t>(args);
}

extern "C" __global__ void __launch_bounds__(256)
    takt_transpose_f64(const __grid_constant__ args_t args)
{
    transpose<uint64_t>(args);
}

/* ---- pooling ---------------------------------------------------------------
 */

/* The part of a window inside the image. */
struct span {
    uint64_t from, to;
};

__device__ __forceinline__ uint64_t inside(uint64_t x, uint64_t pad,
                                           uint64_t size)
{
    return x < pad ? 0 : x - pad < size ? x - pad : size;
}

__device__ __forceinline__ span span_at(uint64_t step, const args_t &args,
                                        uint64_t size)
{
    const uint64_t from = step * args.dim[5];
    return {inside(from, args.dim[6], size),
            inside(from + args.dim[4], args.dim[6], size)};
}

/* Column by column, as the definition: of equal zeros the first counts. */
__device__ __forceinline__ float most_of(const float *plane, uint64_t width,
                                         span high, span wide)
{
    float most = -INFINITY;

    for (uint64_t x = wide.from; x < wide.to; x++)
        for (uint64_t y = high.from; y < high.to; y++) {
            const float next = plane[y * width + x];
            if (next > most || next != next)
                most = next;
        }
    return most;
}

__device__ __forceinline__ float mean_of(const float *plane, uint64_t width,
                                         span high, span wide)
{
    const uint64_t count = (high.to - high.from) * (wide.to - wide.from);
    double sum = 0.0;

    for (uint64_t y = high.from; y < high.to; y++)
        for (uint64_t x = wide.from; x < wide.to; x++)
            sum += (double)plane[y * width + x];
    return (float)(sum / (double)count);
}

extern "C" __global__ void __launch_bounds__(TAKT_CUDA_LAYER_THREADS)
    takt_pooling_f32(const __grid_constant__ args_t args)
{
    const uint64_t height = args.dim[2], width = args.dim[3];
    const uint64_t padding = 2 * args.dim[6] - args.dim[4];
    const uint64_t down = (height + padding) / args.dim[5] + 1;
    const uint64_t across = (width + padding) / args.dim[5] + 1;
    const uint64_t outputs = args.dim[0] * args.dim[1] * down * across;
    uint64_t at = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;

    for (; at < outputs; at += (uint64_t)gridDim.x * blockDim.x) {
        const uint64_t row = at / across;
        const float *plane =
            pointer<const float>(args.in[0]) + row / down * height * width;
        const span high = span_at(row % down, args, height);
        const span wide = span_at(at % across, args, width);
        pointer<float>(args.out)[at] = (args.flags & TAKT_CUDA_MEAN_POOL) != 0
                                           ? mean_of(plane, width, high, wide)
                                           : most_of(plane, width, high, wide);
    }
}
