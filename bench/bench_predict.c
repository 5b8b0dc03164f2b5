/* SPDX-License-Identifier: MIT */
/*
 * bench_predict.c - how far predictions are off at sizes that nobody measured.
 *
 *     bench_predict [STORE]    also for a store that `takt tune` filled
 *
 * Ops on every expert worth it at four sizes per octave, in a loop (situation
 * repeat), medians of many runs. A machine may be slow for a second, so all
 * sizes have their first run before any has its second. A model is told two
 * runs at each of a few random sizes and asked about all the others; forty
 * times over.
 */
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <takt/takt.h>

#include "bench.h"
#include "tune/operands.h"

enum { most_sizes = 96, most_experts = 32, runs = 9, trials = 40 };

/* What was measured of one op. */
struct series {
    const char *name;
    double low, high; /* log2 of the size */
    takt_shape shape[most_sizes];
    size_t count;
    /* By size and expert; 0: not run, or far behind. */
    double seconds[most_sizes][most_experts];
    double sample[most_sizes][most_experts][2];
};

/* Every run at one op, by size and expert; 0: not run. */
static double all_runs[most_sizes][most_experts][runs];
static double best_s[most_sizes];

static uint64_t state = 20261115;

static size_t draw(size_t below)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (size_t)(state >> 33) % below;
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double quantile(double *values, size_t count, double share)
{
    qsort(values, count, sizeof values[0], by_value);
    return values[(size_t)((double)(count - 1) * share)];
}

/* ---- measuring -------------------------------------------------------------
 */

static takt_shape shape_of(const takt_op *op, size_t n)
{
    if (strcmp(op->shape, "N") == 0)
        return (takt_shape){.rank = 1, .dim = {n}};
    if (strcmp(op->shape, "MxNxK") == 0)
        return (takt_shape){.rank = 3, .dim = {n, n, n}};
    return (takt_shape){.rank = 2, .dim = {n, n}};
}

/* Calls by the same expert until its threads are awake and wide vector units at
 * full speed: then the operands lie where its last call left them. */
static void warm_up(takt_ctx *ctx, const takt_call *call, size_t expert)
{
    const double start = bench_now_ns();

    while (takt_run_on(ctx, call, expert) == TAKT_OK &&
           bench_now_ns() - start < 300e3)
        ;
}

/* One run of a loop, which is long enough for the clock not to count. */
static double run_once(takt_ctx *ctx, const takt_call *call, size_t expert)
{
    double ns = 0;

    warm_up(ctx, call, expert);
    for (size_t calls = 1; ns < 10e3; calls *= 4) {
        const double start = bench_now_ns();
        for (size_t i = 0; i < calls; i++)
            if (takt_run_on(ctx, call, expert) != TAKT_OK)
                return 0;
        ns = bench_now_ns() - start;
        if (ns >= 10e3)
            return ns * 1e-9 / (double)calls;
    }
    return 0;
}

/* The first run shows which experts are worth others, and is not kept. */
static void run_size(takt_ctx *ctx, const struct series *series, size_t at,
                     int run)
{
    const takt_op *op = takt_op_find(series->name);
    struct takt_lengths lengths;
    takt_call call;

    if (takt__operands_make(op, TAKT_F32, &series->shape[at], &call,
                            &lengths) != TAKT_OK)
        exit(2);
    for (size_t e = 0; takt_ctx_expert(ctx, e, NULL) != NULL; e++) {
        double *all = all_runs[at][e];
        if (run >= 0 && (all[0] == 0 || all[0] > 20 * best_s[at]))
            continue;
        const double seconds = run_once(ctx, &call, e);
        all[run < 0 ? 0 : run] = seconds;
        if (seconds > 0 && seconds < best_s[at])
            best_s[at] = seconds;
    }
    takt__operands_free(&call);
}

/* Takes the medians; how far those of every other run are off those of the
 * others says how far any prediction has to be off. */
static size_t take_size(struct series *series, size_t at, double *errors)
{
    size_t count = 0;

    for (size_t e = 0; e < most_experts; e++) {
        double *all = all_runs[at][e], half[2][(runs + 1) / 2];
        if (all[0] == 0 || all[0] > 20 * best_s[at])
            continue;
        for (int i = 0; i < runs; i++)
            half[i % 2][i / 2] = all[i];
        errors[count++] = fabs(quantile(half[0], (runs + 1) / 2, 0.5) /
                                   quantile(half[1], runs / 2, 0.5) -
                               1);
        memcpy(series->sample[at][e], all, sizeof series->sample[at][e]);
        series->seconds[at][e] = quantile(all, runs, 0.5);
    }
    return count;
}

/* Adds the errors of medians of half the runs. */
static size_t measure(takt_ctx *ctx, struct series *series, double *errors)
{
    const takt_op *op = takt_op_find(series->name);
    size_t count = 0;

    memset(all_runs, 0, sizeof all_runs);
    for (double x = series->low; x <= series->high; x += 0.25) {
        best_s[series->count] = INFINITY;
        series->shape[series->count++] = shape_of(op, (size_t)exp2(x));
    }
    for (int run = -1; run < runs; run++)
        for (size_t at = 0; at < series->count; at++)
            run_size(ctx, series, at, run);
    for (size_t at = 0; at < series->count; at++)
        count += take_size(series, at, errors + count);
    printf(" %s", series->name);
    fflush(stdout);
    return count;
}

/* ---- predicting ------------------------------------------------------------
 */

static void tell(takt_ctx *ctx, const struct series *series, size_t at)
{
    for (size_t e = 0; takt_ctx_expert(ctx, e, NULL) != NULL; e++)
        for (int i = 0; i < 2 && series->seconds[at][e] > 0; i++)
            takt_record(
                ctx, &(takt_measurement){
                         .request = &(
                             takt_request){.op = takt_op_find(series->name),
                                           .shape = series->shape[at],
                                           .situation = TAKT_SITUATION_REPEAT},
                         .expert = takt_ctx_expert(ctx, e, NULL),
                         .seconds = series->sample[at][e][i],
                         .is_trial = 1});
}

/* Adds the errors of all experts at one size. */
static size_t ask(takt_ctx *ctx, const struct series *series, size_t at,
                  double *errors)
{
    const takt_request request = {.op = takt_op_find(series->name),
                                  .shape = series->shape[at],
                                  .situation = TAKT_SITUATION_REPEAT};
    takt_estimate all[most_experts] = {{.size = sizeof all[0]}};
    size_t known = 0, count = 0;

    takt_explain(ctx, &request, all, most_experts, &known);
    for (size_t e = 0; takt_ctx_expert(ctx, e, NULL) != NULL; e++)
        for (size_t k = 0; k < known; k++)
            if (series->seconds[at][e] > 0 &&
                strcmp(all[k].expert, takt_ctx_expert(ctx, e, NULL)) == 0)
                errors[count++] =
                    fabs(all[k].predicted_s / series->seconds[at][e] - 1);
    return count;
}

static void print_errors(const char *what, double *errors, size_t count)
{
    const double middle = quantile(errors, count, 0.5);

    printf("%-24s median %5.1f%%, nine in ten below %4.0f%% (%zu)\n", what,
           middle * 100, quantile(errors, count, 0.9) * 100, count);
}

static void learn_some(const struct series *series, size_t count, size_t sizes,
                       double *errors, const char *what)
{
    size_t found = 0;

    for (int trial = 0; trial < trials; trial++) {
        const struct series *one = &series[(size_t)trial % count];
        bool is_told[most_sizes] = {false};
        takt_ctx *ctx;
        if (takt_ctx_create(&(takt_ctx_options){.store = ""}, &ctx) != TAKT_OK)
            exit(2);
        for (size_t told = 0; told < sizes;) {
            /* All octaves: every fourth size. */
            const size_t at = sizes == most_sizes ? told * 4 : draw(one->count);
            if (at >= one->count)
                break;
            if (!is_told[at])
                tell(ctx, one, at);
            told += !is_told[at];
            is_told[at] = true;
        }
        for (size_t at = 0; at < one->count; at++)
            if (!is_told[at])
                found += ask(ctx, one, at, errors + found);
        takt_ctx_destroy(ctx);
    }
    print_errors(what, errors, found);
}

int main(int argc, char **argv)
{
    bench_refuse_options(argc, argv, "[STORE]");
    static struct series series[] = {
        {.name = "add", .low = 8, .high = 22},
        {.name = "exp", .low = 8, .high = 22},
        {.name = "sum", .low = 8, .high = 22},
        {.name = "dot", .low = 8, .high = 22},
        {.name = "softmax", .low = 4, .high = 11},
        {.name = "gemv", .low = 4, .high = 11.5},
        {.name = "matmul", .low = 3, .high = 9.5},
    };
    const size_t count = sizeof series / sizeof series[0];
    double *errors =
        malloc((size_t)trials * most_sizes * most_experts * sizeof *errors);
    takt_ctx *ctx;
    size_t found = 0;

    if (errors == NULL ||
        takt_ctx_create(&(takt_ctx_options){.store = ""}, &ctx) != TAKT_OK)
        return 2;
    bench_print_load();
    printf("measuring");
    for (size_t i = 0; i < count; i++)
        found += measure(ctx, &series[i], errors + found);
    takt_ctx_destroy(ctx);
    printf("\nerror of what is measured itself\n");
    print_errors("half the runs against the others", errors, found);
    printf("error at sizes that were not told, two runs at each that was\n");
    learn_some(series, count, 3, errors, "3 sizes");
    learn_some(series, count, 5, errors, "5 sizes");
    learn_some(series, count, 8, errors, "8 sizes");
    learn_some(series, count, 12, errors, "12 sizes");
    learn_some(series, count, most_sizes, errors, "one per octave");
    if (argc > 1 && takt_ctx_create(&(takt_ctx_options){.store = argv[1]},
                                    &ctx) == TAKT_OK) {
        found = 0;
        for (size_t i = 0; i < count; i++)
            for (size_t at = 0; at < series[i].count; at++)
                found += ask(ctx, &series[i], at, errors + found);
        print_errors("after takt tune", errors, found);
        takt_ctx_destroy(ctx);
    }
    free(errors);
    return 0;
}
