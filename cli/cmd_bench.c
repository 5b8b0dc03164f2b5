/* SPDX-License-Identifier: MIT */
/* cmd_bench.c - `takt bench`: every expert beside the machine's limit. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "bench_plan.h"
#include "commands.h"
#include "number.h"
#include "tune/operands.h"

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
    char shape[64];

    if (!bench->shows_progress)
        return;
    fputs("\r\033[K", stderr);
    if (index < bench->cell_count) {
        format_shape(&bench->cell[index].shape, shape, sizeof shape);
        fprintf(stderr, "bench %zu/%zu: %s %s", index + 1, bench->cell_count,
                bench->cell[index].op->name, shape);
    }
    fflush(stderr);
}

/* The limit is measured before and after: one of them may have had a slow
 * spell. */
static takt_status time_call(struct bench *bench, const struct cell *cell,
                             struct limit *limit, size_t *failed)
{
    struct takt_lengths lengths;
    takt_call call;
    takt_status status = takt__timed_call(cell->op, bench->dtype, &cell->shape,
                                          0, &call, &lengths);

    if (status != TAKT_OK)
        return status;
    const struct traffic traffic = traffic_of(&lengths, bench->dtype);
    find_limit(bench, &call, &traffic, limit);
    status = takt__operands_make(cell->op, bench->dtype, &cell->shape, &call,
                                 &lengths);
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
    const struct cell *cell = &bench->cell[index];
    struct limit limit = {0};
    size_t failed = 0;

    show_progress(bench, index);
    const takt_status status = time_call(bench, cell, &limit, &failed);
    show_progress(bench, bench->cell_count);
    if (status != TAKT_OK)
        fprintf(stderr, "takt bench: %s on %s: %s\n", cell->op->name,
                bench->contender[failed].name, takt_status_text(status));
    else if (bench->is_json)
        print_cell_json(bench, cell, &limit);
    else
        print_cell_text(bench, cell, &limit);
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
    for (size_t i = 0; i < bench->cell_count; i++)
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
    if (takt_machine_create(NULL, &bench->machine) == TAKT_OK &&
        read_question(invocation, bench))
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
        "shortest sample, which is what the call costs when nobody disturbs "
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
