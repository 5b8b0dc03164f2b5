/* SPDX-License-Identifier: MIT */
/*
 * transpose.comp - out[j][i] = a[i][j], through squares in shared memory so
 * that both sides are touched along their rows.
 */
#version 450
#extension GL_GOOGLE_include_directive : require

layout(push_constant) uniform Parameters {
    uvec4 base;
    uint rows, cols, ld_in, ld_out;
};

#include "common.glsl"

const uint TILE = 32, STEP = GROUP / TILE;

layout(local_size_x = GROUP) in;
shared uint square[TILE][TILE + 1]; /* an odd step: columns are no conflict */

void main()
{
    const uint across = gl_LocalInvocationID.x % TILE;
    const uint down = gl_LocalInvocationID.x / TILE;
    const uint tiles_across = (cols + TILE - 1) / TILE;
    const uint tiles = tiles_across * ((rows + TILE - 1) / TILE);

    for (uint tile = gl_WorkGroupID.x; tile < tiles;
         tile += gl_NumWorkGroups.x) {
        const uint row = tile / tiles_across * TILE;
        const uint col = tile % tiles_across * TILE;
        for (uint k = down; k < TILE; k += STEP)
            if (row + k < rows && col + across < cols)
                square[k][across] =
                    in0[base.x + (row + k) * ld_in + col + across];
        barrier();
        for (uint k = down; k < TILE; k += STEP)
            if (col + k < cols && row + across < rows)
                result[base.w + (col + k) * ld_out + row + across] =
                    square[across][k];
        barrier();
    }
}
