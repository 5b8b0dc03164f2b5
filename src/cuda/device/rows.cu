/* SPDX-License-Identifier: MIT */
/*
 * rows.cu - softmax and layernorm of rows, transposes and pooling.
 *
 * A row is read once and kept in registers: a short one by some lanes of a
 * warp, a longer one by a block, in vectors of 16 bytes where it lies at such
 * addresses. What is too much for a block is read again for each step, mostly
 * out of the cache; so is all of a row that does not lie in vectors. Sums are
 * added up in double. The output may be the input.
 */
#include "cuda/device/common.cuh"

enum { most_warps = TAKT_CUDA_ROW_THREADS / 32, kept = TAKT_CUDA_SHORT_ROW / 32 };

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
    enum { is_block = 0 };
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
    /* Whether some row of the warp is so: all lanes take part in sums. */
    static __device__ __forceinline__ bool any(bool is_mine)
    {
        return __any_sync(0xFFFFFFFFu, is_mine);
    }
};

struct block {
    enum { is_block = 1 };
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
    static __device__ __forceinline__ bool any(bool is_mine)
    {
        return is_mine;
    }
};

/* A row, of which each of the threads keeps so many vectors: all of it if they
 * are lanes. */
template <int vectors, class Threads> struct row {
    pack<float> part[vectors];
    const float *x;
    unsigned cols, first, step; /* elements */

    __device__ __forceinline__ row(const float *x, unsigned cols)
        : x(x), cols(cols), first(Threads::index() * 4),
          step(Threads::threads() * 4)
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
    /* f(vector, where) for all of a thread's. */
    template <class F> __device__ __forceinline__ void each(const F &f)
    {
#pragma unroll
        for (int v = 0; v < vectors; v++)
            if (has(v))
                f(part[v], at(v));
        if constexpr (Threads::is_block) {
#pragma unroll 4
            for (unsigned j = at(vectors); j < cols; j += step) {
                pack<float> more = load_pack(x + j);
                f(more, j);
            }
        }
    }
};

/* ---- softmax ---------------------------------------------------------------
 */

/* exp(x) for x <= 0 or NaN, to 4 units in the last place: that of 2^x that a
 * device has, and what the product with log2(e) loses. */
__device__ __forceinline__ float exp_below(float x)
{
    const float log2_e = 0x1.715476p0F, rest = 0x1.4ae0cp-26F;
    const float from = x < -150.0F ? -150.0F : x;
    const float power = from * log2_e;
    const float less = fmaf(from, rest, fmaf(from, log2_e, -power));
    float about;

    asm("ex2.approx.f32 %0, %1;" : "=f"(about) : "f"(power));
    return fmaf(about, less * 0x1.62e43p-1F, about);
}

/* What is kept becomes its exponentials; the others are computed again. */
template <int vectors, class Threads>
__device__ __forceinline__ void softmax_kept(const float *x, float *y,
                                             unsigned cols, Threads threads)
{
    row<vectors, Threads> row(x, cols);
    const unsigned beyond = row.at(vectors);
    float most = -INFINITY;
    double sum = 0.0;

    row.each([&](const pack<float> &all, unsigned) {
        const float *e = all.element;
        most = fmaxf(most, fmaxf(fmaxf(e[0], e[1]), fmaxf(e[2], e[3])));
    });
    most = threads.max(most);
    row.each([&](pack<float> &all, unsigned) {
        float *e = all.element;
#pragma unroll
        for (int i = 0; i < 4; i++)
            e[i] = exp_below(e[i] - most);
        sum += (double)((e[0] + e[1]) + (e[2] + e[3]));
    });
    const float share = (float)inverse_of(threads.sum(sum));
    row.each([&](pack<float> &all, unsigned j) {
        float *e = all.element;
#pragma unroll
        for (int i = 0; i < 4; i++)
            e[i] = (Threads::is_block && j >= beyond ? exp_below(e[i] - most)
                                                   : e[i]) *
                   share;
        store_pack(y + j, all);
    });
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

extern "C" __global__ void __launch_bounds__(TAKT_CUDA_ROW_THREADS)
    takt_softmax_f32(const __grid_constant__ args_t args)
{
    __shared__ float room[most_warps];
    __shared__ double wide_room[most_warps];
    const block threads = {room, wide_room};
    const uint64_t cols = args.dim[1];
    const bool is_kept = in_vectors(args) && cols <= INT32_MAX;

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
    else if (args.cut[0] == 4)
        each_row<4, 4>(args, f);
    else if (args.cut[0] == 8)
        each_row<8, 4>(args, f);
    else if (args.cut[0] == 16)
        each_row<16, 4>(args, f);
    else if (args.dim[1] <= 512)
        each_row<32, 4>(args, f);
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

/* A number as the sum of two floats. */
struct two_floats {
    float head, rest;

    __device__ __forceinline__ two_floats(double x)
        : head((float)x), rest((float)(x - (double)head))
    {
    }
    /* y less it, to a unit in the last place or so. */
    __device__ __forceinline__ float less(float y) const
    {
        return (y - head) - rest;
    }
};

/* In float, but for sums. False: squares may leave the range of floats, and
 * the row was not written. */
template <class Row, class Threads>
__device__ __forceinline__ bool
normalise(Row &row, float *y, const affine &affine, double mean, double each,
          double epsilon, Threads threads)
{
    const two_floats from(mean);
    double around = 0.0;

    row.each([&](const pack<float> &all, unsigned) {
        float squares = 0.0F;
#pragma unroll
        for (int i = 0; i < 4; i++) {
            const float apart = from.less(all.element[i]);
            squares = fmaf(apart, apart, squares);
        }
        around += (double)squares;
    });
    const double variance = threads.sum(around) * each;
    const bool is_inside = variance > 0x1p-80 && variance < 0x1p80;
    const float inverse = (float)inverse_root_of(variance + epsilon);
    row.each([&](pack<float> &all, unsigned j) {
        pack<float> z;
#pragma unroll
        for (int i = 0; i < 4; i++)
            z.element[i] = from.less(all.element[i]) * inverse;
        if (is_inside)
            store_pack(y + j, affine.of(z, j));
    });
    return is_inside;
}

/* The same in double, of rows that are not done. */
template <class Row, class Threads>
__device__ __forceinline__ void
normalise_wide(Row &row, float *y, const affine &affine, double mean,
               double each, double epsilon, bool is_done, Threads threads)
{
    double around = 0.0;

    row.each([&](const pack<float> &all, unsigned) {
#pragma unroll
        for (int i = 0; i < 4; i++) {
            const double apart = (double)all.element[i] - mean;
            around = fma(apart, apart, around);
        }
    });
    const double variance = threads.sum(around) * each;
    const double inverse = inverse_root_of(variance + epsilon);
    row.each([&](pack<float> &all, unsigned j) {
        pack<float> z;
#pragma unroll
        for (int i = 0; i < 4; i++)
            z.element[i] = (float)(((double)all.element[i] - mean) * inverse);
        if (!is_done)
            store_pack(y + j, affine.of(z, j));
    });
}

template <int vectors, class Threads>
__device__ __forceinline__ void
layernorm_kept(const float *x, float *y, unsigned cols, const affine &affine,
               double epsilon, Threads threads)
{
    row<vectors, Threads> row(x, cols);
    /* To the last bit: it is multiplied by sums that may be large. */
    const double about = inverse_of((double)cols);
    const double each = fma(about, fma(-(double)cols, about, 1.0), about);
    double sum = 0.0;

    row.each([&](const pack<float> &all, unsigned) {
        const float *e = all.element;
        sum += ((double)e[0] + (double)e[1]) + ((double)e[2] + (double)e[3]);
    });
    const double mean = threads.sum(sum) * each;
    const bool is_done =
        normalise(row, y, affine, mean, each, epsilon, threads);
    if (threads.any(!is_done))
        normalise_wide(row, y, affine, mean, each, epsilon, is_done, threads);
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

extern "C" __global__ void __launch_bounds__(TAKT_CUDA_ROW_THREADS)
    takt_layernorm_f32(const __grid_constant__ args_t args)
{
    __shared__ double room[most_warps];
    const block threads = {nullptr, room};
    const uint64_t cols = args.dim[1];
    const affine affine(args);
    const bool is_kept = in_vectors(args) && cols <= INT32_MAX;

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
