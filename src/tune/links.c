/* SPDX-License-Identifier: MIT */
/*
 * links.c - what moving operands to a GPU and back takes.
 *
 * The library times each transfer of a buffer by itself; so buffers are moved:
 * one is written by the host and read by a GPU, which copies it into another,
 * which is read by the host. Large ones are pinned after a few moves; both ways
 * of moving them are learned.
 */
#include <string.h>

#include "tune/inside.h"

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
