/* SPDX-License-Identifier: MIT */
/*
 * test_solve.c - every expert on factors and systems of equations, judged by
 * the equation that they solve.
 *
 * The error is measured backward: how far the operands would have to be changed
 * for the result to be exact. That is what such a method can promise, however
 * close to singular the matrix is.
 */
#define _GNU_SOURCE /* MAP_ANONYMOUS in guard.h */
#include <fenv.h>
#include <stdio.h>
#include <sys/resource.h>

#include "op/op_id.h"
#include "parity/factors.h"
#include "support/child.h"
#include "support/guard.h"
#include "support/random.h"
#include "support/tap.h"
#include "support/tolerance.h"
#include "takt/takt.h"

enum { largest = 200, room = (largest + 3) * (largest + 3) * 8, gap = 3 };

static struct guard guard_a, guard_b, guard_out;
static double worst[2]; /* of cholesky and of solve */

/* ---- matrices -------------------------------------------------------------
 */

enum kind { RANDOM, GRADED, NEAR, KINDS };

struct system {
    takt_call call;
    bool is_double;
    size_t n, cols; /* of the output */
    void *a, *b, *out;
    size_t out_bytes;
};

static double a_at(const struct system *s, size_t i, size_t j)
{
    return get(s->a, s->is_double, i * s->call.ld[0] + j);
}

static void set_a(struct system *s, size_t i, size_t j, double x)
{
    put(s->a, s->is_double, i * s->call.ld[0] + j, x);
}

static double out_at(const struct system *s, size_t i, size_t j)
{
    return get(s->out, s->is_double, i * s->call.ld[2] + j);
}

static size_t span(size_t rows, size_t cols, size_t ld)
{
    return rows == 0 || cols == 0 ? 0 : (rows - 1) * ld + cols;
}

static void place(struct system *s, struct guard *guard, void **at, size_t rows,
                  size_t cols, size_t ld)
{
    const size_t size = s->is_double ? 8 : 4;

    *at = guard_at(guard, GUARD_HIGH, span(rows, cols, ld) * size, 0);
}

/* A call on `cols` right sides; 0: cholesky. */
static struct system make(bool is_double, size_t n, size_t cols, bool is_solve)
{
    struct system s = {.is_double = is_double, .n = n, .cols = cols};

    s.call = (takt_call){.op = takt_op_find(is_solve ? "solve" : "cholesky"),
                         .dtype = is_double ? TAKT_F64 : TAKT_F32,
                         .shape = {2, {n, cols}},
                         .ld = {n + gap, cols + 1, cols + gap}};
    place(&s, &guard_a, &s.a, n, n, s.call.ld[0]);
    place(&s, &guard_b, &s.b, n, cols, s.call.ld[1]);
    place(&s, &guard_out, &s.out, n, cols, s.call.ld[2]);
    s.out_bytes = span(n, cols, s.call.ld[2]) * (is_double ? 8 : 4);
    s.call.in[0] = s.a;
    s.call.in[1] = is_solve ? s.b : NULL;
    s.call.out = s.out;
    return s;
}

static void fill_b(struct system *s, uint64_t *seed)
{
    for (size_t i = 0; i < s->n; i++)
        for (size_t j = 0; j < s->cols; j++)
            put(s->b, s->is_double, i * s->call.ld[1] + j,
                2 * random_unit(seed) - 1);
}

/* Graded: rows and columns from 1 down to 2^-24. Near singular: the second row
 * is nearly the first. */
static double scale_of(const struct system *s, enum kind kind, size_t i)
{
    return kind == GRADED ? exp2(-24 * (double)i / (double)s->n) : 1;
}

static void fill_general(struct system *s, enum kind kind, uint64_t *seed)
{
    const double eps = eps_of(s->is_double);

    for (size_t i = 0; i < s->n; i++)
        for (size_t j = 0; j < s->n; j++)
            set_a(s, i, j,
                  (2 * random_unit(seed) - 1) * scale_of(s, kind, i) *
                      scale_of(s, kind, j));
    for (size_t j = 0; kind == NEAR && s->n > 1 && j < s->n; j++)
        set_a(s, 1, j, a_at(s, 0, j) * (1 + 64 * eps * random_unit(seed)));
    fill_b(s, seed);
}

/* Positive definite, with NaN above the diagonal, which nothing reads: a
 * dominant diagonal, which is weak near singular. */
static void fill_definite(struct system *s, enum kind kind, uint64_t *seed)
{
    const double n = (double)s->n;
    const double more = kind == NEAR ? 1 + 64 * n * eps_of(s->is_double) : 2;

    for (size_t i = 0; i < s->n; i++)
        for (size_t j = 0; j < s->n; j++) {
            const double x = kind == NEAR ? 1 : 2 * random_unit(seed) - 1;
            const double at = i == j ? (kind == NEAR ? more : n * more) : x;
            set_a(s, i, j,
                  j > i ? (double)NAN
                        : at * scale_of(s, kind, i) * scale_of(s, kind, j));
        }
}

/* ---- checks ---------------------------------------------------------------
 */

static takt_status run(struct system *s)
{
    static char before[room];
    const size_t a_bytes =
        span(s->n, s->n, s->call.ld[0]) * (s->is_double ? 8 : 4);
    const char *name = takt_ctx_expert(ctx, expert, NULL);

    DOING("%s %s %zu x %zu on %s", s->call.op->name,
          takt_dtype_name(s->call.dtype), s->n, s->cols, name);
    guard_paint(&guard_out, s->out, s->out_bytes);
    for (size_t i = 0; i < span(s->n, s->cols, s->call.ld[2]); i++)
        put(s->out, s->is_double, i, 12345); /* between the rows, too */
    memcpy(before, s->a, a_bytes);
    const takt_status status = takt_run_on(ctx, &s->call, expert);
    TAP_CHECK(memcmp(before, s->a, a_bytes) == 0, "%s: changed its input",
              guard_doing);
    TAP_CHECK(guard_is_whole(&guard_out, s->out, s->out_bytes),
              "%s: wrote outside", guard_doing);
    for (size_t i = 0; i + 1 < s->n && s->cols > 0; i++)
        for (size_t j = s->cols; j < s->call.ld[2]; j++)
            TAP_CHECK(out_at(s, i, j) == 12345, "%s: wrote between the rows",
                      guard_doing);
    ran_by_library += status != TAKT_ENODEV && name[0] == 'b';
    return status;
}

/* Libraries without LAPACK, and GPUs. */
static bool is_refused(takt_status status)
{
    const char *name = takt_ctx_expert(ctx, expert, NULL);

    return status == TAKT_ENODEV &&
           (name[0] == 'b' || name[0] == 'c' || name[0] == 'v');
}

/* The error in units of n * eps * `norms`, against what the catalogue says. */
static void judge(struct system *s, double error, double norms)
{
    const double units = takt__op_entry(s->call.op)->tolerance.units;
    const double unit = (double)s->n * eps_of(s->is_double) * norms;
    const double found = unit > 0 ? error / unit : error > 0 ? INFINITY : 0;
    double *most = &worst[takt__op_id(s->call.op) == TAKT_OP_solve];

    TAP_CHECK(found <= units, "%s: off by %g units, not %g", guard_doing, found,
              units);
    *most = fmax(*most, found);
}

static void judge_cholesky(struct system *s)
{
    double error = 0, norm = 0;

    for (size_t i = 0; i < s->n; i++) {
        double off = 0, size = 0;
        for (size_t j = 0; j <= i; j++) {
            wide_sum sum = 0;
            for (size_t k = 0; k <= j; k++)
                sum += (wide_sum)out_at(s, i, k) * out_at(s, j, k);
            off += fabs((double)(sum - a_at(s, i, j)));
            size += fabs(a_at(s, i, j));
        }
        for (size_t j = i + 1; j < s->n; j++)
            TAP_CHECK(out_at(s, i, j) == 0, "%s: no zero above the diagonal",
                      guard_doing);
        TAP_CHECK(out_at(s, i, i) > 0, "%s: its diagonal is not positive",
                  guard_doing);
        error = fmax(error, off);
        norm = fmax(norm, size);
    }
    judge(s, error, norm);
}

static double norm_of_a(const struct system *s)
{
    double norm = 0;

    for (size_t i = 0; i < s->n; i++) {
        double size = 0;
        for (size_t j = 0; j < s->n; j++)
            size += fabs(a_at(s, i, j));
        norm = fmax(norm, size);
    }
    return norm;
}

static void judge_solve(struct system *s)
{
    const double norm = norm_of_a(s);

    for (size_t r = 0; r < s->cols; r++) {
        double error = 0, size = 0;
        for (size_t i = 0; i < s->n; i++) {
            wide_sum sum = -get(s->b, s->is_double, i * s->call.ld[1] + r);
            for (size_t k = 0; k < s->n; k++)
                sum += (wide_sum)a_at(s, i, k) * out_at(s, k, r);
            error = fmax(error, fabs((double)sum));
            size = fmax(size, fabs(out_at(s, i, r)));
        }
        judge(s, error, norm * size);
    }
}

static void expect_finding(struct system *s, takt_status want, const char *how)
{
    const takt_status status = run(s);

    if (is_refused(status))
        return;
    TAP_CHECK(status == want, "%s, %s: %s", guard_doing, how,
              takt_status_text(status));
    for (size_t i = 0; i < s->n; i++)
        for (size_t j = 0; j < s->cols; j++)
            TAP_CHECK(isnan(out_at(s, i, j)), "%s, %s: a number is left",
                      guard_doing, how);
}

/* ---- sizes ----------------------------------------------------------------
 */

/* Threads that wait for a processor take long, so teams try less. */
static bool is_team(void)
{
    const char *name = takt_ctx_expert(ctx, expert, NULL);
    const size_t length = strlen(name);

    return length > 2 && name[length - 2] == 'x';
}

/* All up to 70, and some around blocks. */
static size_t size_after(size_t n)
{
    static const size_t more[] = {95, 96, 97, 127, 128, 129, 160, largest};
    const size_t step = is_sanitized || is_team() ? 7 : case_step();

    if (n + step <= 70)
        return n + step;
    for (size_t i = 0; i < sizeof more / sizeof *more; i++)
        if (n < more[i] && (!is_sanitized || i % 4 == 1))
            return more[i];
    return SIZE_MAX;
}

static void solves_what_it_should(bool is_solve)
{
    static const size_t cols[] = {1, 3, 17, 40};
    uint64_t seed = 1;

    for (size_t n = 0; n != SIZE_MAX; n = size_after(n))
        for (unsigned k = 0; k < 2 * KINDS; k++) {
            const enum kind kind = (enum kind)(k / 2);
            struct system s =
                make(k % 2 != 0, n, is_solve ? cols[(n + k) % 4] : n, is_solve);
            if (is_solve)
                fill_general(&s, kind, &seed);
            else
                fill_definite(&s, kind, &seed);
            const takt_status status = run(&s);
            if (is_refused(status))
                continue;
            TAP_CHECK(status == TAKT_OK, "%s, kind %d: %s", guard_doing,
                      (int)kind, takt_status_text(status));
            if (is_solve)
                judge_solve(&s);
            else
                judge_cholesky(&s);
        }
}

static void factors_what_is_positive_definite(void)
{
    solves_what_it_should(false);
}

static void solves_systems_of_equations(void)
{
    solves_what_it_should(true);
}

/* ---- findings -------------------------------------------------------------
 */

static const size_t odd_sizes[] = {1, 2, 5, 16, 17, 33, 70, 130};
enum { odd_count = sizeof odd_sizes / sizeof *odd_sizes };

static void spoil_and_factor(size_t n, bool is_double, size_t i, size_t j,
                             double with, const char *how)
{
    uint64_t seed = n;
    struct system s = make(is_double, n, n, false);

    fill_definite(&s, RANDOM, &seed);
    set_a(&s, i, j, with);
    expect_finding(&s, TAKT_EDEFINITE, how);
}

static void says_what_is_not_positive_definite(void)
{
    for (size_t k = 0; k < 2 * odd_count; k++) {
        const size_t n = odd_sizes[k / 2], last = n - 1;
        const bool is_double = k % 2 != 0;
        spoil_and_factor(n, is_double, 0, 0, -1, "first");
        spoil_and_factor(n, is_double, n / 2, n / 2, 0, "zero");
        spoil_and_factor(n, is_double, last, last, -1e-3, "last");
        spoil_and_factor(n, is_double, last, last, (double)NAN, "NaN");
        spoil_and_factor(n, is_double, last, n / 2, (double)NAN, "NaN below");
        spoil_and_factor(n, is_double, n / 2, n / 2, HUGE_VAL, "infinite");
        spoil_and_factor(n, is_double, last, 0, n > 1 ? HUGE_VAL : -1,
                         "infinite below");
    }
}

static void spoil_and_solve(size_t n, bool is_double, size_t row, size_t col,
                            double with, const char *how)
{
    uint64_t seed = n;
    struct system s = make(is_double, n, 3, true);

    fill_general(&s, RANDOM, &seed);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            if ((row == SIZE_MAX || i == row) && (col == SIZE_MAX || j == col))
                set_a(&s, i, j, with);
    expect_finding(&s, TAKT_ESINGULAR, how);
}

static void says_what_is_singular(void)
{
    for (size_t k = 0; k < 2 * odd_count; k++) {
        const size_t n = odd_sizes[k / 2];
        const bool is_double = k % 2 != 0;
        spoil_and_solve(n, is_double, SIZE_MAX, SIZE_MAX, 0, "zero");
        spoil_and_solve(n, is_double, n / 2, SIZE_MAX, 0, "a row");
        spoil_and_solve(n, is_double, SIZE_MAX, n / 2, 0, "a column");
        spoil_and_solve(n, is_double, SIZE_MAX, n - 1, 0, "the last column");
        spoil_and_solve(n, is_double, SIZE_MAX, SIZE_MAX, n > 1 ? 3 : 0,
                        "all equal");
        spoil_and_solve(n, is_double, n / 2, n / 2, (double)NAN, "NaN");
        spoil_and_solve(n, is_double, n / 2, 0, HUGE_VAL, "infinite");
    }
}

/* OpenBLAS calls such matrices singular, from some denormal pivot on. */
static void a_denormal_pivot_is_not_zero(void)
{
    for (unsigned k = 0; k < 2; k++) {
        const double least = k == 0 ? 0x1p-140 : 0x1p-1060;
        struct system s = make(k != 0, 30, 1, true);
        for (size_t i = 0; i < s.n; i++) {
            for (size_t j = 0; j < s.n; j++)
                set_a(&s, i, j, (i == j ? 4 : i == j + 1) * least);
            put(s.b, s.is_double, i * s.call.ld[1], (i == 0 ? 4 : 5) * least);
        }
        feclearexcept(FE_ALL_EXCEPT);
        const takt_status status = run(&s);
        if (is_refused(status))
            continue;
        TAP_CHECK(status == TAKT_OK && !fetestexcept(FE_OVERFLOW),
                  "%s: %s, or an overflow", guard_doing,
                  takt_status_text(status));
        EXPECT(out_at(&s, 0, 0) == 1 && out_at(&s, 29, 0) == 1);
    }
}

static void columns_of_the_right_side_do_not_meet(void)
{
    uint64_t seed = 5;
    struct system s = make(true, 50, 9, true);

    fill_general(&s, RANDOM, &seed);
    put(s.b, true, 7 * s.call.ld[1] + 4, (double)NAN);
    const takt_status status = run(&s);
    if (is_refused(status))
        return;
    EXPECT_INT(status, TAKT_OK);
    for (size_t i = 0; i < s.n; i++)
        for (size_t j = 0; j < s.cols; j++)
            TAP_CHECK(j == 4 || isfinite(out_at(&s, i, j)),
                      "%s: [%zu][%zu] is %g", guard_doing, i, j,
                      out_at(&s, i, j));
}

/* ---- the front door -------------------------------------------------------
 */

static void findings_are_returned_and_not_learned_from(void)
{
    const double a[4] = {1, 2, 2, 1}, b[2] = {1, 1};
    double l[4] = {0}, x[2];

    EXPECT_INT(takt_cholesky_f64(2, a, 0, l, 0), TAKT_EDEFINITE);
    EXPECT(isnan(l[0]) && isnan(l[1]) && isnan(l[2]) && isnan(l[3]));
    EXPECT_INT(takt_solve_f64(2, 1, a, 0, b, 0, x, 0), TAKT_OK);
    EXPECT(fabs(x[0] - 1.0 / 3) < 1e-15 && fabs(x[1] - 1.0 / 3) < 1e-15);

    const float d[4] = {4, 99, 2, 5}, zero[4] = {0}, one[2] = {1, 1};
    float f[4], y[2];
    EXPECT_INT(takt_cholesky_f32(2, d, 2, f, 2), TAKT_OK);
    EXPECT(f[0] == 2 && f[1] == 0 && f[2] == 1 && f[3] == 2);
    EXPECT_INT(takt_solve_f32(2, 1, zero, 2, one, 1, y, 1), TAKT_ESINGULAR);
    EXPECT(isnan(y[0]) && isnan(y[1]));
    EXPECT_INT(takt_solve_f32(2, 1, zero, 1, one, 1, y, 1), TAKT_ESHAPE);
    EXPECT_INT(takt_cholesky_f32(2, f, 0, f, 0), TAKT_EINVAL);
    EXPECT_INT(takt_cholesky_f32(0, NULL, 0, NULL, 0), TAKT_OK);
    EXPECT_INT(takt_solve_f64(3, 0, a, 0, NULL, 0, NULL, 0), TAKT_OK);
}

static void a_decision_tells_who_found_out(void)
{
    const double a[4] = {0}, b[2] = {1, 1};
    double x[2];
    takt_decision decision = {.size = sizeof decision};
    const takt_call call = {.op = takt_op_find("solve"),
                            .dtype = TAKT_F64,
                            .shape = {2, {2, 1}},
                            .in = {a, b},
                            .out = x};

    EXPECT_INT(takt_run(ctx, &call, &decision), TAKT_ESINGULAR);
    EXPECT(decision.reason != TAKT_REASON_FALLBACK);
}

/* ---- memory ---------------------------------------------------------------
 */

static rlim_t address_space(void)
{
    unsigned long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");

    REQUIRE(file != NULL && fscanf(file, "%lu", &pages) == 1);
    fclose(file);
    return pages * 4096;
}

/* The copy of a matrix of 64 MiB does not fit into 16 MiB. */
static void without_memory_nothing_is_touched(void)
{
    const size_t n = 2900;
    double *a = calloc(n * n, sizeof *a);
    double *x = malloc(n * sizeof *x);
    struct rlimit before, little;

    if (is_sanitized) {
        SKIP("sanitizers need address space");
        free(a), free(x);
        return;
    }
    REQUIRE(a != NULL && x != NULL);
    for (size_t i = 0; i < n; i++) {
        a[i * n + i] = 2;
        x[i] = 7;
    }
    REQUIRE(getrlimit(RLIMIT_AS, &before) == 0);
    little = before;
    little.rlim_cur = address_space() + (16 << 20);
    const takt_call call = {.op = takt_op_find("solve"),
                            .dtype = TAKT_F64,
                            .shape = {2, {n, 1}},
                            .in = {a, a},
                            .out = x,
                            .ld = {n, n, 1}};
    REQUIRE(setrlimit(RLIMIT_AS, &little) == 0);
    for (size_t i = 0; takt_ctx_expert(ctx, i, NULL) != NULL; i++) {
        const takt_status status = takt_run_on(ctx, &call, i);
        TAP_CHECK(status == TAKT_ENOMEM || status == TAKT_ENODEV, "%s: %s",
                  takt_ctx_expert(ctx, i, NULL), takt_status_text(status));
    }
    EXPECT_INT(takt_run(ctx, &call, NULL), TAKT_ENOMEM);
    REQUIRE(setrlimit(RLIMIT_AS, &before) == 0);
    for (size_t i = 0; i < n; i++)
        REQUIRE(x[i] == 7);
    EXPECT_INT(takt_run(ctx, &call, NULL), TAKT_OK);
    EXPECT(x[0] == 1 && x[1] == 0);
    free(a);
    free(x);
}

/* In a process that may compute for five seconds. */
static void ask_for_too_much(void)
{
    const size_t n = (size_t)1 << 29;
    const struct rlimit seconds = {5, 5};
    void *const far[] = {(void *)((uintptr_t)1 << 62), /* nothing is there */
                         (void *)((uintptr_t)1 << 61)};
    static const char *const ops[] = {"solve", "qr", "lstsq"};

    REQUIRE(setrlimit(RLIMIT_CPU, &seconds) == 0);
    for (size_t k = 0; k < 3; k++) {
        const takt_call call = {
            .op = takt_op_find(ops[k]),
            .shape = {k == 2 ? 3 : 2, {n, k == 0 ? 1 : n, 1}},
            .in = {&n, far[1]},
            .out = far[0]};
        for (size_t i = 0; i < 3; i++)
            EXPECT_INT(takt_run_on(ctx, &call, i), TAKT_ENOMEM);
    }
}

static void what_no_memory_holds_is_refused_at_once(void)
{
    if (is_sanitized)
        SKIP("sanitizers end a program that asks for so much");
    else
        in_child(ask_for_too_much);
}

/* ---- all experts ----------------------------------------------------------
 */

int main(void)
{
    guard_watch();
    guard_a = guard_make(room);
    guard_b = guard_make(room);
    guard_out = guard_make(room);
    open_experts();
    REQUIRE(takt_ctx_expert(ctx, 0, NULL) != NULL); /* opens the libraries */
    RUN(without_memory_nothing_is_touched);
    RUN(what_no_memory_holds_is_refused_at_once);
    RUN_ON_EACH(factors_what_is_positive_definite);
    RUN_ON_EACH(solves_systems_of_equations);
    printf("# worst: cholesky %g, solve %g units\n", worst[0], worst[1]);
    RUN_ON_EACH(says_what_is_not_positive_definite);
    RUN_ON_EACH(says_what_is_singular);
    RUN_ON_EACH(a_denormal_pivot_is_not_zero);
    RUN_ON_EACH(columns_of_the_right_side_do_not_meet);
    RUN(findings_are_returned_and_not_learned_from);
    RUN(a_decision_tells_who_found_out);
    RUN(a_library_took_part);
    takt_ctx_destroy(ctx);
    return tap_done();
}
