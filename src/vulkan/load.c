/* SPDX-License-Identifier: MIT */
/*
 * load.c - finds the Vulkan library and the devices that compute.
 *
 * The library and one instance stay for as long as the process does: drivers
 * have threads and exit handlers that do not like to be unloaded.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "base/config.h"
#include "base/fork.h"
#include "base/library.h"
#include "base/lock.h"
#include "base/log.h"
#include "gpu/at_exit.h"
#include "vulkan/api.h"
#include "vulkan/vulkan.h"

static const char default_file[] = "libvulkan.so.1";

static struct {
    pthread_mutex_t lock;
    _Atomic unsigned forks;
    unsigned loaded_after; /* that many forks */
    PFN_vkGetInstanceProcAddr find;
    VkInstance instance; /* NULL: not loaded */
    uint32_t version;
    struct takt_vulkan_api api; /* the part of the instance */
    unsigned count;
    struct takt_vulkan_candidate candidates[TAKT_MAX_GPUS];
} vulkan = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* ---- fork() -------------------------------------------------------------- */

/* The lock may be held by a thread that the child does not have. */
static void after_fork(void *self)
{
    (void)self;
    atomic_fetch_add(&vulkan.forks, 1);
    pthread_mutex_init(&vulkan.lock, NULL);
}

static const struct takt_fork_handlers at_fork = {.order = TAKT_FORK_LAST,
                                                  .child = after_fork};
static struct takt_fork_entry fork_entry = {.handlers = &at_fork};
TAKT_FORK_STATIC(fork_entry)

unsigned takt__vulkan_forks(void)
{
    return atomic_load_explicit(&vulkan.forks, memory_order_relaxed);
}

/* ---- the library --------------------------------------------------------- */

static bool load_library(char *problem, size_t size)
{
    const char *named = takt__config()->vulkan;
    const bool is_named = named != NULL && *named != '\0';
    const char *file = is_named ? named : default_file;
    void *library = takt__gpu_library_open(file);

    if (takt__library_find(library, "vkGetInstanceProcAddr", &vulkan.find))
        return true;
    if (library == NULL)
        snprintf(problem, size, "no Vulkan loader: %s cannot be loaded%s", file,
                 takt__is_static() ? " by a static program" : "");
    else
        snprintf(problem, size, "%s is no Vulkan loader", file);
    if (library != NULL)
        dlclose(library);
    if (is_named)
        takt__log(TAKT_LOG_ERROR, "TAKT_VULKAN is not used: %s", problem);
    return false;
}

static bool find_of_instance(void)
{
    bool found = true;

#define FIND(name)                                                            \
    vulkan.api.name = (PFN_vk##name)vulkan.find(vulkan.instance, "vk" #name); \
    found = found && vulkan.api.name != NULL;
    TAKT_VULKAN_OF_INSTANCE(FIND)
#undef FIND
    return found;
}

static bool make_instance(char *problem, size_t size)
{
    const PFN_vkEnumerateInstanceVersion ask_version =
        (PFN_vkEnumerateInstanceVersion)vulkan.find(
            NULL, "vkEnumerateInstanceVersion");
    const PFN_vkCreateInstance create =
        (PFN_vkCreateInstance)vulkan.find(NULL, "vkCreateInstance");
    const VkApplicationInfo application = {
        .sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
        .pApplicationName = "takt",
        .pEngineName = "takt",
        .apiVersion = VK_API_VERSION_1_2,
    };
    const VkInstanceCreateInfo wanted = {
        .sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
        .pApplicationInfo = &application,
    };

    if (create == NULL || ask_version == NULL ||
        ask_version(&vulkan.version) != VK_SUCCESS ||
        vulkan.version < VK_API_VERSION_1_1) {
        snprintf(problem, size, "Vulkan is too old: 1.1 is needed");
        return false;
    }
    const VkResult result = create(&wanted, NULL, &vulkan.instance);
    if (result != VK_SUCCESS) {
        vulkan.instance = NULL;
        if (result == VK_ERROR_INCOMPATIBLE_DRIVER)
            snprintf(problem, size, "no driver for Vulkan is installed");
        else
            snprintf(problem, size, "Vulkan cannot be used: error %d", result);
        return false;
    }
    if (find_of_instance())
        return true;
    vulkan.instance = NULL; /* not even the function that ends it is sure */
    snprintf(problem, size, "the Vulkan loader lacks functions");
    return false;
}

/* ---- devices ------------------------------------------------------------- */

static bool has_extension(VkPhysicalDevice physical, const char *name)
{
    VkExtensionProperties some[512];
    uint32_t count = sizeof some / sizeof some[0];

    if (vulkan.api.EnumerateDeviceExtensionProperties(physical, NULL, &count,
                                                      some) < 0)
        return false;
    for (uint32_t i = 0; i < count; i++)
        if (strcmp(some[i].extensionName, name) == 0)
            return true;
    return false;
}

static bool has_timeline(const struct takt_vulkan_candidate *is)
{
    VkPhysicalDeviceTimelineSemaphoreFeatures timeline = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_TIMELINE_SEMAPHORE_FEATURES};
    VkPhysicalDeviceFeatures2 features = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2,
        .pNext = &timeline};

    if (!is->is_1_2 &&
        !has_extension(is->physical, "VK_KHR_timeline_semaphore"))
        return false;
    vulkan.api.GetPhysicalDeviceFeatures2(is->physical, &features);
    return timeline.timelineSemaphore;
}

/* Queues that only compute leave those that also draw to others. */
static bool find_family(struct takt_vulkan_candidate *candidate)
{
    VkQueueFamilyProperties families[32];
    uint32_t count = sizeof families / sizeof families[0];
    bool found = false;

    vulkan.api.GetPhysicalDeviceQueueFamilyProperties(candidate->physical,
                                                      &count, families);
    for (uint32_t i = 0; i < count; i++) {
        const VkQueueFlags flags = families[i].queueFlags;
        if ((flags & VK_QUEUE_COMPUTE_BIT) == 0 || families[i].queueCount == 0)
            continue;
        if (!found || (flags & VK_QUEUE_GRAPHICS_BIT) == 0)
            candidate->family = i;
        found = true;
        if ((flags & VK_QUEUE_GRAPHICS_BIT) == 0)
            break;
    }
    return found;
}

/* NVIDIA's are CUDA's, if that can be had, so they come after the others; those
 * that compute on the processor come last. */
static unsigned rank(const VkPhysicalDeviceProperties *properties)
{
    enum { nvidia = 0x10de };
    static const VkPhysicalDeviceType order[] = {
        VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU,
        VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU,
        VK_PHYSICAL_DEVICE_TYPE_VIRTUAL_GPU};

    if (properties->deviceType == VK_PHYSICAL_DEVICE_TYPE_CPU)
        return 5;
    if (properties->vendorID == nvidia)
        return 4;
    for (unsigned i = 0; i < sizeof order / sizeof order[0]; i++)
        if (properties->deviceType == order[i])
            return i;
    return 3;
}

static bool describe(VkPhysicalDevice physical, unsigned *out_rank,
                     struct takt_vulkan_candidate *out)
{
    VkPhysicalDeviceProperties2 properties = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2};

    vulkan.api.GetPhysicalDeviceProperties2(physical, &properties);
    const uint32_t version = properties.properties.apiVersion;
    *out_rank = rank(&properties.properties);
    *out = (struct takt_vulkan_candidate){.physical = physical};
    out->is_1_2 =
        version >= VK_API_VERSION_1_2 && vulkan.version >= VK_API_VERSION_1_2;
    out->has_controls =
        out->is_1_2 || has_extension(physical, "VK_KHR_shader_float_controls");
    out->has_driver_name =
        out->is_1_2 || has_extension(physical, "VK_KHR_driver_properties");
    out->has_pci = has_extension(physical, "VK_EXT_pci_bus_info");
    return version >= VK_API_VERSION_1_1 && find_family(out) &&
           has_timeline(out);
}

static void list_devices(void)
{
    VkPhysicalDevice all[64];
    unsigned ranks[TAKT_MAX_GPUS];
    uint32_t count = sizeof all / sizeof all[0];

    vulkan.count = 0;
    if (vulkan.api.EnumeratePhysicalDevices(vulkan.instance, &count, all) < 0)
        return;
    for (uint32_t i = 0; i < count; i++) {
        struct takt_vulkan_candidate one;
        unsigned its_rank;
        if (!describe(all[i], &its_rank, &one))
            continue;
        unsigned at = vulkan.count;
        while (at > 0 && ranks[at - 1] > its_rank)
            at--;
        if (at == TAKT_MAX_GPUS)
            continue;
        if (vulkan.count < TAKT_MAX_GPUS)
            vulkan.count++;
        for (unsigned k = vulkan.count - 1; k > at; k--) {
            vulkan.candidates[k] = vulkan.candidates[k - 1];
            ranks[k] = ranks[k - 1];
        }
        vulkan.candidates[at] = one;
        ranks[at] = its_rank;
    }
}

static bool load(char *problem, size_t size)
{
    if (vulkan.instance != NULL)
        return true;
    if (!load_library(problem, size) || !make_instance(problem, size))
        return false;
    list_devices();
    vulkan.loaded_after = takt__vulkan_forks();
    if (vulkan.count > 0)
        return true;
    vulkan.api.DestroyInstance(vulkan.instance, NULL);
    vulkan.instance = NULL;
    snprintf(problem, size, "no device computes through Vulkan");
    return false;
}

unsigned takt__vulkan_count(char *problem, size_t size)
{
    unsigned count = 0;

    takt__lock(&vulkan.lock);
    if (load(problem, size)) {
        count = vulkan.count;
        if (vulkan.loaded_after != takt__vulkan_forks()) {
            count = 0;
            snprintf(problem, size, "Vulkan does not survive fork()");
        }
    }
    takt__unlock(&vulkan.lock);
    return count;
}

bool takt__vulkan_candidate(unsigned index, struct takt_vulkan_candidate *out,
                            struct takt_vulkan_api *api)
{
    char ignored[160];

    if (index >= takt__vulkan_count(ignored, sizeof ignored))
        return false;
    *out = vulkan.candidates[index];
    *api = vulkan.api;
    return true;
}

bool takt__vulkan_find(struct takt_vulkan_api *api, VkDevice device,
                       bool is_1_2)
{
    bool found = true;

#define FIND(name)                                                        \
    api->name = (PFN_vk##name)api->GetDeviceProcAddr(device, "vk" #name); \
    found = found && api->name != NULL;
#define FIND_TIMELINE(name)                              \
    api->name = (PFN_vk##name)api->GetDeviceProcAddr(    \
        device, is_1_2 ? "vk" #name : "vk" #name "KHR"); \
    found = found && api->name != NULL;
    TAKT_VULKAN_OF_DEVICE(FIND)
    TAKT_VULKAN_OF_TIMELINE(FIND_TIMELINE)
#undef FIND
#undef FIND_TIMELINE
    return found;
}
