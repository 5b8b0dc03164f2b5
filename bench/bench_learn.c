/* SPDX-License-Identifier: MIT */
/*
 * bench_learn.c - a mixed workload routed by what was learned, against the
 * best expert per call.
 *
 *     bench_learn [STORE]    with a store that `takt tune` filled: tuned
 *                            without: from a cold start
 *     bench_learn NAME=STORE...   each of them, beside a cold start: such as
 *                            stores with the prior of a fleet (fleet_prior.py)
 *
 * All ops, f32 and f64, log-uniform sizes, in random order. The oracle knows
 * the median time of every expert for every call of this very sequence and
 * takes the shortest: nobody can be faster but by luck. Everything includes
 * the two clock readings that time it.
 *
 * "played" is that oracle at work: the best experts of the first half of the
 * rounds run the sequence in the second half. Each expert was measured in a run
 * of its own, with its threads awake and its data where it left them; who
 * changes experts from call to call has neither. What "played" takes beyond 1
 * no choice of experts can save.
 */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "workload.h"

enum { cells = 240, calls_each = 25, rounds = 4 };

static takt_ctx *open_ctx(const takt_ctx_options *options)
{
    takt_ctx *ctx;

    if (takt_ctx_create(options, &ctx) != TAKT_OK) {
        fprintf(stderr, "no context\n");
        exit(2);
    }
    return ctx;
}

/* A policy under test. */
struct contender {
    const char *name;
    takt_ctx *ctx;
    struct workload_times times;
    bool is_oracle;
};

static void describe(const takt_ctx *ctx, const struct workload *workload,
                     size_t at)
{
    const struct cell *cell = &workload->cell[at];
    const takt_call *call = &cell->call;
    const takt_request request = {
        .op = call->op, .dtype = call->dtype, .shape = call->shape};
    takt_decision decision = {.size = sizeof decision};

    takt_select((takt_ctx *)ctx, &request, &decision);
    printf("  %s %s", call->op->name, takt_dtype_name(call->dtype));
    for (unsigned i = 0; i < call->shape.rank; i++)
        printf("%c%zu", i == 0 ? ' ' : 'x', call->shape.dim[i]);
    printf("  %.2f us on %s, now %s\n", cell->best_s * 1e6,
           takt_ctx_expert(ctx, cell->best, NULL), decision.expert);
}

static size_t largest(const double *values, size_t count)
{
    size_t at = 0;

    for (size_t i = 1; i < count; i++)
        if (values[i] > values[at])
            at = i;
    return at;
}

/* The kinds of calls that are the most times as long as the best. */
static void report_worst(const struct contender *who,
                         const struct workload *workload, double *cell_ratio)
{
    for (int i = 0; i < 12; i++) {
        const size_t at = largest(cell_ratio, workload->count);
        printf("    %5.2fx", cell_ratio[at]);
        describe(who->ctx, workload, at);
        cell_ratio[at] = 0;
    }
}

/* Those whose calls, by means, add the most to the time of all: a few long ones
 * are in here that no median shows. Their times are sorted by now. */
static void report_lost(const struct contender *who,
                        const struct workload *workload)
{
    const struct workload_times *times = &who->times;
    double lost[cells], best_s = 0;

    for (size_t i = 0; i < workload->count; i++) {
        const double *seconds = &times->seconds[i * times->room];
        double sum = 0;
        for (size_t j = 0; j < times->count[i]; j++)
            sum += seconds[j];
        best_s += workload->cell[i].best_mean_s;
        lost[i] = sum / (double)times->count[i] - workload->cell[i].best_mean_s;
    }
    for (int i = 0; i < 8; i++) {
        const size_t at = largest(lost, workload->count);
        printf("    +%.1f%%, longest %.0f us,", 100 * lost[at] / best_s,
               times->seconds[at * times->room + times->count[at] - 1] * 1e6);
        describe(who->ctx, workload, at);
        lost[at] = 0;
    }
}

static void report(struct contender *who, const struct workload *workload,
                   bool is_detailed)
{
    double cell_ratio[cells];
    const struct workload_ratio ratio =
        workload_compare(workload, &who->times, cell_ratio);
    takt_learning learning = {.size = sizeof learning};

    printf("%-16s %8.3f %8.3f %10.3f   ", who->name, ratio.total,
           ratio.mean_total, ratio.geometric);
    takt_ctx_learning(who->ctx, &learning);
    printf("%.2f s, %llu samples, %llu tries (%.3f s), %llu alarms, %llu "
           "dropped\n",
           ratio.spent_s * calls_each * rounds,
           (unsigned long long)learning.samples,
           (unsigned long long)learning.explored, learning.explored_s,
           (unsigned long long)learning.alarms,
           (unsigned long long)learning.dropped);
    if (is_detailed) {
        report_worst(who, workload, cell_ratio);
        report_lost(who, workload);
    }
    fflush(stdout);
}

static void take_best(struct workload *workload, struct workload_times *times,
                      size_t experts)
{
    for (size_t e = 0; e < experts; e++)
        workload_take(workload, e, &times[e]);
    workload_find_best(workload);
}

/* Everybody in turns: each expert, then each policy, in another order every
 * round. */
static void run_all(struct workload *workload, takt_ctx *ctx,
                    struct contender *who, size_t count)
{
    size_t experts = 0;
    while (experts < max_experts && takt_ctx_expert(ctx, experts, NULL) != NULL)
        experts++;
    struct workload_times *times = calloc(experts, sizeof *times);
    if (times == NULL)
        exit(2);
    for (size_t e = 0; e < experts; e++)
        times[e] = workload_times_make(workload, rounds);
    workload_look(workload, ctx);
    for (int round = 0; round < rounds; round++) {
        for (size_t e = 0; e < experts; e++)
            workload_run(workload, ctx, e, &times[e]);
        if (round < rounds / 2)
            take_best(workload, times, experts);
        for (size_t i = 0; i < count; i++) {
            struct contender *next = &who[(i + (size_t)round) % count];
            if (!next->is_oracle)
                workload_run(workload, next->ctx, by_context, &next->times);
            else if (round >= rounds / 2)
                workload_run(workload, ctx, by_oracle, &next->times);
        }
    }
    take_best(workload, times, experts);
    for (size_t e = 0; e < experts; e++)
        workload_times_free(&times[e]);
    free(times);
}

/* ---- held-out sizes --------------------------------------------------------
 */

/* How far predictions are off for calls that were measured here and not by
 * whoever learned. */
static void report_errors(const struct workload *workload, takt_ctx *ctx)
{
    double *error = calloc(workload->count * max_experts, sizeof *error);
    size_t count = 0;

    for (size_t i = 0; i < workload->count; i++) {
        const struct cell *cell = &workload->cell[i];
        const takt_request request = {.op = cell->call.op,
                                      .dtype = cell->call.dtype,
                                      .shape = cell->call.shape};
        takt_estimate all[max_experts] = {{.size = sizeof all[0]}};
        size_t known = 0;
        takt_explain(ctx, &request, all, max_experts, &known);
        for (size_t k = 0; k < known; k++)
            for (size_t e = 0; e < max_experts; e++) {
                const char *name = takt_ctx_expert(ctx, e, NULL);
                if (name == NULL)
                    break;
                if (strcmp(name, all[k].expert) == 0 && cell->expert_s[e] > 0)
                    error[count++] =
                        fabs(all[k].predicted_s / cell->expert_s[e] - 1);
            }
    }
    if (count > 0) {
        for (size_t i = 1; i < count; i++)
            for (size_t j = i; j > 0 && error[j] < error[j - 1]; j--) {
                const double kept = error[j];
                error[j] = error[j - 1];
                error[j - 1] = kept;
            }
        printf("prediction error, all experts: median %.1f%%, p90 %.0f%% "
               "(%zu predictions)\n",
               error[count / 2] * 100, error[count * 9 / 10] * 100, count);
    }
    free(error);
}

enum { most_contenders = 10 };

/* "NAME=STORE", or a store that was tuned. */
static struct contender contender_of(char *word)
{
    char *equals = strchr(word, '=');

    if (equals != NULL)
        *equals = '\0';
    return (struct contender){
        .name = equals != NULL ? word : "tuned",
        .ctx = open_ctx(
            &(takt_ctx_options){.store = equals != NULL ? equals + 1 : word})};
}

int main(int argc, char **argv)
{
    bench_refuse_options(argc, argv, "[[NAME=]STORE...]");
    struct workload workload = workload_make(cells, calls_each, 20261115);
    const bool is_plain = argc < 2 || strchr(argv[1], '=') == NULL;
    struct contender who[most_contenders] = {
        {.name = "cold", .ctx = open_ctx(&(takt_ctx_options){.store = ""})},
        {.name = "played",
         .ctx = open_ctx(&(takt_ctx_options){.store = ""}),
         .is_oracle = true}};
    size_t count = 2;
    takt_ctx *ctx = who[1].ctx;

    if (is_plain)
        who[count++] =
            (struct contender){.name = "moe",
                               .ctx = open_ctx(&(takt_ctx_options){
                                   .policy = TAKT_POLICY_MOE, .store = ""})};
    for (int i = 1; i < argc && count < most_contenders; i++)
        who[count++] = contender_of(argv[i]);

    bench_print_load();
    printf("%d kinds of calls, %d of each in random order, %d rounds\n", cells,
           calls_each, rounds);
    for (size_t i = 0; i < count; i++)
        who[i].times = workload_times_make(&workload, rounds);
    run_all(&workload, ctx, who, count);
    printf("time / best expert per call\n%-16s %8s %8s %10s\n", "", "medians",
           "means", "geometric");
    for (size_t i = 0; i < count; i++)
        report(&who[i], &workload, !is_plain || i != 2);
    if (argc > 1)
        report_errors(&workload, who[count - 1].ctx);
    workload_free(&workload);
    return 0;
}
