/* SPDX-License-Identifier: MIT */
/*
 * layers.cu - convolution, as a product whose second operand is read straight
 * out of the images, and attention.
 */
#include "cuda/device/attention.cuh"
#include "cuda/device/tile.cuh"

/* ---- convolution ------------------------------------------------------------
 */

/* Sizes as the kernels use them; they fit 32 bits, see compute.c. */
struct convolution {
    int height, width, rows, cols, stride, pad;
    int down, across; /* of the output */
    unsigned channels, filters, groups;

    __device__ __forceinline__ convolution(const args_t &args)
    {
        channels = (unsigned)args.dim[1];
        height = (int)args.dim[2];
        width = (int)args.dim[3];
        filters = (unsigned)args.dim[4];
        rows = (int)args.dim[5];
        cols = (int)args.dim[6];
        stride = (int)args.dim[7];
        pad = (int)args.dim[8];
        groups = (unsigned)args.dim[9];
        down = (height + 2 * pad - rows) / stride + 1;
        across = (width + 2 * pad - cols) / stride + 1;
    }
};

/* A tap of a filter: element `p` of the sum. */
struct tap {
    int channel, row, col;

    __device__ __forceinline__ tap(const convolution &is, unsigned p)
    {
        channel = (int)(p / (unsigned)(is.rows * is.cols));
        row = (int)(p / (unsigned)is.cols) % is.rows;
        col = (int)(p % (unsigned)is.cols);
    }
    __device__ __forceinline__ void advance(const convolution &is,
                                            const tap &by)
    {
        col += by.col;
        row += by.row + (col >= is.cols ? 1 : 0);
        col -= col >= is.cols ? is.cols : 0;
        channel += by.channel + (row >= is.rows ? 1 : 0);
        row -= row >= is.rows ? is.rows : 0;
    }
};

/* Sixteen threads share a row of the panel, that is a tap, and are side by side
 * in it, so that their loads are neighbours. */
template <class S> struct image_panel {
    enum { each = S::side / 16, nowhere = -32768 };
    const convolution &is;
    const float *image;
    tap at, step;
    int corner[each]; /* of the windows: y in the upper half, and x */
    float held[each];

    __device__ __forceinline__ image_panel(const convolution &is_,
                                           const float *image_, unsigned first,
                                           unsigned p)
        : is(is_), image(image_), at(is_, p + threadIdx.x / 16), step(is_, deep)
    {
        const unsigned places = (unsigned)is.down * (unsigned)is.across;
#pragma unroll
        for (int i = 0; i < each; i++) {
            const unsigned place = first + threadIdx.x % 16 + i * 16;
            const int v = (int)(place / (unsigned)is.across);
            const int u = (int)(place % (unsigned)is.across);
            const int y = place < places ? v * is.stride - is.pad : nowhere;
            corner[i] =
                (int)((unsigned)y << 16) | ((u * is.stride - is.pad) & 0xFFFF);
        }
    }
    /* Called for one panel after the other. */
    __device__ __forceinline__ void fetch(uint64_t k, uint64_t k_end)
    {
        const bool is_there = k + threadIdx.x / 16 < k_end;
        const float *plane =
            image + (uint64_t)(unsigned)at.channel * is.height * is.width;
#pragma unroll
        for (int i = 0; i < each; i++) {
            const int v = (corner[i] >> 16) + at.row;
            const int u = (short)corner[i] + at.col;
            const bool is_inside = is_there &&
                                   (unsigned)v < (unsigned)is.height &&
                                   (unsigned)u < (unsigned)is.width;
            held[i] = is_inside ? plane[v * is.width + u] : 0.0F;
        }
        at.advance(is, step);
    }
    __device__ __forceinline__ void put(typename S::panel &panel) const
    {
#pragma unroll
        for (int i = 0; i < each; i++)
            panel[threadIdx.x / 16][threadIdx.x % 16 + i * 16] = held[i];
    }
};

template <class S>
__device__ __forceinline__ void
store_places(const sums<S> &sum, float *out, unsigned filter, unsigned filters,
             unsigned place, unsigned places, const float *bias)
{
    const unsigned down = threadIdx.x / S::threads_across;
    const unsigned across = threadIdx.x % S::threads_across;

#pragma unroll
    for (int i = 0; i < S::each; i++) {
        const unsigned f = filter + place_of<S>(down, i);
        if (f >= filters)
            continue;
        const float plus = bias == nullptr ? 0.0F : bias[f];
#pragma unroll
        for (int j = 0; j < S::each; j++) {
            const unsigned at = place + place_of<S>(across, j);
            if (at < places)
                out[(uint64_t)f * places + at] =
                    bias == nullptr ? sum.of[i][j] : sum.of[i][j] + plus;
        }
    }
}

/* A product for each image and group: filters times the places they are put
 * on. */
template <class S> __device__ __forceinline__ void convolve(const args_t &args)
{
    const convolution is(args);
    const unsigned filters = is.filters / is.groups;
    const unsigned depth = is.channels / is.groups;
    const unsigned places = (unsigned)is.down * (unsigned)is.across;
    const unsigned k = depth * (unsigned)is.rows * (unsigned)is.cols;
    const tile_at at = find_tile(blockIdx.x, (filters + S::side - 1) / S::side,
                                 (places + S::side - 1) / S::side);
    const unsigned image = at.batch / is.groups, group = at.batch % is.groups;
    const unsigned filter = (unsigned)at.row * S::side;
    const unsigned place = (unsigned)at.col * S::side;
    const unsigned from = blockIdx.y * args.cut[1];
    const unsigned to = from + args.cut[1];
    matrix_panel<S> left(
        {pointer<const float>(args.in[1]) + (uint64_t)group * filters * k, k,
         true},
        filter, filters);
    image_panel<S> right(is,
                         pointer<const float>(args.in[0]) +
                             ((uint64_t)image * is.channels + group * depth) *
                                 is.height * is.width,
                         place, from);
    sums<S> sum;

    multiply_panels<S>(left, right, from, to < k ? to : k, sum);
    if (add_pieces<S>(args, blockIdx.x, blockIdx.y, args.cut[0], sum))
        store_places<S>(sum,
                        pointer<float>(args.out) +
                            ((uint64_t)image * is.filters + group * filters) *
                                places,
                        filter, filters, place, places,
                        (args.has & 4) != 0
                            ? pointer<const float>(args.in[2]) + group * filters
                            : nullptr);
}

extern "C" __global__ void __launch_bounds__(tile_threads, 2)
    takt_conv2d_f32(const __grid_constant__ args_t args)
{
    convolve<tile<float, TAKT_CUDA_GEMM_SIDE>>(args);
}

extern "C" __global__ void __launch_bounds__(tile_threads, 3)
    takt_conv2d_f32_small(const __grid_constant__ args_t args)
{
    convolve<tile<float, TAKT_CUDA_GEMM_SMALL_SIDE>>(args);
}

/* One element of the output: filter `weights` at (y, x) of the padded image. */
__device__ __forceinline__ float window_sum(const args_t &args,
                                            const float *image,
                                            const float *weights, uint64_t y,
                                            uint64_t x)
{
    const uint64_t height = args.dim[2], width = args.dim[3];
    const uint64_t depth = args.dim[1] / args.dim[9], pad = args.dim[8];
    float sum = 0.0F;

    for (uint64_t c = 0; c < depth; c++, image += height * width)
        for (uint64_t r = 0; r < args.dim[5]; r++)
            for (uint64_t s = 0; s < args.dim[6]; s++) {
                const uint64_t v = y + r - pad, u = x + s - pad;
                const float at =
                    v < height && u < width ? image[v * width + u] : 0.0F;
                sum = fmaf(*weights++, at, sum);
            }
    return sum;
}

extern "C" __global__ void __launch_bounds__(TAKT_CUDA_LAYER_THREADS)
    takt_conv2d_f32_direct(const __grid_constant__ args_t args)
{
    const uint64_t stride = args.dim[7], filters = args.dim[4];
    const uint64_t down =
        (args.dim[2] + 2 * args.dim[8] - args.dim[5]) / stride + 1;
    const uint64_t across =
        (args.dim[3] + 2 * args.dim[8] - args.dim[6]) / stride + 1;
    const uint64_t outputs = args.dim[0] * filters * down * across;
    const uint64_t depth = args.dim[1] / args.dim[9];
    uint64_t at = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;

    for (; at < outputs; at += (uint64_t)gridDim.x * blockDim.x) {
        const uint64_t row = at / across, plane = row / down;
        const uint64_t image = plane / filters, filter = plane % filters;
        const uint64_t group = filter / (filters / args.dim[9]);
        const float sum =
            window_sum(args,
                       pointer<const float>(args.in[0]) +
                           (image * args.dim[1] + group * depth) * args.dim[2] *
                               args.dim[3],
                       pointer<const float>(args.in[1]) +
                           filter * depth * args.dim[5] * args.dim[6],
                       row % down * stride, at % across * stride);
        pointer<float>(args.out)[at] =
            (args.has & 4) != 0 ? sum + pointer<const float>(args.in[2])[filter]
                                : sum;
    }
}

/* ---- attention --------------------------------------------------------------
 */

extern "C" __global__ void __launch_bounds__(256, 2)
    takt_attention_f32(const __grid_constant__ args_t args)
{
    attend<1>(args);
}

extern "C" __global__ void __launch_bounds__(256, 2)
    takt_attention_f32_deep(const __grid_constant__ args_t args)
{
    attend<2>(args);
}

extern "C" __global__ void __launch_bounds__(TAKT_CUDA_LAYER_THREADS)
    takt_attention_f32_each(const __grid_constant__ args_t args)
{
    attend_each(args);
}
