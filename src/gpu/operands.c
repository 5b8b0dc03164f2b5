/* SPDX-License-Identifier: MIT */
/* operands.c - the operands of a call that are in buffers. */
#include "gpu/buffer.h"
#include "gpu/memory.h"

/* ---- finding them -------------------------------------------------------- */

static takt_status find_operand(const struct takt_devices *devices,
                                const char *pointer, size_t bytes,
                                struct takt_operand *out)
{
    struct takt_buffer *buffer = bytes == 0 ? NULL : takt__arena_find(pointer);

    *out = (struct takt_operand){.buffer = buffer, .bytes = bytes};
    if (buffer == NULL) /* a freed buffer has no owner */
        return bytes > 0 && takt__arena_has(pointer) ? TAKT_EINVAL : TAKT_OK;
    out->offset = (size_t)(pointer - buffer->host);
    if (buffer->devices != devices || out->offset > buffer->bytes ||
        bytes > buffer->bytes - out->offset)
        return TAKT_EINVAL;
    return TAKT_OK;
}

/* What keeps a call from using an operand as it is. */
static takt_status check_use(const struct takt_operand *operand)
{
    const struct takt_buffer *buffer = operand->buffer;

    if (buffer->is_mapped_for_writing ||
        (operand->is_written && buffer->maps > 0))
        return TAKT_EINVAL;
    return operand->is_read && takt__copy_is_lost(buffer) ? TAKT_ELOST
                                                          : TAKT_OK;
}

takt_status takt__operands_find(struct takt_devices *devices,
                                const takt_call *call,
                                struct takt_operand_list *out, unsigned *count)
{
    struct takt_extents extents;
    takt_status status = TAKT_OK;

    takt__extents_of(call, &extents);
    *count = 0;
    for (unsigned i = 0; i < TAKT_OPERANDS && status == TAKT_OK; i++) {
        struct takt_operand *of = &out->of[i];
        const bool is_out = i == TAKT_OUT;
        status = find_operand(devices, is_out ? call->out : call->in[i],
                              extents.bytes[i], of);
        if (status != TAKT_OK || of->buffer == NULL)
            continue;
        (*count)++;
        of->is_written = is_out;
        /* What is not written has to be there to stay. */
        of->is_read =
            !is_out || extents.out_is_read || of->bytes < of->buffer->bytes;
    }
    takt__lock(&devices->lock);
    for (unsigned i = 0; i < TAKT_OPERANDS && status == TAKT_OK; i++)
        if (out->of[i].buffer != NULL)
            status = check_use(&out->of[i]);
    takt__unlock(&devices->lock);
    return status;
}

/* ---- what it would take -------------------------------------------------- */

static bool is_repeated(const struct takt_operand_list *operands, unsigned i)
{
    for (unsigned j = 0; j < i; j++)
        if (operands->of[j].buffer == operands->of[i].buffer)
            return true;
    return false;
}

static double reuse_of(const struct takt_buffer *buffer)
{
    return (buffer->hits + 1) / (buffer->uses + 2);
}

static unsigned holder_of(const struct takt_buffer *buffer)
{
    const struct takt_device *device = takt__copy_device(buffer);
    return device == NULL ? 0 : device->number;
}

static struct takt_move move_of(const struct takt_buffer *buffer, bool is_in,
                                unsigned device, double reuse)
{
    return (struct takt_move){.bytes = buffer->bytes,
                              .is_in = is_in,
                              .is_pinned = buffer->pinned[device].bytes > 0,
                              .device = device,
                              .reuse = reuse};
}

unsigned takt__operands_moves(const struct takt_operand_list *operands,
                              int device, struct takt_move out[TAKT_MAX_MOVES])
{
    unsigned count = 0;

    for (unsigned i = 0; i < TAKT_OPERANDS; i++) {
        const struct takt_operand *of = &operands->of[i];
        const struct takt_buffer *buffer = of->buffer;
        if (buffer == NULL)
            continue;
        const bool is_missing =
            of->is_read && !buffer->is_empty && !is_repeated(operands, i);
        if (device < 0 && is_missing && !buffer->is_on_host)
            out[count++] = move_of(buffer, false, holder_of(buffer), 0);
        if (device < 0)
            continue;
        if (is_missing && !takt__copy_is_on(buffer, (unsigned)device))
            out[count++] =
                move_of(buffer, true, (unsigned)device, reuse_of(buffer));
        /* The result may be wanted on the host later. */
        if (of->is_written)
            out[count++] =
                move_of(buffer, false, (unsigned)device, reuse_of(buffer));
    }
    return count;
}

/* ---- on the host --------------------------------------------------------- */

takt_status takt__operands_to_host(struct takt_devices *devices,
                                   struct takt_operand_list *operands)
{
    takt_status status = TAKT_OK;

    takt__lock(&devices->lock);
    for (unsigned i = 0; i < TAKT_OPERANDS && status == TAKT_OK; i++)
        if (operands->of[i].buffer != NULL && operands->of[i].is_read)
            status = takt__copy_to_host(operands->of[i].buffer);
    takt__unlock(&devices->lock);
    return status;
}

void takt__operands_made_on_host(struct takt_devices *devices,
                                 struct takt_operand_list *operands)
{
    struct takt_buffer *out = operands->of[TAKT_OUT].buffer;

    if (out == NULL)
        return;
    takt__lock(&devices->lock);
    takt__copy_made_on_host(out);
    takt__unlock(&devices->lock);
}

/* ---- on a device --------------------------------------------------------- */

static takt_status bring(struct takt_device *device,
                         struct takt_operand_list *operands,
                         struct takt_device_job *job)
{
    for (unsigned i = 0; i < TAKT_OPERANDS; i++) {
        const struct takt_operand *of = &operands->of[i];
        if (of->buffer == NULL)
            continue;
        if (of->offset % takt_dtype_size(job->call->dtype) != 0)
            return TAKT_ENODEV; /* no device reads an element from there */
        const takt_status status =
            takt__copy_to_device(of->buffer, device, of->is_read);
        if (status != TAKT_OK)
            return status;
        job->resident[i] = (struct takt_location){
            .block = &of->buffer->block[device->number], .offset = of->offset};
    }
    return TAKT_OK;
}

static takt_status try_once(struct takt_device *device,
                            struct takt_operand_list *operands,
                            struct takt_device_job *job)
{
    const takt_status status = bring(device, operands, job);

    return status != TAKT_OK ? status : takt__device_run(device, job);
}

/* What a device leaves undone is done on the host, which needs the operands
 * there. */
struct buffer_rescue {
    const struct takt_operand_list *operands;
    takt_status (*finish)(void *self, const takt_call *part);
    void *self;
};

static takt_status finish_on_host(void *self, const takt_call *part)
{
    const struct buffer_rescue *rescue = self;
    takt_status status = TAKT_OK;

    for (unsigned i = 0; i < TAKT_OUT && status == TAKT_OK; i++)
        if (rescue->operands->of[i].buffer != NULL)
            status = takt__copy_to_host(rescue->operands->of[i].buffer);
    return status != TAKT_OK ? status : rescue->finish(rescue->self, part);
}

takt_status takt__operands_perform(struct takt_device *device,
                                   struct takt_operand_list *operands,
                                   struct takt_device_job *job)
{
    struct takt_devices *devices = device->all;
    const size_t bytes = takt__call_bytes(job->call);
    struct buffer_rescue rescue = {
        .operands = operands, .finish = job->finish, .self = job->self};

    job->finish = finish_on_host;
    job->self = &rescue;
    takt__lock(&devices->lock);
    const uint64_t since = devices->uses;
    takt_status status = try_once(device, operands, job);
    if (status == TAKT_ENOMEM && takt__copies_evict(device, bytes, since))
        status = try_once(device, operands, job);
    if (status == TAKT_ENOMEM) {
        takt__lock(&device->lock);
        takt__memory_set_ceiling(device, bytes);
        takt__unlock(&device->lock);
    }
    if (status == TAKT_OK && operands->of[TAKT_OUT].buffer != NULL)
        takt__copy_made_on_device(operands->of[TAKT_OUT].buffer, device);
    takt__unlock(&devices->lock);
    return status;
}
