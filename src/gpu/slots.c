/* SPDX-License-Identifier: MIT */
/* slots.c - the pinned memory of a device, and letters in it. */
#include "gpu/stage.h"

takt_status takt__stage_open(struct takt_device *device)
{
    struct takt_stage *stage = &device->stage;
    const struct takt_driver *driver = device->driver;
    takt_status status = driver->reserve(
        device, (size_t)TAKT_SLOTS * TAKT_SLOT_BYTES, true, &stage->ring);

    if (status != TAKT_OK)
        return status;
    status = driver->reserve(device, (size_t)TAKT_MAILS * TAKT_MAIL_BYTES, true,
                             &stage->mail);
    if (status != TAKT_OK)
        driver->release(device, &stage->ring);
    atomic_store(&stage->mail_taken, 0);
    return status;
}

void takt__stage_close(struct takt_device *device)
{
    struct takt_stage *stage = &device->stage;
    const struct takt_driver *driver = device->driver;

    for (unsigned i = 0; i < TAKT_SLOTS; i++)
        driver->drop(device, &stage->slot[i].mark);
    for (unsigned i = 0; i < TAKT_MAILS; i++)
        driver->drop(device, &stage->mail_mark[i]);
    driver->drop(device, &stage->before);
    driver->drop(device, &stage->arrived);
    driver->release(device, &stage->ring);
    driver->release(device, &stage->mail);
}

int takt__letter_take(struct takt_device *device)
{
    _Atomic uint32_t *taken = &device->stage.mail_taken;
    uint32_t before = atomic_load_explicit(taken, memory_order_relaxed);

    while (before != UINT32_MAX) {
        const int letter = __builtin_ctz(~before);
        if (atomic_compare_exchange_weak_explicit(
                taken, &before, before | (uint32_t)1 << letter,
                memory_order_acquire, memory_order_relaxed))
            return letter;
    }
    return -1;
}

void takt__letter_give(struct takt_device *device, int letter)
{
    atomic_fetch_and_explicit(&device->stage.mail_taken,
                              ~((uint32_t)1 << letter), memory_order_release);
}

struct takt_place takt__letter_place(struct takt_device *device, int letter)
{
    return (struct takt_place){.block = &device->stage.mail,
                               .offset = (size_t)letter * TAKT_MAIL_BYTES};
}
