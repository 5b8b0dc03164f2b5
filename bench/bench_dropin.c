/* SPDX-License-Identifier: MIT */
/*
 * bench_dropin.c - what it takes to go through libtakt-blas.
 *
 * usage: bench_dropin [LIBTAKT-BLAS [BLAS]]
 *
 * The same cblas_dgemm, called in the library itself and
 * through the names that `takt run` preloads, in turn. Small calls are passed
 * on at once: what is printed for them is what that takes. Larger ones are
 * routed; there the time of a call is compared, after a while of learning.
 */
#include <dlfcn.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

enum { by_rows = 101, plain = 111, rounds = 31 };

typedef void dgemm_type(int order, int ta, int tb, int m, int n, int k,
                        double alpha, const double *a, int lda, const double *b,
                        int ldb, double beta, double *c, int ldc);

struct subject {
    dgemm_type *dgemm;
    double seconds[rounds];
};

static dgemm_type *find(const char *file, const char *name)
{
    void *handle = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    void *found = handle == NULL ? NULL : dlsym(handle, name);
    dgemm_type *function;

    if (found == NULL) {
        fprintf(stderr, "bench_dropin: %s\n", dlerror());
        exit(1);
    }
    memcpy(&function, &found, sizeof function);
    return function;
}

static double time_calls(dgemm_type *dgemm, int n, const double *a,
                         const double *b, double *c, unsigned calls)
{
    const double start = bench_now_ns();

    for (unsigned i = 0; i < calls; i++)
        dgemm(by_rows, plain, plain, n, n, n, 1, a, n, b, n, 0, c, n);
    return (bench_now_ns() - start) * 1e-9 / calls;
}

static int compare_doubles(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void compare(struct subject subject[2], int n)
{
    const size_t elements = (size_t)n * (size_t)n;
    double *a = malloc(3 * elements * sizeof *a);
    const double work = (double)n * n * n;
    const unsigned calls = (unsigned)(2e7 / (work + 2e3)) + 1;

    if (a == NULL)
        exit(1);
    for (size_t i = 0; i < 3 * elements; i++)
        a[i] = (double)(i % 7) - 3;
    for (int i = 0; i < 2; i++) /* and learning */
        for (int r = 0; r < (i == 0 ? 1 : 12); r++)
            time_calls(subject[i].dgemm, n, a, a + elements, a + 2 * elements,
                       calls);
    for (int r = 0; r < rounds; r++)
        for (int i = 0; i < 2; i++)
            subject[i].seconds[r] = time_calls(
                subject[i].dgemm, n, a, a + elements, a + 2 * elements, calls);
    for (int i = 0; i < 2; i++)
        qsort(subject[i].seconds, rounds, sizeof(double), compare_doubles);
    printf("dgemm %4d: library %10.1f ns, through libtakt-blas %10.1f ns "
           "(medians: %+.1f ns, %.3f; minima: %+.1f ns, %.3f)\n",
           n, subject[0].seconds[rounds / 2] * 1e9,
           subject[1].seconds[rounds / 2] * 1e9,
           (subject[1].seconds[rounds / 2] - subject[0].seconds[rounds / 2]) *
               1e9,
           subject[1].seconds[rounds / 2] / subject[0].seconds[rounds / 2],
           (subject[1].seconds[0] - subject[0].seconds[0]) * 1e9,
           subject[1].seconds[0] / subject[0].seconds[0]);
    free(a);
}

int main(int argc, char **argv)
{
    bench_refuse_options(argc, argv, "[LIBTAKT-BLAS [BLAS]]");
    static const int sizes[] = {4, 8, 16, 24, 32, 48, 64, 128, 256, 512, 1024};
    const char *dropin = argc > 1 ? argv[1] : TAKT_DROPIN;
    const char *blas = argc > 2 ? argv[2] : "libblas.so.3";
    struct subject subject[2];

    setenv("TAKT_RUN_LIBRARY", blas, 1);
    subject[0].dgemm = find(blas, "cblas_dgemm");
    subject[1].dgemm = find(dropin, "cblas_dgemm");
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        compare(subject, sizes[i]);
    return 0;
}
