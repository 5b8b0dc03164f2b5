/* SPDX-License-Identifier: MIT */
/*
 * sse2.h - the vector vocabulary on plain x86-64.
 *
 * Four floats or two doubles; no fused multiply-add, no blend, no rounding
 * instruction.
 */
#pragma once

#include <emmintrin.h>
#include <math.h>

typedef __m128 vf32;
typedef __m128d vf64;
typedef __m128i vi32;
typedef __m128i vi64;
typedef __m128 vm32;
typedef __m128d vm64;

enum { VF32_LANES = 4, VF64_LANES = 2 };
enum { V_MASKS = 0, V_FUSES = 0 };

#define V_PREFIX _mm_
#define V_WIDTH 128
#include "kernels/vector/x86.h"

/* Memory. */

VINLINE vf32 vf32_load_two(const float *p)
{
    return _mm_castsi128_ps(_mm_loadl_epi64((const void *)p));
}

VINLINE vf32 vf32_load_n(const float *p, size_t n)
{
    switch (n) {
    case 0:
        return _mm_setzero_ps();
    case 1:
        return _mm_load_ss(p);
    case 2:
        return vf32_load_two(p);
    case 3:
        return _mm_movelh_ps(vf32_load_two(p), _mm_load_ss(p + 2));
    default:
        return _mm_loadu_ps(p);
    }
}

VINLINE void vf32_store_n(float *p, vf32 v, size_t n)
{
    if (n >= 4) {
        _mm_storeu_ps(p, v);
        return;
    }
    if ((n & 2) != 0) {
        _mm_storel_pi((__m64 *)(void *)p, v);
        v = _mm_movehl_ps(v, v);
        p += 2;
    }
    if ((n & 1) != 0)
        _mm_store_ss(p, v);
}

VINLINE vf64 vf64_load_n(const double *p, size_t n)
{
    if (n >= 2)
        return _mm_loadu_pd(p);
    return n == 0 ? _mm_setzero_pd() : _mm_load_sd(p);
}

VINLINE void vf64_store_n(double *p, vf64 v, size_t n)
{
    if (n >= 2)
        _mm_storeu_pd(p, v);
    else if (n == 1)
        _mm_store_sd(p, v);
}

/* Across lanes. */

/* clang-format off */
V_UNARY(float, vf32_sum, vf32, fold4_sum)
V_UNARY(float, vf32_hmax, vf32, fold4_hmax)
V_UNARY(float, vf32_hmin, vf32, fold4_hmin)
V_UNARY(double, vf64_sum, vf64, fold2_sum)
V_UNARY(double, vf64_hmax, vf64, fold2_hmax)
V_UNARY(double, vf64_hmin, vf64, fold2_hmin)
/* clang-format on */

VINLINE vm32 vm32_odd(vi32 a)
{
    return vi32_as_f32(vi32_sar(vi32_shl(a, 31), 31));
}

VINLINE vm64 vm64_odd(vi64 a)
{
    const vi32 top = _mm_srai_epi32(vi64_shl(a, 63), 31);
    return vi64_as_f64(_mm_shuffle_epi32(top, 0xF5));
}

/* Between widths. */

VINLINE vf64 vf32_widen_lo(vf32 v)
{
    return _mm_cvtps_pd(v);
}

VINLINE vf64 vf32_widen_hi(vf32 v)
{
    return _mm_cvtps_pd(_mm_movehl_ps(v, v));
}

VINLINE vf32 vf64_narrow(vf64 lo, vf64 hi)
{
    return _mm_movelh_ps(_mm_cvtpd_ps(lo), _mm_cvtpd_ps(hi));
}

#include "kernels/vector/powers.h"

/* Quotients. */

/* Through double: without fma there is no exact remainder to correct by. */
VINLINE vf32 vf32_ratio(vf32 a, vf32 c, vf32 x)
{
    const vf64 lo = _mm_add_pd(_mm_cvtps_pd(c), _mm_cvtps_pd(x));
    const vf64 hi = _mm_add_pd(_mm_cvtps_pd(_mm_movehl_ps(c, c)),
                               _mm_cvtps_pd(_mm_movehl_ps(x, x)));
    const vf64 q_lo = _mm_div_pd(_mm_cvtps_pd(a), lo);
    const vf64 q_hi = _mm_div_pd(_mm_cvtps_pd(_mm_movehl_ps(a, a)), hi);
    return _mm_movelh_ps(_mm_cvtpd_ps(q_lo), _mm_cvtpd_ps(q_hi));
}

/* What c + x lost is |x| or less, so it is found without fma. */
VINLINE vf64 vf64_ratio(vf64 a, vf64 c, vf64 x)
{
    const vf64 b = _mm_add_pd(c, x);
    const vf64 lost = _mm_sub_pd(x, _mm_sub_pd(b, c));
    const vf64 inverse = _mm_div_pd(_mm_set1_pd(1.0), b);
    const vf64 q = _mm_div_pd(a, b);
    return _mm_sub_pd(q, _mm_mul_pd(_mm_mul_pd(q, lost), inverse));
}

/* Square tiles: v[i] lane j becomes v[j] lane i. */

VINLINE void vf32_transpose(vf32 v[VF32_LANES])
{
    const vf32 lo0 = _mm_unpacklo_ps(v[0], v[1]);
    const vf32 hi0 = _mm_unpackhi_ps(v[0], v[1]);
    const vf32 lo1 = _mm_unpacklo_ps(v[2], v[3]);
    const vf32 hi1 = _mm_unpackhi_ps(v[2], v[3]);
    v[0] = _mm_movelh_ps(lo0, lo1);
    v[1] = _mm_movehl_ps(lo1, lo0);
    v[2] = _mm_movelh_ps(hi0, hi1);
    v[3] = _mm_movehl_ps(hi1, hi0);
}

VINLINE void vf64_transpose(vf64 v[VF64_LANES])
{
    const vf64 lo = _mm_unpacklo_pd(v[0], v[1]);
    v[1] = _mm_unpackhi_pd(v[0], v[1]);
    v[0] = lo;
}

/* Without fma a product needs a register of its own, so fewer rows. */
enum { V_TILE_ROWS = 4 };
#define V_EACH_TILE_ROWS(X) X(1) X(2) X(3) X(4)
