/* SPDX-License-Identifier: MIT */
/* workload.c - cells, their oracle, and runs over them. */
#include "workload.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "one_line.h"
#include "tune/operands.h"

double workload_random(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)(*state >> 11) * 0x1p-53;
}

static size_t log_uniform(uint64_t *state, double low, double high)
{
    return (size_t)exp2(low + (high - low) * workload_random(state));
}

static void *need(void *memory)
{
    if (memory == NULL) {
        fprintf(stderr, "no memory\n");
        exit(2);
    }
    return memory;
}

/* ---- shapes ----------------------------------------------------------------
 */

static takt_shape shape2(size_t a, size_t b)
{
    return (takt_shape){.rank = 2, .dim = {a, b}};
}

static takt_shape shape_of(const takt_op *op, uint64_t *r)
{
    if (strcmp(op->shape, "N") == 0)
        return (takt_shape){.rank = 1, .dim = {log_uniform(r, 4, 22)}};
    if (strcmp(op->shape, "MxNxK") == 0)
        return (takt_shape){.rank = 3,
                            .dim = {log_uniform(r, 2, 9.3),
                                    log_uniform(r, 2, 9.3),
                                    log_uniform(r, 2, 9.3)}};
    if (strcmp(op->shape, "BxMxNxK") == 0)
        return (takt_shape){.rank = 4,
                            .dim = {log_uniform(r, 0, 6), log_uniform(r, 2, 6),
                                    log_uniform(r, 2, 6),
                                    log_uniform(r, 2, 6)}};
    if (strcmp(op->shape, "BxHxQxKxD") == 0)
        return (takt_shape){.rank = 5,
                            .dim = {1, log_uniform(r, 0, 3),
                                    log_uniform(r, 0, 8), log_uniform(r, 4, 9),
                                    64}};
    if (strcmp(op->name, "conv2d") == 0) {
        const size_t side = log_uniform(r, 3, 6), filter = 3;
        return (takt_shape){.rank = 10,
                            .dim = {1, log_uniform(r, 2, 6), side, side,
                                    log_uniform(r, 2, 6), filter, filter, 1, 1,
                                    1}};
    }
    if (strcmp(op->name, "pooling") == 0) {
        const size_t side = log_uniform(r, 3, 7);
        return (takt_shape){
            .rank = 7, .dim = {1, log_uniform(r, 2, 6), side, side, 3, 2, 1}};
    }
    return shape2(log_uniform(r, 2, 11), log_uniform(r, 2, 11));
}

/* ---- operands --------------------------------------------------------------
 */

enum { arrays = 5, arena_elements = 5 << 20, offset_elements = 64 << 10 };

/* The arrays that the program works on: four to read, one to write, and one
 * that axpy adds to. Calls take their operands near the beginning, so that
 * small ones find them in a cache, as in a program that uses its arrays. */
struct arena {
    void *array[arrays];
    void *sum;
};

static struct arena arena_make(takt_dtype dtype)
{
    struct arena arena;

    for (int i = 0; i < arrays; i++)
        arena.array[i] = dtype == TAKT_F32 ? bench_floats(arena_elements)
                                           : bench_doubles(arena_elements);
    arena.sum = dtype == TAKT_F32 ? bench_floats(arena_elements)
                                  : bench_doubles(arena_elements);
    for (size_t i = 0; i < arena_elements; i++) /* roots and logarithms */
        for (int k = 0; k < arrays - 1; k++)
            if (dtype == TAKT_F32)
                ((float *)arena.array[k])[i] =
                    fabsf(((float *)arena.array[k])[i]);
            else
                ((double *)arena.array[k])[i] =
                    fabs(((double *)arena.array[k])[i]);
    return arena;
}

static char *near_begin(void *array, takt_dtype dtype, uint64_t *random)
{
    const size_t offset =
        (size_t)(workload_random(random) * offset_elements) / 16 * 16;
    return (char *)array + offset * takt_dtype_size(dtype);
}

static bool fits(const struct takt_lengths *lengths)
{
    for (int i = 0; i < TAKT_OPERANDS; i++)
        if (lengths->of[i] > arena_elements - offset_elements)
            return false;
    return true;
}

static void make_cell(struct workload *workload, const struct arena arena[2],
                      struct cell *out)
{
    uint64_t *random = &workload->random;
    takt_call *call = &out->call;
    const takt_op *op;
    takt_dtype dtype;
    takt_shape shape;
    struct takt_lengths lengths;

    do {
        do
            op = takt_op_at(
                (size_t)(workload_random(random) * (double)takt_op_count()));
        while (strcmp(op->name, "reshape") == 0);
        dtype = workload_random(random) < 0.5 ? TAKT_F32 : TAKT_F64;
        shape = shape_of(op, random);
    } while ((op->dtypes >> dtype & 1) == 0 ||
             takt__timed_call(op, dtype, &shape, 0, call, &lengths) !=
                 TAKT_OK ||
             !fits(&lengths));
    for (int i = 0; i < 4; i++)
        if (lengths.of[i] > 0)
            call->in[i] =
                near_begin(arena[call->dtype].array[i], call->dtype, random);
    call->out = near_begin(arena[call->dtype].array[4], call->dtype, random);
    if (strcmp(call->op->name, "axpy") == 0)
        call->in[1] = call->out = arena[call->dtype].sum;
}

struct workload workload_make(size_t count, size_t calls, uint64_t seed)
{
    struct workload workload = {
        .count = count, .length = count * calls, .random = seed};

    workload.cell = need(calloc(count, sizeof *workload.cell));
    workload.order = need(calloc(workload.length, sizeof *workload.order));
    const struct arena arena[2] = {arena_make(TAKT_F32), arena_make(TAKT_F64)};
    for (size_t i = 0; i < count; i++)
        make_cell(&workload, arena, &workload.cell[i]);
    for (size_t i = 0; i < workload.length; i++)
        workload.order[i] = i % count;
    for (size_t i = workload.length; i-- > 1;) {
        const size_t j =
            (size_t)(workload_random(&workload.random) * (double)(i + 1));
        const size_t kept = workload.order[i];
        workload.order[i] = workload.order[j];
        workload.order[j] = kept;
    }
    return workload;
}

void workload_free(struct workload *workload)
{
    free(workload->cell);
    free(workload->order);
}

/* ---- the oracle ------------------------------------------------------------
 */

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values, size_t count)
{
    if (count == 0)
        return 0;
    qsort(values, count, sizeof values[0], by_value);
    return values[count / 2];
}

/* Short calls are made several times in a row, so that the clock does not
 * count: one call's time is returned. */
static double time_on(takt_ctx *ctx, const struct cell *cell, size_t expert)
{
    const int calls = cell->calls > 0 ? cell->calls : 1;
    const double start = bench_now_ns();

    for (int i = 0; i < calls; i++)
        if (takt_run_on(ctx, &cell->call, expert) != TAKT_OK)
            return 0;
    return (bench_now_ns() - start) * 1e-9 / calls;
}

/* An expert that takes ten times the best is not worth measuring again. */
static void drop_hopeless(struct workload *workload, size_t experts)
{
    for (size_t i = 0; i < workload->count; i++) {
        struct cell *cell = &workload->cell[i];
        double best = INFINITY;
        for (size_t e = 0; e < experts; e++)
            if (cell->expert_s[e] > 0 && cell->expert_s[e] < best) {
                best = cell->expert_s[e];
                cell->best = e;
            }
        for (size_t e = 0; e < experts; e++)
            if (cell->expert_s[e] > 10 * best)
                cell->expert_s[e] = 0;
        cell->calls = best < 2e-6 ? 1 + (int)(2e-6 / best) : 1;
    }
}

static size_t count_experts(const takt_ctx *ctx)
{
    size_t experts = 0;

    while (experts < max_experts && takt_ctx_expert(ctx, experts, NULL) != NULL)
        experts++;
    return experts;
}

/* Twice, because the first call of anything is slow for reasons of its own.
 * Slow code is not asked for large work. */
void workload_look(struct workload *workload, takt_ctx *ctx)
{
    const size_t experts = count_experts(ctx);

    for (size_t i = 0; i < workload->count; i++) {
        struct cell *cell = &workload->cell[i];
        for (size_t e = experts; e-- > 0;) {
            takt_work work;
            takt_op_work(cell->call.op, cell->call.dtype, &cell->call.shape,
                         &work);
            if (e == 0 && work.flops > 2e7)
                continue;
            cell->expert_s[e] = time_on(ctx, cell, e);
            if (cell->expert_s[e] > 0)
                cell->expert_s[e] = time_on(ctx, cell, e);
        }
    }
    drop_hopeless(workload, experts);
}

/* ---- runs ------------------------------------------------------------------
 */

struct workload_times workload_times_make(const struct workload *workload,
                                          int rounds)
{
    const size_t room = workload->length / workload->count * (size_t)rounds;

    return (struct workload_times){
        .room = room,
        .seconds = need(calloc(workload->count * room, sizeof(double))),
        .count = need(calloc(workload->count, sizeof(size_t)))};
}

void workload_times_free(struct workload_times *times)
{
    free(times->seconds);
    free(times->count);
}

static double time_routed(const struct cell *cell)
{
    const double start = bench_now_ns();

    for (int i = 0; i < cell->calls; i++)
        if (one_line(&cell->call) != TAKT_OK) {
            fprintf(stderr, "a call of %s failed\n", cell->call.op->name);
            exit(2);
        }
    return (bench_now_ns() - start) * 1e-9 / cell->calls;
}

void workload_run(const struct workload *workload, takt_ctx *ctx, size_t expert,
                  struct workload_times *times)
{
    one_line_in(ctx);
    for (size_t i = 0; i < workload->length; i++) {
        const size_t at = workload->order[i];
        const struct cell *cell = &workload->cell[at];
        const size_t chosen = expert == by_oracle ? cell->best : expert;
        /* Somebody has to run it, or the next call would find other caches. */
        if (chosen != by_context && !(cell->expert_s[chosen] > 0)) {
            takt_run_on(ctx, &cell->call, cell->best);
            continue;
        }
        const double seconds = chosen == by_context
                                   ? time_routed(cell)
                                   : time_on(ctx, cell, chosen);
        times->seconds[at * times->room + times->count[at]++] = seconds;
    }
}

static double mean(const double *values, size_t count)
{
    double sum = 0;

    for (size_t i = 0; i < count; i++)
        sum += values[i];
    return count == 0 ? 0 : sum / (double)count;
}

void workload_take(struct workload *workload, size_t expert,
                   struct workload_times *times)
{
    for (size_t i = 0; i < workload->count; i++) {
        double *seconds = &times->seconds[i * times->room];
        workload->cell[i].mean_s[expert] = mean(seconds, times->count[i]);
        workload->cell[i].expert_s[expert] = median(seconds, times->count[i]);
    }
}

void workload_find_best(struct workload *workload)
{
    for (size_t i = 0; i < workload->count; i++) {
        struct cell *cell = &workload->cell[i];
        cell->best_s = cell->best_mean_s = INFINITY;
        for (size_t e = 0; e < max_experts; e++) {
            if (cell->expert_s[e] > 0 && cell->expert_s[e] < cell->best_s) {
                cell->best_s = cell->expert_s[e];
                cell->best = e;
            }
            if (cell->mean_s[e] > 0 && cell->mean_s[e] < cell->best_mean_s)
                cell->best_mean_s = cell->mean_s[e];
        }
    }
}

struct workload_ratio workload_compare(const struct workload *workload,
                                       struct workload_times *times,
                                       double *cell_ratio)
{
    double spent = 0, spent_mean = 0, best = 0, best_mean = 0, logs = 0;

    for (size_t i = 0; i < workload->count; i++) {
        const struct cell *cell = &workload->cell[i];
        double *seconds = &times->seconds[i * times->room];
        spent_mean += mean(seconds, times->count[i]);
        best_mean += cell->best_mean_s;
        const double middle = median(seconds, times->count[i]);
        spent += middle;
        best += cell->best_s;
        cell_ratio[i] = middle / cell->best_s;
        logs += log(cell_ratio[i]);
    }
    return (struct workload_ratio){spent / best, spent_mean / best_mean,
                                   exp(logs / (double)workload->count),
                                   spent_mean};
}
