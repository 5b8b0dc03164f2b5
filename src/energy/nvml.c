/* SPDX-License-Identifier: MIT */
/*
 * nvml.c - NVIDIA's GPUs by their management library.
 *
 * It has a counter of energy since Volta, in millijoules. Of older GPUs the
 * power is read instead, and added up here.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/config.h"
#include "base/library.h"
#include "base/log.h"
#include "energy/sources.h"
#include "gpu/at_exit.h"
#include "hw/text.h"

enum { success = 0, not_permitted = 4 };

/* What NVML fills in. */
struct pci_info {
    char legacy_address[16];
    unsigned domain, bus, device, ids, subsystem_ids;
    char address[32];
};
struct utilization {
    unsigned gpu, memory; /* in percent */
};

struct functions {
    int (*init)(void);
    int (*shutdown)(void);
    const char *(*error)(int result);
    int (*count)(unsigned *count);
    int (*handle)(unsigned index, void **device);
    int (*pci)(void *device, struct pci_info *info);
    int (*name)(void *device, char *name, unsigned length);
    int (*energy)(void *device, unsigned long long *mj);
    int (*power)(void *device, unsigned *mw);
    int (*utilization)(void *device, struct utilization *out);
};

static const struct takt_library_symbol symbols[] = {
    {"nvmlInit_v2", offsetof(struct functions, init)},
    {"nvmlShutdown", offsetof(struct functions, shutdown)},
    {"nvmlErrorString", offsetof(struct functions, error)},
    {"nvmlDeviceGetCount_v2", offsetof(struct functions, count)},
    {"nvmlDeviceGetHandleByIndex_v2", offsetof(struct functions, handle)},
    {"nvmlDeviceGetPciInfo_v3", offsetof(struct functions, pci)},
    {"nvmlDeviceGetName", offsetof(struct functions, name)},
    {"nvmlDeviceGetTotalEnergyConsumption", offsetof(struct functions, energy)},
    {"nvmlDeviceGetPowerUsage", offsetof(struct functions, power)},
    {"nvmlDeviceGetUtilizationRates", offsetof(struct functions, utilization)},
};

struct gpu {
    void *device;
    bool is_power;
    uint64_t power_at_ns, uj; /* when it was read last, and the sum */
    unsigned mw;
    uint64_t last; /* what was read */
};

struct takt_nvml {
    struct functions call;
    unsigned count;
    struct gpu gpu[TAKT_ENERGY_COUNTERS];
};

/* ---- opening ------------------------------------------------------------- */

static bool find_functions(void *library, struct functions *out, char *problem,
                           size_t size)
{
    const char *missing = takt__library_find_all(
        library, symbols, sizeof symbols / sizeof *symbols, out);

    if (missing != NULL)
        snprintf(problem, size,
                 "nvml: the library has no %s: NVIDIA's driver is too old",
                 missing);
    return missing == NULL;
}

/* What was named is not silently done without. */
static void say_unused(const char *file, const char *problem)
{
    takt__log(TAKT_LOG_ERROR, "TAKT_NVML=%.200s is not used: %s", file,
              problem + strlen("nvml: "));
}

static bool load(struct functions *out, char *problem, size_t size)
{
    const char *asked = takt__config()->nvml, *gpu = takt__config()->gpu;
    const bool is_named = asked != NULL && *asked != '\0';

    if (gpu != NULL && *gpu == '\0') {
        snprintf(problem, size, "nvml: TAKT_GPU is empty: no GPU is looked at");
        return false;
    }
    void *library =
        takt__gpu_library_open(is_named ? asked : "libnvidia-ml.so.1");
    if (library == NULL && !is_named && !takt__is_static() &&
        !takt__config()->is_privileged)
        snprintf(problem, size,
                 "nvml: libnvidia-ml.so.1 was not found (NVIDIA's driver has "
                 "it; containers need the capability 'utility')");
    else if (library == NULL)
        snprintf(problem, size, "nvml: %.180s", takt__library_problem());
    const bool is_right =
        library != NULL && find_functions(library, out, problem, size);
    if (!is_right && is_named)
        say_unused(asked, problem);
    return is_right;
}

static bool read_energy(const struct takt_nvml *nvml, const struct gpu *gpu,
                        uint64_t *mj)
{
    unsigned long long value;

    if (nvml->call.energy(gpu->device, &value) != success)
        return false;
    *mj = value;
    return true;
}

static void describe(const struct takt_nvml *nvml, const struct gpu *gpu,
                     const struct pci_info *info,
                     struct takt_energy_counter *out)
{
    char name[96] = "";

    *out = (struct takt_energy_counter){
        .source = "nvml",
        .unit_aj = gpu->is_power ? UINT64_C(1000000000000)
                                 : UINT64_C(1000000000000000),
        .step_ms = 100,
        .is_power = gpu->is_power};
    snprintf(out->address, sizeof out->address, "%04x:%02x:%02x.0",
             info->domain & 0xffff, info->bus & 0xff, info->device & 0xff);
    if (nvml->call.name(gpu->device, name, sizeof name) != success)
        strcpy(name, "GPU");
    name[sizeof name - 1] = '\0';
    takt__text_tidy(name, out->name, sizeof out->name);
}

/* The counter of a GPU; false: `problem` says why it has none. */
static bool add_gpu(struct takt_nvml *nvml, unsigned index,
                    struct takt_energy_counter *counter, char *problem,
                    size_t size)
{
    struct gpu *gpu = &nvml->gpu[nvml->count];
    struct pci_info info = {.domain = 0};
    uint64_t mj;

    memset(gpu, 0, sizeof *gpu);
    int result = nvml->call.handle(index, &gpu->device);
    if (result == success)
        result = nvml->call.pci(gpu->device, &info);
    if (result == success && !read_energy(nvml, gpu, &mj)) {
        gpu->is_power = true;
        result = nvml->call.power(gpu->device, &gpu->mw);
        gpu->power_at_ns = takt__now_ns();
    }
    if (result != success) {
        snprintf(problem, size,
                 "nvml: GPU %u tells neither energy nor power: "
                 "%.80s%s",
                 index, nvml->call.error(result),
                 result == not_permitted ? " (run as root, or in a container "
                                           "that owns the whole GPU)"
                                         : "");
        return false;
    }
    describe(nvml, gpu, &info, counter);
    nvml->count++;
    return true;
}

static bool start(struct takt_nvml *nvml, char *problem, size_t size)
{
    if (!load(&nvml->call, problem, size))
        return false;
    const int result = nvml->call.init();
    if (result != success)
        snprintf(problem, size, "nvml: it cannot be used: %.120s",
                 nvml->call.error(result));
    takt__gpu_watch_exit();
    return result == success;
}

unsigned takt__nvml_open(struct takt_nvml **out,
                         struct takt_energy_counter counter[], unsigned most,
                         char *problem, size_t size)
{
    struct takt_nvml *nvml = calloc(1, sizeof *nvml);
    unsigned gpus = 0;

    *out = NULL;
    if (nvml == NULL || !takt__gpu_begin()) {
        free(nvml);
        return 0;
    }
    if (!start(nvml, problem, size)) {
        free(nvml);
        takt__gpu_end();
        return 0;
    }
    if (nvml->call.count(&gpus) != success)
        gpus = 0;
    for (unsigned i = 0; i < gpus && nvml->count < most; i++)
        add_gpu(nvml, i, &counter[nvml->count], problem, size);
    if (gpus == 0)
        snprintf(problem, size, "nvml: it shows no GPU to this process");
    takt__gpu_end();
    *out = nvml;
    return nvml->count;
}

void takt__nvml_close(struct takt_nvml *nvml)
{
    if (nvml == NULL)
        return;
    if (takt__gpu_begin()) {
        nvml->call.shutdown();
        takt__gpu_end();
    }
    free(nvml);
}

/* ---- reading ------------------------------------------------------------- */

/* Half of the time since the last reading each. */
static bool read_power(const struct takt_nvml *nvml, struct gpu *gpu,
                       uint64_t *uj)
{
    unsigned mw;

    if (nvml->call.power(gpu->device, &mw) != success)
        return false;
    const uint64_t now_ns = takt__now_ns();
    gpu->uj += (uint64_t)(0.5 * ((double)mw + gpu->mw) *
                          (double)(now_ns - gpu->power_at_ns) * 1e-6);
    gpu->mw = mw;
    gpu->power_at_ns = now_ns;
    *uj = gpu->uj;
    return true;
}

bool takt__nvml_read(struct takt_nvml *nvml, unsigned index,
                     struct takt_energy_reading *out)
{
    struct gpu *gpu = &nvml->gpu[index];
    struct utilization busy;

    if (!takt__gpu_begin())
        return false;
    const uint64_t begin_ns = takt__now_ns();
    const bool is_read = gpu->is_power ? read_power(nvml, gpu, &out->count)
                                       : read_energy(nvml, gpu, &out->count);
    const uint64_t end_ns = takt__now_ns();
    out->at_ns = begin_ns + (end_ns - begin_ns) / 2;
    out->share_pml = 1001;
    if (is_read && out->count != gpu->last && /* else no window ends here */
        nvml->call.utilization(gpu->device, &busy) == success &&
        busy.gpu <= 100)
        out->share_pml = 10 * busy.gpu;
    gpu->last = out->count;
    takt__gpu_end();
    return is_read;
}
