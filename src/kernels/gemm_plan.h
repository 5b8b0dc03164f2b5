/* SPDX-License-Identifier: MIT */
/*
 * gemm_plan.h - how a team of threads cuts a matrix product.
 *
 * C is cut into areas, the product of an area into rounds along the depth, and
 * a round into blocks of C, which are what a thread claims. Every member of the
 * team has a rectangle of the blocks. Where A and B are copied, this is done in
 * each round for the whole area; where they are not, there is one round.
 */
#pragma once

#include <stdbool.h>

#include "kernels/table.h"

struct takt_gemm_plan {
    size_t area_rows, area_cols, depth;    /* of one round */
    size_t areas_down, areas_across, deep; /* how many there are */
    size_t block_rows, block_cols;
    size_t down, across; /* rectangles */
    bool copies;
    size_t a_block;          /* bytes of the copy of a block's rows */
    size_t a_bytes, b_bytes; /* all copies of a round */
    size_t blocks;           /* of an area */
};

/* The plan for a product whose m and n are not 0. */
struct takt_gemm_plan takt__gemm_plan(const struct takt_gemm *call,
                                      const struct takt_gemm_kernels *kernels,
                                      const struct takt_gemm_blocks *blocks,
                                      unsigned threads);

static inline size_t takt__gemm_rounds(const struct takt_gemm_plan *plan)
{
    return plan->areas_down * plan->areas_across * plan->deep;
}
