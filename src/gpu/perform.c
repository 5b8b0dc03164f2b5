/* SPDX-License-Identifier: MIT */
/*
 * perform.c - the shortest way for each call: nothing to move, a small
 * transfer, or a staged one.
 */
#include "gpu/perform.h"

#include <string.h>

#include "base/clock.h"
#include "base/size.h"
#include "gpu/memory.h"
#include "gpu/slots.h"
#include "gpu/times.h"
#include "gpu/transfer.h"
#include "op/part.h"

/* ---- computing ----------------------------------------------------------- */

static takt_status mark_if(struct takt_device *device, struct takt_mark *mark)
{
    return mark == NULL
               ? TAKT_OK
               : device->driver->mark(device, TAKT_QUEUE_COMPUTE, true, mark);
}

/* Begins a call all of whose operands are on the device. With the lock. */
static takt_status begin(struct takt_device *device,
                         const struct takt_device_job *job,
                         const struct takt_location location[TAKT_OPERANDS])
{
    struct takt_device_call call = {.call = job->call,
                                    .out = location[TAKT_OUT]};

    memcpy(call.in, location, sizeof call.in);
    takt_status status = mark_if(device, job->from);
    if (status == TAKT_OK)
        status = device->driver->compute(device, &call);
    /* What was begun must not be done again elsewhere: better no time. */
    if (status == TAKT_OK && mark_if(device, job->to) == TAKT_ELOST)
        status = TAKT_ELOST;
    return status;
}

/* Everything is there, and stays there. */
static takt_status perform_resident(struct takt_device *device,
                                    const struct takt_device_job *job)
{
    takt__device_lock(&device->lock);
    const takt_status status = begin(device, job, job->resident);
    takt__unlock(&device->lock);
    return status;
}

/* ---- small transfers ----------------------------------------------------- */

static char *host_of(struct takt_location pinned)
{
    return (char *)pinned.block->host + pinned.offset;
}

/* Where each operand that is on the host lies in a small buffer; 0 bytes: it
 * is not there. */
struct small_layout {
    size_t offset[TAKT_OPERANDS];
    size_t bytes[TAKT_OPERANDS];
    size_t used;
};

static void lay_out(const struct takt_device_job *job,
                    const struct takt_extents *extents,
                    struct small_layout *out)
{
    const int twin = takt__call_twin(job->call);

    *out = (struct small_layout){.used = 0};
    for (unsigned i = 0; i < TAKT_OPERANDS; i++) {
        if (job->resident[i].block != NULL)
            continue;
        out->bytes[i] = extents->bytes[i];
        out->offset[i] = out->used;
        out->used = takt__size_add(out->used,
                                   takt__size_round_up(extents->bytes[i], 256));
    }
    if (twin >= 0 && out->bytes[TAKT_OUT] > 0)
        out->offset[TAKT_OUT] = out->offset[twin];
}

/* Bytes between the rows of an operand; 0: it has none. */
static size_t pitch_of(const takt_call *call, unsigned operand)
{
    const struct takt_form_operand *is =
        takt__form_operand(takt__op_form(call->op), operand);

    return is->has_ld ? call->ld[is->ld] * takt_dtype_size(call->dtype) : 0;
}

/* Another thread may be using what lies between rows. */
static void copy_rows(char *to, const char *from, size_t bytes, size_t pitch)
{
    const size_t each =
        pitch == 0 ? bytes : bytes - (bytes - 1) / pitch * pitch;

    if (pitch == 0 || each == pitch) { /* nothing does */
        memcpy(to, from, bytes);
        return;
    }
    for (size_t at = 0; at < bytes; at += pitch)
        memcpy(to + at, from + at, each);
}

static void fill_small(const takt_call *call, const struct small_layout *layout,
                       bool out_is_read, char *pinned)
{
    for (unsigned i = 0; i < TAKT_OUT; i++)
        if (layout->bytes[i] > 0)
            copy_rows(pinned + layout->offset[i], call->in[i], layout->bytes[i],
                      pitch_of(call, i));
    if (out_is_read && layout->bytes[TAKT_OUT] > 0)
        copy_rows(pinned + layout->offset[TAKT_OUT], call->out,
                  layout->bytes[TAKT_OUT], pitch_of(call, TAKT_OUT));
}

static takt_status begin_small(struct takt_device *device,
                               const struct takt_device_job *job,
                               const struct small_layout *layout, int number)
{
    const struct takt_location at = takt__small_location(device, number);
    struct takt_mark *mark = &device->stage.small_mark[number];
    struct takt_location location[TAKT_OPERANDS];

    for (unsigned i = 0; i < TAKT_OPERANDS; i++) {
        location[i] = job->resident[i];
        if (layout->bytes[i] > 0)
            location[i] = (struct takt_location){
                .block = at.block, .offset = at.offset + layout->offset[i]};
    }
    takt__device_lock(&device->lock);
    takt_status status = begin(device, job, location);
    if (status == TAKT_OK && device->driver->mark(device, TAKT_QUEUE_COMPUTE,
                                                  false, mark) != TAKT_OK)
        status = TAKT_ELOST;
    takt__unlock(&device->lock);
    return status == TAKT_OK ? device->driver->wait(device, mark) : status;
}

/* Zero-copy: kernels read and write the pinned memory of the host. At this size
 * that takes less than having the device copy it. */
static takt_status perform_small(struct takt_device *device,
                                 const struct takt_device_job *job,
                                 const struct takt_extents *extents,
                                 const struct small_layout *layout)
{
    const takt_call *call = job->call;
    const int number = takt__small_take(device);

    if (number < 0)
        return TAKT_ENODEV;
    char *pinned = host_of(takt__small_location(device, number));
    const uint64_t start = takt__ticks();
    fill_small(call, layout, extents->out_is_read, pinned);
    const uint64_t filled = takt__ticks();
    const takt_status status = begin_small(device, job, layout, number);
    const uint64_t done = takt__ticks();
    if (status == TAKT_OK && layout->bytes[TAKT_OUT] > 0)
        copy_rows(call->out, pinned + layout->offset[TAKT_OUT],
                  layout->bytes[TAKT_OUT], pitch_of(call, TAKT_OUT));
    takt__device_times.moved += filled - start + takt__ticks() - done;
    takt__small_give(device, number);
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
    struct takt_device_job sent = *job;
    struct takt_block block = {0};
    const bool is_short = extents->bytes[TAKT_OUT] <= 64 &&
                          sent.resident[TAKT_OUT].block == NULL &&
                          !extents->out_is_read;
    const int number = is_short ? takt__small_take(device) : -1;
    size_t used;

    if (is_short && number < 0)
        return TAKT_ENODEV;
    if (number >= 0)
        sent.resident[TAKT_OUT] = takt__small_location(device, number);
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
        memcpy(job->call->out, host_of(sent.resident[TAKT_OUT]),
               extents->bytes[TAKT_OUT]);
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
    struct small_layout layout;

    takt__extents_of(job->call, &extents);
    lay_out(job, &extents, &layout);
    if (layout.used == 0)
        return perform_resident(device, job);
    if (layout.used <= TAKT_SMALL_BYTES)
        return perform_small(device, job, &extents, &layout);
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
