/* SPDX-License-Identifier: MIT */
/*
 * tune_links.c - what moving operands to a GPU and back takes.
 *
 * Whoever moves a buffer is timed by the library itself; so all that is to do
 * is to have buffers moved: one is written by the host and read by a GPU,
 * which copies it into the other, which is read by the host. Large ones are
 * pinned after a few moves; both ways of moving them are learned.
 */
#include <string.h>

#include "tune.h"

enum { rounds = 8 };
static const size_t least_bytes = 4096, most_moved = (size_t)64 << 20;

static bool touch(takt_buffer *buffer, unsigned access)
{
    void *host;

    return takt_buffer_map(buffer, access, &host) == TAKT_OK &&
           takt_buffer_unmap(buffer) == TAKT_OK;
}

static bool move_both_ways(struct tune *tune, const struct tuned_gpu *gpu,
                           takt_buffer *from, takt_buffer *to)
{
    const takt_call call = {
        .op = takt_op_find("copy"),
        .dtype = TAKT_F32,
        .shape = {.rank = 1, .dim = {takt_buffer_bytes(from) / sizeof(float)}},
        .in = {takt_buffer_address(from)},
        .out = takt_buffer_address(to),
    };

    return touch(from, TAKT_MAP_WRITE) &&
           takt_run_on(tune->ctx, &call, gpu->expert) == TAKT_OK &&
           takt_sync(tune->ctx) == TAKT_OK && touch(to, TAKT_MAP_READ);
}

/* The first round touches pages and reserves memory on the GPU, which a model
 * takes for a dear first run. */
static void measure_size(struct tune *tune, const struct tuned_gpu *gpu,
                         size_t bytes)
{
    takt_buffer *from = NULL, *to = NULL;
    void *host;

    if (takt_buffer_create(tune->ctx, bytes, NULL, &from) == TAKT_OK &&
        takt_buffer_create(tune->ctx, bytes, NULL, &to) == TAKT_OK &&
        takt_buffer_map(from, TAKT_MAP_WRITE | TAKT_MAP_DISCARD, &host) ==
            TAKT_OK) {
        memset(host, 0, bytes);
        takt_buffer_unmap(from);
        for (int i = 0; i < rounds && !tune_is_over(tune); i++)
            if (!move_both_ways(tune, gpu, from, to))
                break;
    }
    takt_buffer_destroy(from);
    takt_buffer_destroy(to);
}

void measure_links(struct tune *tune)
{
    for (size_t i = 0; i < tune->gpu_count; i++) {
        const struct tuned_gpu *gpu = &tune->gpu[i];
        for (size_t bytes = least_bytes; bytes <= most_moved; bytes *= 4) {
            if (tune_is_over(tune) ||
                2 * (double)bytes > tune->pace.most_bytes ||
                2 * (double)bytes > gpu->memory_bytes / 2)
                break;
            show_links(tune, tune->expert[gpu->expert]);
            measure_size(tune, gpu, bytes);
        }
    }
}
