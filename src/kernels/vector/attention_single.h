/* SPDX-License-Identifier: MIT */
/*
 * attention_single.h - the running softmax of a single query.
 *
 * The scores of one query are one row, so the lanes are keys here. Its block
 * has a pitch of 1 and is used like any other.
 */
#pragma once

#include "kernels/vector/attention.h"

/* Fills a row up to whole vectors with scores that have no weight. */
VINLINE void fill_up(float *scores, size_t count)
{
    for (size_t i = count; i % VF32_LANES != 0; i++)
        scores[i] = -INFINITY;
}

static void weigh_single(const struct attention_block *is, size_t count)
{
    const float before = *is->most;
    vf32 most = vf32_set1(before), sum = vf32_zero();

    fill_up(is->scores, count);
    for (size_t j = 0; j < count; j += VF32_LANES)
        most = vf32_max(vf32_load(is->scores + j), most);
    *is->most = vf32_hmax(most);

    const vf32 from = origin(vf32_set1(*is->most));
    for (size_t j = 0; j < count; j += VF32_LANES) {
        const vf32 score = vf32_load(is->scores + j);
        const vf32 weight = vf32_exp_bounded(vf32_sub(score, from));
        vf32_store(is->scores + j, weight);
        sum = vf32_add(sum, weight);
    }
    is->parts[is->call->depth] = vf32_sum(sum);
    vf32_store(is->factors,
               vf32_exp_bounded(vf32_sub(vf32_set1(before), from)));
}

static void add_parts_single(const struct attention_block *is)
{
    const vf32 factor = vf32_load(is->factors);

    for (size_t c = 0; c <= is->call->depth; c += VF32_LANES)
        add_part(is, c, factor);
}

static void divide_single(const struct attention_block *is)
{
    const float total = is->sums[is->call->depth];

    for (size_t c = 0; c < is->call->depth; c++)
        is->sums[c] = total == 0 ? 0 : is->sums[c] / total;
}
