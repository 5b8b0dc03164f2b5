/* SPDX-License-Identifier: MIT */
/*
 * neon.h - the vector vocabulary on AArch64.
 *
 * Four floats or two doubles, fused multiply-add everywhere.
 */
#pragma once

#include <arm_neon.h>
#include <math.h>

typedef float32x4_t vf32;
typedef float64x2_t vf64;
typedef int32x4_t vi32;
typedef int64x2_t vi64;
typedef uint32x4_t vm32;
typedef uint64x2_t vm64;

enum { VF32_LANES = 4, VF64_LANES = 2 };
enum { V_MASKS = 0, V_FUSES = 1 };

/* NX(addq) is vaddq_f32, NU(orrq) is vorrq_u32; and then those of doubles. */
#include "kernels/vector/f32.h"
#define NX(name_) v##name_##_f32
#define NU(name_) v##name_##_u32
#define NX_FROM_U vreinterpretq_f32_u32
#define NU_FROM_X vreinterpretq_u32_f32
#include "kernels/vector/neon_real.h"
#undef NX
#undef NU
#undef NX_FROM_U
#undef NU_FROM_X
#include "kernels/vector/f64.h"
#define NX(name_) v##name_##_f64
#define NU(name_) v##name_##_u64
#define NX_FROM_U vreinterpretq_f64_u64
#define NU_FROM_X vreinterpretq_u64_f64
#include "kernels/vector/neon_real.h"
#undef NX
#undef NU
#undef NX_FROM_U
#undef NU_FROM_X
#include "kernels/vector/no_dtype.h"

/* vf32. */

VINLINE vf32 vf32_load_n(const float *p, size_t n)
{
    vf32 v = vdupq_n_f32(0.0F);
    switch (n) {
    case 0:
        return v;
    case 1:
        return vld1q_lane_f32(p, v, 0);
    case 2:
        return vcombine_f32(vld1_f32(p), vget_low_f32(v));
    case 3:
        v = vcombine_f32(vld1_f32(p), vget_low_f32(v));
        return vld1q_lane_f32(p + 2, v, 2);
    default:
        return vld1q_f32(p);
    }
}

VINLINE void vf32_store_n(float *p, vf32 v, size_t n)
{
    if (n >= 4) {
        vst1q_f32(p, v);
        return;
    }
    if ((n & 2) != 0) {
        vst1_f32(p, vget_low_f32(v));
        v = vcombine_f32(vget_high_f32(v), vget_high_f32(v));
        p += 2;
    }
    if ((n & 1) != 0)
        vst1q_lane_f32(p, v, 0);
}

VINLINE unsigned vm32_bits(vm32 m)
{
    static const uint32_t weights[4] = {1, 2, 4, 8};
    return vaddvq_u32(vandq_u32(m, vld1q_u32(weights)));
}

VINLINE bool vm32_any(vm32 m)
{
    return vmaxvq_u32(m) != 0;
}

VINLINE bool vm32_all(vm32 m)
{
    return vminvq_u32(m) != 0;
}

VINLINE float vf32_sum(vf32 v)
{
    const float32x2_t w = vadd_f32(vget_low_f32(v), vget_high_f32(v));
    return vget_lane_f32(w, 0) + vget_lane_f32(w, 1);
}

/* vi32. */

/* clang-format off */
V_UNARY(vi32, vi32_set1, int32_t, vdupq_n_s32)
V_BINARY(vi32, vi32_add, vi32, vaddq_s32)
V_BINARY(vi32, vi32_sub, vi32, vsubq_s32)
V_UNARY(vi32, vf32_to_i32, vf32, vcvtnq_s32_f32)
V_UNARY(vf32, vi32_to_f32, vi32, vcvtq_f32_s32)
V_UNARY(vi32, vf32_as_i32, vf32, vreinterpretq_s32_f32)
V_UNARY(vf32, vi32_as_f32, vi32, vreinterpretq_f32_s32)
/* clang-format on */

VINLINE vi32 vi32_shl(vi32 a, int by)
{
    return vshlq_s32(a, vdupq_n_s32(by));
}

VINLINE vi32 vi32_sar(vi32 a, int by)
{
    return vshlq_s32(a, vdupq_n_s32(-by));
}

/* vf64. */

VINLINE vf64 vf64_load_n(const double *p, size_t n)
{
    if (n >= 2)
        return vld1q_f64(p);
    const vf64 v = vdupq_n_f64(0.0);
    return n == 0 ? v : vld1q_lane_f64(p, v, 0);
}

VINLINE void vf64_store_n(double *p, vf64 v, size_t n)
{
    if (n >= 2)
        vst1q_f64(p, v);
    else if (n == 1)
        vst1q_lane_f64(p, v, 0);
}

VINLINE unsigned vm64_bits(vm64 m)
{
    return (unsigned)((vgetq_lane_u64(m, 0) & 1) | (vgetq_lane_u64(m, 1) & 2));
}

VINLINE bool vm64_any(vm64 m)
{
    return (vgetq_lane_u64(m, 0) | vgetq_lane_u64(m, 1)) != 0;
}

VINLINE bool vm64_all(vm64 m)
{
    return (vgetq_lane_u64(m, 0) & vgetq_lane_u64(m, 1)) != 0;
}

/* clang-format off */
V_UNARY(double, vf64_sum, vf64, vaddvq_f64)
/* clang-format on */

/* vi64. */

/* clang-format off */
V_BINARY(vi64, vi64_add, vi64, vaddq_s64)
V_BINARY(vi64, vi64_sub, vi64, vsubq_s64)
V_UNARY(vi64, vf64_as_i64, vf64, vreinterpretq_s64_f64)
V_UNARY(vf64, vi64_as_f64, vi64, vreinterpretq_f64_s64)
/* clang-format on */

VINLINE vi64 vi64_shl(vi64 a, int by)
{
    return vshlq_s64(a, vdupq_n_s64(by));
}

VINLINE vi64 vi64_shr(vi64 a, int by)
{
    return vreinterpretq_s64_u64(
        vshlq_u64(vreinterpretq_u64_s64(a), vdupq_n_s64(-by)));
}

VINLINE vm32 vm32_odd(vi32 a)
{
    return vtstq_s32(a, vdupq_n_s32(1));
}

VINLINE vm64 vm64_odd(vi64 a)
{
    return vtstq_s64(a, vdupq_n_s64(1));
}

/* Between widths. */

VINLINE vf64 vf32_widen_lo(vf32 v)
{
    return vcvt_f64_f32(vget_low_f32(v));
}

/* clang-format off */
V_UNARY(vf64, vf32_widen_hi, vf32, vcvt_high_f64_f32)
/* clang-format on */

VINLINE vf32 vf64_narrow(vf64 lo, vf64 hi)
{
    return vcvt_high_f32_f64(vcvt_f32_f64(lo), hi);
}

#include "kernels/vector/powers.h"

/* Quotients. */

/* The remainder corrects the quotient for the rounding of c + x. */
VINLINE vf32 vf32_ratio(vf32 a, vf32 c, vf32 x)
{
    const vf32 b = vaddq_f32(c, x);
    const vf32 q = vdivq_f32(a, b);
    const vf32 rest = vfmsq_f32(vfmsq_f32(a, q, c), q, x);
    return vfmaq_f32(q, rest, vrecpeq_f32(b));
}

VINLINE vf64 vf64_ratio(vf64 a, vf64 c, vf64 x)
{
    const vf64 b = vaddq_f64(c, x);
    const vf64 inverse = vdivq_f64(vdupq_n_f64(1.0), b);
    const vf64 q = vmulq_f64(a, inverse);
    const vf64 rest = vfmsq_f64(vfmsq_f64(a, q, c), q, x);
    return vfmaq_f64(q, rest, inverse);
}

/* Square tiles: v[i] lane j becomes v[j] lane i. */

VINLINE vf32 vf32_zip_pairs(vf32 a, vf32 b, bool high)
{
    const vf64 x = vreinterpretq_f64_f32(a);
    const vf64 y = vreinterpretq_f64_f32(b);
    return vreinterpretq_f32_f64(high ? vzip2q_f64(x, y) : vzip1q_f64(x, y));
}

VINLINE void vf32_transpose(vf32 v[VF32_LANES])
{
    const vf32 even0 = vtrn1q_f32(v[0], v[1]);
    const vf32 odd0 = vtrn2q_f32(v[0], v[1]);
    const vf32 even1 = vtrn1q_f32(v[2], v[3]);
    const vf32 odd1 = vtrn2q_f32(v[2], v[3]);
    v[0] = vf32_zip_pairs(even0, even1, false);
    v[1] = vf32_zip_pairs(odd0, odd1, false);
    v[2] = vf32_zip_pairs(even0, even1, true);
    v[3] = vf32_zip_pairs(odd0, odd1, true);
}

VINLINE void vf64_transpose(vf64 v[VF64_LANES])
{
    const vf64 lo = vzip1q_f64(v[0], v[1]);
    v[1] = vzip2q_f64(v[0], v[1]);
    v[0] = lo;
}

/* Memory order. */

VINLINE void v_fence(void)
{
}

VINLINE void v_prefetch(const void *p)
{
    __builtin_prefetch(p);
}

/* 32 registers would hold more rows, but gcc loads A far ahead. */
enum { V_TILE_ROWS = 10 };
#define V_EACH_TILE_ROWS(X) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10)
