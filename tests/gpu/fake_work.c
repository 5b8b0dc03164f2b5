/* SPDX-License-Identifier: MIT */
/* fake_work.c - copies and kernels, as the fake driver's streams do them. */
#include <stdlib.h>
#include <string.h>

#include "cuda/kernels.h"
#include "gpu/fake_cuda.h"

static uint64_t bytes_in, bytes_out;

/* ---- copies -------------------------------------------------------------- */

struct copy {
    void *to;
    const void *from; /* NULL: a value */
    size_t bytes;
    unsigned char value;
};

static void do_copy(void *self)
{
    const struct copy *copy = self;

    if (copy->from != NULL)
        memmove(copy->to, copy->from, copy->bytes);
    else
        memset(copy->to, copy->value, copy->bytes);
}

static int submit_copy(void *stream, struct copy copy)
{
    struct copy *self = malloc(sizeof *self);

    if (self == NULL)
        return OUT_OF_MEMORY;
    *self = copy;
    return fake_submit(stream, do_copy, self);
}

static uint64_t address(const void *pointer)
{
    return (uint64_t)(uintptr_t)pointer;
}

int cuMemcpyHtoDAsync_v2(uint64_t to, const void *from, size_t bytes,
                         void *stream)
{
    struct fake_context *context;

    pthread_mutex_lock(&fake_lock);
    int error = fake_begin_on(FAKE_cuMemcpyHtoDAsync, stream, &context);
    if (error == 0 && (!fake_is_on_device(to, bytes) ||
                       !fake_is_on_device(address(from), bytes)))
        error = INVALID_VALUE;
    if (error == 0) {
        bytes_in += bytes;
        error = submit_copy(stream, (struct copy){.to = fake_cuda_at(to),
                                                  .from = from,
                                                  .bytes = bytes});
    }
    pthread_mutex_unlock(&fake_lock);
    return error;
}

int cuMemcpyDtoHAsync_v2(void *to, uint64_t from, size_t bytes, void *stream)
{
    struct fake_context *context;

    pthread_mutex_lock(&fake_lock);
    int error = fake_begin_on(FAKE_cuMemcpyDtoHAsync, stream, &context);
    if (error == 0 && (!fake_is_on_device(from, bytes) ||
                       !fake_is_on_device(address(to), bytes)))
        error = INVALID_VALUE;
    if (error == 0) {
        bytes_out += bytes;
        error = submit_copy(stream, (struct copy){.to = to,
                                                  .from = fake_cuda_at(from),
                                                  .bytes = bytes});
    }
    pthread_mutex_unlock(&fake_lock);
    return error;
}

int cuMemcpyDtoDAsync_v2(uint64_t to, uint64_t from, size_t bytes, void *stream)
{
    struct fake_context *context;

    pthread_mutex_lock(&fake_lock);
    int error = fake_begin_on(FAKE_cuMemcpyDtoDAsync, stream, &context);
    if (error == 0 &&
        (!fake_is_on_device(to, bytes) || !fake_is_on_device(from, bytes)))
        error = INVALID_VALUE;
    if (error == 0)
        error = submit_copy(stream, (struct copy){.to = fake_cuda_at(to),
                                                  .from = fake_cuda_at(from),
                                                  .bytes = bytes});
    pthread_mutex_unlock(&fake_lock);
    return error;
}

int cuMemsetD8Async(uint64_t to, unsigned char value, size_t bytes,
                    void *stream)
{
    struct fake_context *context;

    pthread_mutex_lock(&fake_lock);
    int error = fake_begin_on(FAKE_cuMemsetD8Async, stream, &context);
    if (error == 0 && !fake_is_on_device(to, bytes))
        error = INVALID_VALUE;
    if (error == 0)
        error = submit_copy(stream, (struct copy){.to = fake_cuda_at(to),
                                                  .bytes = bytes,
                                                  .value = value});
    pthread_mutex_unlock(&fake_lock);
    return error;
}

uint64_t fake_cuda_bytes_in(void)
{
    pthread_mutex_lock(&fake_lock);
    const uint64_t bytes = bytes_in;
    pthread_mutex_unlock(&fake_lock);
    return bytes;
}

uint64_t fake_cuda_bytes_out(void)
{
    pthread_mutex_lock(&fake_lock);
    const uint64_t bytes = bytes_out;
    pthread_mutex_unlock(&fake_lock);
    return bytes;
}

/* ---- kernels ------------------------------------------------------------- */

struct launch {
    const struct fake_kernel *kernel;
    struct takt_cuda_args args;
};

/* As on a real one, whoever calls next is told of a kernel that failed, and
 * nothing works in this process any more. */
static void do_launch(void *self)
{
    const struct launch *launch = self;

    if (fake_kernel_run(launch->kernel, &launch->args))
        return;
    pthread_mutex_lock(&fake_lock);
    fake_kill(ILLEGAL_ADDRESS);
    pthread_mutex_unlock(&fake_lock);
}

static int submit_launch(void *stream, struct launch launch)
{
    struct launch *self = malloc(sizeof *self);

    if (self == NULL)
        return OUT_OF_MEMORY;
    *self = launch;
    return fake_submit(stream, do_launch, self);
}

static bool is_grid(unsigned x, unsigned y, unsigned z)
{
    return x > 0 && y > 0 && z > 0 && x <= INT32_MAX && y <= 65535 &&
           z <= 65535;
}

static bool is_block(unsigned x, unsigned y, unsigned z)
{
    return x > 0 && y > 0 && z > 0 && x <= 1024 && y <= 1024 && z <= 64 &&
           x * y * z <= 1024;
}

int cuLaunchKernel(void *function, unsigned grid_x, unsigned grid_y,
                   unsigned grid_z, unsigned block_x, unsigned block_y,
                   unsigned block_z, unsigned shared_bytes, void *stream,
                   void **arguments, void **extra)
{
    enum { shared_at_most = 227 * 1024 };
    struct fake_context *context;

    pthread_mutex_lock(&fake_lock);
    int error = fake_begin_on(FAKE_cuLaunchKernel, stream, &context);
    if (error == 0 &&
        (function == NULL || arguments == NULL || extra != NULL ||
         !is_grid(grid_x, grid_y, grid_z) ||
         !is_block(block_x, block_y, block_z) || shared_bytes > shared_at_most))
        error = INVALID_VALUE;
    if (error == 0)
        error = submit_launch(
            stream, (struct launch){
                        .kernel = function,
                        .args = *(const struct takt_cuda_args *)arguments[0]});
    pthread_mutex_unlock(&fake_lock);
    return error;
}

int fake_cuda_submit(void *stream, void (*act)(void *self), void *self)
{
    pthread_mutex_lock(&fake_lock);
    const int error = fake_submit(stream, act, self);
    pthread_mutex_unlock(&fake_lock);
    return error;
}
