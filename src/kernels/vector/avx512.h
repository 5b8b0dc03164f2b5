/* SPDX-License-Identifier: MIT */
/*
 * avx512.h - the vector vocabulary on AVX-512 (F, BW, DQ, VL, CD).
 *
 * Sixteen floats or eight doubles; masks live in mask registers, so part of
 * a vector costs no more than a whole one.
 */
#pragma once

#include <immintrin.h>

typedef __m512 vf32;
typedef __m512d vf64;
typedef __m512i vi32;
typedef __m512i vi64;
typedef __mmask16 vm32;
typedef __mmask8 vm64;

enum { VF32_LANES = 16, VF64_LANES = 8 };
enum { V_MASKS = 1, V_FUSES = 1 };

#define V_PREFIX _mm512_
#define V_WIDTH 512
#define V_CMP(suffix_) _mm512_cmp_##suffix_##_mask
#include "kernels/vector/x86.h"

/* The first operand chooses bit by bit between the other two; a ^ (b & c). */

VINLINE vf32 vf32_copysign(vf32 size, vf32 sign)
{
    const __m512i bit = _mm512_castps_si512(_mm512_set1_ps(-0.0F));
    return _mm512_castsi512_ps(_mm512_ternarylogic_epi32(
        bit, _mm512_castps_si512(sign), _mm512_castps_si512(size), 0xCA));
}

VINLINE vf64 vf64_copysign(vf64 size, vf64 sign)
{
    const __m512i bit = _mm512_castpd_si512(_mm512_set1_pd(-0.0));
    return _mm512_castsi512_pd(_mm512_ternarylogic_epi64(
        bit, _mm512_castpd_si512(sign), _mm512_castpd_si512(size), 0xCA));
}

VINLINE vf32 vf32_flip(vf32 a, vf32 sign)
{
    const __m512i bit = _mm512_castps_si512(_mm512_set1_ps(-0.0F));
    return _mm512_castsi512_ps(_mm512_ternarylogic_epi32(
        _mm512_castps_si512(a), _mm512_castps_si512(sign), bit, 0x78));
}

VINLINE vf64 vf64_flip(vf64 a, vf64 sign)
{
    const __m512i bit = _mm512_castpd_si512(_mm512_set1_pd(-0.0));
    return _mm512_castsi512_pd(_mm512_ternarylogic_epi64(
        _mm512_castpd_si512(a), _mm512_castpd_si512(sign), bit, 0x78));
}

VINLINE vm32 vm32_odd(vi32 a)
{
    return _mm512_test_epi32_mask(a, _mm512_set1_epi32(1));
}

VINLINE vm64 vm64_odd(vi64 a)
{
    return _mm512_test_epi64_mask(a, _mm512_set1_epi64(1));
}

/* Across lanes. */

#define V_QUARTERS(name_, op_)                                             \
    VINLINE float vf32_##name_(vf32 v)                                     \
    {                                                                      \
        const __m256 w = _mm256_##op_##_ps(_mm512_castps512_ps256(v),      \
                                           _mm512_extractf32x8_ps(v, 1));  \
        return fold4_##name_(_mm_##op_##_ps(_mm256_castps256_ps128(w),     \
                                            _mm256_extractf128_ps(w, 1))); \
    }                                                                      \
    VINLINE double vf64_##name_(vf64 v)                                    \
    {                                                                      \
        const __m256d w = _mm256_##op_##_pd(_mm512_castpd512_pd256(v),     \
                                            _mm512_extractf64x4_pd(v, 1)); \
        return fold2_##name_(_mm_##op_##_pd(_mm256_castpd256_pd128(w),     \
                                            _mm256_extractf128_pd(w, 1))); \
    }
/* clang-format off */
V_QUARTERS(sum, add)
V_QUARTERS(hmax, max)
V_QUARTERS(hmin, min)
/* clang-format on */

/* Between widths. */

VINLINE vf64 vf32_widen_lo(vf32 v)
{
    return _mm512_cvtps_pd(_mm512_castps512_ps256(v));
}

VINLINE vf64 vf32_widen_hi(vf32 v)
{
    return _mm512_cvtps_pd(_mm512_extractf32x8_ps(v, 1));
}

VINLINE vf32 vf64_narrow(vf64 lo, vf64 hi)
{
    return _mm512_insertf32x8(_mm512_castps256_ps512(_mm512_cvtpd_ps(lo)),
                              _mm512_cvtpd_ps(hi), 1);
}

/* Powers of two. */

VINLINE vf32 vf32_ldexp(vf32 x, vf32 k)
{
    return _mm512_scalef_ps(x, k);
}

VINLINE vf64 vf64_ldexp(vf64 x, vf64 k)
{
    return _mm512_scalef_pd(x, k);
}

/* Without optimisation gcc has macros for these, which convert mask types. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wsign-conversion"
VINLINE vf32 vf32_mantissa(vf32 x)
{
    return _mm512_getmant_ps(x, _MM_MANT_NORM_p75_1p5, _MM_MANT_SIGN_src);
}

VINLINE vf32 vf32_exponent(vf32 x, vf32 mantissa)
{
    return _mm512_sub_ps(_mm512_getexp_ps(x), _mm512_getexp_ps(mantissa));
}

/* `log` where x is positive and finite, else what the logarithm of x is: the
 * table has four bits for each kind of x, from NaN at the low end over zero,
 * one, the infinities and negative to positive numbers. */
VINLINE vf32 vf32_log_special(vf32 x, vf32 log)
{
    const __m512i table = _mm512_set1_epi32(0x03530422);
    return _mm512_fixupimm_ps(log, x, table, 0);
}

VINLINE vf64 vf64_mantissa(vf64 x)
{
    return _mm512_getmant_pd(x, _MM_MANT_NORM_p75_1p5, _MM_MANT_SIGN_zero);
}

VINLINE vf64 vf64_exponent(vf64 x, vf64 mantissa)
{
    return _mm512_sub_pd(_mm512_getexp_pd(x), _mm512_getexp_pd(mantissa));
}

VINLINE vf64 vf64_log_special(vf64 x, vf64 log)
{
    const __m512i table = _mm512_set1_epi64(0x03530422);
    return _mm512_fixupimm_pd(log, x, table, 0);
}
#pragma GCC diagnostic pop

/* Tables. */

#define V_PICKS 1

VINLINE vf64 vf64_pick(const double of[16], vf64 mantissa)
{
    const vi64 first = vi64_shr(_mm512_castpd_si512(mantissa), 48);
    return _mm512_permutex2var_pd(_mm512_loadu_pd(of), first,
                                  _mm512_loadu_pd(of + 8));
}

/* Quotients. */

/* One Newton step on a 14-bit reciprocal. */
VINLINE vf32 vf32_ratio(vf32 a, vf32 c, vf32 x)
{
    const vf32 inverse = _mm512_rcp14_ps(_mm512_add_ps(c, x));
    const vf32 q = _mm512_mul_ps(a, inverse);
    const vf32 rest = _mm512_fnmadd_ps(q, x, _mm512_fnmadd_ps(q, c, a));
    return _mm512_fmadd_ps(rest, inverse, q);
}

/* Two steps for doubles: dividing takes longer than all else. */
VINLINE vf64 vf64_ratio(vf64 a, vf64 c, vf64 x)
{
    const vf64 b = _mm512_add_pd(c, x);
    const vf64 rough = _mm512_rcp14_pd(b);
    const vf64 inverse = _mm512_fmadd_pd(
        rough, _mm512_fnmadd_pd(b, rough, _mm512_set1_pd(1.0)), rough);
    const vf64 q = _mm512_mul_pd(a, inverse);
    const vf64 rest = _mm512_fnmadd_pd(q, x, _mm512_fnmadd_pd(q, c, a));
    return _mm512_fmadd_pd(rest, inverse, q);
}

/* Square tiles: v[i] lane j becomes v[j] lane i. */

/* From four vectors `by` apart, the even or odd quarters of each, gathered by
 * quarter. */
#define V_GATHER(type_, by_, shuffle_)                                  \
    VINLINE void type_##_quarters(const type_ *u, type_ *v)             \
    {                                                                   \
        const type_ even0 = shuffle_(u[0], u[by_], 0x88);               \
        const type_ even1 = shuffle_(u[2 * (by_)], u[3 * (by_)], 0x88); \
        const type_ odd0 = shuffle_(u[0], u[by_], 0xDD);                \
        const type_ odd1 = shuffle_(u[2 * (by_)], u[3 * (by_)], 0xDD);  \
        v[0] = shuffle_(even0, even1, 0x88);                            \
        v[by_] = shuffle_(odd0, odd1, 0x88);                            \
        v[2 * (by_)] = shuffle_(even0, even1, 0xDD);                    \
        v[3 * (by_)] = shuffle_(odd0, odd1, 0xDD);                      \
    }
/* clang-format off */
V_GATHER(vf32, 4, _mm512_shuffle_f32x4)
V_GATHER(vf64, 2, _mm512_shuffle_f64x2)
/* clang-format on */

/* Transposes the 4x4 tiles that share each quarter of four vectors. */
VINLINE void vf32_fours(const vf32 *v, vf32 *u)
{
    const vf64 lo0 = _mm512_castps_pd(_mm512_unpacklo_ps(v[0], v[1]));
    const vf64 hi0 = _mm512_castps_pd(_mm512_unpackhi_ps(v[0], v[1]));
    const vf64 lo1 = _mm512_castps_pd(_mm512_unpacklo_ps(v[2], v[3]));
    const vf64 hi1 = _mm512_castps_pd(_mm512_unpackhi_ps(v[2], v[3]));
    u[0] = _mm512_castpd_ps(_mm512_unpacklo_pd(lo0, lo1));
    u[1] = _mm512_castpd_ps(_mm512_unpackhi_pd(lo0, lo1));
    u[2] = _mm512_castpd_ps(_mm512_unpacklo_pd(hi0, hi1));
    u[3] = _mm512_castpd_ps(_mm512_unpackhi_pd(hi0, hi1));
}

VINLINE void vf32_transpose(vf32 v[VF32_LANES])
{
    vf32 u[VF32_LANES];
    vf32_fours(v, u);
    vf32_fours(v + 4, u + 4);
    vf32_fours(v + 8, u + 8);
    vf32_fours(v + 12, u + 12);
    vf32_quarters(u, v);
    vf32_quarters(u + 1, v + 1);
    vf32_quarters(u + 2, v + 2);
    vf32_quarters(u + 3, v + 3);
}

VINLINE void vf64_twos(const vf64 *v, vf64 *u)
{
    u[0] = _mm512_unpacklo_pd(v[0], v[1]);
    u[1] = _mm512_unpackhi_pd(v[0], v[1]);
}

VINLINE void vf64_transpose(vf64 v[VF64_LANES])
{
    vf64 u[VF64_LANES];
    vf64_twos(v, u);
    vf64_twos(v + 2, u + 2);
    vf64_twos(v + 4, u + 4);
    vf64_twos(v + 6, u + 6);
    vf64_quarters(u, v);
    vf64_quarters(u + 1, v + 1);
}

enum { V_TILE_ROWS = 14 };
#define V_EACH_TILE_ROWS(X) \
    X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11) X(12) X(13) X(14)
