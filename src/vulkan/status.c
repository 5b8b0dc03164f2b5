/* SPDX-License-Identifier: MIT */
/* status.c - whether a device may be called, and what its answers mean. */
#include <stdatomic.h>

#include "vulkan/device_parts.h"

struct takt_vulkan *takt__vulkan_of(const struct takt_device *device)
{
    struct takt_vulkan *vulkan = device->self;

    if (vulkan == NULL || vulkan->forks != takt__vulkan_forks() ||
        atomic_load(&vulkan->is_lost))
        return NULL;
    return vulkan;
}

takt_status takt__vulkan_status(struct takt_vulkan *vulkan, VkResult result,
                                takt_status otherwise)
{
    if (result == VK_SUCCESS)
        return TAKT_OK;
    if (result != VK_ERROR_DEVICE_LOST)
        return otherwise;
    atomic_store(&vulkan->is_lost, true);
    return TAKT_ELOST;
}
