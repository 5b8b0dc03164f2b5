/* SPDX-License-Identifier: MIT */
/*
 * bench_solve.c - our factors beside LAPACK's.
 *
 * cholesky, solve, and qr and lstsq of twice as many rows: scalar code, the
 * best instruction set, and the libraries that have LAPACK, on one thread and
 * on all, in turns, through takt_run_on(). Times are of the fastest of many
 * rounds; a ratio says how many times as fast as the library we are on as many
 * threads.
 *
 *     bench_solve [--f32] [--rhs N]
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <takt/takt.h>

#include "bench.h"

static const size_t sizes[] = {8,   12,  16,  24,  32,  48,  64,  96,
                               128, 192, 256, 384, 512, 768, 1024};

enum { size_count = sizeof sizes / sizeof sizes[0], most_ways = 16 };

struct solve_way {
    takt_ctx *ctx;
    const takt_call *call;
    size_t expert;
};

static void run(void *self, size_t calls)
{
    const struct solve_way *way = self;

    for (size_t i = 0; i < calls; i++)
        if (takt_run_on(way->ctx, way->call, way->expert) != TAKT_OK)
            exit(1);
}

/* Scalar code, the best instruction set, and each library with LAPACK. */
static bool takes_part(takt_ctx *ctx, const takt_call *call, size_t expert)
{
    const char *name = takt_ctx_expert(ctx, expert, NULL);
    const takt_isa best = takt_machine_best_isa(takt_ctx_machine(ctx));
    const char *isa = takt_isa_name(best);
    const bool is_own = strncmp(name, "simd.", 5) == 0 &&
                        strncmp(name + 5, isa, strlen(isa)) == 0;

    return (expert == 0 || is_own || strncmp(name, "blas.", 5) == 0) &&
           takt_run_on(ctx, call, expert) == TAKT_OK;
}

static void fill(takt_call *call, size_t n, void *a)
{
    for (size_t i = 0; i < n; i++)
        if (call->dtype == TAKT_F64)
            ((double *)a)[i * (n + 1)] = 2 * (double)n;
        else
            ((float *)a)[i * (n + 1)] = 2 * (float)n;
    call->in[0] = a;
}

static void *elements(takt_dtype dtype, size_t count)
{
    return dtype == TAKT_F64 ? bench_doubles(count) : bench_floats(count);
}

static size_t list_ways(takt_ctx *ctx, const takt_call *call,
                        struct bench_way *ways, struct solve_way *of)
{
    size_t count = 0;

    for (size_t e = 0;
         takt_ctx_expert(ctx, e, NULL) != NULL && count < most_ways; e++) {
        if (!takes_part(ctx, call, e))
            continue;
        of[count] = (struct solve_way){ctx, call, e};
        ways[count] = (struct bench_way){.name = takt_ctx_expert(ctx, e, NULL),
                                         .run = run,
                                         .self = &of[count],
                                         .rest_ns = 2e5};
        count++;
    }
    return count;
}

static double time_of(const struct bench_way *ways, size_t count,
                      const char *prefix, bool is_team)
{
    double best = 0;

    for (size_t i = 0; i < count; i++) {
        const char *end = strrchr(ways[i].name, 'x');
        const bool has_team =
            end != NULL && end[1] >= '0' && end[1] <= '9' && end[-1] != 'v';
        if (strncmp(ways[i].name, prefix, 5) == 0 && has_team == is_team &&
            (best == 0 || ways[i].best_ns < best))
            best = ways[i].best_ns;
    }
    return best;
}

static void print_row(size_t n, const struct bench_way *ways, size_t count)
{
    printf("%6zu", n);
    for (size_t i = 0; i < count; i++)
        printf(" %14.2f", ways[i].best_ns / 1e3);
    for (int team = 0; team < 2; team++) {
        const double own = time_of(ways, count, "simd.", team != 0);
        const double their = time_of(ways, count, "blas.", team != 0);
        if (own > 0 && their > 0)
            printf("  %6.2f", their / own);
    }
    printf("\n");
    fflush(stdout);
}

/* Least squares have twice as many equations as unknowns. */
static takt_call call_of(const char *op, takt_dtype dtype, size_t n, size_t rhs)
{
    takt_call call = {.op = takt_op_find(op), .dtype = dtype};

    if (strcmp(op, "qr") == 0)
        call.shape = (takt_shape){2, {2 * n, n}};
    else if (strcmp(op, "lstsq") == 0)
        call.shape = (takt_shape){3, {2 * n, n, rhs}};
    else
        call.shape = (takt_shape){2, {n, strcmp(op, "solve") == 0 ? rhs : n}};
    return call;
}

static void print_head(const char *op, takt_dtype dtype,
                       const struct bench_way *ways, size_t count)
{
    printf("\n%s %s, microseconds\n     n", op, takt_dtype_name(dtype));
    for (size_t w = 0; w < count; w++)
        printf(" %14s", ways[w].name);
    printf("  x1, all: times as fast as the library\n");
}

static void time_op(takt_ctx *ctx, const char *op, takt_dtype dtype, size_t rhs)
{
    for (size_t i = 0; i < size_count; i++) {
        const size_t n = sizes[i], most = n > rhs ? n : rhs;
        struct bench_way ways[most_ways];
        struct solve_way of[most_ways];
        void *a = elements(dtype, 2 * n * n), *b = elements(dtype, 2 * n * rhs);
        void *out = elements(dtype, 3 * n * most);
        takt_call call = call_of(op, dtype, n, rhs);

        fill(&call, n, a);
        call.in[1] = call.op->inputs > 1 ? b : NULL;
        call.out = out;
        const size_t count = list_ways(ctx, &call, ways, of);
        if (i == 0)
            print_head(op, dtype, ways, count);
        bench_contest(ways, count, n >= 512 ? 400e6 : 60e6);
        print_row(n, ways, count);
        free(a);
        free(b);
        free(out);
    }
}

int main(int argc, char **argv)
{
    takt_dtype dtype = TAKT_F64;
    size_t rhs = 1;
    takt_ctx *ctx;

    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "--f32") == 0)
            dtype = TAKT_F32;
        else if (strcmp(argv[i], "--rhs") == 0 && i + 1 < argc)
            rhs = strtoul(argv[++i], NULL, 10);
        else
            bench_refuse_options(2, (char *[]){argv[0], argv[i], NULL},
                                 "[--f32] [--rhs N]");
    if (takt_ctx_create(&(takt_ctx_options){.store = "", .gpu = ""}, &ctx) !=
        TAKT_OK)
        return 1;
    bench_print_load();
    time_op(ctx, "cholesky", dtype, rhs);
    time_op(ctx, "solve", dtype, rhs);
    time_op(ctx, "qr", dtype, rhs);
    time_op(ctx, "lstsq", dtype, rhs);
    takt_ctx_destroy(ctx);
    return 0;
}
