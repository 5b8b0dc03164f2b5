/* SPDX-License-Identifier: MIT */
/*
 * select.c - answers where a call would run, without running it.
 */
#include <stdint.h>

#include "base/clock.h"
#include "call/inside.h"
#include "call/libraries.h"
#include "call/question.h"
#include "op/admit.h"
#include "op/operands.h"

const char *takt_policy_name(takt_policy policy)
{
    switch (policy) {
    case TAKT_POLICY_ADAPTIVE:
        return "adaptive";
    case TAKT_POLICY_MOE:
        return "moe";
    case TAKT_POLICY_COST:
        return "cost";
    case TAKT_POLICY_HEURISTIC:
        return "heuristic";
    case TAKT_POLICY_FIXED:
        return "fixed";
    case TAKT_POLICY_PINNED:
        return "pinned";
    }
    return "?";
}

const char *takt_reason_name(takt_reason reason)
{
    switch (reason) {
    case TAKT_REASON_STATIC:
        return "static";
    case TAKT_REASON_FALLBACK:
        return "fallback";
    case TAKT_REASON_PRIOR:
        return "prior";
    case TAKT_REASON_FORCED:
        return "forced";
    case TAKT_REASON_ONLY:
        return "only";
    case TAKT_REASON_MODEL:
        return "model";
    case TAKT_REASON_EXPLORE:
        return "explore";
    case TAKT_REASON_PINNED:
        return "pinned";
    }
    return "?";
}

/* The number of elements when nobody described the op: all sizes, multiplied
 * as those of a user's op are. */
static size_t elements_of(const takt_request *request)
{
    size_t all = 1;

    if (request->op != NULL)
        return takt_op_elements(request->op, &request->shape);
    for (unsigned i = 0; i < request->shape.rank; i++)
        if (request->shape.dim[i] == 0)
            return 0;
    for (unsigned i = 0; i < request->shape.rank; i++)
        if (__builtin_mul_overflow(all, request->shape.dim[i], &all))
            return SIZE_MAX;
    return request->shape.rank == 0 ? 0 : all;
}

static takt_status check(const takt_request *request)
{
    if (request == NULL || (unsigned)request->policy > TAKT_POLICY_PINNED ||
        (unsigned)request->dtype > TAKT_F64 ||
        request->shape.rank > TAKT_SHAPE_MAX_RANK ||
        request->situation >= 2 * TAKT_SITUATION_ON_GPU)
        return TAKT_EINVAL;
    if (request->op == NULL)
        return (unsigned)request->complexity > TAKT_COMPLEXITY_HIGH
                   ? TAKT_EINVAL
                   : TAKT_OK;
    if ((request->op->dtypes >> request->dtype & 1) == 0)
        return TAKT_EINVAL;
    if (request->work != NULL && request->shape.rank == 0)
        return TAKT_OK;
    return takt_op_check_shape(request->op, &request->shape);
}

/* Products and layers are keyed by their shape too; a bare number of elements
 * will not do. Nor will work that no machine can do: it is left to the rules.
 */
static bool has_key(const takt_request *request, const struct takt_sizes *sizes)
{
    if (request->op == NULL || !takt__work_is_sane(&sizes->work) ||
        takt__op_entry(request->op)->form == TAKT_FORM_view)
        return false;
    return request->op->is_user || request->shape.rank >= request->op->rank_min;
}

takt_status takt__request_sizes(const takt_request *request,
                                struct takt_sizes *out)
{
    const takt_status status = check(request);

    if (status != TAKT_OK)
        return status;
    *out = (struct takt_sizes){
        .op = request->op,
        .name = request->name,
        .complexity =
            request->op != NULL ? request->op->complexity : request->complexity,
        .elements = elements_of(request),
        .work_is_given = request->work != NULL,
    };
    if (request->work != NULL)
        out->work = *request->work;
    else if (request->op == NULL ||
             takt_op_work(request->op, request->dtype, &request->shape,
                          &out->work) != TAKT_OK)
        out->work = (takt_work){.bytes = -1, .flops = -1};
    out->has_key = has_key(request, out);
    if (out->has_key)
        out->key = takt__key_of(request->op, request->dtype, &request->shape,
                                request->flags, &out->work);
    return TAKT_OK;
}

void takt__ctx_meet(takt_ctx *ctx, const struct takt_sizes *sizes)
{
    const takt_work work = {sizes->work.bytes, sizes->work.flops};
    struct takt_model *model = takt__learner_enter(ctx->learner);

    takt__model_set_typical(model, sizes->key.series, sizes->key.bucket, &work);
    takt__learner_leave(ctx->learner);
}

/* ---- operands on a GPU -----------------------------------------------------
 */

_Static_assert(TAKT_SITUATION_REPEAT == TAKT_REPEAT &&
                   TAKT_SITUATION_ALONE == TAKT_ASLEEP &&
                   TAKT_SITUATION_ON_GPU == TAKT_RESIDENT,
               "a question and a sample mean the same by a situation");

/* A call of that shape, with the usual values in it. There are no operands,
 * which is why nobody admits it. */
static bool call_like(const takt_request *request, takt_call *out)
{
    struct takt_lengths lengths;
    bool is_empty;

    *out = (takt_call){.op = request->op,
                       .dtype = request->dtype,
                       .shape = request->shape,
                       .alpha = 1,
                       .flags = request->flags};
    takt__admit(out, &is_empty);
    takt__lengths_of(out, &lengths);
    return !lengths.overflow && lengths.of[TAKT_OUT] > 0;
}

/* Seconds to move all inputs of a call over one link. */
static double move_inputs(const struct takt_decider *decider, unsigned gpu,
                          unsigned link, const takt_call *call)
{
    struct takt_extents extents;
    double all = 0;

    takt__extents_of(call, &extents);
    for (unsigned i = 0; i < TAKT_OUT; i++)
        if (extents.bytes[i] > 0)
            all +=
                takt__decide_link(decider, gpu, link, (double)extents.bytes[i]);
    return all;
}

void takt__question_where(takt_ctx *ctx, const takt_request *request,
                          const struct takt_sizes *sizes,
                          struct takt_whereabouts *out)
{
    const struct takt_decider *decider = &ctx->decider;
    struct takt_fares *fares = &out->fares;
    takt_call call;

    *out = (struct takt_whereabouts){.home = -1};
    if (!sizes->has_key || request->op->is_user || !call_like(request, &call))
        return;
    for (unsigned d = decider->gpu_count; d-- > 0;) {
        const struct takt_device *device = decider->gpu[d].device;
        fares->is_open[d] = takt__device_is_ready(device) &&
                            !takt__device_is_software(device) &&
                            !atomic_load(&device->is_occupied) &&
                            device->driver->can_run(device, &call);
        if (fares->is_open[d] &&
            (request->situation & TAKT_SITUATION_ON_GPU) != 0)
            out->home = (int)d;
    }
    if (out->home < 0)
        return;
    const unsigned home = (unsigned)out->home;
    fares->host_s = move_inputs(decider, home, TAKT_LINK_OUT, &call);
    for (unsigned d = 0; d < decider->gpu_count; d++)
        if (fares->is_open[d] && d != home)
            fares->gpu_s[d] =
                fares->host_s + move_inputs(decider, d, TAKT_LINK_IN, &call);
}

/* Whoever asks is a thread that had a use for others just now, or (alone) long
 * ago. */
void takt__question_place(takt_ctx *ctx, const takt_request *request,
                          const struct takt_sizes *sizes,
                          const struct takt_whereabouts *where,
                          struct takt_choice *out)
{
    const bool is_alone = (request->situation & TAKT_SITUATION_ALONE) != 0;
    struct takt_thread asking = {.threads_used = is_alone ? 0 : takt__ticks()};

    takt__ctx_meet(ctx, sizes);
    takt__decide_place(&ctx->decider, &asking, sizes, &where->fares, true, out);
}

/* ---- the answer ------------------------------------------------------------
 */

/* What was learned; where nothing was, the model is asked what it expects. */
static bool select_learned(takt_ctx *ctx, const takt_request *request,
                           const struct takt_sizes *sizes,
                           struct takt_choice *out)
{
    const unsigned situation =
        request->situation & ~(unsigned)TAKT_SITUATION_ON_GPU;
    struct takt_whereabouts where;

    if (request->policy != TAKT_POLICY_ADAPTIVE || !sizes->has_key ||
        ctx->decider.policy == TAKT_POLICY_PINNED)
        return false;
    if (situation != request->situation) {
        takt__question_where(ctx, request, sizes, &where);
        if (where.home >= 0) {
            takt__question_place(ctx, request, sizes, &where, out);
            return true;
        }
    }
    if (takt__decide_learned(&ctx->decider, sizes->key, situation, out))
        return true;
    takt__ctx_meet(ctx, sizes);
    return takt__decide_learned(&ctx->decider, sizes->key, situation, out);
}

takt_status takt_select(takt_ctx *ctx, const takt_request *request,
                        takt_decision *out)
{
    struct takt_choice choice;
    struct takt_sizes sizes;

    if (out == NULL)
        return TAKT_EINVAL;
    *out = (takt_decision){.predicted_s = -1, .confidence = -1, .actual_s = -1};
    ctx = takt__ctx_meant(ctx);
    if (ctx == NULL)
        return TAKT_ENOMEM;
    takt_status status = takt__request_sizes(request, &sizes);
    if (status != TAKT_OK)
        return status;
    if (request->policy == TAKT_POLICY_ADAPTIVE && request->op != NULL)
        takt__ctx_open_libraries_for(ctx, request->op);
    if (!select_learned(ctx, request, &sizes, &choice))
        status = takt__decide_static(&ctx->decider, request->policy, &sizes,
                                     &choice);
    if (status == TAKT_OK && !ctx->is_recorded)
        status = takt__call_open_gpu(ctx, &sizes, request->policy, &choice);
    if (status == TAKT_OK)
        takt__decision_fill(ctx, &sizes, &choice, out);
    return status;
}
