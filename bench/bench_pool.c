/* SPDX-License-Identifier: MIT */
/*
 * bench_pool.c - what it costs to have two threads do something.
 *
 * An empty job on two threads: back to back, after a pause in which a worker
 * is still awake, and after one in which it has gone to sleep. OpenMP's
 * parallel region beside it, where the compiler has one.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "bench.h"
#include "bench_openmp.h"
#include "pool/pool.h"

enum { samples = 2000 };

static void empty_task(void *job, unsigned part, unsigned parts, void *scratch)
{
    (void)job, (void)part, (void)parts, (void)scratch;
    BENCH_USE(part);
}

static void run_pool(void *pool)
{
    takt__pool_run(pool, 2, 0, empty_task, NULL);
}

static void run_openmp(void *unused)
{
    (void)unused;
    bench_openmp_region();
}

/* A short pause is spent at work, a long one asleep. */
static void pause_ns(double ns)
{
    if (ns >= 1e6) {
        nanosleep(&(struct timespec){0, (long)ns}, NULL);
        return;
    }
    for (const double start = bench_now_ns(); bench_now_ns() - start < ns;)
        ;
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void time_jobs(const char *name, void (*run)(void *self), void *self,
                      double pause)
{
    static double ns[samples];
    const size_t count = pause >= 1e6 ? samples / 4 : samples;

    for (int i = 0; i < 100; i++)
        run(self);
    for (size_t i = 0; i < count; i++) {
        pause_ns(pause);
        const double start = bench_now_ns();
        run(self);
        ns[i] = bench_now_ns() - start;
    }
    qsort(ns, count, sizeof ns[0], compare);
    printf("  %-8s %10.0f %10.0f %10.0f %10.0f\n", name, pause, ns[0],
           ns[count / 2], ns[count * 9 / 10]);
}

/* Jobs without a clock between them: what one costs in a row. */
static void time_row(const char *name, void (*run)(void *self), void *self)
{
    enum { jobs = 100, tries = 1000 };
    const double end = bench_now_ns() + 1e9;
    double best = 1e30;

    for (int i = 0; i < tries && bench_now_ns() < end; i++) {
        const double start = bench_now_ns();
        for (int j = 0; j < jobs; j++)
            run(self);
        const double ns = (bench_now_ns() - start) / jobs;
        best = ns < best ? ns : best;
    }
    printf("  %-8s %10s %10.0f\n", name, "in a row", best);
}

static double cpu_s(void)
{
    struct rusage usage;

    getrusage(RUSAGE_SELF, &usage);
    return (double)usage.ru_utime.tv_sec + (double)usage.ru_stime.tv_sec +
           1e-6 * (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

/* After its spin a pool must cost nothing. */
static void time_idle(struct takt_pool *pool)
{
    run_pool(pool);
    pause_ns(5e6);
    const double start = cpu_s();
    nanosleep(&(struct timespec){1, 0}, NULL);
    printf("idle: %.3f ms of processor time in 1 s\n", 1e3 * (cpu_s() - start));
}

static void time_all(const char *name, void (*run)(void *self), void *self)
{
    static const double pauses[] = {0, 10e3, 1e6};

    time_row(name, run, self);
    for (size_t i = 0; i < sizeof pauses / sizeof pauses[0]; i++)
        time_jobs(name, run, self, pauses[i]);
}

/* The pool comes first and again: OpenMP's threads spin for a long time. */
int main(int argc, char **argv)
{
    bench_refuse_options(argc, argv, "");
    struct takt_pool *pool;

    if (takt__pool_create(2, &pool) != TAKT_OK)
        return 1;
    bench_print_load();
    time_idle(pool);
    printf("an empty job on two threads, ns (clock included, about 30)\n"
           "  %-8s %10s %10s %10s %10s\n",
           "", "pause", "best", "median", "9th decile");
    for (int i = 0; i < 2; i++) {
        time_all("pool", run_pool, pool);
        if (bench_has_openmp)
            time_all("openmp", run_openmp, NULL);
        pause_ns(9e8);
    }
    takt__pool_destroy(pool);
    return 0;
}
