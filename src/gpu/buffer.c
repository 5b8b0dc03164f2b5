/* SPDX-License-Identifier: MIT */
/* buffer.c - one buffer: its copies, and access to them. */
#include "gpu/buffer.h"

#include <stdlib.h>
#include <string.h>

#include "takt/buffer.h"

static void enlist(struct takt_devices *devices, struct takt_buffer *buffer)
{
    takt__lock(&devices->lock);
    buffer->older = devices->newest;
    if (devices->newest != NULL)
        devices->newest->newer = buffer;
    devices->newest = buffer;
    takt__unlock(&devices->lock);
}

static void strike_off(struct takt_buffer *buffer)
{
    if (buffer->older != NULL)
        buffer->older->newer = buffer->newer;
    if (buffer->newer != NULL)
        buffer->newer->older = buffer->older;
    else
        buffer->devices->newest = buffer->older;
}

takt_status takt__buffer_create(struct takt_devices *devices, size_t bytes,
                                const void *from, struct takt_buffer **out)
{
    struct takt_buffer *buffer = calloc(1, sizeof *buffer);

    *out = NULL;
    if (buffer == NULL)
        return TAKT_ENOMEM;
    buffer->devices = devices;
    buffer->bytes = bytes;
    buffer->host = takt__arena_take(buffer, bytes);
    if (buffer->host == NULL) {
        free(buffer);
        return TAKT_ENOMEM;
    }
    buffer->is_empty = from == NULL;
    buffer->is_on_host = from != NULL;
    if (from != NULL)
        memcpy(buffer->host, from, bytes);
    enlist(devices, buffer);
    *out = buffer;
    return TAKT_OK;
}

void takt__buffer_destroy(struct takt_buffer *buffer)
{
    if (buffer == NULL)
        return;
    struct takt_devices *devices = buffer->devices;
    takt__lock(&devices->lock);
    for (unsigned d = 0; d < devices->count; d++)
        takt__copy_forget(buffer, &devices->device[d]);
    strike_off(buffer);
    takt__unlock(&devices->lock);
    takt__arena_give(buffer->host, buffer->bytes);
    free(buffer);
}

takt_status takt__buffer_map(struct takt_buffer *buffer, unsigned access)
{
    struct takt_devices *devices = buffer->devices;
    const bool is_writing = (access & TAKT_MAP_WRITE) != 0;
    takt_status status = TAKT_OK;

    takt__lock(&devices->lock);
    if (buffer->is_mapped_for_writing || (is_writing && buffer->maps > 0))
        status = TAKT_EINVAL;
    else if ((access & TAKT_MAP_DISCARD) != 0)
        buffer->is_on_host = true;
    else
        status = takt__copy_to_host(buffer);
    if (status == TAKT_OK) {
        buffer->maps++;
        buffer->is_mapped_for_writing = is_writing;
    }
    if (status == TAKT_OK && is_writing)
        takt__copy_made_on_host(buffer);
    takt__unlock(&devices->lock);
    return status;
}

takt_status takt__buffer_unmap(struct takt_buffer *buffer)
{
    takt_status status = TAKT_EINVAL;

    takt__lock(&buffer->devices->lock);
    if (buffer->maps > 0) {
        buffer->maps--;
        buffer->is_mapped_for_writing = false;
        status = TAKT_OK;
    }
    takt__unlock(&buffer->devices->lock);
    return status;
}
