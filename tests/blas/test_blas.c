/* SPDX-License-Identifier: MIT */
/*
 * test_blas.c - every BLAS library of this machine against a plain loop.
 *
 * Tested are the libraries that takt__blas_open_all() finds, Debian's other
 * builds of them where they are installed, a shared libxsmm made here from
 * Debian's static one, and a small library of our own that has C names only.
 * `test_blas FILE...` adds further files.
 */
#define _GNU_SOURCE /* RTLD_NOLOAD */
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "blas/blas.h"
#include "support/random.h"
#include "support/tap.h"
#include "support/tolerance.h"

/* The sanitizers look these up in the running program. */
#define SEEN __attribute__((visibility("default")))

enum { max_libraries = 16, threads_lent = 2 };

/* Sanitizers do not see how the threads of a library wait for each other. */
SEEN const char *__tsan_default_suppressions(void);
const char *__tsan_default_suppressions(void)
{
    return "race:libopenblas\nrace:libblis\nrace:libgomp\n";
}

/* Nor do they expect threads in a child. */
SEEN const char *__tsan_default_options(void);
const char *__tsan_default_options(void)
{
    return "die_after_fork=0";
}

/* LeakSanitizer dies on the threads of a libgomp that was loaded late. */
SEEN int __lsan_is_turned_off(void);
int __lsan_is_turned_off(void)
{
    return dlopen("libgomp.so.1", RTLD_NOW | RTLD_NOLOAD) != NULL;
}

static struct takt_blas libraries[max_libraries];
static size_t library_count;
static char folder[] = "/tmp/takt-test-blas-XXXXXX";

/* ---- numbers of either dtype --------------------------------------------- */

static void put(void *array, size_t size, size_t i, double number)
{
    if (size == sizeof(float))
        ((float *)array)[i] = (float)number;
    else
        ((double *)array)[i] = number;
}

static double get(const void *array, size_t size, size_t i)
{
    return size == sizeof(float) ? (double)((const float *)array)[i]
                                 : ((const double *)array)[i];
}

static void *numbers(size_t size, size_t count, uint64_t *seed)
{
    void *array = malloc(size * count);
    REQUIRE(array != NULL);
    for (size_t i = 0; i < count; i++)
        put(array, size, i, 2 * random_unit(seed) - 1);
    return array;
}

static void *copy_of(const void *array, size_t bytes)
{
    void *copy = malloc(bytes);
    REQUIRE(copy != NULL);
    return memcpy(copy, array, bytes);
}

static double tolerance(size_t size, size_t terms)
{
    return (double)(terms + 4) * (size == sizeof(float) ? 0x1p-22 : 0x1p-51);
}

static bool is_close(double got, double want, double allowed)
{
    return fabs(got - want) <= allowed * 4;
}

/* Between rows nothing may change, not even a NaN. */
static bool is_same(const void *a, const void *b, size_t size, size_t i)
{
    return memcmp((const char *)a + i * size, (const char *)b + i * size,
                  size) == 0;
}

/* ---- one product, checked ------------------------------------------------ */

struct problem {
    size_t m, n, k;
    bool a_trans, b_trans;
    size_t gap; /* elements between rows */
    double alpha, beta;
};

static struct takt_gemm gemm_of(struct problem p)
{
    const size_t lda = (p.a_trans ? p.m : p.k) + p.gap;
    const size_t ldb = (p.b_trans ? p.k : p.n) + p.gap;

    return (struct takt_gemm){.m = p.m,
                              .n = p.n,
                              .k = p.k,
                              .a_row = p.a_trans ? 1 : lda,
                              .a_col = p.a_trans ? lda : 1,
                              .b_row = p.b_trans ? 1 : ldb,
                              .b_col = p.b_trans ? ldb : 1,
                              .ldc = p.n + p.gap,
                              .alpha = p.alpha,
                              .beta = p.beta};
}

static double product_at(const struct takt_gemm *g, size_t size, size_t i,
                         size_t j)
{
    double sum = 0;
    for (size_t q = 0; q < g->k; q++)
        sum += get(g->a, size, i * g->a_row + q * g->a_col) *
               get(g->b, size, q * g->b_row + j * g->b_col);
    return sum;
}

static size_t count_wrong(const struct takt_gemm *g, size_t size,
                          const void *before)
{
    const double allowed = tolerance(size, g->k);
    size_t wrong = 0;

    for (size_t i = 0; i < g->m; i++) {
        for (size_t j = 0; j < g->ldc; j++) {
            const size_t at = i * g->ldc + j;
            if (j >= g->n) {
                wrong += !is_same(g->c, before, size, at);
                continue;
            }
            double want = g->alpha * product_at(g, size, i, j);
            if (g->beta != 0)
                want += g->beta * get(before, size, at);
            wrong += !is_close(get(g->c, size, at), want, allowed);
        }
    }
    return wrong;
}

static bool run_and_check(struct takt_blas *blas, size_t size, unsigned threads,
                          struct problem p)
{
    uint64_t seed = p.m + 100 * p.n + 10000 * p.k;
    struct takt_gemm g = gemm_of(p);
    const size_t c_count = p.m * g.ldc;
    void *a = numbers(size, (p.m + p.gap) * (p.k + p.gap), &seed);
    void *b = numbers(size, (p.k + p.gap) * (p.n + p.gap), &seed);
    void *c = numbers(size, c_count, &seed);
    for (size_t i = 0; i < c_count && p.beta == 0; i++)
        put(c, size, i, NAN);
    void *before = copy_of(c, c_count * size);

    g.a = a;
    g.b = b;
    g.c = c;
    const bool has_run = takt__blas_gemm(blas, size, threads, &g);
    const size_t wrong = has_run ? count_wrong(&g, size, before) : 0;
    TAP_CHECK(has_run || memcmp(c, before, c_count * size) == 0,
              "%s refused and touched the result", blas->name);
    TAP_CHECK(wrong == 0,
              "%s: %zu wrong in f%zu %zux%zux%zu %c%c gap %zu alpha %g beta %g",
              blas->name, wrong, 8 * size, p.m, p.n, p.k, p.a_trans ? 'T' : 'N',
              p.b_trans ? 'T' : 'N', p.gap, p.alpha, p.beta);
    free(a);
    free(b);
    free(c);
    free(before);
    return has_run;
}

static bool is_xsmm(const struct takt_blas *blas)
{
    return strstr(blas->path, "xsmm") != NULL;
}

/* Small products of floats: BLIS would read past their operands. Products with
 * a vector: it loses NaN. */
static bool is_refused_to_blis(const struct takt_blas *blas, size_t size,
                               struct problem p)
{
    if (strstr(blas->path, "blis") == NULL)
        return false;
    return p.m == 1 || p.n == 1 || p.k == 1 ||
           (size == sizeof(float) && (p.m < 512 || p.n < 512 || p.k < 512));
}

/* libxsmm has none, and BLIS's loses a NaN beside a zero. */
static bool has_gemv(const struct takt_blas *blas)
{
    return !is_xsmm(blas) && strstr(blas->path, "blis") == NULL;
}

/* libxsmm may refuse: it has room for so many shapes. */
static size_t run_expected(struct takt_blas *blas, size_t size,
                           unsigned threads, struct problem p)
{
    const bool has_run = run_and_check(blas, size, threads, p);
    if (is_refused_to_blis(blas, size, p)) {
        TAP_CHECK(!has_run, "%s ran %zux%zux%zu", blas->name, p.m, p.n, p.k);
        return 0;
    }
    TAP_CHECK(has_run || is_xsmm(blas), "%s refused %zux%zux%zu", blas->name,
              p.m, p.n, p.k);
    return has_run;
}

static const struct {
    double alpha, beta;
} factors[] = {{1, 0}, {1, 1}, {-0.5, 2}, {3, 0}};
enum { factor_count = sizeof factors / sizeof factors[0] };

static size_t run_variants(struct takt_blas *blas, unsigned threads,
                           struct problem p)
{
    size_t runs = 0;

    /* Fewer on several threads: see call_at_once(). */
    const unsigned step = threads > 1 || is_sanitized ? 5 : 1;

    for (unsigned v = 0; v < 8 * factor_count; v += step) {
        p.a_trans = (v & 1) != 0;
        p.b_trans = (v & 2) != 0;
        p.alpha = factors[v / 8].alpha;
        p.beta = factors[v / 8].beta;
        runs += run_expected(blas, (v & 4) != 0 ? 8 : 4, threads, p);
    }
    return runs;
}

#define FOR_EACH_LIBRARY(blas)                                                 \
    for (struct takt_blas *blas = libraries; blas < libraries + library_count; \
         blas++)

static void skip_without_libraries(void)
{
    if (library_count == 0)
        SKIP("no BLAS library is installed");
}

/* ---- right answers ------------------------------------------------------- */

static void small_products_agree_with_a_plain_loop(void)
{
    uint64_t seed = 1;

    FOR_EACH_LIBRARY(blas)
    {
        size_t runs = 0;
        for (size_t m = 1; m <= 40; m++) {
            const struct problem p = {.m = m,
                                      .n = 1 + random_next(&seed) % 40,
                                      .k = 1 + random_next(&seed) % 40,
                                      .gap = m % 3};
            runs += run_variants(blas, 1, p);
        }
        EXPECT(runs > 0);
        printf("# %-9s %zu products, %s\n", blas->name, runs, blas->path);
    }
    skip_without_libraries();
}

static void large_products_agree_on_any_number_of_threads(void)
{
    static const struct problem large[] = {{.m = 131, .n = 97, .k = 83},
                                           {.m = 3, .n = 300, .k = 300},
                                           {.m = 300, .n = 5, .k = 200},
                                           {.m = 150, .n = 160, .k = 1},
                                           {.m = 128, .n = 128, .k = 128}};

    FOR_EACH_LIBRARY(blas)
    for (size_t i = 0; i < sizeof large / sizeof large[0]; i++)
        for (unsigned t = 1; t <= blas->max_threads; t++)
            run_variants(blas, t, large[i]);
    skip_without_libraries();
}

/* One row, one column: steps that are never taken may be anything. */
static void steps_that_are_never_taken_do_not_matter(void)
{
    double a[8] = {1, 9, 2, 9, 3, 9, 4, 9}, b[8] = {1, 9, 1, 9, 1, 9, 1, 9};

    FOR_EACH_LIBRARY(blas)
    {
        double c[2] = {NAN, 7};
        /* A 1 x 4 and B 4 x 1, both with a step of 2. */
        const struct takt_gemm g = {.m = 1,
                                    .n = 1,
                                    .k = 4,
                                    .a = a,
                                    .a_col = 2,
                                    .b = b,
                                    .b_row = 2,
                                    .c = c,
                                    .alpha = 1};
        if (!has_gemv(blas))
            continue;
        EXPECT(takt__blas_can_gemm(blas, 8, &g));
        EXPECT(takt__blas_gemm(blas, 8, 1, &g));
        EXPECT_NEAR(c[0], 10, 0);
        EXPECT_NEAR(c[1], 7, 0);
    }
    skip_without_libraries();
}

static void check_gemv(struct takt_blas *blas, size_t size, unsigned threads,
                       struct problem p)
{
    uint64_t seed = p.m + 100 * p.n;
    const size_t lda = (p.a_trans ? p.m : p.n) + p.gap, step = p.gap + 1;
    void *a = numbers(size, (p.m + p.gap) * (p.n + p.gap), &seed);
    void *x = numbers(size, p.n * step, &seed);
    void *y = numbers(size, p.m * step, &seed);
    for (size_t i = 0; i < p.m * step && p.beta == 0; i++)
        put(y, size, i, NAN);
    void *before = copy_of(y, p.m * step * size);
    const struct takt_gemv call = {.m = p.m,
                                   .n = p.n,
                                   .a = a,
                                   .a_row = p.a_trans ? 1 : lda,
                                   .a_col = p.a_trans ? lda : 1,
                                   .x = x,
                                   .x_step = step,
                                   .y = y,
                                   .y_step = step,
                                   .alpha = p.alpha,
                                   .beta = p.beta};
    size_t wrong = 0;

    EXPECT(takt__blas_can_gemv(blas, size, &call));
    EXPECT(takt__blas_gemv(blas, size, threads, &call));
    for (size_t i = 0; i < p.m * step; i++) {
        if (i % step != 0) {
            wrong += !is_same(y, before, size, i);
            continue;
        }
        double want = p.beta != 0 ? p.beta * get(before, size, i) : 0;
        for (size_t j = 0; j < p.n; j++)
            want += p.alpha *
                    get(a, size, i / step * call.a_row + j * call.a_col) *
                    get(x, size, j * step);
        wrong += !is_close(get(y, size, i), want, tolerance(size, p.n));
    }
    TAP_CHECK(wrong == 0, "%s: %zu wrong in f%zu gemv %zux%zu beta %g",
              blas->name, wrong, 8 * size, p.m, p.n, p.beta);
    free(a);
    free(x);
    free(y);
    free(before);
}

static void products_with_vectors_agree_with_a_plain_loop(void)
{
    uint64_t seed = 2;

    FOR_EACH_LIBRARY(blas)
    {
        for (unsigned v = 0; v < 800 && has_gemv(blas); v++) {
            const size_t most = v < 760 ? 40 : 500;
            const struct problem p = {.m = 1 + random_next(&seed) % most,
                                      .n = 1 + random_next(&seed) % most,
                                      .a_trans = (v & 1) != 0,
                                      .gap = v % 3,
                                      .alpha = factors[v / 4 % 4].alpha,
                                      .beta = factors[v / 4 % 4].beta};
            check_gemv(blas, (v & 2) != 0 ? 8 : 4,
                       1 + v % blas->max_vector_threads, p);
        }
    }
    skip_without_libraries();
}

static void check_axpy(struct takt_blas *blas, size_t size, unsigned threads,
                       size_t n, size_t step)
{
    uint64_t seed = n;
    void *x = numbers(size, n * step, &seed);
    void *y = numbers(size, n * step, &seed);
    void *before = copy_of(y, n * step * size);
    const struct takt_axpy call = {
        .n = n, .alpha = -1.5, .x = x, .x_step = step, .y = y, .y_step = step};
    size_t wrong = 0;

    EXPECT(takt__blas_can_axpy(blas, size, &call));
    EXPECT(takt__blas_axpy(blas, size, threads, &call));
    for (size_t i = 0; i < n * step; i++) {
        const double want = i % step != 0
                                ? get(before, size, i)
                                : get(before, size, i) - 1.5 * get(x, size, i);
        wrong += !is_close(get(y, size, i), want, tolerance(size, 1));
    }
    TAP_CHECK(wrong == 0, "%s: %zu wrong in axpy of %zu", blas->name, wrong, n);
    free(x);
    free(y);
    free(before);
}

static void axpy_agrees_with_a_plain_loop(void)
{
    FOR_EACH_LIBRARY(blas)
    {
        for (size_t n = 1; n < 100 && !is_xsmm(blas); n++)
            check_axpy(blas, n % 2 ? 4 : 8, 1, n, 1 + n % 3);
        for (unsigned t = 1; t <= blas->max_vector_threads; t++)
            if (!is_xsmm(blas))
                check_axpy(blas, 4, t, 50000, 1);
    }
    skip_without_libraries();
}

/* ---- refusals ------------------------------------------------------------ */

static void expect_no_gemm(struct takt_gemm g, size_t size, unsigned threads)
{
    FOR_EACH_LIBRARY(blas)
    TAP_CHECK(!takt__blas_gemm(blas, size, threads, &g), "%s ran %zux%zux%zu",
              blas->name, g.m, g.n, g.k);
}

static void what_blas_cannot_say_is_refused_untouched(void)
{
    const size_t huge = (size_t)INT_MAX + 1;
    double a[16] = {0}, b[16] = {0}, c[16];
    for (int i = 0; i < 16; i++)
        c[i] = i;
    const struct takt_gemm good = {.m = 4,
                                   .n = 4,
                                   .k = 4,
                                   .a = a,
                                   .a_row = 4,
                                   .a_col = 1,
                                   .b = b,
                                   .b_row = 4,
                                   .b_col = 1,
                                   .c = c,
                                   .ldc = 4,
                                   .alpha = 1};
    struct takt_gemm g[] = {good, good, good, good, good, good,
                            good, good, good, good, good, good};

    g[0].m = huge;
    g[1].n = huge;
    g[2].k = huge;
    g[3].a_row = huge;
    g[4].ldc = huge;
    g[5].a_row = 2; /* rows that overlap */
    g[6].a_col = 2; /* neither step is 1 */
    g[7].b_row = 0; /* one row for all */
    g[8].ldc = 3;
    g[9].k = 0;
    g[10].alpha = 0;
    g[11].alpha = 1e-300; /* 0 as a float */
    for (size_t i = 0; i < sizeof g / sizeof g[0]; i++)
        expect_no_gemm(g[i], i == 11 ? 4 : 8, 1);
    expect_no_gemm(good, 2, 1);
    expect_no_gemm(good, 8, 0);
    expect_no_gemm(good, 8, 1000);
    for (int i = 0; i < 16; i++)
        EXPECT_NEAR(c[i], i, 0);
    skip_without_libraries();
}

static void vectors_that_blas_cannot_say_are_refused(void)
{
    double a[4] = {0}, x[2] = {0}, y[2] = {5, 5};
    const struct takt_gemv good = {.m = 2,
                                   .n = 2,
                                   .a = a,
                                   .a_row = 2,
                                   .a_col = 1,
                                   .x = x,
                                   .x_step = 1,
                                   .y = y,
                                   .y_step = 1,
                                   .alpha = 1};
    struct takt_gemv g[] = {good, good, good, good};

    g[0].x_step = 0;
    g[1].y_step = (size_t)INT_MAX + 1;
    g[2].n = 0;
    g[3].x_step = (size_t)INT_MAX - 1;
    g[3].n = 3;
    g[3].a_row = 3;
    const struct takt_axpy no_step = {.n = 2, .alpha = 1, .x = x, .y = y};
    FOR_EACH_LIBRARY(blas)
    {
        for (size_t i = 0; i < sizeof g / sizeof g[0]; i++)
            EXPECT(!takt__blas_gemv(blas, 8, 1, &g[i]));
        EXPECT(!takt__blas_axpy(blas, 8, 1, &no_step));
    }
    EXPECT_NEAR(y[0] + y[1], 10, 0);
    skip_without_libraries();
}

/* ---- many callers -------------------------------------------------------- */

enum { callers = 4, edge = 72 };

struct caller {
    struct takt_blas *blas;
    unsigned threads;
    int rounds; /* 0: until is_over */
    _Atomic size_t runs;
    size_t wrong;
};

static _Atomic bool is_over;

static bool goes_on(const struct caller *caller, int round)
{
    return caller->rounds > 0 ? round < caller->rounds : !atomic_load(&is_over);
}

/* All ones, so that every element of the product is `edge`. */
static void *call_often(void *argument)
{
    struct caller *caller = argument;
    double *a = malloc(3 * edge * edge * sizeof *a);
    double *c = a + 2 * edge * edge;
    const struct takt_gemm g = {.m = edge,
                                .n = edge,
                                .k = edge,
                                .a = a,
                                .a_row = edge,
                                .a_col = 1,
                                .b = a + edge * edge,
                                .b_row = edge,
                                .b_col = 1,
                                .c = c,
                                .ldc = edge,
                                .alpha = 1};

    for (size_t i = 0; a != NULL && i < 2 * edge * edge; i++)
        a[i] = 1;
    for (int r = 0; a != NULL && goes_on(caller, r); r++) {
        for (size_t i = 0; i < edge * edge; i++)
            c[i] = NAN;
        if (!takt__blas_gemm(caller->blas, sizeof *a, caller->threads, &g))
            continue;
        caller->runs++;
        for (size_t i = 0; i < edge * edge; i++)
            caller->wrong += c[i] != edge;
    }
    free(a);
    return NULL;
}

static void call_at_once(struct takt_blas *blas, unsigned most_threads)
{
    /* Threads of some libraries wait for one another without yielding, so
     * on a busy machine such a call takes as long as a time slice. */
    const int rounds = most_threads == 1 ? 300 : 30;
    struct caller caller[callers] = {{0}};
    pthread_t thread[callers];
    size_t runs = 0;

    for (unsigned i = 0; i < callers; i++) {
        caller[i].blas = blas;
        caller[i].rounds = rounds;
        caller[i].threads = 1 + i % most_threads;
        REQUIRE(pthread_create(&thread[i], NULL, call_often, &caller[i]) == 0);
    }
    for (int i = 0; i < callers; i++) {
        pthread_join(thread[i], NULL);
        EXPECT_INT(caller[i].wrong, 0);
        runs += caller[i].runs;
    }
    EXPECT(runs > 0);
    printf("# %-9s up to %u threads: %zu of %d ran\n", blas->name, most_threads,
           runs, callers * rounds);
}

static void callers_may_want_other_numbers_of_threads_at_once(void)
{
    FOR_EACH_LIBRARY(blas)
    for (unsigned t = 1; t <= blas->max_threads; t++)
        call_at_once(blas, t);
    skip_without_libraries();
}

static void the_setting_of_other_users_comes_back(void)
{
    void *handle = dlopen("libopenblas.so.0", RTLD_NOW | RTLD_NOLOAD);
    if (handle == NULL || libraries[0].max_threads < 2) {
        SKIP("no OpenBLAS with threads");
        return;
    }
    int (*get_threads)(void);
    void (*set_threads)(int);
    *(void **)&get_threads = dlsym(handle, "openblas_get_num_threads");
    *(void **)&set_threads = dlsym(handle, "openblas_set_num_threads");
    const struct problem p = {.m = 9, .n = 9, .k = 9, .alpha = 1};
    for (int was = 1; was <= 2; was++) {
        set_threads(was);
        for (unsigned t = 1; t <= 2; t++) {
            EXPECT(run_and_check(&libraries[0], 4, t, p));
            EXPECT_INT(get_threads(), was);
        }
    }
    dlclose(handle);
}

/* ---- children ------------------------------------------------------------ */

/* Which of a child's calls ran, as a bit per number of threads. -1: it hung,
 * died or was wrong. */
static int call_in_child(struct takt_blas *blas)
{
    enum { fine = 96, failed = 255 }; /* a sanitizer's would be 66 */
    fflush(stdout);
    const pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        const struct problem p = {.m = 96, .n = 96, .k = 96, .alpha = 1};
        int ran = 0;
        tap_failures = 0;
        alarm(10);
        for (unsigned t = 1; t <= (is_thread_sanitized ? 1 : blas->max_threads);
             t++)
            ran |= run_and_check(blas, 8, t, p) ? 1 << t : 0;
        fflush(stdout);
        _exit(tap_failures != 0 ? failed : fine | ran);
    }
    int status;
    REQUIRE(waitpid(child, &status, 0) == child);
    const int said = WIFEXITED(status) ? WEXITSTATUS(status) : failed;
    return (said & ~6) == fine ? said & 6 : -1;
}

static void a_child_can_call_what_its_parent_called(void)
{
    const struct problem p = {.m = 96, .n = 96, .k = 96, .alpha = 1};

    FOR_EACH_LIBRARY(blas)
    {
        for (unsigned t = 1; t <= blas->max_threads; t++)
            run_expected(blas, 8, t, p);
        const int ran = call_in_child(blas);
        TAP_CHECK(blas->can_set_threads ? (ran & ~4) == 2 : ran >= 0,
                  "%s in a child: %d", blas->name, ran);
        printf("# %-9s in a child: 1 thread %s, 2 threads %s\n", blas->name,
               ran & 2 ? "runs" : "refused", ran & 4 ? "run" : "refused");
        run_expected(blas, 8, blas->max_threads, p); /* the parent goes on */
    }
    skip_without_libraries();
}

/* The caller allocates nothing outside the library: the address sanitizer's
 * malloc() hangs in a child if another thread was in it at the fork. */
static void a_child_of_a_busy_parent_never_hangs(void)
{
    FOR_EACH_LIBRARY(blas)
    {
        struct caller caller = {.blas = blas, .threads = 1};
        pthread_t thread;
        int hung = 0, ran = 0;

        /* OpenBLAS starts threads in a child, and so do we for a try: these
         * have one number, and the thread sanitizer gives up. */
        if (is_thread_sanitized && blas->max_threads > 1)
            continue;
        atomic_store(&is_over, false);
        REQUIRE(pthread_create(&thread, NULL, call_often, &caller) == 0);
        while (atomic_load(&caller.runs) == 0)
            sched_yield();
        for (int i = 0; i < 40; i++) {
            const int said = call_in_child(blas);
            hung += said < 0;
            ran += said > 0;
        }
        atomic_store(&is_over, true);
        pthread_join(thread, NULL);
        TAP_CHECK(hung == 0, "%s: %d of 40 children hung", blas->name, hung);
        EXPECT_INT(caller.wrong, 0);
        printf("# %-9s %d of 40 children of a busy parent ran\n", blas->name,
               ran);
    }
    skip_without_libraries();
}

/* ---- no more threads ----------------------------------------------------- */

/* Leaves this process `threads` more threads than it has. The limit is one of
 * a user's, and not for root; of a user with other processes, it leaves none.
 */
static bool limit_threads(rlim_t threads)
{
    const uid_t nobody_else = 100000 + (uid_t)getpid();
    rlim_t most = 1;
    glob_t tasks;

    if (getuid() == 0) {
        if (setgid(nobody_else) != 0 || setuid(nobody_else) != 0 ||
            glob("/proc/self/task/*", 0, NULL, &tasks) != 0)
            return false;
        most = tasks.gl_pathc + threads;
        globfree(&tasks);
    }
    return setrlimit(RLIMIT_NPROC, &(struct rlimit){most, most}) == 0;
}

/* Calls `blas` in a child that may start `threads` more; `calls_before` it is
 * limited. False: it hung, died or was wrong. */
static bool calls_end(struct takt_blas *blas, bool calls_before, rlim_t threads,
                      int rounds)
{
    const struct problem p = {.m = 96, .n = 96, .k = 96, .alpha = 1};
    enum { fine = 96, cannot = 97 };

    fflush(stdout);
    const pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        tap_failures = 0;
        alarm(20);
        for (unsigned t = 1; calls_before && t <= blas->max_threads; t++)
            run_and_check(blas, 8, t, p);
        if (!limit_threads(threads))
            _exit(cannot);
        for (int i = 0; i < rounds; i++)
            for (unsigned t = 1; t <= blas->max_threads; t++)
                run_and_check(blas, 8, t, p);
        _exit(tap_failures != 0 ? 1 : fine);
    }
    int status;
    REQUIRE(waitpid(child, &status, 0) == child);
    return WIFEXITED(status) &&
           (WEXITSTATUS(status) == fine || WEXITSTATUS(status) == cannot);
}

/* BLIS starts threads in each call, and waits for ever for one that it could
 * not start. OpenBLAS ends its threads before a fork, starts them again with
 * the next call, and ends the program by SIGINT if it cannot. */
static void calls_end_where_no_thread_can_be_started(void)
{
    if (is_thread_sanitized) {
        SKIP("threads of a child");
        return;
    }
    FOR_EACH_LIBRARY(blas)
    {
        for (rlim_t left = 0; left <= 1; left++) {
            TAP_CHECK(calls_end(blas, false, left, 50),
                      "%s in a child that may start %d threads", blas->name,
                      (int)left);
            TAP_CHECK(calls_end(blas, true, left, 50),
                      "%s after a call and then %d threads", blas->name,
                      (int)left);
        }
    }
    skip_without_libraries();
}

/* ---- opening ------------------------------------------------------------- */

/* Opens one file only; false: it is not accepted. */
static bool open_only(const char *file, struct takt_blas *out)
{
    return takt__blas_open_all(file, threads_lent, out, 1) == 1 &&
           strcmp(out->name, "blas") == 0;
}

static bool build(const char *file, const char *sources)
{
    char command[1024];

    snprintf(command, sizeof command,
             "cc -shared -fPIC -O1 -o %s/%s %s -lpthread -ldl -lm 2>/dev/null",
             folder, file, sources);
    return system(command) == 0;
}

static void an_empty_name_opens_nothing(void)
{
    struct takt_blas none[TAKT_BLAS_MAX];
    EXPECT_INT(takt__blas_open_all("", 2, none, TAKT_BLAS_MAX), 0);
}

static void expect_same_as_usual(const char *extra)
{
    struct takt_blas usual[TAKT_BLAS_MAX], with[TAKT_BLAS_MAX];
    const size_t want = takt__blas_open_all(NULL, 2, usual, TAKT_BLAS_MAX);
    const size_t got = takt__blas_open_all(extra, 2, with, TAKT_BLAS_MAX);

    EXPECT_INT(got, want);
    for (size_t i = 0; i < got && i < want; i++) {
        EXPECT_STR(with[i].name, usual[i].name);
        EXPECT_STR(with[i].path, usual[i].path);
    }
    for (size_t i = 0; i < want; i++)
        takt__blas_close(&usual[i]);
    for (size_t i = 0; i < got; i++)
        takt__blas_close(&with[i]);
}

static void a_file_that_is_no_library_changes_nothing(void)
{
    char path[64];

    snprintf(path, sizeof path, "%s/text.so", folder);
    FILE *file = fopen(path, "w");
    REQUIRE(file != NULL);
    fputs("this is no library\n", file);
    fclose(file);
    expect_same_as_usual(path);
    expect_same_as_usual("/nowhere/libblas.so");
    expect_same_as_usual(folder);
}

static void a_library_without_the_functions_changes_nothing(void)
{
    expect_same_as_usual("libm.so.6");
}

static void wrong_libraries_are_not_used(void)
{
    static const char *const wrong[] = {"-DHAS_WIDE_INTEGERS",
                                        "-DFORGETS_ALPHA_AND_B"};
    char path[64];
    struct takt_blas blas;

    snprintf(path, sizeof path, "%s/wrong.so", folder);
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        char sources[512];
        snprintf(sources, sizeof sources, "%s %s", wrong[i],
                 TAKT_SOURCE_DIR "/tests/blas/faulty.c");
        if (!build("wrong.so", sources)) {
            SKIP("no compiler");
            return;
        }
        TAP_CHECK(!open_only(path, &blas) || strstr(blas.path, "wrong") == NULL,
                  "%s was accepted", wrong[i]);
    }
}

static size_t count_beside(const char *file, const char *macros, int flags)
{
    char path[64], sources[512];
    struct takt_blas found[TAKT_BLAS_MAX];

    snprintf(path, sizeof path, "%s/%s", folder, file);
    snprintf(sources, sizeof sources, "%s %s", macros,
             TAKT_SOURCE_DIR "/tests/blas/faulty.c");
    REQUIRE(build(file, sources));
    void *handle = dlopen(path, RTLD_NOW | flags);
    REQUIRE(handle != NULL);
    const size_t count = takt__blas_open_all(NULL, 2, found, TAKT_BLAS_MAX);
    for (size_t i = 0; i < count; i++)
        takt__blas_close(&found[i]);
    dlclose(handle);
    return count;
}

/* What they call by name would go to it: OpenBLAS's LAPACK crashed. It stays in
 * memory: this test is the last one. */
static void libraries_beside_wide_integers_are_not_opened(void)
{
    if (!build("beside.so", TAKT_SOURCE_DIR "/tests/blas/faulty.c")) {
        SKIP("no compiler");
        return;
    }
    static const char wide[] = "-DHAS_WIDE_INTEGERS";
    const size_t alone = count_beside("local.so", wide, RTLD_LOCAL);
    if (alone == 0) {
        SKIP("no library");
        return;
    }
    EXPECT_INT(count_beside("wide.so", wide, RTLD_GLOBAL), 0);
}

/* One that reads the old result, or loses a NaN. Its axpy has neither. */
static void functions_with_another_idea_of_nan_are_not_used(const char *wrong)
{
    char path[64], sources[512];
    struct takt_blas blas;
    double a[4] = {1, 0, 0, 1}, y[2] = {1, 1};
    const struct takt_gemv gemv = {.m = 2,
                                   .n = 2,
                                   .a = a,
                                   .a_row = 2,
                                   .a_col = 1,
                                   .x = a,
                                   .x_step = 1,
                                   .y = y,
                                   .y_step = 1,
                                   .alpha = 1};
    const struct takt_gemm gemm = {.m = 2,
                                   .n = 1,
                                   .k = 2,
                                   .a = a,
                                   .a_row = 2,
                                   .a_col = 1,
                                   .b = a,
                                   .b_row = 1,
                                   .b_col = 1,
                                   .c = y,
                                   .ldc = 1,
                                   .alpha = 1};
    const struct takt_axpy axpy = {
        .n = 2, .alpha = 1, .x = a, .x_step = 1, .y = y, .y_step = 1};

    snprintf(path, sizeof path, "%s/%s.so", folder, wrong);
    snprintf(sources, sizeof sources, "-D%s %s", wrong,
             TAKT_SOURCE_DIR "/tests/blas/faulty.c");
    if (!build(strrchr(path, '/') + 1, sources)) {
        SKIP("no compiler");
        return;
    }
    REQUIRE(open_only(path, &blas));
    EXPECT(!takt__blas_can_gemv(&blas, 8, &gemv));
    EXPECT(!takt__blas_gemv(&blas, 8, 1, &gemv));
    EXPECT(!takt__blas_can_gemm(&blas, 8, &gemm));
    EXPECT(takt__blas_axpy(&blas, 8, 1, &axpy));
    EXPECT_NEAR(y[0], 2, 0);
    takt__blas_close(&blas);
}

static void a_function_that_reads_the_old_result_is_not_used(void)
{
    functions_with_another_idea_of_nan_are_not_used("READS_OLD_RESULT");
}

static void a_function_that_passes_over_zeros_is_not_used(void)
{
    functions_with_another_idea_of_nan_are_not_used("PASSES_OVER_ZEROS");
}

/* A product with a vector is a gemv to some libraries: BLIS's loses NaN there,
 * too. */
static void a_faulty_gemv_is_not_used_by_another_name(void)
{
    char path[64];
    struct takt_blas blas;
    double a[4] = {1, 2, 3, 4}, c[4];
    struct takt_gemm gemm = {.m = 2,
                             .n = 2,
                             .k = 2,
                             .a = a,
                             .a_row = 2,
                             .a_col = 1,
                             .b = a,
                             .b_row = 2,
                             .b_col = 1,
                             .c = c,
                             .ldc = 2,
                             .alpha = 1};
    size_t *const sizes[] = {&gemm.m, &gemm.n, &gemm.k};

    snprintf(path, sizeof path, "%s/gemv.so", folder);
    if (!build("gemv.so", "-DGEMV_PASSES_OVER_ZEROS " TAKT_SOURCE_DIR
                          "/tests/blas/faulty.c")) {
        SKIP("no compiler");
        return;
    }
    REQUIRE(open_only(path, &blas));
    EXPECT(takt__blas_gemm(&blas, 8, 1, &gemm));
    EXPECT_NEAR(c[0], 7, 0);
    for (size_t i = 0; i < 3; i++) {
        *sizes[i] = 1;
        EXPECT(!takt__blas_can_gemm(&blas, 8, &gemm));
        EXPECT(!takt__blas_gemm(&blas, 8, 1, &gemm));
        *sizes[i] = 2;
    }
    takt__blas_close(&blas);
}

static void an_idle_lapack_is_not_used(void)
{
    char path[64];
    struct takt_blas blas;
    double a[4] = {4, 2, 2, 5}, l[4] = {7, 7, 7, 7};
    bool is_definite = false;
    const struct takt_lapack_cholesky call = {2, a, 2, l, 2, &is_definite};

    snprintf(path, sizeof path, "%s/idle.so", folder);
    if (!build("idle.so",
               "-DHAS_IDLE_LAPACK " TAKT_SOURCE_DIR "/tests/blas/faulty.c")) {
        SKIP("no compiler");
        return;
    }
    REQUIRE(open_only(path, &blas));
    EXPECT(!takt__blas_has_lapack(&blas, 8));
    EXPECT(!takt__blas_can_cholesky(&blas, 8, &call));
    EXPECT(!takt__blas_cholesky(&blas, 8, 1, &call));
    EXPECT(l[0] == 7 && !is_definite);
    takt__blas_close(&blas);
}

/* A library with threads as OpenBLAS has them, and one of its variables. */
static int *open_threaded(const char *file, const char *macro,
                          const char *variable, struct takt_blas *blas)
{
    char path[64], sources[512];

    snprintf(path, sizeof path, "%s/%s", folder, file);
    snprintf(sources, sizeof sources, "%s %s", macro,
             TAKT_SOURCE_DIR "/tests/blas/faulty.c");
    if (!build(file, sources)) {
        SKIP("no compiler");
        return NULL;
    }
    REQUIRE(open_only(path, blas));
    void *handle = dlopen(path, RTLD_NOW | RTLD_NOLOAD);
    int *found = handle != NULL ? dlsym(handle, variable) : NULL;
    REQUIRE(found != NULL);
    dlclose(handle);
    return found;
}

/* The program's other threads may be inside of it. */
static void threads_of_openmp_are_not_set(void)
{
    const struct problem p = {.m = 9, .n = 9, .k = 9, .alpha = 1};
    struct takt_blas blas;
    const int *times_set =
        open_threaded("openmp.so", "-DTHREADS_OF=2", "times_set", &blas);

    if (times_set == NULL)
        return;
    EXPECT(run_and_check(&blas, 8, 1, p));
    EXPECT_INT(*times_set, 0);
    EXPECT(!blas.can_set_threads);
    takt__blas_close(&blas);
}

static void what_the_program_sets_meanwhile_stays(void)
{
    const struct problem p = {.m = 9, .n = 9, .k = 9, .alpha = 1};
    struct takt_blas blas;
    int *set_meanwhile =
        open_threaded("threaded.so", "-DTHREADS_OF=1", "set_meanwhile", &blas);
    int (*get_threads)(void);

    if (set_meanwhile == NULL)
        return;
    void *handle = dlopen(blas.path, RTLD_NOW | RTLD_NOLOAD);
    REQUIRE(handle != NULL);
    *(void **)&get_threads = dlsym(handle, "openblas_get_num_threads");
    EXPECT(run_and_check(&blas, 8, 1, p));
    EXPECT_INT(get_threads(), 4);
    *set_meanwhile = 3;
    EXPECT(run_and_check(&blas, 8, 1, p));
    EXPECT_INT(get_threads(), 3);
    dlclose(handle);
    takt__blas_close(&blas);
}

static void names_differ_and_nothing_is_listed_twice(void)
{
    struct takt_blas list[TAKT_BLAS_MAX];
    const char *extra = library_count > 0 ? libraries[0].path : NULL;
    const size_t count = takt__blas_open_all(extra, 2, list, TAKT_BLAS_MAX);

    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < i; j++) {
            EXPECT(strcmp(list[i].name, list[j].name) != 0);
            EXPECT(strcmp(list[i].path, list[j].path) != 0);
        }
    if (count > 0) {
        EXPECT_STR(list[0].name, "blas");
        EXPECT_STR(list[0].path, extra);
    }
    for (size_t i = 0; i < count; i++)
        takt__blas_close(&list[i]);
    skip_without_libraries();
}

static void opening_and_closing_can_be_repeated(void)
{
    for (int i = 0; i < 20; i++) {
        struct takt_blas list[TAKT_BLAS_MAX];
        const size_t count = takt__blas_open_all(NULL, 2, list, TAKT_BLAS_MAX);
        for (size_t j = 0; j < count; j++)
            takt__blas_close(&list[j]);
    }
}

/* ---- which libraries ----------------------------------------------------- */

static void add_file(const char *file)
{
    if (library_count == max_libraries ||
        !open_only(file, &libraries[library_count]))
        return;
    for (size_t i = 0; i < library_count; i++)
        if (strcmp(libraries[i].path, libraries[library_count].path) == 0) {
            takt__blas_close(&libraries[library_count]);
            return;
        }
    library_count++;
}

static void add_matches(const char *pattern)
{
    glob_t found;

    if (glob(pattern, 0, NULL, &found) != 0)
        return;
    for (size_t i = 0; i < found.gl_pathc; i++)
        add_file(found.gl_pathv[i]);
    globfree(&found);
}

static void add_built(const char *file, const char *sources)
{
    char path[64];

    snprintf(path, sizeof path, "%s/%s", folder, file);
    if (build(file, sources))
        add_file(path);
}

static void remove_folder(void)
{
    char command[64];

    snprintf(command, sizeof command, "rm -rf %s", folder);
    if (system(command) != 0)
        printf("# %s stays\n", folder);
}

static void open_libraries(int count, char **files)
{
    library_count =
        takt__blas_open_all(NULL, threads_lent, libraries, TAKT_BLAS_MAX);
    add_matches("/usr/lib/*/openblas-*/libopenblas.so.0");
    add_matches("/usr/lib/*/blis-*/libblis.so.4");
    add_matches("/usr/lib/*/blas/libblas.so.3");
    add_built("libxsmm.so", "-Wl,--whole-archive /usr/lib/libxsmm.a "
                            "/usr/lib/libxsmmnoblas.a "
                            "-Wl,--no-whole-archive");
    add_built("libplain.so", TAKT_SOURCE_DIR "/tests/blas/faulty.c");
    for (int i = 0; i < count; i++)
        add_file(files[i]);
    FOR_EACH_LIBRARY(blas)
    printf("# %s, %u threads (%u), %s: %s\n", blas->name, blas->max_threads,
           blas->max_vector_threads, blas->path, blas->version);
}

static size_t variables_before;

static size_t count_variables(void)
{
    size_t count = 0;

    while (environ[count] != NULL)
        count++;
    return count;
}

/* libxsmm has it that OpenMP binds threads to processors, unless that is said:
 * in programs that load OpenMP later, and in all that they start. */
static void libraries_leave_the_environment_as_it_is(void)
{
    EXPECT_INT(count_variables(), variables_before);
}

/* Where OpenBLAS would end the program by SIGINT. The limit is not for root. */
static void nothing_is_loaded_where_no_thread_can_be_started(void)
{
    const pid_t child = fork();

    if (child == 0) {
        struct takt_blas library[max_libraries];
        if (getuid() == 0 && (setgid(65534) != 0 || setuid(65534) != 0))
            _exit(2);
        setrlimit(RLIMIT_NPROC, &(struct rlimit){1, 1});
        _exit(sysconf(_SC_NPROCESSORS_ONLN) > 1 &&
              takt__blas_open_all(NULL, threads_lent, library, max_libraries) !=
                  0);
    }
    int status = -1;
    REQUIRE(waitpid(child, &status, 0) == child);
    EXPECT_INT(status, 0);
}

/* ---- threads ------------------------------------------------------------- */

static void *open_cancelled(void *has_returned)
{
    struct takt_blas library[max_libraries];

    pthread_cancel(pthread_self());
    const size_t count =
        takt__blas_open_all(NULL, threads_lent, library, max_libraries);
    for (size_t i = 0; i < count; i++)
        takt__blas_close(&library[i]);
    *(bool *)has_returned = true;
    pthread_testcancel();
    return NULL;
}

/* The threads that are started for a try use what is on its stack. */
static void a_cancelled_thread_ends_after_opening(void)
{
    bool has_returned = false;
    pthread_t thread;
    void *end;

    REQUIRE(pthread_create(&thread, NULL, open_cancelled, &has_returned) == 0);
    pthread_join(thread, &end);
    TAP_CHECK(end == PTHREAD_CANCELED, "it was not cancelled");
    TAP_CHECK(has_returned, "it was cancelled while it opened libraries");
}

/* The name of a thread of this process, which ends with a newline. */
static void read_name(const char *number, char *name, int size)
{
    char path[PATH_MAX];

    snprintf(path, sizeof path, "/proc/self/task/%s/comm", number);
    FILE *file = fopen(path, "r");
    name[0] = '\0';
    if (file != NULL && fgets(name, size, file) == NULL)
        name[0] = '\0';
    if (file != NULL)
        fclose(file);
}

/* By their names Takt knows those that do not keep a program alive. */
static void threads_of_libraries_are_named(void)
{
    DIR *folder_of_threads = opendir("/proc/self/task");
    const struct dirent *entry;
    char name[32];

#if defined(__SANITIZE_THREAD__)
    SKIP("the thread sanitizer has a thread of its own");
    return;
#endif
    REQUIRE(folder_of_threads != NULL);
    while ((entry = readdir(folder_of_threads)) != NULL) {
        if (entry->d_name[0] == '.')
            continue;
        read_name(entry->d_name, name, sizeof name);
        if (strtol(entry->d_name, NULL, 10) == getpid())
            TAP_CHECK(strncmp(name, "takt-", 5) != 0,
                      "the program's own thread is %s", name);
        else
            TAP_CHECK(strncmp(name, "takt-", 5) == 0, "a thread is %s", name);
    }
    closedir(folder_of_threads);
}

int main(int argc, char **argv)
{
    REQUIRE(mkdtemp(folder) != NULL);
    RUN(nothing_is_loaded_where_no_thread_can_be_started);
    RUN(a_cancelled_thread_ends_after_opening);
    variables_before = count_variables();
    open_libraries(argc - 1, argv + 1);
    RUN(libraries_leave_the_environment_as_it_is);
    RUN(threads_of_libraries_are_named);
    RUN(small_products_agree_with_a_plain_loop);
    RUN(large_products_agree_on_any_number_of_threads);
    RUN(steps_that_are_never_taken_do_not_matter);
    RUN(products_with_vectors_agree_with_a_plain_loop);
    RUN(axpy_agrees_with_a_plain_loop);
    RUN(what_blas_cannot_say_is_refused_untouched);
    RUN(vectors_that_blas_cannot_say_are_refused);
    RUN(callers_may_want_other_numbers_of_threads_at_once);
    RUN(the_setting_of_other_users_comes_back);
    RUN(a_child_can_call_what_its_parent_called);
    RUN(threads_of_libraries_are_named);
    RUN(a_child_of_a_busy_parent_never_hangs);
    RUN(calls_end_where_no_thread_can_be_started);
    RUN(an_empty_name_opens_nothing);
    RUN(a_file_that_is_no_library_changes_nothing);
    RUN(a_library_without_the_functions_changes_nothing);
    RUN(wrong_libraries_are_not_used);
    RUN(a_function_that_reads_the_old_result_is_not_used);
    RUN(a_function_that_passes_over_zeros_is_not_used);
    RUN(a_faulty_gemv_is_not_used_by_another_name);
    RUN(threads_of_openmp_are_not_set);
    RUN(an_idle_lapack_is_not_used);
    RUN(what_the_program_sets_meanwhile_stays);
    RUN(names_differ_and_nothing_is_listed_twice);
    RUN(opening_and_closing_can_be_repeated);
    RUN(libraries_beside_wide_integers_are_not_opened);
    for (size_t i = 0; i < library_count; i++)
        takt__blas_close(&libraries[i]);
    remove_folder();
    return tap_done();
}
