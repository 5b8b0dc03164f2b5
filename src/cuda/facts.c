/* SPDX-License-Identifier: MIT */
/* facts.c - what the driver and the data sheets say of a device. */
#include <stdio.h>

#include "cuda/device_parts.h"

static int ask(const struct takt_cuda *cuda, int attribute)
{
    int value = 0;

    if (cuda->api->cuDeviceGetAttribute(&value, attribute, cuda->device) !=
        TAKT_CUDA_SUCCESS)
        return 0;
    return value > 0 ? value : 0;
}

int takt__cuda_capability(const struct takt_cuda *cuda)
{
    return 10 * ask(cuda, TAKT_CUDA_ATTRIBUTE_CAPABILITY_MAJOR) +
           ask(cuda, TAKT_CUDA_ATTRIBUTE_CAPABILITY_MINOR);
}

/* Fused multiply-adds that a multiprocessor begins per clock. The driver does
 * not say; these are from the tables of NVIDIA's programming guide. */
static const struct rate {
    int capability;
    int per_clock[2]; /* by dtype */
} rates[] = {
    {75, {64, 2}},   {80, {64, 32}},  {86, {128, 2}},   {87, {128, 2}},
    {89, {128, 2}},  {90, {128, 64}}, {100, {128, 64}}, {103, {128, 2}},
    {110, {128, 2}}, {120, {128, 2}}, {121, {128, 2}},
};

static void find_flops(const struct takt_cuda *cuda, double flops[2])
{
    const int capability = takt__cuda_capability(cuda);
    const double clocks = 1e3 * ask(cuda, TAKT_CUDA_ATTRIBUTE_CLOCK_RATE) *
                          ask(cuda, TAKT_CUDA_ATTRIBUTE_MULTIPROCESSOR_COUNT);

    for (size_t i = 0; i < sizeof rates / sizeof rates[0]; i++)
        if (rates[i].capability == capability)
            for (int dtype = 0; dtype < 2; dtype++)
                flops[dtype] = 2 * clocks * rates[i].per_clock[dtype];
}

/* Two transfers per clock. */
static double memory_rate(const struct takt_cuda *cuda)
{
    return 2e3 * ask(cuda, TAKT_CUDA_ATTRIBUTE_MEMORY_CLOCK_RATE) *
           ask(cuda, TAKT_CUDA_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH) / 8;
}

void takt__cuda_describe(const struct takt_cuda *cuda,
                         struct takt_device_facts *out)
{
    const struct takt_cuda_api *api = cuda->api;
    size_t bytes = 0;

    *out = (struct takt_device_facts){.has_timing = true};
    if (api->cuDeviceGetName(out->model, sizeof out->model, cuda->device) !=
        TAKT_CUDA_SUCCESS)
        out->model[0] = '\0';
    if (api->cuDeviceGetPCIBusId(out->address, sizeof out->address,
                                 cuda->device) != TAKT_CUDA_SUCCESS)
        out->address[0] = '\0';
    snprintf(out->version, sizeof out->version, "driver %d.%d",
             api->version / 1000, api->version % 1000 / 10);
    if (api->cuDeviceTotalMem(&bytes, cuda->device) == TAKT_CUDA_SUCCESS)
        out->memory_bytes = bytes;
    out->units = (unsigned)ask(cuda, TAKT_CUDA_ATTRIBUTE_MULTIPROCESSOR_COUNT);
    out->memory_rate = memory_rate(cuda);
    out->shares_memory = ask(cuda, TAKT_CUDA_ATTRIBUTE_INTEGRATED) != 0;
    find_flops(cuda, out->flops);
}
