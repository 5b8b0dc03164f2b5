/* SPDX-License-Identifier: MIT */
/*
 * avx2.h - the vector vocabulary on AVX2 with FMA.
 *
 * Eight floats or four doubles; a mask is a vector of all-one or all-zero
 * lanes.
 */
#ifndef TAKT_KERNELS_VECTOR_AVX2_H
#define TAKT_KERNELS_VECTOR_AVX2_H

#include <immintrin.h>
#include <math.h>

typedef __m256 vf32;
typedef __m256d vf64;
typedef __m256i vi32;
typedef __m256i vi64;
typedef __m256 vm32;
typedef __m256d vm64;

enum { VF32_LANES = 8, VF64_LANES = 4 };
enum { V_MASKS = 0 };

/* vf32: memory. */

VINLINE vf32 vf32_load(const float *p)
{
    return _mm256_loadu_ps(p);
}

static const int32_t vm32_window[16] = {-1, -1, -1, -1, -1, -1, -1, -1};

VINLINE __m256i vm32_first(size_t n)
{
    return _mm256_loadu_si256(
        (const __m256i *)(const void *)(vm32_window + 8 - n));
}

VINLINE vf32 vf32_load_n(const float *p, size_t n)
{
    return _mm256_maskload_ps((const float *)p, vm32_first(n));
}

VINLINE void vf32_store(float *p, vf32 v)
{
    _mm256_storeu_ps(p, v);
}

/* Masked stores are microcoded on Zen: three small stores are faster. */
VINLINE void vf32_store_n(float *p, vf32 v, size_t n)
{
    __m128 part = _mm256_castps256_ps128(v);
    if (n >= 8) {
        _mm256_storeu_ps(p, v);
        return;
    }
    if ((n & 4) != 0) {
        _mm_storeu_ps(p, part);
        part = _mm256_extractf128_ps(v, 1);
        p += 4;
    }
    if ((n & 2) != 0) {
        _mm_storel_pi((__m64 *)(void *)p, part);
        part = _mm_movehl_ps(part, part);
        p += 2;
    }
    if ((n & 1) != 0)
        _mm_store_ss(p, part);
}

VINLINE void vf32_stream(float *p, vf32 v)
{
    _mm256_stream_ps(p, v);
}

/* vf32: arithmetic. */

VINLINE vf32 vf32_set1(float x)
{
    return _mm256_set1_ps(x);
}

VINLINE vf32 vf32_zero(void)
{
    return _mm256_setzero_ps();
}

VINLINE vf32 vf32_add(vf32 a, vf32 b)
{
    return _mm256_add_ps(a, b);
}

VINLINE vf32 vf32_sub(vf32 a, vf32 b)
{
    return _mm256_sub_ps(a, b);
}

VINLINE vf32 vf32_mul(vf32 a, vf32 b)
{
    return _mm256_mul_ps(a, b);
}

VINLINE vf32 vf32_div(vf32 a, vf32 b)
{
    return _mm256_div_ps(a, b);
}

VINLINE vf32 vf32_sqrt(vf32 a)
{
    return _mm256_sqrt_ps(a);
}

VINLINE vf32 vf32_abs(vf32 a)
{
    return _mm256_andnot_ps(_mm256_set1_ps(-0.0F), a);
}

VINLINE vf32 vf32_neg(vf32 a)
{
    return _mm256_xor_ps(a, _mm256_set1_ps(-0.0F));
}

VINLINE vf32 vf32_min(vf32 a, vf32 b)
{
    return _mm256_min_ps(a, b);
}

VINLINE vf32 vf32_max(vf32 a, vf32 b)
{
    return _mm256_max_ps(a, b);
}

VINLINE vf32 vf32_fma(vf32 a, vf32 b, vf32 c)
{
    return _mm256_fmadd_ps(a, b, c);
}

VINLINE vf32 vf32_fnma(vf32 a, vf32 b, vf32 c)
{
    return _mm256_fnmadd_ps(a, b, c);
}

VINLINE vf32 vf32_fused(vf32 a, vf32 b, vf32 c)
{
    return _mm256_fmadd_ps(a, b, c);
}

/* vf32: bits of floats, comparisons, masks. */

VINLINE vf32 vf32_and(vf32 a, vf32 b)
{
    return _mm256_and_ps(a, b);
}

VINLINE vf32 vf32_or(vf32 a, vf32 b)
{
    return _mm256_or_ps(a, b);
}

VINLINE vf32 vf32_xor(vf32 a, vf32 b)
{
    return _mm256_xor_ps(a, b);
}

VINLINE vf32 vf32_copysign(vf32 size, vf32 sign)
{
    const vf32 bit = _mm256_set1_ps(-0.0F);
    return _mm256_or_ps(_mm256_and_ps(bit, sign), _mm256_andnot_ps(bit, size));
}

VINLINE vm32 vf32_lt(vf32 a, vf32 b)
{
    return _mm256_cmp_ps(a, b, _CMP_LT_OQ);
}

VINLINE vm32 vf32_le(vf32 a, vf32 b)
{
    return _mm256_cmp_ps(a, b, _CMP_LE_OQ);
}

VINLINE vm32 vf32_gt(vf32 a, vf32 b)
{
    return _mm256_cmp_ps(a, b, _CMP_GT_OQ);
}

VINLINE vm32 vf32_ge(vf32 a, vf32 b)
{
    return _mm256_cmp_ps(a, b, _CMP_GE_OQ);
}

VINLINE vm32 vf32_eq(vf32 a, vf32 b)
{
    return _mm256_cmp_ps(a, b, _CMP_EQ_OQ);
}

VINLINE vm32 vf32_ne(vf32 a, vf32 b)
{
    return _mm256_cmp_ps(a, b, _CMP_NEQ_UQ);
}

VINLINE vm32 vf32_isnan(vf32 a)
{
    return _mm256_cmp_ps(a, a, _CMP_UNORD_Q);
}

VINLINE vf32 vf32_select(vm32 m, vf32 a, vf32 b)
{
    return _mm256_blendv_ps(b, a, m);
}

VINLINE vm32 vm32_and(vm32 a, vm32 b)
{
    return _mm256_and_ps(a, b);
}

VINLINE vm32 vm32_or(vm32 a, vm32 b)
{
    return _mm256_or_ps(a, b);
}

VINLINE vm32 vm32_not(vm32 m)
{
    return _mm256_xor_ps(m, _mm256_castsi256_ps(_mm256_set1_epi32(-1)));
}

VINLINE unsigned vm32_bits(vm32 m)
{
    return (unsigned)_mm256_movemask_ps(m);
}

VINLINE bool vm32_any(vm32 m)
{
    return _mm256_movemask_ps(m) != 0;
}

VINLINE bool vm32_all(vm32 m)
{
    return _mm256_movemask_ps(m) == 0xFF;
}

/* vf32: across lanes. */

VINLINE float vf32_sum(vf32 v)
{
    __m128 x =
        _mm_add_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));
    x = _mm_add_ps(x, _mm_movehl_ps(x, x));
    return _mm_cvtss_f32(_mm_add_ss(x, _mm_shuffle_ps(x, x, 1)));
}

VINLINE float vf32_hmax(vf32 v)
{
    __m128 x =
        _mm_max_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));
    x = _mm_max_ps(x, _mm_movehl_ps(x, x));
    return _mm_cvtss_f32(_mm_max_ss(x, _mm_shuffle_ps(x, x, 1)));
}

VINLINE float vf32_hmin(vf32 v)
{
    __m128 x =
        _mm_min_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));
    x = _mm_min_ps(x, _mm_movehl_ps(x, x));
    return _mm_cvtss_f32(_mm_min_ss(x, _mm_shuffle_ps(x, x, 1)));
}

/* vi32. */

VINLINE vi32 vi32_set1(int32_t x)
{
    return _mm256_set1_epi32(x);
}

VINLINE vi32 vi32_load(const int32_t *p)
{
    return _mm256_loadu_si256((const __m256i *)(const void *)p);
}

VINLINE void vi32_store(int32_t *p, vi32 v)
{
    _mm256_storeu_si256((__m256i *)(void *)p, v);
}

VINLINE vi32 vi32_add(vi32 a, vi32 b)
{
    return _mm256_add_epi32(a, b);
}

VINLINE vi32 vi32_sub(vi32 a, vi32 b)
{
    return _mm256_sub_epi32(a, b);
}

VINLINE vi32 vi32_and(vi32 a, vi32 b)
{
    return _mm256_and_si256(a, b);
}

VINLINE vi32 vi32_or(vi32 a, vi32 b)
{
    return _mm256_or_si256(a, b);
}

VINLINE vi32 vi32_xor(vi32 a, vi32 b)
{
    return _mm256_xor_si256(a, b);
}

VINLINE vi32 vi32_shl(vi32 a, int by)
{
    return _mm256_slli_epi32(a, by);
}

VINLINE vi32 vi32_shr(vi32 a, int by)
{
    return _mm256_srli_epi32(a, by);
}

VINLINE vi32 vi32_sar(vi32 a, int by)
{
    return _mm256_srai_epi32(a, by);
}

VINLINE vm32 vi32_eq(vi32 a, vi32 b)
{
    return _mm256_castsi256_ps(_mm256_cmpeq_epi32(a, b));
}

VINLINE vm32 vi32_gt(vi32 a, vi32 b)
{
    return _mm256_castsi256_ps(_mm256_cmpgt_epi32(a, b));
}

VINLINE vi32 vi32_select(vm32 m, vi32 a, vi32 b)
{
    return _mm256_castps_si256(
        vf32_select(m, _mm256_castsi256_ps(a), _mm256_castsi256_ps(b)));
}

VINLINE vi32 vf32_to_i32(vf32 a)
{
    return _mm256_cvtps_epi32(a);
}

VINLINE vf32 vi32_to_f32(vi32 a)
{
    return _mm256_cvtepi32_ps(a);
}

VINLINE vi32 vf32_as_i32(vf32 a)
{
    return _mm256_castps_si256(a);
}

VINLINE vf32 vi32_as_f32(vi32 a)
{
    return _mm256_castsi256_ps(a);
}

/* vf64: memory. */

VINLINE vf64 vf64_load(const double *p)
{
    return _mm256_loadu_pd(p);
}

static const int64_t vm64_window[8] = {-1, -1, -1, -1};

VINLINE __m256i vm64_first(size_t n)
{
    return _mm256_loadu_si256(
        (const __m256i *)(const void *)(vm64_window + 4 - n));
}

VINLINE vf64 vf64_load_n(const double *p, size_t n)
{
    return _mm256_maskload_pd((const double *)p, vm64_first(n));
}

VINLINE void vf64_store(double *p, vf64 v)
{
    _mm256_storeu_pd(p, v);
}

VINLINE void vf64_store_n(double *p, vf64 v, size_t n)
{
    __m128d part = _mm256_castpd256_pd128(v);
    if (n >= 4) {
        _mm256_storeu_pd(p, v);
        return;
    }
    if ((n & 2) != 0) {
        _mm_storeu_pd(p, part);
        part = _mm256_extractf128_pd(v, 1);
        p += 2;
    }
    if ((n & 1) != 0)
        _mm_store_sd(p, part);
}

VINLINE void vf64_stream(double *p, vf64 v)
{
    _mm256_stream_pd(p, v);
}

/* vf64: arithmetic. */

VINLINE vf64 vf64_set1(double x)
{
    return _mm256_set1_pd(x);
}

VINLINE vf64 vf64_zero(void)
{
    return _mm256_setzero_pd();
}

VINLINE vf64 vf64_add(vf64 a, vf64 b)
{
    return _mm256_add_pd(a, b);
}

VINLINE vf64 vf64_sub(vf64 a, vf64 b)
{
    return _mm256_sub_pd(a, b);
}

VINLINE vf64 vf64_mul(vf64 a, vf64 b)
{
    return _mm256_mul_pd(a, b);
}

VINLINE vf64 vf64_div(vf64 a, vf64 b)
{
    return _mm256_div_pd(a, b);
}

VINLINE vf64 vf64_sqrt(vf64 a)
{
    return _mm256_sqrt_pd(a);
}

VINLINE vf64 vf64_abs(vf64 a)
{
    return _mm256_andnot_pd(_mm256_set1_pd(-0.0), a);
}

VINLINE vf64 vf64_neg(vf64 a)
{
    return _mm256_xor_pd(a, _mm256_set1_pd(-0.0));
}

VINLINE vf64 vf64_min(vf64 a, vf64 b)
{
    return _mm256_min_pd(a, b);
}

VINLINE vf64 vf64_max(vf64 a, vf64 b)
{
    return _mm256_max_pd(a, b);
}

VINLINE vf64 vf64_fma(vf64 a, vf64 b, vf64 c)
{
    return _mm256_fmadd_pd(a, b, c);
}

VINLINE vf64 vf64_fnma(vf64 a, vf64 b, vf64 c)
{
    return _mm256_fnmadd_pd(a, b, c);
}

VINLINE vf64 vf64_fused(vf64 a, vf64 b, vf64 c)
{
    return _mm256_fmadd_pd(a, b, c);
}

/* vf64: bits of floats, comparisons, masks. */

VINLINE vf64 vf64_and(vf64 a, vf64 b)
{
    return _mm256_and_pd(a, b);
}

VINLINE vf64 vf64_or(vf64 a, vf64 b)
{
    return _mm256_or_pd(a, b);
}

VINLINE vf64 vf64_xor(vf64 a, vf64 b)
{
    return _mm256_xor_pd(a, b);
}

VINLINE vf64 vf64_copysign(vf64 size, vf64 sign)
{
    const vf64 bit = _mm256_set1_pd(-0.0);
    return _mm256_or_pd(_mm256_and_pd(bit, sign), _mm256_andnot_pd(bit, size));
}

VINLINE vm64 vf64_lt(vf64 a, vf64 b)
{
    return _mm256_cmp_pd(a, b, _CMP_LT_OQ);
}

VINLINE vm64 vf64_le(vf64 a, vf64 b)
{
    return _mm256_cmp_pd(a, b, _CMP_LE_OQ);
}

VINLINE vm64 vf64_gt(vf64 a, vf64 b)
{
    return _mm256_cmp_pd(a, b, _CMP_GT_OQ);
}

VINLINE vm64 vf64_ge(vf64 a, vf64 b)
{
    return _mm256_cmp_pd(a, b, _CMP_GE_OQ);
}

VINLINE vm64 vf64_eq(vf64 a, vf64 b)
{
    return _mm256_cmp_pd(a, b, _CMP_EQ_OQ);
}

VINLINE vm64 vf64_ne(vf64 a, vf64 b)
{
    return _mm256_cmp_pd(a, b, _CMP_NEQ_UQ);
}

VINLINE vm64 vf64_isnan(vf64 a)
{
    return _mm256_cmp_pd(a, a, _CMP_UNORD_Q);
}

VINLINE vf64 vf64_select(vm64 m, vf64 a, vf64 b)
{
    return _mm256_blendv_pd(b, a, m);
}

VINLINE vm64 vm64_and(vm64 a, vm64 b)
{
    return _mm256_and_pd(a, b);
}

VINLINE vm64 vm64_or(vm64 a, vm64 b)
{
    return _mm256_or_pd(a, b);
}

VINLINE vm64 vm64_not(vm64 m)
{
    return _mm256_xor_pd(m, _mm256_castsi256_pd(_mm256_set1_epi32(-1)));
}

VINLINE unsigned vm64_bits(vm64 m)
{
    return (unsigned)_mm256_movemask_pd(m);
}

VINLINE bool vm64_any(vm64 m)
{
    return _mm256_movemask_pd(m) != 0;
}

VINLINE bool vm64_all(vm64 m)
{
    return _mm256_movemask_pd(m) == 0xF;
}

/* vf64: across lanes. */

VINLINE double vf64_sum(vf64 v)
{
    const __m128d x =
        _mm_add_pd(_mm256_castpd256_pd128(v), _mm256_extractf128_pd(v, 1));
    return _mm_cvtsd_f64(_mm_add_sd(x, _mm_unpackhi_pd(x, x)));
}

VINLINE double vf64_hmax(vf64 v)
{
    const __m128d x =
        _mm_max_pd(_mm256_castpd256_pd128(v), _mm256_extractf128_pd(v, 1));
    return _mm_cvtsd_f64(_mm_max_sd(x, _mm_unpackhi_pd(x, x)));
}

VINLINE double vf64_hmin(vf64 v)
{
    const __m128d x =
        _mm_min_pd(_mm256_castpd256_pd128(v), _mm256_extractf128_pd(v, 1));
    return _mm_cvtsd_f64(_mm_min_sd(x, _mm_unpackhi_pd(x, x)));
}

/* vi64. */

VINLINE vi64 vi64_set1(int64_t x)
{
    return _mm256_set1_epi64x(x);
}

VINLINE vi64 vi64_load(const int64_t *p)
{
    return _mm256_loadu_si256((const __m256i *)(const void *)p);
}

VINLINE void vi64_store(int64_t *p, vi64 v)
{
    _mm256_storeu_si256((__m256i *)(void *)p, v);
}

VINLINE vi64 vi64_add(vi64 a, vi64 b)
{
    return _mm256_add_epi64(a, b);
}

VINLINE vi64 vi64_sub(vi64 a, vi64 b)
{
    return _mm256_sub_epi64(a, b);
}

VINLINE vi64 vi64_and(vi64 a, vi64 b)
{
    return _mm256_and_si256(a, b);
}

VINLINE vi64 vi64_or(vi64 a, vi64 b)
{
    return _mm256_or_si256(a, b);
}

VINLINE vi64 vi64_xor(vi64 a, vi64 b)
{
    return _mm256_xor_si256(a, b);
}

VINLINE vi64 vi64_shl(vi64 a, int by)
{
    return _mm256_slli_epi64(a, by);
}

VINLINE vi64 vi64_shr(vi64 a, int by)
{
    return _mm256_srli_epi64(a, by);
}

VINLINE vi64 vf64_as_i64(vf64 a)
{
    return _mm256_castpd_si256(a);
}

VINLINE vf64 vi64_as_f64(vi64 a)
{
    return _mm256_castsi256_pd(a);
}

/* Between widths. */

VINLINE vf64 vf32_widen_lo(vf32 v)
{
    return _mm256_cvtps_pd(_mm256_castps256_ps128(v));
}

VINLINE vf64 vf32_widen_hi(vf32 v)
{
    return _mm256_cvtps_pd(_mm256_extractf128_ps(v, 1));
}

VINLINE vf32 vf64_narrow(vf64 lo, vf64 hi)
{
    return _mm256_insertf128_ps(_mm256_castps128_ps256(_mm256_cvtpd_ps(lo)),
                                _mm256_cvtpd_ps(hi), 1);
}

#include "kernels/vector/powers.h"

/* Quotients. */

/* Two Newton steps on a 12-bit reciprocal. */
VINLINE vf32 vf32_ratio(vf32 a, vf32 c, vf32 x)
{
    const vf32 b = _mm256_add_ps(c, x);
    const vf32 rough = _mm256_rcp_ps(b);
    const vf32 inverse = _mm256_fmadd_ps(
        rough, _mm256_fnmadd_ps(b, rough, _mm256_set1_ps(1.0F)), rough);
    const vf32 q = _mm256_mul_ps(a, inverse);
    const vf32 rest = _mm256_fnmadd_ps(q, x, _mm256_fnmadd_ps(q, c, a));
    return _mm256_fmadd_ps(rest, inverse, q);
}

/* Square tiles: v[i] lane j becomes v[j] lane i. */

/* Transposes the 4x4 tiles in the two halves of four vectors. */
VINLINE void vf32_fours(const vf32 *v, vf32 *u)
{
    const vf32 lo0 = _mm256_unpacklo_ps(v[0], v[1]);
    const vf32 hi0 = _mm256_unpackhi_ps(v[0], v[1]);
    const vf32 lo1 = _mm256_unpacklo_ps(v[2], v[3]);
    const vf32 hi1 = _mm256_unpackhi_ps(v[2], v[3]);
    u[0] = _mm256_shuffle_ps(lo0, lo1, 0x44);
    u[1] = _mm256_shuffle_ps(lo0, lo1, 0xEE);
    u[2] = _mm256_shuffle_ps(hi0, hi1, 0x44);
    u[3] = _mm256_shuffle_ps(hi0, hi1, 0xEE);
}

VINLINE void vf32_halves(const vf32 *u, vf32 *v)
{
    v[0] = _mm256_permute2f128_ps(u[0], u[4], 0x20);
    v[4] = _mm256_permute2f128_ps(u[0], u[4], 0x31);
}

VINLINE void vf32_transpose(vf32 v[VF32_LANES])
{
    vf32 u[VF32_LANES];
    vf32_fours(v, u);
    vf32_fours(v + 4, u + 4);
    vf32_halves(u, v);
    vf32_halves(u + 1, v + 1);
    vf32_halves(u + 2, v + 2);
    vf32_halves(u + 3, v + 3);
}

VINLINE void vf64_transpose(vf64 v[VF64_LANES])
{
    const vf64 lo0 = _mm256_unpacklo_pd(v[0], v[1]);
    const vf64 hi0 = _mm256_unpackhi_pd(v[0], v[1]);
    const vf64 lo1 = _mm256_unpacklo_pd(v[2], v[3]);
    const vf64 hi1 = _mm256_unpackhi_pd(v[2], v[3]);
    v[0] = _mm256_permute2f128_pd(lo0, lo1, 0x20);
    v[1] = _mm256_permute2f128_pd(hi0, hi1, 0x20);
    v[2] = _mm256_permute2f128_pd(lo0, lo1, 0x31);
    v[3] = _mm256_permute2f128_pd(hi0, hi1, 0x31);
}

/* Memory order. */

VINLINE void v_fence(void)
{
    _mm_sfence();
}

VINLINE void v_prefetch(const void *p)
{
    _mm_prefetch((const char *)p, _MM_HINT_T0);
}

/* Reductions. unordered: a or b is NaN. keep: stay in a register instead of
 * being loaded once per use. */

VINLINE vm32 vf32_unordered(vf32 a, vf32 b)
{
    return _mm256_cmp_ps(a, b, _CMP_UNORD_Q);
}

VINLINE vm64 vf64_unordered(vf64 a, vf64 b)
{
    return _mm256_cmp_pd(a, b, _CMP_UNORD_Q);
}

VINLINE vf32 vf32_keep(vf32 v)
{
    __asm__("" : "+x"(v));
    return v;
}

VINLINE vf64 vf64_keep(vf64 v)
{
    __asm__("" : "+x"(v));
    return v;
}

/* Matrix products. Interleaving: lo gives a0 b0 a1 b1 ... of the
 * first halves, hi of the second. V_EACH_TILE_ROWS(X) lists how many rows of a
 * product can be kept in registers, two vectors each, beside two vectors of
 * the right side and one of the left; V_TILE_ROWS is the most. */

VINLINE vf32 vf32_zip_lo(vf32 a, vf32 b)
{
    return _mm256_permute2f128_ps(_mm256_unpacklo_ps(a, b),
                                  _mm256_unpackhi_ps(a, b), 0x20);
}

VINLINE vf32 vf32_zip_hi(vf32 a, vf32 b)
{
    return _mm256_permute2f128_ps(_mm256_unpacklo_ps(a, b),
                                  _mm256_unpackhi_ps(a, b), 0x31);
}

VINLINE vf64 vf64_zip_lo(vf64 a, vf64 b)
{
    return _mm256_permute2f128_pd(_mm256_unpacklo_pd(a, b),
                                  _mm256_unpackhi_pd(a, b), 0x20);
}

VINLINE vf64 vf64_zip_hi(vf64 a, vf64 b)
{
    return _mm256_permute2f128_pd(_mm256_unpacklo_pd(a, b),
                                  _mm256_unpackhi_pd(a, b), 0x31);
}

enum { V_TILE_ROWS = 6 };
#define V_EACH_TILE_ROWS(X) X(1) X(2) X(3) X(4) X(5) X(6)

#endif
