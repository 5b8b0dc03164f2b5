/* SPDX-License-Identifier: MIT */
/*
 * gpu.c - experts that are GPUs, and the callback that computes on the host the
 * rest of an output that was partly written.
 *
 * NVIDIA's GPUs are driven through CUDA, all others through Vulkan. A driver
 * takes a good part of a second to load, so the list comes from the bus until a
 * device is needed; with "all" the drivers are asked, which also shows software
 * devices and GPUs that are on no bus.
 */
#include "expert/gpu.h"

#include <string.h>

#include "cuda/cuda.h"
#include "gpu/buffer.h"
#include "vulkan/vulkan.h"

static bool may(const struct takt_expert *expert, const takt_op *op,
                takt_dtype dtype)
{
    const struct takt_driver *driver = expert->device->driver;

    return !op->is_user && driver->has != NULL && driver->has(op, dtype);
}

/* A device that was lost may be back by now. */
static bool can(const struct takt_expert *expert, const takt_call *call)
{
    takt__device_revive(expert->device);
    return !call->op->is_user && takt__device_can_run(expert->device, call);
}

/* The best instruction set on all threads, which is the last of its experts. */
static unsigned best_cpu(const struct takt_experts *experts)
{
    unsigned best = 0;

    for (unsigned i = 1; i < experts->count; i++) {
        const struct takt_expert *at = &experts->expert[i];
        if (at->kernel_set != NULL &&
            (best == 0 || at->isa == experts->expert[best].isa))
            best = i;
    }
    return best;
}

/* The first expert runs everything, and needs next to no memory. */
static takt_status finish(void *self, const takt_call *part)
{
    struct takt_experts *experts = self;
    const takt_status status =
        takt__expert_run(experts, best_cpu(experts), part);

    return status == TAKT_OK ? status : takt__expert_run(experts, 0, part);
}

/* What is not in a buffer needs no lock; but only its holder can make room. */
static takt_status perform(struct takt_device *device,
                           struct takt_operand_list *operands, unsigned count,
                           struct takt_device_job *job)
{
    struct takt_operand_list none = {.of = {{.buffer = NULL}}};

    if (count == 0) {
        const takt_status status = takt__device_run(device, job);
        if (status != TAKT_ENOMEM)
            return status;
        operands = &none;
    }
    return takt__operands_perform(device, operands, job);
}

takt_status takt__gpu_run(struct takt_experts *experts,
                          struct takt_device *device, const takt_call *call,
                          struct takt_operand_list *operands, unsigned count,
                          struct takt_mark *from, struct takt_mark *to)
{
    struct takt_device_job job = {.call = call,
                                  .finish = finish,
                                  .self = experts,
                                  .from = from,
                                  .to = to};

    takt_status status = takt__device_enter(device);
    if (status != TAKT_OK)
        return status;
    status = perform(device, operands, count, &job);
    if (status == TAKT_ELOST)
        takt__device_lose(device);
    takt__device_leave(device);
    return status;
}

static takt_status run(struct takt_experts *experts,
                       const struct takt_expert *expert, const takt_call *call)
{
    return takt__gpu_run(experts, expert->device, call, NULL, 0, NULL, NULL);
}

const struct takt_expert_class takt__gpu_class = {may, can, run};

/* ---- the list ------------------------------------------------------------ */

enum { nvidia = 0x10de };

static unsigned on_bus(const takt_machine *machine, bool is_nvidia)
{
    unsigned count = 0;

    for (unsigned i = 0; i < machine->gpu_count; i++)
        count += (machine->gpu[i].vendor == nvidia) == is_nvidia;
    return count;
}

void takt__gpus_list(struct takt_experts *experts,
                     const struct takt_experts_options *options)
{
    const struct takt_finder finder[] = {
        {.driver = &takt__cuda_driver,
         .count = takt__cuda_count,
         .expected = on_bus(options->machine, true)},
        {.driver = &takt__vulkan_driver,
         .count = takt__vulkan_count,
         .expected = on_bus(options->machine, false)},
    };
    const bool is_off = options->gpu != NULL && *options->gpu == '\0';

    takt__devices_list(&experts->devices,
                       &(struct takt_devices_options){
                           .finder = finder,
                           .finders = is_off ? 0 : 2,
                           .is_now = options->gpu != NULL &&
                                     strcmp(options->gpu, "all") == 0 &&
                                     !options->is_recorded,
                           .pool = experts->pool,
                           .threads = options->threads,
                       });
}
