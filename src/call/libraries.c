/* SPDX-License-Identifier: MIT */
/* libraries.c - other people's BLAS libraries join a context. */
#include "call/libraries.h"

#include <stdio.h>
#include <strings.h>

#include "base/fpenv.h"
#include "base/library.h"

static void describe(takt_ctx *ctx)
{
    for (size_t i = 0; i < ctx->fleet.blas_count; i++)
        snprintf(ctx->library[i], sizeof ctx->library[i], "%s %s (%s)",
                 ctx->fleet.blas[i].name, ctx->fleet.blas[i].version,
                 ctx->fleet.blas[i].path);
}

/* With the learner's lock. */
static void join(takt_ctx *ctx, struct takt_model *model,
                 const struct takt_blas *libraries, size_t count)
{
    const unsigned first = takt__fleet_known(&ctx->fleet);

    takt__fleet_add_libraries(&ctx->fleet, libraries, count);
    describe(ctx);
    takt__ctx_teach_libraries(ctx, model, first);
    takt__learner_claim(ctx->learner);
    atomic_store(&ctx->may_open_libraries, false);
}

/* The libraries are opened without the learner's lock: a fork() takes the
 * locks of both in another order. Who finds that somebody else was faster has
 * opened what was open, and closes it again. */
void takt__ctx_open_libraries(takt_ctx *ctx)
{
    struct takt_blas found[TAKT_BLAS_MAX];
    fenv_t fpenv;

    if (!atomic_load(&ctx->may_open_libraries))
        return;
    takt__fpenv_leave(&fpenv);
    const size_t count = takt__fleet_open_libraries(&ctx->fleet, found);
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
    if (op == NULL || (!op->is_user && takt__library_can_run(takt__op_id(op))))
        takt__ctx_open_libraries(ctx);
}

void takt__ctx_open_named(takt_ctx *ctx, const char *expert)
{
    if (strncasecmp(expert, "blas.", 5) == 0)
        takt__ctx_open_libraries(ctx);
}

/* ---- questions -------------------------------------------------------------
 */

/* The context that is meant, with its libraries open; NULL: there is none. */
static const takt_ctx *open_for_question(const takt_ctx *ctx)
{
    takt_ctx *meant = takt__ctx_meant(ctx);

    if (meant != NULL)
        takt__ctx_open_libraries(meant);
    return meant;
}

const char *takt_ctx_expert(const takt_ctx *ctx, size_t index,
                            takt_backend *backend)
{
    ctx = open_for_question(ctx);
    if (ctx == NULL || index >= takt__fleet_known(&ctx->fleet))
        return NULL;
    if (backend != NULL)
        *backend = ctx->fleet.expert[index].backend;
    return ctx->fleet.expert[index].name;
}

const char *takt_ctx_library(const takt_ctx *ctx, size_t index)
{
    ctx = open_for_question(ctx);
    return ctx != NULL && index < ctx->fleet.blas_count ? ctx->library[index]
                                                        : NULL;
}

const char *takt_ctx_library_problem(const takt_ctx *ctx)
{
    ctx = open_for_question(ctx);
    if (ctx == NULL || ctx->fleet.blas_count > 0)
        return NULL;
    const char *asked = ctx->fleet.blas_file;
    if (asked != NULL && asked[0] == '\0')
        return "none is wanted";
    return takt__is_static() ? "a static program loads none" : "none was found";
}
