/* SPDX-License-Identifier: MIT */
/*
 * factor.h - Cholesky factors, LU factors and triangular systems.
 *
 * Matrices lie row by row, `ld` elements from one row to the next. The steps of
 * one instruction set work on the rows of a block; factor.c makes whole
 * factors of them, with products of matrices in between. Where a set has no
 * limit (`block` is 0), its steps run whole factors: the definition.
 *
 * A step that stops at a pivot leaves the block half done.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct takt_gemm;

/* Columns of a panel begin at multiples of this, and rows of a matrix with
 * panels are a multiple of it apart: whole vectors of every instruction set. */
enum { TAKT_PANEL_COLS = 16 };

/* T(i,j) = at[i * row + j * col]; the part below the diagonal is 0, or with
 * is_lower the one above it. With is_unit the diagonal is 1 and is not read. */
struct takt_triangle {
    size_t n;
    const void *at;
    size_t row, col;
    bool is_lower, is_unit;
};

/* A = U'U: replaces the upper triangle of A, which is n x n, by U. False: a
 * pivot is not positive or not finite. */
typedef bool takt_cholesky_step(size_t n, void *a, size_t ld);

/* B = T^-1 B, where B has `cols` columns. */
typedef void takt_substitute_step(const struct takt_triangle *t, size_t cols,
                                  void *b, size_t ld);

/* P A = L U in place, where A has rows >= cols and is a panel: see
 * TAKT_PANEL_COLS. All of a row's elements up to the end of its last vector may
 * be written as they are. Row k was exchanged with row pivot[k] >= k, where
 * pivots count the first row of A as `first`. False: a pivot is 0 or not
 * finite. */
typedef bool takt_lu_step(size_t rows, size_t cols, void *a, size_t ld,
                          size_t first, size_t *pivot);

/* Exchanges the rows of A by `count` such pivots, one after the other. */
typedef void takt_swap_step(size_t count, size_t first, const size_t *pivot,
                            size_t cols, void *a, size_t ld);

/* Reflections that make the first `cols` columns of A upper triangular, applied
 * to all of its `all` columns; rows >= cols. Reflection k is I - tau[k] v v',
 * where v is 0 above row k, 1 in it, and below it what lies below the diagonal
 * of A afterwards. Where there are blocks, A is a panel (see above), `all` is
 * `cols`, and what follows up to the end of the panel is reflected too. */
typedef void takt_reflect_step(size_t rows, size_t cols, size_t all, void *a,
                               size_t ld, void *tau);

/* Applies such reflections, the last one first, to the identity: Q, rows x
 * cols. Only where there are no blocks. */
typedef void takt_unfold_step(size_t rows, size_t cols, const void *a,
                              size_t ld, const void *tau, void *q, size_t ld_q);

/* Moves what is above the diagonal of A, which is n x n, to below it, and
 * leaves zeros. */
typedef void takt_mirror_step(size_t n, void *a, size_t ld);

struct takt_factor_kernels {
    takt_cholesky_step *cholesky;
    takt_substitute_step *substitute;
    takt_lu_step *lu;
    takt_swap_step *swap;
    takt_mirror_step *mirror;
    takt_reflect_step *reflect;
    takt_unfold_step *unfold; /* NULL: there are blocks */
    size_t size;              /* bytes of an element */
    size_t block;             /* rows or columns of a step; 0: any number */
};

/* Does something to `count` columns, the first of which is `first`, with
 * products by takt_factoring.multiply_part and this `scratch`. */
typedef void takt_columns_task(void *job, size_t first, size_t count,
                               void *scratch);

/* Steps, and what multiplies matrices between them. */
struct takt_factoring {
    const struct takt_factor_kernels *kernels;
    void *self;
    void (*multiply)(void *self, const struct takt_gemm *product);
    /* Runs the task on all of `cols` columns, in stretches that threads may
     * take at the same time; `work` is in multiply-adds. */
    void (*run_columns)(void *self, size_t cols, double work,
                        takt_columns_task *task, void *job);
    void (*multiply_part)(void *self, const struct takt_gemm *product,
                          void *scratch);
};

/* The same as the steps, for any size. */
bool takt__factor_cholesky(const struct takt_factoring *how, size_t n, void *a,
                           size_t ld);
void takt__factor_substitute(const struct takt_factoring *how,
                             const struct takt_triangle *t, size_t cols,
                             void *b, size_t ld);
bool takt__factor_lu(const struct takt_factoring *how, size_t rows, size_t cols,
                     void *a, size_t ld, size_t first, size_t *pivot);

/* By L and U of n x n numbers, one after the other. */
void takt__factor_substitute_lu(const struct takt_factoring *how, size_t n,
                                const void *lu, size_t lu_ld, size_t cols,
                                void *b, size_t ld);

/* Elements of working memory for the reflections of A with so many rows and
 * columns; SIZE_MAX: more than there can be. */
size_t takt__factor_reflect_room(size_t rows, size_t all);

/* The same as the step; between `cols` and the end of its panel there are
 * zeros, or the end of A. `work` has the room asked for above; with a plan it
 * is not looked at. */
void takt__factor_reflect(const struct takt_factoring *how, size_t rows,
                          size_t cols, size_t all, void *a, size_t ld,
                          void *tau, void *work);

/* The same as the step, whether there are blocks or not. */
void takt__factor_unfold(const struct takt_factoring *how, size_t rows,
                         size_t cols, const void *a, size_t ld, const void *tau,
                         void *q, size_t ld_q, void *work);

/* Steps that do nothing: what runs with them meets the same products, and so
 * finds out what memory they need. Operands are not looked at then. */
struct takt_factor_kernels
takt__factor_plan(const struct takt_factor_kernels *kernels);

#define TAKT_FACTOR_DECLARE(dtype, isa)                      \
    takt_cholesky_step takt__k_cholesky_##dtype##_##isa;     \
    takt_substitute_step takt__k_substitute_##dtype##_##isa; \
    takt_lu_step takt__k_lu_##dtype##_##isa;                 \
    takt_swap_step takt__k_swap_##dtype##_##isa;             \
    takt_mirror_step takt__k_mirror_##dtype##_##isa;         \
    takt_reflect_step takt__k_reflect_##dtype##_##isa;       \
    extern const struct takt_factor_kernels takt__k_factor_##dtype##_##isa;

takt_unfold_step takt__k_unfold_f32_scalar, takt__k_unfold_f64_scalar;

#define TAKT_FACTOR_DECLARE_ISA(isa) \
    TAKT_FACTOR_DECLARE(f32, isa)    \
    TAKT_FACTOR_DECLARE(f64, isa)

TAKT_FACTOR_DECLARE_ISA(scalar)
TAKT_FACTOR_DECLARE_ISA(sse2)
TAKT_FACTOR_DECLARE_ISA(avx2)
TAKT_FACTOR_DECLARE_ISA(avx512)
TAKT_FACTOR_DECLARE_ISA(neon)

#undef TAKT_FACTOR_DECLARE_ISA
#undef TAKT_FACTOR_DECLARE
