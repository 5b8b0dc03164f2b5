/* SPDX-License-Identifier: MIT */
/*
 * sums.glsl - sums of any number of floats whose error does not grow with it.
 * Needs exact.glsl and pair.glsl.
 *
 * A sum keeps its rounding errors apart and has an exponent of its own, so that
 * nothing overflows or underflows on the way. Infinities and NaN are kept as
 * flags: they would spoil the arithmetic of the errors.
 */
const uint HAS_PLUS_INF = 1u, HAS_MINUS_INF = 2u, HAS_NAN = 4u;

/* (value + rest) * 2^exponent */
struct Sum {
    float value, rest;
    int exponent;
    uint flags;
};

Sum no_sum()
{
    return Sum(0.0, 0.0, -100000, 0u);
}

/* m * 2^exponent, 1 <= |m| < 4. The exponent of the sum follows only the large
 * steps; what is then lost is far below the last place of what remains. */
void add_term(inout Sum sum, float m, int exponent)
{
    if (exponent > sum.exponent + 30) {
        const float shrink = power_of_2(max(sum.exponent - exponent, -1000));
        sum.value *= shrink;
        sum.rest *= shrink;
        sum.exponent = exponent;
    }
    const vec2 next =
        sum_of(sum.value,
               m * power_of_2(max(exponent - sum.exponent, -1000)));
    precise float rest = sum.rest + next.y;
    sum.value = next.x;
    sum.rest = rest;
}

void add_flag(inout Sum sum, uint bits)
{
    sum.flags |= is_nan(bits)            ? HAS_NAN
                 : (bits & SIGN) != 0u ? HAS_MINUS_INF
                                         : HAS_PLUS_INF;
}

/* A finite number that is not 0, between 1 and 2, with its sign. */
float mantissa_of(uint bits, Parts parts)
{
    return uintBitsToFloat(bits & SIGN | 0x3F800000u |
                           parts.mantissa & 0x7FFFFFu);
}

void add_number(inout Sum sum, uint bits)
{
    const uint size = bits & ~SIGN;

    if (size >= INF) {
        add_flag(sum, bits);
    } else if (size != 0u) {
        const Parts parts = take_apart(size);
        add_term(sum, mantissa_of(bits, parts), parts.exponent);
    }
}

void add_product(inout Sum sum, uint a, uint b)
{
    const uint size_a = a & ~SIGN, size_b = b & ~SIGN;

    if (max(size_a, size_b) >= INF) {
        add_flag(sum, special_fma(a, b, 0u));
    } else if (min(size_a, size_b) != 0u) {
        const Parts x = take_apart(size_a), y = take_apart(size_b);
        precise float m = mantissa_of(a, x) * mantissa_of(b, y);
        add_term(sum, m, x.exponent + y.exponent);
    }
}

Sum merge(Sum a, Sum b)
{
    const int exponent = max(a.exponent, b.exponent);
    const float shrink_a = power_of_2(max(a.exponent - exponent, -1000));
    const float shrink_b = power_of_2(max(b.exponent - exponent, -1000));
    const vec2 next = sum_of(a.value * shrink_a, b.value * shrink_b);
    precise float rest = next.y + (a.rest * shrink_a + b.rest * shrink_b);

    return Sum(next.x, rest, exponent, a.flags | b.flags);
}

/* What a sum with flags is, whatever its finite terms are. */
float special_sum(uint flags)
{
    if (flags == HAS_PLUS_INF || flags == HAS_MINUS_INF)
        return uintBitsToFloat(flags == HAS_PLUS_INF ? INF : SIGN | INF);
    return uintBitsToFloat(NOT_A_NUMBER);
}

vec2 pair_of(Sum sum)
{
    return sum_of(sum.value, sum.rest);
}

float float_of(Sum sum)
{
    return sum.flags != 0u ? special_sum(sum.flags)
                           : scaled(pair_of(sum).x, sum.exponent);
}

/* Distances from the mean of n numbers, one of which is `pivot`. They are
 * in units of 2^exponent, in which all the numbers are harmless. */
struct Middle {
    vec2 mean;
    int exponent;
};

/* Numbers are added up less the pivot: then the mean of equal numbers is that
 * number exactly, and their variance 0. */
void add_from_pivot(inout Sum sum, uint bits, uint pivot)
{
    add_number(sum, bits);
    add_number(sum, pivot ^ SIGN);
}

float in_units(uint bits, int exponent)
{
    const uint size = bits & ~SIGN;

    if (size == 0u)
        return 0.0;
    const Parts parts = take_apart(size);
    return mantissa_of(bits, parts) *
           power_of_2(max(parts.exponent - exponent, -1000));
}

Middle middle_of(Sum from_pivot, uint pivot, uint n)
{
    const vec2 apart = pair_divide(pair_of(from_pivot), pair_of(n));
    const vec2 start = vec2(in_units(pivot, from_pivot.exponent), 0.0);

    return Middle(pair_add(start, apart), from_pivot.exponent);
}

float distance(Middle middle, uint bits)
{
    const vec2 apart =
        sum_of(in_units(bits, middle.exponent), -middle.mean.x);
    precise float near = apart.x + (apart.y - middle.mean.y);
    return near;
}
