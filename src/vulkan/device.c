/* SPDX-License-Identifier: MIT */
/* device.c - a device from start to stop, and the driver as a whole. */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "vulkan/device_parts.h"
#include "vulkan/shaders/variants.h"

/* ---- what is known of a device ------------------------------------------- */

/* Everything that is asked at once. */
struct answers {
    VkPhysicalDeviceProperties2 properties;
    VkPhysicalDeviceMaintenance3Properties sizes;
    VkPhysicalDeviceFloatControlsProperties floats;
    VkPhysicalDeviceDriverProperties driver;
    VkPhysicalDevicePCIBusInfoPropertiesEXT pci;
};

static void ask(const struct takt_vulkan *vulkan,
                const struct takt_vulkan_candidate *candidate,
                struct answers *out)
{
    void **next = &out->properties.pNext;

    *out = (struct answers){
        .properties.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2,
        .sizes.sType =
            VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_3_PROPERTIES,
        .floats.sType =
            VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FLOAT_CONTROLS_PROPERTIES,
        .driver.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DRIVER_PROPERTIES,
        .pci.sType =
            VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PCI_BUS_INFO_PROPERTIES_EXT,
    };
    *next = &out->sizes;
    next = &out->sizes.pNext;
    if (candidate->has_controls) {
        *next = &out->floats;
        next = &out->floats.pNext;
    }
    if (candidate->has_driver_name) {
        *next = &out->driver;
        next = &out->driver.pNext;
    }
    if (candidate->has_pci)
        *next = &out->pci;
    vulkan->api.GetPhysicalDeviceProperties2(candidate->physical,
                                             &out->properties);
}

/* More memory for scores buys nothing (a guess). */
static const uint64_t most_scores = UINT64_C(1) << 26;

static void take_limits(struct takt_vulkan *vulkan,
                        const struct answers *answers)
{
    const VkPhysicalDeviceLimits *given =
        &answers->properties.properties.limits;
    struct takt_vulkan_limits *limits = &vulkan->limits;
    VkQueueFamilyProperties families[32];
    uint32_t count = 32;

    vulkan->api.GetPhysicalDeviceQueueFamilyProperties(vulkan->physical, &count,
                                                       families);
    const uint32_t bits = families[vulkan->family].timestampValidBits;
    limits->tick_s = bits > 0 ? (double)given->timestampPeriod * 1e-9 : 0;
    limits->tick_mask = bits < 64 ? (UINT64_C(1) << bits) - 1 : UINT64_MAX;
    limits->block = answers->sizes.maxMemoryAllocationSize;
    limits->blocks = given->maxMemoryAllocationCount;
    limits->range = given->maxStorageBufferRange & ~UINT32_C(3);
    limits->alignment = given->minStorageBufferOffsetAlignment;
    if (limits->alignment < sizeof(float))
        limits->alignment = sizeof(float);
    limits->groups = given->maxComputeWorkGroupCount[0] < 65535
                         ? given->maxComputeWorkGroupCount[0]
                         : 65535;
    limits->scores = limits->range / sizeof(float);
    if (limits->scores > most_scores)
        limits->scores = most_scores;
    vulkan->controls =
        (answers->floats.shaderDenormPreserveFloat32 ? TAKT_CONTROL_DENORM
                                                     : 0U) |
        (answers->floats.shaderSignedZeroInfNanPreserveFloat32
             ? TAKT_CONTROL_SPECIAL
             : 0U) |
        (answers->floats.shaderRoundingModeRTEFloat32 ? TAKT_CONTROL_ROUNDING
                                                      : 0U);
}

static uint64_t local_bytes(const struct takt_vulkan *vulkan)
{
    uint64_t most = 0;

    for (uint32_t i = 0; i < vulkan->memory.memoryHeapCount; i++) {
        const VkMemoryHeap *heap = &vulkan->memory.memoryHeaps[i];
        if ((heap->flags & VK_MEMORY_HEAP_DEVICE_LOCAL_BIT) != 0 &&
            heap->size > most)
            most = heap->size;
    }
    return most;
}

static void name_driver(const struct answers *answers, char *text, size_t size)
{
    const VkPhysicalDeviceProperties *is = &answers->properties.properties;

    if (answers->driver.driverName[0] != '\0')
        snprintf(text, size, "%.20s %.26s", answers->driver.driverName,
                 answers->driver.driverInfo);
    else
        snprintf(text, size, "driver %u.%u.%u",
                 VK_VERSION_MAJOR(is->driverVersion),
                 VK_VERSION_MINOR(is->driverVersion),
                 VK_VERSION_PATCH(is->driverVersion));
}

/* An index of an element must fit 32 bits, whatever is added to it. */
static void fill_facts(const struct takt_vulkan *vulkan,
                       const struct answers *answers, bool has_pci,
                       struct takt_device_facts *facts)
{
    const VkPhysicalDeviceProperties *is = &answers->properties.properties;
    const struct takt_vulkan_limits *limits = &vulkan->limits;

    *facts = (struct takt_device_facts){
        .memory_bytes = local_bytes(vulkan),
        .is_software = is->deviceType == VK_PHYSICAL_DEVICE_TYPE_CPU,
        .has_timing = limits->tick_s > 0,
        .most_elements =
            (size_t)(limits->range - limits->alignment) / sizeof(float),
    };
    facts->shares_memory =
        facts->is_software ||
        is->deviceType == VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU;
    snprintf(facts->model, sizeof facts->model, "%.63s", is->deviceName);
    name_driver(answers, facts->version, sizeof facts->version);
    if (has_pci)
        snprintf(facts->address, sizeof facts->address, "%04x:%02x:%02x.%x",
                 answers->pci.pciDomain & 0xFFFF, answers->pci.pciBus & 0xFF,
                 answers->pci.pciDevice & 0xFF, answers->pci.pciFunction & 0xF);
}

/* ---- start --------------------------------------------------------------- */

static takt_status make_device(struct takt_vulkan *vulkan,
                               const struct takt_vulkan_candidate *candidate)
{
    static const char *const extensions[] = {"VK_KHR_timeline_semaphore",
                                             "VK_KHR_shader_float_controls"};
    const float priority = 1;
    const VkDeviceQueueCreateInfo queue = {
        .sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
        .queueFamilyIndex = candidate->family,
        .queueCount = 1,
        .pQueuePriorities = &priority,
    };
    const VkPhysicalDeviceTimelineSemaphoreFeatures timeline = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_TIMELINE_SEMAPHORE_FEATURES,
        .timelineSemaphore = VK_TRUE,
    };
    const VkDeviceCreateInfo wanted = {
        .sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
        .pNext = &timeline,
        .queueCreateInfoCount = 1,
        .pQueueCreateInfos = &queue,
        .enabledExtensionCount = candidate->is_1_2         ? 0
                                 : candidate->has_controls ? 2
                                                           : 1,
        .ppEnabledExtensionNames = extensions,
    };
    const VkResult result = vulkan->api.CreateDevice(
        candidate->physical, &wanted, NULL, &vulkan->device);

    if (result != VK_SUCCESS) {
        vulkan->device = VK_NULL_HANDLE;
        return TAKT_ENODEV;
    }
    if (!takt__vulkan_find(&vulkan->api, vulkan->device, candidate->is_1_2)) {
        if (vulkan->api.DestroyDevice != NULL)
            vulkan->api.DestroyDevice(vulkan->device, NULL);
        vulkan->device = VK_NULL_HANDLE;
        return TAKT_ENODEV;
    }
    vulkan->api.GetDeviceQueue(vulkan->device, candidate->family, 0,
                               &vulkan->queue);
    return TAKT_OK;
}

/* What is needed to compute anything. */
static takt_status make_ready(struct takt_vulkan *vulkan, const char **what)
{
    takt_status status;

    *what = "its queue cannot be used";
    status = takt__vulkan_batches_make(vulkan);
    if (status != TAKT_OK)
        return status;
    *what = "it has no memory left";
    status = takt__vulkan_block_make(vulkan, REDUCE_SCRATCH_BYTES, false,
                                     &vulkan->scratch);
    if (status != TAKT_OK)
        return status;
    *what = "its driver cannot compile our shaders";
    status = takt__vulkan_code_make(vulkan);
    if (status != TAKT_OK)
        return status;
    return takt__vulkan_probe(vulkan, &vulkan->is_ieee);
}

static void end(struct takt_vulkan *vulkan)
{
    const bool is_ours = vulkan->forks == takt__vulkan_forks();

    if (vulkan->device != VK_NULL_HANDLE && is_ours)
        vulkan->api.DeviceWaitIdle(vulkan->device);
    takt__vulkan_points_end(vulkan);
    takt__vulkan_blocks_end(vulkan);
    free((void *)(uintptr_t)vulkan->scratch.address);
    free((void *)(uintptr_t)vulkan->scores.address);
    if (vulkan->device != VK_NULL_HANDLE && is_ours) {
        takt__vulkan_code_end(vulkan);
        takt__vulkan_batches_end(vulkan);
        vulkan->api.DestroyDevice(vulkan->device, NULL);
    }
    free(vulkan);
}

static takt_status fail(struct takt_device *device, takt_status status,
                        const char *what)
{
    snprintf(device->problem, sizeof device->problem, "%s", what);
    return status;
}

static takt_status start(struct takt_device *device, bool is_partial)
{
    struct takt_vulkan_candidate candidate;
    struct answers answers;
    const char *what = "its driver refuses to start it";
    struct takt_vulkan *vulkan = calloc(1, sizeof *vulkan);

    (void)is_partial; /* it takes no time to speak of */
    device->self = NULL;
    if (vulkan == NULL)
        return fail(device, TAKT_ENOMEM, "no memory");
    if (!takt__vulkan_candidate(device->index, &candidate, &vulkan->api)) {
        free(vulkan);
        return fail(device, TAKT_ENODEV,
                    "there is no such device, or this process was forked from "
                    "one that used it");
    }
    vulkan->forks = takt__vulkan_forks();
    vulkan->physical = candidate.physical;
    vulkan->family = candidate.family;
    ask(vulkan, &candidate, &answers);
    take_limits(vulkan, &answers);
    vulkan->api.GetPhysicalDeviceMemoryProperties(vulkan->physical,
                                                  &vulkan->memory);
    takt_status status = make_device(vulkan, &candidate);
    if (status == TAKT_OK)
        status = make_ready(vulkan, &what);
    if (status != TAKT_OK) {
        end(vulkan);
        return fail(device, status, what);
    }
    fill_facts(vulkan, &answers, candidate.has_pci, &device->facts);
    device->self = vulkan;
    return TAKT_OK;
}

/* Threads that still wait learn that it is lost, and leave. */
static void stop(struct takt_device *device)
{
    struct takt_vulkan *vulkan = device->self;
    const struct timespec moment = {.tv_nsec = 100000};

    device->self = NULL;
    if (vulkan == NULL)
        return;
    atomic_store(&vulkan->is_lost, true);
    while (vulkan->forks == takt__vulkan_forks() &&
           atomic_load(&vulkan->busy) > 0)
        nanosleep(&moment, NULL);
    end(vulkan);
}

const struct takt_driver takt__vulkan_driver = {
    .name = "vulkan",
    .dtypes = 1 << TAKT_F32,
    .start = start,
    .stop = stop,
    .reserve = takt__vulkan_reserve,
    .release = takt__vulkan_release,
    .has = takt__vulkan_has,
    .can_run = takt__vulkan_can_run,
    .copy = takt__vulkan_copy,
    .compute = takt__vulkan_compute,
    .mark = takt__vulkan_mark,
    .drop = takt__vulkan_drop,
    .follow = takt__vulkan_follow,
    .wait = takt__vulkan_wait,
    .is_past = takt__vulkan_is_past,
    .between_s = takt__vulkan_between_s,
};
