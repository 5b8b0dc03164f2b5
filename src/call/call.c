/* SPDX-License-Identifier: MIT */
/*
 * call.c - the spine: admit, decide, run, observe.
 *
 * Can, should and did have three owners: admission and the experts say what
 * can be run, the decider what should, run() what was.
 */
#include "call/call.h"

#include <string.h>
#include <time.h>

#include "op/admit.h"
#include "run/run.h"

/* What the decision reads. The call was admitted, so its shape is right. */
static void find_sizes(const takt_call *call, struct takt_sizes *out)
{
    const struct takt_op_entry *entry = takt__op_entry(call->op);
    double elements;

    takt__form_work(entry, &call->shape, &elements, &out->work.flops);
    out->work.bytes = elements * (double)takt_dtype_size(call->dtype);
    out->op = call->op;
    out->name = NULL;
    out->complexity = call->op->complexity;
    out->elements = call->shape.rank == 1
                        ? call->shape.dim[0]
                        : takt__form_elements(entry->form, &call->shape);
    out->work_is_given = false;
}

/* Whom to ask when the chosen one refuses: our best kernels on one thread,
 * then scalar code, which runs everything and needs next to no memory. */
static unsigned next_best(const takt_ctx *ctx, unsigned refused)
{
    const unsigned simd = ctx->decider.team[0].expert;
    return refused == simd ? 0 : simd;
}

/* An expert that refuses has touched nothing, so another one may start. */
static takt_status run_or_fall_back(takt_ctx *ctx, const takt_call *call,
                                    struct takt_choice *choice)
{
    for (;;) {
        const struct takt_expert *expert = &ctx->fleet.expert[choice->expert];
        takt_status status = TAKT_ENODEV;
        if (takt__expert_can_run(expert, call))
            status = takt__run(&ctx->fleet, choice->expert, call);
        if (status == TAKT_OK || choice->expert == 0)
            return status;
        choice->expert = next_best(ctx, choice->expert);
        choice->reason = TAKT_REASON_FALLBACK;
    }
}

static double now_s(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

void takt__decision_fill(const takt_ctx *ctx, const struct takt_sizes *sizes,
                         const struct takt_choice *choice, takt_decision *out)
{
    *out = (takt_decision){
        .backend = choice->backend,
        .reason = choice->reason,
        .predicted_s = choice->predicted_s,
        .confidence = -1,
        .elements = sizes->elements,
        .work = sizes->work,
        .actual_s = -1,
    };
    memcpy(out->expert, ctx->fleet.expert[choice->expert].name,
           sizeof out->expert);
}

takt_status takt__call(takt_ctx *ctx, takt_call *call, takt_decision *decision)
{
    struct takt_sizes sizes;
    struct takt_choice choice;
    bool is_empty;

    takt_status status = takt__admit(call, &is_empty);
    if (status != TAKT_OK)
        return status;
    find_sizes(call, &sizes);
    status = takt__decide(&ctx->decider, ctx->decider.policy, &sizes, &choice);
    if (status != TAKT_OK)
        return status;
    const double start = decision != NULL ? now_s() : 0;
    if (!is_empty)
        status = run_or_fall_back(ctx, call, &choice);
    if (decision != NULL) {
        takt__decision_fill(ctx, &sizes, &choice, decision);
        decision->actual_s = now_s() - start;
    }
    return status;
}

takt_status takt_run(takt_ctx *ctx, const takt_call *call,
                     takt_decision *decision)
{
    if (call == NULL)
        return TAKT_EINVAL;
    takt_call copy = *call;
    if (ctx == NULL)
        ctx = takt_ctx_default();
    if (ctx == NULL)
        return TAKT_ENOMEM;
    if (ctx->is_recorded)
        return TAKT_ENODEV;
    return takt__call(ctx, &copy, decision);
}
