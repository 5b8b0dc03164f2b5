/* SPDX-License-Identifier: MIT */
/*
 * test_reductions.c - every reduction kernel against sums in long double, and
 * against its definition where numbers are not finite.
 */
#define _GNU_SOURCE /* MAP_ANONYMOUS in guard.h */
#include "kernels/partial.h"
#include "parity/kernels.h"

enum { most = 20011, longest = 150 };

static struct guard a_guard, b_guard;

struct reduce_case {
    const struct takt_kernel *kernel;
    const struct takt_kernel *scalar;
    const struct takt_tolerance *tolerance;
    enum takt_partial_kind kind;
    bool is_double, is_dot;
    size_t n;
    void *a, *b;
};

static enum takt_partial_kind kind_of(const char *op)
{
    static const struct {
        const char *op;
        enum takt_partial_kind kind;
    } rows[] = {
        {"sum", TAKT_PARTIAL_SUM},       {"dot", TAKT_PARTIAL_SUM},
        {"norm1", TAKT_PARTIAL_SUM},     {"mean", TAKT_PARTIAL_MEAN},
        {"norm2", TAKT_PARTIAL_NORM2},   {"variance", TAKT_PARTIAL_VARIANCE},
        {"max", TAKT_PARTIAL_MAX},       {"min", TAKT_PARTIAL_MIN},
        {"argmax", TAKT_PARTIAL_ARGMAX}, {"argmin", TAKT_PARTIAL_ARGMIN},
    };

    size_t i = 0;

    while (i < sizeof rows / sizeof rows[0] && strcmp(rows[i].op, op) != 0)
        i++;
    REQUIRE(i < sizeof rows / sizeof rows[0]); /* else add the new one */
    return rows[i].kind;
}

static struct reduce_case case_of(const struct takt_kernel *kernel)
{
    struct reduce_case c = {
        .kernel = kernel,
        .scalar = kernel_of(TAKT_KERNEL_scalar, TAKT_KERNEL_KIND_reduce,
                            kernel->op, kernel->dtype),
        .tolerance = tolerance_find(kernel->op),
        .kind = kind_of(kernel->op),
        .is_double = kernel->dtype == TAKT_KERNEL_f64,
        .is_dot = strcmp(kernel->op, "dot") == 0,
    };
    REQUIRE(c.scalar != NULL && c.tolerance != NULL);
    return c;
}

static void place(struct reduce_case *c, size_t n, enum guard_side side,
                  size_t away)
{
    const size_t bytes = n * size_of(c->is_double);

    c->n = n;
    c->a = guard_at(&a_guard, side, bytes, away);
    c->b = c->is_dot ? guard_at(&b_guard, side, bytes, 0) : NULL;
}

static void fill(const struct reduce_case *c, double offset, uint64_t *seed)
{
    for (size_t i = 0; i < c->n; i++)
        put(c->a, c->is_double, i, offset + 2 * random_unit(seed) - 1);
    if (c->is_dot)
        fill_unit(c->b, c->is_double, c->n, seed);
}

/* ---- the exact results ----------------------------------------------------
 */

struct sum {
    long double value, rest;
};

static void add(struct sum *sum, long double x)
{
    const long double next = sum->value + x;
    const long double part = next - sum->value;

    sum->rest += (sum->value - (next - part)) + (x - part);
    sum->value = next;
}

static long double total(struct sum sum)
{
    return sum.value + sum.rest;
}

struct exact {
    double result, magnitude; /* of what is added up */
};

static long double term(const struct reduce_case *c, size_t i)
{
    const long double x = get(c->a, c->is_double, i);

    if (c->is_dot)
        return x * (long double)get(c->b, c->is_double, i);
    if (strcmp(c->kernel->op, "norm1") == 0)
        return fabsl(x);
    return c->kind == TAKT_PARTIAL_NORM2 ? x * x : x;
}

/* The magnitude, of which a few digits count, is added up in double: 64-bit ARM
 * does long double in software. */
static struct exact exact_sum(const struct reduce_case *c)
{
    struct sum sum = {0, 0};
    const long double by =
        c->kind == TAKT_PARTIAL_MEAN ? (long double)c->n : 1.0L;
    const double share = 1 / (double)by;
    double magnitude = 0;

    for (size_t i = 0; i < c->n; i++) {
        const long double x = term(c, i);
        add(&sum, x);
        magnitude += fabs((double)x) * share;
    }
    if (c->kind == TAKT_PARTIAL_NORM2)
        return (struct exact){(double)sqrtl(total(sum)), 0};
    return (struct exact){(double)(total(sum) / by), magnitude};
}

static struct exact exact_variance(const struct reduce_case *c)
{
    struct sum sum = {0, 0}, around = {0, 0};

    for (size_t i = 0; i < c->n; i++)
        add(&sum, term(c, i));
    const long double mean = total(sum) / (long double)c->n;
    for (size_t i = 0; i < c->n; i++) {
        const long double apart = term(c, i) - mean;
        add(&around, apart * apart);
    }
    return (struct exact){(double)(total(around) / (long double)c->n), 0};
}

/* ---- running and comparing ------------------------------------------------
 */

static double finish(const struct reduce_case *c,
                     const struct takt_partial *partial)
{
    const double result = takt__partial_finish(c->kind, partial);

    return c->is_double ? result : (double)(float)result;
}

static struct takt_partial reduce(const struct takt_kernel *kernel,
                                  const struct reduce_case *c)
{
    struct takt_partial partial;

    memset(&partial, guard_pattern, sizeof partial);
    kernel->run.reduce(c->n, c->a, c->b, &partial);
    EXPECT_INT(partial.count, c->n);
    return partial;
}

/* The same in `parts` stretches, as threads would. */
static struct takt_partial reduce_in(unsigned parts,
                                     const struct reduce_case *c)
{
    struct takt_partial all = {.count = 0};
    struct reduce_case piece = *c;
    const size_t size = size_of(c->is_double);

    for (unsigned k = 0; k < parts; k++) {
        const size_t from = c->n * k / parts, to = c->n * (k + 1) / parts;
        if (from == to)
            continue;
        piece.n = to - from;
        piece.a = (char *)c->a + from * size;
        piece.b = c->is_dot ? (char *)c->b + from * size : NULL;
        const struct takt_partial part = reduce(c->kernel, &piece);
        takt__partial_merge(c->kind, &all, &part);
    }
    return all;
}

static double allowed(const struct reduce_case *c, struct exact exact)
{
    const double eps = eps_of(c->is_double);
    const double least = 2 * smallest_of(c->is_double);

    if (c->tolerance->of == TAKT_ACCURACY_VALUE)
        return 0;
    if (c->tolerance->of == TAKT_ACCURACY_RESULT)
        return c->tolerance->units * eps * fabs(exact.result) + least;
    return c->tolerance->units * eps * exact.magnitude + least;
}

static struct exact exact_of(const struct reduce_case *c)
{
    if (c->tolerance->of == TAKT_ACCURACY_VALUE) {
        const struct takt_partial scalar = reduce(c->scalar, c);
        return (struct exact){finish(c, &scalar), 0};
    }
    return c->kind == TAKT_PARTIAL_VARIANCE ? exact_variance(c) : exact_sum(c);
}

static void check(const struct reduce_case *c, unsigned parts)
{
    DOING("%s %s %s, n %zu in %u parts", c->kernel->op,
          c->is_double ? "f64" : "f32", isa_name(c->kernel->isa), c->n, parts);
    const struct exact exact = exact_of(c);
    const struct takt_partial partial =
        parts == 1 ? reduce(c->kernel, c) : reduce_in(parts, c);
    const double got = finish(c, &partial);

    tolerance_note(c->kernel->op, isa_name(c->kernel->isa), c->is_double,
                   fabs(got - exact.result), allowed(c, exact));
    TAP_CHECK(is_near(got, exact.result, allowed(c, exact), c->is_double),
              "%s: %.17g, not %.17g, off by %g of what is allowed", guard_doing,
              got, exact.result, fabs(got - exact.result) / allowed(c, exact));
}

/* ---- tests ----------------------------------------------------------------
 */

static void lengths_of(const struct takt_kernel *kernel)
{
    static const size_t more[] = {251, 1021, 2048, 4099, 8191, 8193, most};
    struct reduce_case c = case_of(kernel);
    uint64_t seed = 1;

    for (size_t i = 1; i <= longest + 7; i += case_step())
        for (int side = GUARD_LOW; side < GUARD_SIDES; side++) {
            const size_t n = i <= longest ? i : more[i - longest - 1];
            place(&c, n, (enum guard_side)side, 0);
            fill(&c, side == GUARD_LOW ? 0 : 1.5, &seed);
            check(&c, 1);
        }
}

static void reductions_are_right_at_every_length(void)
{
    each_kernel(TAKT_KERNEL_KIND_reduce, lengths_of);
}

static void alignments_of(const struct takt_kernel *kernel)
{
    static const size_t lengths[] = {1, 7, 33, 131, 517, 2053};
    struct reduce_case c = case_of(kernel);
    const size_t size = size_of(c.is_double);
    uint64_t seed = 2;

    for (size_t off = 1; off < 64 / size; off += case_step())
        for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
            place(&c, lengths[i], GUARD_LOW, off * size);
            fill(&c, 0, &seed);
            check(&c, 1);
        }
}

static void reductions_are_right_at_every_alignment(void)
{
    each_kernel(TAKT_KERNEL_KIND_reduce, alignments_of);
}

static void merges_of(const struct takt_kernel *kernel)
{
    struct reduce_case c = case_of(kernel);
    uint64_t seed = 3;

    for (unsigned parts = 2; parts <= 5; parts++)
        for (size_t n = 1; n < most; n = n * 3 + 1) {
            place(&c, n, GUARD_HIGH, 0);
            fill(&c, 0, &seed);
            check(&c, parts);
        }
}

static void stretches_merge_without_loss(void)
{
    each_kernel(TAKT_KERNEL_KIND_reduce, merges_of);
}

/* Nearly everything cancels, so only a compensated sum is near. */
static void cancelling_of(const struct takt_kernel *kernel)
{
    struct reduce_case c = case_of(kernel);
    uint64_t seed = 4;

    if (c.tolerance->of != TAKT_ACCURACY_MAGNITUDE)
        return;
    place(&c, 8192, GUARD_HIGH, 0);
    for (size_t i = 0; i < c.n; i += 2) {
        const double x = random_real(&seed, -5, 5);
        put(c.a, c.is_double, i, x);
        put(c.a, c.is_double, i + 1, -x * (1 + 1e-6));
    }
    if (c.is_dot)
        for (size_t i = 0; i < c.n; i++)
            put(c.b, c.is_double, i, 1);
    check(&c, 1);
    check(&c, 4);
}

static void sums_that_cancel_stay_accurate(void)
{
    each_kernel(TAKT_KERNEL_KIND_reduce, cancelling_of);
}

/* Squares that leave the range of the dtype. */
static void ranges_of(const struct takt_kernel *kernel)
{
    struct reduce_case c = case_of(kernel);
    const double scales[] = {c.is_double ? 1e200 : 1e30,
                             c.is_double ? 1e-200 : 1e-30,
                             c.is_double ? 1e-310 : 1e-40};
    uint64_t seed = 5;

    if (c.kind != TAKT_PARTIAL_NORM2)
        return;
    for (int k = 0; k < 3; k++)
        for (size_t n = 1; n < 400; n += 7) {
            place(&c, n, GUARD_HIGH, 0);
            fill(&c, 0, &seed);
            for (size_t i = 0; i < n; i++)
                put(c.a, c.is_double, i, get(c.a, c.is_double, i) * scales[k]);
            check(&c, 1);
            check(&c, 3);
        }
}

static void norms_neither_overflow_nor_underflow(void)
{
    each_kernel(TAKT_KERNEL_KIND_reduce, ranges_of);
}

/* What has no exact result must be what scalar says. */
static void check_special(const struct reduce_case *c)
{
    const struct takt_partial scalar = reduce(c->scalar, c);
    const struct takt_partial partial = reduce(c->kernel, c);
    const double want = finish(c, &scalar), got = finish(c, &partial);

    if (isfinite(want) && want != 0 && c->tolerance->of != TAKT_ACCURACY_VALUE)
        check(c, 1);
    else
        TAP_CHECK(same_value(got, want), "%s: %g, not %g", guard_doing, got,
                  want);
}

static void specials_of(const struct takt_kernel *kernel)
{
    struct reduce_case c = case_of(kernel);
    uint64_t seed = 6;

    for (size_t n = 1; n < 600; n = n * 5 / 4 + 1)
        for (size_t k = 0; k < specials * 4; k += case_step()) {
            const size_t at = random_next(&seed) % n;
            const size_t other = random_next(&seed) % n;
            place(&c, n, GUARD_HIGH, 0);
            fill(&c, 0, &seed);
            put(c.a, c.is_double, at, special(c.is_double, k));
            if (k >= specials)
                put(c.a, c.is_double, other, special(c.is_double, k / 4 * 7));
            DOING("%s %s %s, n %zu, %g at %zu, %g at %zu", c.kernel->op,
                  c.is_double ? "f64" : "f32", isa_name(c.kernel->isa), n,
                  special(c.is_double, k), at,
                  k < specials ? 0 : special(c.is_double, k / 4 * 7), other);
            check_special(&c);
        }
}

static void zeros_of(const struct takt_kernel *kernel)
{
    struct reduce_case c = case_of(kernel);
    uint64_t seed = 7;

    for (size_t n = 1; n < 300; n = n * 4 / 3 + 1)
        for (int k = 0; k < 6; k++) {
            place(&c, n, GUARD_HIGH, 0);
            if (c.is_dot)
                fill_unit(c.b, c.is_double, n, &seed);
            for (size_t i = 0; i < n; i++) {
                const bool minus = k == 0 || (k > 1 && random_next(&seed) % 2);
                put(c.a, c.is_double, i, minus ? -0.0 : 0.0);
            }
            DOING("%s %s %s of %zu zeros", c.kernel->op,
                  c.is_double ? "f64" : "f32", isa_name(c.kernel->isa), n);
            check_special(&c);
        }
}

static void reductions_treat_special_values_alike(void)
{
    each_kernel(TAKT_KERNEL_KIND_reduce, specials_of);
    each_kernel(TAKT_KERNEL_KIND_reduce, zeros_of);
}

int main(void)
{
    guard_watch();
    a_guard = guard_make(most * sizeof(double) + 4096);
    b_guard = guard_make(most * sizeof(double) + 4096);
    RUN_EACH_ISA(reductions_are_right_at_every_length);
    RUN_EACH_ISA(reductions_are_right_at_every_alignment);
    RUN_EACH_ISA(stretches_merge_without_loss);
    RUN_EACH_ISA(sums_that_cancel_stay_accurate);
    RUN_EACH_ISA(norms_neither_overflow_nor_underflow);
    RUN_EACH_ISA(reductions_treat_special_values_alike);
    tolerance_print();
    return tap_done();
}
