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

#define V_PREFIX _mm_
#define V_WIDTH 128
#include "kernels/vector/x86.h"

/* vf32: memory. */

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

/* vf32: arithmetic. */

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

VINLINE vi32 vi32_select(vm32 m, vi32 a, vi32 b)
{
    return _mm_castps_si128(
        vf32_select(m, _mm_castsi128_ps(a), _mm_castsi128_ps(b)));
}

/* vf64: memory. */

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

/* vf64: arithmetic. */

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
