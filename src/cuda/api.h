/* SPDX-License-Identifier: MIT */
/*
 * api.h - NVIDIA's driver, found when the program runs.
 *
 * Takt is built without NVIDIA's headers and starts without its libraries: what
 * is needed of them is declared here and in api.def.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The functions, by their names: api->cuLaunchKernel(...). */
struct takt_cuda_api {
    int version; /* 13000: it understands CUDA up to 13.0 */
#define TAKT_CUDA_FUNCTION(name, symbol, parameters) int(*name) parameters;
#include "cuda/api.def"
};

/* CUresult, those that are distinguished. */
enum {
    TAKT_CUDA_SUCCESS = 0,
    TAKT_CUDA_INVALID_VALUE = 1,
    TAKT_CUDA_OUT_OF_MEMORY = 2,
    TAKT_CUDA_STUB_LIBRARY = 34,
    TAKT_CUDA_NO_DEVICE = 100,
    TAKT_CUDA_NOT_READY = 600
};

/* CUdevice_attribute */
enum {
    TAKT_CUDA_ATTRIBUTE_CLOCK_RATE = 13, /* kHz */
    TAKT_CUDA_ATTRIBUTE_MULTIPROCESSOR_COUNT = 16,
    TAKT_CUDA_ATTRIBUTE_INTEGRATED = 18,
    TAKT_CUDA_ATTRIBUTE_MEMORY_CLOCK_RATE = 36,       /* kHz */
    TAKT_CUDA_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH = 37, /* bits */
    TAKT_CUDA_ATTRIBUTE_CAPABILITY_MAJOR = 75,
    TAKT_CUDA_ATTRIBUTE_CAPABILITY_MINOR = 76,
    TAKT_CUDA_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN = 97
};

/* CUfunction_attribute */
enum { TAKT_CUDA_FUNCTION_MAX_DYNAMIC_SHARED_SIZE_BYTES = 8 };

/* CUjit_option */
enum {
    TAKT_CUDA_JIT_ERROR_LOG_BUFFER = 5,
    TAKT_CUDA_JIT_ERROR_LOG_BUFFER_SIZE_BYTES = 6
};

/* Finds and starts the driver, the first time; it is never unloaded. NULL:
 * `problem` says in one line why there is none; it may be asked for again. A
 * child of a process that used the driver gets none. */
const struct takt_cuda_api *takt__cuda_api(char *problem, size_t size);

/* Whether the driver may be called. Not in a child of the process that started
 * it: there nothing of it works any more. */
bool takt__cuda_is_usable(void);

/* What the driver says of a result: "out of memory (2)". */
void takt__cuda_explain(const struct takt_cuda_api *api, int result, char *text,
                        size_t size);
