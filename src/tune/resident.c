/* SPDX-License-Identifier: MIT */
/*
 * resident.c - one op at one size, on GPUs that have its operands.
 *
 * What counts is what a chain of such calls costs: a call that leaves its
 * result on a GPU returns before it is done, so several are begun and waited
 * for together. A result that the host reads is waited for each time.
 */
#include <math.h>
#include <string.h>

#include "tune/inside.h"

static const double chain_s = 3e-4;
enum { longest_chain = 32, most_tries = 3 };

/* One GPU at one cell. */
struct resident_run {
    struct takt_tuning *tuning;
    const struct takt_tuned_gpu *gpu;
    takt_request request;
    const struct takt_gpu_workset *workset;
};

/* Seconds of a call in a chain; negative: it could not be run. */
static double time_chain(const struct resident_run *run, unsigned calls)
{
    takt_ctx *ctx = run->tuning->ctx;
    const double start = takt__tune_now();

    for (unsigned i = 0; i < calls; i++)
        if (takt_run_on(ctx, &run->workset->call, run->gpu->expert) != TAKT_OK)
            return -1;
    if (run->workset->is_async && takt_sync(ctx) != TAKT_OK)
        return -1;
    return (takt__tune_now() - start) / calls;
}

static bool take_sample(const struct resident_run *run, unsigned calls,
                        double about_s)
{
    struct takt_tuning *tuning = run->tuning;
    double shortest = INFINITY;
    bool is_good = false;

    for (int try = 0; try < most_tries && !is_good; try++) {
        const struct takt_interruptions before =
            takt__interruptions(about_s * calls);
        const double seconds = time_chain(run, calls);
        if (seconds < 0)
            return false;
        is_good = !takt__was_interrupted(&before, seconds * calls);
        shortest = is_good ? seconds : fmin(shortest, seconds);
        tuning->result.rejected += !is_good;
    }
    if (is_good || tuning->options.ignores_load != 0)
        takt__batch_add(tuning, &run->request, run->gpu->expert, shortest);
    return true;
}

/* The first call brings the operands and prepares the kernel, which takes as
 * long as many others. */
static void measure_gpu(const struct resident_run *run, double known)
{
    struct takt_tuning *tuning = run->tuning;

    if (time_chain(run, 1) < 0)
        return;
    const double about_s = time_chain(run, 2);
    if (about_s < 0)
        return;
    const double calls =
        run->workset->is_async
            ? fmin(chain_s / fmax(about_s, 1e-7) + 1, longest_chain)
            : 1;
    for (; known < takt__tune_enough(tuning, about_s, true) &&
           !takt__tune_is_over(tuning);
         known++)
        if (!take_sample(run, (unsigned)calls, about_s))
            return;
}

/* Whether it is worth measuring there; *known: samples that there are. */
static bool is_wanted(const struct resident_run *run, double *known)
{
    const struct takt_tuning *tuning = run->tuning;
    const takt_request *request = &run->request;
    takt_estimate all[TAKT_TUNE_EXPERTS];
    takt_work work;
    size_t count;

    if (takt_op_work(request->op, request->dtype, &request->shape, &work) !=
            TAKT_OK ||
        work.bytes > run->gpu->memory_bytes / 2 ||
        takt_explain(tuning->ctx, request, all, TAKT_TUNE_EXPERTS, &count) !=
            TAKT_OK)
        return false;
    for (size_t i = 0; i < count; i++)
        if (strcmp(all[i].expert, tuning->expert[run->gpu->expert]) == 0) {
            *known = all[i].samples;
            return !all[i].is_asleep &&
                   all[i].low_s < tuning->limits.longest_s &&
                   *known < takt__tune_enough(tuning, all[i].predicted_s, true);
        }
    return false;
}

bool takt__tune_resident(struct takt_tuning *tuning,
                         const struct takt_tune_cell *cell)
{
    struct takt_gpu_workset workset = {.is_async = false};
    bool is_new = false;

    for (size_t i = 0; i < tuning->gpu_count && !takt__tune_is_over(tuning);
         i++) {
        const struct resident_run run = {
            .tuning = tuning,
            .gpu = &tuning->gpu[i],
            .request = takt__tune_request(cell, TAKT_SITUATION_ON_GPU),
            .workset = &workset};
        double known;
        if (!is_wanted(&run, &known))
            continue;
        if (!is_new && !takt__gpu_workset_fill(tuning, cell, &workset))
            break;
        is_new = true;
        measure_gpu(&run, known);
    }
    takt__gpu_workset_free(&workset);
    return is_new;
}
