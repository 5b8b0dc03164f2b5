/* SPDX-License-Identifier: MIT */
/*
 * math.h - exp, log, sigmoid, tanh and gelu on vectors of float.
 *
 * Each is within 2 units in the last place of the true value for every float,
 * denormals, overflow and underflow included, without branches; measured over
 * all 2^32 inputs. exp is reduced to |r| <= ln 2 / 2 and a polynomial of
 * degree 6; everything but log stands on it. gelu alone runs in double: its
 * tail multiplies an exponential of x^2 with a quotient, and in float the
 * roundings of those add up to more than is promised.
 *
 * The polynomials are minimax fits (Remez) of the relative error.
 */
#pragma once

#include "kernels/vector/isa.h"

/* x = k ln 2 + r with a whole k, for |x| < 2^20. */
struct vf32_octaves {
    vf32 k;
    vf32 r;
    vi32 k_bits; /* the low bits are those of k */
};

/* Adding 1.5 * 2^23 leaves the nearest whole number in the low bits. The first
 * part of ln 2 is short enough for k times it to be exact without fma. */
VINLINE struct vf32_octaves vf32_octaves(vf32 x)
{
    const vf32 magic = vf32_set1(0x1.8p23F);
    const vf32 log2_e = vf32_set1(0x1.715476p0F);
    const vf32 ln2_head = vf32_set1(0x1.62e4p-1F);
    const vf32 ln2_rest = vf32_set1(0x1.7f7d1cp-20F);

    const vf32 shifted = vf32_fma(x, log2_e, magic);
    const vf32 k = vf32_sub(shifted, magic);
    const vf32 r = vf32_fnma(k, ln2_rest, vf32_fnma(k, ln2_head, x));
    return (struct vf32_octaves){k, r, vf32_as_i32(shifted)};
}

/* exp(r) - 1 for |r| <= ln 2 / 2. */
VINLINE vf32 vf32_expm1_near(vf32 r)
{
    vf32 q = vf32_set1(0x1.6a2434p-10F);
    q = vf32_fma(q, r, vf32_set1(0x1.1239e2p-7F));
    q = vf32_fma(q, r, vf32_set1(0x1.5558f2p-5F));
    q = vf32_fma(q, r, vf32_set1(0x1.555492p-3F));
    q = vf32_fma(q, r, vf32_set1(0x1.fffffcp-2F));
    return vf32_fma(q, vf32_mul(r, r), r);
}

/* exp where x <= 89 is known, NaN included; anything below -104 gives 0. */
VINLINE vf32 vf32_exp_bounded(vf32 x)
{
    const vf32 floor = vf32_set1(-104.0F);
    const struct vf32_octaves x2 = vf32_octaves(vf32_max(floor, x));
    const vf32 near = vf32_add(vf32_set1(1.0F), vf32_expm1_near(x2.r));
    return vf32_ldexp(near, x2.k);
}

VINLINE vf32 vf32_exp(vf32 x)
{
    return vf32_exp_bounded(vf32_min(vf32_set1(89.0F), x));
}

/* log(1 + f) - f + f^2 / 2 for -0.25 <= f <= 0.5. */
VINLINE vf32 vf32_log1p_rest(vf32 f, vf32 f2)
{
    vf32 q = vf32_set1(-0x1.7140c2p-5F);
    q = vf32_fma(q, f, vf32_set1(0x1.ac90cp-4F));
    q = vf32_fma(q, f, vf32_set1(-0x1.0d8a8cp-3F));
    q = vf32_fma(q, f, vf32_set1(0x1.28847cp-3F));
    q = vf32_fma(q, f, vf32_set1(-0x1.54efdcp-3F));
    q = vf32_fma(q, f, vf32_set1(0x1.9969bp-3F));
    q = vf32_fma(q, f, vf32_set1(-0x1.00004p-2F));
    q = vf32_fma(q, f, vf32_set1(0x1.5555a4p-2F));
    return vf32_mul(vf32_mul(q, f), f2);
}

VINLINE vf32 vf32_log(vf32 x)
{
    const vf32 mantissa = vf32_mantissa(x);
    const vf32 k = vf32_exponent(x, mantissa);
    const vf32 f = vf32_sub(mantissa, vf32_set1(1.0F));
    const vf32 f2 = vf32_mul(f, f);

    vf32 y = vf32_log1p_rest(f, f2);
    y = vf32_fma(k, vf32_set1(0x1.7f7d1cp-20F), y);
    y = vf32_fnma(vf32_set1(0.5F), f2, y);
    y = vf32_fma(k, vf32_set1(0x1.62e4p-1F), vf32_add(f, y));
    return vf32_log_special(x, y);
}

/* From exp(-|x|), which cannot overflow: the small side keeps its precision
 * down to the denormals. */
VINLINE vf32 vf32_sigmoid(vf32 x)
{
    const vf32 one = vf32_set1(1.0F);
    const vf32 e = vf32_exp_bounded(vf32_or(x, vf32_set1(-0.0F)));
    const vf32 top = vf32_select(vf32_lt(x, vf32_zero()), e, one);
    return vf32_ratio(top, one, e);
}

/* tanh |x| = -m / (2 + m) with m = exp(-2 |x|) - 1, which is small with x. */
VINLINE vf32 vf32_tanh(vf32 x)
{
    const vf32 floor = vf32_set1(-10.0F); /* tanh 10 is 1 */
    const vf32 minus = vf32_max(floor, vf32_or(x, vf32_set1(-0.0F)));
    const struct vf32_octaves z = vf32_octaves(vf32_add(minus, minus));

    const vi32 one_bits = vi32_set1(0x3F800000);
    const vf32 scale = vi32_as_f32(vi32_add(vi32_shl(z.k_bits, 23), one_bits));
    const vf32 m =
        vf32_fma(vf32_expm1_near(z.r), scale, vf32_sub(scale, vf32_set1(1.0F)));
    return vf32_copysign(vf32_ratio(m, vf32_set1(2.0F), m), x);
}

/* exp(x) in double, for -200 < x <= 0, to float precision. */
VINLINE vf64 vf64_exp_rough(vf64 x)
{
    const vf64 magic = vf64_set1(0x1.8p52);
    const vf64 shifted = vf64_fma(x, vf64_set1(0x1.71547652b82fep0), magic);
    const vf64 k = vf64_sub(shifted, magic);
    const vf64 r = vf64_fnma(k, vf64_set1(0x1.62e42fefa39efp-1), x);

    vf64 q = vf64_set1(0x1.6a24343fac76dp-10);
    q = vf64_fma(q, r, vf64_set1(0x1.1239e299b6110p-7));
    q = vf64_fma(q, r, vf64_set1(0x1.5558f17d64c87p-5));
    q = vf64_fma(q, r, vf64_set1(0x1.555491542ca1ep-3));
    q = vf64_fma(q, r, vf64_set1(0x1.fffffb9a56921p-2));
    const vf64 near = vf64_add(vf64_set1(1.0), vf64_fma(q, vf64_mul(r, r), r));
    const vi64 octaves = vi64_shl(vf64_as_i64(shifted), 52);
    return vi64_as_f64(vi64_add(vf64_as_i64(near), octaves));
}

/* exp(x^2 / 2) times the normal tail beyond x, for 0 <= x <= 16: a polynomial
 * in t = 1 / (1 + 0.3 x), which flattens it. */
VINLINE vf64 vf64_mills(vf64 x)
{
    const vf64 one = vf64_set1(1.0);
    const vf64 t = vf64_div(one, vf64_fma(x, vf64_set1(0.3), one));

    vf64 q = vf64_set1(-0.020630062257531567);
    q = vf64_fma(q, t, vf64_set1(0.11247264418456929));
    q = vf64_fma(q, t, vf64_set1(-0.22830388333241933));
    q = vf64_fma(q, t, vf64_set1(0.1919096966504919));
    q = vf64_fma(q, t, vf64_set1(-0.07953199502557079));
    q = vf64_fma(q, t, vf64_set1(0.09621769618420978));
    q = vf64_fma(q, t, vf64_set1(0.07836760946804915));
    q = vf64_fma(q, t, vf64_set1(0.11024038169413519));
    q = vf64_fma(q, t, vf64_set1(0.11957118698716931));
    q = vf64_fma(q, t, vf64_set1(0.1196867237127047));
    return vf64_mul(q, t);
}

/* x times the normal distribution up to x. Beyond 16 the tail is no float. */
VINLINE vf64 vf64_gelu(vf64 x)
{
    const vf64 zero = vf64_zero();
    const vf64 far = vf64_set1(16.0);
    const vf64 size = vf64_min(far, vf64_abs(x));
    const vf64 power = vf64_mul(vf64_mul(vf64_set1(-0.5), size), size);

    vf64 tail = vf64_mul(vf64_mills(size), vf64_exp_rough(power));
    tail = vf64_select(vf64_lt(size, far), tail, zero);
    const vf64 most = vf64_sub(vf64_set1(1.0), tail);
    return vf64_mul(x, vf64_select(vf64_lt(x, zero), tail, most));
}

VINLINE vf32 vf32_gelu(vf32 x)
{
    return vf64_narrow(vf64_gelu(vf32_widen_lo(x)),
                       vf64_gelu(vf32_widen_hi(x)));
}
