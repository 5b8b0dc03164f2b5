/* SPDX-License-Identifier: MIT */
/*
 * load.c - loads the device code and finds the kernels in it.
 *
 * The driver translates the text for the device it has, and keeps the result
 * on disk: only the first time on a machine takes more than a moment.
 */
#include <stdio.h>
#include <string.h>

#include "cuda/device_parts.h"
#include "gpu/at_exit.h"

static const char *const module_names[TAKT_CUDA_MODULES] = {
#define TAKT_CUDA_MODULE(module) #module,
#include "cuda/kernels.def"
};

static const struct {
    enum takt_cuda_module module;
    const char *name;
} kernels[TAKT_CUDA_KERNELS] = {
#define TAKT_CUDA_KERNEL(module_, op, dtype) \
    {TAKT_CUDA_MODULE_##module_, "takt_" #op "_" #dtype},
#define TAKT_CUDA_VARIANT(module_, op, dtype, variant, role) \
    {TAKT_CUDA_MODULE_##module_, "takt_" #op "_" #dtype "_" #variant},
#include "cuda/kernels.def"
};

/* The first line of what the compiler in the driver says is enough. */
static takt_status load_module(struct takt_cuda *cuda,
                               enum takt_cuda_module module, char *problem,
                               size_t size)
{
    char log[512] = "", why[80];
    int options[] = {TAKT_CUDA_JIT_ERROR_LOG_BUFFER,
                     TAKT_CUDA_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void *values[] = {log, (void *)(uintptr_t)(sizeof log - 1)};
    const int result = cuda->api->cuModuleLoadDataEx(
        &cuda->code.module[module], takt__cuda_code_text(module), 2, options,
        values);

    if (result == TAKT_CUDA_SUCCESS)
        return TAKT_OK;
    cuda->code.module[module] = NULL;
    log[strcspn(log, "\n")] = '\0';
    takt__cuda_explain(cuda->api, result, why, sizeof why);
    snprintf(problem, size, "the driver does not take the code for %s: %s%s%s",
             module_names[module], why, log[0] != '\0' ? ": " : "", log);
    return takt__cuda_status(result);
}

static takt_status load_modules(struct takt_cuda *cuda,
                                const _Atomic bool *is_over, char *problem,
                                size_t size)
{
    for (int i = 0; i < TAKT_CUDA_MODULES; i++) {
        if (takt__gpu_is_ending() || (is_over != NULL && atomic_load(is_over)))
            return TAKT_ENODEV;
        const takt_status status =
            load_module(cuda, (enum takt_cuda_module)i, problem, size);
        if (status != TAKT_OK)
            return status;
    }
    return TAKT_OK;
}

static takt_status find_kernels(struct takt_cuda *cuda, char *problem,
                                size_t size)
{
    for (int i = 0; i < TAKT_CUDA_KERNELS; i++) {
        const int result = cuda->api->cuModuleGetFunction(
            &cuda->code.kernel[i], cuda->code.module[kernels[i].module],
            kernels[i].name);
        if (result != TAKT_CUDA_SUCCESS) {
            snprintf(problem, size, "the device code has no kernel %s",
                     kernels[i].name);
            return takt__cuda_status(result);
        }
    }
    return TAKT_OK;
}

/* Its counters must be 0 before the first kernel runs. */
takt_status takt__cuda_make_scratch(struct takt_cuda *cuda, char *problem,
                                    size_t size)
{
    uint64_t address = 0;
    char why[80];
    int result = cuda->api->cuMemAlloc(&address, TAKT_CUDA_SCRATCH_BYTES);

    if (result == TAKT_CUDA_SUCCESS) {
        cuda->scratch = (struct takt_block){.address = address,
                                            .bytes = TAKT_CUDA_SCRATCH_BYTES};
        result = cuda->api->cuMemsetD8Async(address, 0, TAKT_CUDA_PARTS_AT,
                                            cuda->stream[TAKT_QUEUE_COMPUTE]);
    }
    if (result == TAKT_CUDA_SUCCESS)
        return TAKT_OK;
    takt__cuda_explain(cuda->api, result, why, sizeof why);
    snprintf(problem, size, "no working memory on the device: %s", why);
    return takt__cuda_status(result);
}

static void unload_modules(struct takt_cuda *cuda)
{
    for (int i = 0; i < TAKT_CUDA_MODULES; i++) {
        if (cuda->code.module[i] != NULL)
            cuda->api->cuModuleUnload(cuda->code.module[i]);
        cuda->code.module[i] = NULL;
    }
}

takt_status takt__cuda_load_code(struct takt_cuda *cuda,
                                 const _Atomic bool *is_over, char *problem,
                                 size_t size)
{
    takt_status status = load_modules(cuda, is_over, problem, size);

    if (status == TAKT_OK)
        status = find_kernels(cuda, problem, size);
    if (status == TAKT_OK)
        atomic_store(&cuda->is_loaded, true);
    else
        unload_modules(cuda);
    return status;
}

void takt__cuda_unload_code(struct takt_cuda *cuda)
{
    if (cuda->scratch.address != 0)
        cuda->api->cuMemFree(cuda->scratch.address);
    cuda->scratch = (struct takt_block){0};
    unload_modules(cuda);
}
