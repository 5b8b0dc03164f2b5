/* SPDX-License-Identifier: MIT */
/* map.comp - the element-wise ops. */
#version 450
#extension GL_GOOGLE_include_directive : require

layout(push_constant) uniform Parameters {
    uvec4 base;
    uint count;
    float p, q;
};

#include "common.glsl"
#include "exact.glsl"
#include "pair.glsl"
#include "functions.glsl"

layout(local_size_x = GROUP) in;

/* Comparisons are of whole numbers: NaN and denormal numbers are what they are.
 * -0 is not below 0. */
bool is_below(uint a, uint b)
{
    if (is_nan(a) || is_nan(b) || ((a | b) & ~SIGN) == 0u)
        return false;
    return order_of(a) < order_of(b);
}

uint limited(uint a)
{
    const uint low = floatBitsToUint(p), high = floatBitsToUint(q);

    return is_below(a, low) ? low : is_below(high, a) ? high : a;
}

float rounded(float x, float y)
{
    precise float sum = x + y;
    return sum;
}

float multiplied(float x, float y)
{
    precise float all = x * y;
    return all;
}

uint apply(uint i)
{
    const uint a = in0[base.x + i];
    const float x = uintBitsToFloat(a);

    switch (VARIANT) {
    case MAP_ADD:
        return floatBitsToUint(rounded(x, get1(i)));
    case MAP_SUB:
        return floatBitsToUint(rounded(x, -get1(i)));
    case MAP_MUL:
        return floatBitsToUint(multiplied(x, get1(i)));
    case MAP_DIV:
        return exact_quotient(a, in1[base.y + i]);
    case MAP_SCALE:
        return floatBitsToUint(multiplied(x, p));
    case MAP_AXPY:
        return exact_fma(floatBitsToUint(p), a, in1[base.y + i]);
    case MAP_FMA:
        return exact_fma(a, in1[base.y + i], in2[base.z + i]);
    case MAP_ABS:
        return a & ~SIGN;
    case MAP_NEG:
        return a ^ SIGN;
    case MAP_CLAMP:
        return limited(a);
    case MAP_SQRT:
        return exact_root(a);
    case MAP_EXP:
        return floatBitsToUint(exponential(x));
    case MAP_LOG:
        return floatBitsToUint(logarithm(x));
    case MAP_SIGMOID:
        return floatBitsToUint(sigmoid(x));
    case MAP_TANH:
        return floatBitsToUint(tangent(x));
    case MAP_RELU:
        return is_below(a, 0u) ? 0u : a;
    case MAP_GELU:
        return floatBitsToUint(gelu(x));
    }
    return a; /* MAP_COPY */
}

void main()
{
    const uint step = gl_NumWorkGroups.x * GROUP;

    for (uint i = gl_GlobalInvocationID.x; i < count; i += step)
        result[base.w + i] = apply(i);
}
