/* SPDX-License-Identifier: MIT */
/*
 * marks.c - points in the queue: the number of the batch that ends there and,
 * where it is timed, a time stamp.
 */
#include <stdatomic.h>
#include <stdlib.h>

#include "vulkan/device_parts.h"

/* The only queue has only one order. */
takt_status takt__vulkan_follow(struct takt_device *device,
                                enum takt_queue queue,
                                const struct takt_mark *mark)
{
    (void)queue;
    (void)mark;
    return takt__vulkan_of(device) != NULL ? TAKT_OK : TAKT_ELOST;
}

/* ---- points -------------------------------------------------------------- */

static struct takt_vulkan_point *take_point(struct takt_vulkan *vulkan)
{
    struct takt_vulkan_point *point = vulkan->points;

    while (point != NULL && !point->is_free)
        point = point->next;
    if (point == NULL) {
        point = calloc(1, sizeof *point);
        if (point == NULL)
            return NULL;
        point->owner = vulkan;
        point->next = vulkan->points;
        vulkan->points = point;
    }
    point->is_free = false;
    return point;
}

/* A batch on its way may yet write the time stamp, so a point is used again
 * rather than freed. */
void takt__vulkan_drop(struct takt_device *device, struct takt_mark *mark)
{
    struct takt_vulkan_point *point = mark->point;

    (void)device;
    mark->point = NULL;
    if (point == NULL)
        return;
    if (point->owner == NULL)
        free(point);
    else
        point->is_free = true;
}

void takt__vulkan_points_end(struct takt_vulkan *vulkan)
{
    const bool is_ours = vulkan->forks == takt__vulkan_forks();
    struct takt_vulkan_point *next;

    for (struct takt_vulkan_point *point = vulkan->points; point != NULL;
         point = next) {
        next = point->next;
        if (is_ours)
            vulkan->api.DestroyQueryPool(vulkan->device, point->query, NULL);
        point->owner = NULL;
        if (point->is_free)
            free(point);
    }
    vulkan->points = NULL;
}

/* ---- marks --------------------------------------------------------------- */

static takt_status write_time(struct takt_vulkan *vulkan,
                              struct takt_vulkan_point *point)
{
    const VkQueryPoolCreateInfo wanted = {
        .sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO,
        .queryType = VK_QUERY_TYPE_TIMESTAMP,
        .queryCount = 1,
    };
    VkResult result = VK_SUCCESS;
    takt_status status;

    if (point->query == VK_NULL_HANDLE)
        result = TAKT_VULKAN_CREATE(vulkan, QueryPool, &wanted, &point->query);
    if (result != VK_SUCCESS)
        return takt__vulkan_status(vulkan, result, TAKT_ENODEV);
    const VkCommandBuffer commands = takt__vulkan_record(vulkan, &status);
    if (commands == NULL)
        return status;
    vulkan->api.CmdResetQueryPool(commands, point->query, 0, 1);
    vulkan->api.CmdWriteTimestamp(
        commands, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, point->query, 0);
    return TAKT_OK;
}

takt_status takt__vulkan_mark(struct takt_device *device, enum takt_queue queue,
                              bool is_timed, struct takt_mark *mark)
{
    struct takt_vulkan *vulkan = takt__vulkan_of(device);
    struct takt_vulkan_point *point = mark->point;
    takt_status status = TAKT_OK;

    (void)queue;
    if (vulkan == NULL)
        return TAKT_ELOST;
    if (point == NULL || point->owner != vulkan) {
        point = take_point(vulkan);
        if (point == NULL)
            return TAKT_ENODEV;
        takt__vulkan_drop(device, mark);
        mark->point = point;
    }
    point->is_timed = is_timed && vulkan->limits.tick_s > 0;
    if (point->is_timed)
        status = write_time(vulkan, point);
    if (status == TAKT_OK)
        status = takt__vulkan_send(vulkan);
    point->batch = vulkan->sent;
    return status;
}

/* ---- without the lock ---------------------------------------------------- */

static struct takt_vulkan *enter(const struct takt_device *device)
{
    struct takt_vulkan *vulkan = device->self;

    if (vulkan == NULL || vulkan->forks != takt__vulkan_forks())
        return NULL;
    atomic_fetch_add(&vulkan->busy, 1);
    return vulkan;
}

static void leave(struct takt_vulkan *vulkan)
{
    atomic_fetch_sub(&vulkan->busy, 1);
}

takt_status takt__vulkan_wait(struct takt_device *device,
                              const struct takt_mark *mark)
{
    const struct takt_vulkan_point *point = mark->point;
    struct takt_vulkan *vulkan = point == NULL ? NULL : enter(device);

    if (vulkan == NULL)
        return point == NULL ? TAKT_OK : TAKT_ELOST;
    const takt_status status = point->owner == vulkan
                                   ? takt__vulkan_await(vulkan, point->batch)
                                   : TAKT_ELOST;
    leave(vulkan);
    return status;
}

static bool is_done(struct takt_vulkan *vulkan, uint64_t batch)
{
    uint64_t count = 0;

    if (atomic_load(&vulkan->done) >= batch)
        return true;
    if (atomic_load(&vulkan->is_lost))
        return false;
    const VkResult result = vulkan->api.GetSemaphoreCounterValue(
        vulkan->device, vulkan->timeline, &count);
    takt__vulkan_status(vulkan, result, TAKT_ENODEV);
    return result == VK_SUCCESS && count >= batch;
}

bool takt__vulkan_is_past(struct takt_device *device,
                          const struct takt_mark *mark)
{
    const struct takt_vulkan_point *point = mark->point;
    struct takt_vulkan *vulkan = point == NULL ? NULL : enter(device);

    if (vulkan == NULL)
        return point == NULL;
    const bool is_past =
        point->owner == vulkan && is_done(vulkan, point->batch);
    leave(vulkan);
    return is_past;
}

static bool read_time(struct takt_vulkan *vulkan,
                      const struct takt_vulkan_point *point, uint64_t *ticks)
{
    return point != NULL && point->owner == vulkan && point->is_timed &&
           is_done(vulkan, point->batch) &&
           vulkan->api.GetQueryPoolResults(
               vulkan->device, point->query, 0, 1, sizeof *ticks, ticks,
               sizeof *ticks, VK_QUERY_RESULT_64_BIT) == VK_SUCCESS;
}

double takt__vulkan_between_s(struct takt_device *device,
                              const struct takt_mark *from,
                              const struct takt_mark *to)
{
    struct takt_vulkan *vulkan = enter(device);
    uint64_t start, end;
    double seconds = -1;

    if (vulkan == NULL)
        return -1;
    if (read_time(vulkan, from->point, &start) &&
        read_time(vulkan, to->point, &end))
        seconds = (double)((end - start) & vulkan->limits.tick_mask) *
                  vulkan->limits.tick_s;
    leave(vulkan);
    return seconds;
}
