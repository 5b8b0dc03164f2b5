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
enum { longest_chain = 32 };

/* One GPU at one cell. */
struct resident_run {
    struct takt_tuning *tuning;
    const struct takt_tuned_gpu *gpu;
    takt_request request;
    const struct takt_gpu_workset *workset;
    unsigned calls; /* of a chain */
};

/* Seconds of a chain; negative: it could not be run. */
static double time_chain(void *self)
{
    const struct resident_run *run = self;
    takt_ctx *ctx = run->tuning->ctx;
    const double start = takt__tune_now();

    for (unsigned i = 0; i < run->calls; i++)
        if (takt_run_on(ctx, &run->workset->call, run->gpu->expert) != TAKT_OK)
            return -1;
    if (run->workset->is_async && takt_sync(ctx) != TAKT_OK)
        return -1;
    return takt__tune_now() - start;
}

/* The first call brings the operands and prepares the kernel, which takes as
 * long as many others. */
static void measure_gpu(struct resident_run *run, double known)
{
    struct takt_tuning *tuning = run->tuning;

    run->calls = 1;
    if (time_chain(run) < 0)
        return;
    run->calls = 2;
    const double about_s = time_chain(run) / run->calls;
    if (about_s < 0)
        return;
    run->calls =
        run->workset->is_async
            ? (unsigned)fmin(chain_s / fmax(about_s, 1e-7) + 1, longest_chain)
            : 1;
    for (; known < TAKT_TUNE_LEAST_OF_GPU
               ? !takt__tune_is_stopped(tuning)
               : known < takt__tune_enough(tuning, about_s, true) &&
                     !takt__tune_is_over(tuning);
         known++) {
        const double seconds =
            takt__tune_sample(tuning, about_s * run->calls, time_chain, run);
        if (seconds < 0)
            return;
        if (isfinite(seconds))
            takt__batch_add(tuning, &run->request, run->gpu->expert,
                            seconds / run->calls);
    }
}

/* Whether it is worth measuring there; *known: samples that there are. */
static bool is_wanted(const struct resident_run *run, double *known)
{
    const struct takt_tuning *tuning = run->tuning;
    const takt_request *request = &run->request;
    takt_estimate all[TAKT_TUNE_EXPERTS] = {{.size = sizeof all[0]}};
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
        struct resident_run run = {
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
