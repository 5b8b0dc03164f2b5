/* SPDX-License-Identifier: MIT */
/*
 * tune_resident.c - one op at one size, on GPUs that have its operands.
 *
 * What counts is what a chain of such calls costs: a call that leaves its
 * result on a GPU returns before it is done, so several are begun and waited
 * for together. A result that the host reads is waited for each time.
 */
#include <math.h>
#include <string.h>

#include "tune.h"

static const double chain_s = 3e-4;
enum { longest_chain = 32, most_tries = 3 };

/* One GPU at one cell. */
struct visit {
    struct tune *tune;
    const struct tuned_gpu *gpu;
    takt_request request;
    const struct resident_stage *stage;
};

/* Seconds of a call in a chain; negative: it could not be run. */
static double time_chain(const struct visit *visit, unsigned calls)
{
    takt_ctx *ctx = visit->tune->ctx;
    const double start = tune_now();

    for (unsigned i = 0; i < calls; i++)
        if (takt_run_on(ctx, &visit->stage->call, visit->gpu->expert) !=
            TAKT_OK)
            return -1;
    if (visit->stage->is_async && takt_sync(ctx) != TAKT_OK)
        return -1;
    return (tune_now() - start) / calls;
}

static bool take_sample(const struct visit *visit, unsigned calls,
                        double about_s)
{
    struct tune *tune = visit->tune;
    double shortest = INFINITY;
    bool is_good = false;

    for (int try = 0; try < most_tries && !is_good && stop_signal == 0; try++) {
        const struct attention attention = pay_attention(about_s * calls);
        const double seconds = time_chain(visit, calls);
        if (seconds < 0)
            return false;
        is_good = !was_interrupted(&attention, seconds * calls);
        shortest = is_good ? seconds : fmin(shortest, seconds);
        tune->rejected += !is_good;
    }
    if (is_good || (tune->takes_anything && isfinite(shortest)))
        note_sample(tune, &visit->request, visit->gpu->expert, shortest);
    return true;
}

/* The first call brings the operands and makes the kernel ready, which takes
 * as long as many others. */
static void measure_gpu(const struct visit *visit, double known)
{
    struct tune *tune = visit->tune;

    if (time_chain(visit, 1) < 0)
        return;
    const double about_s = time_chain(visit, 2);
    if (about_s < 0)
        return;
    const double calls =
        visit->stage->is_async
            ? fmin(chain_s / fmax(about_s, 1e-7) + 1, longest_chain)
            : 1;
    for (; known < samples_enough(tune, about_s, true) && !tune_is_over(tune);
         known++)
        if (!take_sample(visit, (unsigned)calls, about_s))
            return;
}

/* Whether it is worth measuring there; *known: samples that there are. */
static bool is_wanted(struct tune *tune, const struct tuned_gpu *gpu,
                      const struct cell_plan *cell, double *known)
{
    const takt_request request = cell_request(cell, TAKT_SITUATION_ON_GPU);
    takt_estimate all[most_experts];
    takt_work work;
    size_t count;

    if (takt_op_work(request.op, request.dtype, &request.shape, &work) !=
            TAKT_OK ||
        work.bytes > gpu->memory_bytes / 2 ||
        takt_explain(tune->ctx, &request, all, most_experts, &count) != TAKT_OK)
        return false;
    for (size_t i = 0; i < count; i++)
        if (strcmp(all[i].expert, tune->expert[gpu->expert]) == 0) {
            *known = all[i].samples;
            return !all[i].is_asleep && all[i].low_s < tune->pace.longest_s &&
                   all[i].samples <
                       samples_enough(tune, all[i].predicted_s, true);
        }
    return false;
}

bool measure_resident(struct tune *tune, const struct cell_plan *cell)
{
    struct resident_stage stage;
    bool is_set = false, is_new = false;

    for (size_t i = 0; i < tune->gpu_count && !tune_is_over(tune); i++) {
        const struct visit visit = {
            .tune = tune,
            .gpu = &tune->gpu[i],
            .request = cell_request(cell, TAKT_SITUATION_ON_GPU),
            .stage = &stage};
        double known;
        if (!is_wanted(tune, &tune->gpu[i], cell, &known))
            continue;
        if (!is_set && !set_resident_stage(tune, cell, &stage)) {
            free_resident_stage(&stage);
            return is_new;
        }
        is_set = is_new = true;
        measure_gpu(&visit, known);
    }
    if (is_set)
        free_resident_stage(&stage);
    return is_new;
}
