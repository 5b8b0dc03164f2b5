/* SPDX-License-Identifier: MIT */
/* telemetry_api.c - the public functions on telemetry. */
#include <math.h>

#include "call/telemetry.h"

takt_status takt_ctx_add_sink(takt_ctx *ctx, const takt_sink *sink)
{
    if (sink == NULL)
        return TAKT_EINVAL;
    ctx = takt__ctx_or_default(ctx);
    return ctx == NULL ? TAKT_ENOMEM : takt__ctx_add_sink(ctx, sink);
}

takt_status takt_ctx_export(takt_ctx *ctx, const takt_otlp_options *options,
                            takt_diag *diag)
{
    static const takt_otlp_options defaults = {0};

    ctx = takt__ctx_or_default(ctx);
    if (ctx == NULL)
        return TAKT_ENOMEM;
    takt__section_begin();
    const takt_status status =
        takt__ctx_export(ctx, options != NULL ? options : &defaults, diag);
    takt__section_end();
    return status;
}

takt_status takt_ctx_trace(takt_ctx *ctx, const takt_trace_options *options)
{
    if (options != NULL && (isnan(options->threshold_s) ||
                            isnan(options->rate) || isnan(options->hot_rate)))
        return TAKT_EINVAL;
    ctx = takt__ctx_or_default(ctx);
    if (ctx == NULL)
        return TAKT_ENOMEM;
    const struct takt_tap_settings settings = takt__telemetry_settings(options);
    takt__dispatcher_set(ctx->dispatcher, &settings);
    return TAKT_OK;
}

takt_status takt_ctx_telemetry(takt_ctx *ctx, takt_telemetry *out)
{
    if (out == NULL)
        return TAKT_EINVAL;
    *out = (takt_telemetry){0};
    ctx = takt__ctx_or_default(ctx);
    if (ctx == NULL)
        return TAKT_ENOMEM;
    takt__dispatcher_report(ctx->dispatcher, out);
    takt__lock(&ctx->export_lock);
    out->diag = ctx->export_problem;
    takt__unlock(&ctx->export_lock);
    return TAKT_OK;
}
