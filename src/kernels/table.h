/* SPDX-License-Identifier: MIT */
/* table.h - all kernels that this build has, as a table. */
#pragma once

#include "kernels/factor.h"
#include "kernels/kernel.h"
#include "kernels/layers.h"

/* The instruction sets, in the order of takt_isa in takt/machine.h. */
enum takt_kernel_isa {
    TAKT_KERNEL_scalar,
    TAKT_KERNEL_sse2,
    TAKT_KERNEL_avx2,
    TAKT_KERNEL_avx512,
    TAKT_KERNEL_neon,
    TAKT_KERNEL_ISAS
};

/* In the order of takt_dtype in takt/op.h. */
enum takt_kernel_dtype { TAKT_KERNEL_f32, TAKT_KERNEL_f64 };

enum takt_kernel_kind {
    TAKT_KERNEL_KIND_map,
    TAKT_KERNEL_KIND_transpose,
    TAKT_KERNEL_KIND_stream_map, /* these two write past the caches */
    TAKT_KERNEL_KIND_stream_transpose,
    TAKT_KERNEL_KIND_reduce,
    TAKT_KERNEL_KIND_rows,
    TAKT_KERNEL_KIND_bias,
    TAKT_KERNEL_KIND_columns,
    TAKT_KERNEL_KIND_gemm,
    TAKT_KERNEL_KIND_factor,
    TAKT_KERNEL_KIND_layers
};

/* What belongs together to multiply matrices. */
struct takt_gemm_kernels {
    takt_gemm_tune *tune;
    takt_gemm_room *room;
    takt_gemm_kernel *run;
    takt_gemv_kernel *gemv;
    const struct takt_gemm_parts *parts;
};

/* And what belongs together to compute layers. */
struct takt_layer_kernels {
    takt_conv2d_room *conv2d_room;
    takt_conv2d_kernel *conv2d;
    takt_pooling_room *pooling_room;
    takt_pooling_kernel *pooling;
    takt_attention_room *attention_room;
    takt_attention_kernel *attention;
};

struct takt_kernel {
    const char *op; /* of gemm, factor and layers: the first of several */
    enum takt_kernel_kind kind;
    enum takt_kernel_dtype dtype;
    enum takt_kernel_isa isa;
    union {
        takt_map_kernel *map;
        takt_transpose_kernel *transpose;
        takt_map_kernel *stream_map;
        takt_transpose_kernel *stream_transpose;
        takt_reduce_kernel *reduce;
        takt_rows_kernel *rows;
        takt_bias_kernel *bias;
        takt_columns_kernel *columns;
        const struct takt_gemm_kernels *gemm;
        const struct takt_factor_kernels *factor;
        const struct takt_layer_kernels *layers;
    } run; /* the member of its kind */
};

const struct takt_kernel *takt__kernel_table(size_t *count);
