/* SPDX-License-Identifier: MIT */
/* gpu.c - a call on a GPU, and on the host what a GPU left undone. */
#include "gpu/buffer.h"
#include "run/run.h"

/* The best instruction set on all threads: of its kin, they come last. */
static unsigned best_processor(const struct takt_fleet *fleet)
{
    unsigned best = 0;

    for (unsigned i = 1; i < fleet->count; i++) {
        const struct takt_expert *who = &fleet->expert[i];
        if (who->kind == TAKT_EXPERT_CPU &&
            (best == 0 || who->isa == fleet->expert[best].isa))
            best = i;
    }
    return best;
}

/* The first expert runs everything, and needs next to no memory. */
static takt_status finish(void *self, const takt_call *part)
{
    struct takt_fleet *fleet = self;
    const takt_status status = takt__run(fleet, best_processor(fleet), part);

    return status == TAKT_OK ? status : takt__run(fleet, 0, part);
}

/* What is not in a buffer needs no lock; but only who has it can make room. */
static takt_status perform(struct takt_device *device,
                           struct takt_operand_list *operands, unsigned count,
                           struct takt_performance *performance)
{
    struct takt_operand_list none = {.of = {{.buffer = NULL}}};

    if (count == 0) {
        const takt_status status = takt__device_perform(device, performance);
        if (status != TAKT_ENOMEM)
            return status;
        operands = &none;
    }
    return takt__operands_perform(device, operands, performance);
}

takt_status takt__run_gpu(struct takt_fleet *fleet, struct takt_device *device,
                          const takt_call *call,
                          struct takt_operand_list *operands, unsigned count,
                          struct takt_mark *from, struct takt_mark *to)
{
    struct takt_performance performance = {
        .call = call, .finish = finish, .self = fleet, .from = from, .to = to};

    takt_status status = takt__device_enter(device);
    if (status != TAKT_OK)
        return status;
    status = perform(device, operands, count, &performance);
    if (status == TAKT_ELOST)
        takt__device_lose(device);
    takt__device_leave(device);
    return status;
}
