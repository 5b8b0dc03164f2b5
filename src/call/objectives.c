/* SPDX-License-Identifier: MIT */
/* objectives.c - the objectives of a context. */
#include <string.h>

#include "base/config.h"
#include "base/log.h"
#include "base/say.h"
#include "call/objective.h"

/* Never a guess from a data sheet: without watts there is no answer. */
takt_status takt__objective_allowed(const struct takt_objective *objective,
                                    const struct takt_model *model,
                                    takt_diag *diag)
{
    if (!takt__objective_uses_energy(objective) ||
        takt__model_knows_watts(model))
        return TAKT_OK;
    return takt__say(diag, TAKT_ENOTSUP,
                     "energy cannot be measured here: the power of no expert "
                     "is known; use time, p95, p99, p999 or throughput");
}

static void keep(takt_ctx *ctx, unsigned number,
                 const struct takt_objective *objective)
{
    takt__objective_print(objective, ctx->objective[number]);
    if (objective->goal == TAKT_MEASURE_THROUGHPUT)
        ctx->counts_callers |= 1u << number;
}

static takt_status set(takt_ctx *ctx, const char *text, takt_diag *diag)
{
    struct takt_objective objective = {0};
    takt_status status = text == NULL || text[0] == '\0'
                             ? TAKT_OK
                             : takt__objective_parse(text, &objective, diag);

    if (status != TAKT_OK)
        return status;
    /* Power may be known from the store, which takes a while to read. */
    struct takt_model *model = takt__objective_uses_energy(&objective)
                                   ? takt__learner_enter(ctx->learner)
                                   : takt__learner_enter_early(ctx->learner);
    status = takt__objective_allowed(&objective, model, diag);
    if (status == TAKT_OK) {
        takt__model_set_objective(model, &objective);
        keep(ctx, 0, &objective);
        atomic_store(&ctx->objective_count, 1);
    }
    takt__learner_leave(ctx->learner);
    return status;
}

takt_status takt__ctx_set_objective(takt_ctx *ctx, const char *text)
{
    const char *named = takt__config()->objective;
    takt_diag diag;

    if (text != NULL)
        return set(ctx, text, NULL);
    if (set(ctx, named, &diag) == TAKT_OK)
        return TAKT_OK;
    takt__log(TAKT_LOG_ERROR, "TAKT_OBJECTIVE=%.200s is ignored: %s", named,
              diag.text);
    return set(ctx, "time", NULL);
}

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
    keep(ctx, number, objective);
    atomic_store(&ctx->objective_count, number + 1);
    *out = number;
    return TAKT_OK;
}

takt_status takt_ctx_add_objective(takt_ctx *ctx, const char *text,
                                   unsigned *number, takt_diag *diag)
{
    struct takt_objective objective;

    if (text == NULL || number == NULL)
        return takt__say(diag, TAKT_EINVAL, "there is no text, or no place for "
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
