/* SPDX-License-Identifier: MIT */
/*
 * exact.glsl - fused multiply-add, quotient and root, correctly rounded, in
 * whole numbers: Vulkan lets a device compute each of them as it likes, and
 * says nothing of denormal numbers.
 */

/* A number that is neither 0 nor infinite nor NaN:
 * mantissa * 2^(exponent - 23), 2^23 <= mantissa < 2^24. */
struct Parts {
    int exponent;
    uint mantissa;
};

Parts take_apart(uint bits)
{
    Parts parts;

    parts.exponent = int(bits >> 23 & 255u) - 127;
    parts.mantissa = bits & 0x7FFFFFu;
    if (parts.exponent > -127) {
        parts.mantissa |= 0x800000u;
    } else {
        const int shift = 23 - findMSB(parts.mantissa);
        parts.mantissa <<= shift;
        parts.exponent = -126 - shift;
    }
    return parts;
}

/* The float nearest to mantissa * 2^(exponent - 30), 2^30 <= mantissa < 2^31;
 * the lowest bit stands for everything below it. */
uint round_nearest(uint sign, int exponent, uint mantissa)
{
    const int dropped = 7 + max(0, -126 - exponent);

    if (exponent > 127)
        return sign | INF;
    if (dropped > 31)
        return sign;
    const uint rest = mantissa & ((1u << dropped) - 1u);
    const uint tie = 1u << (dropped - 1);
    uint kept = mantissa >> dropped;
    if (rest > tie || (rest == tie && (kept & 1u) != 0u))
        kept++;
    /* A carry moves on to the next exponent, and from the last to infinity. */
    return sign + (uint(max(exponent, -126) + 126) << 23) + kept;
}

/* 64 bits are (low, high). */

uvec2 shift_left(uvec2 x, int by) /* 0 < by < 32 */
{
    return uvec2(x.x << by, x.y << by | x.x >> (32 - by));
}

/* What falls out leaves its trace in the lowest bit. */
uvec2 shift_right(uvec2 x, int by)
{
    uint lost = 0u;

    if (by > 63)
        return uvec2((x.x | x.y) != 0u ? 1u : 0u, 0u);
    if (by >= 32) {
        lost = x.x;
        x = uvec2(x.y, 0u);
        by -= 32;
    }
    if (by > 0) {
        lost |= x.x << (32 - by);
        x = uvec2(x.x >> by | x.y << (32 - by), x.y >> by);
    }
    return uvec2(x.x | (lost != 0u ? 1u : 0u), x.y);
}

uvec2 add(uvec2 x, uvec2 y)
{
    uint carry;
    const uint low = uaddCarry(x.x, y.x, carry);
    return uvec2(low, x.y + y.y + carry);
}

uvec2 subtract(uvec2 x, uvec2 y)
{
    uint borrow;
    const uint low = usubBorrow(x.x, y.x, borrow);
    return uvec2(low, x.y - y.y - borrow);
}

bool is_less(uvec2 x, uvec2 y)
{
    return x.y < y.y || (x.y == y.y && x.x < y.x);
}

uvec2 product(uint x, uint y)
{
    uint high, low;
    umulExtended(x, y, high, low);
    return uvec2(low, high);
}

/* a * b + c where one of them is infinite or NaN, or the product is 0. */
uint special_fma(uint a, uint b, uint c)
{
    const uint sign = (a ^ b) & SIGN;
    const bool is_infinite = (a & ~SIGN) == INF || (b & ~SIGN) == INF;
    const bool is_zero = (a & ~SIGN) == 0u || (b & ~SIGN) == 0u;

    if (is_nan(a) || is_nan(b) || is_nan(c) || (is_infinite && is_zero))
        return NOT_A_NUMBER;
    if (is_infinite)
        return c == ((sign ^ SIGN) | INF) ? NOT_A_NUMBER : sign | INF;
    return (c & ~SIGN) != 0u ? c : sign & c;
}

uint exact_fma(uint a, uint b, uint c)
{
    const uint size_a = a & ~SIGN, size_b = b & ~SIGN, size_c = c & ~SIGN;

    if (max(size_a, max(size_b, size_c)) >= INF || min(size_a, size_b) == 0u)
        return special_fma(a, b, c);

    /* Both terms are 64 bits times 2^(exponent - 60). */
    const Parts x = take_apart(size_a), y = take_apart(size_b);
    uint sign = (a ^ b) & SIGN;
    int exponent = x.exponent + y.exponent;
    uvec2 sum = shift_left(product(x.mantissa, y.mantissa), 14);
    if (size_c != 0u) {
        const Parts z = take_apart(size_c);
        uvec2 term = uvec2(0u, z.mantissa << 5);
        if (exponent >= z.exponent) {
            term = shift_right(term, exponent - z.exponent);
        } else {
            sum = shift_right(sum, z.exponent - exponent);
            exponent = z.exponent;
        }
        if (sign == (c & SIGN)) {
            sum = add(sum, term);
        } else if (is_less(sum, term)) {
            sum = subtract(term, sum);
            sign = c & SIGN;
        } else {
            sum = subtract(sum, term);
        }
        if ((sum.x | sum.y) == 0u)
            return 0u;
    }
    const int top = sum.y != 0u ? 32 + findMSB(sum.y) : findMSB(sum.x);
    const uint mantissa =
        top > 30 ? shift_right(sum, top - 30).x : sum.x << (30 - top);
    return round_nearest(sign, exponent + top - 60, mantissa);
}

uint exact_quotient(uint a, uint b)
{
    const uint sign = (a ^ b) & SIGN;
    const uint size_a = a & ~SIGN, size_b = b & ~SIGN;

    if (max(size_a, size_b) > INF || (size_a == size_b && size_a % INF == 0u))
        return NOT_A_NUMBER; /* 0 / 0 and inf / inf too */
    if (size_a == INF || size_b == 0u)
        return sign | INF;
    if (size_b == INF || size_a == 0u)
        return sign;

    const Parts x = take_apart(size_a), y = take_apart(size_b);
    int exponent = x.exponent - y.exponent;
    uint rest = x.mantissa;
    if (rest < y.mantissa) {
        rest <<= 1;
        exponent--;
    }
    rest -= y.mantissa;
    uint digits = 1u;
    for (int i = 0; i < 3; i++) {
        rest <<= 8;
        digits = digits << 8 | rest / y.mantissa;
        rest %= y.mantissa;
    }
    return round_nearest(sign, exponent, digits << 6 | (rest != 0u ? 1u : 0u));
}

uint exact_root(uint a)
{
    if (is_nan(a) || ((a & SIGN) != 0u && a != SIGN))
        return NOT_A_NUMBER;
    if ((a & ~SIGN) == 0u || a == INF)
        return a;

    /* The number is square * 2^(exponent - 46) with an even exponent, so its
     * root is a whole number of 24 bits and what is beyond. */
    const Parts x = take_apart(a);
    const int odd = x.exponent & 1;
    const uvec2 square = shift_left(uvec2(x.mantissa << odd, 0u), 23);
    uint root = uint(sqrt(float(x.mantissa << odd) * 8388608.0));
    for (int i = 0; i < 8 && is_less(square, product(root, root)); i++)
        root--;
    for (int i = 0; i < 8 && !is_less(square, product(root + 1u, root + 1u));
         i++)
        root++;
    if (subtract(square, product(root, root)).x > root)
        root++;
    return (uint((x.exponent - odd) / 2 + 126) << 23) + root;
}
