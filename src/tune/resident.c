/* SPDX-License-Identifier: MIT */
/*
 * resident.c - one op at one size, on GPUs that have its operands, and what
 * moving operands to a GPU and back takes.
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

/* ---- transfers -----------------------------------------------------------
 *
 * The library times each transfer of a buffer by itself; so buffers are moved:
 * one is written by the host and read by a GPU, which copies it into another,
 * which is read by the host. Large ones are pinned after a few moves; both ways
 * of moving them are learned. */

enum { rounds = 8 };
static const size_t least_bytes = 4096, most_moved = (size_t)64 << 20;

static bool touch(takt_buffer *buffer, unsigned access)
{
    void *host;

    return takt_buffer_map(buffer, access, &host) == TAKT_OK &&
           takt_buffer_unmap(buffer) == TAKT_OK;
}

static bool move_both_ways(struct takt_tuning *tuning,
                           const struct takt_tuned_gpu *gpu, takt_buffer *from,
                           takt_buffer *to)
{
    const takt_call call = {
        .op = takt_op_find("copy"),
        .dtype = TAKT_F32,
        .shape = {.rank = 1, .dim = {takt_buffer_bytes(from) / sizeof(float)}},
        .in = {takt_buffer_address(from)},
        .out = takt_buffer_address(to),
    };

    return touch(from, TAKT_MAP_WRITE) &&
           takt_run_on(tuning->ctx, &call, gpu->expert) == TAKT_OK &&
           takt_sync(tuning->ctx) == TAKT_OK && touch(to, TAKT_MAP_READ);
}

/* The first round touches pages and reserves memory on the GPU, which the model
 * takes for an expensive first run. */
static void measure_size(struct takt_tuning *tuning,
                         const struct takt_tuned_gpu *gpu, size_t bytes)
{
    takt_buffer *from = NULL, *to = NULL;
    void *host;

    if (takt_buffer_create(tuning->ctx, bytes, NULL, &from) == TAKT_OK &&
        takt_buffer_create(tuning->ctx, bytes, NULL, &to) == TAKT_OK &&
        takt_buffer_map(from, TAKT_MAP_WRITE | TAKT_MAP_DISCARD, &host) ==
            TAKT_OK) {
        memset(host, 0, bytes);
        takt_buffer_unmap(from);
        for (int i = 0; i < rounds && !takt__tune_is_over(tuning); i++)
            if (!move_both_ways(tuning, gpu, from, to))
                break;
    }
    takt_buffer_destroy(from);
    takt_buffer_destroy(to);
}

void takt__tune_links(struct takt_tuning *tuning)
{
    for (size_t i = 0; i < tuning->gpu_count; i++) {
        const struct takt_tuned_gpu *gpu = &tuning->gpu[i];
        tuning->progress =
            (takt_tune_progress){.stage = TAKT_TUNE_TRANSFERS,
                                 .expert = tuning->expert[gpu->expert]};
        for (size_t bytes = least_bytes; bytes <= most_moved; bytes *= 4) {
            if (2 * (double)bytes > tuning->limits.most_bytes ||
                2 * (double)bytes > gpu->memory_bytes / 2 ||
                takt__tune_is_over(tuning))
                break;
            measure_size(tuning, gpu, bytes);
        }
    }
}
