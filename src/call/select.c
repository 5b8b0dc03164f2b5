/* SPDX-License-Identifier: MIT */
/* select.c - answers where a call would run, without running it. */
#include "base/fpenv.h"
#include "base/sized.h"
#include "call/gpus.h"
#include "call/learning.h"
#include "call/libraries.h"
#include "call/question.h"
#include "call/user_experts.h"

/* What was learned; where nothing was, the model is asked what it expects. */
static bool select_learned(takt_ctx *ctx, const takt_request *request,
                           const struct takt_sizes *sizes,
                           struct takt_choice *out)
{
    const unsigned situation =
        request->situation & ~(unsigned)TAKT_SITUATION_ON_GPU;
    struct takt_question_location where;

    if (request->policy != TAKT_POLICY_ADAPTIVE || !sizes->has_key ||
        ctx->decider.policy == TAKT_POLICY_PINNED)
        return false;
    if (situation != request->situation) {
        takt__question_where(ctx, request, sizes, &where);
        if (where.home >= 0) {
            takt__question_locate(ctx, request, sizes, &where, out);
            return true;
        }
    }
    if (takt__decide_learned(&ctx->decider, sizes->key, situation, out))
        return true;
    takt__ctx_predict(ctx, sizes);
    return takt__decide_learned(&ctx->decider, sizes->key, situation, out);
}

/* A call would fall back from an expert that cannot run it: as plain.c does. */
static void fall_back(const takt_ctx *ctx, const takt_request *request,
                      struct takt_choice *choice)
{
    const struct takt_expert *expert = takt__ctx_expert(ctx, choice->expert);
    takt_call call;

    if (request->op == NULL || request->op->is_user || expert->device != NULL ||
        !takt__question_call(request, &call) ||
        takt__question_can(expert, &call))
        return;
    choice->expert = (uint8_t)ctx->decider.team[0].expert;
    choice->reason = TAKT_REASON_FALLBACK;
}

/* With nothing in `out` on failure. */
static takt_status select_expert(takt_ctx *ctx, const takt_request *request,
                                 takt_decision *out)
{
    struct takt_choice choice;
    struct takt_sizes sizes;

    *out = (takt_decision){.predicted_s = -1, .confidence = -1, .actual_s = -1};
    ctx = takt__ctx_or_default(ctx);
    if (ctx == NULL)
        return TAKT_ENOMEM;
    if (request->op != NULL && !takt__ctx_has_op(ctx, request->op))
        return TAKT_EINVAL;
    takt_status status = takt__request_sizes(request, &sizes);
    if (status != TAKT_OK)
        return status;
    if (request->policy == TAKT_POLICY_ADAPTIVE && request->op != NULL)
        takt__ctx_open_libraries_for(ctx, request->op);
    if (!select_learned(ctx, request, &sizes, &choice))
        status = takt__decide_static(&ctx->decider, request->policy, &sizes,
                                     &choice);
    if (status == TAKT_OK && !ctx->is_recorded)
        status = takt__gpu_open_chosen(ctx, &sizes, request->policy, &choice);
    if (status != TAKT_OK)
        return status;
    if (sizes.has_key && request->policy == TAKT_POLICY_ADAPTIVE)
        fall_back(ctx, request, &choice);
    takt__describe(ctx, &sizes, &choice, out);
    return status;
}

takt_status takt_select(takt_ctx *ctx, const takt_request *request,
                        takt_decision *out)
{
    takt_request copy;
    takt_decision decision;

    if (request == NULL || out == NULL || !takt__decision_fits(out) ||
        !takt__sized_read(request, &copy))
        return TAKT_EINVAL;
    const struct takt_fpenv callers = takt__fpenv_save();
    const takt_status status = select_expert(ctx, &copy, &decision);
    takt__fpenv_restore(callers);
    takt__decision_fill(out, &decision);
    return status;
}
