/* SPDX-License-Identifier: MIT */
/* own.c - the context of a device around a method. */
#include "cuda/own.h"

struct takt_cuda_own *takt__cuda_enter(const struct takt_device *device)
{
    struct takt_cuda_own *own = device->self;

    if (own == NULL || !takt__cuda_is_usable() ||
        own->cuda.api->cuCtxPushCurrent(own->cuda.context) != TAKT_CUDA_SUCCESS)
        return NULL;
    return own;
}

void takt__cuda_leave(const struct takt_cuda_own *own)
{
    void *context;
    own->cuda.api->cuCtxPopCurrent(&context);
}
