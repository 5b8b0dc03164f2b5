/* SPDX-License-Identifier: MIT */
/*
 * reduce.comp - reductions. The first dispatch reduces elements, each group to
 * one state; where there were several groups, a second reduces their states.
 */
#version 450
#extension GL_GOOGLE_include_directive : require

layout(push_constant) uniform Parameters {
    uvec4 base;
    uint count;      /* elements, or states of groups */
    uint n;          /* elements of the operand */
    uint has_states; /* the second dispatch */
    uint is_last;    /* the result is to be written */
};

#include "common.glsl"
#include "exact.glsl"
#include "pair.glsl"
#include "sums.glsl"

layout(local_size_x = GROUP) in;

/* A sum; or an extremum: its order (the highest: NaN) and its position. */
shared uvec4 states[GROUP];

const bool IS_EXTREMUM = VARIANT >= REDUCE_MAX;
const bool IS_SMALLEST = VARIANT == REDUCE_MIN || VARIANT == REDUCE_ARGMIN;
const bool IS_POSITION = VARIANT == REDUCE_ARGMAX || VARIANT == REDUCE_ARGMIN;

uvec4 state_of(Sum sum)
{
    return uvec4(floatBitsToUint(sum.value), floatBitsToUint(sum.rest),
                 uint(sum.exponent), sum.flags);
}

Sum sum_of(uvec4 state)
{
    return Sum(uintBitsToFloat(state.x), uintBitsToFloat(state.y),
               int(state.z), state.w);
}

uvec4 state_at(uint at)
{
    at = base.z + 4 * at;
    return uvec4(in2[at], in2[at + 1], in2[at + 2], in2[at + 3]);
}

void put_state(uint at, uvec4 state)
{
    for (uint i = 0; i < 4; i++)
        in2[base.z + 4 * at + i] = state[i];
}

/* Nothing yet: an order below all others. */
uvec4 none()
{
    return IS_EXTREMUM ? uvec4(0u, 0xFFFFFFFFu, 0u, 0u) : state_of(no_sum());
}

/* Zeros are ordered by sign, but are equal where their position is asked. */
uint extremum_order(uint bits)
{
    if (is_nan(bits))
        return 0xFFFFFFFFu;
    if (IS_POSITION && bits == SIGN)
        bits = 0u;
    return order_of(IS_SMALLEST ? bits ^ SIGN : bits);
}

uvec4 better(uvec4 a, uvec4 b)
{
    return b.x > a.x || (b.x == a.x && b.y < a.y) ? b : a;
}

uvec4 combined(uvec4 a, uvec4 b)
{
    return IS_EXTREMUM ? better(a, b) : state_of(merge(sum_of(a), sum_of(b)));
}

void add_element(inout Sum sum, uint i, Middle middle)
{
    const uint bits = in0[base.x + i];

    switch (VARIANT) {
    case REDUCE_NORM1:
        add_number(sum, bits & ~SIGN);
        break;
    case REDUCE_DOT:
        add_product(sum, bits, in1[base.y + i]);
        break;
    case REDUCE_NORM2:
        add_product(sum, bits, bits);
        break;
    case REDUCE_MOMENT:
        add_from_pivot(sum, bits, in0[base.x]);
        break;
    case REDUCE_AROUND: {
        const float apart = distance(middle, bits);
        precise float square = apart * apart;
        add_number(sum, floatBitsToUint(square));
        break;
    }
    default:
        add_number(sum, bits);
    }
}

uvec4 reduce_elements()
{
    const uint step = gl_NumWorkGroups.x * GROUP;
    uvec4 best = none();
    Sum sum = no_sum();
    Middle middle = Middle(vec2(0.0), 0);

    if (VARIANT == REDUCE_AROUND) {
        const Sum moment = sum_of(state_at(REDUCE_MEAN_AT));
        middle = middle_of(moment, in0[base.x], n);
        sum.flags = moment.flags != 0u ? HAS_NAN : 0u;
    }
    for (uint i = gl_GlobalInvocationID.x; i < count; i += step)
        if (IS_EXTREMUM)
            best = better(best,
                          uvec4(extremum_order(in0[base.x + i]), i, 0u, 0u));
        else if (sum.flags == 0u || VARIANT != REDUCE_AROUND)
            add_element(sum, i, middle);
    return IS_EXTREMUM ? best : state_of(sum);
}

uvec4 reduce_states()
{
    uvec4 state = none();

    for (uint i = gl_LocalInvocationID.x; i < count; i += GROUP)
        state = combined(state, state_at(i));
    return state;
}

/* The mean or the variance, from a sum in units of 2^unit. */
float divided(Sum sum, int unit)
{
    if (sum.flags != 0u)
        return special_sum(sum.flags);
    const vec2 mean = pair_divide(pair_of(sum), pair_of(n));
    return scaled(mean.x, sum.exponent + unit);
}

float root(Sum sum)
{
    const int odd = sum.exponent & 1;
    const vec2 square = pair_of(sum) * (odd != 0 ? 2.0 : 1.0);

    if (sum.flags != 0u)
        return special_sum(sum.flags);
    if (square.x <= 0.0)
        return 0.0;
    return scaled(pair_root(square).x, (sum.exponent - odd) / 2);
}

void finish_extremum(uvec4 best)
{
    if (IS_POSITION) {
        result[base.w] = best.y;
        result[base.w + 1] = 0u; /* the upper half of a size_t */
        return;
    }
    const uint bits = best.x == 0xFFFFFFFFu ? NOT_A_NUMBER : number_of(best.x);
    result[base.w] = IS_SMALLEST && best.x != 0xFFFFFFFFu ? bits ^ SIGN : bits;
}

void finish(uvec4 state)
{
    const Sum sum = sum_of(state);

    if (IS_EXTREMUM)
        finish_extremum(state);
    else if (VARIANT == REDUCE_MOMENT)
        put_state(REDUCE_MEAN_AT, state);
    else if (VARIANT == REDUCE_MEAN)
        put(0, divided(sum, 0));
    else if (VARIANT == REDUCE_AROUND)
        put(0, divided(sum, 2 * sum_of(state_at(REDUCE_MEAN_AT)).exponent));
    else if (VARIANT == REDUCE_NORM2)
        put(0, root(sum));
    else
        put(0, float_of(sum));
}

void main()
{
    const uint me = gl_LocalInvocationID.x;
    uvec4 state = has_states != 0u ? reduce_states() : reduce_elements();

    states[me] = state;
    barrier();
    for (uint half_of = GROUP / 2; half_of > 0; half_of /= 2) {
        if (me < half_of) {
            state = combined(state, states[me + half_of]);
            states[me] = state;
        }
        barrier();
    }
    if (me == 0u && is_last != 0u)
        finish(state);
    else if (me == 0u)
        put_state(gl_WorkGroupID.x, state);
}
