/* SPDX-License-Identifier: MIT */
/*
 * avx2.h - the vector vocabulary on AVX2 with FMA.
 *
 * Eight floats or four doubles; a mask is a vector of all-one or all-zero
 * lanes.
 */
#pragma once

#include <immintrin.h>
#include <math.h>

typedef __m256 vf32;
typedef __m256d vf64;
typedef __m256i vi32;
typedef __m256i vi64;
typedef __m256 vm32;
typedef __m256d vm64;

enum { VF32_LANES = 8, VF64_LANES = 4 };
enum { V_MASKS = 0, V_FUSES = 1 };

#define V_PREFIX _mm256_
#define V_WIDTH 256
#define V_CMP(suffix_) _mm256_cmp_##suffix_
#include "kernels/vector/x86.h"

/* Memory. */

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

/* Across lanes. */

#define V_HALVES(name_, op_)                                               \
    VINLINE float vf32_##name_(vf32 v)                                     \
    {                                                                      \
        return fold4_##name_(_mm_##op_##_ps(_mm256_castps256_ps128(v),     \
                                            _mm256_extractf128_ps(v, 1))); \
    }                                                                      \
    VINLINE double vf64_##name_(vf64 v)                                    \
    {                                                                      \
        return fold2_##name_(_mm_##op_##_pd(_mm256_castpd256_pd128(v),     \
                                            _mm256_extractf128_pd(v, 1))); \
    }
/* clang-format off */
V_HALVES(sum, add)
V_HALVES(hmax, max)
V_HALVES(hmin, min)
/* clang-format on */

/* Only the highest bit of a lane chooses. */

VINLINE vm32 vm32_odd(vi32 a)
{
    return vi32_as_f32(vi32_shl(a, 31));
}

VINLINE vm64 vm64_odd(vi64 a)
{
    return vi64_as_f64(vi64_shl(a, 63));
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

/* The remainder corrects the quotient for the rounding of c + x. */
VINLINE vf64 vf64_ratio(vf64 a, vf64 c, vf64 x)
{
    const vf64 b = _mm256_add_pd(c, x);
    const vf64 inverse = _mm256_div_pd(_mm256_set1_pd(1.0), b);
    const vf64 q = _mm256_mul_pd(a, inverse);
    const vf64 rest = _mm256_fnmadd_pd(q, x, _mm256_fnmadd_pd(q, c, a));
    return _mm256_fmadd_pd(rest, inverse, q);
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

enum { V_TILE_ROWS = 6 };
#define V_EACH_TILE_ROWS(X) X(1) X(2) X(3) X(4) X(5) X(6)
