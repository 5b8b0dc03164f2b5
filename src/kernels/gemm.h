/* SPDX-License-Identifier: MIT */
/*
 * gemm.h - matrix products and matrix-vector products on one thread.
 *
 * One call describes a whole product or a piece of one: for several threads see
 * gemm_team.h. Transposes are strides. Operands must not overlap the result.
 *
 * Accuracy: sums are added up in the dtype, with fma where the ISA has it.
 */
#pragma once

#include <stddef.h>

/* C = alpha * A * B + beta * C, where A is m x k, B is k x n, C is m x n.
 *   A(i,p) = a[i * a_row + p * a_col]
 *   B(p,j) = b[p * b_row + j * b_col]
 *   C(i,j) = c[i * ldc + j]
 * With beta == 0 C is not read; with alpha == 0 or k == 0 neither A nor B. */
struct takt_gemm {
    size_t m, n, k;
    const void *a;
    size_t a_row, a_col;
    const void *b;
    size_t b_row, b_col;
    void *c;
    size_t ldc;
    double alpha, beta;
};

/* y = alpha * A * x + beta * y, where A is m x n as above, x(j) is at
 * x[j * x_step] and y(i) at y[i * y_step]. The same rules for 0. */
struct takt_gemv {
    size_t m, n;
    const void *a;
    size_t a_row, a_col;
    const void *x;
    size_t x_step;
    void *y;
    size_t y_step;
    double alpha, beta;
};

/* How a product is cut so that its pieces stay in the caches: kc deep pieces
 * of nc columns of B, against mc rows of A. All are at least 1. */
struct takt_gemm_blocks {
    size_t mc, nc, kc;
};

/* The caches of one core, in bytes; 0: unknown, a cautious guess is used. L3
 * is this core's share of it. */
struct takt_gemm_caches {
    size_t l1d, l2, l3;
};

/* Fills `blocks` for kernels of one instruction set and dtype. */
typedef void takt_gemm_tune(const struct takt_gemm_caches *caches,
                            struct takt_gemm_blocks *blocks);

/* Bytes of scratch that the call needs; 0 when it copies nothing, SIZE_MAX
 * when it is more than there can be. */
typedef size_t takt_gemm_room(const struct takt_gemm *call,
                              const struct takt_gemm_blocks *blocks);

/* Runs the call. `scratch` has the room asked for above, at any alignment,
 * and may be NULL where that is 0. */
typedef void takt_gemm_kernel(const struct takt_gemm *call,
                              const struct takt_gemm_blocks *blocks,
                              void *scratch);

typedef void takt_gemv_kernel(const struct takt_gemv *call);

/* The steps of a product, for threads that share what they copy. A piece is a
 * product of its own, and copied in its whole depth. Where an instruction set
 * never copies, there is the size alone. */
struct takt_gemm_parts {
    size_t size;                 /* bytes of an element */
    size_t tile_rows, tile_cols; /* what registers hold of C */
    size_t tile_width;           /* elements per step of a copied tile of A */
    /* Copies the piece's A: tile_width * k elements for every tile_rows rows
     * that begin. */
    void (*copy_a)(const struct takt_gemm *piece, void *to);
    /* Copies the piece's B: tile_cols * k elements for every tile_cols columns
     * that begin. */
    void (*copy_b)(const struct takt_gemm *piece, void *to);
    /* Runs the piece on such copies; its own A and B are not read. */
    void (*multiply)(const struct takt_gemm *piece, const void *a,
                     const void *b);
};

#define TAKT_GEMM_DECLARE(dtype, isa)                 \
    takt_gemm_tune takt__k_gemm_tune_##dtype##_##isa; \
    takt_gemm_room takt__k_gemm_room_##dtype##_##isa; \
    takt_gemm_kernel takt__k_gemm_##dtype##_##isa;    \
    takt_gemv_kernel takt__k_gemv_##dtype##_##isa;    \
    extern const struct takt_gemm_parts takt__k_gemm_parts_##dtype##_##isa;

#define TAKT_GEMM_DECLARE_ISA(isa) \
    TAKT_GEMM_DECLARE(f32, isa)    \
    TAKT_GEMM_DECLARE(f64, isa)

TAKT_GEMM_DECLARE_ISA(scalar)
TAKT_GEMM_DECLARE_ISA(sse2)
TAKT_GEMM_DECLARE_ISA(avx2)
TAKT_GEMM_DECLARE_ISA(avx512)
TAKT_GEMM_DECLARE_ISA(neon)

#undef TAKT_GEMM_DECLARE_ISA
#undef TAKT_GEMM_DECLARE
