/* SPDX-License-Identifier: MIT */
/* facts.c - what a context can say about itself: machine, experts, libraries
 * and GPUs; and the names of its values. */
#include <string.h>

#include "base/library.h"
#include "base/loading.h"
#include "base/sized.h"
#include "call/libraries.h"
#include "gpu/at_exit.h"
#include "takt/gpu.h"

_Static_assert((int)TAKT_DEVICE_ASLEEP == TAKT_GPU_ASLEEP &&
                   (int)TAKT_DEVICE_READY == TAKT_GPU_READY &&
                   (int)TAKT_DEVICE_LOST == TAKT_GPU_LOST &&
                   (int)TAKT_DEVICE_ABSENT == TAKT_GPU_ABSENT,
               "the public states are those of a device");

static void describe_device(const struct takt_device *device,
                            takt_gpu_device *out)
{
    out->state = (takt_gpu_state)atomic_load(&device->state);
    memcpy(out->problem, device->problem, sizeof out->problem);
    memcpy(out->model, device->known.model, sizeof out->model);
    memcpy(out->address, device->known.address, sizeof out->address);
    memcpy(out->version, device->known.version, sizeof out->version);
    out->memory_bytes = device->known.memory_bytes;
    out->is_software = device->known.is_software;
    out->open_s = device->open_s;
    out->is_shared = out->state == TAKT_GPU_READY &&
                     device->driver->is_shared != NULL &&
                     device->driver->is_shared(device);
}

/* While a GPU is opened its lock is held, for a second or so. No more is known
 * of it then than that it sleeps. */
static bool lock_unless_opening(struct takt_device *device)
{
    if (atomic_load(&device->state) == TAKT_DEVICE_ASLEEP)
        return takt__trylock(&device->lock);
    takt__lock(&device->lock);
    return true;
}

takt_status takt_ctx_gpu(takt_ctx *ctx, size_t index, takt_gpu_device *out)
{
    enum { first = offsetof(takt_gpu_device, is_shared) };
    takt_gpu_device found = {.state = TAKT_GPU_ABSENT};

    if (out == NULL || takt__sized_size(out, first) == 0)
        return TAKT_EINVAL;
    takt__sized_fill_as(out, first, sizeof found, &found);
    ctx = takt__ctx_or_default(ctx);
    if (ctx == NULL)
        return TAKT_ENOMEM;
    if (index >= ctx->experts.devices.count)
        return TAKT_ENOENT;
    struct takt_device *device = &ctx->experts.devices.device[index];
    found.state = (takt_gpu_state)atomic_load(&device->state);
    memcpy(found.expert, device->name, sizeof found.expert);
    if (lock_unless_opening(device)) {
        describe_device(device, &found);
        takt__unlock(&device->lock);
    }
    takt__sized_fill_as(out, first, sizeof found, &found);
    return TAKT_OK;
}

void takt_ctx_open_gpus(takt_ctx *ctx)
{
    ctx = takt__ctx_or_default(ctx);
    if (ctx == NULL || ctx->is_recorded)
        return;
    for (unsigned d = 0; d < ctx->experts.devices.count; d++)
        takt__device_open(&ctx->experts.devices.device[d]);
}

void takt_gpus_leave(void)
{
    takt__gpu_leave();
}

void takt_ctx_open_gpus_later(takt_ctx *ctx)
{
    ctx = takt__ctx_or_default(ctx);
    if (ctx == NULL || ctx->is_recorded)
        return;
    for (unsigned d = 0; d < ctx->experts.devices.count; d++) {
        struct takt_device *device = &ctx->experts.devices.device[d];
        if (atomic_load(&device->state) == TAKT_DEVICE_ASLEEP)
            takt__device_open_later(device);
    }
}

const char *takt_ctx_gpu_problem(const takt_ctx *ctx, size_t index)
{
    ctx = takt__ctx_or_default(ctx);
    return ctx != NULL && index < ctx->experts.devices.problems
               ? ctx->experts.devices.problem[index]
               : NULL;
}

/* ---- experts and libraries ----------------------------------------------- */

/* The context with its libraries open; NULL: there is none. */
static const takt_ctx *open_for_question(const takt_ctx *ctx)
{
    takt_ctx *found = takt__ctx_or_default(ctx);

    if (found != NULL)
        takt__ctx_open_libraries(found);
    return found;
}

const char *takt_ctx_expert(const takt_ctx *ctx, size_t index,
                            takt_backend *backend)
{
    ctx = open_for_question(ctx);
    if (ctx == NULL || index >= takt__experts_known(&ctx->experts))
        return NULL;
    if (backend != NULL)
        *backend = ctx->experts.expert[index].backend;
    return ctx->experts.expert[index].name;
}

const char *takt_ctx_library(const takt_ctx *ctx, size_t index)
{
    ctx = open_for_question(ctx);
    return ctx != NULL && index < ctx->experts.blas_count ? ctx->library[index]
                                                          : NULL;
}

const char *takt_ctx_library_problem(const takt_ctx *ctx)
{
    ctx = open_for_question(ctx);
    if (ctx == NULL || ctx->experts.blas_count > 0)
        return NULL;
    const char *asked = ctx->experts.blas_file;
    if (asked != NULL && asked[0] == '\0')
        return "none is to be loaded";
    if (takt__is_static())
        return "a static program loads none";
    if (takt__blas_is_program_wide())
        return "the program has a BLAS with 64-bit integers, whose functions "
               "they would call instead of their own";
    if (takt__loading_problem() != NULL)
        return takt__loading_problem();
    return takt__blas_may_load() ? "none was found"
                                 : "there is no room for their threads";
}

const takt_machine *takt_ctx_machine(const takt_ctx *ctx)
{
    ctx = takt__ctx_or_default(ctx);
    return ctx == NULL ? NULL : ctx->machine;
}
