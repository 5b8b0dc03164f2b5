/* SPDX-License-Identifier: MIT */
/* user_experts.c - experts of the user's, in the table and in the model. */
#include "call/user_experts.h"

#include <stdio.h>
#include <string.h>

#include "call/direct.h"

/* Each is a kin of its own; those of our experts are below. */
static const unsigned users_kin = 300;

/* The number of Takt's own expert that one of the user's is most similar to: of
 * the same backend, with as many threads or the next fewer. */
static unsigned similar_to(const takt_ctx *ctx,
                           const struct takt_expert *expert)
{
    const struct takt_decider *decider = &ctx->decider;
    unsigned like = decider->team[0].expert;

    if (expert->backend == TAKT_BACKEND_SCALAR)
        return 0;
    for (unsigned i = 1; i < decider->team_count; i++)
        if (decider->team[i].rates.threads <= expert->threads)
            like = decider->team[i].expert;
    return like;
}

/* Nothing is known of an expert of the user's. At first it has the rates of the
 * one of ours that it is like. */
static struct takt_arm arm_of(const takt_ctx *ctx,
                              const struct takt_expert *expert)
{
    const unsigned like = similar_to(ctx, expert);
    struct takt_arm arm = {
        .device = expert->threads > 1 ? TAKT_DEVICE_CORES : TAKT_DEVICE_CORE,
        .kin = users_kin + takt__expert_number(&ctx->experts, expert),
        .is_unrated = true};

    memcpy(arm.name, expert->name, sizeof arm.name);
    arm.rates = takt__prior_rates(&ctx->experts.expert[like], ctx->machine);
    arm.rates.threads = expert->threads;
    arm.is_default = expert->spec.is_usual != 0;
    arm.is_observed = expert->spec.is_observed != 0;
    return arm;
}

/* Lets an expert run all series of an op. */
static void allow_op(struct takt_model *model, const takt_op *op,
                     unsigned expert)
{
    const unsigned number = op->is_user
                                ? TAKT_OP_COUNT + takt__op_entry(op)->user_op
                                : (unsigned)takt__op_id(op);

    for (unsigned series = 0; series < TAKT_SERIES_LINKS; series++)
        if (takt__series_op(series) == number)
            takt__model_allow(model, series, expert);
}

takt_status takt__ctx_add_expert(takt_ctx *ctx, struct takt_model *model,
                                 const takt_op *op, const char *name,
                                 const takt_expert_spec *spec)
{
    const struct takt_expert *made;
    const takt_status status =
        takt__user_expert_add(&ctx->experts, op, name, spec, &made);

    if (status != TAKT_OK)
        return status;
    const struct takt_arm as_arm = arm_of(ctx, made);
    const int arm = takt__model_add_arm(model, &as_arm);
    if (arm < 0)
        return TAKT_EFULL;
    allow_op(model, op, (unsigned)arm);
    takt__user_expert_publish(&ctx->experts);
    if (op->is_user)
        return TAKT_OK;
    if (spec->is_usual != 0)
        takt__decider_set_default(&ctx->decider, op, (unsigned)arm,
                                  made->threads);
    takt__direct_update(ctx, takt__op_id(op), TAKT_F32);
    takt__direct_update(ctx, takt__op_id(op), TAKT_F64);
    return TAKT_OK;
}

bool takt__ctx_has_op(const takt_ctx *ctx, const takt_op *op)
{
    return !op->is_user ||
           takt__user_ops_at(&ctx->user_ops, takt__op_entry(op)->user_op) == op;
}

/* An expert of the user's, by the name it has or by the one it was given. */
static const struct takt_expert *
find_either(const takt_ctx *ctx, const takt_op *op, const char *name)
{
    const struct takt_expert *found =
        takt__user_expert_find(&ctx->experts, op, name);
    char full[TAKT_EXPERT_NAME_MAX];

    if (found != NULL || !takt__is_name(name, TAKT_GIVEN_NAME_MAX))
        return found;
    snprintf(full, sizeof full, "user.%s", name);
    return takt__user_expert_find(&ctx->experts, op, full);
}

takt_status takt__ctx_resolve_expert(takt_ctx *ctx, struct takt_model *model,
                                     const takt_op *op, const char *name,
                                     int *number)
{
    const struct takt_expert *found = find_either(ctx, op, name);
    const int ours = takt__experts_find(&ctx->experts, name);
    const takt_expert_spec spec = {
        .backend =
            ours < 0 ? TAKT_BACKEND_SIMD : ctx->experts.expert[ours].backend,
        .threads = ours < 0 ? 1 : ctx->experts.expert[ours].threads,
    };

    if (found == NULL) {
        if (!takt__is_name(name, TAKT_EXPERT_NAME_MAX - 1))
            return TAKT_EINVAL;
        const takt_status status =
            takt__ctx_add_expert(ctx, model, op, name, &spec);
        if (status != TAKT_OK)
            return status;
        found = takt__user_expert_find(&ctx->experts, op, name);
    }
    *number = (int)takt__expert_number(&ctx->experts, found);
    return TAKT_OK;
}

int takt__ctx_recall_expert(takt_ctx *ctx, struct takt_model *model,
                            const takt_op *op, const char *name)
{
    static const unsigned most = TAKT_MAX_EXPERTS_PER_OP / 2;
    int number = -1;

    if (strncmp(name, "user.", 5) == 0 ||
        takt__user_expert_count(&ctx->experts, op) >= most)
        return -1;
    return takt__ctx_resolve_expert(ctx, model, op, name, &number) == TAKT_OK
               ? number
               : -1;
}
