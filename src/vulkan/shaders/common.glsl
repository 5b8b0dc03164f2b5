/* SPDX-License-Identifier: MIT */
/*
 * common.glsl - the operands, for shaders whose push constants begin with
 * `uvec4 base`: where each operand begins in its binding, in elements, because
 * a binding can begin only at some addresses.
 *
 * Operands are whole numbers here, so that ops that only move elements move
 * every bit of a NaN, and nobody flushes a denormal number on the way.
 */
#include "variants.h"

layout(set = 0, binding = 0) buffer In0 { uint in0[]; };
layout(set = 0, binding = 1) buffer In1 { uint in1[]; };
layout(set = 0, binding = 2) buffer In2 { uint in2[]; };
layout(set = 0, binding = 3) buffer Out { uint result[]; };

layout(constant_id = 0) const uint VARIANT = 0;

const uint SIGN = 0x80000000u, INF = 0x7F800000u, NOT_A_NUMBER = 0x7FC00000u;

float get0(uint i)
{
    return uintBitsToFloat(in0[base.x + i]);
}

float get1(uint i)
{
    return uintBitsToFloat(in1[base.y + i]);
}

float get2(uint i)
{
    return uintBitsToFloat(in2[base.z + i]);
}

float get_result(uint i)
{
    return uintBitsToFloat(result[base.w + i]);
}

void put(uint i, float x)
{
    result[base.w + i] = floatBitsToUint(x);
}

bool is_nan(uint bits)
{
    return (bits & ~SIGN) > INF;
}

bool is_finite(uint bits)
{
    return (bits & ~SIGN) < INF;
}

/* Larger for larger numbers; zeros are by sign, NaN are anywhere. */
uint order_of(uint bits)
{
    return (bits & SIGN) != 0u ? ~bits : bits | SIGN;
}

uint number_of(uint order)
{
    return (order & SIGN) != 0u ? order & ~SIGN : ~order;
}
