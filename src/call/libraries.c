/* SPDX-License-Identifier: MIT */
/* libraries.c - other people's BLAS libraries become experts of a context. */
#include "call/libraries.h"

#include <stdio.h>
#include <strings.h>

#include "base/fpenv.h"
#include "call/learning.h"

static void describe(takt_ctx *ctx)
{
    for (size_t i = 0; i < ctx->experts.blas_count; i++)
        snprintf(ctx->library[i], sizeof ctx->library[i], "%s %s (%s)",
                 ctx->experts.blas[i].name, ctx->experts.blas[i].version,
                 ctx->experts.blas[i].path);
}

/* With the learner's lock. */
static void join(takt_ctx *ctx, struct takt_model *model,
                 const struct takt_blas *libraries, size_t count)
{
    const unsigned first = takt__experts_known(&ctx->experts);

    takt__experts_add_libraries(&ctx->experts, libraries, count);
    describe(ctx);
    takt__ctx_learn_libraries(ctx, model, first);
    takt__learner_claim(ctx->learner);
    atomic_store(&ctx->may_open_libraries, false);
}

/* The libraries are opened without the learner's lock: a fork() takes the
 * locks of both in another order. A thread that finds them open by then closes
 * its own again. */
void takt__ctx_open_libraries(takt_ctx *ctx)
{
    struct takt_blas found[TAKT_BLAS_MAX];
    fenv_t fpenv;

    if (!atomic_load(&ctx->may_open_libraries))
        return;
    takt__fpenv_leave(&fpenv);
    const size_t count = takt__experts_open_libraries(&ctx->experts, found);
    struct takt_model *model = takt__learner_enter_early(ctx->learner);
    const bool is_first = atomic_load(&ctx->may_open_libraries);
    if (is_first)
        join(ctx, model, found, count);
    takt__learner_leave(ctx->learner);
    for (size_t i = 0; i < count && !is_first; i++)
        takt__blas_close(&found[i]);
    takt__fpenv_return(&fpenv);
}

void takt__ctx_open_libraries_for(takt_ctx *ctx, const takt_op *op)
{
    if (op == NULL || takt__library_runs(op))
        takt__ctx_open_libraries(ctx);
}

void takt__ctx_open_named(takt_ctx *ctx, const char *expert)
{
    if (strncasecmp(expert, "blas.", 5) == 0)
        takt__ctx_open_libraries(ctx);
}
