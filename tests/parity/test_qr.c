/* SPDX-License-Identifier: MIT */
/*
 * test_qr.c - every expert on Q and R: their product, the angles between the
 * columns of Q, and the signs of R.
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
    largest = 130,
    wide = 515, /* more columns are applied together */
    room = (2 * wide + 9) * (wide + 3) * 8,
    gap = 2
};

static struct guard guard_a, guard_out;
static double worst;

/* Dependent: the second column is the first. */
enum kind { RANDOM, GRADED, DEPENDENT, KINDS };

struct pair {
    takt_call call;
    bool is_double;
    size_t m, n;
    void *a, *out;
};

static double a_at(const struct pair *s, size_t i, size_t j)
{
    return get(s->a, s->is_double, i * s->call.ld[0] + j);
}

static double q_at(const struct pair *s, size_t i, size_t j)
{
    return get(s->out, s->is_double, i * s->call.ld[2] + j);
}

static double r_at(const struct pair *s, size_t i, size_t j)
{
    return q_at(s, s->m + i, j);
}

static size_t span(size_t rows, size_t cols, size_t ld)
{
    return rows == 0 || cols == 0 ? 0 : (rows - 1) * ld + cols;
}

static struct pair make(bool is_double, size_t m, size_t n)
{
    struct pair s = {.is_double = is_double, .m = m, .n = n};
    const size_t size = is_double ? 8 : 4, ld = n + gap;

    s.call = (takt_call){.op = takt_op_find("qr"),
                         .dtype = is_double ? TAKT_F64 : TAKT_F32,
                         .shape = {2, {m, n}},
                         .ld = {ld, 0, ld}};
    s.call.in[0] = s.a =
        guard_at(&guard_a, GUARD_HIGH, span(m, n, ld) * size, 0);
    s.call.out = s.out =
        guard_at(&guard_out, GUARD_HIGH, span(m + n, n, ld) * size, 0);
    return s;
}

static void fill(struct pair *s, enum kind kind, uint64_t *seed)
{
    for (size_t i = 0; i < s->m; i++)
        for (size_t j = 0; j < s->n; j++) {
            const double scale =
                kind == GRADED ? exp2(-20 * (double)j / (double)s->n) : 1;
            const double x = (2 * random_unit(seed) - 1) * scale;
            put(s->a, s->is_double, i * s->call.ld[0] + j,
                kind == DEPENDENT && j == 1 ? a_at(s, i, 0) : x);
        }
}

static takt_status run(struct pair *s)
{
    const char *name = takt_ctx_expert(ctx, expert, NULL);
    const size_t count = span(s->m + s->n, s->n, s->call.ld[2]);
    const size_t bytes = count * (s->is_double ? 8 : 4);

    DOING("qr %s %zu x %zu on %s", takt_dtype_name(s->call.dtype), s->m, s->n,
          name);
    guard_paint(&guard_out, s->out, bytes);
    for (size_t i = 0; i < count; i++)
        put(s->out, s->is_double, i, 12345);
    const takt_status status = takt_run_on(ctx, &s->call, expert);
    TAP_CHECK(guard_is_whole(&guard_out, s->out, bytes), "%s: wrote outside",
              guard_doing);
    for (size_t i = 0; i + 1 < s->m + s->n; i++)
        for (size_t j = s->n; j < s->call.ld[2]; j++)
            TAP_CHECK(q_at(s, i, j) == 12345, "%s: wrote between the rows",
                      guard_doing);
    ran_by_library += status != TAKT_ENODEV && name[0] == 'b';
    return status;
}

static bool is_refused(takt_status status)
{
    return status == TAKT_ENODEV &&
           takt_ctx_expert(ctx, expert, NULL)[0] == 'b';
}

static void judge(const struct pair *s, double error, double norm,
                  const char *what)
{
    const double units = takt__op_entry(s->call.op)->tolerance.units;
    const double found = error / ((double)s->m * eps_of(s->is_double) * norm);

    TAP_CHECK(found <= units, "%s: %s is off by %g units, not %g", guard_doing,
              what, found, units);
    worst = fmax(worst, found);
}

static void judge_product(const struct pair *s)
{
    double error = 0, norm = 0;

    for (size_t i = 0; i < s->m; i++) {
        double off = 0, size = 0;
        for (size_t j = 0; j < s->n; j++) {
            wide_sum sum = 0;
            for (size_t k = 0; k <= j; k++)
                sum += (wide_sum)q_at(s, i, k) * r_at(s, k, j);
            off += fabs((double)(sum - a_at(s, i, j)));
            size += fabs(a_at(s, i, j));
        }
        error = fmax(error, off);
        norm = fmax(norm, size);
    }
    judge(s, error, norm, "Q R");
}

static void judge_angles(const struct pair *s)
{
    static double off[wide];
    double error = 0;

    memset(off, 0, sizeof off);
    for (size_t i = 0; i < s->n; i++)
        for (size_t j = 0; j <= i; j++) {
            wide_sum sum = i == j ? -1 : 0;
            for (size_t k = 0; k < s->m; k++)
                sum += (wide_sum)q_at(s, k, i) * q_at(s, k, j);
            off[i] += fabs((double)sum);
            off[j] += i == j ? 0 : fabs((double)sum);
        }
    for (size_t i = 0; i < s->n; i++)
        error = fmax(error, off[i]);
    judge(s, error, 1, "Q'Q");
}

static void check_r(const struct pair *s)
{
    for (size_t i = 0; i < s->n; i++) {
        TAP_CHECK(r_at(s, i, i) >= 0, "%s: a negative diagonal", guard_doing);
        for (size_t j = 0; j < i; j++)
            TAP_CHECK(r_at(s, i, j) == 0, "%s: no zero below the diagonal",
                      guard_doing);
    }
}

/* Threads that wait for a processor take long, so teams try less. */
static size_t size_after(size_t n)
{
    const char *name = takt_ctx_expert(ctx, expert, NULL);
    const size_t length = strlen(name);
    const bool is_team = length > 2 && name[length - 2] == 'x';
    const size_t step = is_sanitized || is_team ? 7 : case_step();

    return n + step <= 40 ? n + step
           : n < 64       ? 64
           : n < 97       ? 97
           : n < largest  ? largest
                          : SIZE_MAX;
}

static void factors_by_angles(void)
{
    static const size_t more[] = {0, 1, 7, 50};
    uint64_t seed = 1;

    for (size_t n = 1; n != SIZE_MAX; n = size_after(n))
        for (unsigned k = 0; k < 2 * KINDS; k++) {
            struct pair s = make(k % 2 != 0, n + more[(n + k / 2) % 4], n);
            fill(&s, (enum kind)(k / 2), &seed);
            const takt_status status = run(&s);
            if (is_refused(status))
                continue;
            TAP_CHECK(status == TAKT_OK, "%s: %s", guard_doing,
                      takt_status_text(status));
            judge_product(&s);
            judge_angles(&s);
            check_r(&s);
        }
}

static void many_columns_are_factored(void)
{
    uint64_t seed = 2;

    expert = 2; /* two threads */
    struct pair s = make(true, wide + 7, wide);
    fill(&s, RANDOM, &seed);
    EXPECT_INT(run(&s), TAKT_OK);
    judge_product(&s);
    judge_angles(&s);
    check_r(&s);
}

static void zeros_have_a_q_too(void)
{
    struct pair s = make(true, 20, 18);

    for (size_t i = 0; i < span(s.m, s.n, s.call.ld[0]); i++)
        put(s.a, true, i, 0);
    if (is_refused(run(&s)))
        return;
    judge_angles(&s);
    check_r(&s);
    for (size_t i = 0; i < s.n; i++)
        TAP_CHECK(r_at(&s, i, s.n - 1) == 0, "%s: R is not 0", guard_doing);
}

/* The inverse of a denormal number is infinite. */
static void denormal_columns_have_a_q_too(void)
{
    static const size_t sizes[] = {1, 3, 17, 40};
    uint64_t seed = 3;

    for (size_t k = 0; k < 2 * sizeof sizes / sizeof *sizes; k++) {
        const size_t n = sizes[k / 2];
        struct pair s = make(true, n + 5, n);
        fill(&s, RANDOM, &seed);
        for (size_t i = 0; i < s.m * n; i++) {
            const size_t at = i / n * s.call.ld[0] + i % n;
            if (k % 2 == 0 || i % n == n / 2)
                put(s.a, true, at, get(s.a, true, at) * 0x1p-1050);
        }
        if (is_refused(run(&s)))
            return;
        judge_angles(&s);
        check_r(&s);
        EXPECT(r_at(&s, n / 2, n / 2) > 0);
    }
}

static void one_line_calls_have_both(void)
{
    const double a[6] = {3, 5, 4, 0, 0, 2};
    const float f[2] = {-3, -4};
    double qr[10];
    float small[3];

    EXPECT_INT(takt_qr_f64(3, 2, a, 0, qr, 0), TAKT_OK);
    EXPECT_NEAR(qr[0], 0.6, 1e-14);
    EXPECT_NEAR(qr[2], 0.8, 1e-14);
    EXPECT_NEAR(qr[6], 5, 1e-14);
    EXPECT_NEAR(qr[7], 3, 1e-14);
    EXPECT(qr[8] == 0 && qr[9] > 0);
    EXPECT_INT(takt_qr_f32(2, 1, f, 1, small, 1), TAKT_OK);
    EXPECT_NEAR((double)small[0], -0.6, 1e-6);
    EXPECT_NEAR((double)small[2], 5, 1e-5);
    EXPECT_INT(takt_qr_f64(2, 3, a, 0, qr, 0), TAKT_ESHAPE);
    EXPECT_INT(takt_qr_f64(3, 2, a, 0, qr, 1), TAKT_ESHAPE);
    EXPECT_INT(takt_qr_f64(3, 0, NULL, 0, NULL, 0), TAKT_OK);
}

int main(void)
{
    guard_watch();
    guard_a = guard_make(room);
    guard_out = guard_make(room);
    open_experts();
    RUN_ON_EACH(factors_by_angles);
    printf("# worst: %g units\n", worst);
    RUN_ON_EACH(zeros_have_a_q_too);
    RUN_ON_EACH(denormal_columns_have_a_q_too);
    RUN(many_columns_are_factored);
    RUN(one_line_calls_have_both);
    RUN(a_library_took_part);
    takt_ctx_destroy(ctx);
    return tap_done();
}
