/* SPDX-License-Identifier: MIT */
/* buffers.c - the public functions on buffers. */
#include <stdio.h>
#include <string.h>

#include "call/direct.h"
#include "call/gpus.h"
#include "gpu/copies.h"
#include "takt/buffer.h"

takt_status takt_buffer_create(takt_ctx *ctx, size_t bytes, const void *from,
                               takt_buffer **out)
{
    if (out == NULL)
        return TAKT_EINVAL;
    *out = NULL;
    ctx = takt__ctx_or_default(ctx);
    if (ctx == NULL)
        return TAKT_ENOMEM;
    const takt_status status =
        takt__buffer_create(&ctx->experts.devices, bytes, from, out);
    if (status == TAKT_OK)
        takt__direct_stop(ctx);
    return status;
}

void takt_buffer_destroy(takt_buffer *buffer)
{
    takt__buffer_destroy(buffer);
}

void *takt_buffer_address(const takt_buffer *buffer)
{
    return buffer == NULL ? NULL : buffer->host;
}

size_t takt_buffer_bytes(const takt_buffer *buffer)
{
    return buffer == NULL ? 0 : buffer->bytes;
}

takt_status takt_buffer_map(takt_buffer *buffer, unsigned access, void **out)
{
    if (out == NULL)
        return TAKT_EINVAL;
    *out = NULL;
    if (buffer == NULL || (access & (TAKT_MAP_READ | TAKT_MAP_WRITE)) == 0 ||
        (access & ~(TAKT_MAP_READ | TAKT_MAP_WRITE | TAKT_MAP_DISCARD)) != 0 ||
        ((access & TAKT_MAP_DISCARD) != 0 && (access & TAKT_MAP_WRITE) == 0))
        return TAKT_EINVAL;
    const takt_status status = takt__buffer_map(buffer, access);
    if (status == TAKT_OK)
        *out = buffer->host;
    return status;
}

takt_status takt_buffer_unmap(takt_buffer *buffer)
{
    return buffer == NULL ? TAKT_EINVAL : takt__buffer_unmap(buffer);
}

static void add_word(char *out, size_t size, const char *word)
{
    const size_t length = strlen(out);
    snprintf(out + length, size - length, "%s%s", length > 0 ? " " : "", word);
}

void takt_buffer_residency(const takt_buffer *buffer, char *out, size_t size)
{
    if (out == NULL || size == 0)
        return;
    out[0] = '\0';
    if (buffer == NULL)
        return;
    struct takt_devices *devices = buffer->devices;
    takt__lock(&devices->lock);
    if (buffer->is_on_host && !buffer->is_empty)
        add_word(out, size, "host");
    for (unsigned d = 0; d < devices->count; d++)
        if (takt__copy_is_on(buffer, d))
            add_word(out, size, devices->device[d].name);
    takt__unlock(&devices->lock);
}

takt_status takt_sync(takt_ctx *ctx)
{
    takt_status worst = TAKT_OK;

    ctx = takt__ctx_or_default(ctx);
    if (ctx == NULL)
        return TAKT_ENOMEM;
    for (unsigned d = 0; d < ctx->experts.devices.count; d++) {
        struct takt_device *device = &ctx->experts.devices.device[d];
        if (!takt__device_is_ready(device) ||
            takt__device_enter(device) != TAKT_OK)
            continue;
        const takt_status status = takt__device_sync(device);
        if (status == TAKT_ELOST)
            takt__device_lose(device);
        else
            takt__gpu_push_finished(ctx, d); /* they are all done */
        takt__device_leave(device);
        worst = status == TAKT_OK ? worst : TAKT_ELOST;
        atomic_store_explicit(&ctx->gpu_watch[d].busy_until_ns, 0,
                              memory_order_relaxed);
    }
    return worst;
}
