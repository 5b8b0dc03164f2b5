/* SPDX-License-Identifier: MIT */
/*
 * gemm.h - a dispatch of gemm.comp: products, convolutions, attention.
 */
#ifndef TAKT_VULKAN_GEMM_H
#define TAKT_VULKAN_GEMM_H

#include "vulkan/inside.h"

/* Its push constants, from behind `base` on; what a variant does not read may
 * be 0. */
struct takt_vulkan_gemm {
    uint32_t m, n, k, batch;
    uint32_t a_row, a_col, b_row, b_col, ldc;
    uint32_t a_step, b_step, c_step;
    float alpha, beta;
    uint32_t groups;
    uint32_t has_bias;
    uint32_t height, width, rows, cols, stride, pad, out_width;
    uint32_t queries, first, is_causal;
};

/* `variant` is one of GEMM_...; `at` are A, B, the bias, C. */
takt_status takt__vulkan_gemm(struct takt_vulkan *vulkan, unsigned variant,
                              const struct takt_location at[4],
                              const struct takt_vulkan_gemm *gemm);

#endif
