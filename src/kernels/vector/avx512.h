/* SPDX-License-Identifier: MIT */
/*
 * avx512.h - the vector vocabulary on AVX-512 (F, BW, DQ, VL, CD).
 *
 * Sixteen floats or eight doubles; masks live in mask registers, so part of
 * a vector costs no more than a whole one.
 */
#ifndef TAKT_KERNELS_VECTOR_AVX512_H
#define TAKT_KERNELS_VECTOR_AVX512_H

#include <immintrin.h>

typedef __m512 vf32;
typedef __m512d vf64;
typedef __m512i vi32;
typedef __m512i vi64;
typedef __mmask16 vm32;
typedef __mmask8 vm64;

enum { VF32_LANES = 16, VF64_LANES = 8 };
enum { V_MASKS = 1 };

#define V_PREFIX _mm512_
#define V_WIDTH 512
#define V_FUSED
#define V_MASK_REGISTERS
#include "kernels/vector/x86.h"

/* vf32: memory. */

VINLINE vm32 vm32_first(size_t n)
{
    return (__mmask16)((1U << n) - 1U);
}

VINLINE vf32 vf32_load_n(const float *p, size_t n)
{
    return _mm512_maskz_loadu_ps(vm32_first(n), p);
}

VINLINE void vf32_store_n(float *p, vf32 v, size_t n)
{
    _mm512_mask_storeu_ps(p, vm32_first(n), v);
}

/* vf32: arithmetic. */

VINLINE vf32 vf32_abs(vf32 a)
{
    return _mm512_abs_ps(a);
}

/* vf32: bits of floats, comparisons, masks. */

VINLINE vf32 vf32_copysign(vf32 size, vf32 sign)
{
    const __m512i bit = _mm512_castps_si512(_mm512_set1_ps(-0.0F));
    return _mm512_castsi512_ps(_mm512_ternarylogic_epi32(
        bit, _mm512_castps_si512(sign), _mm512_castps_si512(size), 0xCA));
}

VINLINE vm32 vf32_lt(vf32 a, vf32 b)
{
    return _mm512_cmp_ps_mask(a, b, _CMP_LT_OQ);
}

VINLINE vm32 vf32_le(vf32 a, vf32 b)
{
    return _mm512_cmp_ps_mask(a, b, _CMP_LE_OQ);
}

VINLINE vm32 vf32_gt(vf32 a, vf32 b)
{
    return _mm512_cmp_ps_mask(a, b, _CMP_GT_OQ);
}

VINLINE vm32 vf32_ge(vf32 a, vf32 b)
{
    return _mm512_cmp_ps_mask(a, b, _CMP_GE_OQ);
}

VINLINE vm32 vf32_eq(vf32 a, vf32 b)
{
    return _mm512_cmp_ps_mask(a, b, _CMP_EQ_OQ);
}

VINLINE vm32 vf32_ne(vf32 a, vf32 b)
{
    return _mm512_cmp_ps_mask(a, b, _CMP_NEQ_UQ);
}

VINLINE vm32 vf32_isnan(vf32 a)
{
    return _mm512_cmp_ps_mask(a, a, _CMP_UNORD_Q);
}

VINLINE vf32 vf32_select(vm32 m, vf32 a, vf32 b)
{
    return _mm512_mask_blend_ps(m, b, a);
}

VINLINE vm32 vm32_and(vm32 a, vm32 b)
{
    return (__mmask16)(a & b);
}

VINLINE vm32 vm32_or(vm32 a, vm32 b)
{
    return (__mmask16)(a | b);
}

VINLINE vm32 vm32_not(vm32 m)
{
    return (__mmask16)~m;
}

VINLINE unsigned vm32_bits(vm32 m)
{
    return m;
}

VINLINE bool vm32_any(vm32 m)
{
    return m != 0;
}

VINLINE bool vm32_all(vm32 m)
{
    return m == 0xFFFFU;
}

/* vf32: across lanes. */

VINLINE float vf32_sum(vf32 v)
{
    const __m256 w =
        _mm256_add_ps(_mm512_castps512_ps256(v), _mm512_extractf32x8_ps(v, 1));
    __m128 x =
        _mm_add_ps(_mm256_castps256_ps128(w), _mm256_extractf128_ps(w, 1));
    x = _mm_add_ps(x, _mm_movehl_ps(x, x));
    return _mm_cvtss_f32(_mm_add_ss(x, _mm_shuffle_ps(x, x, 1)));
}

VINLINE float vf32_hmax(vf32 v)
{
    const __m256 w =
        _mm256_max_ps(_mm512_castps512_ps256(v), _mm512_extractf32x8_ps(v, 1));
    __m128 x =
        _mm_max_ps(_mm256_castps256_ps128(w), _mm256_extractf128_ps(w, 1));
    x = _mm_max_ps(x, _mm_movehl_ps(x, x));
    return _mm_cvtss_f32(_mm_max_ss(x, _mm_shuffle_ps(x, x, 1)));
}

VINLINE float vf32_hmin(vf32 v)
{
    const __m256 w =
        _mm256_min_ps(_mm512_castps512_ps256(v), _mm512_extractf32x8_ps(v, 1));
    __m128 x =
        _mm_min_ps(_mm256_castps256_ps128(w), _mm256_extractf128_ps(w, 1));
    x = _mm_min_ps(x, _mm_movehl_ps(x, x));
    return _mm_cvtss_f32(_mm_min_ss(x, _mm_shuffle_ps(x, x, 1)));
}

/* vi32. */

VINLINE vi32 vi32_load(const int32_t *p)
{
    return _mm512_loadu_si512(p);
}

VINLINE void vi32_store(int32_t *p, vi32 v)
{
    _mm512_storeu_si512(p, v);
}

VINLINE vi32 vi32_shl(vi32 a, int by)
{
    return _mm512_sll_epi32(a, _mm_cvtsi32_si128(by));
}

VINLINE vi32 vi32_shr(vi32 a, int by)
{
    return _mm512_srl_epi32(a, _mm_cvtsi32_si128(by));
}

VINLINE vi32 vi32_sar(vi32 a, int by)
{
    return _mm512_sra_epi32(a, _mm_cvtsi32_si128(by));
}

VINLINE vm32 vi32_eq(vi32 a, vi32 b)
{
    return _mm512_cmpeq_epi32_mask(a, b);
}

VINLINE vm32 vi32_gt(vi32 a, vi32 b)
{
    return _mm512_cmpgt_epi32_mask(a, b);
}

VINLINE vi32 vi32_select(vm32 m, vi32 a, vi32 b)
{
    return _mm512_mask_blend_epi32(m, b, a);
}

/* vf64: memory. */

VINLINE vm64 vm64_first(size_t n)
{
    return (__mmask8)((1U << n) - 1U);
}

VINLINE vf64 vf64_load_n(const double *p, size_t n)
{
    return _mm512_maskz_loadu_pd(vm64_first(n), p);
}

VINLINE void vf64_store_n(double *p, vf64 v, size_t n)
{
    _mm512_mask_storeu_pd(p, vm64_first(n), v);
}

/* vf64: arithmetic. */

VINLINE vf64 vf64_abs(vf64 a)
{
    return _mm512_abs_pd(a);
}

/* vf64: bits of floats, comparisons, masks. */

VINLINE vf64 vf64_copysign(vf64 size, vf64 sign)
{
    const __m512i bit = _mm512_castpd_si512(_mm512_set1_pd(-0.0));
    return _mm512_castsi512_pd(_mm512_ternarylogic_epi64(
        bit, _mm512_castpd_si512(sign), _mm512_castpd_si512(size), 0xCA));
}

VINLINE vm64 vf64_lt(vf64 a, vf64 b)
{
    return _mm512_cmp_pd_mask(a, b, _CMP_LT_OQ);
}

VINLINE vm64 vf64_le(vf64 a, vf64 b)
{
    return _mm512_cmp_pd_mask(a, b, _CMP_LE_OQ);
}

VINLINE vm64 vf64_gt(vf64 a, vf64 b)
{
    return _mm512_cmp_pd_mask(a, b, _CMP_GT_OQ);
}

VINLINE vm64 vf64_ge(vf64 a, vf64 b)
{
    return _mm512_cmp_pd_mask(a, b, _CMP_GE_OQ);
}

VINLINE vm64 vf64_eq(vf64 a, vf64 b)
{
    return _mm512_cmp_pd_mask(a, b, _CMP_EQ_OQ);
}

VINLINE vm64 vf64_ne(vf64 a, vf64 b)
{
    return _mm512_cmp_pd_mask(a, b, _CMP_NEQ_UQ);
}

VINLINE vm64 vf64_isnan(vf64 a)
{
    return _mm512_cmp_pd_mask(a, a, _CMP_UNORD_Q);
}

VINLINE vf64 vf64_select(vm64 m, vf64 a, vf64 b)
{
    return _mm512_mask_blend_pd(m, b, a);
}

VINLINE vm64 vm64_and(vm64 a, vm64 b)
{
    return (__mmask8)(a & b);
}

VINLINE vm64 vm64_or(vm64 a, vm64 b)
{
    return (__mmask8)(a | b);
}

VINLINE vm64 vm64_not(vm64 m)
{
    return (__mmask8)~m;
}

VINLINE unsigned vm64_bits(vm64 m)
{
    return m;
}

VINLINE bool vm64_any(vm64 m)
{
    return m != 0;
}

VINLINE bool vm64_all(vm64 m)
{
    return m == 0xFFU;
}

/* vf64: across lanes. */

VINLINE double vf64_sum(vf64 v)
{
    const __m256d w =
        _mm256_add_pd(_mm512_castpd512_pd256(v), _mm512_extractf64x4_pd(v, 1));
    const __m128d x =
        _mm_add_pd(_mm256_castpd256_pd128(w), _mm256_extractf128_pd(w, 1));
    return _mm_cvtsd_f64(_mm_add_sd(x, _mm_unpackhi_pd(x, x)));
}

VINLINE double vf64_hmax(vf64 v)
{
    const __m256d w =
        _mm256_max_pd(_mm512_castpd512_pd256(v), _mm512_extractf64x4_pd(v, 1));
    const __m128d x =
        _mm_max_pd(_mm256_castpd256_pd128(w), _mm256_extractf128_pd(w, 1));
    return _mm_cvtsd_f64(_mm_max_sd(x, _mm_unpackhi_pd(x, x)));
}

VINLINE double vf64_hmin(vf64 v)
{
    const __m256d w =
        _mm256_min_pd(_mm512_castpd512_pd256(v), _mm512_extractf64x4_pd(v, 1));
    const __m128d x =
        _mm_min_pd(_mm256_castpd256_pd128(w), _mm256_extractf128_pd(w, 1));
    return _mm_cvtsd_f64(_mm_min_sd(x, _mm_unpackhi_pd(x, x)));
}

/* vi64. */

VINLINE vi64 vi64_set1(int64_t x)
{
    return _mm512_set1_epi64(x);
}

VINLINE vi64 vi64_load(const int64_t *p)
{
    return _mm512_loadu_si512(p);
}

VINLINE void vi64_store(int64_t *p, vi64 v)
{
    _mm512_storeu_si512(p, v);
}

VINLINE vi64 vi64_shl(vi64 a, int by)
{
    return _mm512_sll_epi64(a, _mm_cvtsi32_si128(by));
}

VINLINE vi64 vi64_shr(vi64 a, int by)
{
    return _mm512_srl_epi64(a, _mm_cvtsi32_si128(by));
}

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
#pragma GCC diagnostic pop

/* Quotients. */

/* One Newton step on a 14-bit reciprocal. */
VINLINE vf32 vf32_ratio(vf32 a, vf32 c, vf32 x)
{
    const vf32 inverse = _mm512_rcp14_ps(_mm512_add_ps(c, x));
    const vf32 q = _mm512_mul_ps(a, inverse);
    const vf32 rest = _mm512_fnmadd_ps(q, x, _mm512_fnmadd_ps(q, c, a));
    return _mm512_fmadd_ps(rest, inverse, q);
}

/* Square tiles: v[i] lane j becomes v[j] lane i. */

/* From four vectors, the even or odd quarters of each, gathered by quarter. */
VINLINE void vf32_quarters(const vf32 *u, vf32 *v)
{
    const vf32 even0 = _mm512_shuffle_f32x4(u[0], u[4], 0x88);
    const vf32 even1 = _mm512_shuffle_f32x4(u[8], u[12], 0x88);
    const vf32 odd0 = _mm512_shuffle_f32x4(u[0], u[4], 0xDD);
    const vf32 odd1 = _mm512_shuffle_f32x4(u[8], u[12], 0xDD);
    v[0] = _mm512_shuffle_f32x4(even0, even1, 0x88);
    v[4] = _mm512_shuffle_f32x4(odd0, odd1, 0x88);
    v[8] = _mm512_shuffle_f32x4(even0, even1, 0xDD);
    v[12] = _mm512_shuffle_f32x4(odd0, odd1, 0xDD);
}

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

VINLINE void vf64_quarters(const vf64 *u, vf64 *v)
{
    const vf64 even0 = _mm512_shuffle_f64x2(u[0], u[2], 0x88);
    const vf64 even1 = _mm512_shuffle_f64x2(u[4], u[6], 0x88);
    const vf64 odd0 = _mm512_shuffle_f64x2(u[0], u[2], 0xDD);
    const vf64 odd1 = _mm512_shuffle_f64x2(u[4], u[6], 0xDD);
    v[0] = _mm512_shuffle_f64x2(even0, even1, 0x88);
    v[2] = _mm512_shuffle_f64x2(odd0, odd1, 0x88);
    v[4] = _mm512_shuffle_f64x2(even0, even1, 0xDD);
    v[6] = _mm512_shuffle_f64x2(odd0, odd1, 0xDD);
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

/* Reductions. unordered: a or b is NaN. keep: stay in a register instead of
 * being loaded once per use. */

VINLINE vm32 vf32_unordered(vf32 a, vf32 b)
{
    return _mm512_cmp_ps_mask(a, b, _CMP_UNORD_Q);
}

VINLINE vm64 vf64_unordered(vf64 a, vf64 b)
{
    return _mm512_cmp_pd_mask(a, b, _CMP_UNORD_Q);
}

VINLINE vf32 vf32_keep(vf32 v)
{
    __asm__("" : "+v"(v));
    return v;
}

VINLINE vf64 vf64_keep(vf64 v)
{
    __asm__("" : "+v"(v));
    return v;
}

/* Matrix products. Interleaving: lo gives a0 b0 a1 b1 ... of the
 * first halves, hi of the second. V_EACH_TILE_ROWS(X) lists how many rows of a
 * product can be kept in registers, two vectors each, beside two vectors of
 * the right side and one of the left; V_TILE_ROWS is the most. */

VINLINE vf32 vf32_zip_lo(vf32 a, vf32 b)
{
    const __m512i at = _mm512_setr_epi32(0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5,
                                         21, 6, 22, 7, 23);
    return _mm512_permutex2var_ps(a, at, b);
}

VINLINE vf32 vf32_zip_hi(vf32 a, vf32 b)
{
    const __m512i at = _mm512_setr_epi32(8, 24, 9, 25, 10, 26, 11, 27, 12, 28,
                                         13, 29, 14, 30, 15, 31);
    return _mm512_permutex2var_ps(a, at, b);
}

VINLINE vf64 vf64_zip_lo(vf64 a, vf64 b)
{
    const __m512i at = _mm512_setr_epi64(0, 8, 1, 9, 2, 10, 3, 11);
    return _mm512_permutex2var_pd(a, at, b);
}

VINLINE vf64 vf64_zip_hi(vf64 a, vf64 b)
{
    const __m512i at = _mm512_setr_epi64(4, 12, 5, 13, 6, 14, 7, 15);
    return _mm512_permutex2var_pd(a, at, b);
}

enum { V_TILE_ROWS = 14 };
#define V_EACH_TILE_ROWS(X) \
    X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11) X(12) X(13) X(14)

#endif
