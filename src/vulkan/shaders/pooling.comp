/* SPDX-License-Identifier: MIT */
/*
 * pooling.comp - the maximum or the mean of windows; an invocation for each
 * element of the result.
 */
#version 450
#extension GL_GOOGLE_include_directive : require

layout(push_constant) uniform Parameters {
    uvec4 base;
    uint count; /* elements of the result */
    uint height, width;
    uint window, stride, pad;
    uint out_height, out_width;
    uint is_mean;
};

#include "common.glsl"
#include "exact.glsl"
#include "pair.glsl"
#include "sums.glsl"

layout(local_size_x = GROUP) in;

/* The part of a window that lies inside the image. */
struct Window {
    uint top, bottom, left, right;
};

uint inside(uint x, uint size)
{
    return x < pad ? 0 : min(x - pad, size);
}

uint order_at(uint bits)
{
    return is_nan(bits) ? 0xFFFFFFFFu : order_of(bits == SIGN ? 0u : bits);
}

/* Of equal zeros the first one, column by column. */
float largest(uint plane, Window at)
{
    uint most = SIGN | INF, order = 0u;

    for (uint x = at.left; x < at.right; x++)
        for (uint y = at.top; y < at.bottom; y++) {
            const uint bits = in0[base.x + (plane * height + y) * width + x];
            if (order_at(bits) > order) {
                most = bits;
                order = order_at(bits);
            }
        }
    return uintBitsToFloat(most);
}

float mean(uint plane, Window at)
{
    const uint elements = (at.bottom - at.top) * (at.right - at.left);
    Sum sum = no_sum();

    for (uint x = at.left; x < at.right; x++)
        for (uint y = at.top; y < at.bottom; y++)
            add_number(sum, in0[base.x + (plane * height + y) * width + x]);
    if (elements == 0u)
        return uintBitsToFloat(NOT_A_NUMBER);
    if (sum.flags != 0u)
        return special_sum(sum.flags);
    return scaled(pair_divide(pair_of(sum), pair_of(elements)).x,
                  sum.exponent);
}

void main()
{
    const uint step = gl_NumWorkGroups.x * GROUP;

    for (uint i = gl_GlobalInvocationID.x; i < count; i += step) {
        const uint across = i % out_width * stride, row = i / out_width;
        const uint down = row % out_height * stride;
        const Window at = Window(
            inside(down, height), inside(down + window, height),
            inside(across, width), inside(across + window, width));
        put(i, is_mean != 0u ? mean(row / out_height, at)
                             : largest(row / out_height, at));
    }
}
