/* SPDX-License-Identifier: MIT */
/*
 * rows.cu - softmax and layernorm of rows, transposes and pooling.
 *
 * A short row is kept by the 32 threads of a warp; a long one belongs to a
 * block, which reads it again for each step: it is in a cache by then. Sums are
 * added up in double. The output may be the input.
 */
#include "cuda/device/common.cuh"

enum { most_warps = 32, kept = TAKT_CUDA_SHORT_ROW / 32 };

__device__ __forceinline__ uint64_t first_short_row()
{
    return ((uint64_t)blockIdx.x * blockDim.x + threadIdx.x) / 32;
}

/* ---- softmax ---------------------------------------------------------------
 */

extern "C" __global__ void __launch_bounds__(1024)
    takt_softmax_f32(const __grid_constant__ args_t args)
{
    __shared__ float room[most_warps];
    __shared__ double wide_room[most_warps];
    const uint64_t cols = args.dim[1];

    for (uint64_t row = blockIdx.x; row < args.dim[0]; row += gridDim.x) {
        const float *x = pointer<const float>(args.in[0]) + row * cols;
        float *y = pointer<float>(args.out) + row * cols;
        float most = -INFINITY;
        double sum = 0.0;

#pragma unroll 4
        for (uint64_t j = threadIdx.x; j < cols; j += blockDim.x)
            most = fmaxf(most, x[j]);
        most = max_block(most, room);
#pragma unroll 4
        for (uint64_t j = threadIdx.x; j < cols; j += blockDim.x)
            sum += (double)exp_of(x[j] - most);
        const float share = (float)(1.0 / sum_block(sum, wide_room));
#pragma unroll 4
        for (uint64_t j = threadIdx.x; j < cols; j += blockDim.x)
            y[j] = exp_of(x[j] - most) * share;
    }
}

/* Elements of a row beyond its end count as -inf. */
__device__ __forceinline__ void softmax_short(const float *x, float *y,
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

extern "C" __global__ void __launch_bounds__(256)
    takt_softmax_f32_short(const __grid_constant__ args_t args)
{
    const uint64_t cols = args.dim[1];

    for (uint64_t row = first_short_row(); row < args.dim[0];
         row += (uint64_t)gridDim.x * (blockDim.x / 32))
        softmax_short(pointer<const float>(args.in[0]) + row * cols,
                      pointer<float>(args.out) + row * cols, (unsigned)cols);
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
};

extern "C" __global__ void __launch_bounds__(1024)
    takt_layernorm_f32(const __grid_constant__ args_t args)
{
    __shared__ double room[most_warps];
    const uint64_t cols = args.dim[1];
    const affine affine(args);

    for (uint64_t row = blockIdx.x; row < args.dim[0]; row += gridDim.x) {
        const float *x = pointer<const float>(args.in[0]) + row * cols;
        float *y = pointer<float>(args.out) + row * cols;
        double sum = 0.0, around = 0.0;

#pragma unroll 4
        for (uint64_t j = threadIdx.x; j < cols; j += blockDim.x)
            sum += (double)x[j];
        const double mean = sum_block(sum, room) / (double)cols;
#pragma unroll 4
        for (uint64_t j = threadIdx.x; j < cols; j += blockDim.x) {
            const double apart = (double)x[j] - mean;
            around = fma(apart, apart, around);
        }
        const double variance = sum_block(around, room) / (double)cols;
        const double inverse = 1.0 / __dsqrt_rn(variance + args.alpha);
#pragma unroll 4
        for (uint64_t j = threadIdx.x; j < cols; j += blockDim.x)
            y[j] = affine.of(((double)x[j] - mean) * inverse, j);
    }
}

__device__ __forceinline__ void layernorm_short(const float *x, float *y,
                                                unsigned cols, affine affine,
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

extern "C" __global__ void __launch_bounds__(256)
    takt_layernorm_f32_short(const __grid_constant__ args_t args)
{
    const uint64_t cols = args.dim[1];
    const affine affine(args);

    for (uint64_t row = first_short_row(); row < args.dim[0];
         row += (uint64_t)gridDim.x * (blockDim.x / 32))
        layernorm_short(pointer<const float>(args.in[0]) + row * cols,
                        pointer<float>(args.out) + row * cols, (unsigned)cols,
                        affine, args.alpha);
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
