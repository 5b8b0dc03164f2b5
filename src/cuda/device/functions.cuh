/* SPDX-License-Identifier: MIT */
/*
 * functions.cuh - what the element-wise ops mean, one element at a time.
 *
 * Plain arithmetic with explicit fused multiply-adds, so that a processor gets
 * the same bits: that is how they can be tried on every float without a GPU.
 * The methods and polynomials are those of src/kernels/vector/math.h, where
 * they are explained; each is within 2 units in the last place.
 */
#ifndef TAKT_CUDA_DEVICE_FUNCTIONS_CUH
#define TAKT_CUDA_DEVICE_FUNCTIONS_CUH

#include <math.h>
#include <stdint.h>
#include <string.h>

#ifdef __CUDACC__
#define BOTH_SIDES __host__ __device__ __forceinline__
#else
#define BOTH_SIDES inline
#endif

template <class To, class From> BOTH_SIDES To bits_as(From from)
{
    static_assert(sizeof(To) == sizeof(From), "as many bits");
    To to;
    memcpy(&to, &from, sizeof to);
    return to;
}

/* x = k ln 2 + r with a whole k, for |x| < 2^20. */
struct octaves {
    float r;
    int32_t k;
};

BOTH_SIDES octaves octaves_of(float x)
{
    const float magic = 0x1.8p23F;
    const float shifted = fmaf(x, 0x1.715476p0F, magic);
    const float k = shifted - magic;
    const float r = fmaf(-k, 0x1.7f7d1cp-20F, fmaf(-k, 0x1.62e4p-1F, x));
    return {r,
            (int32_t)(bits_as<uint32_t>(shifted) - bits_as<uint32_t>(magic))};
}

/* exp(r) - 1 for |r| <= ln 2 / 2. */
BOTH_SIDES float expm1_near(float r)
{
    float q = 0x1.6a2434p-10F;
    q = fmaf(q, r, 0x1.1239e2p-7F);
    q = fmaf(q, r, 0x1.5558f2p-5F);
    q = fmaf(q, r, 0x1.555492p-3F);
    q = fmaf(q, r, 0x1.fffffcp-2F);
    return fmaf(q, r * r, r);
}

BOTH_SIDES float power_of_two(int32_t k)
{
    return bits_as<float>((uint32_t)(k + 127) << 23);
}

/* exp where x <= 89 is known, NaN included; anything below -104 gives 0. The
 * power is multiplied in two halves, so that a denormal is rounded once. */
BOTH_SIDES float exp_bounded(float x)
{
    if (x != x)
        return x;
    const octaves at = octaves_of(x < -104.0F ? -104.0F : x);
    const float near = 1.0F + expm1_near(at.r);
    const int32_t half = at.k >> 1;
    return near * power_of_two(half) * power_of_two(at.k - half);
}

BOTH_SIDES float exp_of(float x)
{
    return exp_bounded(x > 89.0F ? 89.0F : x);
}

/* log(1 + f) - f + f^2 / 2 for -0.25 <= f <= 0.5. */
BOTH_SIDES float log1p_rest(float f, float f2)
{
    float q = -0x1.7140c2p-5F;
    q = fmaf(q, f, 0x1.ac90cp-4F);
    q = fmaf(q, f, -0x1.0d8a8cp-3F);
    q = fmaf(q, f, 0x1.28847cp-3F);
    q = fmaf(q, f, -0x1.54efdcp-3F);
    q = fmaf(q, f, 0x1.9969bp-3F);
    q = fmaf(q, f, -0x1.00004p-2F);
    q = fmaf(q, f, 0x1.5555a4p-2F);
    return q * f * f2;
}

BOTH_SIDES float log_of(float x)
{
    if (!(x < INFINITY))
        return x;
    if (x <= 0.0F)
        return x == 0.0F ? -INFINITY : NAN;
    const bool is_tiny = x < 0x1p-126F;
    const uint32_t bits = bits_as<uint32_t>(is_tiny ? x * 0x1p24F : x);
    const int32_t octave = (int32_t)(bits - bits_as<uint32_t>(0.75F)) >> 23;
    const float k = (float)(is_tiny ? octave - 24 : octave);
    const float f = bits_as<float>(bits - ((uint32_t)octave << 23)) - 1.0F;
    const float f2 = f * f;
    float y = log1p_rest(f, f2);
    y = fmaf(k, 0x1.7f7d1cp-20F, y);
    y = fmaf(-0.5F, f2, y);
    return fmaf(k, 0x1.62e4p-1F, f + y);
}

/* a / (c + x), where the rounding of the sum is made good. */
BOTH_SIDES float ratio(float a, float c, float x)
{
    const float inverse = 1.0F / (c + x);
    const float q = a * inverse;
    const float rest = fmaf(-q, x, fmaf(-q, c, a));
    return fmaf(rest, inverse, q);
}

/* From exp(-|x|), which cannot overflow: the small side keeps its precision
 * down to the denormals. */
BOTH_SIDES float sigmoid_of(float x)
{
    const float e = exp_bounded(-fabsf(x));
    return ratio(x < 0.0F ? e : 1.0F, 1.0F, e);
}

/* tanh |x| = -m / (2 + m) with m = exp(-2 |x|) - 1, which is small with x. */
BOTH_SIDES float tanh_of(float x)
{
    if (x != x)
        return x;
    const float size = fabsf(x);
    const octaves at = octaves_of(-2.0F * (size > 10.0F ? 10.0F : size));
    const float scale = power_of_two(at.k);
    const float m = fmaf(expm1_near(at.r), scale, scale - 1.0F);
    return copysignf(ratio(m, 2.0F, m), x);
}

/* exp(-x^2 / 2) to float precision, for |x| <= 16, as a double: there it is no
 * denormal. What the square loses is made good in the exponent. */
BOTH_SIDES double normal_of(float x)
{
    const float square = x * x;
    const float lost = fmaf(x, x, -square);
    const octaves at = octaves_of(-0.5F * square);
    const double near = 1.0 + (double)expm1_near(fmaf(-0.5F, lost, at.r));
    return bits_as<double>(bits_as<uint64_t>(near) +
                           ((uint64_t)(int64_t)at.k << 52));
}

/* 1 / x and 1 / sqrt(x) to 40 bits, for numbers whose result is not denormal.
 * A device has instructions for 20 of them, and each step doubles that; a
 * division there takes as long as all the rest of gelu. */
BOTH_SIDES double inverse_of(double x)
{
#ifdef __CUDA_ARCH__
    double about;
    asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(about) : "d"(x));
    return fma(about, fma(-x, about, 1.0), about);
#else
    return 1.0 / x;
#endif
}

BOTH_SIDES double inverse_root_of(double x)
{
#ifdef __CUDA_ARCH__
    double about;
    asm("rsqrt.approx.ftz.f64 %0, %1;" : "=d"(about) : "d"(x));
    return fma(0.5 * about, fma(-x * about, about, 1.0), about);
#else
    return 1.0 / sqrt(x);
#endif
}

/* exp(x^2 / 2) times the normal tail beyond x, for 0 <= x <= 16: a polynomial
 * in t = 1 / (1 + 0.3 x), which flattens it. */
BOTH_SIDES double mills(double x)
{
    const double t = inverse_of(fma(x, 0.3, 1.0));

    double q = -0.020630062257531567;
    q = fma(q, t, 0.11247264418456929);
    q = fma(q, t, -0.22830388333241933);
    q = fma(q, t, 0.1919096966504919);
    q = fma(q, t, -0.07953199502557079);
    q = fma(q, t, 0.09621769618420978);
    q = fma(q, t, 0.07836760946804915);
    q = fma(q, t, 0.11024038169413519);
    q = fma(q, t, 0.11957118698716931);
    q = fma(q, t, 0.1196867237127047);
    return q * t;
}

/* x times the normal distribution up to x. Beyond 16 the tail is no float. The
 * ratio is a double: in float its roundings add up to too much. Without
 * branches: these keep a device from working on several elements at once. */
BOTH_SIDES float gelu_of(float x)
{
    const float size = fminf(fabsf(x), 16.0F);
    const double tail = mills((double)size) * normal_of(size);
    const double y = (double)x * (x < 0.0F ? tail : 1.0 - tail);
    return fabsf(x) < 16.0F ? (float)y : x < 0.0F ? x * 0.0F : x;
}

/* ---- numbers in their order -----------------------------------------------
 *
 * Whole numbers that are larger where an element is: -inf is above 0, NaN is
 * the largest of all, and +0 is above -0. */

BOTH_SIDES uint32_t rank_of(float x)
{
    const uint32_t bits = bits_as<uint32_t>(x);
    if (x != x)
        return UINT32_MAX;
    return bits ^ ((uint32_t)((int32_t)bits >> 31) | UINT32_C(0x80000000));
}

BOTH_SIDES uint64_t rank_of(double x)
{
    const uint64_t bits = bits_as<uint64_t>(x);
    if (x != x)
        return UINT64_MAX;
    return bits ^ ((uint64_t)((int64_t)bits >> 63) | UINT64_C(1) << 63);
}

BOTH_SIDES float element_of(uint32_t rank)
{
    const uint32_t mask = (rank >> 31) != 0 ? UINT32_C(0x80000000) : UINT32_MAX;
    return bits_as<float>(rank == UINT32_MAX ? UINT32_C(0x7FC00000)
                                             : rank ^ mask);
}

BOTH_SIDES double element_of(uint64_t rank)
{
    const uint64_t mask = (rank >> 63) != 0 ? UINT64_C(1) << 63 : UINT64_MAX;
    return bits_as<double>(rank == UINT64_MAX ? UINT64_C(0x7FF8) << 48
                                              : rank ^ mask);
}

#endif
