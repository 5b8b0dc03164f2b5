/* SPDX-License-Identifier: MIT */
/* kernel_set.h - the kernels of one instruction set, by op. */
#pragma once

#include "kernels/table.h"
#include "op/op_id.h"

enum { TAKT_DTYPES = 2 };

struct takt_kernel_set {
    takt_map_kernel *map[TAKT_DTYPES][TAKT_OP_COUNT];
    takt_reduce_kernel *reduce[TAKT_DTYPES][TAKT_OP_COUNT];
    takt_rows_kernel *rows[TAKT_OP_COUNT];
    takt_bias_kernel *bias[TAKT_DTYPES][TAKT_OP_COUNT];
    takt_columns_kernel *columns[TAKT_DTYPES][TAKT_OP_COUNT];
    takt_transpose_kernel *transpose[TAKT_DTYPES];

    /* The same, writing past the caches; NULL: there is none. */
    takt_map_kernel *stream_map[TAKT_DTYPES][TAKT_OP_COUNT];
    takt_transpose_kernel *stream_transpose[TAKT_DTYPES];

    const struct takt_gemm_kernels *gemm[TAKT_DTYPES];
    struct takt_gemm_blocks blocks[TAKT_DTYPES];
    const struct takt_factor_kernels *factor[TAKT_DTYPES];
    const struct takt_layer_kernels *layers;
};

/* Fills the set of every instruction set that the build has and that is in
 * `isas` (bit 1 << isa): nothing of the others may be called, not even to find
 * out for block sizes, which follow from the caches. */
void takt__kernel_sets_fill(struct takt_kernel_set kernel_set[TAKT_KERNEL_ISAS],
                            unsigned isas,
                            const struct takt_gemm_caches *caches);
