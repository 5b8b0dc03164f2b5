/* SPDX-License-Identifier: MIT */
/*
 * cmd_bench.c - `takt bench`: every expert beside the machine's limit.
 *
 * No machine is idle all the time, and an expert that is timed while another
 * process is busy looks slow. So contenders take short turns, and a slow spell
 * hits all of them. The shortest sample is what the call costs; the median says
 * what a spell adds.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench_limit.h"
#include "bench_plan.h"
#include "commands.h"
#include "number.h"
#include "tune/operands.h"

/* ---- turns, warm-up and samples ---- */

enum { rounds = 7 };

/* Wide vector units need that long to reach full speed, and threads that the
 * previous expert left spinning need about as long to fall asleep. */
static const double warm_up_s = 0.0004;
static const double sample_s = 0.00002; /* the clock is a thousandth of it */

static takt_status run_once(takt_ctx *ctx, const struct contender *c,
                            const takt_call *call, takt_decision *decision)
{
    return c->is_adaptive ? takt_run(ctx, call, decision)
                          : takt_run_on(ctx, call, c->expert);
}

/* Seconds of a call. An expert that fails is out from then on. */
static double time_calls(takt_ctx *ctx, struct contender *c,
                         const takt_call *call)
{
    const double start = now_s();

    for (size_t i = 0; i < c->calls; i++)
        if (run_once(ctx, c, call, NULL) != TAKT_OK) {
            c->is_out = true;
            return INFINITY;
        }
    return (now_s() - start) / (double)c->calls;
}

static void add_sample(struct contender *c, double seconds)
{
    c->latest[c->samples++ % most_samples] = seconds;
    if (c->samples == 1 || seconds < c->best_s)
        c->best_s = seconds;
}

/* Runs the call once, which shows whether the expert can run it, starts threads
 * and compiles kernels; then for as long as it takes to know how often it fits
 * a sample. What is longer than the whole budget is not run again. */
static takt_status enter(takt_ctx *ctx, struct contender *c,
                         const takt_call *call, double budget_s)
{
    takt_decision decision = {.size = sizeof decision};
    const double start = now_s();
    const takt_status status = run_once(ctx, c, call, &decision);
    double seconds = now_s() - start;

    c->is_out = !c->is_adaptive && status != TAKT_OK;
    if (status != TAKT_OK)
        return c->is_out ? TAKT_OK : status;
    memcpy(c->ran, c->is_adaptive ? decision.expert : c->name, sizeof c->ran);
    c->samples = 0;
    c->used_s = 0;
    c->calls = 1;
    if (seconds < budget_s)
        seconds = time_calls(ctx, c, call);
    while (seconds * (double)c->calls < sample_s) {
        c->calls *= 2;
        seconds = time_calls(ctx, c, call);
    }
    add_sample(c, seconds);
    return TAKT_OK;
}

/* At the end another expert may be chosen than at first: threads are awake. */
static void take_turn(takt_ctx *ctx, struct contender *c, const takt_call *call,
                      double turn_s)
{
    const double start = now_s();
    takt_decision decision = {.size = sizeof decision};
    double used;

    do
        time_calls(ctx, c, call);
    while (now_s() - start < warm_up_s);
    do {
        add_sample(c, time_calls(ctx, c, call));
        used = now_s() - start;
    } while (used < turn_s);
    c->used_s += used;
    if (c->is_adaptive && takt_run(ctx, call, &decision) == TAKT_OK)
        memcpy(c->ran, decision.expert, sizeof c->ran);
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void find_median(struct contender *c)
{
    const size_t count = c->samples < most_samples ? c->samples : most_samples;

    qsort(c->latest, count, sizeof c->latest[0], compare);
    c->median_s = c->latest[count / 2];
}

/* Times the call with each contender, in turns and in a new order every round,
 * for about `budget_s` altogether. What is slow is called once at least.
 * On failure says which of them failed. */
static takt_status run_contest(takt_ctx *ctx, const takt_call *call,
                               double budget_s, struct contender *contenders,
                               size_t count, size_t *failed)
{
    size_t in = 0;

    for (size_t i = 0; i < count; i++) {
        const takt_status status = enter(ctx, &contenders[i], call, budget_s);
        *failed = i;
        if (status != TAKT_OK)
            return status;
        in += !contenders[i].is_out;
    }
    const double share_s = budget_s / (double)(in > 0 ? in : 1);
    for (size_t round = 0; round < rounds; round++)
        for (size_t i = 0; i < count; i++) {
            struct contender *c = &contenders[(i + round) % count];
            /* A turn has two samples at least; those for which even that is
             * too long were timed when they entered. */
            const double least = 2 * c->best_s * (double)c->calls;
            if (!c->is_out && c->used_s + least < share_s)
                take_turn(ctx, c, call, share_s / rounds);
        }
    for (size_t i = 0; i < count; i++)
        if (!contenders[i].is_out)
            find_median(&contenders[i]);
    return TAKT_OK;
}

/* ---- the answers, as a table and as JSON ---- */

/* Billions per second of what the limit is about. */
static double rate(const struct limit *limit, double seconds)
{
    return (limit->is_memory ? limit->work.bytes : limit->work.flops) /
           seconds * 1e-9;
}

static struct phrase time_text(double seconds)
{
    if (seconds < 1e-6)
        return phrase("%.1f ns", seconds * 1e9);
    if (seconds < 1e-3)
        return phrase("%.2f us", seconds * 1e6);
    return seconds < 1 ? phrase("%.2f ms", seconds * 1e3)
                       : phrase("%.2f s", seconds);
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

static void print_contest_text(const struct bench *bench,
                               const struct contest *contest,
                               const struct limit *limit)
{
    const struct contender *ranked[most_contenders];
    const size_t count = rank_contenders(bench, ranked);
    double best = 0; /* of an expert that is named */

    for (size_t i = count; i-- > 0;)
        if (!ranked[i]->is_adaptive)
            best = ranked[i]->best_s;
    printf("%s %s %s\n  ", contest->op->name, takt_dtype_name(bench->dtype),
           shape_text(&contest->shape).at);
    print_limit(bench, limit);
    printf("  %-28s %10s %10s %9s %9s %8s\n", "expert", "best", "median",
           limit->is_memory ? "GB/s" : "GFLOP/s", "of limit", "x best");
    for (size_t i = 0; i < count; i++) {
        const struct contender *c = ranked[i];
        printf("  %-28s %10s %10s %9.2f %8.0f%% %8.2f\n",
               phrase("%s%s%s", c->name, c->is_adaptive ? ": " : "",
                      c->is_adaptive ? c->ran : "")
                   .at,
               time_text(c->best_s).at, time_text(c->median_s).at,
               rate(limit, c->best_s), 100 * limit->seconds / c->best_s,
               best > 0 ? c->best_s / best : 1.0);
    }
    putchar('\n');
    fflush(stdout);
}

static void print_contest_json(struct bench *bench,
                               const struct contest *contest,
                               const struct limit *limit)
{
    struct json *json = &bench->json;

    json_print(json,
               "{op:%s dtype:%s shape:%p bytes:%g flops:%g limit:{kind:%s "
               "seconds:%g bytes_per_s:%g bytes_per_s_one_thread:%g "
               "flops_per_s:%g} experts:[",
               contest->op->name, takt_dtype_name(bench->dtype),
               (const void *)&contest->shape, limit->work.bytes,
               limit->work.flops, limit->is_memory ? "memory" : "arithmetic",
               limit->seconds, limit->all_bandwidth, limit->one_bandwidth,
               limit->flops);
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

/* ---- the command ---- */

/* How operands pass through memory: arrays that count are those at least half
 * as long as the longest one. */
static struct traffic traffic_of(const struct takt_lengths *lengths,
                                 takt_dtype dtype)
{
    struct traffic traffic = {.streams = 0};
    size_t longest = 0;

    for (int i = 0; i < TAKT_OPERANDS; i++) {
        longest = lengths->of[i] > longest ? lengths->of[i] : longest;
        traffic.bytes +=
            (double)lengths->of[i] * (double)takt_dtype_size(dtype);
    }
    for (int i = 0; i < TAKT_OUT; i++)
        traffic.streams += lengths->of[i] > longest / 2;
    traffic.is_written = lengths->of[TAKT_OUT] > longest / 2;
    return traffic;
}

static void find_limit(const struct bench *bench, const takt_call *call,
                       const struct traffic *traffic, struct limit *limit)
{
    const unsigned threads = bench->machine->threads;

    limit->one_bandwidth = fmax(limit->one_bandwidth,
                                measure_bandwidth(bench->machine, traffic, 1));
    if (threads > 1)
        limit->all_bandwidth =
            fmax(limit->all_bandwidth,
                 measure_bandwidth(bench->machine, traffic, threads));
    limit->all_bandwidth = fmax(limit->all_bandwidth, limit->one_bandwidth);
    limit->flops = bench->flops * threads;
    takt_op_work(call->op, call->dtype, &call->shape, &limit->work);
    const double memory_s = limit->work.bytes / limit->all_bandwidth;
    const double flops_s = limit->work.flops / limit->flops;
    limit->is_memory = memory_s >= flops_s;
    limit->seconds = fmax(memory_s, flops_s);
}

static void show_progress(const struct bench *bench, size_t index)
{
    if (!bench->shows_progress)
        return;
    fputs("\r\033[K", stderr);
    if (index < bench->contest_count)
        fprintf(stderr, "bench %zu/%zu: %s %s", index + 1, bench->contest_count,
                bench->contest[index].op->name,
                shape_text(&bench->contest[index].shape).at);
    fflush(stderr);
}

/* The limit is measured before and after: one of them may have had a slow
 * spell. */
static takt_status time_call(struct bench *bench, const struct contest *contest,
                             struct limit *limit, size_t *failed)
{
    struct takt_lengths lengths;
    takt_call call;
    takt_status status = takt__timed_call(contest->op, bench->dtype,
                                          &contest->shape, 0, &call, &lengths);

    if (status != TAKT_OK)
        return status;
    const struct traffic traffic = traffic_of(&lengths, bench->dtype);
    find_limit(bench, &call, &traffic, limit);
    status = takt__operands_make(contest->op, bench->dtype, &contest->shape,
                                 &call, &lengths);
    if (status == TAKT_OK) {
        status = run_contest(bench->ctx, &call, bench->budget_s,
                             bench->contender, bench->contender_count, failed);
        takt__operands_free(&call);
    }
    find_limit(bench, &call, &traffic, limit);
    return status;
}

static bool time_cell(struct bench *bench, size_t index)
{
    const struct contest *contest = &bench->contest[index];
    struct limit limit = {0};
    size_t failed = 0;

    show_progress(bench, index);
    const takt_status status = time_call(bench, contest, &limit, &failed);
    show_progress(bench, bench->contest_count);
    if (status != TAKT_OK)
        fprintf(stderr, "takt bench: %s on %s: %s\n", contest->op->name,
                bench->contender[failed].name, takt_status_text(status));
    else if (bench->is_json)
        print_contest_json(bench, contest, &limit);
    else
        print_contest_text(bench, contest, &limit);
    return status == TAKT_OK;
}

/* A call that fails is left out, and the exit status says so. */
static int time_all(struct bench *bench)
{
    bool is_whole = true;

    bench->flops = measure_flops(bench->machine);
    if (bench->dtype == TAKT_F64)
        bench->flops /= 2;
    if (bench->is_json) {
        bench->json = json_begin(stdout);
        json_print(&bench->json,
                   "{machine:%s hw_fingerprint:%s threads:%u "
                   "flops_per_s_one_core:%g budget_s:%g results:[",
                   bench->machine->cpu_name, bench->machine->hw_fingerprint,
                   bench->machine->threads, bench->flops, bench->budget_s);
    }
    for (size_t i = 0; i < bench->contest_count; i++)
        is_whole = time_cell(bench, i) && is_whole;
    if (bench->is_json)
        json_print(&bench->json, "]}\n");
    return is_whole ? EXIT_DONE : EXIT_FINDING;
}

static int run(const struct invocation *invocation)
{
    struct bench *bench = calloc(1, sizeof *bench);
    int code = EXIT_USAGE;

    if (bench == NULL)
        return usage_error(invocation->command, "%s",
                           takt_status_text(TAKT_ENOMEM));
    bench->command = invocation->command;
    bench->is_json = option_given(invocation, "json");
    bench->shows_progress = isatty(STDERR_FILENO) != 0;
    const takt_status status = takt_machine_create(NULL, &bench->machine);
    if (status != TAKT_OK)
        complain(invocation->command, "this machine: %s",
                 takt_status_text(status));
    else if (read_question(invocation, bench))
        code = time_all(bench);
    takt_ctx_destroy(bench->ctx);
    takt_machine_destroy(bench->machine);
    free(bench);
    return code;
}

const struct command cmd_bench = {
    .name = "bench",
    .operands = "[OP...]",
    .summary = "time every expert beside the limit of this machine",
    .description =
        "Runs each op at each size on every expert that can: instruction sets "
        "on one and on more threads, the BLAS libraries that are found, and "
        "the GPUs, to which operands are brought from the host each time. "
        "They take short turns, in a new order every round, after a warm-up, "
        "so that a slow spell of the machine hits all of them. 'best' is the "
        "shortest sample, which is what the call costs when nothing disturbs "
        "it; 'median' is what it costs just now. The operands are in the "
        "nearest cache that holds them. 'adaptive' is what Takt would choose "
        "by itself.\n\n"
        "The limit is measured in the same run by loops of the tool itself, "
        "on all threads that Takt may use: bytes per second through as many "
        "arrays as the op reads and writes, of the same size, and "
        "multiply-adds per second of one core times the threads. The one that "
        "takes longer for the work of the call is its limit. For ops such as "
        "exp the operations are counted as the catalogue does.",
    .max_operands = max_operands,
    .options = {{"sizes", "LIST", NULL,
                 "sizes or shapes, such as 1K,64K,1M or 64x64x64,512x512x512"},
                {"dtype", "TYPE", "f32|f64", "element type (default f32)"},
                {"experts", "LIST", NULL,
                 "experts to time (default all, and adaptive)"},
                {"seconds", "S", NULL,
                 "time for each op and size (default 0.3)"},
                {"json", NULL, NULL, "print one JSON object"}},
    .examples = {"takt bench add --sizes 1K,64K",
                 "takt bench matmul --sizes 64x64x64 --dtype f64",
                 "takt bench exp --experts scalar,adaptive --seconds 0.1",
                 "takt bench sum --sizes 4K --seconds 0.05 --json"},
    .run = run,
};
