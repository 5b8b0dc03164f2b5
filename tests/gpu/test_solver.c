/* SPDX-License-Identifier: MIT */
/*
 * test_solver.c - routines of LAPACK on the fake driver: by columns and by rows
 * they solve what they should, and leave all else alone; whatever call fails,
 * nothing was written.
 */
#define _GNU_SOURCE /* MAP_ANONYMOUS in guard.h */
#include "gpu/subject.h"
#include "pool/scratch.h"

static takt_ctx *ctx;
static takt_status (*solve)(takt_ctx *ctx,
                            const takt_solver_call *call) = takt_solver_run;
static unsigned long (*solver_calls)(void);
static void (*solver_fail)(unsigned long call, int error);

enum { gap = 3 };

/* A matrix in memory with gaps, which are painted. */
struct matrix {
    takt_dtype dtype;
    bool is_by_rows;
    size_t rows, cols, ld, bytes;
    char *at;
};

static const unsigned char paint = 0x5A;

static struct matrix make(takt_dtype dtype, bool is_by_rows, size_t rows,
                          size_t cols)
{
    const size_t ld = (is_by_rows ? cols : rows) + gap;
    struct matrix x = {dtype, is_by_rows, rows, cols, ld, 0, NULL};

    x.bytes = ld * (is_by_rows ? rows : cols) * takt_dtype_size(dtype);
    x.at = malloc(x.bytes);
    REQUIRE(x.at != NULL);
    memset(x.at, paint, x.bytes);
    return x;
}

static size_t index_of(const struct matrix *x, size_t i, size_t j)
{
    return x->is_by_rows ? i * x->ld + j : j * x->ld + i;
}

static double get(const struct matrix *x, size_t i, size_t j)
{
    const size_t at = index_of(x, i, j);

    return x->dtype == TAKT_F64 ? ((const double *)(void *)x->at)[at]
                                : (double)((const float *)(void *)x->at)[at];
}

static void put(struct matrix *x, size_t i, size_t j, double value)
{
    const size_t at = index_of(x, i, j);

    if (x->dtype == TAKT_F64)
        ((double *)(void *)x->at)[at] = value;
    else
        ((float *)(void *)x->at)[at] = (float)value;
}

static void fill(struct matrix *x, uint64_t seed)
{
    for (size_t i = 0; i < x->rows; i++)
        for (size_t j = 0; j < x->cols; j++)
            put(x, i, j, ((double)(random_next(&seed) % 129) - 64) / 32);
}

/* Symmetric, and positive definite. */
static void fill_definite(struct matrix *x)
{
    fill(x, 7);
    for (size_t i = 0; i < x->rows; i++)
        for (size_t j = 0; j <= i; j++)
            put(x, j, i, i == j ? 3 * (double)x->rows : get(x, i, j));
}

static struct matrix copy(const struct matrix *x)
{
    struct matrix y = *x;

    y.at = malloc(x->bytes);
    REQUIRE(y.at != NULL);
    memcpy(y.at, x->at, x->bytes);
    return y;
}

static bool has_gaps(const struct matrix *x)
{
    const size_t size = takt_dtype_size(x->dtype);
    const size_t count = x->is_by_rows ? x->rows : x->cols;

    for (size_t i = 0; i < count; i++)
        for (size_t j = (x->ld - gap) * size; j < x->ld * size; j++)
            if ((unsigned char)x->at[i * x->ld * size + j] != paint)
                return false;
    return true;
}

static double tolerance(const struct matrix *x)
{
    return x->dtype == TAKT_F64 ? 1e-10 : 2e-3;
}

/* The sum over k of x(i, k) y(k, j). */
static double product(const struct matrix *x, const struct matrix *y, size_t i,
                      size_t j, size_t depth)
{
    double sum = 0;

    for (size_t k = 0; k < depth; k++)
        sum += get(x, i, k) * get(y, k, j);
    return sum;
}

static takt_solver_matrix in_place(const struct matrix *x)
{
    return (takt_solver_matrix){x->at, x->ld, x->at, x->ld};
}

static takt_solver_matrix only_out(const struct matrix *x)
{
    return (takt_solver_matrix){NULL, 0, x->at, x->ld};
}

static takt_solver_call call_of(takt_solver_routine routine,
                                const struct matrix *a)
{
    return (takt_solver_call){.size = sizeof(takt_solver_call),
                              .routine = routine,
                              .dtype = a->dtype,
                              .is_by_rows = a->is_by_rows,
                              .m = a->rows,
                              .n = a->cols,
                              .a = in_place(a)};
}

/* ---- the routines -------------------------------------------------------- */

/* How a routine is tried. */
struct way {
    takt_dtype dtype;
    bool is_by_rows;
};

static const struct way ways[] = {
    {TAKT_F64, false}, {TAKT_F64, true}, {TAKT_F32, false}, {TAKT_F32, true}};
enum { way_count = sizeof ways / sizeof *ways };

static void try_potrf(struct way way, char uplo, size_t n)
{
    struct matrix a = make(way.dtype, way.is_by_rows, n, n);

    fill_definite(&a);
    struct matrix before = copy(&a);
    takt_solver_call call = call_of(TAKT_SOLVER_POTRF, &a);
    call.uplo = uplo;
    REQUIRE(solve(ctx, &call) == TAKT_OK);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j <= i; j++) {
            double sum = 0;
            for (size_t k = 0; k <= j; k++)
                sum += uplo == 'L' ? get(&a, i, k) * get(&a, j, k)
                                   : get(&a, k, i) * get(&a, k, j);
            EXPECT_NEAR(sum, get(&before, i, j), (double)n * tolerance(&a));
            if (i != j && uplo == 'L')
                EXPECT(get(&a, j, i) == get(&before, j, i));
            if (i != j && uplo == 'U')
                EXPECT(get(&a, i, j) == get(&before, i, j));
        }
    memcpy(a.at, before.at, a.bytes);
    call.is_cleared = 1;
    REQUIRE(solve(ctx, &call) == TAKT_OK);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < i; j++)
            EXPECT((uplo == 'L' ? get(&a, j, i) : get(&a, i, j)) == 0);
    EXPECT(has_gaps(&a));
    free(a.at);
    free(before.at);
}

static void cholesky_factors_are_written_to_one_triangle(void)
{
    for (unsigned i = 0; i < way_count; i++) {
        try_potrf(ways[i], 'L', 23);
        try_potrf(ways[i], 'U', 23);
        try_potrf(ways[i], 'L', 1);
    }
}

/* P A = L U, by the product and the exchanges of rows, the last one first. */
static void check_lu(const struct matrix *a, const struct matrix *before,
                     const int *pivots)
{
    struct matrix x = copy(a);
    const size_t few = a->rows < a->cols ? a->rows : a->cols;

    for (size_t i = 0; i < a->rows; i++)
        for (size_t j = 0; j < a->cols; j++) {
            double sum = 0;
            for (size_t k = 0; k < few && k <= i && k <= j; k++)
                sum += (k == i ? 1 : get(a, i, k)) * get(a, k, j);
            put(&x, i, j, sum);
        }
    for (size_t i = few; i-- > 0;)
        for (size_t j = 0; j < a->cols; j++) {
            const size_t other = (size_t)pivots[i] - 1;
            const double kept = get(&x, i, j);
            put(&x, i, j, get(&x, other, j));
            put(&x, other, j, kept);
        }
    for (size_t i = 0; i < a->rows; i++)
        for (size_t j = 0; j < a->cols; j++)
            EXPECT_NEAR(get(&x, i, j), get(before, i, j), tolerance(a));
    free(x.at);
}

static void try_getrf(struct way way, size_t m, size_t n)
{
    struct matrix a = make(way.dtype, way.is_by_rows, m, n);
    int pivots[640];

    fill(&a, 3);
    struct matrix before = copy(&a);
    takt_solver_call call = call_of(TAKT_SOLVER_GETRF, &a);
    call.pivots = pivots;
    REQUIRE(solve(ctx, &call) == TAKT_OK);
    check_lu(&a, &before, pivots);
    EXPECT(has_gaps(&a));
    free(a.at);
    free(before.at);
}

static void lu_factors_have_lapacks_pivots(void)
{
    for (unsigned i = 0; i < way_count; i++) {
        try_getrf(ways[i], 17, 17);
        try_getrf(ways[i], 19, 11);
        try_getrf(ways[i], 11, 19);
    }
}

static void try_gesv(struct way way, size_t n, size_t k)
{
    struct matrix a = make(way.dtype, way.is_by_rows, n, n);
    struct matrix b = make(way.dtype, way.is_by_rows, n, k);
    int pivots[640];

    fill(&a, 3);
    fill(&b, 4);
    struct matrix a_before = copy(&a), b_before = copy(&b);
    takt_solver_call call = call_of(TAKT_SOLVER_GESV, &a);
    call.k = k;
    call.b = in_place(&b);
    call.pivots = pivots;
    REQUIRE(solve(ctx, &call) == TAKT_OK);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < k; j++)
            EXPECT_NEAR(product(&a_before, &b, i, j, n), get(&b_before, i, j),
                        30 * tolerance(&a));
    check_lu(&a, &a_before, pivots);
    EXPECT(has_gaps(&a) && has_gaps(&b));
    /* The solution alone. */
    memcpy(a.at, a_before.at, a.bytes);
    memcpy(b.at, b_before.at, b.bytes);
    call.a.out = NULL;
    call.pivots = NULL;
    REQUIRE(solve(ctx, &call) == TAKT_OK);
    EXPECT(memcmp(a.at, a_before.at, a.bytes) == 0);
    EXPECT_NEAR(product(&a, &b, 0, 0, n), get(&b_before, 0, 0),
                30 * tolerance(&a));
    free(a.at);
    free(b.at);
    free(a_before.at);
    free(b_before.at);
}

static void systems_are_solved(void)
{
    for (unsigned i = 0; i < way_count; i++) {
        try_gesv(ways[i], 21, 1);
        try_gesv(ways[i], 21, 5);
        try_gesv(ways[i], 1, 4);
    }
}

static void try_qr(struct way way, size_t m, size_t n)
{
    struct matrix a = make(way.dtype, way.is_by_rows, m, n);
    const size_t few = m < n ? m : n;
    struct matrix q = make(way.dtype, way.is_by_rows, m, few);
    double tau[32];

    fill(&a, 5);
    struct matrix before = copy(&a);
    takt_solver_call call = call_of(TAKT_SOLVER_GEQRF, &a);
    call.values = tau;
    REQUIRE(takt_solver_run(ctx, &call) == TAKT_OK);
    for (size_t i = 0; i < m; i++)
        for (size_t j = 0; j < few; j++)
            put(&q, i, j, get(&a, i, j));
    call = call_of(TAKT_SOLVER_ORGQR, &q);
    call.k = few;
    call.values = tau;
    REQUIRE(takt_solver_run(ctx, &call) == TAKT_OK);
    for (size_t i = 0; i < m; i++)
        for (size_t j = 0; j < n; j++) {
            double sum = 0;
            for (size_t k = 0; k < few && k <= j; k++)
                sum += get(&q, i, k) * get(&a, k, j);
            EXPECT_NEAR(sum, get(&before, i, j), tolerance(&a));
        }
    EXPECT(has_gaps(&a) && has_gaps(&q));
    free(a.at);
    free(q.at);
    free(before.at);
}

static void reflections_make_q_and_r(void)
{
    for (unsigned i = 0; i < way_count; i++) {
        try_qr(ways[i], 20, 20);
        try_qr(ways[i], 25, 9);
        try_qr(ways[i], 9, 25);
    }
}

static double value_at(takt_dtype dtype, const double *values, size_t i)
{
    return dtype == TAKT_F64 ? values[i]
                             : (double)((const float *)(const void *)values)[i];
}

static void try_syevd(struct way way, char uplo, char job)
{
    enum { n = 19 };
    struct matrix a = make(way.dtype, way.is_by_rows, n, n);
    double w[n];

    fill_definite(&a);
    struct matrix before = copy(&a);
    for (size_t i = 0; i < n; i++) /* the other triangle is not looked at */
        for (size_t j = 0; j < i; j++)
            put(&a, uplo == 'L' ? j : i, uplo == 'L' ? i : j, 99);
    takt_solver_call call = call_of(TAKT_SOLVER_SYEVD, &a);
    call.uplo = uplo;
    call.job = job;
    call.values = w;
    REQUIRE(takt_solver_run(ctx, &call) == TAKT_OK);
    for (size_t j = 1; j < n; j++)
        EXPECT(value_at(a.dtype, w, j - 1) <= value_at(a.dtype, w, j));
    for (size_t i = 0; i < n && job == 'V'; i++)
        for (size_t j = 0; j < n; j++)
            EXPECT_NEAR(product(&before, &a, i, j, n),
                        value_at(a.dtype, w, j) * get(&a, i, j),
                        30 * tolerance(&a));
    EXPECT(has_gaps(&a));
    free(a.at);
    free(before.at);
}

static void eigenvalues_come_in_order_with_their_vectors(void)
{
    for (unsigned i = 0; i < way_count; i++) {
        try_syevd(ways[i], 'L', 'V');
        try_syevd(ways[i], 'U', 'V');
        try_syevd(ways[i], 'L', 'N');
    }
}

static void try_gesdd(struct way way, size_t m, size_t n, char job)
{
    const size_t few = m < n ? m : n;
    struct matrix a = make(way.dtype, way.is_by_rows, m, n);
    struct matrix u = make(way.dtype, way.is_by_rows, m, job == 'A' ? m : few);
    struct matrix vt = make(way.dtype, way.is_by_rows, job == 'A' ? n : few, n);
    double s[32];

    fill(&a, 6);
    struct matrix before = copy(&a);
    takt_solver_call call = call_of(TAKT_SOLVER_GESDD, &a);
    call.job = job;
    call.u = only_out(&u);
    call.vt = only_out(&vt);
    call.values = s;
    REQUIRE(takt_solver_run(ctx, &call) == TAKT_OK);
    EXPECT(memcmp(a.at, before.at, a.bytes) == 0);
    for (size_t i = 0; i < m && job != 'N'; i++)
        for (size_t j = 0; j < n; j++) {
            double sum = 0;
            for (size_t k = 0; k < few; k++)
                sum += get(&u, i, k) * value_at(a.dtype, s, k) * get(&vt, k, j);
            EXPECT_NEAR(sum, get(&before, i, j), 10 * tolerance(&a));
        }
    for (size_t i = 0; i < u.cols && job != 'N'; i++)
        for (size_t j = 0; j < u.cols; j++) {
            double sum = 0;
            for (size_t k = 0; k < m; k++)
                sum += get(&u, k, i) * get(&u, k, j);
            EXPECT_NEAR(sum, i == j, tolerance(&a));
        }
    for (size_t k = 1; k < few; k++)
        EXPECT(value_at(a.dtype, s, k - 1) >= value_at(a.dtype, s, k));
    EXPECT(has_gaps(&u) && has_gaps(&vt));
    free(a.at);
    free(u.at);
    free(vt.at);
    free(before.at);
}

static void singular_values_come_in_order_with_their_vectors(void)
{
    for (unsigned i = 0; i < way_count; i++)
        for (const char *job = "NSA"; *job != '\0'; job++) {
            try_gesdd(ways[i], 13, 13, *job);
            try_gesdd(ways[i], 18, 7, *job);
            try_gesdd(ways[i], 7, 18, *job);
        }
}

static void
what_has_no_factor_is_refused_and_untouched_by(takt_status not_definite,
                                               takt_status singular)
{
    struct matrix a = make(TAKT_F64, false, 9, 9);
    struct matrix b = make(TAKT_F64, false, 9, 2);
    int pivots[9];

    fill_definite(&a);
    fill(&b, 4);
    put(&a, 5, 5, -1);
    struct matrix before = copy(&a), b_before = copy(&b);
    takt_solver_call call = call_of(TAKT_SOLVER_POTRF, &a);
    call.uplo = 'L';
    EXPECT(solve(ctx, &call) == not_definite);
    EXPECT(memcmp(a.at, before.at, a.bytes) == 0);

    for (size_t i = 0; i < 9; i++)
        put(&a, i, 3, 0);
    memcpy(before.at, a.at, a.bytes);
    call = call_of(TAKT_SOLVER_GESV, &a);
    call.k = 2;
    call.b = in_place(&b);
    call.pivots = pivots;
    EXPECT(solve(ctx, &call) == singular);
    EXPECT(memcmp(a.at, before.at, a.bytes) == 0);
    EXPECT(memcmp(b.at, b_before.at, b.bytes) == 0);
    free(a.at);
    free(b.at);
    free(before.at);
    free(b_before.at);
}

/* Sizes around those of blocks, and one for several threads. */
static void takts_own_kernels_do_the_same(void)
{
    static const size_t sizes[] = {1, 2, 15, 16, 17, 33, 100, 129};

    solve = takt_solver_run_here;
    for (unsigned i = 0; i < way_count; i++)
        for (size_t j = 0; j < sizeof sizes / sizeof *sizes; j++) {
            try_potrf(ways[i], 'L', sizes[j]);
            try_potrf(ways[i], 'U', sizes[j]);
            try_getrf(ways[i], sizes[j], sizes[j]);
            try_getrf(ways[i], 3 * sizes[j] / 2, sizes[j]);
            try_gesv(ways[i], sizes[j], 1);
            try_gesv(ways[i], sizes[j], 5);
        }
    if (!is_hurried())
        try_gesv((struct way){TAKT_F64, false}, 520, 2);
    what_has_no_factor_is_refused_and_untouched_by(TAKT_EDEFINITE,
                                                   TAKT_ESINGULAR);
    solve = takt_solver_run;
}

/* The identity: it takes no time to look at. */
static void large_copies_are_not_kept(void)
{
    const size_t n = 3000, most = 64 << 20;
    double *a = is_hurried() ? NULL : calloc(n * n, sizeof *a);

    if (a == NULL)
        return;
    for (size_t i = 0; i < n; i++)
        a[i * n + i] = 4;
    const takt_solver_call call = {.size = sizeof call,
                                   .routine = TAKT_SOLVER_POTRF,
                                   .dtype = TAKT_F64,
                                   .uplo = 'L',
                                   .n = n,
                                   .a = {a, n, a, n}};
    EXPECT(takt_solver_run_here(ctx, &call) == TAKT_OK);
    EXPECT(a[n * n - 1] == 2);
    EXPECT(takt__scratch_of_thread()->bytes <= most);
    free(a);
}

/* Products of such matrices would be counted for minutes. */
static void what_no_memory_holds_is_refused_at_once(void)
{
    static const takt_solver_routine routines[] = {
        TAKT_SOLVER_POTRF, TAKT_SOLVER_GETRF, TAKT_SOLVER_GESV};
    const size_t n = (size_t)1 << 28;
    double a = 1;

    if (is_sanitized) {
        SKIP("sanitizers end a program that asks for so much");
        return;
    }
    for (unsigned i = 0; i < 3; i++) {
        const takt_solver_call call = {.size = sizeof call,
                                       .routine = routines[i],
                                       .dtype = TAKT_F64,
                                       .uplo = 'L',
                                       .m = n,
                                       .n = n,
                                       .k = 1,
                                       .a = {&a, n, &a, n},
                                       .b = {&a, n, &a, n}};
        EXPECT(takt_solver_run_here(ctx, &call) == TAKT_ENOMEM);
    }
}

static void results_that_are_not_wanted_are_not_written(void)
{
    for (int routine = 0; routine <= TAKT_SOLVER_GESV; routine++) {
        struct matrix a = make(TAKT_F64, false, 20, 20);
        struct matrix b = make(TAKT_F64, false, 20, 1);
        fill_definite(&a);
        fill(&b, 4);
        struct matrix a_before = copy(&a), b_before = copy(&b);
        takt_solver_call call = call_of((takt_solver_routine)routine, &a);
        call.uplo = 'U';
        call.is_cleared = 1;
        call.k = 1;
        call.b = in_place(&b);
        call.a.out = call.b.out = NULL;
        EXPECT(takt_solver_run_here(ctx, &call) == TAKT_OK);
        EXPECT(takt_solver_run(ctx, &call) == TAKT_OK);
        EXPECT(memcmp(a.at, a_before.at, a.bytes) == 0);
        EXPECT(memcmp(b.at, b_before.at, b.bytes) == 0);
        free(a.at);
        free(b.at);
        free(a_before.at);
        free(b_before.at);
    }
}

/* Larger than slots and small buffers: transfers in pieces. */
static void large_matrices_go_through_all_slots(void)
{
    struct matrix a = make(TAKT_F32, true, 700, 700);
    struct matrix b = make(TAKT_F32, true, 700, 1);

    if (is_hurried()) {
        free(a.at);
        free(b.at);
        return;
    }
    fill_definite(&a);
    fill(&b, 4);
    struct matrix before = copy(&b);
    takt_solver_call call = call_of(TAKT_SOLVER_GESV, &a);
    call.k = 1;
    call.b = in_place(&b);
    call.a.out = NULL;
    REQUIRE(takt_solver_run(ctx, &call) == TAKT_OK);
    for (size_t i = 0; i < 700; i += 99)
        EXPECT_NEAR(product(&a, &b, i, 0, 700), get(&before, i, 0), 1e-2);
    free(a.at);
    free(b.at);
    free(before.at);
}

/* ---- refusals ------------------------------------------------------------ */

static void what_has_no_factor_is_refused_and_untouched(void)
{
    what_has_no_factor_is_refused_and_untouched_by(TAKT_ENODEV, TAKT_ENODEV);
}

static void what_is_not_finite_is_refused(void)
{
    double values[16];

    for (int routine = 0; routine <= TAKT_SOLVER_GESDD; routine++) {
        if (routine == TAKT_SOLVER_ORGQR)
            continue;
        struct matrix a = make(TAKT_F64, false, 9, 9);
        struct matrix b = make(TAKT_F64, false, 9, 9);
        fill_definite(&a);
        fill(&b, 4);
        put(&a, 4, 4, NAN);
        struct matrix before = copy(&a);
        takt_solver_call call = call_of((takt_solver_routine)routine, &a);
        call.uplo = 'L';
        call.job = 'N';
        call.k = 9;
        call.b = in_place(&b);
        call.values = values;
        EXPECT(takt_solver_run(ctx, &call) == TAKT_ENODEV);
        EXPECT(memcmp(a.at, before.at, a.bytes) == 0);
        free(a.at);
        free(b.at);
        free(before.at);
    }
}

static void wrong_calls_are_refused(void)
{
    struct matrix a = make(TAKT_F64, false, 9, 9);
    fill_definite(&a);
    const takt_solver_call right = {.size = sizeof right,
                                    .routine = TAKT_SOLVER_POTRF,
                                    .dtype = TAKT_F64,
                                    .uplo = 'L',
                                    .n = 9,
                                    .a = in_place(&a)};
    takt_solver_call wrong[10];

    for (int i = 0; i < 10; i++)
        wrong[i] = right;
    wrong[0].uplo = 'l';
    wrong[1].n = 0;
    wrong[2].a.in_ld = 8;
    wrong[3].a.in = NULL;
    wrong[4].routine = (takt_solver_routine)7;
    wrong[5].size = 8;
    wrong[6].a.in_ld = SIZE_MAX / 4; /* no address is so far away */
    wrong[7].a.out_ld = SIZE_MAX / 16;
    wrong[8].routine = TAKT_SOLVER_GESV; /* without a right side */
    wrong[8].k = 1;
    wrong[9].size = SIZE_MAX; /* nothing behind it is read */
    for (int i = 0; i < 10; i++) {
        EXPECT(takt_solver_run(ctx, &wrong[i]) == TAKT_EINVAL);
        EXPECT(takt_solver_run_here(ctx, &wrong[i]) == TAKT_EINVAL);
    }
    EXPECT(takt_solver_run(ctx, NULL) == TAKT_EINVAL);
    EXPECT(takt_solver_run(ctx, &right) == TAKT_OK);
    free(a.at);
}

/* ---- failures ------------------------------------------------------------ */

/* A system, its solution, and what was there before. */
struct system {
    struct matrix a, b, a_before, b_before;
    int pivots[24], pivots_before[24];
    takt_solver_call call;
};

static struct system system_make(void)
{
    struct system s = {.a = make(TAKT_F64, true, 24, 24),
                       .b = make(TAKT_F64, true, 24, 3)};

    fill(&s.a, 3);
    fill(&s.b, 4);
    s.a_before = copy(&s.a);
    s.b_before = copy(&s.b);
    s.call = call_of(TAKT_SOLVER_GESV, &s.a);
    s.call.k = 3;
    s.call.b = in_place(&s.b);
    return s;
}

static void system_free(struct system *s)
{
    free(s->a.at);
    free(s->b.at);
    free(s->a_before.at);
    free(s->b_before.at);
}

static bool is_untouched(const struct system *s)
{
    return memcmp(s->a.at, s->a_before.at, s->a.bytes) == 0 &&
           memcmp(s->b.at, s->b_before.at, s->b.bytes) == 0 &&
           memcmp(s->pivots, s->pivots_before, sizeof s->pivots) == 0;
}

static bool is_solved(const struct system *s)
{
    for (size_t i = 0; i < 24; i++)
        if (!(fabs(product(&s->a_before, &s->b, i, 0, 24) -
                   get(&s->b_before, i, 0)) < 1e-8))
            return false;
    return true;
}

static takt_status run_system(struct system *s)
{
    memcpy(s->a.at, s->a_before.at, s->a.bytes);
    memcpy(s->b.at, s->b_before.at, s->b.bytes);
    s->call.pivots = s->pivots;
    memset(s->pivots, 0, sizeof s->pivots);
    return takt_solver_run(ctx, &s->call);
}

/* A run with one failure: all of the result, or nothing of it. */
static void expect_all_or_nothing(struct system *s, const char *what)
{
    const takt_status status = run_system(s);

    if (status == TAKT_OK)
        TAP_CHECK(is_solved(s), "%s: is not solved", what);
    else
        TAP_CHECK(is_untouched(s), "%s: was touched", what);
}

static void open_again(void)
{
    takt_ctx_destroy(ctx);
    ctx = context_of(TAKT_POLICY_ADAPTIVE, 2);
    REQUIRE(takt_solver_open(ctx) == TAKT_OK);
}

static void every_call_of_the_library_may_fail(void)
{
    struct system s = system_make();
    char what[32];

    REQUIRE(run_system(&s) == TAKT_OK);
    const unsigned long before = solver_calls();
    REQUIRE(run_system(&s) == TAKT_OK);
    const unsigned long calls = solver_calls() - before;
    EXPECT(calls >= 4);
    for (unsigned long i = 1; i <= calls; i++) {
        snprintf(what, sizeof what, "call %lu", i);
        solver_fail(i, 6);
        EXPECT(run_system(&s) == TAKT_ENODEV);
        EXPECT(is_untouched(&s));
        solver_fail(0, 0);
        EXPECT(run_system(&s) == TAKT_OK && is_solved(&s));
    }
    system_free(&s);
}

static void every_call_of_the_driver_may_fail(void)
{
    static const char *const functions[] = {
        "cuCtxPushCurrent", "cuMemcpyHtoDAsync",  "cuMemcpyDtoHAsync",
        "cuEventRecord",    "cuEventSynchronize", "cuEventCreate"};
    static const char *const errors[] = {"2", "700:sticky"};
    struct system s = system_make();
    char spec[64];

    for (size_t f = 0; f < sizeof functions / sizeof *functions; f++) {
        const unsigned long before = fake.count(functions[f]);
        REQUIRE(run_system(&s) == TAKT_OK);
        const unsigned long calls = fake.count(functions[f]) - before;
        for (unsigned long i = 1; i <= calls; i++)
            for (unsigned e = 0; e < 2; e++) {
                snprintf(spec, sizeof spec, "%s:%lu:%s", functions[f], i,
                         errors[e]);
                REQUIRE(fake.set_fault(spec));
                expect_all_or_nothing(&s, spec);
                REQUIRE(fake.set_fault(NULL));
                if (takt_solver_run(ctx, &s.call) != TAKT_OK)
                    open_again();
                EXPECT(run_system(&s) == TAKT_OK && is_solved(&s));
            }
    }
    system_free(&s);
}

static void lack_of_memory_is_a_refusal(void)
{
    struct system s = system_make();

    open_again(); /* with nothing kept */
    REQUIRE(fake.set_fault("cuMemHostAlloc:1:2"));
    EXPECT(run_system(&s) == TAKT_ENOMEM && is_untouched(&s));
    REQUIRE(fake.set_fault("cuMemAlloc:1:2,cuMemAlloc:1:2"));
    EXPECT(run_system(&s) == TAKT_ENOMEM && is_untouched(&s));
    REQUIRE(fake.set_fault(NULL));
    EXPECT(run_system(&s) == TAKT_OK && is_solved(&s));
    system_free(&s);
}

static void without_a_library_nothing_is_open(void)
{
    struct system s = system_make();

    takt_ctx_destroy(ctx);
    ctx = context_of(TAKT_POLICY_ADAPTIVE, 2);
    EXPECT(run_system(&s) == TAKT_ENODEV && is_untouched(&s));
    for (unsigned long i = 1; i <= 2; i++) {
        solver_fail(i, 1);
        EXPECT(takt_solver_open(ctx) == TAKT_ENODEV);
        EXPECT(run_system(&s) == TAKT_ENODEV && is_untouched(&s));
    }
    EXPECT(takt_solver_open(ctx) == TAKT_OK);
    EXPECT(run_system(&s) == TAKT_OK);
    system_free(&s);
}

int main(void)
{
    subject_choose_fake();
    test_config()->cublas = TAKT_FAKE_CUBLAS;
    test_config()->cusolver = TAKT_FAKE_CUSOLVER;
    void *library = dlopen(TAKT_FAKE_CUSOLVER, RTLD_NOW | RTLD_LOCAL);
    REQUIRE(library != NULL);
    fixture_find(library, "fake_cusolver_calls", &solver_calls);
    fixture_find(library, "fake_cusolver_fail", &solver_fail);
    ctx = context_of(TAKT_POLICY_ADAPTIVE, 2);
    REQUIRE(takt_solver_open(ctx) == TAKT_OK);

    RUN(cholesky_factors_are_written_to_one_triangle);
    RUN(lu_factors_have_lapacks_pivots);
    RUN(systems_are_solved);
    RUN(reflections_make_q_and_r);
    RUN(eigenvalues_come_in_order_with_their_vectors);
    RUN(singular_values_come_in_order_with_their_vectors);
    RUN(takts_own_kernels_do_the_same);
    RUN(large_copies_are_not_kept);
    RUN(large_matrices_go_through_all_slots);
    RUN(what_has_no_factor_is_refused_and_untouched);
    RUN(what_is_not_finite_is_refused);
    RUN(wrong_calls_are_refused);
    RUN(what_no_memory_holds_is_refused_at_once);
    RUN(results_that_are_not_wanted_are_not_written);
    RUN(every_call_of_the_library_may_fail);
    RUN(every_call_of_the_driver_may_fail);
    RUN(lack_of_memory_is_a_refusal);
    RUN(without_a_library_nothing_is_open);
    takt_ctx_destroy(ctx);
    EXPECT_INT(fake.bytes_held(), 0);
    return tap_done();
}
