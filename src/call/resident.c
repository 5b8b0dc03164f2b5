/* SPDX-License-Identifier: MIT */
/*
 * resident.c - calls on buffers: decided by where their operands are, run
 * there, and sampled when they are done.
 */
#include <math.h>

#include "base/clock.h"
#include "call/gpus.h"
#include "call/learning.h"
#include "expert/gpu.h"
#include "gpu/copies.h"

bool takt__resident_has_buffers(const takt_call *call)
{
    if (atomic_load_explicit(&takt__arena_bytes, memory_order_relaxed) == 0)
        return false;
    bool has = takt__arena_has(call->out);
    for (unsigned i = 0; i < TAKT_OUT; i++)
        has |= takt__arena_has(call->in[i]);
    return has;
}

/* ---- ops of the user's --------------------------------------------------- */

/* An operand in a buffer of this context that may be used, or in none. */
static takt_status bring_to_host(const takt_ctx *ctx, const void *pointer,
                                 bool is_out)
{
    struct takt_buffer *buffer = takt__arena_find(pointer);

    if (buffer == NULL)
        return takt__arena_has(pointer) ? TAKT_EINVAL : TAKT_OK;
    if (buffer->devices != &ctx->experts.devices)
        return TAKT_EINVAL;
    takt__lock(&buffer->devices->lock);
    takt_status status =
        buffer->is_mapped_for_writing || (is_out && buffer->maps > 0)
            ? TAKT_EINVAL
            : takt__copy_to_host(buffer);
    if (status == TAKT_OK && is_out)
        takt__copy_made_on_host(buffer);
    takt__unlock(&buffer->devices->lock);
    return status;
}

static takt_status to_host(takt_ctx *ctx, const takt_call *call)
{
    takt_status status = TAKT_OK;

    for (unsigned i = 0; i < TAKT_OUT && status == TAKT_OK; i++)
        status = bring_to_host(ctx, call->in[i], false);
    return status == TAKT_OK ? bring_to_host(ctx, call->out, true) : status;
}

/* ---- admit --------------------------------------------------------------- */

takt_status takt__resident_find(struct takt_exec *exec)
{
    struct takt_resident *resident = &exec->resident;
    struct takt_extents extents;

    if (exec->is_empty || exec->call->op->is_user)
        return to_host(exec->ctx, exec->call);
    exec->is_resident = true;
    resident->has_plain = false;
    takt__extents_of(exec->call, &extents);
    const takt_status status =
        takt__operands_find(&exec->ctx->experts.devices, exec->call,
                            &resident->operands, &resident->in_buffers);
    for (unsigned i = 0; i < TAKT_OPERANDS; i++)
        resident->has_plain |=
            extents.bytes[i] > 64 && resident->operands.of[i].buffer == NULL;
    return status;
}

/* ---- decide -------------------------------------------------------------- */

static double price_of(const struct takt_decider *decider,
                       const struct takt_move *move)
{
    return (1 - move->reuse) *
           takt__decide_link(decider, move->device,
                             takt__link_of(move->is_in, move->is_pinned),
                             (double)move->bytes);
}

/* What is not in a buffer goes there and back each time. */
static double price_of_plain(const struct takt_exec *exec, unsigned gpu)
{
    const struct takt_decider *decider = &exec->ctx->decider;
    struct takt_extents extents;
    double all = 0;

    if (!exec->resident.has_plain)
        return 0;
    takt__extents_of(exec->call, &extents);
    for (unsigned i = 0; i < TAKT_OPERANDS; i++)
        if (extents.bytes[i] > 0 &&
            exec->resident.operands.of[i].buffer == NULL)
            all += takt__decide_link(
                decider, gpu, i == TAKT_OUT ? TAKT_LINK_OUT : TAKT_LINK_IN,
                (double)extents.bytes[i]);
    return all;
}

/* A GPU that has operands which are nowhere else, but not all it needs for the
 * call: to get them off it would take as long as to wait for the rest. */
static void wait_for_holder(const struct takt_exec *exec,
                            struct takt_device *device)
{
    struct takt_devices *devices = device->all;
    struct takt_move move[TAKT_MAX_MOVES];
    bool is_owner = false;

    if (!takt__device_is_ready(device) || !takt__device_is_incomplete(device))
        return;
    takt__lock(&devices->lock);
    const unsigned count =
        takt__operands_moves(&exec->resident.operands, -1, move);
    for (unsigned i = 0; i < count; i++)
        is_owner |= move[i].device == device->number;
    takt__unlock(&devices->lock);
    if (is_owner && !takt__device_can_run(device, exec->call))
        takt__device_open(device);
}

static void find_move_costs(const struct takt_exec *exec,
                            struct takt_move_costs *out)
{
    struct takt_decider *decider = &exec->ctx->decider;
    struct takt_devices *devices = &exec->ctx->experts.devices;
    struct takt_move move[TAKT_MAX_MOVES];

    *out = (struct takt_move_costs){.host_s = 0};
    for (unsigned d = 0; d < decider->gpu_count; d++)
        wait_for_holder(exec, decider->gpu[d].device);
    takt__lock(&devices->lock);
    unsigned count = takt__operands_moves(&exec->resident.operands, -1, move);
    for (unsigned i = 0; i < count; i++)
        out->host_s += price_of(decider, &move[i]) +
                       takt__gpu_queue_s(exec->ctx, move[i].device);
    for (unsigned d = 0; d < decider->gpu_count; d++) {
        struct takt_device *device = decider->gpu[d].device;
        takt__device_revive(device);
        out->is_open[d] = !takt__device_is_software(device) &&
                          takt__device_can_run(device, exec->call);
        if (!out->is_open[d])
            continue;
        count = takt__operands_moves(&exec->resident.operands, (int)d, move);
        for (unsigned i = 0; i < count; i++)
            out->gpu_s[d] += price_of(decider, &move[i]);
        out->gpu_s[d] +=
            price_of_plain(exec, d) + takt__gpu_queue_s(exec->ctx, d);
    }
    takt__unlock(&devices->lock);
}

takt_status takt__resident_decide(struct takt_exec *exec)
{
    takt_ctx *ctx = exec->ctx;
    const bool is_urgent =
        (exec->call->flags & (TAKT_CALL_URGENT | TAKT_CALL_STEADY)) != 0;
    struct takt_move_costs moves;

    if (ctx->decider.policy == TAKT_POLICY_ADAPTIVE) {
        if ((exec->call->flags & TAKT_CALL_URGENT) == 0 &&
            !takt__table_is_asked(&ctx->decider.table,
                                  exec->question.key.series, 0))
            takt__ctx_ask(ctx, exec->question.key.series, TAKT_ALL_SITUATIONS);
        find_move_costs(exec, &moves);
        takt__decide_location(&ctx->decider, exec->thread, &exec->question,
                              &moves, is_urgent, &exec->choice);
        return TAKT_OK;
    }
    const takt_status status =
        takt__decide(&ctx->decider, exec->thread, &exec->question, false,
                     is_urgent ? 0 : HUGE_VAL, &exec->choice);
    return status != TAKT_OK
               ? status
               : takt__gpu_open_chosen(ctx, &exec->question,
                                       ctx->decider.policy, &exec->choice);
}

/* Whether a device has all that a call reads. */
static bool has_all(const struct takt_exec *exec, unsigned device)
{
    struct takt_move move[TAKT_MAX_MOVES];
    const unsigned count =
        takt__operands_moves(&exec->resident.operands, (int)device, move);
    bool is_missing = exec->resident.has_plain;

    for (unsigned i = 0; i < count; i++)
        is_missing |= move[i].is_in;
    return !is_missing;
}

/* Where the operands are before it is run. */
static takt_residency residency_of(const struct takt_exec *exec)
{
    struct takt_devices *devices = &exec->ctx->experts.devices;
    struct takt_move move[TAKT_MAX_MOVES];
    bool is_on_one = false;

    takt__lock(&devices->lock);
    const bool is_on_host =
        takt__operands_moves(&exec->resident.operands, -1, move) == 0;
    for (unsigned d = 0; d < devices->count; d++)
        is_on_one |= has_all(exec, d);
    takt__unlock(&devices->lock);
    return is_on_one    ? TAKT_RESIDENCY_GPU
           : is_on_host ? TAKT_RESIDENCY_HOST
                        : TAKT_RESIDENCY_MIXED;
}

/* ---- run ----------------------------------------------------------------- */

static void run_on_host(struct takt_exec *exec)
{
    struct takt_devices *devices = &exec->ctx->experts.devices;
    struct takt_operand_list *operands = &exec->resident.operands;

    exec->status = takt__operands_to_host(devices, operands);
    if (exec->status != TAKT_OK)
        return;
    exec->is_sampled = true;
    takt__plain_run_timed(exec);
    if (exec->status == TAKT_OK)
        takt__operands_made_on_host(devices, operands);
}

/* What a GPU refuses, or was lost with, runs on the host. */
static void fall_back(struct takt_exec *exec)
{
    exec->end = takt__ticks();
    takt__exec_refuse(exec, exec->chosen, exec->status);
    takt__sample(exec);
    takt__decide_host(&exec->ctx->decider, exec->thread, &exec->question,
                      &exec->choice);
    exec->choice.reason = TAKT_REASON_FALLBACK;
    exec->chosen = exec->choice.expert;
    run_on_host(exec);
}

/* The sample and the event of a call that is not waited for come when it is
 * done. */
static void run_inside(struct takt_exec *exec, struct takt_device *device)
{
    takt_ctx *ctx = exec->ctx;
    struct takt_resident *resident = &exec->resident;
    struct takt_timing *timing = NULL;

    takt__gpu_push_finished(ctx, device->number);
    if (!resident->has_plain)
        timing = takt__gpu_timing(exec, device);
    takt__moved_s = 0;
    exec->start = takt__ticks();
    exec->status = takt__gpu_run(&ctx->experts, device, exec->call,
                                 &resident->operands, resident->in_buffers,
                                 timing == NULL ? NULL : &timing->from,
                                 timing == NULL ? NULL : &timing->to);
    exec->end = takt__ticks();
    if (exec->status != TAKT_OK) {
        takt__gpu_forget_timing(timing);
        return;
    }
    const bool is_async = resident->operands.of[TAKT_OUT].buffer != NULL;
    takt__gpu_note_busy(ctx, device, &exec->choice, is_async);
    if (timing == NULL)
        return;
    takt__gpu_keep_timing(exec, timing, is_async);
    exec->is_emitted = exec->is_emitted && !is_async;
}

/* Marks are those of one life of the device, which is kept from ending. */
static void run_on_gpu(struct takt_exec *exec)
{
    struct takt_device *device = takt__exec_expert(exec)->device;

    exec->is_sampled = false; /* by marks in its queue */
    exec->start = takt__ticks();
    exec->status = takt__device_enter(device);
    if (exec->status == TAKT_OK) {
        run_inside(exec, device);
        takt__device_leave(device);
    }
    if (exec->status != TAKT_OK)
        fall_back(exec);
}

void takt__resident_run(struct takt_exec *exec)
{
    if (exec->tap != NULL)
        exec->resident.residency = residency_of(exec);
    if (takt__exec_expert(exec)->device != NULL)
        run_on_gpu(exec);
    else
        run_on_host(exec);
}

takt_status takt__resident_run_on(struct takt_exec *exec, unsigned expert)
{
    struct takt_experts *experts = &exec->ctx->experts;
    struct takt_resident *resident = &exec->resident;
    struct takt_device *device = experts->expert[expert].device;

    if (!takt__expert_can(&experts->expert[expert], exec->call))
        return TAKT_ENODEV;
    if (device != NULL)
        return takt__gpu_run(experts, device, exec->call, &resident->operands,
                             resident->in_buffers, NULL, NULL);
    takt_status status =
        takt__operands_to_host(&experts->devices, &resident->operands);
    if (status == TAKT_OK)
        status = takt__expert_run(experts, expert, exec->call);
    if (status == TAKT_OK || takt__is_numeric_status(exec->call->op, status))
        takt__operands_made_on_host(&experts->devices, &resident->operands);
    return status;
}
