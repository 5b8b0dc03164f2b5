/* SPDX-License-Identifier: MIT */
/*
 * probe.comp - what the arithmetic of a device is really like. Results of the
 * sums and products that the processor knows; the operands come from memory,
 * so that no compiler can do the work.
 */
#version 450
#extension GL_GOOGLE_include_directive : require

layout(push_constant) uniform Parameters {
    uvec4 base;
    uint count;
};

#include "common.glsl"

layout(local_size_x = GROUP) in;

void main()
{
    const uint i = gl_GlobalInvocationID.x;

    if (i >= count)
        return;
    precise float sum = get0(i) + get1(i);
    precise float product = get0(i) * get1(i);
    put(2 * i, sum);
    put(2 * i + 1, product);
}
