/* SPDX-License-Identifier: MIT */
/*
 * functions.glsl - exp, log, sigmoid, tanh and gelu to 2 units in the last
 * place, denormal results included. Needs exact.glsl and pair.glsl.
 *
 * exp is reduced to |r| <= ln 2 / 2 and a polynomial of degree 6; everything
 * but log stands on it. The polynomials are those of the vector kernels of the
 * processor (kernels/vector/math.h): minimax fits of the relative error.
 */

/* x.x + x.y = k ln 2 + r. The first part of ln 2 is short enough for k times
 * it to be exact. */
vec2 reduce(vec2 x, out float k)
{
    const float ln2_head = 0.693145752; /* 0x1.62e4p-1 */
    const float ln2_rest = 1.42860677e-6; /* 0x1.7f7d1cp-20 */

    k = floor(x.x * 1.44269502 + 0.5);
    precise float near = x.x - k * ln2_head;
    precise float rest = x.y - k * ln2_rest;
    return sum_of(near, rest);
}

/* exp(r) - 1 for |r| <= ln 2 / 2. */
vec2 raise(vec2 r)
{
    precise float q = 0.00138145988; /* 0x1.6a2434p-10 */
    q = q * r.x + 0.00836871658;     /* 0x1.1239e2p-7 */
    q = q * r.x + 0.041668389;      /* 0x1.5558f2p-5 */
    q = q * r.x + 0.166665211;       /* 0x1.555492p-3 */
    q = q * r.x + 0.49999994;       /* 0x1.fffffcp-2 */
    precise float square = q * (r.x * r.x);
    const vec2 sum = sum_of(r.x, square);
    precise float rest = sum.y + r.y;
    return sum_in_order(sum.x, rest);
}

float exponential(float x)
{
    float k;

    if (is_nan(floatBitsToUint(x)))
        return x;
    const vec2 r = reduce(vec2(clamp(x, -104.0, 89.0), 0.0), k);
    const vec2 power = raise(r);
    const vec2 sum = sum_in_order(1.0, power.x);
    precise float near = sum.x + (sum.y + power.y);
    return scaled(near, int(k));
}

/* log(1 + f) - f + f^2 / 2 for -0.25 <= f <= 0.5. */
float log_rest(float f, float f2)
{
    precise float q = -0.0450748242; /* -0x1.7140c2p-5 */
    q = q * f + 0.104630232;         /* 0x1.ac90cp-4 */
    q = q * f - 0.131611913;         /* -0x1.0d8a8cp-3 */
    q = q * f + 0.144783944;         /* 0x1.28847cp-3 */
    q = q * f - 0.16647312;         /* -0x1.54efdcp-3 */
    q = q * f + 0.199908614;         /* 0x1.9969bp-3 */
    q = q * f - 0.250000954;         /* -0x1.00004p-2 */
    q = q * f + 0.333334506;         /* 0x1.5555a4p-2 */
    precise float rest = (q * f) * f2;
    return rest;
}

float logarithm(float x)
{
    const uint bits = floatBitsToUint(x);

    if ((bits & ~SIGN) == 0u)
        return uintBitsToFloat(SIGN | INF);
    if (is_nan(bits) || (bits & SIGN) != 0u)
        return uintBitsToFloat(NOT_A_NUMBER);
    if (bits == INF)
        return x;
    const Parts parts = take_apart(bits);
    const bool is_upper = parts.mantissa >= 0xC00000u; /* 1.5 and more */
    const float k = float(parts.exponent + (is_upper ? 1 : 0));
    const float m = float(parts.mantissa) *
                    (is_upper ? 5.9604644775390625e-8 : 1.1920928955078125e-7);
    precise float f = m - 1.0;
    precise float f2 = f * f;
    precise float y = log_rest(f, f2);
    y = y + k * 1.42860677e-6;
    y = y - 0.5 * f2;
    y = k * 0.693145752 + (f + y);
    return y;
}

/* From exp(-|x|), which cannot overflow: the small side keeps its precision
 * down to the denormal numbers. */
float sigmoid(float x)
{
    const uint bits = floatBitsToUint(x);

    if (is_nan(bits))
        return x;
    const float power = exponential(uintBitsToFloat(bits | SIGN));
    return ratio((bits & SIGN) != 0u ? power : 1.0, sum_in_order(1.0, power));
}

/* tanh |x| = -m / (2 + m) with m = exp(-2 |x|) - 1, which is small with x. What
 * m is off in its last place is made up for along the slope. */
float tangent(float x)
{
    const uint bits = floatBitsToUint(x);
    const float size = min(uintBitsToFloat(bits & ~SIGN), 10.0);
    float k;

    if (is_nan(bits))
        return x;
    const vec2 r = reduce(vec2(-2.0 * size, 0.0), k);
    const float octave = power_of_2(int(k));
    const vec2 power = octave * raise(r);
    precise float whole = octave - 1.0;
    const vec2 m = sum_of(whole, power.x);
    precise float low = m.y + power.y;
    const vec2 below = sum_in_order(2.0, m.x);
    precise float near =
        ratio(-m.x, below) - low * (2.0 / (below.x * below.x));
    return uintBitsToFloat(floatBitsToUint(near) & ~SIGN | bits & SIGN);
}

/* exp(x^2 / 2) times the normal tail beyond x, for 0 <= x <= 16: a polynomial
 * in t = 1 / (1 + 0.3 x), which flattens it. Its last steps, and t, are pairs.
 */
vec2 mills(float x)
{
    const vec2 slope = product_of(0.300000012, x);
    precise float rest = slope.y - 1.19209291e-8 * x; /* of 0.3 */
    const vec2 below =
        pair_add(vec2(1.0, 0.0), vec2(slope.x, rest));
    precise float near = 1.0 / below.x;
    const vec2 covered = product_of(near, below.x);
    precise float left = ((1.0 - covered.x) - covered.y) - near * below.y;
    const vec2 t = sum_in_order(near, left * near);

    precise float q = -0.0206300616;
    q = q * t.x + 0.112472646;
    q = q * t.x - 0.228303879;
    q = q * t.x + 0.191909701;
    q = q * t.x - 0.0795319974;
    vec2 sum = vec2(q, 0.0);
    sum = pair_add(pair_multiply(sum, t), vec2(0.0962176993, -3.16471671e-9));
    sum = pair_add(pair_multiply(sum, t), vec2(0.0783676058, 3.66265218e-9));
    sum = pair_add(pair_multiply(sum, t), vec2(0.110240385, -3.24219762e-9));
    sum = pair_add(pair_multiply(sum, t), vec2(0.119571187, 3.85053683e-10));
    sum = pair_add(pair_multiply(sum, t), vec2(0.119686723, 9.57272595e-10));
    return pair_multiply(sum, t);
}

/* x times the normal distribution up to x. Beyond 16 the tail is no float. */
float gelu(float x)
{
    const uint bits = floatBitsToUint(x);
    const float size = uintBitsToFloat(bits & ~SIGN);
    const bool is_minus = (bits & SIGN) != 0u;
    float k;

    if (is_nan(bits) || bits == (SIGN | INF))
        return uintBitsToFloat(NOT_A_NUMBER);
    if (size >= 16.0)
        return is_minus ? -0.0 : x;
    const vec2 r = reduce(-0.5 * product_of(size, size), k);
    const vec2 power = pair_add(vec2(1.0, 0.0), raise(r));
    const vec2 tail = pair_multiply(mills(size), power);
    const vec2 share =
        is_minus ? tail
                 : pair_add(vec2(1.0, 0.0), -power_of_2(int(k)) * tail);
    const vec2 all = product_of(x, share.x);
    /* The errors of small products are not to be had. */
    precise float rest = (size > 1e-20 ? all.y : 0.0) + x * share.y;
    precise float near = all.x + rest;
    return is_minus ? scaled(near, int(k)) : near;
}
