/* SPDX-License-Identifier: MIT */
/*
 * rows.comp - softmax, layernorm, and the weights of attention: each row by
 * itself, several short rows or one long one to a group. `out` may be `in`.
 */
#version 450
#extension GL_GOOGLE_include_directive : require

layout(push_constant) uniform Parameters {
    uvec4 base;
    uint rows, cols;
    uint has_gain, has_bias;        /* layernorm */
    float epsilon;                  /* times 2^epsilon_exponent */
    int epsilon_exponent;
    uint has_mask, is_causal;       /* attention */
    uint queries, first, per_head;  /* of all; the rows are per_head of each */
};

#include "common.glsl"
#include "exact.glsl"
#include "pair.glsl"
#include "functions.glsl"
#include "sums.glsl"

layout(constant_id = 1) const uint LANES = 256; /* invocations for a row */
layout(local_size_x = GROUP) in;

shared Sum sums[GROUP];
shared uint orders[GROUP];

const uint ORDER_OF_INF = INF | SIGN, ORDER_OF_MINUS_INF = ~(INF | SIGN);

uint me, lane;

Sum sum_over_row(Sum mine)
{
    barrier();
    sums[me] = mine;
    barrier();
    for (uint half_of = LANES / 2; half_of > 0; half_of /= 2) {
        if (lane < half_of) {
            mine = merge(mine, sums[me + half_of]);
            sums[me] = mine;
        }
        barrier();
    }
    return sums[me - lane];
}

uint largest_over_row(uint mine)
{
    barrier();
    orders[me] = mine;
    barrier();
    for (uint half_of = LANES / 2; half_of > 0; half_of /= 2) {
        if (lane < half_of) {
            mine = max(mine, orders[me + half_of]);
            orders[me] = mine;
        }
        barrier();
    }
    return orders[me - lane];
}

/* ---- softmax ------------------------------------------------------------- */

float score(uint row, uint j)
{
    const float x = get0(row * cols + j);

    if (VARIANT != ROWS_WEIGHTS || has_mask == 0u)
        return x;
    precise float masked = x + get1((first + row % per_head) * cols + j);
    return masked;
}

/* The keys that a query sees are the first ones. */
uint visible(uint row)
{
    if (VARIANT != ROWS_WEIGHTS || is_causal == 0u)
        return cols;
    const uint seen = first + row % per_head + 1 + cols;
    return seen < queries ? 0u : min(seen - queries, cols);
}

uint largest_score(uint row, uint seen)
{
    uint most = 0u;

    for (uint j = lane; j < seen; j += LANES) {
        const uint bits = floatBitsToUint(score(row, j));
        most = max(most, is_nan(bits) ? 0xFFFFFFFFu : order_of(bits));
    }
    return largest_over_row(most);
}

float power_at(uint row, uint j, float most)
{
    precise float apart = score(row, j) - most;
    return exponential(apart);
}

void softmax(uint row, uint seen)
{
    const uint order = largest_score(row, seen);
    const float most = uintBitsToFloat(number_of(order));
    const bool is_spoilt =
        order >= ORDER_OF_INF ||
        (VARIANT == ROWS_SOFTMAX && order <= ORDER_OF_MINUS_INF);
    const bool is_hidden = !is_spoilt && order <= ORDER_OF_MINUS_INF;
    Sum sum = Sum(0.0, 0.0, 0, 0u);

    for (uint j = lane; j < seen && !is_spoilt && !is_hidden; j += LANES) {
        const vec2 next = sum_of(sum.value, power_at(row, j, most));
        precise float rest = sum.rest + next.y;
        sum = Sum(next.x, rest, 0, 0u);
    }
    sum = sum_over_row(sum);
    const float share = ratio(1.0, pair_of(sum));
    for (uint j = lane; j < seen && !is_hidden; j += LANES) {
        precise float part = power_at(row, j, most) * share;
        put(row * cols + j, is_spoilt ? uintBitsToFloat(NOT_A_NUMBER) : part);
    }
    /* No weight is negative: this one tells gemm.comp that nothing counts. */
    if (is_hidden && lane == 0u && cols > 0u && row < rows)
        put(row * cols, -1.0);
}

/* ---- layernorm ----------------------------------------------------------- */

Middle middle_of_row(uint row, uint count, out bool is_spoilt)
{
    const uint pivot = count > 0u ? in0[base.x + row * cols] : 0u;
    Sum sum = no_sum();

    for (uint j = lane; j < count; j += LANES)
        add_from_pivot(sum, in0[base.x + row * cols + j], pivot);
    sum = sum_over_row(sum);
    is_spoilt = sum.flags != 0u;
    return middle_of(sum, pivot, max(cols, 1u));
}

/* The variance and epsilon. */
Sum spread_of_row(uint row, uint count, Middle middle)
{
    Sum sum = no_sum();

    for (uint j = lane; j < count; j += LANES) {
        const float apart = distance(middle, in0[base.x + row * cols + j]);
        precise float square = apart * apart;
        add_number(sum, floatBitsToUint(square));
    }
    sum = sum_over_row(sum);
    const vec2 mean = pair_divide(pair_of(sum), pair_of(max(cols, 1u)));
    return merge(Sum(mean.x, mean.y, sum.exponent + 2 * middle.exponent, 0u),
                 Sum(epsilon, 0.0, epsilon_exponent, 0u));
}

float affine(float z, uint j)
{
    precise float y = z;

    if (has_gain != 0u)
        y = y * get1(j);
    if (has_bias != 0u)
        y = y + get2(j);
    return y;
}

void layernorm(uint row, uint count)
{
    bool is_spoilt;
    const Middle middle = middle_of_row(row, count, is_spoilt);
    const Sum spread = spread_of_row(row, is_spoilt ? 0u : count, middle);
    const int odd = spread.exponent & 1;
    const vec2 square = pair_of(spread) * (odd != 0 ? 2.0 : 1.0);

    is_spoilt = is_spoilt || square.x <= 0.0;
    const vec2 root = pair_root(is_spoilt ? vec2(1.0, 0.0) : square);
    const int shift = middle.exponent - (spread.exponent - odd) / 2;
    for (uint j = lane; j < count; j += LANES) {
        const float apart = distance(middle, in0[base.x + row * cols + j]);
        const float z = is_spoilt ? uintBitsToFloat(NOT_A_NUMBER)
                                  : scaled(ratio(apart, root), shift);
        put(row * cols + j, affine(z, j));
    }
}

void main()
{
    const uint at_once = GROUP / LANES;

    me = gl_LocalInvocationID.x;
    lane = me % LANES;
    for (uint start = gl_WorkGroupID.x * at_once; start < rows;
         start += gl_NumWorkGroups.x * at_once) {
        const uint row = start + me / LANES;
        const bool is_real = row < rows; /* the others wait at the barriers */
        if (VARIANT == ROWS_LAYERNORM)
            layernorm(row, is_real ? cols : 0u);
        else
            softmax(row, is_real ? visible(row) : 0u);
    }
}
