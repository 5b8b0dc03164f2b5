/* SPDX-License-Identifier: MIT */
/* api.h - the functions of Vulkan that are used, found at run time. */
#pragma once

#define VK_NO_PROTOTYPES
#include <vulkan/vulkan_core.h> /* vulkan/vulkan.h is a file of ours */

#include <stdbool.h>
#include <stddef.h>

/* clang-format off */
#define TAKT_VULKAN_OF_INSTANCE(F) \
    F(DestroyInstance) F(EnumeratePhysicalDevices) \
    F(GetPhysicalDeviceProperties2) F(GetPhysicalDeviceFeatures2) \
    F(GetPhysicalDeviceQueueFamilyProperties) \
    F(GetPhysicalDeviceMemoryProperties) \
    F(EnumerateDeviceExtensionProperties) F(CreateDevice) F(GetDeviceProcAddr)

#define TAKT_VULKAN_OF_DEVICE(F) \
    F(DestroyDevice) F(GetDeviceQueue) F(DeviceWaitIdle) \
    F(CreateBuffer) F(DestroyBuffer) F(GetBufferMemoryRequirements) \
    F(AllocateMemory) F(FreeMemory) F(BindBufferMemory) F(MapMemory) \
    F(CreateShaderModule) F(DestroyShaderModule) \
    F(CreatePipelineCache) F(DestroyPipelineCache) \
    F(CreateDescriptorSetLayout) F(DestroyDescriptorSetLayout) \
    F(CreatePipelineLayout) F(DestroyPipelineLayout) \
    F(CreateComputePipelines) F(DestroyPipeline) \
    F(CreateDescriptorPool) F(DestroyDescriptorPool) F(ResetDescriptorPool) \
    F(AllocateDescriptorSets) F(UpdateDescriptorSets) \
    F(CreateCommandPool) F(DestroyCommandPool) F(ResetCommandPool) \
    F(AllocateCommandBuffers) F(BeginCommandBuffer) F(EndCommandBuffer) \
    F(CmdPipelineBarrier) F(CmdCopyBuffer) F(CmdBindPipeline) \
    F(CmdBindDescriptorSets) F(CmdPushConstants) F(CmdDispatch) \
    F(CreateQueryPool) F(DestroyQueryPool) F(GetQueryPoolResults) \
    F(CmdResetQueryPool) F(CmdWriteTimestamp) \
    F(CreateSemaphore) F(DestroySemaphore) F(QueueSubmit)

/* Of the timeline: with KHR behind their names before Vulkan 1.2. */
#define TAKT_VULKAN_OF_TIMELINE(F) \
    F(WaitSemaphores) F(GetSemaphoreCounterValue)
/* clang-format on */

struct takt_vulkan_api {
#define TAKT_VULKAN_MEMBER(name) PFN_vk##name name;
    TAKT_VULKAN_OF_INSTANCE(TAKT_VULKAN_MEMBER)
    TAKT_VULKAN_OF_DEVICE(TAKT_VULKAN_MEMBER)
    TAKT_VULKAN_OF_TIMELINE(TAKT_VULKAN_MEMBER)
#undef TAKT_VULKAN_MEMBER
};

/* What is known of a device before it is started. */
struct takt_vulkan_candidate {
    VkPhysicalDevice physical;
    uint32_t family;      /* the queues that compute */
    bool is_1_2;          /* what 1.1 has as extensions is simply there */
    bool has_controls;    /* of floats */
    bool has_driver_name; /* or it is just a number */
    bool has_pci;
};

/* Device `index` in the order of takt__vulkan_count(), and the functions that
 * every device shares. False: there is none, or a fork() has come between. */
bool takt__vulkan_candidate(unsigned index, struct takt_vulkan_candidate *out,
                            struct takt_vulkan_api *api);

/* Finds the functions of a device. False: one is missing. */
bool takt__vulkan_find(struct takt_vulkan_api *api, VkDevice device,
                       bool is_1_2);

/* How often this process was forked from one that had Vulkan. A caller that
 * finds another number than before must not call Vulkan any more: its threads
 * are gone. */
unsigned takt__vulkan_forks(void);
