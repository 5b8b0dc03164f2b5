/* SPDX-License-Identifier: MIT */
/*
 * status.c - the context of a device around a method, and what a result of
 * NVIDIA's driver means for us.
 */
#include "cuda/device_parts.h"

/* The errors after which nothing in the context works any more, or after which
 * there is none. */
static const int fatal[] = {
    3,   /* not initialised */
    4,   /* shut down */
    46,  /* device unavailable */
    201, /* invalid context */
    214, /* memory error that could not be corrected */
    220, /* the same on NVLink */
    226, /* contained error */
    700, /* illegal address */
    702, /* a kernel took too long */
    709, /* context is destroyed */
    710, /* assertion of a kernel */
    714, /* hardware stack error */
    715, /* illegal instruction */
    716, /* misaligned address */
    717, /* invalid address space */
    718, /* invalid program counter */
    719, /* a kernel failed */
    721, /* tensor memory leak */
    806, /* the server of a shared GPU cannot be reached */
    810, /* the server ended this client */
    911, /* another device failed */
    999, /* unknown; what a GPU that fell off the bus gives */
};

static bool is_fatal(int result)
{
    for (size_t i = 0; i < sizeof fatal / sizeof fatal[0]; i++)
        if (fatal[i] == result)
            return true;
    return false;
}

takt_status takt__cuda_status(int result)
{
    if (result == TAKT_CUDA_SUCCESS)
        return TAKT_OK;
    if (result == TAKT_CUDA_OUT_OF_MEMORY)
        return TAKT_ENOMEM;
    return is_fatal(result) ? TAKT_ELOST : TAKT_ENODEV;
}

takt_status takt__cuda_refusal(int result)
{
    const takt_status status = takt__cuda_status(result);
    return status == TAKT_ENOMEM ? TAKT_ENODEV : status;
}

struct takt_cuda *takt__cuda_enter(const struct takt_device *device)
{
    struct takt_cuda *cuda = device->self;

    if (cuda == NULL || !takt__cuda_is_usable() ||
        cuda->api->cuCtxPushCurrent(cuda->context) != TAKT_CUDA_SUCCESS)
        return NULL;
    return cuda;
}

void takt__cuda_leave(const struct takt_cuda *cuda)
{
    void *context;
    cuda->api->cuCtxPopCurrent(&context);
}
