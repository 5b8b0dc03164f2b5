/* SPDX-License-Identifier: MIT */
/*
 * test_least.c - every expert on least squares, judged by what a minimum is:
 * the rest is at right angles to every column.
 */
#define _GNU_SOURCE /* MAP_ANONYMOUS in guard.h */
#include <stdio.h>

#include "op/op_id.h"
#include "parity/factors.h"
#include "support/guard.h"
#include "support/random.h"
#include "support/tap.h"
#include "support/tolerance.h"
#include "takt/takt.h"

enum {
    largest = 150,
    wide = 515, /* more columns are applied together */
    room = (wide + 9) * (wide + 3) * 8,
    gap = 2
};

static struct guard guard_a, guard_b, guard_x;
static double worst;

enum kind { RANDOM, GRADED, NEAR, KINDS };

struct least {
    takt_call call;
    bool is_double;
    size_t m, n, cols;
    void *a, *b, *x;
};

static double a_at(const struct least *s, size_t i, size_t j)
{
    return get(s->a, s->is_double, i * s->call.ld[0] + j);
}

static double b_at(const struct least *s, size_t i, size_t j)
{
    return get(s->b, s->is_double, i * s->call.ld[1] + j);
}

static double x_at(const struct least *s, size_t i, size_t j)
{
    return get(s->x, s->is_double, i * s->call.ld[2] + j);
}

static void *place(const struct guard *guard, bool is_double, size_t rows,
                   size_t cols, size_t ld)
{
    const size_t count = rows == 0 || cols == 0 ? 0 : (rows - 1) * ld + cols;

    return guard_at(guard, GUARD_HIGH, count * (is_double ? 8 : 4), 0);
}

static struct least make(bool is_double, size_t m, size_t n, size_t cols)
{
    struct least s = {.is_double = is_double, .m = m, .n = n, .cols = cols};

    s.call = (takt_call){.op = takt_op_find("lstsq"),
                         .dtype = is_double ? TAKT_F64 : TAKT_F32,
                         .shape = {3, {m, n, cols}},
                         .ld = {n + gap, cols + 1, cols + gap}};
    s.call.in[0] = s.a = place(&guard_a, is_double, m, n, s.call.ld[0]);
    s.call.in[1] = s.b = place(&guard_b, is_double, m, cols, s.call.ld[1]);
    s.call.out = s.x = place(&guard_x, is_double, n, cols, s.call.ld[2]);
    return s;
}

/* Graded: columns from 1 down to 2^-20. Near: the second column is nearly the
 * first. */
static void fill(struct least *s, enum kind kind, uint64_t *seed)
{
    for (size_t i = 0; i < s->m; i++) {
        for (size_t j = 0; j < s->n; j++) {
            const double scale =
                kind == GRADED ? exp2(-20 * (double)j / (double)s->n) : 1;
            const double x = (2 * random_unit(seed) - 1) * scale;
            put(s->a, s->is_double, i * s->call.ld[0] + j,
                kind == NEAR && j == 1
                    ? a_at(s, i, 0) + 64 * eps_of(s->is_double) * x
                    : x);
        }
        for (size_t j = 0; j < s->cols; j++)
            put(s->b, s->is_double, i * s->call.ld[1] + j,
                2 * random_unit(seed) - 1);
    }
}

static takt_status run(struct least *s)
{
    const char *name = takt_ctx_expert(ctx, expert, NULL);
    const size_t count =
        s->n == 0 || s->cols == 0 ? 0 : (s->n - 1) * s->call.ld[2] + s->cols;
    const size_t bytes = count * (s->is_double ? 8 : 4);

    DOING("lstsq %s %zu x %zu x %zu on %s", takt_dtype_name(s->call.dtype),
          s->m, s->n, s->cols, name);
    guard_paint(&guard_x, s->x, bytes);
    for (size_t i = 0; i < count; i++)
        put(s->x, s->is_double, i, 12345);
    const takt_status status = takt_run_on(ctx, &s->call, expert);
    TAP_CHECK(guard_is_whole(&guard_x, s->x, bytes), "%s: wrote outside",
              guard_doing);
    for (size_t i = 0; i + 1 < s->n && s->cols > 0; i++)
        for (size_t j = s->cols; j < s->call.ld[2]; j++)
            TAP_CHECK(x_at(s, i, j) == 12345, "%s: wrote between the rows",
                      guard_doing);
    ran_by_library += status != TAKT_ENODEV && name[0] == 'b';
    return status;
}

static bool is_refused(takt_status status)
{
    return status == TAKT_ENODEV &&
           takt_ctx_expert(ctx, expert, NULL)[0] == 'b';
}

/* Sums of the magnitudes of rows of A, and of columns. */
static void norms_of(const struct least *s, double *rows, double *cols)
{
    *rows = *cols = 0;
    for (size_t i = 0; i < s->m; i++) {
        double sum = 0;
        for (size_t j = 0; j < s->n; j++)
            sum += fabs(a_at(s, i, j));
        *rows = fmax(*rows, sum);
    }
    for (size_t j = 0; j < s->n; j++) {
        double sum = 0;
        for (size_t i = 0; i < s->m; i++)
            sum += fabs(a_at(s, i, j));
        *cols = fmax(*cols, sum);
    }
}

/* The norm of A'(A x - b), in units of m * eps * the norms of all of these. */
static void judge(const struct least *s, size_t r)
{
    static wide_sum rest[wide + 9];
    const double units = takt__op_entry(s->call.op)->tolerance.units;
    double rows, cols, x = 0, b = 0, error = 0;

    norms_of(s, &rows, &cols);
    for (size_t i = 0; i < s->m; i++) {
        rest[i] = -b_at(s, i, r);
        for (size_t j = 0; j < s->n; j++)
            rest[i] += (wide_sum)a_at(s, i, j) * x_at(s, j, r);
        b = fmax(b, fabs(b_at(s, i, r)));
    }
    for (size_t j = 0; j < s->n; j++) {
        wide_sum sum = 0;
        for (size_t i = 0; i < s->m; i++)
            sum += rest[i] * a_at(s, i, j);
        error = fmax(error, fabs((double)sum));
        x = fmax(x, fabs(x_at(s, j, r)));
    }
    const double found =
        error / ((double)s->m * eps_of(s->is_double) * cols * (rows * x + b));
    TAP_CHECK(found <= units, "%s: off by %g units, not %g", guard_doing, found,
              units);
    worst = fmax(worst, found);
}

static bool is_team(void)
{
    const char *name = takt_ctx_expert(ctx, expert, NULL);
    const size_t length = strlen(name);

    return length > 2 && name[length - 2] == 'x';
}

static size_t size_after(size_t n)
{
    const size_t step = is_sanitized || is_team() ? 7 : case_step();

    return n + step <= 50 ? n + step
           : n < 95       ? 95
           : n < 96       ? 96
           : n < largest  ? largest
                          : SIZE_MAX;
}

static void finds_the_minimum(void)
{
    static const size_t more[] = {0, 1, 7, 50}, cols[] = {1, 2, 19};
    uint64_t seed = 1;

    for (size_t n = 1; n != SIZE_MAX; n = size_after(n))
        for (unsigned k = 0; k < 2 * KINDS; k++) {
            struct least s = make(k % 2 != 0, n + more[(n + k / 2) % 4], n,
                                  cols[(n + k) % 3]);
            fill(&s, (enum kind)(k / 2), &seed);
            const takt_status status = run(&s);
            if (is_refused(status))
                continue;
            TAP_CHECK(status == TAKT_OK, "%s: %s", guard_doing,
                      takt_status_text(status));
            for (size_t r = 0; r < s.cols; r++)
                judge(&s, r);
        }
}

static void many_columns_are_reflected(void)
{
    uint64_t seed = 2;

    expert = 2; /* two threads */
    struct least s = make(true, wide + 7, wide, 3);
    fill(&s, RANDOM, &seed);
    EXPECT_INT(run(&s), TAKT_OK);
    for (size_t r = 0; r < s.cols; r++)
        judge(&s, r);
}

/* ---- findings -------------------------------------------------------------
 */

static void spoil(size_t n, bool is_double, size_t row, double with,
                  const char *how)
{
    uint64_t seed = n;
    struct least s = make(is_double, n + 9, n, 3);

    fill(&s, RANDOM, &seed);
    for (size_t i = 0; i < s.m; i++)
        if (row == SIZE_MAX || i == row)
            put(s.a, is_double, i * s.call.ld[0] + n / 2, with);
    const takt_status status = run(&s);
    if (is_refused(status))
        return;
    TAP_CHECK(status == TAKT_ESINGULAR, "%s, %s: %s", guard_doing, how,
              takt_status_text(status));
    for (size_t i = 0; i < s.n; i++)
        for (size_t j = 0; j < s.cols; j++)
            TAP_CHECK(isnan(x_at(&s, i, j)), "%s, %s: a number is left",
                      guard_doing, how);
}

static void says_what_is_singular(void)
{
    static const size_t sizes[] = {1, 2, 16, 17, 40, 97};

    for (size_t k = 0; k < 2 * sizeof sizes / sizeof *sizes; k++) {
        spoil(sizes[k / 2], k % 2 != 0, SIZE_MAX, 0, "a column of zeros");
        spoil(sizes[k / 2], k % 2 != 0, 3, (double)NAN, "NaN");
        spoil(sizes[k / 2], k % 2 != 0, 0, HUGE_VAL, "infinite");
    }
}

/* Squares of these overflow and vanish, and the inverse of the first is
 * infinite. */
static void takes_very_large_and_very_small_numbers(void)
{
    static const double scales[] = {0x1p-1026, 1e-300, 1e-160, 1e150, 1e300};

    for (size_t k = 0; k < sizeof scales / sizeof *scales; k++) {
        struct least s = make(true, 3, 2, 1);
        const double a[3][2] = {{3, 1}, {4, 1}, {0, 1}}, b[3] = {5, 6, 2};
        for (size_t i = 0; i < 3; i++) {
            for (size_t j = 0; j < 2; j++)
                put(s.a, true, i * s.call.ld[0] + j, a[i][j] * scales[k]);
            put(s.b, true, i * s.call.ld[1], b[i] * scales[k]);
        }
        const takt_status status = run(&s);
        if (is_refused(status))
            continue;
        EXPECT_INT(status, TAKT_OK);
        TAP_CHECK(fabs(x_at(&s, 0, 0) - 1) < 1e-12 &&
                      fabs(x_at(&s, 1, 0) - 2) < 1e-12,
                  "%s by %g: %g, %g", guard_doing, scales[k], x_at(&s, 0, 0),
                  x_at(&s, 1, 0));
    }
}

static void one_line_calls_fit_a_line(void)
{
    const double a[6] = {1, 0, 1, 1, 1, 2}, b[3] = {1, 3, 5};
    const float f[6] = {1, 0, 1, 1, 1, 2}, g[3] = {1, 3, 5};
    double x[2];
    float y[2];

    EXPECT_INT(takt_lstsq_f64(3, 2, 1, a, 0, b, 0, x, 0), TAKT_OK);
    EXPECT(fabs(x[0] - 1) < 1e-14 && fabs(x[1] - 2) < 1e-14);
    EXPECT_INT(takt_lstsq_f32(3, 2, 1, f, 2, g, 1, y, 1), TAKT_OK);
    EXPECT(fabsf(y[0] - 1) < 1e-5F && fabsf(y[1] - 2) < 1e-5F);
    EXPECT_INT(takt_lstsq_f64(2, 3, 1, a, 0, b, 0, x, 0), TAKT_ESHAPE);
    EXPECT_INT(takt_lstsq_f64(3, 2, 1, a, 1, b, 0, x, 0), TAKT_ESHAPE);
    EXPECT_INT(takt_lstsq_f64(3, 0, 1, NULL, 0, b, 0, NULL, 0), TAKT_OK);
}

int main(void)
{
    guard_watch();
    guard_a = guard_make(room);
    guard_b = guard_make(room);
    guard_x = guard_make(room);
    open_experts();
    RUN_ON_EACH(finds_the_minimum);
    printf("# worst: %g units\n", worst);
    RUN_ON_EACH(says_what_is_singular);
    RUN_ON_EACH(takes_very_large_and_very_small_numbers);
    RUN(many_columns_are_reflected);
    RUN(one_line_calls_fit_a_line);
    RUN(a_library_took_part);
    takt_ctx_destroy(ctx);
    return tap_done();
}
