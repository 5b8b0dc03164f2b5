/* SPDX-License-Identifier: MIT */
/*
 * takt/gpu.h - the GPUs of a context.
 *
 *     takt_gpu_device gpu = {.size = sizeof gpu};
 *
 *     for (size_t i = 0; takt_ctx_gpu(NULL, i, &gpu) == TAKT_OK; i++)
 *         printf("%s is %s. %s\n", gpu.expert, takt_gpu_state_name(gpu.state),
 *                gpu.problem);
 *
 * Threads: everything here may be called from any thread.
 */
#ifndef TAKT_GPU_H
#define TAKT_GPU_H

#include <stddef.h>
#include <stdint.h>

#include <takt/context.h>
#include <takt/export.h>
#include <takt/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The state of a GPU. */
typedef enum takt_gpu_state {
    TAKT_GPU_ASLEEP = 0, /* not open: it is opened when it pays off */
    TAKT_GPU_READY = 1,
    TAKT_GPU_LOST = 2,  /* it failed; it is opened again later */
    TAKT_GPU_ABSENT = 3 /* it cannot be used */
} takt_gpu_state;

/* The name of a state: "asleep", "ready", "lost" or "absent". */
TAKT_API const char *takt_gpu_state_name(takt_gpu_state state);

/* A GPU of a context. What is not known before it is open is empty or 0. */
typedef struct takt_gpu_device {
    size_t size; /* sizeof(takt_gpu_device): see takt/takt.h */
    char expert[TAKT_EXPERT_NAME_MAX]; /* "cuda.0" */
    takt_gpu_state state;
    char problem[160]; /* why it cannot be used; "": none */
    char model[64];
    char address[16]; /* on the PCI bus */
    char version[48]; /* of its driver */
    uint64_t memory_bytes;
    int is_software; /* used only if it is asked for */
    double open_s;   /* how long opening it took */

    /* Since 0.2: it is open, and other code of the process uses it as well. */
    int is_shared;
} takt_gpu_device;

/* Tells what is known about GPU number `index` of a context.
 * TAKT_ENOENT: there are fewer. */
TAKT_API takt_status takt_ctx_gpu(takt_ctx *ctx, size_t index,
                                  takt_gpu_device *out);

/* Opens all GPUs of a context now. For one that cannot be opened,
 * takt_gpu_device.problem says why. */
TAKT_API void takt_ctx_open_gpus(takt_ctx *ctx);

/* Begins to open all GPUs of a context, in threads of Takt's; calls go on
 * meanwhile. For programs that know that a GPU will pay. */
TAKT_API void takt_ctx_open_gpus_later(takt_ctx *ctx);

/* Leaves the GPUs, as the process is about to end: no context calls them then.
 * Waits for threads that are in their libraries, up to seconds; opening a GPU
 * stops at its next step. A main thread that calls exit() does this by itself.
 */
TAKT_API void takt_gpus_leave(void);

/* Why a driver that was loaded (takt_ctx_options.gpu "all") has no device:
 * "cuda: no driver: libcuda.so.1 was not found". Borrowed until the context is
 * destroyed; NULL beyond the last. */
TAKT_API const char *takt_ctx_gpu_problem(const takt_ctx *ctx, size_t index);

#ifdef __cplusplus
}
#endif

#endif
