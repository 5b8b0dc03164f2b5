/* SPDX-License-Identifier: MIT */
/*
 * device.c - an NVIDIA GPU as a device of Takt's.
 *
 * Every device has a context of its own, not the one that the program and its
 * libraries share: what they set in theirs is theirs, and ours can be thrown
 * away, with all that is in it, and made anew. It is current only while a
 * method runs. It does not protect from everything: after a kernel failed, the
 * driver (580, tried on an H200) makes no context in this process any more and
 * fails in those of others, too. start() then says TAKT_ELOST within
 * microseconds, however often it is tried.
 *
 * Marks and blocks do not outlive stop(): their owners drop them.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/cublas.h"
#include "cuda/cusolver.h"
#include "cuda/cusolver_open.h"
#include "cuda/device_parts.h"

enum { least_capability = 75 }; /* 7.5: Turing */

/* Flags of the driver: AUTO lets a waiting thread spin as long as there are
 * processors to spare. */
enum { CONTEXT_SCHEDULE_AUTO = 0, CONTEXT_MAP_HOST = 8 };
enum { STREAM_NON_BLOCKING = 1 };
enum { HOST_PORTABLE = 1, HOST_DEVICE_MAP = 2 };

/* ---- start and stop ------------------------------------------------------ */

static takt_status refuse(struct takt_device *device,
                          const struct takt_cuda_api *api, const char *what,
                          int result)
{
    char words[96];

    takt__cuda_explain(api, result, words, sizeof words);
    snprintf(device->problem, sizeof device->problem, "%s: %s", what, words);
    return takt__cuda_refusal(result);
}

static takt_status find_device(struct takt_device *device,
                               struct takt_cuda *cuda)
{
    cuda->api = takt__cuda_api(device->problem, sizeof device->problem);
    if (cuda->api == NULL)
        return TAKT_ENODEV;
    const int result =
        cuda->api->cuDeviceGet(&cuda->device, (int)device->index);
    if (result != TAKT_CUDA_SUCCESS)
        return refuse(device, cuda->api, "the driver does not have it", result);

    const int capability = takt__cuda_capability(cuda);
    if (capability >= least_capability)
        return TAKT_OK;
    snprintf(device->problem, sizeof device->problem,
             "too old: it has compute capability %d.%d, and %d.%d is needed",
             capability / 10, capability % 10, least_capability / 10,
             least_capability % 10);
    return TAKT_ENODEV;
}

static takt_status make_streams(struct takt_device *device,
                                struct takt_cuda *cuda)
{
    for (int i = 0; i < TAKT_QUEUES; i++) {
        const int result =
            cuda->api->cuStreamCreate(&cuda->stream[i], STREAM_NON_BLOCKING);
        if (result != TAKT_CUDA_SUCCESS)
            return refuse(device, cuda->api, "no stream can be made", result);
    }
    return TAKT_OK;
}

/* Goes on in the new context, which is current. Products need no code of ours
 * where there is cuBLAS, and it may take the driver seconds to translate. */
static takt_status make_ready(struct takt_device *device,
                              struct takt_cuda *cuda, bool is_partial)
{
    takt_status status = make_streams(device, cuda);

    takt__cuda_describe(cuda, &device->facts);
    cuda->units = device->facts.units;
    if (status == TAKT_OK)
        status = takt__cuda_make_scratch(cuda, device->problem,
                                         sizeof device->problem);
    if (status != TAKT_OK)
        return status;
    takt__cublas_open(cuda);
    if (is_partial && cuda->cublas != NULL)
        return TAKT_OK;
    status = takt__cuda_load_code(cuda, NULL, device->problem,
                                  sizeof device->problem);
    if (status != TAKT_OK)
        takt__cublas_close(cuda);
    return status;
}

static takt_status make_context(struct takt_device *device,
                                struct takt_cuda *cuda, bool is_partial)
{
    void *context;
    const int result = cuda->api->cuCtxCreate(
        &cuda->context, CONTEXT_SCHEDULE_AUTO | CONTEXT_MAP_HOST, cuda->device);

    if (result != TAKT_CUDA_SUCCESS)
        return refuse(device, cuda->api, "no context can be made", result);
    const takt_status status = make_ready(device, cuda, is_partial);
    if (status != TAKT_OK)
        takt__cuda_unload_code(cuda);
    cuda->api->cuCtxPopCurrent(&context);
    if (status != TAKT_OK)
        cuda->api->cuCtxDestroy(cuda->context);
    return status;
}

static takt_status start(struct takt_device *device, bool is_partial)
{
    struct takt_cuda *cuda = calloc(1, sizeof *cuda);

    if (cuda == NULL) {
        snprintf(device->problem, sizeof device->problem, "no memory");
        return TAKT_ENODEV;
    }
    takt_status status = find_device(device, cuda);
    if (status == TAKT_OK)
        status = make_context(device, cuda, is_partial);
    if (status == TAKT_OK) {
        device->self = cuda;
        atomic_store(&device->is_complete, atomic_load(&cuda->is_loaded));
    } else {
        free(cuda);
    }
    return status;
}

static void complete(struct takt_device *device, const _Atomic bool *is_over)
{
    struct takt_cuda *cuda = takt__cuda_enter(device);
    char problem[sizeof device->problem] = "";

    if (cuda == NULL)
        return;
    if (takt__cuda_load_code(cuda, is_over, problem, sizeof problem) == TAKT_OK)
        atomic_store(&device->is_complete, true);
    takt__cuda_leave(cuda);
    if (problem[0] == '\0')
        return;
    takt__lock(&device->lock);
    strcpy(device->problem, problem);
    takt__unlock(&device->lock);
}

/* The context takes streams, events and memory with it. */
static void destroy_context(struct takt_device *device, struct takt_cuda *cuda)
{
    if (takt__cuda_enter(device) != NULL) {
        takt__cusolver_close(cuda);
        takt__cublas_close(cuda);
        takt__cuda_unload_code(cuda);
        takt__cuda_leave(cuda);
    }
    if (takt__cuda_is_usable())
        cuda->api->cuCtxDestroy(cuda->context);
}

static void stop(struct takt_device *device)
{
    struct takt_cuda *cuda = device->self;

    if (cuda == NULL)
        return;
    destroy_context(device, cuda);
    free(cuda->cublas); /* there still is one if it could not be closed */
    free(cuda->cusolver);
    for (struct takt_cuda_point *point = cuda->points, *next; point != NULL;
         point = next) {
        next = point->next;
        free(point);
    }
    free(cuda);
    device->self = NULL;
}

/* ---- memory -------------------------------------------------------------- */

static takt_status reserve_host(const struct takt_cuda_api *api, size_t bytes,
                                struct takt_block *out)
{
    void *host;
    int result =
        api->cuMemHostAlloc(&host, bytes, HOST_PORTABLE | HOST_DEVICE_MAP);

    if (result != TAKT_CUDA_SUCCESS)
        return takt__cuda_status(result);
    *out = (struct takt_block){.bytes = bytes, .host = host};
    result = api->cuMemHostGetDevicePointer(&out->address, host, 0);
    if (result != TAKT_CUDA_SUCCESS) {
        api->cuMemFreeHost(host);
        *out = (struct takt_block){0};
    }
    return takt__cuda_status(result);
}

static takt_status reserve(struct takt_device *device, size_t bytes,
                           bool is_pinned, struct takt_block *out)
{
    struct takt_cuda *cuda = takt__cuda_enter(device);
    uint64_t address = 0;

    *out = (struct takt_block){0};
    if (cuda == NULL)
        return TAKT_ELOST;
    const takt_status status =
        is_pinned ? reserve_host(cuda->api, bytes, out)
                  : takt__cuda_status(cuda->api->cuMemAlloc(&address, bytes));
    if (status == TAKT_OK && !is_pinned)
        *out = (struct takt_block){.address = address, .bytes = bytes};
    takt__cuda_leave(cuda);
    return status;
}

static takt_status pin(struct takt_device *device, void *host, size_t bytes,
                       struct takt_block *out)
{
    struct takt_cuda *cuda = takt__cuda_enter(device);
    uint64_t address = 0;

    *out = (struct takt_block){0};
    if (cuda == NULL)
        return TAKT_ELOST;
    const struct takt_cuda_api *api = cuda->api;
    int result =
        api->cuMemHostRegister(host, bytes, HOST_PORTABLE | HOST_DEVICE_MAP);
    if (result == TAKT_CUDA_SUCCESS) {
        result = api->cuMemHostGetDevicePointer(&address, host, 0);
        if (result != TAKT_CUDA_SUCCESS)
            api->cuMemHostUnregister(host);
    }
    takt__cuda_leave(cuda);
    if (result == TAKT_CUDA_SUCCESS)
        *out = (struct takt_block){address, bytes, host, true};
    return takt__cuda_status(result);
}

/* In a lost context nothing can be given back; it goes with the context. */
static void release(struct takt_device *device, struct takt_block *block)
{
    struct takt_cuda *cuda =
        block->address != 0 ? takt__cuda_enter(device) : NULL;

    if (cuda != NULL) {
        if (block->host == NULL)
            cuda->api->cuMemFree(block->address);
        else if (block->is_in_place)
            cuda->api->cuMemHostUnregister(block->host);
        else
            cuda->api->cuMemFreeHost(block->host);
        takt__cuda_leave(cuda);
    }
    *block = (struct takt_block){0};
}

/* ---- queues -------------------------------------------------------------- */

static uint64_t address_of(struct takt_location at)
{
    return at.block->address + at.offset;
}

static void *host_of(struct takt_location at)
{
    return (char *)at.block->host + at.offset;
}

static int begin_copy(const struct takt_cuda *cuda, void *stream,
                      struct takt_location to, struct takt_location from,
                      size_t bytes)
{
    const struct takt_cuda_api *api = cuda->api;

    if (from.block->host != NULL)
        return api->cuMemcpyHtoDAsync(address_of(to), host_of(from), bytes,
                                      stream);
    if (to.block->host != NULL)
        return api->cuMemcpyDtoHAsync(host_of(to), address_of(from), bytes,
                                      stream);
    return api->cuMemcpyDtoDAsync(address_of(to), address_of(from), bytes,
                                  stream);
}

static takt_status copy(struct takt_device *device, enum takt_queue queue,
                        struct takt_location to, struct takt_location from,
                        size_t bytes)
{
    if (bytes == 0)
        return TAKT_OK;
    const struct takt_cuda *cuda = takt__cuda_enter(device);
    if (cuda == NULL)
        return TAKT_ELOST;
    const int result = begin_copy(cuda, cuda->stream[queue], to, from, bytes);
    takt__cuda_leave(cuda);
    return takt__cuda_refusal(result);
}

/* A refusal means that nothing was begun. A call of several kernels of which
 * one fails when others were started is TAKT_ELOST whatever the error: its
 * output may be its input too, and is neither the old nor the new one. */
static takt_status compute(struct takt_device *device,
                           const struct takt_device_call *call)
{
    struct takt_cuda *cuda = takt__cuda_enter(device);

    if (cuda == NULL)
        return TAKT_ELOST;
    const takt_status status = takt__cuda_compute(cuda, call);
    if (status == TAKT_ENODEV && !atomic_load(&cuda->is_loaded))
        atomic_store(&device->is_lacking, true);
    takt__cuda_leave(cuda);
    return status == TAKT_ENOMEM ? TAKT_ENODEV : status;
}

/* Libraries share the primary context of a device, which is not ours. */
static bool is_shared(const struct takt_device *device)
{
    const struct takt_cuda *cuda = device->self;
    unsigned flags;
    int is_active = 0;

    return cuda == NULL || !takt__cuda_is_usable() ||
           cuda->api->cuDevicePrimaryCtxGetState(
               cuda->device, &flags, &is_active) != TAKT_CUDA_SUCCESS ||
           is_active != 0;
}

const struct takt_driver takt__cuda_driver = {
    .name = "cuda",
    .is_nvidia = true,
    .dtypes = 1 << TAKT_F32 | 1 << TAKT_F64,
    .has = takt__cuda_has,
    .start = start,
    .complete = complete,
    .stop = stop,
    .reserve = reserve,
    .release = release,
    .pin = pin,
    .can_run = takt__cuda_can_run,
    .is_shared = is_shared,
    .copy = copy,
    .compute = compute,
    .mark = takt__cuda_mark,
    .drop = takt__cuda_drop,
    .follow = takt__cuda_follow,
    .wait = takt__cuda_wait,
    .is_past = takt__cuda_is_past,
    .between_s = takt__cuda_between_s,
    .solver = &takt__cusolver_driver,
};
