/* SPDX-License-Identifier: MIT */
/* perform.h - a call on a device, wherever its operands are. */
#pragma once

#include "gpu/devices.h"
#include "gpu/job.h"

/* Runs the call on a device that was entered. When its output is on the device
 * it has only begun when this returns, in the order of the computing queue.
 * TAKT_ENOMEM, TAKT_ENODEV, TAKT_ELOST: not so, and nothing was touched on the
 * host; what `finish` could not do comes back as its own status. */
takt_status takt__device_run(struct takt_device *device,
                             const struct takt_device_job *job);

/* Bytes between the host and a block, in the order of the computing queue; a
 * copy out is complete when this returns. */
takt_status takt__device_move(struct takt_device *device, char *host,
                              struct takt_location at, size_t bytes,
                              bool is_in);

/* Waits for everything that was begun. */
takt_status takt__device_sync(struct takt_device *device);
