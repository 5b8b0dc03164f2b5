/* SPDX-License-Identifier: MIT */
/*
 * devices.h - the GPUs of a context: found, opened when it pays, lost, opened
 * again.
 *
 * Opening one takes a good part of a second, so it is listed by what the PCI
 * bus says and opened on first use, in a thread of its own unless the caller
 * has to have it.
 *
 * Threads: every function but list and close may be called from any thread.
 */
#pragma once

#include "base/fork.h"
#include "gpu/device.h"
#include "pool/pool.h"

struct takt_buffer;

struct takt_devices {
    struct takt_device device[TAKT_MAX_GPUS];
    unsigned count;
    struct takt_pool *pool; /* borrowed: its threads move what travels */
    unsigned threads;
    char problem[TAKT_MAX_GPUS][192]; /* drivers that found no device ... */
    unsigned problems;                /* ... though there should be one */

    /* Where copies of buffers are: buffer.c. */
    pthread_mutex_t lock;
    struct takt_buffer *newest; /* all buffers */
    uint64_t uses;              /* a clock: the last use of each buffer */

    /* Called when a device was opened or given up; may be NULL. */
    void (*opened)(void *self, struct takt_device *device);
    /* ... and what moving a buffer took, in the thread that needed it. */
    void (*moved)(void *self, const struct takt_device *device, bool is_in,
                  bool is_pinned, size_t bytes, double seconds);
    void *self;
    _Atomic bool is_closing; /* nothing is opened any more */

    struct takt_fork_entry fork;
};

/* A driver, and how to ask it for its devices. */
struct takt_finder {
    const struct takt_driver *driver;
    unsigned (*count)(char *problem, size_t size);
    unsigned expected; /* how many to list without asking */
};

struct takt_devices_options {
    const struct takt_finder *finder;
    unsigned finders;
    bool is_now; /* ask the drivers, and open all they have */
    struct takt_pool *pool;
    unsigned threads;
};

void takt__devices_list(struct takt_devices *devices,
                        const struct takt_devices_options *options);
void takt__devices_close(struct takt_devices *devices);

/* Waits for threads that open a device; none is opened afterwards. */
void takt__devices_settle(struct takt_devices *devices);

/* Opens a device now, or waits for the thread that does. TAKT_ENODEV: it cannot
 * be used; its `problem` says why. */
takt_status takt__device_open(struct takt_device *device);

/* The same without what some calls can do without: that is done when one comes
 * that cannot. */
takt_status takt__device_open_partly(struct takt_device *device);

/* Begins to, and returns at once. In haste: what some calls can do without is
 * done when one comes that cannot. */
void takt__device_open_later(struct takt_device *device);

/* Whether it is ready and can run such a call; asked before every run. One that
 * lacks something for it begins to get it. */
bool takt__device_can_run(struct takt_device *device, const takt_call *call);

/* Whether it may lack something that it can still get. */
static inline bool takt__device_is_incomplete(const struct takt_device *device)
{
    return !atomic_load_explicit(&device->is_complete, memory_order_acquire) &&
           !atomic_load_explicit(&device->completion_failed,
                                 memory_order_acquire);
}

/* Around everything that is done on a device. TAKT_ENODEV: it is not ready. */
takt_status takt__device_enter(struct takt_device *device);
void takt__device_leave(struct takt_device *device);

/* Begins to open one that was lost, when its time has come. */
void takt__device_revive(struct takt_device *device);

/* It failed: what was on it is gone. Calls on it end as failed. It can
 *  be opened again after a while. */
void takt__device_lose(struct takt_device *device);

/* Whether it computes on the processor, as far as is known. */
static inline bool takt__device_is_software(const struct takt_device *device)
{
    return atomic_load_explicit(&device->state, memory_order_acquire) ==
               TAKT_DEVICE_READY &&
           device->known.is_software;
}

/* How many calls are under way on it, more or less. */
static inline unsigned takt__device_users(const struct takt_device *device)
{
    return atomic_load_explicit(&device->users, memory_order_relaxed);
}

static inline bool takt__device_is_ready(const struct takt_device *device)
{
    return atomic_load_explicit(&device->state, memory_order_acquire) ==
           TAKT_DEVICE_READY;
}
