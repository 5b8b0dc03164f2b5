/* SPDX-License-Identifier: MIT */
/*
 * perform.c - the shortest way for each kind of call: nothing to move, a letter
 * with everything in it, or a journey.
 */
#include "gpu/perform.h"

#include <string.h>

#include "base/size.h"
#include "gpu/memory.h"
#include "gpu/plan.h"
#include "op/part.h"

/* ---- computing -------------------------------------------------------------
 */

static takt_status mark_if(struct takt_device *device, struct takt_mark *mark)
{
    return mark == NULL
               ? TAKT_OK
               : device->driver->mark(device, TAKT_QUEUE_COMPUTE, true, mark);
}

/* Begins a call all of whose operands are in their places. With the lock. */
static takt_status begin(struct takt_device *device,
                         const struct takt_performance *performance,
                         const struct takt_place place[TAKT_OPERANDS])
{
    struct takt_device_call call = {.call = performance->call,
                                    .out = place[TAKT_OUT]};

    memcpy(call.in, place, sizeof call.in);
    takt_status status = mark_if(device, performance->from);
    if (status == TAKT_OK)
        status = device->driver->compute(device, &call);
    /* What was begun must not be done again elsewhere: better no time. */
    if (status == TAKT_OK && mark_if(device, performance->to) == TAKT_ELOST)
        status = TAKT_ELOST;
    return status;
}

/* Everything is there, and stays there. */
static takt_status perform_resident(struct takt_device *device,
                                    const struct takt_performance *performance)
{
    takt__lock(&device->lock);
    const takt_status status =
        begin(device, performance, performance->resident);
    takt__unlock(&device->lock);
    return status;
}

/* ---- letters ---------------------------------------------------------------
 */

/* Where each operand on the host lies in a letter; 0 bytes: not in it. */
struct letter {
    size_t offset[TAKT_OPERANDS];
    size_t bytes[TAKT_OPERANDS];
    size_t used;
};

static void address(const struct takt_performance *performance,
                    const struct takt_extents *extents, struct letter *out)
{
    const int twin = takt__call_twin(performance->call);

    *out = (struct letter){.used = 0};
    for (unsigned i = 0; i < TAKT_OPERANDS; i++) {
        if (performance->resident[i].block != NULL)
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

/* What lies between rows may be somebody else's, at work on it just now. */
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

static void write_letter(const takt_call *call, const struct letter *letter,
                         bool out_is_read, char *pinned)
{
    for (unsigned i = 0; i < TAKT_OUT; i++)
        if (letter->bytes[i] > 0)
            copy_rows(pinned + letter->offset[i], call->in[i], letter->bytes[i],
                      pitch_of(call, i));
    if (out_is_read && letter->bytes[TAKT_OUT] > 0)
        copy_rows(pinned + letter->offset[TAKT_OUT], call->out,
                  letter->bytes[TAKT_OUT], pitch_of(call, TAKT_OUT));
}

static takt_status send_letter(struct takt_device *device,
                               const struct takt_performance *performance,
                               const struct letter *letter, int number)
{
    const struct takt_place at = takt__letter_place(device, number);
    struct takt_mark *mark = &device->stage.mail_mark[number];
    struct takt_place place[TAKT_OPERANDS];

    for (unsigned i = 0; i < TAKT_OPERANDS; i++) {
        place[i] = performance->resident[i];
        if (letter->bytes[i] > 0)
            place[i] = (struct takt_place){
                .block = at.block, .offset = at.offset + letter->offset[i]};
    }
    takt__lock(&device->lock);
    takt_status status = begin(device, performance, place);
    if (status == TAKT_OK && device->driver->mark(device, TAKT_QUEUE_COMPUTE,
                                                  false, mark) != TAKT_OK)
        status = TAKT_ELOST;
    takt__unlock(&device->lock);
    return status == TAKT_OK ? device->driver->wait(device, mark) : status;
}

/* Kernels read and write a letter where it is, in the host's memory: at this
 * size, that takes less than telling the device to fetch it. */
static takt_status perform_letter(struct takt_device *device,
                                  const struct takt_performance *performance,
                                  const struct takt_extents *extents,
                                  const struct letter *letter)
{
    const takt_call *call = performance->call;
    const int number = takt__letter_take(device);

    if (number < 0)
        return TAKT_ENODEV;
    const struct takt_place at = takt__letter_place(device, number);
    char *pinned = (char *)at.block->host + at.offset;
    write_letter(call, letter, extents->out_is_read, pinned);
    const takt_status status = send_letter(device, performance, letter, number);
    if (status == TAKT_OK && letter->bytes[TAKT_OUT] > 0)
        copy_rows(call->out, pinned + letter->offset[TAKT_OUT],
                  letter->bytes[TAKT_OUT], pitch_of(call, TAKT_OUT));
    takt__letter_give(device, number);
    return status;
}

/* ---- journeys --------------------------------------------------------------
 */

/* Parts of a journey that did not arrive, run on the host. A step that may be
 * repeated is, as a whole and once. */
struct rescue {
    const struct takt_performance *performance;
    const struct takt_journey *journey;
    uint64_t repeated; /* bit by step */
};

static takt_status rescue_rows(void *self, const struct takt_lot *lot,
                               size_t first, size_t rows)
{
    struct rescue *rescue = self;
    const struct takt_performance *performance = rescue->performance;
    const takt_call *host = &rescue->journey->step[lot->step].host;

    if (!takt__call_is_repeatable(host))
        return takt__call_rows(host, first, rows, performance->finish,
                               performance->self);
    if ((rescue->repeated >> lot->step & 1) != 0)
        return TAKT_OK;
    rescue->repeated |= (uint64_t)1 << lot->step;
    return performance->finish(performance->self, host);
}

static takt_status travel(struct takt_journey *journey,
                          const struct takt_performance *performance)
{
    struct rescue rescue = {.performance = performance, .journey = journey};
    const takt_status status = takt__journey_make(journey);

    /* Once any of the output is written, the call is ours to finish. */
    if (status == TAKT_OK || !takt__journey_has_come_out(journey))
        return status;
    if (status == TAKT_ELOST)
        takt__device_lose(journey->device);
    return takt__journey_undone(journey, rescue_rows, &rescue);
}

/* An output of a few bytes comes back in a letter. */
static takt_status perform_journey(struct takt_device *device,
                                   const struct takt_performance *performance,
                                   const struct takt_extents *extents)
{
    struct takt_journey journey = {.device = device,
                                   .pool = device->all->pool,
                                   .threads = device->all->threads,
                                   .is_apart = true};
    struct takt_performance sent = *performance;
    struct takt_block block = {0};
    const bool is_short = extents->bytes[TAKT_OUT] <= 64 &&
                          sent.resident[TAKT_OUT].block == NULL &&
                          !extents->out_is_read;
    const int number = is_short ? takt__letter_take(device) : -1;
    size_t used;

    if (is_short && number < 0)
        return TAKT_ENODEV;
    if (number >= 0)
        sent.resident[TAKT_OUT] = takt__letter_place(device, number);
    takt_status status =
        takt__plan(performance->call, sent.resident, &block, &journey, &used);
    if (status == TAKT_OK) {
        takt__lock(&device->lock);
        status = takt__memory_may_have(device, used)
                     ? takt__memory_take(device, used, &block)
                     : TAKT_ENOMEM;
        takt__unlock(&device->lock);
    }
    if (status == TAKT_OK)
        status = travel(&journey, performance);
    if (status == TAKT_OK && number >= 0)
        memcpy(performance->call->out,
               (char *)sent.resident[TAKT_OUT].block->host +
                   sent.resident[TAKT_OUT].offset,
               extents->bytes[TAKT_OUT]);
    takt__lock(&device->lock);
    takt__memory_give(device, &block);
    takt__unlock(&device->lock);
    if (number >= 0)
        takt__letter_give(device, number);
    return status;
}

/* ---- the call --------------------------------------------------------------
 */

takt_status takt__device_perform(struct takt_device *device,
                                 const struct takt_performance *performance)
{
    struct takt_extents extents;
    struct letter letter;

    takt__extents_of(performance->call, &extents);
    address(performance, &extents, &letter);
    if (letter.used == 0)
        return perform_resident(device, performance);
    if (letter.used <= TAKT_MAIL_BYTES)
        return perform_letter(device, performance, &extents, &letter);
    return perform_journey(device, performance, &extents);
}

/* ---- bytes -----------------------------------------------------------------
 */

static takt_status move(struct takt_device *device, char *host,
                        struct takt_place at, size_t bytes, bool is_out)
{
    struct takt_journey journey = {
        .device = device,
        .pool = device->all->pool,
        .threads = device->all->threads,
        .lots = 1,
        .lot = {{.host = host,
                 .pitch = 1,
                 .rows = bytes,
                 .row_bytes = 1,
                 .at = at,
                 .is_out = is_out,
                 .step = is_out ? -1 : 0}},
    };
    const takt_status status = takt__journey_cut(&journey);

    return status != TAKT_OK ? status : takt__journey_make(&journey);
}

takt_status takt__device_upload(struct takt_device *device, const void *host,
                                struct takt_place to, size_t bytes)
{
    return move(device, (char *)(uintptr_t)host, to, bytes, false);
}

takt_status takt__device_download(struct takt_device *device, void *host,
                                  struct takt_place from, size_t bytes)
{
    return move(device, host, from, bytes, true);
}

takt_status takt__device_sync(struct takt_device *device)
{
    struct takt_mark mark = {NULL};

    takt__lock(&device->lock);
    takt_status status =
        device->driver->mark(device, TAKT_QUEUE_COMPUTE, false, &mark);
    takt__unlock(&device->lock);
    if (status == TAKT_OK)
        status = device->driver->wait(device, &mark);
    takt__lock(&device->lock);
    device->driver->drop(device, &mark);
    takt__unlock(&device->lock);
    return status == TAKT_OK ? TAKT_OK : TAKT_ELOST;
}
