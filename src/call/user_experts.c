/* SPDX-License-Identifier: MIT */
/* user_experts.c - adding the user's own code to a context. */
#include "call/user_experts.h"

#include <stdio.h>
#include <string.h>

#include "base/name.h"
#include "call/ctx.h"

const struct takt_user_expert *
takt__user_experts_next(const struct takt_user_experts *experts,
                        const takt_op *op, const struct takt_user_expert *after)
{
    const struct takt_user_expert *end =
        experts->expert + atomic_load(&experts->count);
    const struct takt_user_expert *at =
        after == NULL ? experts->expert : after + 1;

    for (; at < end; at++)
        if (at->op == op)
            return at;
    return NULL;
}

const struct takt_user_expert *
takt__user_experts_find(const struct takt_user_experts *experts,
                        const takt_op *op, const char *name)
{
    const struct takt_user_expert *at = NULL;

    while ((at = takt__user_experts_next(experts, op, at)) != NULL)
        if (takt__name_equal(at->name, name))
            return at;
    return NULL;
}

static unsigned count_of(const struct takt_user_experts *experts,
                         const takt_op *op)
{
    const struct takt_user_expert *at = NULL;
    unsigned count = 0;

    while ((at = takt__user_experts_next(experts, op, at)) != NULL)
        count++;
    return count;
}

/* The number of our expert that one of the user's is like: of the same backend,
 * with as many threads or the next fewer. */
static unsigned like_whom(const takt_ctx *ctx, const takt_expert_spec *spec)
{
    const struct takt_decider *decider = &ctx->decider;
    unsigned like = decider->team[0].expert;

    if (spec->backend == TAKT_BACKEND_SCALAR)
        return 0;
    for (unsigned i = 1; i < decider->team_count; i++)
        if (decider->team[i].rates.threads <= spec->threads)
            like = decider->team[i].expert;
    return like;
}

/* An expert of the user's is first taken to be as fast as the one of ours that
 * it is like: what this machine showed on other ops is carried over. */
static struct takt_arm arm_of(const takt_ctx *ctx,
                              const struct takt_user_expert *expert)
{
    const unsigned like = like_whom(ctx, &expert->spec);
    struct takt_arm arm = {.device = expert->spec.threads > 1
                                         ? TAKT_DEVICE_CORES
                                         : TAKT_DEVICE_CORE,
                           .kin = like};

    memcpy(arm.name, expert->name, sizeof arm.name);
    arm.rates = takt__prior_rates(&ctx->fleet.expert[like], ctx->machine);
    arm.rates.threads = expert->spec.threads;
    arm.is_default = expert->spec.is_usual != 0;
    return arm;
}

/* Lets an arm run all series of an op. */
static void allow_op(struct takt_model *model, const takt_op *op, unsigned arm)
{
    const unsigned number = op->is_user
                                ? TAKT_OP_COUNT + takt__op_entry(op)->user_op
                                : (unsigned)takt__op_id(op);

    for (unsigned series = 0; series < TAKT_SERIES_LINKS; series++)
        if (takt__series_op(series) == number)
            takt__model_allow(model, series, arm);
}

/* With the learner's lock. */
takt_status takt__ctx_enlist_expert(takt_ctx *ctx, struct takt_model *model,
                                    const takt_op *op, const char *name,
                                    const takt_expert_spec *spec)
{
    struct takt_user_experts *experts = &ctx->user_experts;
    const unsigned number = atomic_load(&experts->count);

    if (takt__user_experts_find(experts, op, name) != NULL)
        return TAKT_EEXIST;
    if (number == TAKT_MAX_USER_EXPERTS ||
        count_of(experts, op) == TAKT_MAX_EXPERTS_PER_OP)
        return TAKT_EFULL;
    struct takt_user_expert *made = &experts->expert[number];
    *made = (struct takt_user_expert){.op = op, .spec = *spec};
    if (made->spec.threads == 0)
        made->spec.threads = 1;
    snprintf(made->name, sizeof made->name, "%s", name);
    const struct takt_arm as_arm = arm_of(ctx, made);
    const int arm = takt__model_add_arm(model, &as_arm);
    if (arm < 0)
        return TAKT_EFULL;
    made->arm = (unsigned)arm;
    allow_op(model, op, made->arm);
    atomic_store(&experts->count, number + 1);
    if (spec->is_usual != 0 && !op->is_user)
        takt__decider_set_usual(&ctx->decider, op, made->arm,
                                made->spec.threads);
    return TAKT_OK;
}

bool takt__expert_is_name(const char *name, size_t longest)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz"
                                  "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-:/";

    return name != NULL && name[0] != '\0' && strlen(name) <= longest &&
           name[strspn(name, letters)] == '\0';
}

bool takt__ctx_has_op(const takt_ctx *ctx, const takt_op *op)
{
    return !op->is_user ||
           takt__user_ops_at(&ctx->user_ops, takt__op_entry(op)->user_op) == op;
}

/* An expert of the user's, by the name it has or by the one it was given. */
static const struct takt_user_expert *
find_either(const takt_ctx *ctx, const takt_op *op, const char *name)
{
    const struct takt_user_expert *found =
        takt__user_experts_find(&ctx->user_experts, op, name);
    char full[TAKT_EXPERT_NAME_MAX];

    if (found != NULL || !takt__expert_is_name(name, TAKT_GIVEN_NAME_MAX))
        return found;
    snprintf(full, sizeof full, "user.%s", name);
    return takt__user_experts_find(&ctx->user_experts, op, full);
}

takt_status takt__ctx_meet_expert(takt_ctx *ctx, struct takt_model *model,
                                  const takt_op *op, const char *name, int *arm)
{
    const struct takt_user_expert *found = find_either(ctx, op, name);
    const int ours = takt__fleet_find(&ctx->fleet, name);
    const takt_expert_spec spec = {
        .backend =
            ours < 0 ? TAKT_BACKEND_SIMD : ctx->fleet.expert[ours].backend,
        .threads = ours < 0 ? 1 : ctx->fleet.expert[ours].threads,
    };

    if (found == NULL) {
        if (!takt__expert_is_name(name, TAKT_EXPERT_NAME_MAX - 1))
            return TAKT_EINVAL;
        const takt_status status =
            takt__ctx_enlist_expert(ctx, model, op, name, &spec);
        if (status != TAKT_OK)
            return status;
        found = takt__user_experts_find(&ctx->user_experts, op, name);
    }
    *arm = (int)found->arm;
    return TAKT_OK;
}

int takt__ctx_recall_expert(takt_ctx *ctx, struct takt_model *model,
                            const takt_op *op, const char *name)
{
    static const unsigned most = TAKT_MAX_EXPERTS_PER_OP / 2;
    int arm = -1;

    if (strncmp(name, "user.", 5) == 0 ||
        count_of(&ctx->user_experts, op) >= most)
        return -1;
    return takt__ctx_meet_expert(ctx, model, op, name, &arm) == TAKT_OK ? arm
                                                                        : -1;
}

takt_status takt_ctx_add_expert(takt_ctx *ctx, const takt_op *op,
                                const takt_expert_spec *spec)
{
    char name[TAKT_EXPERT_NAME_MAX];

    ctx = takt__ctx_meant(ctx);
    if (ctx == NULL)
        return TAKT_ENOMEM;
    if (op == NULL || spec == NULL || !takt__ctx_has_op(ctx, op) ||
        takt__op_entry(op)->form == TAKT_FORM_view ||
        !takt__expert_is_name(spec->name, TAKT_GIVEN_NAME_MAX) ||
        (unsigned)spec->backend > TAKT_BACKEND_GPU)
        return TAKT_EINVAL;
    snprintf(name, sizeof name, "user.%s", spec->name);
    struct takt_model *model = takt__learner_enter(ctx->learner);
    const takt_status status =
        takt__ctx_enlist_expert(ctx, model, op, name, spec);
    if (status == TAKT_OK)
        takt__learner_claim(ctx->learner);
    takt__learner_leave(ctx->learner);
    return status;
}
