/* SPDX-License-Identifier: MIT */
/* solver.c - routines of LAPACK on the GPUs of a context, or by its kernels. */
#include "gpu/solver.h"

#include "base/fpenv.h"
#include "base/sized.h"
#include "call/ctx.h"
#include "expert/solve.h"
#include "gpu/devices.h"

/* With the device entered. */
static bool open_solver(struct takt_device *device)
{
    takt__lock(&device->solving);
    const bool is_open = device->driver->solver->open(device);
    takt__unlock(&device->solving);
    return is_open;
}

static bool open_on(struct takt_device *device)
{
    if (device->driver->solver == NULL ||
        takt__device_open_partly(device) != TAKT_OK ||
        takt__device_enter(device) != TAKT_OK)
        return false;
    const bool is_open = open_solver(device);
    takt__device_leave(device);
    return is_open;
}

takt_status takt_solver_open(takt_ctx *ctx)
{
    fenv_t fpenv;
    bool is_open = false;

    const takt_status found = takt__ctx_to_run(&ctx);
    if (found != TAKT_OK)
        return found;
    takt__fpenv_leave(&fpenv);
    for (unsigned d = 0; d < ctx->experts.devices.count && !is_open; d++)
        is_open = open_on(&ctx->experts.devices.device[d]);
    takt__fpenv_return(&fpenv);
    return is_open ? TAKT_OK : TAKT_ENODEV;
}

static takt_status run_on(struct takt_device *device,
                          const takt_solver_call *call)
{
    takt_status status = takt__device_enter(device);

    if (status != TAKT_OK)
        return status;
    status = takt__solver_run(device, call);
    if (status == TAKT_ELOST)
        takt__device_lose(device);
    takt__device_leave(device);
    return status;
}

static bool read_call(const takt_solver_call *given, takt_solver_call *call)
{
    return given != NULL && takt__sized_read(given, call) &&
           takt__solver_is_valid(call);
}

/* Flags that steps raise on elements which do not count are not the caller's,
 * and fire no trap of it. */
takt_status takt_solver_run_here(takt_ctx *ctx, const takt_solver_call *given)
{
    takt_solver_call call;

    if (!read_call(given, &call))
        return TAKT_EINVAL;
    const takt_status found = takt__ctx_to_run(&ctx);
    if (found != TAKT_OK)
        return found;
    const struct takt_fpenv callers = takt__fpenv_save();
    const takt_status status = takt__cpu_lapack(&ctx->experts, &call);
    takt__fpenv_restore(callers);
    return status;
}

takt_status takt_solver_run(takt_ctx *ctx, const takt_solver_call *given)
{
    takt_solver_call call;
    takt_status status = TAKT_ENODEV;
    fenv_t fpenv;

    if (!read_call(given, &call))
        return TAKT_EINVAL;
    const takt_status found = takt__ctx_to_run(&ctx);
    if (found != TAKT_OK)
        return found;
    takt__fpenv_leave(&fpenv);
    for (unsigned d = 0;
         d < ctx->experts.devices.count && status == TAKT_ENODEV; d++) {
        struct takt_device *device = &ctx->experts.devices.device[d];
        if (device->driver->solver != NULL && takt__device_is_ready(device))
            status = run_on(device, &call);
    }
    takt__fpenv_return(&fpenv);
    return status;
}
