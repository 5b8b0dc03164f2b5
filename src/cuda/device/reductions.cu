/* SPDX-License-Identifier: MIT */
/*
 * reductions.cu - sums, norms, variance and extrema of a vector.
 *
 * Every thread reduces its elements to a state, a block merges the states of
 * its threads, and the block that finishes last merges those of the blocks. The
 * order depends on the sizes alone, so the same call gives the same bits. As on
 * the processor (src/kernels/scalar/reduce.c), floats are added up in double
 * and doubles keep their rounding errors.
 */
#include "cuda/device/common.cuh"

/* ---- sums ------------------------------------------------------------------
 */

/* A sum that keeps what rounding took from it. */
struct kept_sum {
    double value, rest;
};

__device__ __forceinline__ void add_to(kept_sum &sum, double x)
{
    const double all = sum.value + x;
    const double part = all - sum.value;

    sum.rest += (sum.value - (all - part)) + (x - part);
    sum.value = all;
}

/* An infinite sum makes its rounding errors NaN: they do not count. */
__device__ __forceinline__ double total(kept_sum sum)
{
    return isfinite(sum.value) ? sum.value + sum.rest : sum.value;
}

__device__ __forceinline__ void merge_sums(kept_sum &left, kept_sum right)
{
    add_to(left, right.value);
    left.rest += right.rest;
    if (!isfinite(left.value))
        left.rest = 0.0;
}

/* Sum of F's terms, for floats: in double. */
template <class F> struct plain_sum {
    typedef float real;
    enum { inputs = F::inputs, has_positions = false };
    struct state {
        double value;
    };

    static __device__ __forceinline__ state start(const args_t &)
    {
        return {0.0};
    }
    template <int count>
    static __device__ __forceinline__ void add(state &s, const float *a,
                                               const float *b, uint64_t)
    {
#pragma unroll
        for (int i = 0; i < count; i++)
            s.value = F::plus(s.value, (double)a[i], (double)b[i]);
    }
    static __device__ __forceinline__ void merge(state &left, state right)
    {
        left.value += right.value;
    }
    static __device__ __forceinline__ void finish(const args_t &args, state s)
    {
        *pointer<float>(args.out) = (float)F::last(s.value, args.dim[0]);
    }
};

/* The same for doubles: with what rounding took. */
template <class F> struct exact_sum {
    typedef double real;
    enum { inputs = F::inputs, has_positions = false };
    typedef kept_sum state;

    static __device__ __forceinline__ state start(const args_t &)
    {
        return {0.0, 0.0};
    }
    template <int count>
    static __device__ __forceinline__ void add(state &s, const double *a,
                                               const double *b, uint64_t)
    {
#pragma unroll
        for (int i = 0; i < count; i++)
            add_to(s, F::term(a[i], b[i]));
    }
    static __device__ __forceinline__ void merge(state &left, state right)
    {
        merge_sums(left, right);
    }
    static __device__ __forceinline__ void finish(const args_t &args, state s)
    {
        *pointer<double>(args.out) = F::last(total(s), args.dim[0]);
    }
};

/* What is added up, and what becomes of the sum. Products of two floats are
 * exact in double, so that fusing them changes nothing. */
struct of_elements {
    enum { inputs = 1 };
    static __device__ __forceinline__ double term(double a, double)
    {
        return a;
    }
    static __device__ __forceinline__ double plus(double s, double a, double)
    {
        return s + a;
    }
    static __device__ __forceinline__ double last(double s, uint64_t)
    {
        return s;
    }
};

struct of_sizes : of_elements {
    static __device__ __forceinline__ double term(double a, double)
    {
        return fabs(a);
    }
    static __device__ __forceinline__ double plus(double s, double a, double)
    {
        return s + fabs(a);
    }
};

struct of_products : of_elements {
    enum { inputs = 2 };
    static __device__ __forceinline__ double term(double a, double b)
    {
        return a * b;
    }
    static __device__ __forceinline__ double plus(double s, double a, double b)
    {
        return fma(a, b, s);
    }
};

struct to_mean : of_elements {
    static __device__ __forceinline__ double last(double s, uint64_t n)
    {
        return s / (double)n;
    }
};

struct to_norm : of_elements {
    static __device__ __forceinline__ double plus(double s, double a, double)
    {
        return fma(a, a, s);
    }
    static __device__ __forceinline__ double last(double s, uint64_t)
    {
        return __dsqrt_rn(s);
    }
};

/* The mean of doubles, left in the scratch memory. */
struct mean_kept : exact_sum<to_mean> {
    static __device__ __forceinline__ void finish(const args_t &args, state s)
    {
        *pointer<double>(args.scratch + TAKT_CUDA_MEAN_AT) =
            to_mean::last(total(s), args.dim[0]);
    }
};

/* ---- the norm of doubles ---------------------------------------------------
 *
 * Squares of large elements would overflow and those of small ones underflow:
 * each kind has a sum of its own, of elements times a power of two. */

struct scaled_norm {
    typedef double real;
    enum { inputs = 1, has_positions = false };
    struct state {
        kept_sum large, usual, small;
    };

    static __device__ __forceinline__ state start(const args_t &)
    {
        return {{0.0, 0.0}, {0.0, 0.0}, {0.0, 0.0}};
    }
    template <int count>
    static __device__ __forceinline__ void add(state &s, const double *a,
                                               const double *, uint64_t)
    {
#pragma unroll
        for (int i = 0; i < count; i++) {
            const double size = fabs(a[i]);
            if (size > 0x1p480)
                add_to(s.large, (size * 0x1p-600) * (size * 0x1p-600));
            else if (size < 0x1p-480)
                add_to(s.small, (size * 0x1p600) * (size * 0x1p600));
            else
                add_to(s.usual, size * size);
        }
    }
    static __device__ __forceinline__ void merge(state &left, state right)
    {
        merge_sums(left.large, right.large);
        merge_sums(left.usual, right.usual);
        merge_sums(left.small, right.small);
    }
    /* What is two kinds below another cannot change its last bit. */
    static __device__ __forceinline__ void finish(const args_t &args, state s)
    {
        double norm;
        if (s.large.value > 0.0)
            norm = 0x1p600 * __dsqrt_rn(total(s.large) +
                                        total(s.usual) * 0x1p-600 * 0x1p-600);
        else if (!(s.usual.value == 0.0))
            norm = __dsqrt_rn(total(s.usual) +
                              total(s.small) * 0x1p-600 * 0x1p-600);
        else
            norm = 0x1p-600 * __dsqrt_rn(total(s.small));
        *pointer<double>(args.out) = norm;
    }
};

/* ---- variance --------------------------------------------------------------
 */

/* Of floats: the moments of a few elements at a time, merged by the rule of
 * Chan, Golub and LeVeque. Double has digits to spare for it. */
struct merged_moments {
    typedef float real;
    enum { inputs = 1, has_positions = false };
    struct state {
        double mean, around, count;
    };

    static __device__ __forceinline__ state start(const args_t &)
    {
        return {0.0, 0.0, 0.0};
    }
    template <int count>
    static __device__ __forceinline__ void add(state &s, const float *a,
                                               const float *, uint64_t)
    {
        state few = {0.0, 0.0, (double)count};
#pragma unroll
        for (int i = 0; i < count; i++)
            few.mean += (double)a[i];
        few.mean *= 1.0 / count; /* a power of two */
#pragma unroll
        for (int i = 0; i < count; i++) {
            const double apart = (double)a[i] - few.mean;
            few.around = fma(apart, apart, few.around);
        }
        merge(s, few);
    }
    static __device__ __forceinline__ void merge(state &left, state right)
    {
        const double count = left.count + right.count;
        if (right.count == 0.0)
            return;
        const double share = right.count / count;
        const double apart = right.mean - left.mean;
        if (left.count == 0.0)
            left = right;
        else {
            left.around += right.around + apart * apart * left.count * share;
            left.mean += apart * share;
            left.count = count;
        }
    }
    static __device__ __forceinline__ void finish(const args_t &args, state s)
    {
        *pointer<float>(args.out) = (float)(s.around / s.count);
    }
};

/* Of doubles: around the mean that a launch before this one left, less what the
 * rounding of that mean added. */
struct around_mean {
    typedef double real;
    enum { inputs = 1, has_positions = false };
    struct state {
        kept_sum around;
        double drift, mean;
    };

    static __device__ __forceinline__ state start(const args_t &args)
    {
        return {{0.0, 0.0},
                0.0,
                *pointer<const double>(args.scratch + TAKT_CUDA_MEAN_AT)};
    }
    template <int count>
    static __device__ __forceinline__ void add(state &s, const double *a,
                                               const double *, uint64_t)
    {
#pragma unroll
        for (int i = 0; i < count; i++) {
            const double apart = a[i] - s.mean;
            add_to(s.around, apart * apart);
            s.drift += apart;
        }
    }
    static __device__ __forceinline__ void merge(state &left, state right)
    {
        merge_sums(left.around, right.around);
        left.drift += right.drift;
    }
    static __device__ __forceinline__ void finish(const args_t &args, state s)
    {
        const double n = (double)args.dim[0];
        double all = s.around.value;
        if (isfinite(all))
            all += s.around.rest - s.drift * s.drift / n;
        *pointer<double>(args.out) = all / n;
    }
};

/* ---- extrema ---------------------------------------------------------------
 */

template <class T> struct rank_type;
template <> struct rank_type<float> {
    typedef uint32_t type;
};
template <> struct rank_type<double> {
    typedef uint64_t type;
};

/* `is_least` turns the order round; NaN stays the highest. */
template <class T, bool is_least>
__device__ __forceinline__ typename rank_type<T>::type order_of(T x)
{
    typedef typename rank_type<T>::type rank;
    const rank at = rank_of(x);
    return is_least && at != (rank) ~(rank)0 ? (rank)~at : at;
}

template <class T, bool is_least> struct extremum {
    typedef T real;
    typedef typename rank_type<T>::type rank;
    enum { inputs = 1, has_positions = false };
    struct state {
        rank best;
    };

    static __device__ __forceinline__ state start(const args_t &)
    {
        return {0};
    }
    template <int count>
    static __device__ __forceinline__ void add(state &s, const T *a, const T *,
                                               uint64_t)
    {
#pragma unroll
        for (int i = 0; i < count; i++)
            merge(s, {order_of<T, is_least>(a[i])});
    }
    static __device__ __forceinline__ void merge(state &left, state right)
    {
        left.best = left.best > right.best ? left.best : right.best;
    }
    static __device__ __forceinline__ void finish(const args_t &args, state s)
    {
        const bool is_nan = s.best == (rank) ~(rank)0;
        *pointer<T>(args.out) =
            element_of(is_least && !is_nan ? (rank)~s.best : s.best);
    }
};

/* Of equal elements the first; zeros are equal. */
template <class T, bool is_least> struct position {
    typedef T real;
    typedef typename rank_type<T>::type rank;
    enum { inputs = 1, has_positions = true };
    struct state {
        rank best;
        rank fill; /* so that there is no gap in it */
        uint64_t index;
    };

    static __device__ __forceinline__ state start(const args_t &)
    {
        return {0, 0, 0};
    }
    template <int count>
    static __device__ __forceinline__ void add(state &s, const T *a, const T *,
                                               uint64_t index)
    {
#pragma unroll
        for (int i = 0; i < count; i++) {
            const rank at = order_of<T, is_least>(a[i] == (T)0 ? (T)0 : a[i]);
            if (at > s.best) {
                s.best = at;
                s.index = index + i;
            }
        }
    }
    static __device__ __forceinline__ void merge(state &left, state right)
    {
        if (right.best > left.best ||
            (right.best == left.best && right.index < left.index))
            left = right;
    }
    static __device__ __forceinline__ void finish(const args_t &args, state s)
    {
        *pointer<uint64_t>(args.out) = s.index;
    }
};

/* ---- the walk ---------------------------------------------------------------
 */

/* Elements `step` apart, `width` neighbours each time. Where positions do not
 * matter, all at once. */
template <class R, int count, int width>
__device__ __forceinline__ void
add_groups(typename R::state &s, const typename R::real *x,
           const typename R::real *y, uint64_t at, uint64_t step)
{
    if (!R::has_positions)
        R::template add<count * width>(s, x, y, 0);
    else
#pragma unroll
        for (int i = 0; i < count; i++)
            R::template add<width>(s, x + i * width, y + i * width,
                                   at + i * step);
}

/* `count` vectors of 16 bytes that are `step` vectors apart. */
template <class R, int count>
__device__ __forceinline__ void
add_vectors(typename R::state &s, const typename R::real *a,
            const typename R::real *b, uint64_t at, uint64_t step)
{
    typedef typename R::real real;
    enum { width = vector_of<real>::width };
    real x[count * width], y[count * width];

#pragma unroll
    for (int i = 0; i < count; i++) {
        const pack<real> u = load_pack(a + (at + i * step) * width);
        const pack<real> v =
            R::inputs > 1 ? load_pack(b + (at + i * step) * width) : u;
#pragma unroll
        for (int e = 0; e < width; e++) {
            x[i * width + e] = u.element[e];
            y[i * width + e] = v.element[e];
        }
    }
    add_groups<R, count, width>(s, x, y, at * width, step * width);
}

template <class R>
__device__ __forceinline__ typename R::state
walk(const args_t &args, const typename R::real *a, const typename R::real *b)
{
    typedef typename R::real real;
    enum { width = vector_of<real>::width };
    const uint64_t n = args.dim[0];
    const uint64_t step = (uint64_t)gridDim.x * blockDim.x;
    const bool is_aligned =
        (args.in[0] | (R::inputs > 1 ? args.in[1] : 0)) % 16 == 0;
    const uint64_t vectors = is_aligned ? n / width : 0;
    typename R::state s = R::start(args);
    uint64_t at = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;

#pragma unroll 1
    for (; at + 3 * step < vectors; at += 4 * step)
        add_vectors<R, 4>(s, a, b, at, step);
#pragma unroll 1
    for (; at < vectors; at += step)
        add_vectors<R, 1>(s, a, b, at, step);
    at = vectors * width + (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
#pragma unroll 1
    for (; at + 3 * step < n; at += 4 * step) {
        real x[4], y[4];
#pragma unroll
        for (int i = 0; i < 4; i++) {
            x[i] = a[at + i * step];
            y[i] = R::inputs > 1 ? b[at + i * step] : x[i];
        }
        add_groups<R, 4, 1>(s, x, y, at, step);
    }
#pragma unroll 1
    for (; at < n; at += step) {
        const real x = a[at], y = R::inputs > 1 ? b[at] : x;
        R::template add<1>(s, &x, &y, at);
    }
    return s;
}

/* In thread 0. */
template <class R>
__device__ __forceinline__ typename R::state merge_block(typename R::state mine)
{
    enum { warps = TAKT_CUDA_REDUCE_THREADS / 32 };
    __shared__ typename R::state of_warp[warps];

#pragma unroll
    for (unsigned apart = 16; apart > 0; apart /= 2) {
        const typename R::state other = from_lane_below(mine, apart);
        R::merge(mine, other);
    }
    __syncthreads();
    if (threadIdx.x % 32 == 0)
        of_warp[threadIdx.x / 32] = mine;
    __syncthreads();
#pragma unroll 1
    for (int i = 1; i < warps && threadIdx.x == 0; i++)
        R::merge(mine, of_warp[i]);
    return mine;
}

template <class R> __device__ __forceinline__ void reduce(const args_t &args)
{
    typedef typename R::real real;
    typename R::state *part = parts<typename R::state>(args);
    typename R::state s =
        merge_block<R>(walk<R>(args, pointer<const real>(args.in[0]),
                               pointer<const real>(args.in[1])));

    if (gridDim.x > 1) {
        if (threadIdx.x == 0)
            part[blockIdx.x] = s;
        if (!is_last_block(counter(args, 0), gridDim.x))
            return;
        s = R::start(args);
#pragma unroll 1
        for (unsigned i = threadIdx.x; i < gridDim.x; i += blockDim.x)
            R::merge(s, part[i]);
        s = merge_block<R>(s);
    }
    if (threadIdx.x == 0)
        R::finish(args, s);
}

#define REDUCTION(name, ...)                                               \
    extern "C" __global__ void __launch_bounds__(TAKT_CUDA_REDUCE_THREADS) \
        takt_##name(const __grid_constant__ args_t args)                   \
    {                                                                      \
        reduce<__VA_ARGS__>(args);                                         \
    }

REDUCTION(sum_f32, plain_sum<of_elements>)
REDUCTION(sum_f64, exact_sum<of_elements>)
REDUCTION(mean_f32, plain_sum<to_mean>)
REDUCTION(mean_f64, exact_sum<to_mean>)
REDUCTION(dot_f32, plain_sum<of_products>)
REDUCTION(dot_f64, exact_sum<of_products>)
REDUCTION(norm1_f32, plain_sum<of_sizes>)
REDUCTION(norm1_f64, exact_sum<of_sizes>)
REDUCTION(norm2_f32, plain_sum<to_norm>)
REDUCTION(norm2_f64, scaled_norm)
REDUCTION(variance_f32, merged_moments)
REDUCTION(variance_f64_mean, mean_kept)
REDUCTION(variance_f64, around_mean)
REDUCTION(max_f32, extremum<float, false>)
REDUCTION(max_f64, extremum<double, false>)
REDUCTION(min_f32, extremum<float, true>)
REDUCTION(min_f64, extremum<double, true>)
REDUCTION(argmax_f32, position<float, false>)
REDUCTION(argmax_f64, position<double, false>)
REDUCTION(argmin_f32, position<float, true>)
REDUCTION(argmin_f64, position<double, true>)
