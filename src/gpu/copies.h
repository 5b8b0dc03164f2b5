/* SPDX-License-Identifier: MIT */
/*
 * copies.h - the copies of one buffer, moved as they are needed.
 *
 * Threads: called with the lock of the devices.
 */
#pragma once

#include "gpu/devices.h"

struct takt_buffer {
    struct takt_devices *devices;
    char *host; /* its address, whatever is there */
    size_t bytes;

    /* With the lock of the devices. */
    bool is_empty;   /* nothing was ever written to it */
    bool is_on_host; /* the copy at `host` is valid */
    uint8_t on;      /* bit d: device d has a valid copy ... */
    struct takt_block block[TAKT_MAX_GPUS];
    uint32_t life[TAKT_MAX_GPUS]; /* ... if it is still in this life */
    struct takt_block pinned[TAKT_MAX_GPUS]; /* `host`, as a device sees it */
    uint8_t moves; /* how often it was moved, up to 255 */
    unsigned maps;
    bool is_mapped_for_writing;
    double uses, hits; /* on devices; and those that found it there */
    uint64_t last_use;
    struct takt_buffer *older, *newer;
};

/* Whether a device has a valid copy. */
bool takt__copy_is_on(const struct takt_buffer *buffer, unsigned device);

/* A device that has one; NULL: none. */
struct takt_device *takt__copy_device(const struct takt_buffer *buffer);

/* Whether what was written to it is gone. */
bool takt__copy_is_lost(const struct takt_buffer *buffer);

/* Makes the host's copy valid. TAKT_ELOST: there is none. */
takt_status takt__copy_to_host(struct takt_buffer *buffer);

/* Makes room on a device that was entered, and with `is_read` a valid copy. The
 * block stays where it is until it is forgotten.
 * TAKT_ENOMEM: there is no room. */
takt_status takt__copy_to_device(struct takt_buffer *buffer,
                                 struct takt_device *device, bool is_read);

/* It was written there: no other copy is valid. */
void takt__copy_made_on_host(struct takt_buffer *buffer);
void takt__copy_made_on_device(struct takt_buffer *buffer,
                               const struct takt_device *device);

/* Gives up the copy of a device, valid or not. */
void takt__copy_forget(struct takt_buffer *buffer, struct takt_device *device);

/* Gives up copies of a device, of those first that were not used for longest,
 * until so many bytes are free; those of which it has the only one go to the
 * host. Buffers used since `since` stay. False: nothing was to be had. */
bool takt__copies_evict(struct takt_device *device, size_t bytes,
                        uint64_t since);
