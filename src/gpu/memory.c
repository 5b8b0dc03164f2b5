/* SPDX-License-Identifier: MIT */
/* memory.c - a list of blocks to take from. */
#include "gpu/memory.h"

#include "base/clock.h"
#include "base/size.h"

enum { smallest = 1 << 16 };

/* Sizes are rounded up to an eighth of an octave, so that calls of nearly the
 * same size find each other's blocks. */
static size_t round_up(size_t bytes)
{
    size_t step = smallest;

    if (bytes <= smallest)
        return smallest;
    while (step <= bytes / 16)
        step *= 2;
    return takt__size_round_up(bytes, step);
}

/* The smallest kept block that is large enough and not wasted; -1: none. */
static int find(const struct takt_cache *cache, size_t bytes)
{
    int found = -1;

    for (unsigned i = 0; i < cache->count; i++) {
        const size_t has = cache->block[i].bytes;
        if (has >= bytes && has / 2 <= bytes &&
            (found < 0 || has < cache->block[found].bytes))
            found = (int)i;
    }
    return found;
}

static struct takt_block take_out(struct takt_cache *cache, unsigned index)
{
    const struct takt_block block = cache->block[index];

    cache->block[index] = cache->block[--cache->count];
    cache->bytes -= block.bytes;
    return block;
}

/* Whether it is worth asking for so much. */
static bool may_have(const struct takt_cache *cache, size_t bytes)
{
    return cache->ceiling == 0 || bytes < cache->ceiling ||
           takt__now_ns() >= cache->ceiling_ns;
}

takt_status takt__memory_take(struct takt_device *device, size_t bytes,
                              struct takt_block *out)
{
    const struct takt_driver *driver = device->driver;
    const size_t rounded = round_up(bytes);
    const int found = find(&device->cache, rounded);

    if (!may_have(&device->cache, bytes))
        return TAKT_ENOMEM;
    if (found >= 0) {
        *out = take_out(&device->cache, (unsigned)found);
        return TAKT_OK;
    }
    takt_status status = driver->reserve(device, rounded, false, out);
    if (status != TAKT_ENOMEM)
        return status;
    takt__memory_empty(device);
    return driver->reserve(device, rounded, false, out);
}

/* At most a quarter of the device is kept unused. */
void takt__memory_give(struct takt_device *device, struct takt_block *block)
{
    struct takt_cache *cache = &device->cache;
    const size_t most = (size_t)(device->facts.memory_bytes / 4);

    if (block->bytes == 0)
        return;
    while (cache->count > 0 && (cache->count == TAKT_CACHED_BLOCKS ||
                                cache->bytes + block->bytes > most)) {
        struct takt_block oldest = take_out(cache, 0);
        device->driver->release(device, &oldest);
    }
    if (block->bytes > most) {
        device->driver->release(device, block);
    } else {
        cache->block[cache->count++] = *block;
        cache->bytes += block->bytes;
    }
    *block = (struct takt_block){0};
}

void takt__memory_empty(struct takt_device *device)
{
    struct takt_cache *cache = &device->cache;

    while (cache->count > 0) {
        struct takt_block block = take_out(cache, cache->count - 1);
        device->driver->release(device, &block);
    }
}

/* Others may have given memory back after a while. */
void takt__memory_set_ceiling(struct takt_device *device, size_t bytes)
{
    static const uint64_t while_ns = 10000000000;

    device->cache.ceiling = bytes;
    device->cache.ceiling_ns = takt__now_ns() + while_ns;
}
