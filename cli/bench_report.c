/* SPDX-License-Identifier: MIT */
/* bench_report.c - the answers of `takt bench`, as a table and as JSON. */
#include <stdio.h>
#include <stdlib.h>

#include "bench_plan.h"
#include "number.h"

/* Billions per second of what the limit is about. */
static double rate(const struct limit *limit, double seconds)
{
    return (limit->is_memory ? limit->work.bytes : limit->work.flops) /
           seconds * 1e-9;
}

static void format_time(double seconds, char *out, size_t size)
{
    if (seconds < 1e-6)
        snprintf(out, size, "%.1f ns", seconds * 1e9);
    else if (seconds < 1e-3)
        snprintf(out, size, "%.2f us", seconds * 1e6);
    else if (seconds < 1)
        snprintf(out, size, "%.2f ms", seconds * 1e3);
    else
        snprintf(out, size, "%.2f s", seconds);
}

static int compare_times(const void *a, const void *b)
{
    const struct contender *x = *(const struct contender *const *)a;
    const struct contender *y = *(const struct contender *const *)b;
    return (x->best_s > y->best_s) - (x->best_s < y->best_s);
}

/* Those that could run the call, the fastest first. */
static size_t rank_contenders(const struct bench *bench,
                              const struct contender **out)
{
    size_t count = 0;

    for (size_t i = 0; i < bench->contender_count; i++)
        if (!bench->contender[i].is_out)
            out[count++] = &bench->contender[i];
    qsort(out, count, sizeof out[0], compare_times);
    return count;
}

static void print_limit(const struct bench *bench, const struct limit *limit)
{
    const unsigned threads = bench->machine->threads;

    if (limit->is_memory) {
        printf("limit: memory, %.1f GB/s measured",
               limit->all_bandwidth * 1e-9);
        if (threads > 1)
            printf(" on %u threads, %.1f on one", threads,
                   limit->one_bandwidth * 1e-9);
    } else {
        printf("limit: arithmetic, %.1f GFLOP/s", limit->flops * 1e-9);
        if (threads > 1)
            printf(" = %u threads x %.1f measured", threads,
                   bench->flops * 1e-9);
    }
    putchar('\n');
}

void print_cell_text(const struct bench *bench, const struct cell *cell,
                     const struct limit *limit)
{
    const struct contender *ranked[most_contenders];
    const size_t count = rank_contenders(bench, ranked);
    double best = 0; /* of an expert that is named */
    char text[128], median[32];

    for (size_t i = count; i-- > 0;)
        if (!ranked[i]->is_adaptive)
            best = ranked[i]->best_s;
    format_shape(&cell->shape, text, sizeof text);
    printf("%s %s %s\n  ", cell->op->name, takt_dtype_name(bench->dtype), text);
    print_limit(bench, limit);
    printf("  %-28s %10s %10s %9s %9s %8s\n", "expert", "best", "median",
           limit->is_memory ? "GB/s" : "GFLOP/s", "of limit", "x best");
    for (size_t i = 0; i < count; i++) {
        const struct contender *c = ranked[i];
        snprintf(text, sizeof text, "%s%s%s", c->name,
                 c->is_adaptive ? ": " : "", c->is_adaptive ? c->ran : "");
        printf("  %-28s ", text);
        format_time(c->best_s, text, sizeof text);
        format_time(c->median_s, median, sizeof median);
        printf("%10s %10s %9.2f %8.0f%% %8.2f\n", text, median,
               rate(limit, c->best_s), 100 * limit->seconds / c->best_s,
               best > 0 ? c->best_s / best : 1.0);
    }
    putchar('\n');
    fflush(stdout);
}

void print_cell_json(struct bench *bench, const struct cell *cell,
                     const struct limit *limit)
{
    struct json *json = &bench->json;

    json_print(json,
               "{op:%s dtype:%s shape:%p bytes:%g flops:%g limit:{kind:%s "
               "seconds:%g bytes_per_s:%g bytes_per_s_one_thread:%g "
               "flops_per_s:%g} experts:[",
               cell->op->name, takt_dtype_name(bench->dtype),
               (const void *)&cell->shape, limit->work.bytes, limit->work.flops,
               limit->is_memory ? "memory" : "arithmetic", limit->seconds,
               limit->all_bandwidth, limit->one_bandwidth, limit->flops);
    for (size_t i = 0; i < bench->contender_count; i++) {
        const struct contender *c = &bench->contender[i];
        if (!c->is_out)
            json_print(json,
                       "{name:%s ran:%s best_s:%g median_s:%g samples:%zu "
                       "calls_per_sample:%zu}",
                       c->name, c->ran, c->best_s, c->median_s, c->samples,
                       c->calls);
    }
    json_print(json, "]}");
}
