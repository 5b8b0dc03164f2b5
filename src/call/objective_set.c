/* SPDX-License-Identifier: MIT */
/* objective_set.c - the objective that a context is made with. */
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
                     "is known; where 'takt machine' lists counters, run with "
                     "TAKT_ENERGY=1 for half a minute first; or use time, p95, "
                     "p99, p999 or throughput");
}

void takt__ctx_keep_objective(takt_ctx *ctx, unsigned number,
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
        takt__ctx_keep_objective(ctx, 0, &objective);
        atomic_store(&ctx->objective_count, 1);
    }
    takt__learner_leave(ctx->learner);
    return status;
}

bool takt__objective_wants_energy(const char *text)
{
    struct takt_objective objective;
    const char *named = text != NULL ? text : takt__config()->objective;

    return named != NULL &&
           takt__objective_parse(named, &objective, NULL) == TAKT_OK &&
           takt__objective_uses_energy(&objective);
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
