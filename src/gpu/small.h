/* SPDX-License-Identifier: MIT */
/*
 * small.h - small transfers: all operands that are on the host fit into one
 * small buffer, and the calling thread copies them by itself.
 */
#pragma once

#include "gpu/job.h"

/* Begins a call all of whose operands are on the device, between the marks of
 * its job. With the lock of the device. */
takt_status
takt__device_begin(struct takt_device *device,
                   const struct takt_device_job *job,
                   const struct takt_location location[TAKT_OPERANDS]);

/* Where each operand that is on the host lies in a small buffer; 0 bytes: it
 * is not there. Inputs come first. */
struct takt_small_layout {
    size_t offset[TAKT_OPERANDS];
    size_t bytes[TAKT_OPERANDS];
    size_t used; /* more than TAKT_SMALL_BYTES: they do not fit */
};

void takt__small_lay_out(const struct takt_device_job *job,
                         const struct takt_extents *extents,
                         struct takt_small_layout *out);

/* Runs a call whose operands fit; the statuses of takt__device_run(). */
takt_status takt__small_run(struct takt_device *device,
                            const struct takt_device_job *job,
                            const struct takt_extents *extents,
                            const struct takt_small_layout *layout);
