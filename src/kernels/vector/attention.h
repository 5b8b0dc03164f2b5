/* SPDX-License-Identifier: MIT */
/*
 * attention.h - the running softmax of one block of queries.
 *
 * Scores are kept turned: one row for each key, one lane for each query. So
 * every step below works on whole vectors of queries and nothing is reduced
 * across lanes, and both products read all operands where they lie.
 *
 * Keys come a block at a time. What was summed up so far stays relative to the
 * highest score so far: when a block raises it, the sums shrink accordingly.
 * What a sum loses in rounding when a block is added is kept beside it and
 * added with the next one, so that the number of keys does not matter.
 */
#pragma once

#include <math.h>

#include "kernels/layers.h"
#include "kernels/vector/isa.h"
#include "kernels/vector/math.h"

/* A block of queries and its sums so far. */
struct attention_block {
    const struct takt_attention_call *call;
    const struct takt_gemm_blocks *blocks;
    size_t first, queries; /* of the head */
    size_t pitch;          /* queries, filled up to whole vectors */
    const float *q, *k, *v, *mask;
    float *out;
    float *turned;  /* depth x pitch: the queries */
    float *scores;  /* KEYS_EACH x pitch, and then their weights */
    float *offsets; /* KEYS_EACH x pitch: the mask */
    float *most;    /* pitch: highest scores, -inf at first */
    float *factors; /* pitch: what a block of keys shrinks the sums by */
    /* (depth + 1) x pitch: weighted values, and the weights themselves. */
    float *sums;  /* of the blocks so far */
    float *lost;  /* by rounding them */
    float *parts; /* of this block */
    void *rest;   /* for the products */
};

/* Keys key .. key + count - 1. */
struct keys {
    size_t key, count;
};

VINLINE void add_offsets(const struct attention_block *is, size_t count)
{
    for (size_t i = 0; i < count * is->pitch; i += VF32_LANES)
        vf32_store(is->scores + i, vf32_add(vf32_load(is->scores + i),
                                            vf32_load(is->offsets + i)));
}

/* Scores of keys that a query does not see become -inf: for each key those of
 * the first queries, and of one more for the next key. */
static void hide_later(const struct attention_block *is, struct keys keys)
{
    size_t hidden = 0;

    while (takt__attention_visible(is->call, is->first + hidden) <= keys.key)
        hidden++;
    for (size_t j = 0; j < keys.count; j++) {
        float *row = is->scores + j * is->pitch;
        for (size_t i = 0; i < hidden + j; i++)
            row[i] = -INFINITY;
    }
}

/* The highest score of each lane. A NaN may be lost here: its weight is NaN. */
VINLINE vf32 highest(const float *scores, size_t count, size_t pitch, vf32 most)
{
    vf32 other = most;
    size_t j = 0;

    for (; j + 2 <= count; j += 2, scores += 2 * pitch) {
        most = vf32_max(vf32_load(scores), most);
        other = vf32_max(vf32_load(scores + pitch), other);
    }
    if (j < count)
        most = vf32_max(vf32_load(scores), most);
    return vf32_max(most, other);
}

/* What exponents are taken from: as long as all is -inf, 0. */
VINLINE vf32 origin(vf32 most)
{
    const vf32 none = vf32_set1(-INFINITY);
    return vf32_select(vf32_eq(most, none), vf32_zero(), most);
}

/* Turns scores into weights and returns the sum of them. */
VINLINE vf32 weigh_lanes(float *scores, size_t count, size_t pitch, vf32 from)
{
    vf32 sum = vf32_zero(), other = vf32_zero();
    size_t j = 0;

    for (; j + 2 <= count; j += 2, scores += 2 * pitch) {
        const vf32 a = vf32_exp_bounded(vf32_sub(vf32_load(scores), from));
        const vf32 b =
            vf32_exp_bounded(vf32_sub(vf32_load(scores + pitch), from));
        vf32_store(scores, a);
        vf32_store(scores + pitch, b);
        sum = vf32_add(sum, a);
        other = vf32_add(other, b);
    }
    if (j < count) {
        const vf32 a = vf32_exp_bounded(vf32_sub(vf32_load(scores), from));
        vf32_store(scores, a);
        sum = vf32_add(sum, a);
    }
    return vf32_add(sum, other);
}

/* Turns the scores of `count` keys into weights, which it adds up. */
static void weigh(const struct attention_block *is, size_t count)
{
    float *const totals = is->parts + is->call->depth * is->pitch;

    for (size_t i = 0; i < is->pitch; i += VF32_LANES) {
        float *const scores = is->scores + i;
        const vf32 before = vf32_load(is->most + i);
        const vf32 most = highest(scores, count, is->pitch, before);
        const vf32 from = origin(most);

        vf32_store(is->most + i, most);
        vf32_store(is->factors + i, vf32_exp_bounded(vf32_sub(before, from)));
        vf32_store(totals + i, weigh_lanes(scores, count, is->pitch, from));
    }
}

/* Adds one vector of this block's parts to the sums. Nothing is lost from an
 * infinite sum. */
VINLINE void add_part(const struct attention_block *is, size_t at, vf32 factor)
{
    const vf32 sum = vf32_mul(vf32_load(is->sums + at), factor);
    const vf32 lost = vf32_mul(vf32_load(is->lost + at), factor);
    const vf32 part = vf32_add(vf32_load(is->parts + at), lost);
    const vf32 next = vf32_add(sum, part);
    const vf32 rest = vf32_sub(part, vf32_sub(next, sum));

    vf32_store(is->sums + at, next);
    vf32_store(is->lost + at, vf32_select(vf32_isnan(rest), vf32_zero(), rest));
}

static void add_parts(const struct attention_block *is)
{
    for (size_t i = 0; i < is->pitch; i += VF32_LANES) {
        const vf32 factor = vf32_load(is->factors + i);
        for (size_t c = 0; c <= is->call->depth; c++)
            add_part(is, c * is->pitch + i, factor);
    }
}

/* Divides the sums by the weights; without any weight the result is zero. Such
 * sums are divided by one, which goes through memory: clang would see that the
 * quotient does not matter and divide by zero. */
static void divide(const struct attention_block *is)
{
    const size_t depth = is->call->depth;

    for (size_t i = 0; i < is->pitch; i += VF32_LANES) {
        float *const totals = is->sums + depth * is->pitch + i;
        const vm32 none = vf32_eq(vf32_load(totals), vf32_zero());
        vf32_store(totals,
                   vf32_select(none, vf32_set1(1.0F), vf32_load(totals)));
        v_order();
        const vf32 total = vf32_load(totals);
        float *sums = is->sums + i;
        for (size_t c = 0; c < depth; c++, sums += is->pitch) {
            const vf32 mean = vf32_div(vf32_load(sums), total);
            vf32_store(sums, vf32_select(none, vf32_zero(), mean));
        }
    }
}
