/* SPDX-License-Identifier: MIT */
/*
 * gemm.comp - C = alpha * A B + beta * C for a batch of matrices; convolution,
 * where B is the image under the filters; and the last step of attention.
 *
 * A group computes 64 x 64 elements of C, each invocation 4 x 4 of them, from
 * slices of A and B, 16 deep, in shared memory.
 */
#version 450
#extension GL_GOOGLE_include_directive : require

layout(push_constant) uniform Parameters {
    uvec4 base;
    uint m, n, k, batch;
    uint a_row, a_col, b_row, b_col, ldc;
    uint a_step, b_step, c_step; /* from one matrix to the next */
    float alpha, beta;
    uint groups;                 /* A is the same for every group-th matrix */
    uint has_bias;               /* conv2d, from here on */
    uint height, width, rows, cols, stride, pad, out_width;
    uint queries, first, is_causal; /* attention: of all, of these */
};

#include "common.glsl"
#include "pair.glsl"

const uint TILE = GEMM_TILE, DEPTH = 16, SIDE = 16, EACH = TILE / SIDE;
const uint FOLD = 256; /* terms after which the sums are put aside */

layout(local_size_x = GROUP) in;

shared float a_slice[DEPTH][TILE + 1];
shared float b_slice[DEPTH][TILE + 1];

/* What is computed now: matrix z, rows from i0 and columns from j0 on. */
uint z, i0, j0;

/* (x, y) walk along the direction in which memory does. */
void load_a(uint p0)
{
    const uint me = gl_LocalInvocationID.x;
    const uint start = base.x + z % groups * a_step;

    for (uint e = 0; e < DEPTH * TILE / GROUP; e++) {
        const uint at = me + e * GROUP;
        const uint p = a_col == 1u ? at % DEPTH : at / TILE;
        const uint i = a_col == 1u ? at / DEPTH : at % TILE;
        const bool is_inside = p0 + p < k && i0 + i < m;
        a_slice[p][i] =
            is_inside ? uintBitsToFloat(
                            in0[start + (i0 + i) * a_row + (p0 + p) * a_col])
                      : 0.0;
    }
}

/* The padding takes part as zeros. */
float pixel(uint p, uint j)
{
    const uint taps = rows * cols;
    const uint channel = p / taps, tap = p % taps;
    const uint y = j / out_width * stride + tap / cols;
    const uint x = j % out_width * stride + tap % cols;

    if (y < pad || y - pad >= height || x < pad || x - pad >= width)
        return 0.0;
    return uintBitsToFloat(in1[base.y + z * b_step +
                               (channel * height + y - pad) * width + x - pad]);
}

void load_b(uint p0)
{
    const uint me = gl_LocalInvocationID.x;
    const uint start = base.y + z * b_step;
    const bool is_across = VARIANT != GEMM_CONV2D && b_row == 1u;

    for (uint e = 0; e < DEPTH * TILE / GROUP; e++) {
        const uint at = me + e * GROUP;
        const uint p = is_across ? at % DEPTH : at / TILE;
        const uint j = is_across ? at / DEPTH : at % TILE;
        float b = 0.0;
        if (p0 + p < k && j0 + j < n)
            b = VARIANT == GEMM_CONV2D
                    ? pixel(p0 + p, j0 + j)
                    : uintBitsToFloat(in1[start + (p0 + p) * b_row +
                                          (j0 + j) * b_col]);
        b_slice[p][j] = b;
    }
}

/* How many of the products of row i count. */
uint limit_of(uint i)
{
    const uint seen = first + i + 1 + k;

    if (k == 0u || i >= m || get0(z * a_step + i * a_row) < 0.0)
        return 0u;
    return is_causal == 0u ? k : seen < queries ? 0u : min(seen - queries, k);
}

float old(uint at)
{
    precise float kept = beta == 0.0 ? 0.0 : beta * get_result(at);
    return kept;
}

void store(uint i, uint j, float sum)
{
    const uint at = z * c_step + i * ldc + j;
    precise float value = sum;

    if (i >= m || j >= n)
        return;
    if (VARIANT == GEMM_CONV2D) {
        if (has_bias != 0u)
            value = sum + get2(z % groups * m + i);
    } else if (VARIANT == GEMM_PLAIN) {
        value = k == 0u ? old(at) : alpha * sum + old(at);
    }
    put(at, value);
}

void compute_tile()
{
    const uint tx = gl_LocalInvocationID.x % SIDE;
    const uint ty = gl_LocalInvocationID.x / SIDE;
    float total[EACH][EACH], sum[EACH][EACH];
    uint limit[EACH];

    for (uint r = 0; r < EACH; r++) {
        limit[r] = VARIANT == GEMM_VALUES ? limit_of(i0 + ty + r * SIDE) : k;
        for (uint c = 0; c < EACH; c++)
            total[r][c] = sum[r][c] = 0.0;
    }
    for (uint p0 = 0; p0 < k; p0 += DEPTH) {
        load_a(p0);
        load_b(p0);
        barrier();
        for (uint p = 0; p < DEPTH; p++)
            for (uint r = 0; r < EACH; r++)
                for (uint c = 0; c < EACH; c++)
                    if (VARIANT != GEMM_VALUES || p0 + p < limit[r])
                        sum[r][c] = fma(a_slice[p][ty + r * SIDE],
                                        b_slice[p][tx + c * SIDE], sum[r][c]);
        barrier();
        if (p0 % FOLD == FOLD - DEPTH)
            for (uint r = 0; r < EACH; r++)
                for (uint c = 0; c < EACH; c++) {
                    total[r][c] += sum[r][c];
                    sum[r][c] = 0.0;
                }
    }
    for (uint r = 0; r < EACH; r++)
        for (uint c = 0; c < EACH; c++)
            store(i0 + ty + r * SIDE, j0 + tx + c * SIDE,
                  total[r][c] + sum[r][c]);
}

void main()
{
    const uint across = (n + TILE - 1) / TILE;
    const uint per_matrix = across * ((m + TILE - 1) / TILE);

    for (uint tile = gl_WorkGroupID.x; tile < per_matrix * batch;
         tile += gl_NumWorkGroups.x) {
        z = tile / per_matrix;
        i0 = tile % per_matrix / across * TILE;
        j0 = tile % per_matrix % across * TILE;
        compute_tile();
    }
}
