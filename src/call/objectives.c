/* SPDX-License-Identifier: MIT */
/* objectives.c - objectives that are added to a context. */
#include <string.h>

#include "base/say.h"
#include "call/objective.h"

/* The number of an objective that the context has; -1: it has not. */
static int find(const takt_ctx *ctx, const struct takt_objective *objective)
{
    char text[TAKT_OBJECTIVE_MAX];

    takt__objective_print(objective, text);
    for (unsigned i = 0; i < atomic_load(&ctx->objective_count); i++)
        if (strcmp(text, ctx->objective[i]) == 0)
            return (int)i;
    return -1;
}

/* The table is ready before a call can name the objective. */
static takt_status add(takt_ctx *ctx, struct takt_model *model,
                       const struct takt_objective *objective, unsigned *out)
{
    const int found = find(ctx, objective);
    const unsigned number = takt__model_objective_count(model);

    if (found >= 0) {
        *out = (unsigned)found;
        return TAKT_OK;
    }
    if (number == TAKT_OBJECTIVES)
        return TAKT_EFULL;
    if (takt__table_add(&ctx->decider.table, number) != TAKT_OK)
        return TAKT_ENOMEM;
    takt__model_add_objective(model, objective);
    takt__ctx_keep_objective(ctx, number, objective);
    atomic_store(&ctx->objective_count, number + 1);
    *out = number;
    return TAKT_OK;
}

takt_status takt_ctx_add_objective(takt_ctx *ctx, const char *text,
                                   unsigned *number, takt_diag *diag)
{
    struct takt_objective objective;

    if (text == NULL || number == NULL)
        return takt__say(diag, TAKT_EINVAL,
                         "there is no text, or no place for "
                         "the number");
    takt_status status = takt__objective_parse(text, &objective, diag);
    if (status != TAKT_OK)
        return status;
    ctx = takt__ctx_or_default(ctx);
    if (ctx == NULL)
        return TAKT_ENOMEM;
    struct takt_model *model = takt__learner_enter(ctx->learner);
    status = takt__objective_allowed(&objective, model, diag);
    if (status == TAKT_OK)
        status = add(ctx, model, &objective, number);
    takt__learner_leave(ctx->learner);
    if (status == TAKT_EFULL)
        takt__say(diag, status, "a context has at most %d objectives",
                  TAKT_OBJECTIVES);
    return status;
}

const char *takt_ctx_objective(const takt_ctx *ctx, unsigned number)
{
    ctx = takt__ctx_or_default(ctx);
    return ctx == NULL || number >= atomic_load(&ctx->objective_count)
               ? NULL
               : ctx->objective[number];
}
