/* SPDX-License-Identifier: MIT */
/* solver.h - routines of LAPACK on a device, from the host's memory and back.
 */
#pragma once

#include "gpu/device.h"
#include "takt/solver.h"

/* An operand of a routine, as it lies in memory: `count` stretches of `length`
 * elements. */
enum takt_solver_operand {
    TAKT_SOLVER_A,
    TAKT_SOLVER_B,
    TAKT_SOLVER_U,
    TAKT_SOLVER_VT,
    TAKT_SOLVER_VALUES,
    TAKT_SOLVER_PIVOTS,
    TAKT_SOLVER_OPERANDS
};

/* A routine whose operands are on the device, without gaps; those that it does
 * not have are nowhere. `info` has room for two integers, which are 0 before
 * and, if all went well, after it. */
struct takt_solver_job {
    const takt_solver_call *call;
    struct takt_location of[TAKT_SOLVER_OPERANDS], info, room;
    size_t room_bytes;
};

/* What a driver has. */
struct takt_solver_driver {
    /* Loads the library, which takes long; on a device that was entered, with
     * its `solving` held. */
    bool (*open)(struct takt_device *device);

    /* Bytes of working memory. With the lock of the device, as the next.
     * TAKT_ENODEV: it cannot run that. */
    takt_status (*room)(struct takt_device *device,
                        const takt_solver_call *call, size_t *bytes);

    /* Begins it in the computing queue. Another status than TAKT_OK: parts of
     * it may have begun. */
    takt_status (*begin)(struct takt_device *device,
                         const struct takt_solver_job *job);
};

/* Whether sizes, letters and addresses are right. */
bool takt__solver_is_valid(const takt_solver_call *call);

/* Runs a valid call on a device that was entered. Other statuses than TAKT_OK:
 * nothing was written on the host. */
takt_status takt__solver_run(struct takt_device *device,
                             const takt_solver_call *call);
