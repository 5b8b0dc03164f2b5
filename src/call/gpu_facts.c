/* SPDX-License-Identifier: MIT */
/* gpu_facts.c - what a context can tell of its GPUs. */
#include <string.h>

#include "call/ctx.h"
#include "takt/gpu.h"

const char *takt_gpu_state_name(takt_gpu_state state)
{
    switch (state) {
    case TAKT_GPU_ASLEEP:
        return "asleep";
    case TAKT_GPU_READY:
        return "ready";
    case TAKT_GPU_LOST:
        return "lost";
    case TAKT_GPU_ABSENT:
        return "absent";
    }
    return "?";
}

static takt_gpu_state state_of(const struct takt_device *device)
{
    switch ((enum takt_device_state)atomic_load(&device->state)) {
    case TAKT_DEVICE_ASLEEP:
        return TAKT_GPU_ASLEEP;
    case TAKT_DEVICE_READY:
        return TAKT_GPU_READY;
    case TAKT_DEVICE_LOST:
        return TAKT_GPU_LOST;
    case TAKT_DEVICE_ABSENT:
        break;
    }
    return TAKT_GPU_ABSENT;
}

takt_status takt_ctx_gpu(takt_ctx *ctx, size_t index, takt_gpu_device *out)
{
    if (out == NULL)
        return TAKT_EINVAL;
    *out = (takt_gpu_device){.state = TAKT_GPU_ABSENT};
    ctx = takt__ctx_meant(ctx);
    if (ctx == NULL)
        return TAKT_ENOMEM;
    if (index >= ctx->fleet.devices.count)
        return TAKT_ENOENT;
    struct takt_device *device = &ctx->fleet.devices.device[index];
    takt__lock(&device->lock);
    out->state = state_of(device);
    memcpy(out->expert, device->name, sizeof out->expert);
    memcpy(out->problem, device->problem, sizeof out->problem);
    memcpy(out->model, device->known.model, sizeof out->model);
    memcpy(out->address, device->known.address, sizeof out->address);
    memcpy(out->version, device->known.version, sizeof out->version);
    out->memory_bytes = device->known.memory_bytes;
    out->is_software = device->known.is_software;
    out->open_s = device->open_s;
    takt__unlock(&device->lock);
    return TAKT_OK;
}

void takt_ctx_open_gpus(takt_ctx *ctx)
{
    ctx = takt__ctx_meant(ctx);
    if (ctx == NULL || ctx->is_recorded)
        return;
    for (unsigned d = 0; d < ctx->fleet.devices.count; d++)
        takt__device_open(&ctx->fleet.devices.device[d]);
}

const char *takt_ctx_gpu_problem(const takt_ctx *ctx, size_t index)
{
    ctx = takt__ctx_meant(ctx);
    return ctx != NULL && index < ctx->fleet.devices.problems
               ? ctx->fleet.devices.problem[index]
               : NULL;
}
