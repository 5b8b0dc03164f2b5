/* SPDX-License-Identifier: MIT */
/* ctx.c - making and unmaking a context. */
#include "call/ctx.h"

#include <stdlib.h>

/* A copy that went through the setter is a valid one. */
static takt_status copy_cost(takt_cost_model *to, const takt_cost_model *from)
{
    *to = takt_cost_model_default();
    if (from == NULL)
        return TAKT_OK;
    return takt_cost_model_set(to, from->pcie_bandwidth, from->gpu_flops,
                               from->dispatch_ratio);
}

takt_status takt_ctx_create(const takt_ctx_options *options, takt_ctx **out)
{
    static const takt_ctx_options usual = {0};
    takt_cost_model cost;

    *out = NULL;
    if (options == NULL)
        options = &usual;
    takt_status status = copy_cost(&cost, options->cost);
    if (status != TAKT_OK)
        return status;

    takt_ctx *ctx = calloc(1, sizeof *ctx);
    if (ctx == NULL)
        return TAKT_ENOMEM;
    ctx->cost = cost;
    status = takt_machine_create(options->recording, &ctx->machine);
    if (status == TAKT_OK)
        status = takt__user_ops_init(&ctx->user_ops);
    if (status != TAKT_OK) {
        takt_machine_destroy(ctx->machine);
        free(ctx);
        return status;
    }
    *out = ctx;
    return TAKT_OK;
}

void takt_ctx_destroy(takt_ctx *ctx)
{
    if (ctx == NULL)
        return;
    takt__user_ops_fini(&ctx->user_ops);
    takt_machine_destroy(ctx->machine);
    free(ctx);
}

const takt_machine *takt_ctx_machine(const takt_ctx *ctx)
{
    return ctx->machine;
}

takt_status takt_ctx_define_op(takt_ctx *ctx, const takt_op_spec *spec,
                               const takt_op **out)
{
    return takt__user_ops_define(&ctx->user_ops, spec, out);
}

const takt_op *takt_ctx_find_op(takt_ctx *ctx, const char *name)
{
    if (name == NULL)
        return NULL;
    const takt_op *op = takt_op_find(name);
    return op != NULL ? op : takt__user_ops_find(&ctx->user_ops, name);
}
