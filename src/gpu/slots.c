/* SPDX-License-Identifier: MIT */
/* slots.c - the pinned memory of a device: slots and small buffers. */
#include "gpu/slots.h"

takt_status takt__stage_open(struct takt_device *device)
{
    struct takt_stage *stage = &device->stage;
    const struct takt_driver *driver = device->driver;
    takt_status status = driver->reserve(
        device, (size_t)TAKT_SLOTS * TAKT_SLOT_BYTES, true, &stage->ring);

    if (status != TAKT_OK)
        return status;
    status =
        driver->reserve(device, (size_t)TAKT_SMALL_BUFFERS * TAKT_SMALL_BYTES,
                        true, &stage->small);
    if (status != TAKT_OK)
        driver->release(device, &stage->ring);
    atomic_store(&stage->small_taken, 0);
    return status;
}

void takt__stage_close(struct takt_device *device)
{
    struct takt_stage *stage = &device->stage;
    const struct takt_driver *driver = device->driver;

    for (unsigned i = 0; i < TAKT_SLOTS; i++)
        driver->drop(device, &stage->slot[i].mark);
    for (unsigned i = 0; i < TAKT_SMALL_BUFFERS; i++)
        driver->drop(device, &stage->small_mark[i]);
    driver->drop(device, &stage->before);
    driver->drop(device, &stage->arrived);
    driver->release(device, &stage->ring);
    driver->release(device, &stage->small);
    driver->release(device, &stage->results);
}

int takt__small_take(struct takt_device *device)
{
    _Atomic uint32_t *taken = &device->stage.small_taken;
    uint32_t before = atomic_load_explicit(taken, memory_order_relaxed);

    while (before != UINT32_MAX) {
        const int index = __builtin_ctz(~before);
        if (atomic_compare_exchange_weak_explicit(
                taken, &before, before | (uint32_t)1 << index,
                memory_order_acquire, memory_order_relaxed))
            return index;
    }
    return -1;
}

void takt__small_give(struct takt_device *device, int index)
{
    atomic_fetch_and_explicit(&device->stage.small_taken,
                              ~((uint32_t)1 << index), memory_order_release);
}

struct takt_location takt__small_location(struct takt_device *device, int index)
{
    return (struct takt_location){.block = &device->stage.small,
                                  .offset = (size_t)index * TAKT_SMALL_BYTES};
}
