/* SPDX-License-Identifier: MIT */
/*
 * sse2.h - the vector vocabulary on plain x86-64.
 *
 * Four floats or two doubles; no fused multiply-add, no blend, no rounding
 * instruction.
 */
#ifndef TAKT_KERNELS_VECTOR_SSE2_H
#define TAKT_KERNELS_VECTOR_SSE2_H

#include <emmintrin.h>
#include <math.h>

typedef __m128 vf32;
typedef __m128d vf64;
typedef __m128i vi32;
typedef __m128i vi64;
typedef __m128 vm32;
typedef __m128d vm64;

enum { VF32_LANES = 4, VF64_LANES = 2 };
enum { V_MASKS = 0 };

/* vf32: memory. */

VINLINE vf32 vf32_load(const float *p)
{
    return _mm_loadu_ps(p);
}

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

VINLINE void vf32_store(float *p, vf32 v)
{
    _mm_storeu_ps(p, v);
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

VINLINE void vf32_stream(float *p, vf32 v)
{
    _mm_stream_ps(p, v);
}

/* vf32: arithmetic. */

VINLINE vf32 vf32_set1(float x)
{
    return _mm_set1_ps(x);
}

VINLINE vf32 vf32_zero(void)
{
    return _mm_setzero_ps();
}

VINLINE vf32 vf32_add(vf32 a, vf32 b)
{
    return _mm_add_ps(a, b);
}

VINLINE vf32 vf32_sub(vf32 a, vf32 b)
{
    return _mm_sub_ps(a, b);
}

VINLINE vf32 vf32_mul(vf32 a, vf32 b)
{
    return _mm_mul_ps(a, b);
}

VINLINE vf32 vf32_div(vf32 a, vf32 b)
{
    return _mm_div_ps(a, b);
}

VINLINE vf32 vf32_sqrt(vf32 a)
{
    return _mm_sqrt_ps(a);
}

VINLINE vf32 vf32_abs(vf32 a)
{
    return _mm_andnot_ps(_mm_set1_ps(-0.0F), a);
}

VINLINE vf32 vf32_neg(vf32 a)
{
    return _mm_xor_ps(a, _mm_set1_ps(-0.0F));
}

VINLINE vf32 vf32_min(vf32 a, vf32 b)
{
    return _mm_min_ps(a, b);
}

VINLINE vf32 vf32_max(vf32 a, vf32 b)
{
    return _mm_max_ps(a, b);
}

VINLINE vf32 vf32_fma(vf32 a, vf32 b, vf32 c)
{
    return _mm_add_ps(_mm_mul_ps(a, b), c);
}

VINLINE vf32 vf32_fnma(vf32 a, vf32 b, vf32 c)
{
    return _mm_sub_ps(c, _mm_mul_ps(a, b));
}

/* One rounding, which takes a detour through libm for each lane. */
VINLINE vf32 vf32_fused(vf32 a, vf32 b, vf32 c)
{
    float x[4], y[4], z[4];

    _mm_storeu_ps(x, a);
    _mm_storeu_ps(y, b);
    _mm_storeu_ps(z, c);
    for (int i = 0; i < 4; i++)
        x[i] = fmaf(x[i], y[i], z[i]);
    return _mm_loadu_ps(x);
}

/* vf32: bits of floats, comparisons, masks. */

VINLINE vf32 vf32_and(vf32 a, vf32 b)
{
    return _mm_and_ps(a, b);
}

VINLINE vf32 vf32_or(vf32 a, vf32 b)
{
    return _mm_or_ps(a, b);
}

VINLINE vf32 vf32_xor(vf32 a, vf32 b)
{
    return _mm_xor_ps(a, b);
}

VINLINE vf32 vf32_copysign(vf32 size, vf32 sign)
{
    const vf32 bit = _mm_set1_ps(-0.0F);
    return _mm_or_ps(_mm_and_ps(bit, sign), _mm_andnot_ps(bit, size));
}

VINLINE vm32 vf32_lt(vf32 a, vf32 b)
{
    return _mm_cmplt_ps(a, b);
}

VINLINE vm32 vf32_le(vf32 a, vf32 b)
{
    return _mm_cmple_ps(a, b);
}

VINLINE vm32 vf32_gt(vf32 a, vf32 b)
{
    return _mm_cmpgt_ps(a, b);
}

VINLINE vm32 vf32_ge(vf32 a, vf32 b)
{
    return _mm_cmpge_ps(a, b);
}

VINLINE vm32 vf32_eq(vf32 a, vf32 b)
{
    return _mm_cmpeq_ps(a, b);
}

VINLINE vm32 vf32_ne(vf32 a, vf32 b)
{
    return _mm_cmpneq_ps(a, b);
}

VINLINE vm32 vf32_isnan(vf32 a)
{
    return _mm_cmpunord_ps(a, a);
}

VINLINE vf32 vf32_select(vm32 m, vf32 a, vf32 b)
{
    return _mm_or_ps(_mm_and_ps(m, a), _mm_andnot_ps(m, b));
}

VINLINE vm32 vm32_and(vm32 a, vm32 b)
{
    return _mm_and_ps(a, b);
}

VINLINE vm32 vm32_or(vm32 a, vm32 b)
{
    return _mm_or_ps(a, b);
}

VINLINE vm32 vm32_not(vm32 m)
{
    return _mm_xor_ps(m, _mm_castsi128_ps(_mm_set1_epi32(-1)));
}

VINLINE unsigned vm32_bits(vm32 m)
{
    return (unsigned)_mm_movemask_ps(m);
}

VINLINE bool vm32_any(vm32 m)
{
    return _mm_movemask_ps(m) != 0;
}

VINLINE bool vm32_all(vm32 m)
{
    return _mm_movemask_ps(m) == 0xF;
}

/* vf32: across lanes. */

VINLINE float vf32_sum(vf32 v)
{
    v = _mm_add_ps(v, _mm_movehl_ps(v, v));
    return _mm_cvtss_f32(_mm_add_ss(v, _mm_shuffle_ps(v, v, 1)));
}

VINLINE float vf32_hmax(vf32 v)
{
    v = _mm_max_ps(v, _mm_movehl_ps(v, v));
    return _mm_cvtss_f32(_mm_max_ss(v, _mm_shuffle_ps(v, v, 1)));
}

VINLINE float vf32_hmin(vf32 v)
{
    v = _mm_min_ps(v, _mm_movehl_ps(v, v));
    return _mm_cvtss_f32(_mm_min_ss(v, _mm_shuffle_ps(v, v, 1)));
}

/* vi32. */

VINLINE vi32 vi32_set1(int32_t x)
{
    return _mm_set1_epi32(x);
}

VINLINE vi32 vi32_load(const int32_t *p)
{
    return _mm_loadu_si128((const __m128i *)(const void *)p);
}

VINLINE void vi32_store(int32_t *p, vi32 v)
{
    _mm_storeu_si128((__m128i *)(void *)p, v);
}

VINLINE vi32 vi32_add(vi32 a, vi32 b)
{
    return _mm_add_epi32(a, b);
}

VINLINE vi32 vi32_sub(vi32 a, vi32 b)
{
    return _mm_sub_epi32(a, b);
}

VINLINE vi32 vi32_and(vi32 a, vi32 b)
{
    return _mm_and_si128(a, b);
}

VINLINE vi32 vi32_or(vi32 a, vi32 b)
{
    return _mm_or_si128(a, b);
}

VINLINE vi32 vi32_xor(vi32 a, vi32 b)
{
    return _mm_xor_si128(a, b);
}

VINLINE vi32 vi32_shl(vi32 a, int by)
{
    return _mm_slli_epi32(a, by);
}

VINLINE vi32 vi32_shr(vi32 a, int by)
{
    return _mm_srli_epi32(a, by);
}

VINLINE vi32 vi32_sar(vi32 a, int by)
{
    return _mm_srai_epi32(a, by);
}

VINLINE vm32 vi32_eq(vi32 a, vi32 b)
{
    return _mm_castsi128_ps(_mm_cmpeq_epi32(a, b));
}

VINLINE vm32 vi32_gt(vi32 a, vi32 b)
{
    return _mm_castsi128_ps(_mm_cmpgt_epi32(a, b));
}

VINLINE vi32 vi32_select(vm32 m, vi32 a, vi32 b)
{
    return _mm_castps_si128(
        vf32_select(m, _mm_castsi128_ps(a), _mm_castsi128_ps(b)));
}

VINLINE vi32 vf32_to_i32(vf32 a)
{
    return _mm_cvtps_epi32(a);
}

VINLINE vf32 vi32_to_f32(vi32 a)
{
    return _mm_cvtepi32_ps(a);
}

VINLINE vi32 vf32_as_i32(vf32 a)
{
    return _mm_castps_si128(a);
}

VINLINE vf32 vi32_as_f32(vi32 a)
{
    return _mm_castsi128_ps(a);
}

/* vf64: memory. */

VINLINE vf64 vf64_load(const double *p)
{
    return _mm_loadu_pd(p);
}

VINLINE vf64 vf64_load_n(const double *p, size_t n)
{
    if (n >= 2)
        return _mm_loadu_pd(p);
    return n == 0 ? _mm_setzero_pd() : _mm_load_sd(p);
}

VINLINE void vf64_store(double *p, vf64 v)
{
    _mm_storeu_pd(p, v);
}

VINLINE void vf64_store_n(double *p, vf64 v, size_t n)
{
    if (n >= 2)
        _mm_storeu_pd(p, v);
    else if (n == 1)
        _mm_store_sd(p, v);
}

VINLINE void vf64_stream(double *p, vf64 v)
{
    _mm_stream_pd(p, v);
}

/* vf64: arithmetic. */

VINLINE vf64 vf64_set1(double x)
{
    return _mm_set1_pd(x);
}

VINLINE vf64 vf64_zero(void)
{
    return _mm_setzero_pd();
}

VINLINE vf64 vf64_add(vf64 a, vf64 b)
{
    return _mm_add_pd(a, b);
}

VINLINE vf64 vf64_sub(vf64 a, vf64 b)
{
    return _mm_sub_pd(a, b);
}

VINLINE vf64 vf64_mul(vf64 a, vf64 b)
{
    return _mm_mul_pd(a, b);
}

VINLINE vf64 vf64_div(vf64 a, vf64 b)
{
    return _mm_div_pd(a, b);
}

VINLINE vf64 vf64_sqrt(vf64 a)
{
    return _mm_sqrt_pd(a);
}

VINLINE vf64 vf64_abs(vf64 a)
{
    return _mm_andnot_pd(_mm_set1_pd(-0.0), a);
}

VINLINE vf64 vf64_neg(vf64 a)
{
    return _mm_xor_pd(a, _mm_set1_pd(-0.0));
}

VINLINE vf64 vf64_min(vf64 a, vf64 b)
{
    return _mm_min_pd(a, b);
}

VINLINE vf64 vf64_max(vf64 a, vf64 b)
{
    return _mm_max_pd(a, b);
}

VINLINE vf64 vf64_fma(vf64 a, vf64 b, vf64 c)
{
    return _mm_add_pd(_mm_mul_pd(a, b), c);
}

VINLINE vf64 vf64_fnma(vf64 a, vf64 b, vf64 c)
{
    return _mm_sub_pd(c, _mm_mul_pd(a, b));
}

VINLINE vf64 vf64_fused(vf64 a, vf64 b, vf64 c)
{
    double x[2], y[2], z[2];

    _mm_storeu_pd(x, a);
    _mm_storeu_pd(y, b);
    _mm_storeu_pd(z, c);
    for (int i = 0; i < 2; i++)
        x[i] = fma(x[i], y[i], z[i]);
    return _mm_loadu_pd(x);
}

/* vf64: bits of floats, comparisons, masks. */

VINLINE vf64 vf64_and(vf64 a, vf64 b)
{
    return _mm_and_pd(a, b);
}

VINLINE vf64 vf64_or(vf64 a, vf64 b)
{
    return _mm_or_pd(a, b);
}

VINLINE vf64 vf64_xor(vf64 a, vf64 b)
{
    return _mm_xor_pd(a, b);
}

VINLINE vf64 vf64_copysign(vf64 size, vf64 sign)
{
    const vf64 bit = _mm_set1_pd(-0.0);
    return _mm_or_pd(_mm_and_pd(bit, sign), _mm_andnot_pd(bit, size));
}

VINLINE vm64 vf64_lt(vf64 a, vf64 b)
{
    return _mm_cmplt_pd(a, b);
}

VINLINE vm64 vf64_le(vf64 a, vf64 b)
{
    return _mm_cmple_pd(a, b);
}

VINLINE vm64 vf64_gt(vf64 a, vf64 b)
{
    return _mm_cmpgt_pd(a, b);
}

VINLINE vm64 vf64_ge(vf64 a, vf64 b)
{
    return _mm_cmpge_pd(a, b);
}

VINLINE vm64 vf64_eq(vf64 a, vf64 b)
{
    return _mm_cmpeq_pd(a, b);
}

VINLINE vm64 vf64_ne(vf64 a, vf64 b)
{
    return _mm_cmpneq_pd(a, b);
}

VINLINE vm64 vf64_isnan(vf64 a)
{
    return _mm_cmpunord_pd(a, a);
}

VINLINE vf64 vf64_select(vm64 m, vf64 a, vf64 b)
{
    return _mm_or_pd(_mm_and_pd(m, a), _mm_andnot_pd(m, b));
}

VINLINE vm64 vm64_and(vm64 a, vm64 b)
{
    return _mm_and_pd(a, b);
}

VINLINE vm64 vm64_or(vm64 a, vm64 b)
{
    return _mm_or_pd(a, b);
}

VINLINE vm64 vm64_not(vm64 m)
{
    return _mm_xor_pd(m, _mm_castsi128_pd(_mm_set1_epi32(-1)));
}

VINLINE unsigned vm64_bits(vm64 m)
{
    return (unsigned)_mm_movemask_pd(m);
}

VINLINE bool vm64_any(vm64 m)
{
    return _mm_movemask_pd(m) != 0;
}

VINLINE bool vm64_all(vm64 m)
{
    return _mm_movemask_pd(m) == 0x3;
}

/* vf64: across lanes. */

VINLINE double vf64_sum(vf64 v)
{
    return _mm_cvtsd_f64(_mm_add_sd(v, _mm_unpackhi_pd(v, v)));
}

VINLINE double vf64_hmax(vf64 v)
{
    return _mm_cvtsd_f64(_mm_max_sd(v, _mm_unpackhi_pd(v, v)));
}

VINLINE double vf64_hmin(vf64 v)
{
    return _mm_cvtsd_f64(_mm_min_sd(v, _mm_unpackhi_pd(v, v)));
}

/* vi64. */

VINLINE vi64 vi64_set1(int64_t x)
{
    return _mm_set1_epi64x(x);
}

VINLINE vi64 vi64_load(const int64_t *p)
{
    return _mm_loadu_si128((const __m128i *)(const void *)p);
}

VINLINE void vi64_store(int64_t *p, vi64 v)
{
    _mm_storeu_si128((__m128i *)(void *)p, v);
}

VINLINE vi64 vi64_add(vi64 a, vi64 b)
{
    return _mm_add_epi64(a, b);
}

VINLINE vi64 vi64_sub(vi64 a, vi64 b)
{
    return _mm_sub_epi64(a, b);
}

VINLINE vi64 vi64_and(vi64 a, vi64 b)
{
    return _mm_and_si128(a, b);
}

VINLINE vi64 vi64_or(vi64 a, vi64 b)
{
    return _mm_or_si128(a, b);
}

VINLINE vi64 vi64_xor(vi64 a, vi64 b)
{
    return _mm_xor_si128(a, b);
}

VINLINE vi64 vi64_shl(vi64 a, int by)
{
    return _mm_slli_epi64(a, by);
}

VINLINE vi64 vi64_shr(vi64 a, int by)
{
    return _mm_srli_epi64(a, by);
}

VINLINE vi64 vf64_as_i64(vf64 a)
{
    return _mm_castpd_si128(a);
}

VINLINE vf64 vi64_as_f64(vi64 a)
{
    return _mm_castsi128_pd(a);
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
    return _mm_cmpunord_ps(a, b);
}

VINLINE vm64 vf64_unordered(vf64 a, vf64 b)
{
    return _mm_cmpunord_pd(a, b);
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
    return _mm_unpacklo_ps(a, b);
}

VINLINE vf32 vf32_zip_hi(vf32 a, vf32 b)
{
    return _mm_unpackhi_ps(a, b);
}

VINLINE vf64 vf64_zip_lo(vf64 a, vf64 b)
{
    return _mm_unpacklo_pd(a, b);
}

VINLINE vf64 vf64_zip_hi(vf64 a, vf64 b)
{
    return _mm_unpackhi_pd(a, b);
}

/* Without fma a product needs a register of its own, so fewer rows. */
enum { V_TILE_ROWS = 4 };
#define V_EACH_TILE_ROWS(X) X(1) X(2) X(3) X(4)

#endif
