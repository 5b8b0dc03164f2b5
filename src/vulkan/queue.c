/* SPDX-License-Identifier: MIT */
/*
 * queue.c - batches of commands, and what is recorded into them.
 *
 * Every command waits for all before it: whatever one of them writes another
 * may read, and only one queue is used anyway.
 */
#include <stdatomic.h>
#include <string.h>

#include "vulkan/device_parts.h"

/* ---- batches ------------------------------------------------------------- */

static VkResult make_batch(struct takt_vulkan *vulkan,
                           struct takt_vulkan_batch *batch)
{
    const VkCommandPoolCreateInfo pool = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
        .flags = VK_COMMAND_POOL_CREATE_TRANSIENT_BIT,
        .queueFamilyIndex = vulkan->family,
    };
    const VkDescriptorPoolSize size = {VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
                                       TAKT_VULKAN_DISPATCHES *
                                           TAKT_VULKAN_BINDINGS};
    const VkDescriptorPoolCreateInfo sets = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
        .maxSets = TAKT_VULKAN_DISPATCHES,
        .poolSizeCount = 1,
        .pPoolSizes = &size,
    };
    VkResult result =
        TAKT_VULKAN_CREATE(vulkan, CommandPool, &pool, &batch->pool);

    if (result != VK_SUCCESS)
        return result;
    const VkCommandBufferAllocateInfo commands = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
        .commandPool = batch->pool,
        .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
        .commandBufferCount = 1,
    };
    result = vulkan->api.AllocateCommandBuffers(vulkan->device, &commands,
                                                &batch->commands);
    return result == VK_SUCCESS
               ? TAKT_VULKAN_CREATE(vulkan, DescriptorPool, &sets, &batch->sets)
               : result;
}

takt_status takt__vulkan_batches_make(struct takt_vulkan *vulkan)
{
    const VkSemaphoreTypeCreateInfo type = {
        .sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO,
        .semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE,
    };
    const VkSemaphoreCreateInfo wanted = {
        .sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO, .pNext = &type};
    VkResult result =
        TAKT_VULKAN_CREATE(vulkan, Semaphore, &wanted, &vulkan->timeline);

    for (int i = 0; i < TAKT_VULKAN_BATCHES && result == VK_SUCCESS; i++)
        result = make_batch(vulkan, &vulkan->batches[i]);
    return takt__vulkan_status(vulkan, result, TAKT_ENODEV);
}

void takt__vulkan_batches_end(struct takt_vulkan *vulkan)
{
    for (int i = 0; i < TAKT_VULKAN_BATCHES; i++) {
        vulkan->api.DestroyDescriptorPool(vulkan->device,
                                          vulkan->batches[i].sets, NULL);
        vulkan->api.DestroyCommandPool(vulkan->device, vulkan->batches[i].pool,
                                       NULL);
    }
    vulkan->api.DestroySemaphore(vulkan->device, vulkan->timeline, NULL);
}

static struct takt_vulkan_batch *next_batch(struct takt_vulkan *vulkan)
{
    return &vulkan->batches[vulkan->sent % TAKT_VULKAN_BATCHES];
}

static takt_status open_batch(struct takt_vulkan *vulkan)
{
    struct takt_vulkan_batch *batch = next_batch(vulkan);
    const VkCommandBufferBeginInfo begin = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
        .flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT,
    };
    const takt_status status = takt__vulkan_await(vulkan, batch->number);

    if (status != TAKT_OK)
        return status;
    VkResult result =
        vulkan->api.ResetCommandPool(vulkan->device, batch->pool, 0);
    if (result == VK_SUCCESS)
        result =
            vulkan->api.ResetDescriptorPool(vulkan->device, batch->sets, 0);
    if (result == VK_SUCCESS)
        result = vulkan->api.BeginCommandBuffer(batch->commands, &begin);
    if (result != VK_SUCCESS)
        return takt__vulkan_status(vulkan, result, TAKT_ENODEV);
    batch->number = vulkan->sent + 1;
    batch->dispatches = 0;
    vulkan->is_open = true;
    return TAKT_OK;
}

enum {
    STAGES =
        VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_TRANSFER_BIT,
    WRITES = VK_ACCESS_SHADER_WRITE_BIT | VK_ACCESS_TRANSFER_WRITE_BIT,
    READS = VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_TRANSFER_READ_BIT
};

/* What was written is visible to such accesses of those stages. */
static void put_barrier(struct takt_vulkan *vulkan,
                        const struct takt_vulkan_batch *batch,
                        VkPipelineStageFlags stages, VkAccessFlags accesses)
{
    const VkMemoryBarrier barrier = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
        .srcAccessMask = WRITES,
        .dstAccessMask = accesses,
    };

    vulkan->api.CmdPipelineBarrier(batch->commands, STAGES, stages, 0, 1,
                                   &barrier, 0, NULL, 0, NULL);
}

VkCommandBuffer takt__vulkan_record(struct takt_vulkan *vulkan,
                                    takt_status *status)
{
    *status = vulkan->is_open ? TAKT_OK : open_batch(vulkan);
    if (*status != TAKT_OK)
        return NULL;
    put_barrier(vulkan, next_batch(vulkan), STAGES, READS | WRITES);
    return next_batch(vulkan)->commands;
}

/* What was recorded has been promised, so a batch that cannot be sent is as bad
 * as a device that is gone. */
takt_status takt__vulkan_send(struct takt_vulkan *vulkan)
{
    if (!vulkan->is_open)
        return TAKT_OK;
    struct takt_vulkan_batch *batch = next_batch(vulkan);
    const VkTimelineSemaphoreSubmitInfo number = {
        .sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO,
        .signalSemaphoreValueCount = 1,
        .pSignalSemaphoreValues = &batch->number,
    };
    const VkSubmitInfo submit = {
        .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
        .pNext = &number,
        .commandBufferCount = 1,
        .pCommandBuffers = &batch->commands,
        .signalSemaphoreCount = 1,
        .pSignalSemaphores = &vulkan->timeline,
    };

    put_barrier(vulkan, batch, VK_PIPELINE_STAGE_HOST_BIT,
                VK_ACCESS_HOST_READ_BIT | VK_ACCESS_HOST_WRITE_BIT);
    vulkan->is_open = false;
    VkResult result = vulkan->api.EndCommandBuffer(batch->commands);
    if (result == VK_SUCCESS)
        result =
            vulkan->api.QueueSubmit(vulkan->queue, 1, &submit, VK_NULL_HANDLE);
    if (result != VK_SUCCESS) {
        batch->number = 0; /* it will never be done */
        return takt__vulkan_status(vulkan, VK_ERROR_DEVICE_LOST, TAKT_ELOST);
    }
    vulkan->sent++;
    return TAKT_OK;
}

static void note_done(struct takt_vulkan *vulkan, uint64_t batch)
{
    uint64_t known = atomic_load(&vulkan->done);

    while (known < batch &&
           !atomic_compare_exchange_weak(&vulkan->done, &known, batch))
        continue;
}

/* Looks up now and then: another call may have learned that it is lost. */
takt_status takt__vulkan_await(struct takt_vulkan *vulkan, uint64_t batch)
{
    const VkSemaphoreWaitInfo wait = {
        .sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO,
        .semaphoreCount = 1,
        .pSemaphores = &vulkan->timeline,
        .pValues = &batch,
    };
    VkResult result = VK_TIMEOUT;

    if (atomic_load(&vulkan->done) >= batch)
        return TAKT_OK;
    while (result == VK_TIMEOUT && !atomic_load(&vulkan->is_lost))
        result = vulkan->api.WaitSemaphores(vulkan->device, &wait, 100000000);
    if (result != VK_SUCCESS)
        return takt__vulkan_status(vulkan, VK_ERROR_DEVICE_LOST, TAKT_ELOST);
    note_done(vulkan, batch);
    return TAKT_OK;
}

/* ---- commands ------------------------------------------------------------ */

/* The open batch uses the block. */
static struct takt_vulkan_block *use(struct takt_vulkan *vulkan,
                                     const struct takt_block *block)
{
    struct takt_vulkan_block *own =
        (struct takt_vulkan_block *)(uintptr_t)block->address;

    own->batch = vulkan->sent + 1;
    return own;
}

takt_status takt__vulkan_copy(struct takt_device *device, enum takt_queue queue,
                              struct takt_location to,
                              struct takt_location from, size_t bytes)
{
    struct takt_vulkan *vulkan = takt__vulkan_of(device);
    const VkBufferCopy region = {from.offset, to.offset, bytes};
    takt_status status;

    (void)queue;
    if (vulkan == NULL)
        return TAKT_ELOST;
    if (bytes == 0)
        return TAKT_OK;
    const VkCommandBuffer commands = takt__vulkan_record(vulkan, &status);
    if (commands == NULL)
        return status;
    vulkan->api.CmdCopyBuffer(commands, use(vulkan, from.block)->buffer,
                              use(vulkan, to.block)->buffer, 1, &region);
    return TAKT_OK;
}

/* A binding begins only at some addresses: from there to the operand it is
 * base[i] elements. */
static VkDescriptorBufferInfo bind(struct takt_vulkan *vulkan,
                                   struct takt_location at, uint32_t *base)
{
    const struct takt_block *block =
        at.block != NULL ? at.block : &vulkan->scratch;
    const struct takt_vulkan_block *own = use(vulkan, block);
    const VkDeviceSize start =
        at.block == NULL
            ? 0
            : at.offset / vulkan->limits.alignment * vulkan->limits.alignment;
    const VkDeviceSize left = own->bytes - start;

    *base =
        at.block == NULL ? 0 : (uint32_t)((at.offset - start) / sizeof(float));
    return (VkDescriptorBufferInfo){
        own->buffer, start,
        left < vulkan->limits.range ? left : vulkan->limits.range};
}

static takt_status make_set(struct takt_vulkan *vulkan,
                            const struct takt_location *at, uint32_t *base,
                            VkDescriptorSet *out)
{
    struct takt_vulkan_batch *batch = next_batch(vulkan);
    const VkDescriptorSetAllocateInfo wanted = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
        .descriptorPool = batch->sets,
        .descriptorSetCount = 1,
        .pSetLayouts = &vulkan->set_layout,
    };
    VkDescriptorBufferInfo buffers[TAKT_VULKAN_BINDINGS];
    const VkResult result =
        vulkan->api.AllocateDescriptorSets(vulkan->device, &wanted, out);

    if (result != VK_SUCCESS)
        return takt__vulkan_status(vulkan, result, TAKT_ENODEV);
    for (int i = 0; i < TAKT_VULKAN_BINDINGS; i++)
        buffers[i] = bind(vulkan, at[i], &base[i]);
    const VkWriteDescriptorSet write = {
        .sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
        .dstSet = *out,
        .descriptorCount = TAKT_VULKAN_BINDINGS,
        .descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
        .pBufferInfo = buffers,
    };
    vulkan->api.UpdateDescriptorSets(vulkan->device, 1, &write, 0, NULL);
    batch->dispatches++;
    return TAKT_OK;
}

takt_status takt__vulkan_dispatch(struct takt_vulkan *vulkan,
                                  const struct takt_vulkan_dispatch *dispatch)
{
    const VkPipeline pipeline =
        takt__vulkan_pipeline(vulkan, dispatch->shader, dispatch->variant);
    uint32_t words[TAKT_VULKAN_PARAMETERS] = {0};
    VkDescriptorSet set;
    takt_status status = TAKT_OK;

    if (pipeline == VK_NULL_HANDLE)
        return TAKT_ENODEV;
    if (vulkan->is_open &&
        next_batch(vulkan)->dispatches == TAKT_VULKAN_DISPATCHES)
        status = takt__vulkan_send(vulkan);
    if (status != TAKT_OK)
        return status;
    const VkCommandBuffer commands = takt__vulkan_record(vulkan, &status);
    if (commands == NULL)
        return status;
    status = make_set(vulkan, dispatch->at, words, &set);
    if (status != TAKT_OK)
        return status;
    memcpy(words + TAKT_VULKAN_BINDINGS, dispatch->parameters, dispatch->bytes);
    vulkan->api.CmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE,
                                pipeline);
    vulkan->api.CmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_COMPUTE,
                                      vulkan->layout, 0, 1, &set, 0, NULL);
    vulkan->api.CmdPushConstants(commands, vulkan->layout,
                                 VK_SHADER_STAGE_COMPUTE_BIT, 0, sizeof words,
                                 words);
    vulkan->api.CmdDispatch(commands,
                            dispatch->groups < vulkan->limits.groups
                                ? (uint32_t)dispatch->groups
                                : vulkan->limits.groups,
                            1, 1);
    return TAKT_OK;
}
