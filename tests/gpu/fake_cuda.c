/* SPDX-License-Identifier: MIT */
/*
 * fake_cuda.c - the fake driver's devices, contexts and modules.
 */
#include "gpu/fake_cuda.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { stack_room = 16 };

/* Those that were destroyed stay in the list, so that whoever still uses one
 * is told. */
static struct fake_context *contexts;
static bool is_initialised;

static _Thread_local struct fake_context *stack[stack_room];
static _Thread_local int depth;

struct fake_context *fake_current(void)
{
    return depth > 0 ? stack[depth - 1] : NULL;
}

void fake_spoil(int error)
{
    for (struct fake_context *at = contexts; at != NULL; at = at->next)
        at->error = error;
}

/* ---- the driver ---------------------------------------------------------- */

int cuInit(unsigned flags)
{
    pthread_mutex_lock(&fake_lock);
    int error = fake_begin(FAKE_cuInit);
    if (error == 0)
        error = flags != 0 ? INVALID_VALUE : fake_settings.init_error;
    is_initialised = is_initialised || error == 0;
    if (is_initialised)
        fake_watch_forks();
    pthread_mutex_unlock(&fake_lock);
    return error;
}

int cuDriverGetVersion(int *version)
{
    pthread_mutex_lock(&fake_lock);
    const int error = fake_begin(FAKE_cuDriverGetVersion);
    *version = fake_settings.version;
    pthread_mutex_unlock(&fake_lock);
    return error;
}

static const struct {
    int error;
    const char *name, *text;
} errors[] = {
    {0, "CUDA_SUCCESS", "no error"},
    {1, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
    {2, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
    {100, "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"},
    {101, "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"},
    {700, "CUDA_ERROR_ILLEGAL_ADDRESS",
     "an illegal memory access was encountered"},
    {719, "CUDA_ERROR_LAUNCH_FAILED", "unspecified launch failure"},
    {999, "CUDA_ERROR_UNKNOWN", "unknown error"},
};

int cuGetErrorName(int result, const char **name)
{
    *name = NULL;
    for (size_t i = 0; i < sizeof errors / sizeof errors[0]; i++)
        if (errors[i].error == result)
            *name = errors[i].name;
    return *name != NULL ? 0 : INVALID_VALUE;
}

int cuGetErrorString(int result, const char **text)
{
    *text = NULL;
    for (size_t i = 0; i < sizeof errors / sizeof errors[0]; i++)
        if (errors[i].error == result)
            *text = errors[i].text;
    return *text != NULL ? 0 : INVALID_VALUE;
}

/* ---- devices ------------------------------------------------------------- */

static int begin_with_device(enum fake_function function, int device)
{
    enum { NOT_INITIALISED = 3 };
    const int error = fake_begin(function);

    if (error != 0)
        return error;
    if (!is_initialised)
        return NOT_INITIALISED;
    return device >= 0 && device < fake_settings.devices ? 0 : INVALID_DEVICE;
}

static int fake_primary; /* whether the primary contexts are active */

int cuDeviceGetCount(int *count)
{
    pthread_mutex_lock(&fake_lock);
    const int error = fake_begin(FAKE_cuDeviceGetCount);
    if (error == 0)
        *count = fake_settings.devices;
    pthread_mutex_unlock(&fake_lock);
    return error;
}

int cuDeviceGet(int *device, int index)
{
    pthread_mutex_lock(&fake_lock);
    const int error = begin_with_device(FAKE_cuDeviceGet, index);
    if (error == 0)
        *device = index;
    pthread_mutex_unlock(&fake_lock);
    return error;
}

int cuDeviceGetName(char *name, int size, int device)
{
    pthread_mutex_lock(&fake_lock);
    const int error = begin_with_device(FAKE_cuDeviceGetName, device);
    if (error == 0)
        snprintf(name, (size_t)size, "Fake GPU %d", device);
    pthread_mutex_unlock(&fake_lock);
    return error;
}

int cuDeviceGetPCIBusId(char *address, int size, int device)
{
    pthread_mutex_lock(&fake_lock);
    const int error = begin_with_device(FAKE_cuDeviceGetPCIBusId, device);
    if (error == 0)
        snprintf(address, (size_t)size, "0000:%02X:00.0",
                 (unsigned)device & 0xFFU);
    pthread_mutex_unlock(&fake_lock);
    return error;
}

int cuDevicePrimaryCtxGetState(int device, unsigned *flags, int *is_active)
{
    pthread_mutex_lock(&fake_lock);
    const int error =
        begin_with_device(FAKE_cuDevicePrimaryCtxGetState, device);
    *flags = 0;
    *is_active = fake_primary;
    pthread_mutex_unlock(&fake_lock);
    return error;
}

void fake_cuda_set_primary(int is_active)
{
    pthread_mutex_lock(&fake_lock);
    fake_primary = is_active;
    pthread_mutex_unlock(&fake_lock);
}

int cuDeviceTotalMem_v2(size_t *bytes, int device)
{
    pthread_mutex_lock(&fake_lock);
    const int error = begin_with_device(FAKE_cuDeviceTotalMem, device);
    if (error == 0)
        *bytes = fake_settings.memory;
    pthread_mutex_unlock(&fake_lock);
    return error;
}

/* By the numbers of CUdevice_attribute. */
static int attribute_value(int attribute)
{
    switch (attribute) {
    case 13: /* clock, kHz */
        return 1000000;
    case 16: /* multiprocessors */
        return 8;
    case 36: /* memory clock, kHz */
        return 1000000;
    case 37: /* bits of the memory bus */
        return 1024;
    case 75:
        return fake_settings.capability / 10;
    case 76:
        return fake_settings.capability % 10;
    case 97: /* shared memory that a block may ask for */
        return 227 * 1024;
    default:
        return 0;
    }
}

int cuDeviceGetAttribute(int *value, int attribute, int device)
{
    pthread_mutex_lock(&fake_lock);
    const int error = begin_with_device(FAKE_cuDeviceGetAttribute, device);
    if (error == 0)
        *value = attribute_value(attribute);
    pthread_mutex_unlock(&fake_lock);
    return error;
}

/* ---- contexts ------------------------------------------------------------ */

static int push(struct fake_context *context)
{
    if (depth == stack_room)
        return INVALID_CONTEXT;
    stack[depth++] = context;
    return 0;
}

static int make_context(void **out, int device)
{
    struct fake_context *context = calloc(1, sizeof *context);

    if (context == NULL)
        return OUT_OF_MEMORY;
    context->device = device;
    context->next = contexts;
    contexts = context;
    *out = context;
    return push(context);
}

int cuCtxCreate_v2(void **context, unsigned flags, int device)
{
    (void)flags;
    pthread_mutex_lock(&fake_lock);
    int error = begin_with_device(FAKE_cuCtxCreate, device);
    if (error == 0)
        error = make_context(context, device);
    pthread_mutex_unlock(&fake_lock);
    return error;
}

static bool is_context(const void *context)
{
    for (const struct fake_context *at = contexts; at != NULL; at = at->next)
        if (at == context)
            return !at->is_destroyed;
    return false;
}

/* Also of a device that is gone: then it fails, but all is given back, for the
 * sake of who looks for leaks. */
int cuCtxDestroy_v2(void *context)
{
    pthread_mutex_lock(&fake_lock);
    int error = fake_begin(FAKE_cuCtxDestroy);
    if (!is_context(context)) {
        error = INVALID_CONTEXT;
    } else {
        fake_streams_end(context);
        fake_memory_free_all(context);
        ((struct fake_context *)context)->is_destroyed = true;
        if (fake_current() == context)
            depth--;
    }
    pthread_mutex_unlock(&fake_lock);
    return error;
}

int cuCtxPushCurrent_v2(void *context)
{
    pthread_mutex_lock(&fake_lock);
    int error = fake_begin(FAKE_cuCtxPushCurrent);
    if (error == 0)
        error = is_context(context) ? push(context) : INVALID_CONTEXT;
    pthread_mutex_unlock(&fake_lock);
    return error;
}

/* Pops when it fails, too: who fails here has nothing else to try. */
int cuCtxPopCurrent_v2(void **context)
{
    pthread_mutex_lock(&fake_lock);
    int error = fake_begin(FAKE_cuCtxPopCurrent);
    *context = fake_current();
    if (depth == 0)
        error = INVALID_CONTEXT;
    else
        depth--;
    pthread_mutex_unlock(&fake_lock);
    return error;
}

/* ---- modules ------------------------------------------------------------- */

static _Atomic int translation_ms;

void fake_cuda_take_time(int ms)
{
    atomic_store(&translation_ms, ms);
}

static void translate(void)
{
    for (int i = 0;; i++) {
        const int ms = atomic_load(&translation_ms);
        if (ms >= 0 && i >= ms)
            return;
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
}

/* A module is its text. */
int cuModuleLoadDataEx(void **module, const void *image, unsigned count,
                       int *options, void **values)
{
    struct fake_context *context;

    (void)count;
    (void)options;
    (void)values;
    translate();
    pthread_mutex_lock(&fake_lock);
    int error = fake_begin_in(FAKE_cuModuleLoadDataEx, &context);
    if (error == 0 && image == NULL)
        error = INVALID_VALUE;
    if (error == 0)
        memcpy(module, &image, sizeof image);
    pthread_mutex_unlock(&fake_lock);
    return error;
}

int cuModuleUnload(void *module)
{
    struct fake_context *context;

    pthread_mutex_lock(&fake_lock);
    int error = fake_begin_in(FAKE_cuModuleUnload, &context);
    if (error == 0 && module == NULL)
        error = INVALID_HANDLE;
    pthread_mutex_unlock(&fake_lock);
    return error;
}

/* Whether the text has an entry of that name, followed by its parameters. */
static bool has_entry(const char *text, const char *name)
{
    char entry[128];

    snprintf(entry, sizeof entry, ".entry %s(", name);
    return strstr(text, entry) != NULL;
}

int cuModuleGetFunction(void **function, void *module, const char *name)
{
    struct fake_context *context;

    pthread_mutex_lock(&fake_lock);
    int error = fake_begin_in(FAKE_cuModuleGetFunction, &context);
    if (error == 0) {
        const struct fake_kernel *kernel = fake_kernel_find(name);
        if (kernel == NULL || !has_entry(module, name))
            error = NOT_FOUND;
        memcpy(function, &kernel, sizeof kernel);
    }
    pthread_mutex_unlock(&fake_lock);
    return error;
}

int cuFuncSetAttribute(void *function, int attribute, int value)
{
    struct fake_context *context;

    (void)attribute;
    (void)value;
    pthread_mutex_lock(&fake_lock);
    int error = fake_begin_in(FAKE_cuFuncSetAttribute, &context);
    if (error == 0 && function == NULL)
        error = INVALID_HANDLE;
    pthread_mutex_unlock(&fake_lock);
    return error;
}
