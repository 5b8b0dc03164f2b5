/* SPDX-License-Identifier: MIT */
/*
 * maps.cu - the element-wise ops.
 *
 * A block computes a stretch of the elements; every thread has all its loads
 * on the way before it needs the first. The output may be one of the inputs.
 */
#include "cuda/device/common.cuh"

/* What a block computes of a map: `left` elements from `first` on. */
template <class T> struct stretch {
    const T *in[3];
    T *out;
    unsigned left;
    T p, q;
};

template <class F, class T>
__device__ __forceinline__ void map_vectors(const stretch<T> &s)
{
    enum { width = vector_of<T>::width, vectors = TAKT_CUDA_MAP_VECTORS };
    const unsigned mine = threadIdx.x * width, step = blockDim.x * width;
    pack<T> x[vectors][3];

#pragma unroll
    for (int v = 0; v < vectors; v++)
#pragma unroll
        for (int i = 0; i < F::inputs; i++)
            if (mine + v * step + width <= s.left)
                x[v][i] = load_pack(s.in[i] + mine + v * step);
#pragma unroll
    for (int v = 0; v < vectors; v++) {
        pack<T> y;
#pragma unroll
        for (int e = 0; e < width; e++)
            y.element[e] =
                F::of(x[v][0].element[e], x[v][F::inputs > 1].element[e],
                      x[v][F::inputs > 2 ? 2 : 0].element[e], s.p, s.q);
        if (mine + v * step + width <= s.left)
            store_pack(s.out + mine + v * step, y);
    }
}

/* From element `from` on, one at a time. */
template <class F, class T>
__device__ __forceinline__ void map_elements(const stretch<T> &s, unsigned from)
{
    enum { at_once = 4 };

#pragma unroll 1
    for (unsigned i = from + threadIdx.x; i < s.left;
         i += at_once * blockDim.x) {
        T x[at_once][3];
#pragma unroll
        for (int e = 0; e < at_once; e++)
#pragma unroll
            for (int k = 0; k < F::inputs; k++)
                if (i + e * blockDim.x < s.left)
                    x[e][k] = s.in[k][i + e * blockDim.x];
#pragma unroll
        for (int e = 0; e < at_once; e++)
            if (i + e * blockDim.x < s.left)
                s.out[i + e * blockDim.x] =
                    F::of(x[e][0], x[e][F::inputs > 1],
                          x[e][F::inputs > 2 ? 2 : 0], s.p, s.q);
    }
}

/* out = f(a, b, c; p, q) for one op: `inputs` of the three are there. */
template <class T, class F>
__device__ __forceinline__ void map(const args_t &args)
{
    enum { width = vector_of<T>::width };
    const unsigned each = blockDim.x * (TAKT_CUDA_MAP_VECTORS * width);
    const uint64_t first = (uint64_t)blockIdx.x * each;
    const uint64_t left = args.dim[0] - first;
    stretch<T> s = {{},
                    pointer<T>(args.out) + first,
                    left < each ? (unsigned)left : each,
                    (T)args.alpha,
                    (T)args.beta};
    uint64_t low = args.out;

#pragma unroll
    for (int i = 0; i < F::inputs; i++) {
        s.in[i] = pointer<const T>(args.in[i]) + first;
        low |= args.in[i];
    }
    if (low % 16 == 0)
        map_vectors<F>(s);
    map_elements<F>(s, low % 16 == 0 ? s.left / width * width : 0);
}

template <class T> struct word_of;
template <> struct word_of<float> {
    typedef uint32_t type;
};
template <> struct word_of<double> {
    typedef uint64_t type;
};

/* NaN keep every bit but the sign. */
template <class T> __device__ __forceinline__ T without_sign(T a)
{
    typedef typename word_of<T>::type word;
    return bits_as<T>(bits_as<word>(a) &
                      (word) ~((word)1 << (8 * sizeof(T) - 1)));
}

template <class T> __device__ __forceinline__ T other_sign(T a)
{
    typedef typename word_of<T>::type word;
    return bits_as<T>(bits_as<word>(a) ^ (word)1 << (8 * sizeof(T) - 1));
}

__device__ __forceinline__ float root(float a)
{
    return __fsqrt_rn(a);
}

__device__ __forceinline__ double root(double a)
{
    return __dsqrt_rn(a);
}

#define MAP(op, dtype, real, operands, result)                            \
    struct op##_##dtype {                                                 \
        enum { inputs = operands };                                       \
        static __device__ __forceinline__ real of(real a, real b, real c, \
                                                  real p, real q)         \
        {                                                                 \
            (void)b, (void)c, (void)p, (void)q;                           \
            return result;                                                \
        }                                                                 \
    };                                                                    \
    extern "C" __global__ void __launch_bounds__(256)                     \
        takt_##op##_##dtype(const __grid_constant__ args_t args)          \
    {                                                                     \
        map<real, op##_##dtype>(args);                                    \
    }

#define MAP_BOTH(op, operands, result)    \
    MAP(op, f32, float, operands, result) \
    MAP(op, f64, double, operands, result)

MAP_BOTH(add, 2, a + b)
MAP_BOTH(sub, 2, a - b)
MAP_BOTH(mul, 2, a *b)
MAP_BOTH(div, 2, a / b)
MAP_BOTH(scale, 1, p *a)
MAP_BOTH(axpy, 2, fused(p, a, b))
MAP_BOTH(fma, 3, fused(a, b, c))
MAP_BOTH(abs, 1, without_sign(a))
MAP_BOTH(neg, 1, other_sign(a))
MAP_BOTH(clamp, 1, a<p ? p : a> q ? q : a)
MAP_BOTH(sqrt, 1, root(a))
MAP_BOTH(copy, 1, a)
MAP(relu, f32, float, 1, a < 0.0F ? 0.0F : a)
MAP(exp, f32, float, 1, exp_of(a))
MAP(log, f32, float, 1, log_of(a))
MAP(sigmoid, f32, float, 1, sigmoid_of(a))
MAP(tanh, f32, float, 1, tanh_of(a))
MAP(gelu, f32, float, 1, gelu_of(a))
