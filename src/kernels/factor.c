/* SPDX-License-Identifier: MIT */
/*
 * factor.c - factors of any size: halves, and products between them.
 *
 * A matrix is halved until a step can run what is left, so most of the work is
 * in products of matrices that are as square as they can be. Halves end at
 * multiples of a panel.
 */
#include "kernels/factor.h"

#include "base/size.h"
#include "kernels/gemm.h"

static bool is_step(const struct takt_factoring *how, size_t n)
{
    return how->kernels->block == 0 || n <= how->kernels->block;
}

static size_t half_of(size_t n)
{
    return takt__size_round_up(takt__size_ceil_div(n, 2), TAKT_PANEL_COLS);
}

/* The element at row i, column j. */
static void *at(const struct takt_factoring *how, void *a, size_t ld, size_t i,
                size_t j)
{
    return (char *)a + (i * ld + j) * how->kernels->size;
}

static const void *within(const struct takt_factoring *how,
                          const struct takt_triangle *t, size_t i, size_t j)
{
    return (const char *)t->at + (i * t->row + j * t->col) * how->kernels->size;
}

static void multiply(const struct takt_factoring *how, struct takt_gemm product)
{
    product.alpha = -1;
    product.beta = 1;
    how->multiply(how->self, &product);
}

/* ---- triangular systems -------------------------------------------------- */

void takt__factor_substitute(const struct takt_factoring *how,
                             const struct takt_triangle *t, size_t cols,
                             void *b, size_t ld)
{
    if (cols == 0)
        return;
    if (is_step(how, t->n)) {
        how->kernels->substitute(t, cols, b, ld);
        return;
    }
    const size_t half = half_of(t->n), rest = t->n - half;
    struct takt_triangle one = *t, two = *t;
    void *lower = at(how, b, ld, half, 0);
    struct takt_gemm product = {.n = cols,
                                .a_row = t->row,
                                .a_col = t->col,
                                .b_row = ld,
                                .b_col = 1,
                                .ldc = ld};

    one.n = half;
    two.n = rest;
    two.at = within(how, t, half, half);
    takt__factor_substitute(how, t->is_lower ? &one : &two, cols,
                            t->is_lower ? b : lower, ld);
    product.m = t->is_lower ? rest : half;
    product.k = t->is_lower ? half : rest;
    product.a = t->is_lower ? within(how, t, half, 0) : within(how, t, 0, half);
    product.b = t->is_lower ? b : lower;
    product.c = t->is_lower ? lower : b;
    multiply(how, product);
    takt__factor_substitute(how, t->is_lower ? &two : &one, cols,
                            t->is_lower ? lower : b, ld);
}

/* ---- Cholesky ------------------------------------------------------------ */

/* C = C - P'P, where C is n x n and P has `depth` rows. Of C the upper triangle
 * counts; what is near its diagonal is computed on both sides. */
static void subtract_square(const struct takt_factoring *how, size_t n,
                            size_t depth, const void *p, void *c, size_t ld)
{
    enum { whole = 64 };
    const size_t first = n <= whole ? n : half_of(n), rest = n - first;
    const char *right = (const char *)p + first * how->kernels->size;
    struct takt_gemm product = {.m = first,
                                .n = n <= whole ? n : rest,
                                .k = depth,
                                .a = p,
                                .a_row = 1,
                                .a_col = ld,
                                .b = n <= whole ? p : right,
                                .b_row = ld,
                                .b_col = 1,
                                .c = n <= whole ? c : at(how, c, ld, 0, first),
                                .ldc = ld};

    multiply(how, product);
    if (n <= whole)
        return;
    subtract_square(how, first, depth, p, c, ld);
    subtract_square(how, rest, depth, right, at(how, c, ld, first, first), ld);
}

bool takt__factor_cholesky(const struct takt_factoring *how, size_t n, void *a,
                           size_t ld)
{
    if (is_step(how, n))
        return how->kernels->cholesky(n, a, ld);
    const size_t half = half_of(n), rest = n - half;
    const struct takt_triangle done = {
        .n = half, .at = a, .row = 1, .col = ld, .is_lower = true};
    void *right = at(how, a, ld, 0, half);
    void *corner = at(how, a, ld, half, half);

    if (!takt__factor_cholesky(how, half, a, ld))
        return false;
    takt__factor_substitute(how, &done, rest, right, ld);
    subtract_square(how, rest, half, right, corner, ld);
    return takt__factor_cholesky(how, rest, corner, ld);
}

/* ---- LU ------------------------------------------------------------------ */

bool takt__factor_lu(const struct takt_factoring *how, size_t rows, size_t cols,
                     void *a, size_t ld, size_t first, size_t *pivot)
{
    if (how->kernels->block == 0 || cols <= TAKT_PANEL_COLS)
        return how->kernels->lu(rows, cols, a, ld, first, pivot);
    const size_t half = half_of(cols), rest = cols - half;
    const struct takt_triangle lower = {.n = half,
                                        .at = a,
                                        .row = ld,
                                        .col = 1,
                                        .is_lower = true,
                                        .is_unit = true};
    void *right = at(how, a, ld, 0, half), *left = at(how, a, ld, half, 0);
    void *corner = at(how, a, ld, half, half);
    size_t *below = pivot == NULL ? NULL : pivot + half;

    if (!takt__factor_lu(how, rows, half, a, ld, first, pivot))
        return false;
    how->kernels->swap(half, first, pivot, rest, right, ld);
    takt__factor_substitute(how, &lower, rest, right, ld);
    multiply(how, (struct takt_gemm){.m = rows - half,
                                     .n = rest,
                                     .k = half,
                                     .a = left,
                                     .a_row = ld,
                                     .a_col = 1,
                                     .b = right,
                                     .b_row = ld,
                                     .b_col = 1,
                                     .c = corner,
                                     .ldc = ld});
    if (!takt__factor_lu(how, rows - half, rest, corner, ld, first + half,
                         below))
        return false;
    how->kernels->swap(rest, first + half, below, half, left, ld);
    return true;
}

void takt__factor_substitute_lu(const struct takt_factoring *how, size_t n,
                                const void *lu, size_t lu_ld, size_t cols,
                                void *b, size_t ld)
{
    const struct takt_triangle lower = {.n = n,
                                        .at = lu,
                                        .row = lu_ld,
                                        .col = 1,
                                        .is_lower = true,
                                        .is_unit = true};
    const struct takt_triangle upper = {
        .n = n, .at = lu, .row = lu_ld, .col = 1};

    takt__factor_substitute(how, &lower, cols, b, ld);
    takt__factor_substitute(how, &upper, cols, b, ld);
}

/* ---- plans --------------------------------------------------------------- */

static bool plan_cholesky(size_t n, void *a, size_t ld)
{
    (void)n, (void)a, (void)ld;
    return true;
}

static void plan_substitute(const struct takt_triangle *t, size_t cols, void *b,
                            size_t ld)
{
    (void)t, (void)cols, (void)b, (void)ld;
}

static bool plan_lu(size_t rows, size_t cols, void *a, size_t ld, size_t first,
                    size_t *pivot)
{
    (void)rows, (void)cols, (void)a, (void)ld, (void)first, (void)pivot;
    return true;
}

static void plan_swap(size_t count, size_t first, const size_t *pivot,
                      size_t cols, void *a, size_t ld)
{
    (void)count, (void)first, (void)pivot, (void)cols, (void)a, (void)ld;
}

static void plan_mirror(size_t n, void *a, size_t ld)
{
    (void)n, (void)a, (void)ld;
}

static void plan_reflect(size_t rows, size_t cols, size_t all, void *a,
                         size_t ld, void *tau)
{
    (void)rows, (void)cols, (void)all, (void)a, (void)ld, (void)tau;
}

struct takt_factor_kernels
takt__factor_plan(const struct takt_factor_kernels *kernels)
{
    return (struct takt_factor_kernels){.cholesky = plan_cholesky,
                                        .substitute = plan_substitute,
                                        .lu = plan_lu,
                                        .swap = plan_swap,
                                        .mirror = plan_mirror,
                                        .reflect = plan_reflect,
                                        .size = kernels->size,
                                        .block = kernels->block};
}
