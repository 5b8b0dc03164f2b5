/* SPDX-License-Identifier: MIT */
/*
 * resident.c - calls on buffers: decided by where their operands are, run
 * there, observed when they are done.
 */
#include <math.h>

#include "base/clock.h"
#include "call/gpus.h"
#include "call/inside.h"
#include "call/libraries.h"
#include "gpu/copies.h"
#include "run/run.h"

bool takt__call_has_buffers(const takt_call *call)
{
    if (atomic_load_explicit(&takt__arena_bytes, memory_order_relaxed) == 0)
        return false;
    bool has = takt__arena_has(call->out);
    for (unsigned i = 0; i < TAKT_OUT; i++)
        has |= takt__arena_has(call->in[i]);
    return has;
}

/* A call on buffers, on its way. */
struct visit {
    takt_ctx *ctx;
    const takt_call *call;
    struct takt_sizes sizes;
    struct takt_operand_list operands;
    unsigned in_buffers;
    bool has_plain;       /* an operand is not in a buffer */
    bool is_told;         /* a note of it is left, or will be */
    struct takt_tap *tap; /* telemetry, if this call is timed for it */
    struct takt_choice choice;
    struct takt_watch watch;
};

static takt_status begin(takt_ctx *ctx, const takt_call *call,
                         struct visit *out)
{
    struct takt_extents extents;

    *out = (struct visit){
        .ctx = ctx,
        .call = call,
        .watch = {.thread = &takt__thread,
                  .is_resident = true,
                  .is_sampled = true,
                  .calls = 1},
    };
    takt__extents_of(call, &extents);
    const takt_status status = takt__operands_find(
        &ctx->fleet.devices, call, &out->operands, &out->in_buffers);
    for (unsigned i = 0; i < TAKT_OPERANDS; i++)
        out->has_plain |=
            extents.bytes[i] > 64 && out->operands.of[i].buffer == NULL;
    takt__call_sizes(call, &out->sizes);
    takt__ctx_meet_product(ctx, &out->sizes, call->flags);
    return status;
}

/* ---- decide ----------------------------------------------------------------
 */

static double price_of(const struct takt_decider *decider,
                       const struct takt_move *move)
{
    const unsigned link =
        move->is_in ? (move->is_pinned ? TAKT_LINK_IN_PINNED : TAKT_LINK_IN)
                    : (move->is_pinned ? TAKT_LINK_OUT_PINNED : TAKT_LINK_OUT);

    return (1 - move->reuse) *
           takt__decide_link(decider, move->device, link, (double)move->bytes);
}

/* What is not in a buffer goes there and back each time. */
static double price_of_plain(const struct visit *visit, unsigned gpu)
{
    const struct takt_decider *decider = &visit->ctx->decider;
    struct takt_extents extents;
    double all = 0;

    if (!visit->has_plain)
        return 0;
    takt__extents_of(visit->call, &extents);
    for (unsigned i = 0; i < TAKT_OPERANDS; i++)
        if (extents.bytes[i] > 0 && visit->operands.of[i].buffer == NULL)
            all += takt__decide_link(
                decider, gpu, i == TAKT_OUT ? TAKT_LINK_OUT : TAKT_LINK_IN,
                (double)extents.bytes[i]);
    return all;
}

/* A GPU that has operands which are nowhere else, but not all it needs for the
 * call: to get them off it would take as long as to wait for the rest. */
static void await_owner(const struct visit *visit, struct takt_device *device)
{
    struct takt_devices *devices = device->all;
    struct takt_move move[TAKT_MAX_MOVES];
    bool is_owner = false;

    takt__lock(&devices->lock);
    const unsigned count = takt__operands_moves(&visit->operands, -1, move);
    for (unsigned i = 0; i < count; i++)
        is_owner |= move[i].device == device->number;
    takt__unlock(&devices->lock);
    if (is_owner && !takt__device_can_run(device, visit->call))
        takt__device_open(device);
}

static void await_owners(const struct visit *visit)
{
    const struct takt_decider *decider = &visit->ctx->decider;

    for (unsigned d = 0; d < decider->gpu_count; d++) {
        struct takt_device *device = decider->gpu[d].device;
        if (takt__device_is_ready(device) && takt__device_is_busy(device))
            await_owner(visit, device);
    }
}

static void find_fares(const struct visit *visit, struct takt_fares *out)
{
    struct takt_decider *decider = &visit->ctx->decider;
    struct takt_devices *devices = &visit->ctx->fleet.devices;
    struct takt_move move[TAKT_MAX_MOVES];

    *out = (struct takt_fares){.host_s = 0};
    await_owners(visit);
    takt__lock(&devices->lock);
    unsigned count = takt__operands_moves(&visit->operands, -1, move);
    for (unsigned i = 0; i < count; i++)
        out->host_s += price_of(decider, &move[i]) +
                       takt__gpu_queue_s(visit->ctx, move[i].device);
    for (unsigned d = 0; d < decider->gpu_count; d++) {
        struct takt_device *device = decider->gpu[d].device;
        takt__device_revive(device);
        out->is_open[d] = !takt__device_is_software(device) &&
                          takt__device_can_run(device, visit->call);
        if (!out->is_open[d])
            continue;
        count = takt__operands_moves(&visit->operands, (int)d, move);
        for (unsigned i = 0; i < count; i++)
            out->gpu_s[d] += price_of(decider, &move[i]);
        out->gpu_s[d] +=
            price_of_plain(visit, d) + takt__gpu_queue_s(visit->ctx, d);
    }
    takt__unlock(&devices->lock);
}

static takt_status decide(struct visit *visit)
{
    takt_ctx *ctx = visit->ctx;
    const bool is_urgent =
        (visit->call->flags & (TAKT_CALL_URGENT | TAKT_CALL_STEADY)) != 0;
    struct takt_fares fares;

    if (ctx->decider.policy != TAKT_POLICY_ADAPTIVE) {
        visit->sizes.elements =
            takt_op_elements(visit->call->op, &visit->call->shape);
        const takt_status status =
            takt__decide(&ctx->decider, visit->watch.thread, &visit->sizes,
                         false, is_urgent ? 0 : HUGE_VAL, &visit->choice);
        return status != TAKT_OK
                   ? status
                   : takt__call_open_gpu(ctx, &visit->sizes,
                                         ctx->decider.policy, &visit->choice);
    }
    find_fares(visit, &fares);
    takt__decide_place(&ctx->decider, visit->watch.thread, &visit->sizes,
                       &fares, is_urgent, &visit->choice);
    return TAKT_OK;
}

/* Whether a device has all that a call reads. */
static bool has_all(const struct visit *visit, unsigned device)
{
    struct takt_move move[TAKT_MAX_MOVES];
    const unsigned count =
        takt__operands_moves(&visit->operands, (int)device, move);
    bool is_missing = visit->has_plain;

    for (unsigned i = 0; i < count; i++)
        is_missing |= move[i].is_in;
    return !is_missing;
}

/* Where the operands are before it is run. */
static takt_residency residency_of(const struct visit *visit)
{
    struct takt_devices *devices = &visit->ctx->fleet.devices;
    struct takt_move move[TAKT_MAX_MOVES];
    bool is_on_one = false;

    takt__lock(&devices->lock);
    const bool is_on_host =
        takt__operands_moves(&visit->operands, -1, move) == 0;
    for (unsigned d = 0; d < devices->count; d++)
        is_on_one |= has_all(visit, d);
    takt__unlock(&devices->lock);
    return is_on_one    ? TAKT_RESIDENCY_GPU
           : is_on_host ? TAKT_RESIDENCY_HOST
                        : TAKT_RESIDENCY_MIXED;
}

/* Counts the call for telemetry, which may want more of it. */
static void listen(struct visit *visit, struct takt_tap *tap)
{
    if (tap == NULL)
        return;
    takt__tap_count(tap, visit->sizes.key.series, visit->choice.reason, 1);
    visit->watch.residency = residency_of(visit);
    if (!takt__tap_is_quiet(tap, visit->sizes.key.series) ||
        visit->choice.reason == TAKT_REASON_EXPLORE)
        visit->tap = tap;
}

/* ---- run -------------------------------------------------------------------
 */

static bool is_on_gpu(const struct visit *visit)
{
    return visit->ctx->fleet.expert[visit->choice.arm].kind == TAKT_EXPERT_GPU;
}

static void run_on_host(struct visit *visit)
{
    takt_ctx *ctx = visit->ctx;
    struct takt_devices *devices = &ctx->fleet.devices;
    struct takt_watch *watch = &visit->watch;

    watch->status = takt__operands_to_host(devices, &visit->operands);
    if (watch->status != TAKT_OK)
        return;
    takt__call_run_watched(ctx, visit->call, &visit->sizes, &visit->choice,
                           watch);
    if (watch->status == TAKT_OK)
        takt__operands_made_on_host(devices, &visit->operands);
}

/* Whoever steps in for a GPU is on the host. */
static void step_in(struct visit *visit)
{
    const uint8_t refused = visit->choice.arm;

    visit->watch.end = takt__ticks();
    visit->watch.chosen = refused;
    takt__watch_refusal(&visit->watch, refused, visit->watch.status);
    takt__call_leave_sample(visit->ctx, &visit->sizes, &visit->choice,
                            &visit->watch);
    takt__decide_host(&visit->ctx->decider, visit->watch.thread, &visit->sizes,
                      &visit->choice);
    visit->choice.reason = TAKT_REASON_FALLBACK;
    run_on_host(visit);
}

static void run_inside(struct visit *visit, struct takt_device *device)
{
    takt_ctx *ctx = visit->ctx;
    struct takt_watch *watch = &visit->watch;
    struct takt_timing *timing = NULL;

    takt__gpu_collect(ctx, device->number);
    if (!visit->has_plain)
        timing = takt__gpu_timing(ctx, device, &visit->choice, visit->tap);
    takt__moved_s = 0;
    watch->start = takt__ticks();
    watch->status =
        takt__run_gpu(&ctx->fleet, device, visit->call, &visit->operands,
                      visit->in_buffers, timing == NULL ? NULL : &timing->from,
                      timing == NULL ? NULL : &timing->to);
    watch->end = takt__ticks();
    if (watch->status != TAKT_OK) {
        takt__gpu_forget_timing(timing);
        return;
    }
    const bool is_async = visit->operands.of[TAKT_OUT].buffer != NULL;
    takt__gpu_ran(ctx, device, &visit->choice, is_async);
    if (timing == NULL)
        return;
    visit->is_told = is_async; /* when it is done */
    takt__gpu_expect(ctx, timing, visit->call, &visit->sizes, &visit->choice,
                     watch, is_async);
}

/* Marks are those of one life of the device, which is kept from ending. */
static void run_on_gpu(struct visit *visit)
{
    struct takt_watch *watch = &visit->watch;
    struct takt_device *device =
        visit->ctx->fleet.expert[visit->choice.arm].device;

    watch->chosen = visit->choice.arm;
    watch->start = takt__ticks();
    watch->status = takt__device_enter(device);
    if (watch->status == TAKT_OK) {
        run_inside(visit, device);
        takt__device_leave(device);
    }
    if (watch->status != TAKT_OK)
        step_in(visit);
}

takt_status takt__call_on_buffers(takt_ctx *ctx, const takt_call *call,
                                  takt_decision *decision)
{
    struct takt_tap *tap = takt__ctx_tap(ctx);
    struct visit visit;
    takt_status status = begin(ctx, call, &visit);

    if (tap != NULL)
        visit.watch.came = takt__ticks();
    if (status == TAKT_OK)
        status = decide(&visit);
    if (status != TAKT_OK)
        return status;
    listen(&visit, tap);
    visit.watch.chosen = visit.choice.arm;
    if (is_on_gpu(&visit))
        run_on_gpu(&visit);
    else
        run_on_host(&visit);
    takt__call_remember(ctx, call, &visit.choice, &visit.watch);
    if (!visit.is_told &&
        (visit.tap != NULL || (tap != NULL && visit.watch.is_refused)))
        takt__call_tell(ctx, tap, call, &visit.sizes, &visit.choice,
                        &visit.watch);
    if (decision != NULL) {
        visit.sizes.elements = takt_op_elements(call->op, &call->shape);
        takt__decision_fill(ctx, &visit.sizes, &visit.choice, decision);
        decision->actual_s = (double)(visit.watch.end - visit.watch.start) *
                             takt__seconds_per_tick();
    }
    return visit.watch.status;
}

takt_status takt__call_on_buffers_on(takt_ctx *ctx, const takt_call *call,
                                     unsigned arm)
{
    struct takt_devices *devices = &ctx->fleet.devices;
    const struct takt_expert *who = &ctx->fleet.expert[arm];
    struct visit visit;
    takt_status status = begin(ctx, call, &visit);

    if (status != TAKT_OK)
        return status;
    if (!takt__expert_can_run(who, call))
        return TAKT_ENODEV;
    if (who->kind == TAKT_EXPERT_GPU)
        return takt__run_gpu(&ctx->fleet, who->device, call, &visit.operands,
                             visit.in_buffers, NULL, NULL);
    status = takt__operands_to_host(devices, &visit.operands);
    if (status == TAKT_OK)
        status = takt__run(&ctx->fleet, arm, call);
    if (status == TAKT_OK)
        takt__operands_made_on_host(devices, &visit.operands);
    return status;
}

/* ---- ops of the user's -----------------------------------------------------
 */

/* An operand in a buffer of this context that may be used, or in none. */
static takt_status bring_home(const takt_ctx *ctx, const void *pointer,
                              bool is_out)
{
    struct takt_buffer *buffer = takt__arena_find(pointer);

    if (buffer == NULL)
        return takt__arena_has(pointer) ? TAKT_EINVAL : TAKT_OK;
    if (buffer->devices != &ctx->fleet.devices)
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

takt_status takt__call_to_host(takt_ctx *ctx, const takt_call *call)
{
    takt_status status = TAKT_OK;

    for (unsigned i = 0; i < TAKT_OUT && status == TAKT_OK; i++)
        status = bring_home(ctx, call->in[i], false);
    return status == TAKT_OK ? bring_home(ctx, call->out, true) : status;
}
