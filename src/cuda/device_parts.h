/* SPDX-License-Identifier: MIT */
/*
 * device_parts.h - what a CUDA device is made of, for the files of this folder
 * only.
 */
#pragma once

#include "cuda/api.h"
#include "cuda/cuda.h"
#include "cuda/kernels.h"

struct takt_cublas;   /* NVIDIA's products: cublas.h */
struct takt_cusolver; /* and its LAPACK: cusolver_open.h */

/* An event of the driver; what takt_mark.point points to. */
struct takt_cuda_point {
    void *event;
    bool is_timed;
    struct takt_cuda_point *next_free, *next;
};

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
    struct takt_cusolver *cusolver;  /* NULL: not opened, or not to be had */
    struct takt_block scratch;       /* for kernels of several blocks */
    struct takt_cuda_point *free[2]; /* marks that are not in use; timed: [1] */
    struct takt_cuda_point *points;  /* all of them */
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

/* Whether the driver may be called, and a call is one that the kernels (or
 * cuBLAS) take. */
takt_device_can_run takt__cuda_can_run;
bool takt__cuda_has(const takt_op *op, takt_dtype dtype);

/* Makes the context of a device current in this thread, above the program's
 * own, which leave() brings back. NULL: there is none that could be used. */
struct takt_cuda *takt__cuda_enter(const struct takt_device *device);
void takt__cuda_leave(const struct takt_cuda *own);

/* As takt__cuda_status(), in the words of struct takt_driver: what needed
 * memory and got none was refused. */
takt_status takt__cuda_refusal(int result);

/* Fills in what is known of a device. Never fails: what the driver does not say
 * is left unknown. */
void takt__cuda_describe(const struct takt_cuda *cuda,
                         struct takt_device_facts *out);

/* The compute capability, as 75 for 7.5; 0: not known. */
int takt__cuda_capability(const struct takt_cuda *cuda);

/* The methods for marks. */
takt_device_mark takt__cuda_mark;
takt_device_drop takt__cuda_drop;
takt_device_follow takt__cuda_follow;
takt_device_wait takt__cuda_wait;
takt_device_is_past takt__cuda_is_past;
takt_device_between takt__cuda_between_s;
