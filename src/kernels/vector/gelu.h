/* SPDX-License-Identifier: MIT */
/*
 * gelu.h - x times the normal distribution up to x, on vectors.
 *
 * The tail of the distribution is exp(-x^2 / 2) times Mills' ratio, which is a
 * polynomial in a quotient that flattens it. Floats are computed in double.
 * Doubles need x^2 and a product to more digits than they have, so fma; without
 * it, libm computes each lane.
 */
#pragma once

#include "kernels/gelu.h"
#include "kernels/vector/math.h"

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
VINLINE vf64 vf64_gelu_rough(vf64 x)
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
    return vf64_narrow(vf64_gelu_rough(vf32_widen_lo(x)),
                       vf64_gelu_rough(vf32_widen_hi(x)));
}

/* exp(x^2 / 2) times the normal tail beyond x, divided by t = 1 / (1 + x / 4),
 * for 0 <= x <= 39; v is t - 0.25. The first part of the sum, and v times
 * `slope` is the other. */
struct vf64_mills_parts {
    vf64 head, slope;
};

VINLINE struct vf64_mills_parts vf64_mills_parts(vf64 v)
{
    static const double c[] = {
        0x1.70d59ae195a55p-10,  -0x1.5c20639cae6acp-7, 0x1.20ded1d6eb28p-5,
        -0x1.0cda60486931dp-4,  0x1.211633a9a3057p-4,  -0x1.2d8eea63b086p-5,
        -0x1.097b183b16c86p-12, 0x1.7ec864448954fp-9,  0x1.391744887321ap-7,
        -0x1.8573c8e671f01p-11, -0x1.67f254256923cp-7, -0x1.05ec6a982aaaap-8,
        0x1.6be02a8c287dap-7,   0x1.a0aa607c6d24fp-7,  -0x1.6441ac447db25p-8,
        -0x1.9cb0fee2e2dacp-6,  -0x1.550fd46d3fa2cp-6, 0x1.2df786f3e7561p-6,
        0x1.4a9f31b9c78e3p-4,   0x1.21dbca34089fdp-3,  0x1.6fa9ad6f619cep-3,
        0x1.7d99fbc7fcf47p-3,   0x1.5547ed57324b9p-3,
    };
    vf64 q = vf64_set1(c[0]);

    for (size_t i = 1; i < sizeof c / sizeof c[0]; i++)
        q = vf64_fma(q, v, vf64_set1(c[i]));
    return (struct vf64_mills_parts){vf64_set1(0x1.0e7dcd1d93192p-3), q};
}

/* |x| times the normal tail beyond |x|. Beyond 39 it is no double. What the
 * square, the last sum and the last product lose is added where it counts. */
VINLINE vf64 vf64_gelu_tail(vf64 x)
{
    const vf64 one = vf64_set1(1.0), quarter = vf64_set1(0.25);
    const vf64 size = vf64_at_most(vf64_set1(39.0), vf64_abs(x));
    const vf64 square = vf64_mul(size, size);
    const vf64 less = vf64_fnma(size, size, square);
    const vf64 half = vf64_set1(0.5);
    const struct vf64_octaves x2 =
        vf64_octaves(vf64_neg(vf64_mul(half, square)));
    const vf64 r = vf64_fma(half, less, vf64_reduced(x2));
    const vf64 e = vf64_fma(vf64_expm1_rest(r), vf64_mul(r, r), r);

    const vf64 s = vf64_ratio(size, one, vf64_mul(quarter, size));
    const vf64 v = vf64_fnma(quarter, s, vf64_set1(1 - 0.25));
    const struct vf64_mills_parts mills = vf64_mills_parts(v);
    const vf64 q = vf64_fma(v, mills.slope, mills.head);
    const vf64 q_rest = vf64_fma(v, mills.slope, vf64_sub(mills.head, q));
    const vf64 y = vf64_mul(s, q);
    const vf64 rest = vf64_fma(s, q_rest, vf64_fma(s, q, vf64_neg(y)));
    return vf64_ldexp(vf64_add(y, vf64_fma(y, e, rest)), x2.k);
}

static __attribute__((noinline, unused)) vf64 vf64_gelu_each(vf64 x)
{
    double of[VF64_LANES];

    vf64_store(of, x);
    for (int i = 0; i < VF64_LANES; i++)
        of[i] = takt__gelu(of[i]);
    return vf64_load(of);
}

/* -inf times nothing is NaN. */
VINLINE vf64 vf64_gelu(vf64 x)
{
    const vf64 zero = vf64_zero(), one = vf64_set1(1.0);

    if (!V_FUSES)
        return vf64_gelu_each(x);
    const vf64 all = vf64_select(vf64_lt(x, zero), zero, one);
    return vf64_sub(vf64_mul(x, all), vf64_gelu_tail(x));
}
