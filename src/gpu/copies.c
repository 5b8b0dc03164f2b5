/* SPDX-License-Identifier: MIT */
/* copies.c - what is valid where, and how it gets there. */
#include "gpu/copies.h"

#include "base/clock.h"
#include "gpu/memory.h"
#include "gpu/perform.h"
#include "gpu/times.h"

/* Memory is pinned when it has been moved so often that this pays: pinning
 * takes as long as two or three copies through slots. */
enum { moves_to_pin = 4, least_pinned = 1 << 20 };

static bool has_block(const struct takt_buffer *buffer,
                      const struct takt_device *device)
{
    const unsigned d = device->number;

    return buffer->block[d].bytes > 0 && takt__device_is_ready(device) &&
           buffer->life[d] == device->life;
}

bool takt__copy_is_on(const struct takt_buffer *buffer, unsigned device)
{
    return (buffer->on >> device & 1) != 0 &&
           has_block(buffer, &buffer->devices->device[device]);
}

struct takt_device *takt__copy_device(const struct takt_buffer *buffer)
{
    for (unsigned d = 0; d < buffer->devices->count; d++)
        if (takt__copy_is_on(buffer, d))
            return &buffer->devices->device[d];
    return NULL;
}

bool takt__copy_is_lost(const struct takt_buffer *buffer)
{
    return !buffer->is_empty && !buffer->is_on_host &&
           takt__copy_device(buffer) == NULL;
}

/* ---- moving -------------------------------------------------------------- */

static bool is_pinned(const struct takt_buffer *buffer,
                      const struct takt_device *device)
{
    return buffer->pinned[device->number].bytes > 0 &&
           has_block(buffer, device);
}

static void pin_if_hot(struct takt_buffer *buffer, struct takt_device *device)
{
    if (buffer->moves < UINT8_MAX)
        buffer->moves++;
    if (device->driver->pin == NULL || buffer->moves < moves_to_pin ||
        buffer->bytes < least_pinned || is_pinned(buffer, device))
        return;
    takt__lock(&device->lock);
    if (device->driver->pin(device, buffer->host, buffer->bytes,
                            &buffer->pinned[device->number]) != TAKT_OK)
        buffer->pinned[device->number] = (struct takt_block){0};
    takt__unlock(&device->lock);
}

static takt_status move_pinned(struct takt_buffer *buffer,
                               struct takt_device *device,
                               struct takt_location there, bool is_in)
{
    const struct takt_location here = {&buffer->pinned[device->number], 0};

    takt__device_lock(&device->lock);
    const uint64_t start = takt__ticks();
    takt_status status =
        device->driver->copy(device, TAKT_QUEUE_COMPUTE, is_in ? there : here,
                             is_in ? here : there, buffer->bytes);
    takt__unlock(&device->lock);
    if (status == TAKT_OK)
        status = takt__device_sync(device);
    takt__device_times.moved += takt__ticks() - start;
    return status;
}

static takt_status move(struct takt_buffer *buffer, struct takt_device *device,
                        bool is_in)
{
    const struct takt_devices *all = device->all;
    const struct takt_location there = {&buffer->block[device->number], 0};

    pin_if_hot(buffer, device);
    const bool is_direct = is_pinned(buffer, device);
    const uint64_t start_ns = takt__now_ns();
    const takt_status status =
        is_direct ? move_pinned(buffer, device, there, is_in)
                  : takt__device_move(device, buffer->host, there,
                                      buffer->bytes, is_in);
    if (status == TAKT_OK && all->moved != NULL)
        all->moved(all->self, device, is_in, is_direct, buffer->bytes,
                   (double)(takt__now_ns() - start_ns) * 1e-9);
    return status;
}

takt_status takt__copy_to_host(struct takt_buffer *buffer)
{
    struct takt_device *device = takt__copy_device(buffer);

    if (buffer->is_on_host)
        return TAKT_OK;
    if (device == NULL) {
        buffer->is_on_host = buffer->is_empty;
        return buffer->is_empty ? TAKT_OK : TAKT_ELOST;
    }
    if (takt__device_enter(device) != TAKT_OK)
        return TAKT_ELOST;
    const takt_status status = takt__copy_is_on(buffer, device->number)
                                   ? move(buffer, device, false)
                                   : TAKT_ENODEV; /* lost and back meanwhile */
    if (status == TAKT_ELOST)
        takt__device_lose(device);
    takt__device_leave(device);
    buffer->is_on_host = status == TAKT_OK;
    return status == TAKT_OK ? TAKT_OK : TAKT_ELOST;
}

static takt_status make_room(struct takt_buffer *buffer,
                             struct takt_device *device)
{
    const unsigned d = device->number;

    if (has_block(buffer, device))
        return TAKT_OK;
    takt__lock(&device->lock);
    const takt_status status =
        takt__memory_take(device, buffer->bytes, &buffer->block[d]);
    takt__unlock(&device->lock);
    buffer->pinned[d] = (struct takt_block){0}; /* of an earlier life */
    buffer->life[d] = device->life;
    buffer->on &= (uint8_t) ~(1u << d);
    if (status != TAKT_OK)
        buffer->block[d] = (struct takt_block){0};
    return status;
}

takt_status takt__copy_to_device(struct takt_buffer *buffer,
                                 struct takt_device *device, bool is_read)
{
    const unsigned d = device->number;
    const bool is_there = takt__copy_is_on(buffer, d);

    buffer->last_use = ++buffer->devices->uses;
    buffer->uses = 0.9 * buffer->uses + 1;
    buffer->hits = 0.9 * buffer->hits + (is_there ? 1 : 0);
    if (is_there)
        return TAKT_OK;
    takt_status status = make_room(buffer, device);
    if (status != TAKT_OK || !is_read || buffer->is_empty)
        return status;
    status = takt__copy_to_host(buffer);
    if (status == TAKT_OK)
        status = move(buffer, device, true);
    if (status == TAKT_OK)
        buffer->on |= (uint8_t)(1u << d);
    return status;
}

/* ---- what is valid ------------------------------------------------------- */

void takt__copy_made_on_host(struct takt_buffer *buffer)
{
    buffer->is_empty = false;
    buffer->is_on_host = true;
    buffer->on = 0;
}

void takt__copy_made_on_device(struct takt_buffer *buffer,
                               const struct takt_device *device)
{
    buffer->is_empty = false;
    buffer->is_on_host = false;
    buffer->on = (uint8_t)(1u << device->number);
}

void takt__copy_forget(struct takt_buffer *buffer, struct takt_device *device)
{
    const unsigned d = device->number;

    if (buffer->block[d].bytes > 0 && takt__device_enter(device) == TAKT_OK) {
        takt__lock(&device->lock);
        if (has_block(buffer, device)) {
            if (buffer->pinned[d].bytes > 0)
                device->driver->release(device, &buffer->pinned[d]);
            takt__memory_give(device, &buffer->block[d]);
        }
        takt__unlock(&device->lock);
        takt__device_leave(device);
    }
    buffer->block[d] = buffer->pinned[d] = (struct takt_block){0};
    buffer->on &= (uint8_t) ~(1u << d);
}

/* The one that was not used for longest; NULL: none. */
static struct takt_buffer *idlest(struct takt_device *device, uint64_t since)
{
    struct takt_buffer *found = NULL;

    for (struct takt_buffer *at = device->all->newest; at != NULL;
         at = at->older)
        if (has_block(at, device) && at->last_use <= since &&
            (found == NULL || at->last_use < found->last_use))
            found = at;
    return found;
}

bool takt__copies_evict(struct takt_device *device, size_t bytes,
                        uint64_t since)
{
    size_t freed = 0;

    while (freed < bytes) {
        struct takt_buffer *buffer = idlest(device, since);
        if (buffer == NULL)
            break;
        if (takt__copy_is_on(buffer, device->number) &&
            takt__copy_to_host(buffer) != TAKT_OK)
            break;
        freed += buffer->block[device->number].bytes;
        takt__copy_forget(buffer, device);
    }
    takt__lock(&device->lock);
    takt__memory_empty(device);
    takt__unlock(&device->lock);
    return freed > 0;
}
