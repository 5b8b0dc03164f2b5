/* SPDX-License-Identifier: MIT */
/*
 * prove.c - small integers, so that every order of adding gives one result.
 *
 * There are libraries of many makers and versions. Some multiply
 * the old result by a beta of 0, which keeps its NaN; some pass over zeros,
 * which loses the NaN beside them (BLIS 0.9 does in gemv); a symbol of the
 * right name may not be the right function at all. All of these show here.
 */
#include "blas/prove.h"

#include <math.h>
#include <stdlib.h>

#include "blas/library.h"

/* A small product and one that is cut into blocks. */
static const size_t edges[] = {7, 65};
enum { longest = 65 * 66 };

struct proof_bench {
    double a[longest], b[longest], c[longest]; /* or as many floats */
    int pivot[65];
};

static const size_t sizes[TAKT_BLAS_DTYPES] = {sizeof(float), sizeof(double)};

static double entry(size_t i, size_t j)
{
    return (double)((3 * i + 5 * j) % 7) - 3.0;
}

static void put(void *array, size_t size, size_t at, double number)
{
    if (size == sizeof(float))
        ((float *)array)[at] = (float)number;
    else
        ((double *)array)[at] = number;
}

static double get(const void *array, size_t size, size_t at)
{
    return size == sizeof(float) ? (double)((const float *)array)[at]
                                 : ((const double *)array)[at];
}

static void fill(void *array, size_t size, size_t edge)
{
    for (size_t i = 0; i < edge; i++)
        for (size_t j = 0; j < edge; j++)
            put(array, size, i * edge + j, entry(i, j));
}

static void spoil(void *array, size_t size)
{
    for (size_t i = 0; i < longest; i++)
        put(array, size, i, NAN);
}

/* A NaN in the last column of A (or, transposed, in its last row) and a zero
 * where it is multiplied: all results become NaN. */
static void put_nan_beside_zero(struct proof_bench *bench, size_t size,
                                size_t edge, bool is_transposed)
{
    const size_t last = edge - 1;

    for (size_t i = 0; i < edge; i++) {
        put(bench->a, size, is_transposed ? last * edge + i : i * edge + last,
            NAN);
        put(bench->b, size, last * edge + i, 0);
    }
}

/* Row i of A against column j of B, where A is transposed or is not. */
static double inner(size_t edge, bool is_transposed, size_t i, size_t j)
{
    double sum = 0;
    for (size_t p = 0; p < edge; p++)
        sum += (is_transposed ? entry(p, i) : entry(i, p)) * entry(p, j);
    return sum;
}

static bool gemm_is_right(struct takt_blas *blas, size_t size, size_t edge,
                          struct proof_bench *bench)
{
    const size_t ldc = edge + 1;
    const struct takt_gemm call = {.m = edge,
                                   .n = edge,
                                   .k = edge,
                                   .a = bench->a,
                                   .a_row = edge,
                                   .a_col = 1,
                                   .b = bench->b,
                                   .b_row = edge,
                                   .b_col = 1,
                                   .c = bench->c,
                                   .ldc = ldc,
                                   .alpha = 1};

    fill(bench->a, size, edge);
    fill(bench->b, size, edge);
    spoil(bench->c, size);
    if (!takt__blas_gemm(blas, size, 1, &call))
        return false;
    for (size_t i = 0; i < edge; i++)
        for (size_t j = 0; j < edge; j++)
            if (get(bench->c, size, i * ldc + j) != inner(edge, false, i, j))
                return false;
    if (!isnan(get(bench->c, size, edge))) /* between the rows */
        return false;

    put_nan_beside_zero(bench, size, edge, false);
    takt__blas_gemm(blas, size, 1, &call);
    for (size_t i = 0; i < edge; i++)
        for (size_t j = 0; j < edge; j++)
            if (!isnan(get(bench->c, size, i * ldc + j)))
                return false;
    return true;
}

static bool gemv_is_right(struct takt_blas *blas, size_t size, size_t edge,
                          struct proof_bench *bench, bool is_transposed)
{
    const size_t row = is_transposed ? 1 : edge;
    const struct takt_gemv call = {.m = edge,
                                   .n = edge,
                                   .a = bench->a,
                                   .a_row = row,
                                   .a_col = is_transposed ? edge : 1,
                                   .x = bench->b,
                                   .x_step = edge,
                                   .y = bench->c,
                                   .y_step = 2,
                                   .alpha = 1};

    fill(bench->a, size, edge);
    fill(bench->b, size, edge);
    spoil(bench->c, size);
    if (!takt__blas_gemv(blas, size, 1, &call))
        return false;
    for (size_t i = 0; i < edge; i++)
        if (get(bench->c, size, 2 * i) != inner(edge, is_transposed, i, 0) ||
            !isnan(get(bench->c, size, 2 * i + 1)))
            return false;

    put_nan_beside_zero(bench, size, edge, is_transposed);
    takt__blas_gemv(blas, size, 1, &call);
    for (size_t i = 0; i < edge; i++)
        if (!isnan(get(bench->c, size, 2 * i)))
            return false;
    return true;
}

static bool axpy_is_right(struct takt_blas *blas, size_t size, size_t edge,
                          struct proof_bench *bench)
{
    const struct takt_axpy call = {.n = edge,
                                   .alpha = 2,
                                   .x = bench->a,
                                   .x_step = 1,
                                   .y = bench->b,
                                   .y_step = edge};

    fill(bench->a, size, edge);
    fill(bench->b, size, edge);
    if (!takt__blas_axpy(blas, size, 1, &call))
        return false;
    for (size_t i = 0; i < edge; i++)
        if (get(bench->b, size, i * edge) != 2 * entry(0, i) + entry(i, 0))
            return false;
    return true;
}

/* Factors whose products are exact, and whose quotients are by powers of 2. */
static double lower_entry(size_t i, size_t j)
{
    return i < j ? 0 : i == j ? (double)(1 << i % 3) : entry(i, j) / 2;
}

static double upper_entry(size_t i, size_t j)
{
    return i > j ? 0 : i == j ? 8 : entry(i, j);
}

/* Below the pivots, so that these are on the diagonal. */
static double unit_entry(size_t i, size_t j)
{
    return i < j ? 0 : i == j ? 1 : entry(i, j) / 8;
}

static bool cholesky_is_right(struct takt_blas *blas, size_t size, size_t edge,
                              struct proof_bench *bench)
{
    const size_t ld = edge + 1;
    bool is_definite = false;
    const struct takt_lapack_cholesky call = {edge,     bench->a, edge,
                                              bench->c, ld,       &is_definite};

    spoil(bench->a, size); /* above the diagonal too, where nothing is read */
    spoil(bench->c, size);
    for (size_t i = 0; i < edge; i++)
        for (size_t j = 0; j <= i; j++) {
            double sum = 0;
            for (size_t p = 0; p <= j; p++)
                sum += lower_entry(i, p) * lower_entry(j, p);
            put(bench->a, size, i * edge + j, sum);
        }
    if (!takt__blas_cholesky(blas, size, 1, &call) || !is_definite)
        return false;
    for (size_t i = 0; i < edge; i++)
        for (size_t j = 0; j < edge; j++)
            if (get(bench->c, size, i * ld + j) != lower_entry(i, j))
                return false;
    if (!isnan(get(bench->c, size, edge)))
        return false;
    put(bench->a, size, edge * edge - 1, -1);
    return takt__blas_cholesky(blas, size, 1, &call) && !is_definite;
}

/* A = L U with its rows in reverse, by columns, and B = A X. */
static void fill_system(struct proof_bench *bench, size_t size, size_t edge,
                        size_t nrhs)
{
    for (size_t i = 0; i < edge; i++)
        for (size_t r = 0; r < nrhs; r++)
            put(bench->b, size, i * nrhs + r, 0);
    for (size_t i = 0; i < edge; i++)
        for (size_t j = 0; j < edge; j++) {
            const size_t row = edge - 1 - i;
            double sum = 0;
            for (size_t p = 0; p < edge; p++)
                sum += unit_entry(i, p) * upper_entry(p, j);
            put(bench->a, size, j * edge + row, sum);
            for (size_t r = 0; r < nrhs; r++)
                put(bench->b, size, row * nrhs + r,
                    get(bench->b, size, row * nrhs + r) + sum * entry(j, r));
        }
}

static bool solve_is_right(struct takt_blas *blas, size_t size, size_t edge,
                           struct proof_bench *bench)
{
    enum { nrhs = 3, ld = 4 };
    bool is_regular = false;
    const struct takt_lapack_solve call = {edge,         nrhs,     bench->a,
                                           bench->pivot, bench->b, nrhs,
                                           bench->c,     ld,       &is_regular};

    fill_system(bench, size, edge, nrhs);
    spoil(bench->c, size);
    if (!takt__blas_solve(blas, size, 1, &call) || !is_regular)
        return false;
    for (size_t i = 0; i < edge; i++) {
        for (size_t r = 0; r < nrhs; r++)
            if (get(bench->c, size, i * ld + r) != entry(i, r))
                return false;
        if (!isnan(get(bench->c, size, i * ld + nrhs)))
            return false;
    }
    fill_system(bench, size, edge, nrhs);
    for (size_t i = 0; i < edge; i++) /* a column of zeros */
        put(bench->a, size, edge + i, 0);
    return takt__blas_solve(blas, size, 1, &call) && !is_regular;
}

/* Reflections are not exact. The equations have a solution, and it is found to
 * some digits; then a column of zeros. */
static bool lstsq_is_right(struct takt_blas *blas, size_t size, size_t edge,
                           struct proof_bench *bench)
{
    enum { nrhs = 2 };
    const size_t n = edge / 2;
    bool is_regular = false;
    const struct takt_lapack_lstsq call = {
        edge, n, nrhs, bench->a, bench->b, bench->c, &is_regular};

    for (size_t zeros = 0; zeros < 2; zeros++) {
        for (size_t i = 0; i < edge * nrhs; i++)
            put(bench->b, size, i, 0);
        for (size_t j = 0; j < n; j++)
            for (size_t i = 0; i < edge; i++) {
                const double x =
                    zeros * j == 1 ? 0 : entry(i, j) + (i == j ? 99 : 0);
                put(bench->a, size, j * edge + i, x);
                for (size_t r = 0; r < nrhs; r++)
                    put(bench->b, size, r * edge + i,
                        get(bench->b, size, r * edge + i) + x * entry(j, r));
            }
        if (!takt__blas_lstsq(blas, size, 1, &call) ||
            is_regular != (zeros == 0))
            return false;
        for (size_t i = 0; zeros == 0 && i < n * nrhs; i++) {
            const double x = get(bench->b, size, i / n * edge + i % n);
            if (!(fabs(x - entry(i % n, i / n)) < 1e-3))
                return false;
        }
    }
    return true;
}

/* Q R = A, to some digits. */
static bool qr_is_right(struct takt_blas *blas, size_t size, size_t edge,
                        struct proof_bench *bench)
{
    const size_t n = edge / 2;
    double *r = bench->b;
    const struct takt_lapack_qr call = {edge, n, bench->a, r, n, bench->c};

    for (size_t j = 0; j < n; j++)
        for (size_t i = 0; i < edge; i++)
            put(bench->a, size, j * edge + i, entry(i, j) + (i == j ? 99 : 0));
    if (!takt__blas_qr(blas, size, 1, &call))
        return false;
    for (size_t i = 0; i < edge; i++)
        for (size_t j = 0; j < n; j++) {
            double sum = 0;
            for (size_t p = 0; p < n; p++)
                sum +=
                    get(bench->a, size, p * edge + i) * get(r, size, p * n + j);
            if (!(fabs(sum - entry(i, j) - (i == j ? 99 : 0)) < 1e-2))
                return false;
        }
    return true;
}

static bool is_right(struct takt_blas *blas, enum takt_blas_function function,
                     size_t size, size_t edge, struct proof_bench *bench)
{
    static bool (*const proofs[])(struct takt_blas *, size_t, size_t,
                                  struct proof_bench *) = {
        [TAKT_BLAS_GEMM] = gemm_is_right,
        [TAKT_BLAS_GEMV] = NULL,
        [TAKT_BLAS_AXPY] = axpy_is_right,
        [TAKT_BLAS_POTRF] = cholesky_is_right,
        [TAKT_BLAS_GETRF] = solve_is_right,
        [TAKT_BLAS_GELS] = lstsq_is_right,
        [TAKT_BLAS_GEQRF] = qr_is_right,
    };

    if (proofs[function] != NULL)
        return proofs[function](blas, size, edge, bench);
    return gemv_is_right(blas, size, edge, bench, false) &&
           gemv_is_right(blas, size, edge, bench, true);
}

bool takt__blas_prove(struct takt_blas *blas)
{
    struct takt_blas_library *library = blas->library;
    struct proof_bench *bench = malloc(sizeof *bench);
    bool is_any_left = false;

    if (bench == NULL)
        return false;
    for (unsigned f = 0; f < TAKT_BLAS_FUNCTIONS; f++)
        for (unsigned d = 0; d < TAKT_BLAS_DTYPES; d++) {
            for (size_t i = 0; i < sizeof edges / sizeof edges[0]; i++)
                if (!is_right(blas, f, sizes[d], edges[i], bench))
                    library->run[f][d] = NULL;
            is_any_left = is_any_left || library->run[f][d] != NULL;
        }
    free(bench);
    return is_any_left;
}
