/* SPDX-License-Identifier: MIT */
/*
 * gemv.comp - y = alpha * A x + beta * y.
 *
 * 32 invocations walk along the memory of A, 8 such teams share a group: rows
 * that lie along it have a team each, rows across it have an invocation in
 * every team.
 */
#version 450
#extension GL_GOOGLE_include_directive : require

layout(push_constant) uniform Parameters {
    uvec4 base;
    uint m, n; /* rows and columns of A */
    uint a_row, a_col, x_step, y_step;
    float alpha, beta;
};

#include "common.glsl"
#include "pair.glsl"

const uint LANES = 32, TEAMS = GROUP / LANES;
const uint FOLD = 32; /* products that are added up without correction */

layout(local_size_x = GROUP) in;

shared float sums[GROUP];

/* Every step-th product of a row, from `start` on. */
float part_of_row(uint i, uint start, uint step)
{
    float plain = 0.0; /* right where something is not finite */
    float sum = 0.0;
    vec2 total = vec2(0.0);
    uint count = 0;

    for (uint j = start; j < n; j += step) {
        sum = fma(get0(i * a_row + j * a_col), get1(j * x_step), sum);
        if (++count % FOLD == 0u) {
            plain += sum;
            total = pair_add(total, vec2(sum, 0.0));
            sum = 0.0;
        }
    }
    plain += sum;
    total = pair_add(total, vec2(sum, 0.0));
    return is_finite(floatBitsToUint(plain)) ? total.x : plain;
}

void store(uint i, float sum)
{
    const uint at = i * y_step;
    precise float kept = beta == 0.0 ? 0.0 : beta * get_result(at);
    precise float value = n == 0u ? kept : alpha * sum + kept;

    put(at, value);
}

/* Adds up what `count` invocations, `step` apart, have found; the first of
 * them has the sum. */
void gather(uint at, uint count, uint step)
{
    const uint me = gl_LocalInvocationID.x;

    barrier();
    for (uint half_of = count / 2; half_of > 0; half_of /= 2) {
        if (at < half_of)
            sums[me] += sums[me + half_of * step];
        barrier();
    }
}

void main()
{
    const uint me = gl_LocalInvocationID.x;
    const uint lane = me % LANES, team = me / LANES;
    const bool is_along = VARIANT == GEMV_ALONG;
    const uint at_once = is_along ? TEAMS : LANES;
    const uint part = is_along ? lane : team, parts = GROUP / at_once;

    for (uint start = gl_WorkGroupID.x * at_once; start < m;
         start += gl_NumWorkGroups.x * at_once) {
        const uint i = start + (is_along ? team : lane);
        sums[me] = i < m ? part_of_row(i, part, parts) : 0.0;
        gather(part, parts, is_along ? 1 : LANES);
        if (i < m && part == 0)
            store(i, sums[me]);
        barrier();
    }
}
