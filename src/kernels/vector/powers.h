/* SPDX-License-Identifier: MIT */
/*
 * powers.h - taking floats apart into mantissa and power of two, on
 * instruction sets that have no instruction for it.
 *
 * Included by their headers, after the words it is made of.
 */
#pragma once

/* In two steps, so that 2^k itself never leaves the range and a denormal
 * result is rounded once. */
VINLINE vf32 vf32_ldexp(vf32 x, vf32 k)
{
    const vi32 n = vf32_to_i32(k);
    const vi32 half = vi32_sar(n, 1);
    const vi32 bias = vi32_set1(127);
    const vi32 first = vi32_shl(vi32_add(half, bias), 23);
    const vi32 second = vi32_shl(vi32_add(vi32_sub(n, half), bias), 23);
    return vf32_mul(vf32_mul(x, vi32_as_f32(first)), vi32_as_f32(second));
}

/* Normal numbers pass; denormals are scaled up by 2^24 first. */
VINLINE vf32 vf32_renormal(vf32 x)
{
    const vm32 tiny = vf32_lt(x, vf32_set1(0x1p-126F));
    return vf32_select(tiny, vf32_mul(x, vf32_set1(0x1p24F)), x);
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
