/* SPDX-License-Identifier: MIT */
/* absent.c - Vulkan in a build without its headers: there are no devices. */
#include <stdio.h>

#include "vulkan/vulkan.h"

static const char why[] = "this build has no Vulkan";

unsigned takt__vulkan_count(char *problem, size_t size)
{
    snprintf(problem, size, "%s", why);
    return 0;
}

static takt_status start(struct takt_device *device, bool is_partial)
{
    (void)is_partial;
    snprintf(device->problem, sizeof device->problem, "%s", why);
    return TAKT_ENODEV;
}

static void stop(struct takt_device *device)
{
    (void)device;
}

/* Nothing else is asked of a device that cannot be started. */
const struct takt_driver takt__vulkan_driver = {
    .name = "vulkan", .dtypes = 1 << TAKT_F32, .start = start, .stop = stop};
