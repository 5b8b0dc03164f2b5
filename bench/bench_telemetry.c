/* SPDX-License-Identifier: MIT */
/*
 * bench_telemetry.c - what telling of calls costs them.
 *
 *     bench_telemetry            short calls, then a mixed workload that is
 *                                exported to a file (/dev/null)
 *     bench_telemetry endpoint   the workload is exported to where the OTEL_
 *                                variables say
 *
 * Short calls are timed in contexts that differ in telemetry alone. The
 * workload is run in one context, in turns with and without: so it is decided
 * alike.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "call/ctx.h"
#include "workload.h"

static takt_ctx *open_ctx(const takt_ctx_options *options)
{
    takt_ctx *ctx;

    if (takt_ctx_create(options, &ctx) != TAKT_OK) {
        fprintf(stderr, "no context\n");
        exit(2);
    }
    return ctx;
}

/* ---- short calls -----------------------------------------------------------
 */

static int ignore(void *self, const takt_event *event)
{
    (void)self;
    (void)event;
    return 0;
}

static void end(void *self, unsigned deadline_ms)
{
    (void)self;
    (void)deadline_ms;
}

/* Decided by the table, and always alike: there is one expert to speak of. */
static takt_ctx *told_ctx(const takt_trace_options *trace)
{
    const takt_sink sink = {.event = ignore, .close = end};
    takt_ctx *ctx = open_ctx(&(takt_ctx_options){.threads = 1,
                                                 .exploration = -1,
                                                 .store = "",
                                                 .blas = "",
                                                 .gpu = "",
                                                 .telemetry = ""});

    if (trace != NULL) {
        takt_ctx_trace(ctx, trace);
        takt_ctx_add_sink(ctx, &sink);
    }
    return ctx;
}

struct caller {
    takt_ctx *ctx;
    takt_call call;
};

static void call_often(void *self, size_t calls)
{
    const struct caller *caller = self;

    for (size_t i = 0; i < calls; i++)
        takt_run(caller->ctx, &caller->call, NULL);
}

static void time_short(const char *name, const takt_call *call)
{
    const takt_trace_options hot = {.hot_rate = 1}, sampled = {.hot_rate = -1},
                             all = {.is_debugging = 1, .hot_rate = -1};
    const takt_trace_options *const traces[] = {NULL, &hot, &sampled, &all};
    static const char *const names[] = {"off", "hot path", "1% told",
                                        "all told"};
    struct caller caller[4];
    struct bench_way way[4];

    for (int i = 0; i < 4; i++) {
        caller[i] = (struct caller){told_ctx(traces[i]), *call};
        way[i] = (struct bench_way){
            .name = names[i], .run = call_often, .self = &caller[i]};
        call_often(&caller[i], 20000); /* it becomes hot */
    }
    bench_contest(way, 4, 4e8);
    printf("%-22s", name);
    for (int i = 0; i < 4; i++)
        printf("  %s %.1f%s", way[i].name,
               way[i].best_ns - way[0].best_ns * (i > 0), i == 0 ? " ns" : "");
    printf("\n");
    for (int i = 0; i < 4; i++)
        takt_ctx_destroy(caller[i].ctx);
}

/* ---- the workload ----------------------------------------------------------
 */

enum { cells = 120, calls_each = 10, rounds = 30 };

static void run_round(const struct workload *workload, takt_ctx *ctx,
                      struct takt_tap *tap, struct workload_times *times)
{
    atomic_store(&ctx->tap, tap);
    workload_run(workload, ctx, by_context, times);
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *seconds, size_t count)
{
    qsort(seconds, count, sizeof *seconds, by_value);
    return seconds[count / 2];
}

/* One call of each kind, by medians: what others do to the machine now and then
 * is in neither. */
static void report(const char *name, const struct workload *workload,
                   struct workload_times *off, struct workload_times *on)
{
    struct bench_mean mean = {0};
    double off_s = 0, on_s = 0;

    for (size_t i = 0; i < workload->count; i++) {
        const double without =
                         median(&off->seconds[i * off->room], off->count[i]),
                     with = median(&on->seconds[i * on->room], on->count[i]);
        off_s += without;
        on_s += with;
        bench_mean_add(&mean, with / without);
    }
    printf("%-14s %.3f times as long in all, %.3f geometric mean of %zu kinds "
           "of calls (%.2f ms, %.2f ms)\n",
           name, on_s / off_s, bench_mean_of(&mean), workload->count,
           on_s * 1e3, off_s * 1e3);
}

static void report_sink(takt_ctx *ctx)
{
    takt_telemetry state = {.size = sizeof state};

    takt_ctx_flush(ctx);
    takt_ctx_telemetry(ctx, &state);
    printf("    %llu events, %llu dropped; %llu spans sent, %llu dropped, %llu "
           "failed %s\n",
           (unsigned long long)state.told, (unsigned long long)state.dropped,
           (unsigned long long)state.sink[0].sent,
           (unsigned long long)state.sink[0].dropped,
           (unsigned long long)state.sink[0].failed, state.sink[0].problem);
}

static void time_workload(const char *name, const takt_otlp_options *options,
                          const takt_trace_options *trace)
{
    struct workload workload = workload_make(cells, calls_each, 5);
    takt_ctx *ctx =
        open_ctx(&(takt_ctx_options){.store = "", .gpu = "", .telemetry = ""});
    takt_diag diag;

    if (takt_ctx_export(ctx, options, &diag) != TAKT_OK) {
        printf("%s: %s\n", name, diag.text);
        exit(1);
    }
    takt_ctx_trace(ctx, trace);
    workload_look(&workload, ctx);
    struct takt_tap *tap = atomic_load(&ctx->tap);
    struct workload_times off = workload_times_make(&workload, rounds),
                          on = workload_times_make(&workload, rounds),
                          first = workload_times_make(&workload, 5);
    for (int i = 0; i < 5; i++) /* it learns */
        run_round(&workload, ctx, NULL, &first);
    for (int i = 0; i < 2 * rounds; i++) { /* off, on, on, off */
        const bool is_on = i % 4 == 1 || i % 4 == 2;
        run_round(&workload, ctx, is_on ? tap : NULL, is_on ? &on : &off);
    }
    report(name, &workload, &off, &on);
    atomic_store(&ctx->tap, tap);
    report_sink(ctx);
    takt_ctx_destroy(ctx);
    workload_times_free(&off);
    workload_times_free(&on);
    workload_times_free(&first);
    workload_free(&workload);
}

int main(int argc, char **argv)
{
    bench_refuse_options(argc, argv, "[endpoint]");
    const bool is_endpoint = argc > 1 && strcmp(argv[1], "endpoint") == 0;
    const takt_otlp_options file = {.file = "/dev/null"};
    const takt_otlp_options *options = is_endpoint ? NULL : &file;
    float *a = bench_floats(4096), *b = bench_floats(4096),
          *c = bench_floats(4096);
    const takt_call add = {.op = takt_op_find("add"),
                           .shape = {.rank = 1, .dim = {64}},
                           .in = {a, b},
                           .out = c};
    const takt_call product = {.op = takt_op_find("matmul"),
                               .shape = {.rank = 3, .dim = {4, 4, 4}},
                               .in = {a, b},
                               .out = c,
                               .alpha = 1};

    bench_print_load();
    printf("one call, and what it takes more with telemetry, ns\n");
    time_short("add, 64 floats", &add);
    time_short("matmul, 4 x 4 x 4", &product);
    printf("a mixed workload, with telemetry against without\n");
    time_workload("as usual", options, NULL);
    time_workload("no op is hot", options,
                  &(takt_trace_options){.hot_rate = -1});
    time_workload("all told", options,
                  &(takt_trace_options){.is_debugging = 1});
    free(a);
    free(b);
    free(c);
    return 0;
}
