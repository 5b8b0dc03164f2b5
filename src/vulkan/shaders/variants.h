/* SPDX-License-Identifier: MIT */
/*
 * variants.h - the numbers by which the driver chooses what a shader computes,
 * read by both sides. Each is the specialization constant 0 of its shader.
 */
#ifndef TAKT_VULKAN_VARIANTS_H
#define TAKT_VULKAN_VARIANTS_H

/* map.comp */
#define MAP_ADD 0
#define MAP_SUB 1
#define MAP_MUL 2
#define MAP_DIV 3
#define MAP_SCALE 4
#define MAP_AXPY 5
#define MAP_FMA 6
#define MAP_ABS 7
#define MAP_NEG 8
#define MAP_CLAMP 9
#define MAP_SQRT 10
#define MAP_EXP 11
#define MAP_LOG 12
#define MAP_SIGMOID 13
#define MAP_TANH 14
#define MAP_RELU 15
#define MAP_GELU 16
#define MAP_COPY 17

/* reduce.comp; variance takes two: the mean, then the squares around it */
#define REDUCE_SUM 0
#define REDUCE_MEAN 1
#define REDUCE_NORM1 2
#define REDUCE_DOT 3
#define REDUCE_NORM2 4
#define REDUCE_MOMENT 5
#define REDUCE_AROUND 6
#define REDUCE_MAX 7
#define REDUCE_MIN 8
#define REDUCE_ARGMAX 9
#define REDUCE_ARGMIN 10

/* Where reduce.comp leaves what is not the result yet, in steps of 16 bytes:
 * one for each group, then that of the mean. */
#define REDUCE_MOST_GROUPS 1024
#define REDUCE_MEAN_AT 1024
#define REDUCE_SCRATCH_BYTES 16400

/* rows.comp */
#define ROWS_SOFTMAX 0
#define ROWS_LAYERNORM 1
#define ROWS_WEIGHTS 2  /* of attention: softmax of what is not hidden */
#define ROWS_VARIANTS 3 /* times three numbers of invocations for a row */

/* gemm.comp */
#define GEMM_PLAIN 0
#define GEMM_CONV2D 1
#define GEMM_VALUES 2 /* of attention: weights times values */

/* gemv.comp: which way the elements of a row of the matrix lie */
#define GEMV_ALONG 0
#define GEMV_ACROSS 1

#define GROUP 256    /* invocations of a group, in every shader */
#define GEMM_TILE 64 /* rows and columns of C that a group computes */

#endif
