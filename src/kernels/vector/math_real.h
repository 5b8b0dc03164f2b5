/* SPDX-License-Identifier: MIT */
/*
 * math_real.h - the functions of math.h for one dtype.
 *
 * Included by math.h for each dtype (see f32.h). exp is reduced to
 * |r| <= ln 2 / 2, log to a mantissa from 0.75 to 1.5 and, where V_PICKS, to
 * the distance from a center near it.
 */

/* The first part of ln 2 is short enough for k times it to be exact without
 * fma. */
#define LN2_HEAD V(set1)(EITHER(0x1.62e4p-1F, 0x1.62e42fefa38p-1))
#define LN2_REST V(set1)(EITHER(0x1.7f7d1cp-20F, 0x1.ef35793c7673p-45))

/* ---- exponentials -------------------------------------------------------- */

/* x = k ln 2 + r with a whole k, where r is head - k * LN2_REST. */
struct V(octaves) {
    VREAL k, head;
    VINT k_bits; /* the low bits are those of k */
};

/* Adding 1.5 * 2^23 (2^52) leaves the nearest whole number in the low bits. */
VINLINE struct V(octaves) V(octaves)(VREAL x)
{
    const VREAL magic = V(set1)(EITHER(0x1.8p23F, 0x1.8p52));
    const VREAL log2_e = V(set1)(EITHER(0x1.715476p0F, 0x1.71547652b82fep0));

    const VREAL shifted = V(fma)(x, log2_e, magic);
    const VREAL k = V(sub)(shifted, magic);
    return (struct V(octaves)){k, V(fnma)(k, LN2_HEAD, x), AS_INT(shifted)};
}

VINLINE VREAL V(reduced)(struct V(octaves) x2)
{
    return V(fnma)(x2.k, LN2_REST, x2.head);
}

/* exp(r) for |r| <= ln 2 / 2. */
VINLINE VREAL V(exp_near)(VREAL r)
{
    const VREAL more = V(fma)(V(expm1_rest)(r), V(mul)(r, r), r);
    return V(add)(V(set1)(1), more);
}

/* exp where x is from EXP_FLOOR to EXP_MOST or NaN. Below it is 0, above it
 * overflows. */
#define EXP_FLOOR V(set1)(EITHER(-104.0F, -746.0))
#define EXP_MOST V(set1)(EITHER(0x1.62e42ep6F, 0x1.62e42fefa39efp9))

VINLINE VREAL V(exp_inside)(VREAL x)
{
    const struct V(octaves) x2 = V(octaves)(x);
    return V(ldexp)(V(exp_near)(V(reduced)(x2)), x2.k);
}

/* exp where x is known not to overflow, NaN included. */
VINLINE VREAL V(exp_bounded)(VREAL x)
{
    return V(exp_inside)(V(max)(EXP_FLOOR, x));
}

/* min and max would raise invalid for NaN. */
VINLINE VREAL V(at_least)(VREAL low, VREAL x)
{
    return V(select)(V(lt)(x, low), low, x);
}

VINLINE VREAL V(at_most)(VREAL high, VREAL x)
{
    return V(select)(V(gt)(x, high), high, x);
}

/* `y`, or where x exceeds `most`, an infinity: a finite x overflows, and an
 * infinite one does not. */
VINLINE VREAL V(overflow)(VREAL x, VREAL most, VREAL y)
{
    return V(mul)(y, V(select)(V(gt)(x, most), x, V(set1)(1)));
}

VINLINE VREAL V(exp)(VREAL x)
{
    const VREAL inside = V(at_least)(EXP_FLOOR, V(at_most)(EXP_MOST, x));
    return V(overflow)(x, EXP_MOST, V(exp_inside)(inside));
}

VINLINE VREAL V(exp2)(VREAL x)
{
    const VREAL most = V(set1)(EITHER(0x1.fffffep6F, 0x1.fffffffffffffp9));
    const VREAL floor = V(set1)(EITHER(-151.0F, -1076.0));
    const VREAL magic = V(set1)(EITHER(0x1.8p23F, 0x1.8p52));
    const VREAL ln2 = V(set1)(EITHER(0x1.62e43p-1F, 0x1.62e42fefa39efp-1));

    const VREAL inside = V(at_least)(floor, V(at_most)(most, x));
    const VREAL k = V(sub)(V(add)(inside, magic), magic);
    const VREAL near = V(exp_near)(V(mul)(V(sub)(inside, k), ln2));
    return V(overflow)(x, most, V(ldexp)(near, k));
}

/* What expm1 and tanh are made of: exp(x) = scale * exp(head - rest), and
 * 1 + head - less is that exponential. */
struct V(expm1_parts) {
    VREAL scale, head, less;
};

/* The scale has a power of two, `unit`, as a factor. */
VINLINE struct V(expm1_parts) V(expm1_parts)(VREAL x, VREAL unit)
{
    const struct V(octaves) x2 = V(octaves)(x);
    const VREAL rest = V(mul)(x2.k, LN2_REST);
    const VREAL r = V(sub)(x2.head, rest);
    const VINT octaves = I(shl)(x2.k_bits, EITHER(23, 52));
    return (struct V(expm1_parts)){
        AS_REAL(I(add)(octaves, AS_INT(unit))), x2.head,
        V(fnma)(V(expm1_rest)(r), V(mul)(r, r), rest)};
}

/* What is small is added last. Half of a large result fits for sure. */
VINLINE VREAL V(expm1)(VREAL x)
{
    const VREAL one = V(set1)(1), two = V(set1)(2);
    const VREAL floor = V(set1)(EITHER(-20.0F, -40.0));
    const VREAL inside = V(at_least)(floor, V(at_most)(EXP_MOST, x));
    const VMASK large = V(gt)(x, V(set1)(64));
    const VREAL unit = V(select)(large, V(set1)(0.5), one);
    const struct V(expm1_parts) is = V(expm1_parts)(inside, unit);

    VREAL y = V(fma)(is.scale, is.head, V(sub)(is.scale, unit));
    y = V(fnma)(is.scale, is.less, y);
    y = V(copysign)(V(mul)(y, V(select)(large, two, one)), x);
    return V(overflow)(x, EXP_MOST, y);
}

/* From exp(-|x|), which cannot overflow: the small side keeps its precision
 * down to the denormals. */
VINLINE VREAL V(sigmoid)(VREAL x)
{
    const VREAL one = V(set1)(1);
    const VREAL minus = V(or)(x, V(set1)((REAL)-0.0));
    const VREAL e = V(exp_inside)(V(at_least)(EXP_FLOOR, minus));
    const VREAL top = V(select)(V(lt)(x, V(zero)()), e, one);
    return V(ratio)(top, one, e);
}

/* tanh |x| = -m / (2 + m) with m = exp(-2 |x|) - 1, which is small with x.
 * Roundings may add up to 2 units: doubles, and floats without fma, are
 * corrected for that of m. */
VINLINE VREAL V(tanh)(VREAL x)
{
    const VREAL one = V(set1)(1);
    const VREAL floor = V(set1)(EITHER(-10.0F, -20.0)); /* tanh of it is -1 */
    const VREAL minus = V(at_least)(floor, V(or)(x, V(set1)((REAL)-0.0)));
    const struct V(expm1_parts) is = V(expm1_parts)(V(add)(minus, minus), one);
    const VREAL part = V(sub)(is.head, is.less);
    const VREAL whole = V(sub)(is.scale, one);
    const VREAL m = V(fma)(is.scale, part, whole);
    VREAL y = V(ratio)(m, V(set1)(2), m);

    if (EITHER(!V_FUSES, 1)) {
        const VREAL lost = V(sub)(V(mul)(is.scale, part), V(sub)(m, whole));
        const VREAL slope = V(sub)(one, y);
        y = V(fma)(V(mul)(lost, V(set1)(0.5)), V(mul)(slope, slope), y);
    }
    return V(copysign)(y, x);
}

/* ---- logarithms ---------------------------------------------------------- */

/* The first part is half as long as a number. */
#define LOG2_E V(set1)(EITHER(0x1.715476p0F, 0x1.71547652b82fep0))
#define LOG2_E_HEAD V(set1)(EITHER(0x1.716p0F, 0x1.715476p0))
#define LOG2_E_REST V(set1)(EITHER(-0x1.7135a8p-13F, 0x1.4ae0bf85ddf44p-26))

/* log(2^k * (center + d)), where the center is that of a mantissa. */
#if EITHER(0, V_PICKS)

VINLINE VREAL V(log_center)(VREAL mantissa)
{
    return V(pick)(log_centers, mantissa);
}

VINLINE VREAL V(log_of)(VREAL k, VREAL mantissa, VREAL d)
{
    const VREAL r = V(mul)(d, V(pick)(log_inverses, mantissa));
    const VREAL rest = V(mul)(k, LN2_REST);
    const VREAL y = V(fma)(V(log1p_close)(r), V(mul)(r, r), rest);
    const VREAL most = V(fma)(k, LN2_HEAD, V(pick)(log_values, mantissa));
    return V(add)(most, V(add)(r, y));
}

VINLINE VREAL V(log2_of)(VREAL k, VREAL mantissa, VREAL d)
{
    const VREAL r = V(mul)(d, V(pick)(log_inverses, mantissa));
    const VREAL y = V(mul)(V(log1p_close)(r), V(mul)(r, r));
    const VREAL less = V(fma)(y, LOG2_E, V(mul)(r, LOG2_E_REST));
    const VREAL most = V(add)(k, V(pick)(log2_values, mantissa));
    return V(add)(most, V(fma)(r, LOG2_E_HEAD, less));
}

#else

VINLINE VREAL V(log_center)(VREAL mantissa)
{
    (void)mantissa;
    return V(set1)(1);
}

VINLINE VREAL V(log_of)(VREAL k, VREAL mantissa, VREAL d)
{
    const VREAL d2 = V(mul)(d, d);
    VREAL y = V(log1p_rest)(d, d2);

    (void)mantissa;
    y = V(fma)(k, LN2_REST, y);
    y = V(fnma)(V(set1)(0.5), d2, y);
    return V(fma)(k, LN2_HEAD, V(add)(d, y));
}

/* Its product with another half is exact. */
VINLINE VREAL V(first_half)(VREAL x)
{
    const VINT bits = EITHER(vi32_sar, vi64_shr)(AS_INT(x), EITHER(12, 27));
    return AS_REAL(I(shl)(bits, EITHER(12, 27)));
}

VINLINE VREAL V(log2_of)(VREAL k, VREAL mantissa, VREAL d)
{
    const VREAL d2 = V(mul)(d, d);
    const VREAL y = V(fnma)(V(set1)(0.5), d2, V(log1p_rest)(d, d2));
    VREAL less = V(fma)(y, LOG2_E, V(mul)(d, LOG2_E_REST));

    (void)mantissa;
    if (V_FUSES)
        return V(add)(V(fma)(d, LOG2_E_HEAD, less), k);
    const VREAL head = V(first_half)(d);
    less = V(fma)(V(sub)(d, head), LOG2_E_HEAD, less);
    return V(add)(V(fma)(head, LOG2_E_HEAD, k), less);
}

#endif

VINLINE VREAL V(log)(VREAL x)
{
    const VREAL mantissa = V(mantissa)(x);
    const VREAL d = V(sub)(mantissa, V(log_center)(mantissa));
    const VREAL k = V(exponent)(x, mantissa);
    return V(log_special)(x, V(log_of)(k, mantissa, d));
}

VINLINE VREAL V(log2)(VREAL x)
{
    const VREAL mantissa = V(mantissa)(x);
    const VREAL d = V(sub)(mantissa, V(log_center)(mantissa));
    const VREAL k = V(exponent)(x, mantissa);
    return V(log_special)(x, V(log2_of)(k, mantissa, d));
}

/* What 1 + x loses when it is rounded; nothing that counts for a large x. */
VINLINE VREAL V(lost_beside_one)(VREAL x)
{
    const VREAL one = V(set1)(1);
    const VREAL near = V(at_most)(V(set1)(EITHER(0x1p30F, 0x1p60)), x);
    return V(sub)(near, V(sub)(V(add)(one, near), one));
}

VINLINE VREAL V(log1p)(VREAL x)
{
    const VREAL sum = V(add)(V(set1)(1), x);
    const VREAL mantissa = V(mantissa)(sum);
    const VREAL k = V(exponent)(sum, mantissa);
    const VREAL down = V(at_most)(V(set1)(60), V(neg)(k));
    const VREAL lost = V(ldexp)(V(lost_beside_one)(x), down);
    const VREAL d = V(add)(V(sub)(mantissa, V(log_center)(mantissa)), lost);
    return V(copysign)(V(log_special)(sum, V(log_of)(k, mantissa, d)), x);
}

#undef LOG2_E
#undef LOG2_E_HEAD
#undef LOG2_E_REST
#undef EXP_FLOOR
#undef EXP_MOST
#undef LN2_HEAD
#undef LN2_REST
