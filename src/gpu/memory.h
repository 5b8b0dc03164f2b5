/* SPDX-License-Identifier: MIT */
/*
 * memory.h - a cache of blocks of a device's memory.
 *
 * A driver takes up to milliseconds to find memory, so what is given back is
 * not returned to it at once.
 *
 * Threads: called with the lock of the device.
 */
#pragma once

#include "gpu/device.h"

/* A block of at least so many bytes.
 * TAKT_ENOMEM: there is none, even with nothing kept, or was none lately. */
takt_status takt__memory_take(struct takt_device *device, size_t bytes,
                              struct takt_block *out);
void takt__memory_give(struct takt_device *device, struct takt_block *block);

/* Returns everything that is kept to the driver. */
void takt__memory_empty(struct takt_device *device);

/* Notes that so much was not to be had, with everything else gone: for a
 * while, nothing as large is asked for. */
void takt__memory_set_ceiling(struct takt_device *device, size_t bytes);
