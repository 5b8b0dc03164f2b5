/* SPDX-License-Identifier: MIT */
/*
 * pair.glsl - numbers of twice the precision: unevaluated sums of two floats.
 *
 * They stand on what Vulkan does promise: that a sum, a difference and a
 * product of floats are rounded correctly. `precise` keeps a compiler from
 * fusing or reordering them. fma() is not used: it need not be fused.
 */

/* a + b without any error. */
vec2 sum_of(float a, float b)
{
    precise float sum = a + b;
    precise float part = sum - a;
    precise float rest = (a - (sum - part)) + (b - part);
    return vec2(sum, rest);
}

/* The same where |a| >= |b| or a is 0. */
vec2 sum_in_order(float a, float b)
{
    precise float sum = a + b;
    precise float rest = b - (sum - a);
    return vec2(sum, rest);
}

float upper_half(float x)
{
    return uintBitsToFloat(floatBitsToUint(x) & 0xFFFFF000u);
}

/* a * b without any error, unless it is near the ends of the range. */
vec2 product_of(float a, float b)
{
    const float a_high = upper_half(a), b_high = upper_half(b);
    precise float a_low = a - a_high;
    precise float b_low = b - b_high;
    precise float whole = a * b;
    precise float rest = ((a_high * b_high - whole) + a_high * b_low) +
                         a_low * b_high;
    precise float all_of_rest = rest + a_low * b_low;
    return vec2(whole, all_of_rest);
}

vec2 pair_add(vec2 a, vec2 b)
{
    const vec2 sum = sum_of(a.x, b.x);
    precise float rest = sum.y + (a.y + b.y);
    return sum_in_order(sum.x, rest);
}

vec2 pair_multiply(vec2 a, vec2 b)
{
    const vec2 whole = product_of(a.x, b.x);
    precise float rest = whole.y + (a.x * b.y + a.y * b.x);
    return sum_in_order(whole.x, rest);
}

/* What the division of a device is off is made up for twice. */
vec2 pair_divide(vec2 a, vec2 b)
{
    precise float first = a.x / b.x;
    const vec2 left = pair_add(a, -pair_multiply(vec2(first, 0.0), b));
    precise float second = left.x / b.x;
    const vec2 rest = pair_add(left, -pair_multiply(vec2(second, 0.0), b));
    precise float third = rest.x / b.x;
    precise float tail = second + third;
    return sum_in_order(first, tail);
}

vec2 pair_root(vec2 a) /* a > 0 */
{
    precise float first = sqrt(a.x);
    const vec2 left = pair_add(a, -product_of(first, first));
    precise float second = left.x / (2.0 * first);
    return sum_in_order(first, second);
}

/* a / b, nearly as if rounded once. */
float ratio(float a, vec2 b)
{
    precise float first = a / b.x;
    const vec2 covered = product_of(first, b.x);
    precise float left = ((a - covered.x) - covered.y) - first * b.y;
    precise float all = first + left / b.x;
    return all;
}

vec2 pair_of(uint n)
{
    return sum_in_order(float(n & 0xFFFFF000u), float(n & 0xFFFu));
}

/* 2^by; 0 where that is no normal number. by <= 127. */
float power_of_2(int by)
{
    return by < -126 ? 0.0 : uintBitsToFloat(uint(by + 127) << 23);
}

/* x * 2^by for any x of 2^-60 to 2^60: rounded once. */
float scaled(float x, int by)
{
    const int held = clamp(by, -250, 250);
    const int half_way = held / 2;
    precise float near = x * power_of_2(half_way);
    precise float all = near * power_of_2(held - half_way);
    return all;
}
