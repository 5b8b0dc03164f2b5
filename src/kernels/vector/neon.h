/* SPDX-License-Identifier: MIT */
/*
 * neon.h - the vector vocabulary on AArch64.
 *
 * Four floats or two doubles, fused multiply-add everywhere.
 */
#ifndef TAKT_KERNELS_VECTOR_NEON_H
#define TAKT_KERNELS_VECTOR_NEON_H

#include <arm_neon.h>
#include <math.h>

typedef float32x4_t vf32;
typedef float64x2_t vf64;
typedef int32x4_t vi32;
typedef int64x2_t vi64;
typedef uint32x4_t vm32;
typedef uint64x2_t vm64;

enum { VF32_LANES = 4, VF64_LANES = 2 };
enum { V_MASKS = 0 };

/* vf32: memory. */

/* clang-format off */
V_UNARY(vf32, vf32_load, const float *, vld1q_f32)
/* clang-format on */

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

/* clang-format off */
V_STORE(vf32_store, float *, vf32, vst1q_f32)
/* clang-format on */

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

/* There is no portable streaming store: an ordinary one keeps the meaning. */
/* clang-format off */
V_STORE(vf32_stream, float *, vf32, vst1q_f32)
/* clang-format on */

/* vf32: arithmetic. */

/* clang-format off */
V_UNARY(vf32, vf32_set1, float, vdupq_n_f32)
/* clang-format on */

VINLINE vf32 vf32_zero(void)
{
    return vdupq_n_f32(0.0F);
}

/* clang-format off */
V_BINARY(vf32, vf32_add, vf32, vaddq_f32)
V_BINARY(vf32, vf32_sub, vf32, vsubq_f32)
V_BINARY(vf32, vf32_mul, vf32, vmulq_f32)
V_BINARY(vf32, vf32_div, vf32, vdivq_f32)
V_UNARY(vf32, vf32_sqrt, vf32, vsqrtq_f32)
V_UNARY(vf32, vf32_abs, vf32, vabsq_f32)
V_UNARY(vf32, vf32_neg, vf32, vnegq_f32)
/* clang-format on */

VINLINE vf32 vf32_min(vf32 a, vf32 b)
{
    return vbslq_f32(vcltq_f32(a, b), a, b);
}

VINLINE vf32 vf32_max(vf32 a, vf32 b)
{
    return vbslq_f32(vcgtq_f32(a, b), a, b);
}

VINLINE vf32 vf32_fma(vf32 a, vf32 b, vf32 c)
{
    return vfmaq_f32(c, a, b);
}

VINLINE vf32 vf32_fnma(vf32 a, vf32 b, vf32 c)
{
    return vfmsq_f32(c, a, b);
}

VINLINE vf32 vf32_fused(vf32 a, vf32 b, vf32 c)
{
    return vfmaq_f32(c, a, b);
}

/* vf32: bits of floats, comparisons, masks. */

VINLINE vf32 vf32_and(vf32 a, vf32 b)
{
    return vreinterpretq_f32_u32(
        vandq_u32(vreinterpretq_u32_f32(a), vreinterpretq_u32_f32(b)));
}

VINLINE vf32 vf32_or(vf32 a, vf32 b)
{
    return vreinterpretq_f32_u32(
        vorrq_u32(vreinterpretq_u32_f32(a), vreinterpretq_u32_f32(b)));
}

VINLINE vf32 vf32_xor(vf32 a, vf32 b)
{
    return vreinterpretq_f32_u32(
        veorq_u32(vreinterpretq_u32_f32(a), vreinterpretq_u32_f32(b)));
}

VINLINE vf32 vf32_copysign(vf32 size, vf32 sign)
{
    return vbslq_f32(vdupq_n_u32(0x80000000U), sign, size);
}

/* clang-format off */
V_BINARY(vm32, vf32_lt, vf32, vcltq_f32)
V_BINARY(vm32, vf32_le, vf32, vcleq_f32)
V_BINARY(vm32, vf32_gt, vf32, vcgtq_f32)
V_BINARY(vm32, vf32_ge, vf32, vcgeq_f32)
V_BINARY(vm32, vf32_eq, vf32, vceqq_f32)
/* clang-format on */

VINLINE vm32 vf32_ne(vf32 a, vf32 b)
{
    return vmvnq_u32(vceqq_f32(a, b));
}

VINLINE vm32 vf32_isnan(vf32 a)
{
    return vmvnq_u32(vceqq_f32(a, a));
}

VINLINE vf32 vf32_select(vm32 m, vf32 a, vf32 b)
{
    return vbslq_f32(m, a, b);
}

/* clang-format off */
V_BINARY(vm32, vm32_and, vm32, vandq_u32)
V_BINARY(vm32, vm32_or, vm32, vorrq_u32)
V_UNARY(vm32, vm32_not, vm32, vmvnq_u32)
/* clang-format on */

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

/* vf32: across lanes. */

VINLINE float vf32_sum(vf32 v)
{
    const float32x2_t w = vadd_f32(vget_low_f32(v), vget_high_f32(v));
    return vget_lane_f32(w, 0) + vget_lane_f32(w, 1);
}

/* clang-format off */
V_UNARY(float, vf32_hmax, vf32, vmaxnmvq_f32)
V_UNARY(float, vf32_hmin, vf32, vminnmvq_f32)
/* clang-format on */

/* vi32. */

/* clang-format off */
V_UNARY(vi32, vi32_set1, int32_t, vdupq_n_s32)
V_UNARY(vi32, vi32_load, const int32_t *, vld1q_s32)
V_STORE(vi32_store, int32_t *, vi32, vst1q_s32)
V_BINARY(vi32, vi32_add, vi32, vaddq_s32)
V_BINARY(vi32, vi32_sub, vi32, vsubq_s32)
V_BINARY(vi32, vi32_and, vi32, vandq_s32)
V_BINARY(vi32, vi32_or, vi32, vorrq_s32)
V_BINARY(vi32, vi32_xor, vi32, veorq_s32)
/* clang-format on */

VINLINE vi32 vi32_shl(vi32 a, int by)
{
    return vshlq_s32(a, vdupq_n_s32(by));
}

VINLINE vi32 vi32_shr(vi32 a, int by)
{
    return vreinterpretq_s32_u32(
        vshlq_u32(vreinterpretq_u32_s32(a), vdupq_n_s32(-by)));
}

VINLINE vi32 vi32_sar(vi32 a, int by)
{
    return vshlq_s32(a, vdupq_n_s32(-by));
}

/* clang-format off */
V_BINARY(vm32, vi32_eq, vi32, vceqq_s32)
V_BINARY(vm32, vi32_gt, vi32, vcgtq_s32)
/* clang-format on */

VINLINE vi32 vi32_select(vm32 m, vi32 a, vi32 b)
{
    return vbslq_s32(m, a, b);
}

/* clang-format off */
V_UNARY(vi32, vf32_to_i32, vf32, vcvtnq_s32_f32)
V_UNARY(vf32, vi32_to_f32, vi32, vcvtq_f32_s32)
V_UNARY(vi32, vf32_as_i32, vf32, vreinterpretq_s32_f32)
V_UNARY(vf32, vi32_as_f32, vi32, vreinterpretq_f32_s32)
/* clang-format on */

/* vf64: memory. */

/* clang-format off */
V_UNARY(vf64, vf64_load, const double *, vld1q_f64)
/* clang-format on */

VINLINE vf64 vf64_load_n(const double *p, size_t n)
{
    if (n >= 2)
        return vld1q_f64(p);
    const vf64 v = vdupq_n_f64(0.0);
    return n == 0 ? v : vld1q_lane_f64(p, v, 0);
}

/* clang-format off */
V_STORE(vf64_store, double *, vf64, vst1q_f64)
/* clang-format on */

VINLINE void vf64_store_n(double *p, vf64 v, size_t n)
{
    if (n >= 2)
        vst1q_f64(p, v);
    else if (n == 1)
        vst1q_lane_f64(p, v, 0);
}

/* There is no portable streaming store: an ordinary one keeps the meaning. */
/* clang-format off */
V_STORE(vf64_stream, double *, vf64, vst1q_f64)
/* clang-format on */

/* vf64: arithmetic. */

/* clang-format off */
V_UNARY(vf64, vf64_set1, double, vdupq_n_f64)
/* clang-format on */

VINLINE vf64 vf64_zero(void)
{
    return vdupq_n_f64(0.0);
}

/* clang-format off */
V_BINARY(vf64, vf64_add, vf64, vaddq_f64)
V_BINARY(vf64, vf64_sub, vf64, vsubq_f64)
V_BINARY(vf64, vf64_mul, vf64, vmulq_f64)
V_BINARY(vf64, vf64_div, vf64, vdivq_f64)
V_UNARY(vf64, vf64_sqrt, vf64, vsqrtq_f64)
V_UNARY(vf64, vf64_abs, vf64, vabsq_f64)
V_UNARY(vf64, vf64_neg, vf64, vnegq_f64)
/* clang-format on */

VINLINE vf64 vf64_min(vf64 a, vf64 b)
{
    return vbslq_f64(vcltq_f64(a, b), a, b);
}

VINLINE vf64 vf64_max(vf64 a, vf64 b)
{
    return vbslq_f64(vcgtq_f64(a, b), a, b);
}

VINLINE vf64 vf64_fma(vf64 a, vf64 b, vf64 c)
{
    return vfmaq_f64(c, a, b);
}

VINLINE vf64 vf64_fnma(vf64 a, vf64 b, vf64 c)
{
    return vfmsq_f64(c, a, b);
}

VINLINE vf64 vf64_fused(vf64 a, vf64 b, vf64 c)
{
    return vfmaq_f64(c, a, b);
}

/* vf64: bits of floats, comparisons, masks. */

VINLINE vf64 vf64_and(vf64 a, vf64 b)
{
    return vreinterpretq_f64_u64(
        vandq_u64(vreinterpretq_u64_f64(a), vreinterpretq_u64_f64(b)));
}

VINLINE vf64 vf64_or(vf64 a, vf64 b)
{
    return vreinterpretq_f64_u64(
        vorrq_u64(vreinterpretq_u64_f64(a), vreinterpretq_u64_f64(b)));
}

VINLINE vf64 vf64_xor(vf64 a, vf64 b)
{
    return vreinterpretq_f64_u64(
        veorq_u64(vreinterpretq_u64_f64(a), vreinterpretq_u64_f64(b)));
}

VINLINE vf64 vf64_copysign(vf64 size, vf64 sign)
{
    return vbslq_f64(vdupq_n_u64(UINT64_C(1) << 63), sign, size);
}

/* clang-format off */
V_BINARY(vm64, vf64_lt, vf64, vcltq_f64)
V_BINARY(vm64, vf64_le, vf64, vcleq_f64)
V_BINARY(vm64, vf64_gt, vf64, vcgtq_f64)
V_BINARY(vm64, vf64_ge, vf64, vcgeq_f64)
V_BINARY(vm64, vf64_eq, vf64, vceqq_f64)
/* clang-format on */

VINLINE vm64 vf64_ne(vf64 a, vf64 b)
{
    return veorq_u64(vceqq_f64(a, b), vdupq_n_u64(UINT64_MAX));
}

VINLINE vm64 vf64_isnan(vf64 a)
{
    return veorq_u64(vceqq_f64(a, a), vdupq_n_u64(UINT64_MAX));
}

VINLINE vf64 vf64_select(vm64 m, vf64 a, vf64 b)
{
    return vbslq_f64(m, a, b);
}

/* clang-format off */
V_BINARY(vm64, vm64_and, vm64, vandq_u64)
V_BINARY(vm64, vm64_or, vm64, vorrq_u64)
/* clang-format on */

VINLINE vm64 vm64_not(vm64 m)
{
    return veorq_u64(m, vdupq_n_u64(UINT64_MAX));
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

/* vf64: across lanes. */

/* clang-format off */
V_UNARY(double, vf64_sum, vf64, vaddvq_f64)
V_UNARY(double, vf64_hmax, vf64, vmaxnmvq_f64)
V_UNARY(double, vf64_hmin, vf64, vminnmvq_f64)
/* clang-format on */

/* vi64. */

/* clang-format off */
V_UNARY(vi64, vi64_set1, int64_t, vdupq_n_s64)
V_UNARY(vi64, vi64_load, const int64_t *, vld1q_s64)
V_STORE(vi64_store, int64_t *, vi64, vst1q_s64)
V_BINARY(vi64, vi64_add, vi64, vaddq_s64)
V_BINARY(vi64, vi64_sub, vi64, vsubq_s64)
V_BINARY(vi64, vi64_and, vi64, vandq_s64)
V_BINARY(vi64, vi64_or, vi64, vorrq_s64)
V_BINARY(vi64, vi64_xor, vi64, veorq_s64)
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

/* clang-format off */
V_UNARY(vi64, vf64_as_i64, vf64, vreinterpretq_s64_f64)
V_UNARY(vf64, vi64_as_f64, vi64, vreinterpretq_f64_s64)
/* clang-format on */

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

/* Reductions. unordered: a or b is NaN. keep: stay in a register instead of
 * being loaded once per use. */

VINLINE vm32 vf32_unordered(vf32 a, vf32 b)
{
    return vf32_isnan(vmaxq_f32(a, b));
}

VINLINE vm64 vf64_unordered(vf64 a, vf64 b)
{
    return vf64_isnan(vmaxq_f64(a, b));
}

VINLINE vf32 vf32_keep(vf32 v)
{
    __asm__("" : "+w"(v));
    return v;
}

VINLINE vf64 vf64_keep(vf64 v)
{
    __asm__("" : "+w"(v));
    return v;
}

/* Matrix products. Interleaving: lo gives a0 b0 a1 b1 ... of the
 * first halves, hi of the second. V_EACH_TILE_ROWS(X) lists how many rows of a
 * product can be kept in registers, two vectors each, beside two vectors of
 * the right side and one of the left; V_TILE_ROWS is the most. */

/* clang-format off */
V_BINARY(vf32, vf32_zip_lo, vf32, vzip1q_f32)
V_BINARY(vf32, vf32_zip_hi, vf32, vzip2q_f32)
V_BINARY(vf64, vf64_zip_lo, vf64, vzip1q_f64)
V_BINARY(vf64, vf64_zip_hi, vf64, vzip2q_f64)
/* clang-format on */

/* 32 registers would hold more rows, but gcc loads A far ahead. */
enum { V_TILE_ROWS = 10 };
#define V_EACH_TILE_ROWS(X) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10)

#endif
