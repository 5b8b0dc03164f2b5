/* SPDX-License-Identifier: MIT */
/*
 * perform.c - the shortest way for each call: nothing to move, a small
 * transfer, or a staged one.
 */
#include "gpu/perform.h"

#include <string.h>

#include "gpu/memory.h"
#include "gpu/slots.h"
#include "gpu/small.h"
#include "gpu/times.h"
#include "gpu/transfer.h"
#include "op/part.h"

/* Everything is there, and stays there. */
static takt_status perform_resident(struct takt_device *device,
                                    const struct takt_device_job *job)
{
    takt__device_lock(&device->lock);
    const takt_status status = takt__device_begin(device, job, job->resident);
    takt__unlock(&device->lock);
    return status;
}

/* ---- staged transfers ---------------------------------------------------- */

/* What did not come back is computed on the host. A step that may be repeated
 * is, as a whole and once. */
struct rescue {
    const struct takt_device_job *job;
    const struct takt_transfer *transfer;
    uint64_t repeated; /* bit by step */
};

static takt_status rescue_rows(void *self, const struct takt_chunk *chunk,
                               size_t first, size_t rows)
{
    struct rescue *rescue = self;
    const struct takt_device_job *job = rescue->job;
    const takt_call *host = &rescue->transfer->step[chunk->step].host;

    if (!takt__call_is_repeatable(host))
        return takt__call_rows(host, first, rows, job->finish, job->self);
    if ((rescue->repeated >> chunk->step & 1) != 0)
        return TAKT_OK;
    rescue->repeated |= (uint64_t)1 << chunk->step;
    return job->finish(job->self, host);
}

static takt_status run_transfer(struct takt_transfer *transfer,
                                const struct takt_device_job *job)
{
    struct rescue rescue = {.job = job, .transfer = transfer};
    const takt_status status = takt__transfer_run(transfer);

    /* Once any of the output is written, no other expert may run the call. */
    if (status == TAKT_OK || !takt__transfer_has_output(transfer))
        return status;
    if (status == TAKT_ELOST)
        takt__device_lose(transfer->device);
    return takt__transfer_undone(transfer, rescue_rows, &rescue);
}

/* An output of a few bytes is written to a small buffer, not staged. */
static takt_status perform_staged(struct takt_device *device,
                                  const struct takt_device_job *job,
                                  const struct takt_extents *extents)
{
    struct takt_transfer transfer = {.device = device,
                                     .pool = device->all->pool,
                                     .threads = device->all->threads,
                                     .is_apart = true};
    const size_t out_bytes = extents->bytes[TAKT_OUT];
    struct takt_device_job sent = *job;
    struct takt_block block = {0};
    const bool is_short = out_bytes <= 64 &&
                          sent.resident[TAKT_OUT].block == NULL &&
                          !extents->out_is_read;
    const int number = is_short ? takt__small_take(device) : -1;
    size_t used;

    if (is_short && number < 0)
        return TAKT_ENODEV;
    if (number >= 0)
        sent.resident[TAKT_OUT] = takt__small_location(device, number);
    if (sent.resident[TAKT_OUT].block == NULL) {
        transfer.out = job->call->out;
        transfer.out_bytes = out_bytes;
    }
    takt_status status =
        takt__plan(job->call, sent.resident, &block, &transfer, &used);
    if (status == TAKT_OK) {
        takt__device_lock(&device->lock);
        status = takt__memory_take(device, used, &block);
        takt__unlock(&device->lock);
    }
    if (status == TAKT_OK)
        status = run_transfer(&transfer, job);
    if (status == TAKT_OK && number >= 0)
        memcpy(job->call->out,
               (char *)sent.resident[TAKT_OUT].block->host +
                   sent.resident[TAKT_OUT].offset,
               out_bytes);
    takt__lock(&device->lock);
    takt__memory_give(device, &block);
    takt__unlock(&device->lock);
    if (number >= 0)
        takt__small_give(device, number);
    return status;
}

/* ---- the call ------------------------------------------------------------ */

takt_status takt__device_run(struct takt_device *device,
                             const struct takt_device_job *job)
{
    struct takt_extents extents;
    struct takt_small_layout layout;

    takt__extents_of(job->call, &extents);
    takt__small_lay_out(job, &extents, &layout);
    if (layout.used == 0)
        return perform_resident(device, job);
    if (layout.used <= TAKT_SMALL_BYTES)
        return takt__small_run(device, job, &extents, &layout);
    return perform_staged(device, job, &extents);
}

/* ---- bytes --------------------------------------------------------------- */

takt_status takt__device_move(struct takt_device *device, char *host,
                              struct takt_location at, size_t bytes, bool is_in)
{
    struct takt_transfer transfer = {
        .device = device,
        .pool = device->all->pool,
        .threads = device->all->threads,
        .chunks = 1,
        .chunk = {{.host = host,
                   .pitch = 1,
                   .rows = bytes,
                   .row_bytes = 1,
                   .at = at,
                   .is_out = !is_in,
                   .step = is_in ? 0 : -1}},
    };
    const takt_status status = takt__transfer_cut(&transfer);

    return status != TAKT_OK ? status : takt__transfer_run(&transfer);
}

takt_status takt__device_sync(struct takt_device *device)
{
    return takt__queue_sync(device, TAKT_QUEUE_COMPUTE);
}
