/* SPDX-License-Identifier: MIT */
/*
 * test_products.c - every matrix and matrix-vector kernel against sums in
 * twice the precision: transposes, gaps between rows, blocks smaller than the
 * matrices, scratch of exactly the size asked for.
 */
#define _GNU_SOURCE /* MAP_ANONYMOUS in guard.h */
#include "kernels/gemm_team.h"
#include "parity/kernels.h"

enum { room = 1 << 20, products = is_sanitized ? 120 : 500 };

static struct guard a_guard, b_guard, c_guard, scratch_guard;
static void *before; /* what C or y held */

struct product {
    const struct takt_kernel *kernel;
    bool is_double;
    bool a_is_transposed, b_is_transposed;
    enum guard_side side;
    struct takt_gemm gemm;
};

static size_t pick(uint64_t *seed, size_t low, size_t high)
{
    return low + random_next(seed) % (high - low + 1);
}

static double pick_factor(uint64_t *seed)
{
    return (double[]){0, 1, -1, 0.75, 1, 2}[random_next(seed) % 6];
}

/* ---- operands -------------------------------------------------------------
 */

static size_t span(size_t rows, size_t cols, size_t ld)
{
    return rows == 0 || cols == 0 ? 0 : (rows - 1) * ld + cols;
}

static void *matrix(const struct product *p, const struct guard *guard,
                    size_t elements, uint64_t *seed)
{
    void *at = guard_at(guard, p->side, elements * size_of(p->is_double), 0);

    fill_unit(at, p->is_double, elements, seed);
    return at;
}

static void place(struct product *p, size_t gap, uint64_t *seed)
{
    struct takt_gemm *g = &p->gemm;
    const size_t ld_a = (p->a_is_transposed ? g->m : g->k) + gap;
    const size_t ld_b = (p->b_is_transposed ? g->k : g->n) + gap;

    g->a_row = p->a_is_transposed ? 1 : ld_a;
    g->a_col = p->a_is_transposed ? ld_a : 1;
    g->b_row = p->b_is_transposed ? 1 : ld_b;
    g->b_col = p->b_is_transposed ? ld_b : 1;
    g->ldc = g->n + gap;
    g->a = matrix(p, &a_guard,
                  p->a_is_transposed ? span(g->k, g->m, ld_a)
                                     : span(g->m, g->k, ld_a),
                  seed);
    g->b = matrix(p, &b_guard,
                  p->b_is_transposed ? span(g->n, g->k, ld_b)
                                     : span(g->k, g->n, ld_b),
                  seed);
    g->c = matrix(p, &c_guard, span(g->m, g->n, g->ldc), seed);
}

/* ---- the exact results -----------------------------------------------------
 */

struct exact {
    double result, magnitude;
};

struct sum {
    double value, rest, sizes;
};

/* Products of floats are exact in doubles, and their sum nearly is. */
static struct sum sum_floats(const struct takt_gemm *g, size_t i, size_t j)
{
    const float *a = (const float *)g->a + i * g->a_row;
    const float *b = (const float *)g->b + j * g->b_col;
    struct sum s = {0, 0, 0};

    for (size_t q = 0; q < g->k; q++) {
        const double term = (double)a[q * g->a_col] * (double)b[q * g->b_row];
        s.value += term;
        s.sizes += fabs(term);
    }
    return s;
}

/* A sum with what rounding took from it and from its products, as exact as in
 * twice the precision. Not in long double, which 64-bit ARM does in software: a
 * hundred times slower in an emulator. */
static struct sum sum_doubles(const struct takt_gemm *g, size_t i, size_t j)
{
    const double *a = (const double *)g->a + i * g->a_row;
    const double *b = (const double *)g->b + j * g->b_col;
    struct sum s = {0, 0, 0};

    for (size_t q = 0; q < g->k; q++) {
        const double one = a[q * g->a_col], other = b[q * g->b_row];
        const double term = one * other, next = s.value + term;
        const double part = next - s.value;
        s.rest +=
            fma(one, other, -term) + (s.value - (next - part)) + (term - part);
        s.value = next;
        s.sizes += fabs(term);
    }
    if (!isfinite(s.value))
        s.rest = 0;
    return s;
}

static struct exact exact_at(const struct product *p, size_t i, size_t j)
{
    const struct takt_gemm *g = &p->gemm;
    struct sum s = {0, 0, 0};

    if (g->alpha != 0)
        s = p->is_double ? sum_doubles(g, i, j) : sum_floats(g, i, j);
    long double result =
        ((long double)s.value + (long double)s.rest) * (long double)g->alpha;
    double sizes = s.sizes * fabs(g->alpha);
    if (g->beta != 0) {
        const double old = get(before, p->is_double, i * g->ldc + j);
        result += (long double)g->beta * (long double)old;
        sizes += fabs(g->beta * old);
    }
    return (struct exact){(double)result, sizes};
}

static void compare_at(const struct product *p, const char *op, size_t i,
                       size_t j)
{
    const struct takt_gemm *g = &p->gemm;
    const double got = get(g->c, p->is_double, i * g->ldc + j);
    const struct exact exact = exact_at(p, i, j);
    const double allowed =
        tolerance_sum(tolerance_find(op), p->is_double, exact.magnitude, g->k);

    tolerance_note(op, isa_name(p->kernel->isa), p->is_double,
                   fabs(got - exact.result), allowed);
    TAP_CHECK(is_near(got, exact.result, allowed, p->is_double),
              "%s: (%zu, %zu) is %.9g, not %.9g", guard_doing, i, j, got,
              exact.result);
}

static void compare(const struct product *p, const char *op)
{
    const struct takt_gemm *g = &p->gemm;
    const int failures = tap_failures;

    for (size_t i = 0; i < g->m && tap_failures == failures; i++)
        for (size_t j = 0; j < g->ldc && tap_failures == failures; j++)
            if (j < g->n)
                compare_at(p, op, i, j);
            else if (i + 1 < g->m && g->n > 0)
                TAP_CHECK(same_bits(g->c, before, p->is_double, i * g->ldc + j),
                          "%s: wrote between rows", guard_doing);
}

/* ---- gemm ------------------------------------------------------------------
 */

static void name_it(const struct product *p, const char *op)
{
    const struct takt_gemm *g = &p->gemm;

    DOING("%s %s %s, %zu x %zu x %zu%s%s, ldc %zu, alpha %g, beta %g", op,
          p->is_double ? "f64" : "f32", isa_name(p->kernel->isa), g->m, g->n,
          g->k, p->a_is_transposed ? ", A'" : "",
          p->b_is_transposed ? ", B'" : "", g->ldc, g->alpha, g->beta);
}

/* C keeps its old numbers, or NaN where it must not be read. */
static void keep_c(const struct product *p)
{
    const struct takt_gemm *g = &p->gemm;
    const size_t n = span(g->m, g->n, g->ldc);

    for (size_t i = 0; i < n && g->beta == 0; i++)
        put(g->c, p->is_double, i, NAN);
    memcpy(before, g->c, n * size_of(p->is_double));
}

static void run_gemm(const struct product *p, const struct takt_gemm_caches *of)
{
    const struct takt_gemm_kernels *kernels = p->kernel->run.gemm;
    struct takt_gemm_blocks blocks;

    kernels->tune(of, &blocks);
    const size_t bytes = kernels->room(&p->gemm, &blocks);
    void *scratch = bytes == 0 ? NULL
                               : guard_at(&scratch_guard, p->side, bytes,
                                          p->side == GUARD_HIGH ? 0 : 4);
    if (scratch != NULL)
        guard_paint(&scratch_guard, scratch, bytes);
    kernels->run(&p->gemm, &blocks, scratch);
    if (scratch != NULL)
        TAP_CHECK(guard_is_whole(&scratch_guard, scratch, bytes),
                  "%s: wrote outside its scratch", guard_doing);
}

static void check_gemm(struct product *p, const struct takt_gemm_caches *caches)
{
    struct takt_gemm *g = &p->gemm;
    const size_t bytes = span(g->m, g->n, g->ldc) * size_of(p->is_double);

    if (g->alpha == 0 || g->k == 0) /* pages that fault when read */
        g->a = a_guard.low - 64, g->b = b_guard.low - 64;
    guard_paint(&c_guard, g->c, 0);
    if (p->side == GUARD_LOW)
        memset((char *)g->c + bytes, guard_pattern, guard_margin);
    keep_c(p);
    name_it(p, "matmul");
    run_gemm(p, caches);
    TAP_CHECK(guard_is_whole(&c_guard, g->c, bytes), "%s: wrote outside",
              guard_doing);
    compare(p, "matmul");
}

static struct product random_product(const struct takt_kernel *kernel, size_t k,
                                     uint64_t *seed)
{
    const size_t most = k % 5 == 0 ? 130 : 40;
    struct product p = {.kernel = kernel,
                        .is_double = kernel->dtype == TAKT_KERNEL_f64,
                        .a_is_transposed = (k & 1) != 0,
                        .b_is_transposed = (k & 2) != 0,
                        .side = (enum guard_side)(k >> 2 & 1)};

    p.gemm = (struct takt_gemm){.m = pick(seed, k % 17 == 0 ? 0 : 1, most),
                                .n = pick(seed, k % 19 == 0 ? 0 : 1, most),
                                .k = pick(seed, k % 23 == 0 ? 0 : 1, most),
                                .alpha = pick_factor(seed),
                                .beta = pick_factor(seed)};
    place(&p, k % 3 == 0 ? 3 : 0, seed);
    return p;
}

/* Tiny caches make small matrices take many blocks. */
static void gemms_of(const struct takt_kernel *kernel)
{
    static const struct takt_gemm_caches caches[] = {
        {0, 0, 0},
        {1 << 15, 1 << 20, 1 << 24},
        {1024, 2048, 4096},
        {256, 512, 1024}};
    uint64_t seed = 1;

    for (size_t k = 0; k < products; k++) {
        struct product p = random_product(kernel, k, &seed);
        check_gemm(&p, &caches[k % 4]);
    }
}

static void products_are_right_for_every_shape(void)
{
    each_kernel(TAKT_KERNEL_KIND_gemm, gemms_of);
}

/* All sizes around the tiles, without gaps. */
static void small_gemms_of(const struct takt_kernel *kernel)
{
    static const size_t sizes[] = {1, 2, 3, 5, 7, 8, 9, 15, 16, 17, 31, 33, 64};
    const size_t count = sizeof sizes / sizeof sizes[0];
    const size_t step = is_sanitized ? 5 : 1;
    uint64_t seed = 2;

    for (size_t k = 0; k < count * count * count; k += step) {
        struct product p = {.kernel = kernel,
                            .is_double = kernel->dtype == TAKT_KERNEL_f64,
                            .side = GUARD_HIGH};
        p.gemm = (struct takt_gemm){.m = sizes[k % count],
                                    .n = sizes[k / count % count],
                                    .k = sizes[k / count / count],
                                    .alpha = 1,
                                    .beta = 0};
        place(&p, 0, &seed);
        check_gemm(&p, &(struct takt_gemm_caches){0, 0, 0});
    }
}

static void small_products_are_right(void)
{
    each_kernel(TAKT_KERNEL_KIND_gemm, small_gemms_of);
}

/* A NaN or infinity reaches its row or column, and nothing else. */
static void special_gemms_of(const struct takt_kernel *kernel)
{
    uint64_t seed = 3;

    for (size_t k = 0; k < specials * 4; k++) {
        struct product p = random_product(kernel, 4 * k + 1, &seed);
        struct takt_gemm *g = &p.gemm;
        if (g->m == 0 || g->n == 0 || g->k == 0)
            continue;
        g->alpha = 1;
        put((void *)(uintptr_t)g->a, p.is_double,
            pick(&seed, 0, g->m - 1) * g->a_row +
                pick(&seed, 0, g->k - 1) * g->a_col,
            special(p.is_double, k));
        if (k % 3 == 0)
            put((void *)(uintptr_t)g->b, p.is_double,
                pick(&seed, 0, g->k - 1) * g->b_row +
                    pick(&seed, 0, g->n - 1) * g->b_col,
                special(p.is_double, k / 3));
        check_gemm(&p, &(struct takt_gemm_caches){1024, 2048, 4096});
    }
}

static void products_treat_special_values_alike(void)
{
    each_kernel(TAKT_KERNEL_KIND_gemm, special_gemms_of);
}

/* ---- gemv ------------------------------------------------------------------
 */

/* A gemv is a gemm with one column; x_step and y_step are its strides. */
static void check_gemv(struct product *p)
{
    struct takt_gemm *g = &p->gemm;
    const size_t bytes = span(g->m, 1, g->ldc) * size_of(p->is_double);
    const struct takt_gemv gemv = {
        .m = g->m,
        .n = g->k,
        .a = g->alpha == 0 ? a_guard.low - 64 : g->a,
        .a_row = g->a_row,
        .a_col = g->a_col,
        .x = g->alpha == 0 ? b_guard.low - 64 : g->b,
        .x_step = g->b_row,
        .y = g->c,
        .y_step = g->ldc,
        .alpha = g->alpha,
        .beta = g->beta,
    };

    if (p->side == GUARD_LOW)
        memset((char *)g->c + bytes, guard_pattern, guard_margin);
    else
        memset((char *)g->c - guard_margin, guard_pattern, guard_margin);
    keep_c(p);
    name_it(p, "gemv");
    p->kernel->run.gemm->gemv(&gemv);
    TAP_CHECK(guard_is_whole(&c_guard, g->c, bytes), "%s: wrote outside",
              guard_doing);
    compare(p, "gemv");
}

static void gemvs_of(const struct takt_kernel *kernel)
{
    uint64_t seed = 4;

    for (size_t k = 0; k < 3 * products; k++) {
        struct product p = {.kernel = kernel,
                            .is_double = kernel->dtype == TAKT_KERNEL_f64,
                            .a_is_transposed = (k & 1) != 0,
                            .side = (enum guard_side)(k >> 1 & 1)};
        p.gemm = (struct takt_gemm){.m = pick(&seed, k % 11 == 0 ? 0 : 1, 150),
                                    .n = 1,
                                    .k = pick(&seed, k % 13 == 0 ? 0 : 1, 150),
                                    .alpha = pick_factor(&seed),
                                    .beta = pick_factor(&seed)};
        place(&p, k % 3 == 0 ? 2 : 0, &seed);
        if (k % 7 == 0 && p.gemm.alpha != 0 && p.gemm.m * p.gemm.k > 0)
            put((void *)(uintptr_t)p.gemm.a, p.is_double,
                pick(&seed, 0, p.gemm.m - 1) * p.gemm.a_row +
                    pick(&seed, 0, p.gemm.k - 1) * p.gemm.a_col,
                special(p.is_double, k));
        check_gemv(&p);
    }
}

static void matrix_vector_products_are_right(void)
{
    each_kernel(TAKT_KERNEL_KIND_gemm, gemvs_of);
}

/* ---- teams -----------------------------------------------------------------
 */

/* Whichever members come, one after the other, they do all of it. */
static void run_team(const struct product *p, const struct takt_gemm_caches *of,
                     unsigned threads)
{
    const struct takt_gemm_kernels *kernels = p->kernel->run.gemm;
    struct takt_gemm_blocks blocks;

    kernels->tune(of, &blocks);
    const struct takt_gemm_plan plan =
        takt__gemm_plan(&p->gemm, kernels, &blocks, threads);
    const size_t bytes = takt__gemm_team_room(&plan, threads);
    void *scratch = guard_at(&scratch_guard, p->side, bytes, 0);
    guard_paint(&scratch_guard, scratch, bytes);
    struct takt_gemm_team *team = takt__gemm_team_open(
        &p->gemm, kernels, &blocks, &plan, threads, scratch);
    takt__gemm_team_work(team, threads - 1);
    takt__gemm_team_work(team, threads / 2);
    TAP_CHECK(guard_is_whole(&scratch_guard, scratch, bytes),
              "%s: wrote outside its scratch", guard_doing);
}

static void teams_of(const struct takt_kernel *kernel)
{
    static const struct takt_gemm_caches caches[] = {
        {0, 0, 0}, {1024, 2048, 4096}, {256, 512, 1024}, {512, 1 << 16, 256}};
    uint64_t seed = 5;

    for (size_t k = 0; k < products; k++) {
        struct product p =
            random_product(kernel, k % 2 == 0 ? k : 5 * k, &seed);
        if (p.gemm.m == 0 || p.gemm.n == 0)
            continue;
        guard_paint(&c_guard, p.gemm.c, 0);
        keep_c(&p);
        name_it(&p, "matmul by a team");
        run_team(&p, &caches[k % 4], 1 + (unsigned)(k % 17));
        compare(&p, "matmul");
    }
}

static void teams_make_the_product(void)
{
    each_kernel(TAKT_KERNEL_KIND_gemm, teams_of);
}

int main(void)
{
    guard_watch();
    a_guard = guard_make(room);
    b_guard = guard_make(room);
    c_guard = guard_make(room);
    scratch_guard = guard_make(64 * room);
    before = malloc(room);
    REQUIRE(before != NULL);
    RUN_EACH_ISA(products_are_right_for_every_shape);
    RUN_EACH_ISA(small_products_are_right);
    RUN_EACH_ISA(products_treat_special_values_alike);
    RUN_EACH_ISA(matrix_vector_products_are_right);
    RUN_EACH_ISA(teams_make_the_product);
    tolerance_print();
    free(before);
    return tap_done();
}
