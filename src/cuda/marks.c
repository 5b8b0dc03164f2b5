/* SPDX-License-Identifier: MIT */
/*
 * marks.c - points in the queues of a device: events of the driver.
 *
 * To make an event costs more than to use one, so those that were dropped are
 * used again. A queue or a thread that waits for an event waits for where it
 * was recorded when the waiting began; that it is moved meanwhile does no harm.
 */
#include <stdlib.h>

#include "cuda/device_parts.h"

enum { EVENT_TIMED = 0, EVENT_DISABLE_TIMING = 2 };

static takt_status make_point(struct takt_cuda *cuda, bool is_timed,
                              struct takt_cuda_point **out)
{
    struct takt_cuda_point *point = calloc(1, sizeof *point);

    if (point == NULL)
        return TAKT_ENODEV;
    const int result = cuda->api->cuEventCreate(
        &point->event, is_timed ? EVENT_TIMED : EVENT_DISABLE_TIMING);
    if (result != TAKT_CUDA_SUCCESS) {
        free(point);
        return takt__cuda_refusal(result);
    }
    point->is_timed = is_timed;
    point->next = cuda->points;
    cuda->points = point;
    *out = point;
    return TAKT_OK;
}

static takt_status take_point(struct takt_cuda *cuda, bool is_timed,
                              struct takt_cuda_point **out)
{
    struct takt_cuda_point *point = cuda->free[is_timed];

    if (point == NULL)
        return make_point(cuda, is_timed, out);
    cuda->free[is_timed] = point->next_free;
    *out = point;
    return TAKT_OK;
}

static void give_point(struct takt_cuda *cuda, struct takt_cuda_point *point)
{
    point->next_free = cuda->free[point->is_timed];
    cuda->free[point->is_timed] = point;
}

static takt_status record(struct takt_cuda *cuda, enum takt_queue queue,
                          bool is_timed, struct takt_mark *mark)
{
    struct takt_cuda_point *const before = mark->point, *point = before;
    takt_status status = TAKT_OK;

    if (before == NULL || before->is_timed != is_timed)
        status = take_point(cuda, is_timed, &point);
    if (status != TAKT_OK)
        return status;
    status = takt__cuda_refusal(
        cuda->api->cuEventRecord(point->event, cuda->stream[queue]));
    if (point == before)
        return status;
    if (status != TAKT_OK) {
        give_point(cuda, point);
        return status;
    }
    if (before != NULL)
        give_point(cuda, before);
    mark->point = point;
    return TAKT_OK;
}

takt_status takt__cuda_mark(struct takt_device *device, enum takt_queue queue,
                            bool is_timed, struct takt_mark *mark)
{
    struct takt_cuda *cuda = takt__cuda_enter(device);

    if (cuda == NULL)
        return TAKT_ELOST;
    const takt_status status = record(cuda, queue, is_timed, mark);
    takt__cuda_leave(cuda);
    return status;
}

/* Needs no driver. A mark that is dropped when its device was stopped is gone
 * already. */
void takt__cuda_drop(struct takt_device *device, struct takt_mark *mark)
{
    if (mark->point != NULL && device->self != NULL)
        give_point(device->self, mark->point);
    mark->point = NULL;
}

takt_status takt__cuda_follow(struct takt_device *device, enum takt_queue queue,
                              const struct takt_mark *mark)
{
    const struct takt_cuda_point *point = mark->point;

    if (point == NULL)
        return TAKT_OK;
    const struct takt_cuda *cuda = takt__cuda_enter(device);
    if (cuda == NULL)
        return TAKT_ELOST;
    const int result =
        cuda->api->cuStreamWaitEvent(cuda->stream[queue], point->event, 0);
    takt__cuda_leave(cuda);
    return takt__cuda_refusal(result);
}

/* Whether a mark is passed, now or, waiting for it, ever. */
static bool is_passed(const struct takt_device *device,
                      const struct takt_mark *mark, bool is_waiting)
{
    const struct takt_cuda_point *point = mark->point;

    if (point == NULL)
        return true;
    const struct takt_cuda *cuda = takt__cuda_enter(device);
    if (cuda == NULL)
        return false;
    const int result = is_waiting ? cuda->api->cuEventSynchronize(point->event)
                                  : cuda->api->cuEventQuery(point->event);
    takt__cuda_leave(cuda);
    return result == TAKT_CUDA_SUCCESS;
}

/* An event that cannot be waited for is one that will never be passed, whatever
 * the error. */
takt_status takt__cuda_wait(struct takt_device *device,
                            const struct takt_mark *mark)
{
    return is_passed(device, mark, true) ? TAKT_OK : TAKT_ELOST;
}

/* A lost device passes nothing: it is wait() that says so. */
bool takt__cuda_is_past(struct takt_device *device,
                        const struct takt_mark *mark)
{
    return is_passed(device, mark, false);
}

double takt__cuda_between_s(struct takt_device *device,
                            const struct takt_mark *from,
                            const struct takt_mark *to)
{
    const struct takt_cuda_point *start = from->point, *end = to->point;
    float milliseconds = 0;

    if (start == NULL || end == NULL)
        return -1;
    const struct takt_cuda *cuda = takt__cuda_enter(device);
    if (cuda == NULL)
        return -1;
    const int result =
        cuda->api->cuEventElapsedTime(&milliseconds, start->event, end->event);
    takt__cuda_leave(cuda);
    return result == TAKT_CUDA_SUCCESS ? (double)milliseconds / 1000 : -1;
}
