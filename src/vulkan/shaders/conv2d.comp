/* SPDX-License-Identifier: MIT */
/*
 * conv2d.comp - convolutions whose groups have few filters (depthwise ones
 * above all), which would leave the tiles of gemm.comp empty: an invocation
 * for each element of the result.
 */
#version 450
#extension GL_GOOGLE_include_directive : require

layout(push_constant) uniform Parameters {
    uvec4 base;
    uint count; /* elements of the result */
    uint channels, height, width;
    uint filters, rows, cols;
    uint stride, pad, groups;
    uint out_height, out_width;
    uint has_bias;
};

#include "common.glsl"
#include "pair.glsl"

layout(local_size_x = GROUP) in;

float pixel(uint plane, uint y, uint x)
{
    if (y < pad || y - pad >= height || x < pad || x - pad >= width)
        return 0.0;
    return get0((plane * height + y - pad) * width + x - pad);
}

/* One channel of a filter, put on one channel of an image. */
float channel_sum(uint plane, uint weights, uint y, uint x)
{
    float sum = 0.0;

    for (uint r = 0; r < rows; r++)
        for (uint c = 0; c < cols; c++)
            sum = fma(get1(weights + r * cols + c), pixel(plane, y + r, x + c),
                      sum);
    return sum;
}

float convolve(uint image, uint filter_at, uint y, uint x)
{
    const uint depth = channels / groups;
    const uint group = filter_at / (filters / groups);
    const uint plane = image * channels + group * depth;
    float plain = 0.0; /* right where something is not finite */
    precise float sum = 0.0, rest = 0.0;

    for (uint i = 0; i < depth; i++) {
        const float part = channel_sum(
            plane + i, (filter_at * depth + i) * rows * cols, y, x);
        const vec2 next = sum_of(sum, part);
        plain += part;
        sum = next.x;
        rest = rest + next.y;
    }
    const float all = is_finite(floatBitsToUint(plain)) ? sum + rest : plain;
    return has_bias != 0u ? all + get2(filter_at) : all;
}

void main()
{
    const uint step = gl_NumWorkGroups.x * GROUP;

    for (uint at = gl_GlobalInvocationID.x; at < count; at += step) {
        const uint x = at % out_width, row = at / out_width;
        const uint y = row % out_height, plane = row / out_height;
        put(at, convolve(plane / filters, plane % filters, y * stride,
                         x * stride));
    }
}
