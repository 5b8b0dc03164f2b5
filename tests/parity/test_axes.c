/* SPDX-License-Identifier: MIT */
/*
 * test_axes.c - kernels that add or multiply a vector to rows, and those that
 * reduce columns, against their definition: all sizes around the vectors,
 * special values, and nothing touched outside.
 */
#define _GNU_SOURCE /* MAP_ANONYMOUS in guard.h */
#include "parity/kernels.h"

enum { room = 64 * 1024 * 8, far_room = 16 << 20, most_cols = 3000 };

static struct guard in_guard, bias_guard, out_guard;
static double magnitude[most_cols];
static void *want;

struct axes_case {
    const struct takt_kernel *kernel, *scalar;
    bool is_double;
    size_t rows, cols, ld;
    void *in, *bias, *out;
};

static struct axes_case case_of(const struct takt_kernel *kernel)
{
    const struct axes_case c = {
        .kernel = kernel,
        .scalar = kernel_of(TAKT_KERNEL_scalar, kernel->kind, kernel->op,
                            kernel->dtype),
        .is_double = kernel->dtype == TAKT_KERNEL_f64,
    };
    REQUIRE(c.scalar != NULL);
    return c;
}

static bool is_bias(const struct axes_case *c)
{
    return c->kernel->kind == TAKT_KERNEL_KIND_bias;
}

static size_t results_of(const struct axes_case *c)
{
    return is_bias(c) ? c->rows * c->cols : c->cols;
}

static void place(struct axes_case *c, size_t rows, size_t cols, size_t gap,
                  enum guard_side side)
{
    const size_t size = size_of(c->is_double);

    c->rows = rows;
    c->cols = cols;
    c->ld = cols + gap;
    c->in = guard_at(&in_guard, side, ((rows - 1) * c->ld + cols) * size, 0);
    c->bias = guard_at(&bias_guard, side, cols * size, 0);
    c->out = guard_at(&out_guard, side, results_of(c) * size, 0);
}

static void run(const struct axes_case *c, const struct takt_kernel *kernel,
                void *out)
{
    if (is_bias(c))
        kernel->run.bias(c->rows, c->cols, c->in, c->bias, out);
    else
        kernel->run.columns(c->rows, c->cols, c->in, c->ld, out);
}

/* The sums of magnitudes by columns. */
static void measure(const struct axes_case *c)
{
    for (size_t j = 0; j < c->cols; j++) {
        magnitude[j] = 0;
        for (size_t i = 0; i < c->rows; i++)
            magnitude[j] += fabs(get(c->in, c->is_double, i * c->ld + j));
        if (strcmp(c->kernel->op, "col_mean") == 0)
            magnitude[j] /= (double)c->rows;
    }
}

static bool is_right(const struct axes_case *c, size_t i)
{
    const struct takt_tolerance *tolerance = tolerance_find(c->kernel->op);
    const double got = get(c->out, c->is_double, i);
    const double exact = get(want, c->is_double, i);

    if (tolerance->of == TAKT_ACCURACY_VALUE || !isfinite(exact))
        return same_value(got, exact);
    const double allowed =
        tolerance_sum(tolerance, c->is_double, magnitude[i], 1);
    tolerance_note(c->kernel->op, isa_name(c->kernel->isa), c->is_double,
                   fabs(got - exact), allowed);
    return is_near(got, exact, allowed, c->is_double);
}

static void check(const struct axes_case *c)
{
    const size_t n = results_of(c);

    DOING("%s %s %s, %zu x %zu, ld %zu", c->kernel->op,
          c->is_double ? "f64" : "f32", isa_name(c->kernel->isa), c->rows,
          c->cols, c->ld);
    guard_paint(&out_guard, c->out, n * size_of(c->is_double));
    run(c, c->scalar, want);
    if (!is_bias(c))
        measure(c);
    run(c, c->kernel, c->out);
    for (size_t i = 0; i < n; i++)
        if (!is_right(c, i)) {
            TAP_CHECK(false, "%s: [%zu] is %.17g, not %.17g", guard_doing, i,
                      get(c->out, c->is_double, i), get(want, c->is_double, i));
            return;
        }
    TAP_CHECK(guard_is_whole(&out_guard, c->out, n * size_of(c->is_double)),
              "%s: wrote outside", guard_doing);
}

static void each_of_both(void (*test)(const struct takt_kernel *))
{
    each_kernel(TAKT_KERNEL_KIND_bias, test);
    each_kernel(TAKT_KERNEL_KIND_columns, test);
}

/* ---- sizes ----------------------------------------------------------------
 */

static void sizes_of(const struct takt_kernel *kernel)
{
    static const size_t rows[] = {1, 2, 3, 7, 8, 9, 16, 19, 100};
    struct axes_case c = case_of(kernel);
    uint64_t seed = 1;

    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++)
        for (size_t cols = 1; cols <= 150; cols += is_sanitized ? 7
                                                   : cols < 70  ? 1
                                                                : 13) {
            const size_t gap = is_bias(&c) ? 0 : cols % 3;
            place(&c, rows[k], cols, gap,
                  cols % 2 == 0 ? GUARD_LOW : GUARD_HIGH);
            fill_unit(c.in, c.is_double, (c.rows - 1) * c.ld + cols, &seed);
            fill_unit(c.bias, c.is_double, cols, &seed);
            check(&c);
        }
}

static void axes_match_at_every_size(void)
{
    each_of_both(sizes_of);
}

/* Columns in several blocks, and rows that are not in any cache. */
static void wide_of(const struct takt_kernel *kernel)
{
    static const size_t cols[] = {509, 1024, 1100, 2049, most_cols};
    struct axes_case c = case_of(kernel);
    uint64_t seed = 2;

    for (size_t k = 0; k < sizeof cols / sizeof cols[0]; k++)
        for (size_t rows = 1; rows <= 19; rows += 9) {
            place(&c, rows, cols[k], 0, k % 2 == 0 ? GUARD_LOW : GUARD_HIGH);
            fill_unit(c.in, c.is_double, rows * c.ld, &seed);
            check(&c);
        }
    for (size_t rows = 15; rows <= 17; rows++) {
        const size_t apart = (13u << 20) / size_of(c.is_double) / rows;
        place(&c, rows, 333, apart, GUARD_HIGH);
        for (size_t i = 0; i < rows; i++)
            fill_unit((char *)c.in + i * c.ld * size_of(c.is_double),
                      c.is_double, c.cols, &seed);
        check(&c);
    }
}

static void wide_columns_match(void)
{
    each_kernel(TAKT_KERNEL_KIND_columns, wide_of);
}

/* ---- special values --------------------------------------------------------
 */

/* Columns of two special values each, at any place of them. */
static void specials_of(const struct takt_kernel *kernel)
{
    struct axes_case c = case_of(kernel);

    for (size_t rows = 1; rows <= 19; rows += is_sanitized ? 6 : 1)
        for (size_t k = 0; k < specials; k++) {
            place(&c, rows, specials, 0, GUARD_HIGH);
            fill_special(c.in, c.is_double, rows * specials, 0);
            fill_special(c.bias, c.is_double, specials, 0);
            for (size_t j = 0; j < specials; j++) /* most cells are -0 */
                for (size_t i = 0; i < rows; i++)
                    if (i != j % rows)
                        put(c.in, c.is_double, i * specials + j,
                            i == k % rows ? special(c.is_double, k) : -0.0);
            check(&c);
        }
}

static void axes_treat_special_values_alike(void)
{
    each_of_both(specials_of);
}

/* ---- large sums ------------------------------------------------------------
 */

/* Sums that overflow on the way and come back, and those that cancel. */
static void large_of(const struct takt_kernel *kernel)
{
    struct axes_case c = case_of(kernel);
    const double large = largest_of(c.is_double) * 0.75;

    for (size_t rows = 2; rows <= 34; rows += 2) {
        place(&c, rows, 37, 0, GUARD_HIGH);
        for (size_t i = 0; i < rows; i++)
            for (size_t j = 0; j < c.cols; j++)
                put(c.in, c.is_double, i * c.cols + j,
                    (i < rows / 2 ? 1 : -1) * (j % 2 == 0 ? large : 1e10) +
                        (double)j);
        check(&c);
    }
}

static void column_sums_neither_overflow_nor_lose_digits(void)
{
    each_kernel(TAKT_KERNEL_KIND_columns, large_of);
}

int main(void)
{
    guard_watch();
    in_guard = guard_make(far_room);
    bias_guard = guard_make(room);
    out_guard = guard_make(room);
    want = malloc(room);
    REQUIRE(want != NULL);
    RUN_EACH_ISA(axes_match_at_every_size);
    RUN_EACH_ISA(wide_columns_match);
    RUN_EACH_ISA(axes_treat_special_values_alike);
    RUN_EACH_ISA(column_sums_neither_overflow_nor_lose_digits);
    free(want);
    tolerance_print();
    return tap_done();
}
