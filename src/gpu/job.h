/* SPDX-License-Identifier: MIT */
/* job.h - a call that a device is to run. */
#pragma once

#include "gpu/device.h"
#include "op/operands.h"

struct takt_device_job {
    const takt_call *call; /* admitted, not empty */
    /* Where operands are on the device already; without a block: on the host,
     * at the call's pointer. */
    struct takt_location resident[TAKT_OPERANDS];
    /* Runs a part of the call on the host: for what a device that was lost
     * half-way did not finish. */
    takt_status (*finish)(void *self, const takt_call *part);
    void *self;
    /* Timed marks around what was computed, if both are not NULL. */
    struct takt_mark *from, *to;
};
