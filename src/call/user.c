/* SPDX-License-Identifier: MIT */
/* user.c - the public functions that add ops and experts to a context. */
#include <stdio.h>

#include "base/sized.h"
#include "call/user_experts.h"

takt_status takt_ctx_define_op(takt_ctx *ctx, const takt_op_spec *spec,
                               const takt_op **out)
{
    takt_op_spec copy;

    if (out == NULL)
        return TAKT_EINVAL;
    *out = NULL;
    if (spec == NULL || !takt__sized_read(spec, &copy))
        return TAKT_EINVAL;
    ctx = takt__ctx_or_default(ctx);
    if (ctx == NULL)
        return TAKT_ENOMEM;
    /* The ops have a lock of their own, which a fork() knows nothing about;
     * but it waits for the learner's. */
    takt__learner_enter(ctx->learner);
    const takt_status status =
        takt__user_ops_define(&ctx->user_ops, &copy, out);
    if (status == TAKT_OK)
        takt__learner_claim(ctx->learner);
    takt__learner_leave(ctx->learner);
    return status;
}

const takt_op *takt_ctx_find_op(takt_ctx *ctx, const char *name)
{
    if (name == NULL)
        return NULL;
    const takt_op *op = takt_op_find(name);
    if (op != NULL)
        return op;
    ctx = takt__ctx_or_default(ctx);
    return ctx == NULL ? NULL : takt__user_ops_find(&ctx->user_ops, name);
}

takt_status takt_ctx_add_expert(takt_ctx *ctx, const takt_op *op,
                                const takt_expert_spec *spec)
{
    char name[TAKT_EXPERT_NAME_MAX];
    takt_expert_spec copy;

    ctx = takt__ctx_or_default(ctx);
    if (ctx == NULL)
        return TAKT_ENOMEM;
    if (op == NULL || spec == NULL || !takt__sized_read(spec, &copy) ||
        !takt__ctx_has_op(ctx, op) ||
        takt__op_entry(op)->form == TAKT_FORM_view ||
        !takt__is_name(copy.name, TAKT_GIVEN_NAME_MAX) ||
        (unsigned)copy.backend > TAKT_BACKEND_GPU)
        return TAKT_EINVAL;
    snprintf(name, sizeof name, "user.%s", copy.name);
    struct takt_model *model = takt__learner_enter(ctx->learner);
    const takt_status status =
        takt__ctx_add_expert(ctx, model, op, name, &copy);
    if (status == TAKT_OK)
        takt__learner_claim(ctx->learner);
    takt__learner_leave(ctx->learner);
    return status;
}
