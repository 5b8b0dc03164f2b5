/* SPDX-License-Identifier: MIT */
/* select.c - answers where a call would run, without running it. */
#include "base/clock.h"
#include "base/fpenv.h"
#include "base/sized.h"
#include "call/gpus.h"
#include "call/learning.h"
#include "call/libraries.h"
#include "call/objective.h"
#include "call/question.h"
#include "call/user_experts.h"

/* What was learned; where nothing was, the model is asked what it expects. */
static bool select_learned(takt_ctx *ctx, const takt_request *request,
                           const struct takt_question *question,
                           struct takt_choice *out)
{
    const unsigned situation =
        request->situation & ~(unsigned)TAKT_SITUATION_ON_GPU;
    struct takt_question_location where;

    if (request->policy != TAKT_POLICY_ADAPTIVE || !question->has_key ||
        ctx->decider.policy == TAKT_POLICY_PINNED)
        return false;
    if (situation != request->situation) {
        takt__question_where(ctx, request, question, &where);
        if (where.home >= 0) {
            takt__question_locate(ctx, request, question, &where, out);
            return true;
        }
    }
    if (takt__decide_learned(&ctx->decider, question, situation, out))
        return true;
    takt__ctx_predict(ctx, question);
    return takt__decide_learned(&ctx->decider, question, situation, out);
}

static struct takt_choice choice_of(const struct takt_verdict *verdict,
                                    unsigned situation)
{
    const struct takt_cell cell = {
        .best = verdict->best,
        .runner_up = verdict->runner_up,
        .is_measured = verdict->is_measured,
        .confidence = (float)verdict->confidence,
        .seconds = (float)verdict->seconds,
    };

    return (struct takt_choice){
        .expert = verdict->best,
        .situation = (uint8_t)situation,
        .reason = verdict->is_measured ? TAKT_REASON_MODEL : TAKT_REASON_PRIOR,
        .word = takt__cell_pack(&cell),
    };
}

/* Under an objective that the table does not have, the model is asked. Where
 * the operands are on a GPU, the time decides. */
static takt_status select_under(takt_ctx *ctx, const takt_request *request,
                                const struct takt_question *question,
                                const struct takt_objective *objective,
                                struct takt_choice *out)
{
    const unsigned situation =
        request->situation & ~(unsigned)TAKT_SITUATION_ON_GPU;
    struct takt_verdict verdict;
    bool is_judged = false;

    if (!question->has_key)
        return TAKT_ESHAPE;
    struct takt_model *model = takt__learner_enter(ctx->learner);
    takt_status status = takt__objective_allowed(objective, model, NULL);
    if (status == TAKT_OK)
        status = takt__model_set_typical(model, question->key.series,
                                         question->key.bucket, &question->work);
    if (status == TAKT_OK) {
        struct takt_posterior *posterior =
            takt__model_posterior(model, question->key.series, situation);
        takt__posterior_pursue(posterior, objective, TAKT_OBJECTIVES);
        is_judged = takt__posterior_judge(posterior, question->key.bucket,
                                          takt__now_ns(), true, &verdict);
    }
    takt__learner_leave(ctx->learner);
    if (status == TAKT_OK && !is_judged)
        status = TAKT_ENODEV;
    if (status == TAKT_OK)
        *out = choice_of(&verdict, situation);
    return status;
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
    struct takt_question question;

    *out = (takt_decision){.predicted_s = -1, .confidence = -1, .actual_s = -1};
    ctx = takt__ctx_or_default(ctx);
    if (ctx == NULL)
        return TAKT_ENOMEM;
    if (request->op != NULL && !takt__ctx_has_op(ctx, request->op))
        return TAKT_EINVAL;
    takt_status status = takt__request_question(request, &question);
    if (status != TAKT_OK)
        return status;
    if (request->policy == TAKT_POLICY_ADAPTIVE && request->op != NULL)
        takt__ctx_open_libraries_for(ctx, request->op);
    bool has_objective;
    struct takt_objective objective;
    status = takt__question_objective(request, &objective, &has_objective);
    if (status != TAKT_OK)
        return status;
    if (has_objective && request->policy == TAKT_POLICY_ADAPTIVE)
        status = select_under(ctx, request, &question, &objective, &choice);
    else if (!select_learned(ctx, request, &question, &choice))
        status = takt__decide_static(&ctx->decider, request->policy, &question,
                                     &choice);
    if (status == TAKT_OK && !ctx->is_recorded)
        status =
            takt__gpu_open_chosen(ctx, &question, request->policy, &choice);
    if (status != TAKT_OK)
        return status;
    if (question.has_key && request->policy == TAKT_POLICY_ADAPTIVE)
        fall_back(ctx, request, &choice);
    takt__describe(ctx, &question, &choice, out);
    return status;
}

takt_status takt_select(takt_ctx *ctx, const takt_request *request,
                        takt_decision *out)
{
    takt_request copy;
    takt_decision decision;

    if (request == NULL || out == NULL || !takt__decision_fits(out) ||
        !takt__request_read(request, &copy))
        return TAKT_EINVAL;
    const struct takt_fpenv callers = takt__fpenv_save();
    const takt_status status = select_expert(ctx, &copy, &decision);
    takt__fpenv_restore(callers);
    takt__decision_fill(out, &decision);
    return status;
}
