/* SPDX-License-Identifier: MIT */
/*
 * small.c - one thread, one small buffer, one queue.
 *
 * The output is written by the kernel where it is, in pinned memory: each
 * element once. Inputs are read there too, or are copied to the device first:
 * a product reads its inputs many times, each time over the link. Which of the
 * two takes less is measured for each form and size (is_copied()).
 */
#include "gpu/small.h"

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

takt_status
takt__device_begin(struct takt_device *device,
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

/* ---- the buffer ---------------------------------------------------------- */

void takt__small_lay_out(const struct takt_device_job *job,
                         const struct takt_extents *extents,
                         struct takt_small_layout *out)
{
    const int twin = takt__call_twin(job->call);

    *out = (struct takt_small_layout){.used = 0};
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

/* ---- in place or copied -------------------------------------------------- */

/* A small transfer under way. */
struct run {
    struct takt_device *device;
    const struct takt_device_job *job;
    const struct takt_small_layout *layout;
    int number; /* of the small buffer */
    struct takt_location pinned;
    struct takt_block block; /* of inputs that are copied */
    size_t sent;             /* bytes of the buffer that are on their way */
};

/* Below this, copying has never paid: 25 us instead of 32 for a product of 64
 * by 64 on an H200. */
enum { always_in_place = 1 << 16, trials = 3 };

/* Of calls of that form and about that size; NULL: there is no choice. */
static struct takt_small_trial *trial_of(const struct run *run)
{
    const size_t form = (size_t)takt__op_entry(run->job->call->op)->form;
    size_t class = 0;

    _Static_assert((size_t)always_in_place << TAKT_SMALL_CLASSES >=
                       TAKT_SMALL_BYTES,
                   "each size has its class");
    if (run->layout->used <= always_in_place || form >= TAKT_SMALL_FORMS)
        return NULL;
    while (run->layout->used > (size_t)always_in_place << (class + 1))
        class ++;
    return &run->device->stage.trial[form][class];
}

/* Both ways are tried in turns, some calls each; then the one that took less
 * at its best is taken for as long as the device is open. */
static bool is_copied(struct takt_small_trial *trial)
{
    if (trial == NULL)
        return false;
    const uint32_t in_place = atomic_load(&trial->count[0]);
    const uint32_t copied = atomic_load(&trial->count[1]);
    if (in_place < trials || copied < trials)
        return copied < in_place;
    return atomic_load(&trial->least_ns[1]) < atomic_load(&trial->least_ns[0]);
}

static void count_trial(struct takt_small_trial *trial, bool copied,
                        uint64_t ticks)
{
    const double ns = (double)ticks * takt__seconds_per_tick() * 1e9;
    const uint32_t took = ns < (double)UINT32_MAX ? (uint32_t)ns : UINT32_MAX;

    if (trial == NULL || atomic_load(&trial->count[copied]) >= trials)
        return;
    /* Counts and times of two threads may mix: both are of such calls. */
    if (atomic_load(&trial->count[copied]) == 0 ||
        took < atomic_load(&trial->least_ns[copied]))
        atomic_store(&trial->least_ns[copied], took);
    atomic_fetch_add(&trial->count[copied], 1);
}

/* ---- running ------------------------------------------------------------- */

static char *buffer_of(const struct run *run)
{
    return (char *)run->pinned.block->host + run->pinned.offset;
}

/* Has the device copy what lies in the buffer up to `end`. */
static takt_status send(struct run *run, size_t end)
{
    struct takt_device *device = run->device;
    const struct takt_location to = {.block = &run->block, .offset = run->sent};
    const struct takt_location from = {
        .block = run->pinned.block, .offset = run->pinned.offset + run->sent};

    takt__device_lock(&device->lock);
    const takt_status status = device->driver->copy(device, TAKT_QUEUE_COMPUTE,
                                                    to, from, end - run->sent);
    takt__unlock(&device->lock);
    run->sent = end;
    return status;
}

/* The device copies while the next input is filled in; but each copy takes
 * the driver some microseconds. */
static takt_status fill(struct run *run, bool copied)
{
    enum { worth_sending = 1 << 17 };
    const takt_call *call = run->job->call;
    const struct takt_small_layout *layout = run->layout;
    takt_status status = TAKT_OK;
    size_t end = 0;

    for (unsigned i = 0; i < TAKT_OUT && status == TAKT_OK; i++) {
        if (layout->bytes[i] == 0)
            continue;
        copy_rows(buffer_of(run) + layout->offset[i], call->in[i],
                  layout->bytes[i], pitch_of(call, i));
        end = layout->offset[i] + layout->bytes[i];
        if (copied && end - run->sent >= worth_sending)
            status = send(run, end);
    }
    return copied && status == TAKT_OK && end > run->sent ? send(run, end)
                                                          : status;
}

static takt_status compute(struct run *run, bool copied)
{
    struct takt_device *device = run->device;
    struct takt_mark *mark = &device->stage.small_mark[run->number];
    struct takt_location location[TAKT_OPERANDS];

    for (unsigned i = 0; i < TAKT_OPERANDS; i++) {
        const size_t offset = run->layout->offset[i];
        location[i] = run->job->resident[i];
        if (run->layout->bytes[i] == 0)
            continue;
        location[i] = (struct takt_location){
            .block = run->pinned.block, .offset = run->pinned.offset + offset};
        if (copied && i != TAKT_OUT)
            location[i] = (struct takt_location){&run->block, offset};
    }
    takt__device_lock(&device->lock);
    takt_status status = takt__device_begin(device, run->job, location);
    if (status == TAKT_OK && device->driver->mark(device, TAKT_QUEUE_COMPUTE,
                                                  false, mark) != TAKT_OK)
        status = TAKT_ELOST;
    takt__unlock(&device->lock);
    return status == TAKT_OK ? device->driver->wait(device, mark) : status;
}

/* Nothing is under way in the buffer when this returns. */
static takt_status go(struct run *run, bool copied)
{
    const uint64_t start = takt__ticks();
    takt_status status = fill(run, copied);

    takt__device_times.moved += takt__ticks() - start;
    if (status == TAKT_OK)
        status = compute(run, copied);
    if (status != TAKT_OK && run->sent > 0 &&
        takt__queue_sync(run->device, TAKT_QUEUE_COMPUTE) != TAKT_OK)
        status = TAKT_ELOST;
    if (status == TAKT_OK)
        count_trial(trial_of(run), copied, takt__ticks() - start);
    return status;
}

/* With memory of the device for the inputs, if they are to be copied and there
 * is any. */
static takt_status go_best(struct run *run)
{
    struct takt_device *device = run->device;
    const bool wants_copy = is_copied(trial_of(run));
    takt_status taken = TAKT_ENOMEM;

    if (wants_copy) {
        takt__device_lock(&device->lock);
        taken = takt__memory_take(device, run->layout->used, &run->block);
        takt__unlock(&device->lock);
    }
    const takt_status status = go(run, taken == TAKT_OK);
    if (taken == TAKT_OK) {
        takt__lock(&device->lock);
        takt__memory_give(device, &run->block);
        takt__unlock(&device->lock);
    }
    return status;
}

takt_status takt__small_run(struct takt_device *device,
                            const struct takt_device_job *job,
                            const struct takt_extents *extents,
                            const struct takt_small_layout *layout)
{
    const takt_call *call = job->call;
    const size_t out = layout->bytes[TAKT_OUT];
    struct run run = {.device = device,
                      .job = job,
                      .layout = layout,
                      .number = takt__small_take(device)};

    if (run.number < 0)
        return TAKT_ENODEV;
    run.pinned = takt__small_location(device, run.number);
    char *at = buffer_of(&run) + layout->offset[TAKT_OUT];
    if (extents->out_is_read && out > 0)
        copy_rows(at, call->out, out, pitch_of(call, TAKT_OUT));
    const takt_status status = go_best(&run);
    const uint64_t done = takt__ticks();
    if (status == TAKT_OK && out > 0)
        copy_rows(call->out, at, out, pitch_of(call, TAKT_OUT));
    takt__device_times.moved += takt__ticks() - done;
    takt__small_give(device, run.number);
    return status;
}
