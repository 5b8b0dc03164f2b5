/* SPDX-License-Identifier: MIT */
/*
 * inside.h - what a CUDA device is made of, for the files of this folder only.
 */
#ifndef TAKT_CUDA_INSIDE_H
#define TAKT_CUDA_INSIDE_H

#include "cuda/api.h"
#include "cuda/cuda.h"
#include "cuda/kernels.h"

struct takt_cublas; /* NVIDIA's products: cublas.h */

/* Behind takt_device.self. */
struct takt_cuda {
    const struct takt_cuda_api *api; /* the driver's functions: api.h */
    int device;                      /* CUdevice */
    void *context;                   /* CUcontext: our own, so that it can be
                                      * made anew without harm to others */
    void *stream[TAKT_QUEUES];       /* CUstream */
    unsigned units;                  /* multiprocessors */
    struct takt_cuda_code code;      /* modules and kernels: kernels.h */
    _Atomic bool is_loaded;          /* all of them */
    struct takt_cublas *cublas;      /* NULL: not to be had */
    struct takt_block scratch;       /* for kernels of several blocks */
};

/* The status for a result of the driver; TAKT_ELOST for those after which the
 * context is of no use. */
takt_status takt__cuda_status(int result);

/* Starts the kernel of an admitted call on the computing stream. The context is
 * current. */
takt_status takt__cuda_compute(struct takt_cuda *cuda,
                               const struct takt_device_call *call);

/* Memory that kernels need, in the current context. Another status than
 * TAKT_OK: `problem` says why. */
takt_status takt__cuda_make_scratch(struct takt_cuda *cuda, char *problem,
                                    size_t size);

/* Loads the device code into the current context, and finds the kernels:
 * seconds the first time on a machine. Nothing of it is there if it fails, or
 * if `is_over` (may be NULL) becomes true meanwhile: TAKT_ENODEV. */
takt_status takt__cuda_load_code(struct takt_cuda *cuda,
                                 const _Atomic bool *is_over, char *problem,
                                 size_t size);

/* Gives back both. */
void takt__cuda_unload_code(struct takt_cuda *cuda);

/* Whether a call is one the kernels (or cuBLAS) take. */
bool takt__cuda_can_run(const struct takt_device *device,
                        const takt_call *call);

#endif
