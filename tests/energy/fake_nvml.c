/* SPDX-License-Identifier: MIT */
/*
 * fake_nvml.c - NVIDIA's NVML with GPUs that there are not.
 *
 * A shared library (TAKT_NVML names its file). Each GPU draws 120 W; its
 * counter steps every 100 ms. A call in a child of the process that started it
 * ends it. Read from the environment with every call:
 *   FAKE_NVML_GPUS   how many; 1
 *   FAKE_NVML_FAIL   "init", "energy", "power" or "pci", several with commas
 *                    between: these fail, as not supported
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define FAKE_API __attribute__((visibility("default")))

enum { success, not_supported = 3 };

static pid_t owner;
static _Atomic unsigned reads;
static pthread_t reader;

struct pci_info {
    char legacy_address[16];
    unsigned domain, bus, device, ids, subsystem_ids;
    char address[32];
};

/* How often counters were read, and the thread that did so last. */
FAKE_API unsigned fake_nvml_reads(pthread_t *last);
FAKE_API int nvmlInit_v2(void);
FAKE_API int nvmlShutdown(void);
FAKE_API const char *nvmlErrorString(int result);
FAKE_API int nvmlDeviceGetCount_v2(unsigned *count);
FAKE_API int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **device);
FAKE_API int nvmlDeviceGetPciInfo_v3(void *device, struct pci_info *info);
FAKE_API int nvmlDeviceGetName(void *device, char *name, unsigned length);
FAKE_API int nvmlDeviceGetTotalEnergyConsumption(void *device,
                                                 unsigned long long *mj);
FAKE_API int nvmlDeviceGetPowerUsage(void *device, unsigned *mw);
FAKE_API int nvmlDeviceGetUtilizationRates(void *device, unsigned busy[2]);

static int answer(const char *name)
{
    const char *failing = getenv("FAKE_NVML_FAIL");

    if (owner != 0 && getpid() != owner)
        abort();
    return failing != NULL && strstr(failing, name) != NULL ? not_supported
                                                            : success;
}

unsigned fake_nvml_reads(pthread_t *last)
{
    const unsigned count = atomic_load(&reads);

    *last = reader;
    return count;
}

int nvmlInit_v2(void)
{
    const int result = answer("init");

    if (result == success)
        owner = getpid();
    return result;
}

int nvmlShutdown(void)
{
    return answer("shutdown");
}

const char *nvmlErrorString(int result)
{
    return result == success ? "Success" : "Not Supported";
}

int nvmlDeviceGetCount_v2(unsigned *count)
{
    const char *gpus = getenv("FAKE_NVML_GPUS");

    *count = gpus == NULL ? 1 : (unsigned)atoi(gpus);
    return answer("count");
}

int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **device)
{
    *device = (void *)(uintptr_t)(index + 1);
    return answer("handle");
}

int nvmlDeviceGetPciInfo_v3(void *device, struct pci_info *info)
{
    memset(info, 0, sizeof *info);
    info->bus = (unsigned)(uintptr_t)device - 1; /* as fake_cuda.h has it */
    snprintf(info->address, sizeof info->address, "%08X:%02X:00.0", 0,
             info->bus);
    return answer("pci");
}

int nvmlDeviceGetName(void *device, char *name, unsigned length)
{
    (void)device;
    snprintf(name, length, "Fake GPU");
    return answer("name");
}

int nvmlDeviceGetTotalEnergyConsumption(void *device, unsigned long long *mj)
{
    struct timespec now;

    (void)device;
    clock_gettime(CLOCK_MONOTONIC, &now);
    *mj = 12000ULL * ((unsigned long long)now.tv_sec * 10 +
                      (unsigned long long)now.tv_nsec / 100000000);
    reader = pthread_self();
    atomic_fetch_add(&reads, 1);
    return answer("energy");
}

int nvmlDeviceGetPowerUsage(void *device, unsigned *mw)
{
    (void)device;
    *mw = 120000;
    return answer("power");
}

int nvmlDeviceGetUtilizationRates(void *device, unsigned busy[2])
{
    (void)device;
    busy[0] = busy[1] = 0;
    return answer("utilization");
}
