/* SPDX-License-Identifier: MIT */
/*
 * memory.c - blocks: a buffer and memory of its own each. src/gpu keeps
 * blocks for reuse, so there are few.
 */
#include <stdatomic.h>
#include <stdlib.h>

#include "vulkan/device_parts.h"

enum {
    NONE = -1,
    LOCAL = VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT,
    VISIBLE = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT,
    COHERENT = VISIBLE | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT,
    CACHED = COHERENT | VK_MEMORY_PROPERTY_HOST_CACHED_BIT
};

static int find_type(const struct takt_vulkan *vulkan, uint32_t allowed,
                     VkMemoryPropertyFlags wanted,
                     VkMemoryPropertyFlags unwanted)
{
    for (uint32_t i = 0; i < vulkan->memory.memoryTypeCount; i++) {
        const VkMemoryPropertyFlags flags =
            vulkan->memory.memoryTypes[i].propertyFlags;
        if ((allowed >> i & 1) != 0 && (flags & wanted) == wanted &&
            (flags & unwanted) == 0)
            return (int)i;
    }
    return NONE;
}

/* In the order in which they are tried. The processor reads what was computed
 * from pinned memory, so it should be cached. Memory of the device that it can
 * write too is often scarce; on others all of it is like that, or nearly all.
 */
static const struct {
    VkMemoryPropertyFlags wanted, unwanted;
} kinds[2][3] = {{{LOCAL, VISIBLE}, {LOCAL, 0}, {0, 0}},
                 {{CACHED, LOCAL}, {CACHED, 0}, {COHERENT, 0}}};

static VkResult take(struct takt_vulkan *vulkan, struct takt_vulkan_block *own,
                     VkDeviceSize bytes, int type)
{
    const VkMemoryAllocateInfo wanted = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
        .allocationSize = bytes,
        .memoryTypeIndex = (uint32_t)type,
    };

    if (type == NONE ||
        bytes > vulkan->memory
                    .memoryHeaps[vulkan->memory.memoryTypes[type].heapIndex]
                    .size)
        return VK_ERROR_OUT_OF_DEVICE_MEMORY;
    const VkResult result =
        vulkan->api.AllocateMemory(vulkan->device, &wanted, NULL, &own->memory);
    return takt__vulkan_created(result, &own->memory, sizeof own->memory);
}

static VkResult make_memory(struct takt_vulkan *vulkan,
                            struct takt_vulkan_block *own, bool is_pinned)
{
    VkMemoryRequirements needs;
    VkResult result = VK_ERROR_OUT_OF_DEVICE_MEMORY;

    vulkan->api.GetBufferMemoryRequirements(vulkan->device, own->buffer,
                                            &needs);
    for (int i = 0; i < 3 && result == VK_ERROR_OUT_OF_DEVICE_MEMORY; i++)
        result = take(vulkan, own, needs.size,
                      find_type(vulkan, needs.memoryTypeBits,
                                kinds[is_pinned][i].wanted,
                                kinds[is_pinned][i].unwanted));
    if (result != VK_SUCCESS)
        return result;
    return vulkan->api.BindBufferMemory(vulkan->device, own->buffer,
                                        own->memory, 0);
}

static VkResult fill(struct takt_vulkan *vulkan, struct takt_vulkan_block *own,
                     bool is_pinned, void **host)
{
    const VkBufferCreateInfo wanted = {
        .sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
        .size = own->bytes,
        .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT |
                 VK_BUFFER_USAGE_TRANSFER_SRC_BIT |
                 VK_BUFFER_USAGE_TRANSFER_DST_BIT,
        .sharingMode = VK_SHARING_MODE_EXCLUSIVE,
    };
    VkResult result = TAKT_VULKAN_CREATE(vulkan, Buffer, &wanted, &own->buffer);

    if (result == VK_SUCCESS)
        result = make_memory(vulkan, own, is_pinned);
    if (result == VK_SUCCESS && is_pinned)
        result = vulkan->api.MapMemory(vulkan->device, own->memory, 0,
                                       VK_WHOLE_SIZE, 0, host);
    return result;
}

/* Freeing memory unmaps it. */
static void empty(struct takt_vulkan *vulkan, struct takt_vulkan_block *own)
{
    vulkan->api.DestroyBuffer(vulkan->device, own->buffer, NULL);
    vulkan->api.FreeMemory(vulkan->device, own->memory, NULL);
}

static void list(struct takt_vulkan *vulkan, struct takt_vulkan_block *own)
{
    own->owner = vulkan;
    own->next = vulkan->blocks;
    if (own->next != NULL)
        own->next->previous = own;
    vulkan->blocks = own;
    vulkan->block_count++;
}

static void unlist(struct takt_vulkan *vulkan, struct takt_vulkan_block *own)
{
    if (own->next != NULL)
        own->next->previous = own->previous;
    if (own->previous != NULL)
        own->previous->next = own->next;
    else
        vulkan->blocks = own->next;
    vulkan->block_count--;
}

takt_status takt__vulkan_block_make(struct takt_vulkan *vulkan, size_t bytes,
                                    bool is_pinned, struct takt_block *out)
{
    /* A shader reads whole words, and no block may be empty. */
    const VkDeviceSize rounded =
        ((VkDeviceSize)(bytes > 0 ? bytes : 1) + 255) & ~(VkDeviceSize)255;
    void *host = NULL;

    if (bytes > vulkan->limits.block || rounded > vulkan->limits.block ||
        vulkan->block_count >= vulkan->limits.blocks)
        return TAKT_ENOMEM;
    struct takt_vulkan_block *own = calloc(1, sizeof *own);
    if (own == NULL)
        return TAKT_ENOMEM;
    own->bytes = rounded;
    const VkResult result = fill(vulkan, own, is_pinned, &host);
    if (result != VK_SUCCESS) {
        empty(vulkan, own);
        free(own);
        return takt__vulkan_status(vulkan, result, TAKT_ENOMEM);
    }
    list(vulkan, own);
    *out = (struct takt_block){(uint64_t)(uintptr_t)own, bytes, host, false};
    return TAKT_OK;
}

static struct takt_vulkan_block *own_of(const struct takt_block *block)
{
    return (struct takt_vulkan_block *)(uintptr_t)block->address;
}

/* A batch on its way may still use it, even where the device is believed to be
 * lost: then all that is left is waited for, which a lost device ends at once.
 */
void takt__vulkan_block_free(struct takt_vulkan *vulkan,
                             struct takt_block *block)
{
    struct takt_vulkan_block *own = own_of(block);
    takt_status status = TAKT_ELOST;

    if (!atomic_load(&vulkan->is_lost) && own->batch > vulkan->sent)
        takt__vulkan_send(vulkan);
    if (!atomic_load(&vulkan->is_lost))
        status = takt__vulkan_await(vulkan, own->batch);
    if (status != TAKT_OK)
        vulkan->api.DeviceWaitIdle(vulkan->device);
    unlist(vulkan, own);
    empty(vulkan, own);
    free(own);
    *block = (struct takt_block){0};
}

takt_status takt__vulkan_reserve(struct takt_device *device, size_t bytes,
                                 bool is_pinned, struct takt_block *out)
{
    struct takt_vulkan *vulkan = takt__vulkan_of(device);

    if (vulkan == NULL)
        return TAKT_ELOST;
    return takt__vulkan_block_make(vulkan, bytes, is_pinned, out);
}

/* In a forked process, and after its device was stopped, a block is nothing
 * but what the processor knows of it. */
void takt__vulkan_release(struct takt_device *device, struct takt_block *block)
{
    struct takt_vulkan_block *own = own_of(block);

    (void)device;
    if (own == NULL)
        return;
    if (own->owner != NULL && own->owner->forks == takt__vulkan_forks()) {
        takt__vulkan_block_free(own->owner, block);
        return;
    }
    if (own->owner != NULL)
        unlist(own->owner, own);
    free(own);
    *block = (struct takt_block){0};
}

void takt__vulkan_blocks_end(struct takt_vulkan *vulkan)
{
    const bool is_ours = vulkan->forks == takt__vulkan_forks();

    for (struct takt_vulkan_block *own = vulkan->blocks; own != NULL;
         own = own->next) {
        if (is_ours)
            empty(vulkan, own);
        own->owner = NULL;
    }
    vulkan->blocks = NULL;
}
