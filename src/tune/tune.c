/* SPDX-License-Identifier: MIT */
/*
 * tune.c - takt_tune(): the options, the loop over the plan, the result.
 *
 * Cells are measured in batches of half a second, which are learned or
 * discarded as a whole; a batch that was discarded is measured again.
 */
#include "takt/tune.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/name.h"
#include "base/sized.h"
#include "call/ctx.h"
#include "op/op_id.h"
#include "tune/inside.h"
#include "tune/operands.h"

static const double batch_s = 0.5, store_every_s = 5;

/* ---- options ---- */

static bool is_list(const void *list, size_t count)
{
    return (list == NULL) == (count == 0);
}

static bool are_sane(const takt_tune_options *options)
{
    const bool has_effort = (unsigned)options->effort <= TAKT_TUNE_FULL;
    const bool has_dtypes =
        (options->dtypes & ~(1u << TAKT_F32 | 1u << TAKT_F64)) == 0;

    return has_effort && has_dtypes && options->budget_s >= 0 &&
           isfinite(options->budget_s) &&
           is_list(options->ops, options->op_count) &&
           is_list(options->shapes, options->shape_count) &&
           is_list(options->experts, options->expert_count);
}

static bool are_ops_sane(const takt_tune_options *options)
{
    for (size_t i = 0; i < options->op_count; i++) {
        const takt_op *op = options->ops[i];
        if (op == NULL || op->is_user || takt__family_at(op, 0) == NULL ||
            (op->dtypes & options->dtypes) == 0)
            return false;
    }
    return true;
}

/* The best known first: they get their share even of a small budget. */
static size_t usual_ops(const takt_op *out[TAKT_OP_COUNT])
{
    /* clang-format off */
    static const char *const usual[] = {
        "matmul", "add", "sum", "dot", "gemv", "axpy", "mul", "exp", "softmax",
        "scale", "copy", "relu", "max", "norm2", "layernorm", "sub", "div",
        "fma", "tanh", "sigmoid", "gelu", "log", "sqrt", "abs", "neg", "clamp",
        "sin", "cos", "exp2", "log2", "log1p", "expm1",
        "mean", "min", "argmax", "argmin", "norm1", "variance", "transpose",
        "bias_add", "bias_mul", "row_sum", "col_sum", "row_mean", "col_mean",
        "row_max", "col_max", "batched_matmul", "conv2d", "attention",
        "pooling", "solve", "cholesky", "lstsq", "qr"};
    /* clang-format on */
    const size_t count = sizeof usual / sizeof usual[0];

    _Static_assert(sizeof usual / sizeof usual[0] == TAKT_OP_COUNT - 1,
                   "all but reshape, which computes nothing");
    for (size_t i = 0; i < count; i++)
        out[i] = takt_op_find(usual[i]);
    return count;
}

/* Fills in what was left 0, and checks what was not. `ops` is for the usual
 * ones. */
static takt_status complete_options(takt_tune_options *options,
                                    const takt_op *ops[TAKT_OP_COUNT])
{
    if (!are_sane(options))
        return TAKT_EINVAL;
    if (options->dtypes == 0)
        options->dtypes = 1u << TAKT_F32 | 1u << TAKT_F64;
    if (options->ops == NULL) {
        options->op_count = usual_ops(ops);
        options->ops = ops;
    } else if (!are_ops_sane(options)) {
        return TAKT_EINVAL;
    }
    for (size_t i = 0; i < options->shape_count; i++)
        if (!takt__tune_fits(options, &options->shapes[i]))
            return TAKT_ESHAPE;
    return TAKT_OK;
}

/* ---- experts ---- */

static bool is_wanted(const takt_tune_options *options, const char *name)
{
    for (size_t i = 0; i < options->expert_count; i++)
        if (takt__name_equal(options->experts[i], name))
            return true;
    return options->experts == NULL;
}

static takt_status find_experts(struct takt_tuning *tuning)
{
    const takt_tune_options *options = &tuning->options;
    const char *name;
    size_t i;

    for (i = 0; i < options->expert_count; i++)
        if (options->experts[i] == NULL)
            return TAKT_EINVAL;
    for (i = 0; i < TAKT_TUNE_EXPERTS &&
                (name = takt_ctx_expert(tuning->ctx, i, NULL)) != NULL;
         i++) {
        tuning->expert[i] = is_wanted(options, name) ? name : NULL;
        tuning->threads[i] = tuning->ctx->experts.expert[i].threads;
        if (tuning->threads[i] > tuning->most_threads)
            tuning->most_threads = tuning->threads[i];
    }
    tuning->expert_count = i;
    for (i = 0; i < options->expert_count; i++)
        if (takt__tune_expert(tuning, options->experts[i]) ==
            tuning->expert_count)
            return TAKT_ENODEV;
    return TAKT_OK;
}

/* Those that are open. */
static void find_gpus(struct takt_tuning *tuning)
{
    takt_gpu_device gpu = {.size = sizeof gpu};

    for (size_t i = 0; tuning->gpu_count < TAKT_TUNE_GPUS &&
                       takt_ctx_gpu(tuning->ctx, i, &gpu) == TAKT_OK;
         i++) {
        const size_t expert = takt__tune_expert(tuning, gpu.expert);
        if (gpu.state == TAKT_GPU_READY && !gpu.is_software &&
            expert < tuning->expert_count)
            tuning->gpu[tuning->gpu_count++] = (struct takt_tuned_gpu){
                .expert = expert, .memory_bytes = (double)gpu.memory_bytes};
    }
    tuning->result.gpus = tuning->gpu_count;
}

/* ---- the work ---- */

/* A cell may be planned twice: as one that needs a crossing, and later. */
static void measure_cell(struct takt_tuning *tuning,
                         const struct takt_tune_cell *cell)
{
    const bool was_known = cell->series->is_known[cell->step];

    if (cell->needs_crossing &&
        !takt__tune_is_crossing(cell->series, cell->step))
        return;
    tuning->progress = (takt_tune_progress){.stage = TAKT_TUNE_MEASURING,
                                            .op = cell->series->op,
                                            .dtype = cell->series->dtype,
                                            .shape = cell->shape};
    const bool is_new = takt__tune_host(tuning, cell);
    if (takt__tune_resident(tuning, cell) || is_new)
        tuning->result.cells += cell->round == 0;
    else if (!was_known)
        tuning->result.known_cells++;
    tuning->done_s += cell->expected_s;
}

/* Measures cells from `first` on for as long as a batch; returns the next one
 * after them. */
static size_t measure_batch(struct takt_tuning *tuning, size_t first)
{
    const struct takt_tune_plan *plan = &tuning->plan;
    const double end_s = tuning->batch.start_s + batch_s;
    size_t next = first;

    while (next < plan->count && !takt__tune_is_over(tuning) &&
           (next == first || takt__tune_now() < end_s))
        measure_cell(tuning, &plan->cell[next++]);
    return next;
}

/* A batch that was measured while others used the machine is measured again
 * when they are done, if there is time. */
static void measure_all(struct takt_tuning *tuning)
{
    double stored_s = takt__tune_now();
    size_t at = 0;

    takt__batch_begin(tuning);
    while (at < tuning->plan.count && !takt__tune_is_over(tuning)) {
        const size_t cells = tuning->result.cells;
        const size_t next = measure_batch(tuning, at);
        if (takt__batch_end(tuning)) {
            at = next;
        } else {
            tuning->result.cells = cells;
            tuning->progress.stage = TAKT_TUNE_WAITING;
            while (!takt__tune_is_over(tuning) &&
                   !takt__tune_await_idle(tuning, batch_s))
                ;
            takt__batch_begin(tuning);
        }
        if (takt__tune_now() - stored_s > store_every_s) {
            takt_ctx_flush(tuning->ctx);
            stored_s = takt__tune_now();
        }
    }
    tuning->result.stored = takt_ctx_flush(tuning->ctx);
}

static void set_deadline(struct takt_tuning *tuning)
{
    const struct takt_tune_limits *limits = &tuning->limits;
    const double usual_s =
        limits->budget_s + limits->gpu_budget_s * (double)tuning->gpu_count;

    tuning->deadline_s =
        tuning->start_s +
        (tuning->options.budget_s > 0 ? tuning->options.budget_s : usual_s);
}

static takt_tune_end end_of(const struct takt_tuning *tuning)
{
    return tuning->is_stopped ? TAKT_TUNE_STOPPED
           : tuning->is_over  ? TAKT_TUNE_TIME_UP
                              : TAKT_TUNE_COMPLETE;
}

static takt_status run(struct takt_tuning *tuning)
{
    takt_status status = find_experts(tuning);

    if (status != TAKT_OK)
        return status;
    find_gpus(tuning);
    set_deadline(tuning);
    if (tuning->options.ignores_load == 0 &&
        !takt__tune_await_idle(tuning, tuning->limits.idle_s)) {
        tuning->result.end =
            tuning->is_stopped ? TAKT_TUNE_STOPPED : TAKT_TUNE_BUSY;
        return TAKT_OK;
    }
    if (!takt__tune_is_over(tuning)) {
        status = takt__tune_plan(tuning);
        if (status != TAKT_OK)
            return status;
        takt__tune_links(tuning);
        measure_all(tuning);
    }
    tuning->result.end = end_of(tuning);
    return TAKT_OK;
}

/* A cancelled thread would leave the memory behind. */
static takt_status run_uncancelled(struct takt_tuning *tuning)
{
    int state;

    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
    const takt_status status = run(tuning);
    takt__tune_plan_free(&tuning->plan);
    free(tuning->workset.arena);
    free(tuning->batch.sample);
    tuning->result.seconds = takt__tune_now() - tuning->start_s;
    pthread_setcancelstate(state, NULL);
    return status;
}

takt_status takt_tune(takt_ctx *ctx, const takt_tune_options *options,
                      takt_tune_result *result)
{
    const takt_op *ops[TAKT_OP_COUNT];
    takt_tune_options copy;

    if (options == NULL || !takt__sized_read(options, &copy) ||
        (result != NULL && !takt__sized_fits(result)))
        return TAKT_EINVAL;
    takt_status status = complete_options(&copy, ops);
    if (status != TAKT_OK)
        return status;
    ctx = takt__ctx_or_default(ctx);
    struct takt_tuning *tuning = ctx == NULL ? NULL : calloc(1, sizeof *tuning);
    if (tuning == NULL)
        return TAKT_ENOMEM;
    tuning->ctx = ctx;
    tuning->machine = takt_ctx_machine(ctx);
    tuning->options = copy;
    tuning->limits = takt__tune_limits(copy.effort, tuning->machine);
    tuning->start_s = takt__tune_now();
    tuning->random = takt__now_ns() | 1;
    status = ctx->is_learning ? run_uncancelled(tuning) : TAKT_ENOTSUP;
    if (status == TAKT_OK && result != NULL)
        takt__sized_fill(result, &tuning->result);
    free(tuning);
    return status;
}
