/* SPDX-License-Identifier: MIT */
/*
 * powers.h - taking numbers apart into mantissa and power of two, on
 * instruction sets that have no instruction for it.
 *
 * Included by their headers, after the words it is made of.
 */
#pragma once

/* 2^k; k is in the low bits of k + 1.5 * 2^23. */
VINLINE vf32 vf32_power(vf32 k)
{
    const vi32 bits = vf32_as_i32(vf32_add(k, vf32_set1(0x1.8p23F)));
    return vi32_as_f32(
        vi32_add(vi32_shl(bits, 23), vf32_as_i32(vf32_set1(1.0F))));
}

/* In two steps, so that 2^k itself never leaves the range and a denormal
 * result is rounded once. */
VINLINE vf32 vf32_ldexp(vf32 x, vf32 k)
{
    const vf32 magic = vf32_set1(0x1.8p23F);
    const vf32 half = vf32_sub(vf32_fma(k, vf32_set1(0.5F), magic), magic);
    return vf32_mul(vf32_mul(x, vf32_power(half)),
                    vf32_power(vf32_sub(k, half)));
}

/* Normal numbers pass; denormals are scaled up by 2^24 first. */
VINLINE vf32 vf32_renormal(vf32 x)
{
    const vm32 tiny = vf32_lt(vf32_abs(x), vf32_set1(0x1p-126F));
    return vf32_mul(x, vf32_select(tiny, vf32_set1(0x1p24F), vf32_set1(1.0F)));
}

/* Offset that makes the exponent field of 0.75 the first of its octave. */
VINLINE vi32 vf32_octave(vf32 x)
{
    const vi32 from = vi32_set1(0x3F400000);
    return vi32_sar(vi32_sub(vf32_as_i32(vf32_renormal(x)), from), 23);
}

VINLINE vf32 vf32_mantissa(vf32 x)
{
    const vi32 bits = vf32_as_i32(vf32_renormal(x));
    return vi32_as_f32(vi32_sub(bits, vi32_shl(vf32_octave(x), 23)));
}

VINLINE vf32 vf32_exponent(vf32 x, vf32 mantissa)
{
    const vm32 tiny = vf32_lt(x, vf32_set1(0x1p-126F));
    const vf32 shift = vf32_select(tiny, vf32_set1(24.0F), vf32_zero());
    (void)mantissa;
    return vf32_sub(vi32_to_f32(vf32_octave(x)), shift);
}

/* `log` where x is positive and finite, else what the logarithm of x is. */
VINLINE vf32 vf32_log_special(vf32 x, vf32 log)
{
    const vf32 zero = vf32_zero();
    log = vf32_select(vf32_lt(x, vf32_set1(INFINITY)), log, x);
    log = vf32_select(vf32_eq(x, zero), vf32_set1(-INFINITY), log);
    return vf32_select(vf32_lt(x, zero), vf32_set1(NAN), log);
}

/* The same of doubles. There are no shifts of 64 bits that keep the sign. */

VINLINE vf64 vf64_power(vf64 k)
{
    const vi64 bits = vf64_as_i64(vf64_add(k, vf64_set1(0x1.8p52)));
    return vi64_as_f64(
        vi64_add(vi64_shl(bits, 52), vf64_as_i64(vf64_set1(1.0))));
}

VINLINE vf64 vf64_ldexp(vf64 x, vf64 k)
{
    const vf64 magic = vf64_set1(0x1.8p52);
    const vf64 half = vf64_sub(vf64_fma(k, vf64_set1(0.5), magic), magic);
    return vf64_mul(vf64_mul(x, vf64_power(half)),
                    vf64_power(vf64_sub(k, half)));
}

VINLINE vf64 vf64_renormal(vf64 x)
{
    const vm64 tiny = vf64_lt(vf64_abs(x), vf64_set1(0x1p-1022));
    return vf64_mul(x, vf64_select(tiny, vf64_set1(0x1p54), vf64_set1(1.0)));
}

/* In its exponent field: 1024 more than the exponent; below it, where between
 * 0.75 and 1.5 the mantissa is. */
VINLINE vi64 vf64_octave(vf64 x)
{
    const vi64 from = vf64_as_i64(vf64_set1(0.75));
    const vi64 bias = vf64_as_i64(vf64_set1(2.0));
    return vi64_add(vi64_sub(vf64_as_i64(vf64_renormal(x)), from), bias);
}

VINLINE vf64 vf64_mantissa(vf64 x)
{
    const vf64 field = vf64_set1(0x0.fffffffffffffp-1022);
    const vf64 part = vf64_and(vi64_as_f64(vf64_octave(x)), field);
    return vi64_as_f64(
        vi64_add(vf64_as_i64(part), vf64_as_i64(vf64_set1(0.75))));
}

VINLINE vf64 vf64_exponent(vf64 x, vf64 mantissa)
{
    const vf64 magic = vf64_set1(0x1p52);
    const vm64 tiny = vf64_lt(x, vf64_set1(0x1p-1022));
    const vf64 shift =
        vf64_select(tiny, vf64_set1(1024.0 + 54.0), vf64_set1(1024.0));
    const vf64 biased = vi64_as_f64(vi64_shr(vf64_octave(x), 52));
    (void)mantissa;
    return vf64_sub(vf64_sub(vf64_or(biased, magic), magic), shift);
}

VINLINE vf64 vf64_log_special(vf64 x, vf64 log)
{
    const vf64 zero = vf64_zero();
    log = vf64_select(vf64_lt(x, vf64_set1((double)INFINITY)), log, x);
    log = vf64_select(vf64_eq(x, zero), vf64_set1(-(double)INFINITY), log);
    return vf64_select(vf64_lt(x, zero), vf64_set1((double)NAN), log);
}

/* Tables take too long. */
#define V_PICKS 0
