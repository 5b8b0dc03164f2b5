/* SPDX-License-Identifier: MIT */
/*
 * gpus.c - from the PCI bus to devices.
 *
 * NVIDIA's GPUs are driven through CUDA, all others through Vulkan. A driver
 * takes a good part of a second to load, so the list comes from the bus until a
 * device is needed; with "all" the drivers are asked, which also shows software
 * devices and GPUs that are on no bus.
 */
#include "expert/gpu.h"

#include <stdlib.h>
#include <string.h>

#include "cuda/cuda.h"
#include "vulkan/vulkan.h"

enum { nvidia = 0x10de };

static unsigned on_bus(const takt_machine *machine, bool is_nvidia)
{
    unsigned count = 0;

    for (unsigned i = 0; i < machine->gpu_count; i++)
        count += (machine->gpu[i].vendor == nvidia) == is_nvidia;
    return count;
}

void takt__gpus_list(struct takt_experts *experts,
                     const struct takt_experts_options *options)
{
    const struct takt_finder finder[] = {
        {.driver = &takt__cuda_driver,
         .count = takt__cuda_count,
         .expected = on_bus(options->machine, true)},
        {.driver = &takt__vulkan_driver,
         .count = takt__vulkan_count,
         .expected = on_bus(options->machine, false)},
    };
    const bool is_off = options->gpu != NULL && *options->gpu == '\0';

    takt__devices_list(&experts->devices,
                       &(struct takt_devices_options){
                           .finder = finder,
                           .finders = is_off ? 0 : 2,
                           .is_now = options->gpu != NULL &&
                                     strcmp(options->gpu, "all") == 0 &&
                                     !options->is_recorded,
                           .pool = experts->pool,
                           .threads = options->threads,
                       });
}
