/* SPDX-License-Identifier: MIT */
/*
 * bench_lapack.c - what calls of LAPACK on small matrices take under
 * libtakt-blas.
 *
 * usage: bench_lapack [ROUNDS [LIBTAKT-BLAS]]
 *
 * One routine again and again, in processes of its own with and without the
 * library that `takt run` preloads, in turns. Of each the fastest of many
 * bursts counts: what LAPACK calls by name goes through the library, too, so
 * both cannot be timed in one process.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

enum { routines = 5, orders = 4, most_order = 64, work_size = 1 << 16 };

static const char *const names[routines] = {"potrf", "geqrf", "orgqr", "gesdd",
                                            "gesv"};
static const int sizes[orders] = {8, 16, 32, 64};

/* ---- in the child ---- */

typedef void any_routine(const void *first, ...);

static double given[most_order * most_order], factors[most_order * most_order];
static double a[most_order * most_order], u[most_order * most_order],
    vt[most_order * most_order], values[most_order], work[work_size];
static int integers[8 * most_order], info;
static any_routine *routine[routines];

static void fill(int n)
{
    for (int i = 0; i < n * n; i++)
        given[i] = i % (n + 1) == 0 ? n : 1.0 / (1 + i % 7);
    for (int i = 0; i < n; i++) /* symmetric */
        for (int j = 0; j < i; j++)
            given[i * n + j] = given[j * n + i];
}

static void call(int which, int n)
{
    static const int size = work_size, one = 1;

    memcpy(a, which == 2 ? factors : given,
           (size_t)n * (size_t)n * sizeof(double));
    if (which == 0)
        routine[0]("L", &n, a, &n, &info, (size_t)1);
    else if (which == 1)
        routine[1](&n, &n, a, &n, values, work, &size, &info);
    else if (which == 2)
        routine[2](&n, &n, &n, a, &n, values, work, &size, &info);
    else if (which == 3)
        routine[3]("A", &n, &n, a, &n, u, u, &n, vt, &n, work, &size, integers,
                   &info, (size_t)1);
    else
        routine[4](&n, &one, a, &n, integers, values, &n, &info);
}

static double fastest_ns(int which, int n)
{
    const double end_ns = bench_now_ns() + 60e6;
    double best_ns = 1e30;
    int calls = 1;

    while (bench_now_ns() < end_ns) {
        const double start_ns = bench_now_ns();
        for (int i = 0; i < calls; i++)
            call(which, n);
        const double ns = bench_now_ns() - start_ns;
        best_ns = ns / calls < best_ns ? ns / calls : best_ns;
        if (ns < 50e3)
            calls *= 2;
    }
    return best_ns;
}

/* By name, so that it is the preloaded one. */
static int run_child(void)
{
    void *library = dlopen("liblapack.so.3", RTLD_NOW | RTLD_GLOBAL);

    for (int i = 0; i < routines; i++) {
        char name[16];
        snprintf(name, sizeof name, "d%s_", names[i]);
        void *found = library == NULL ? NULL : dlsym(RTLD_DEFAULT, name);
        if (found == NULL)
            return 1;
        memcpy(&routine[i], &found, sizeof found);
    }
    for (int i = 0; i < orders; i++) {
        fill(sizes[i]);
        call(1, sizes[i]);
        memcpy(factors, a, sizeof a);
        for (int j = 0; j < routines; j++)
            printf("%.1f ", fastest_ns(j, sizes[i]));
    }
    return 0;
}

/* ---- in the parent ---- */

static int measure(const char *self, const char *preloaded,
                   double best_ns[orders * routines])
{
    char command[8192];

    snprintf(command, sizeof command, "TAKT_DB= LD_PRELOAD='%s' '%s' child",
             preloaded, self);
    FILE *child = popen(command, "r");
    if (child == NULL)
        return 1;
    for (int i = 0; i < orders * routines; i++) {
        double ns = 0;
        if (fscanf(child, "%lf", &ns) == 1 &&
            (best_ns[i] == 0 || ns < best_ns[i]))
            best_ns[i] = ns;
    }
    return pclose(child);
}

int main(int argc, char **argv)
{
    bench_refuse_options(argc, argv, "[ROUNDS [LIBTAKT-BLAS]]");
    const int rounds = argc > 1 ? atoi(argv[1]) : 7;
    double plain[orders * routines] = {0}, through[orders * routines] = {0};

    if (argc > 1 && strcmp(argv[1], "child") == 0)
        return run_child();
    for (int i = 0; i < rounds; i++)
        if (measure(argv[0], "", plain) != 0 ||
            measure(argv[0], argc > 2 ? argv[2] : TAKT_DROPIN, through) != 0) {
            fprintf(stderr, "bench_lapack: there is no liblapack.so.3\n");
            return 1;
        }
    for (int i = 0; i < orders * routines; i++)
        printf("d%s %3d: library %9.0f ns, through libtakt-blas %9.0f ns "
               "(%+.0f ns, %.3f times as fast)\n",
               names[i % routines], sizes[i / routines], plain[i], through[i],
               through[i] - plain[i], plain[i] / through[i]);
    return 0;
}
