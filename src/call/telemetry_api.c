/* SPDX-License-Identifier: MIT */
/* telemetry_api.c - the public functions on telemetry. */
#include <math.h>

#include "base/sized.h"
#include "call/telemetry.h"

takt_status takt_ctx_add_sink(takt_ctx *ctx, const takt_sink *sink)
{
    takt_sink copy;

    if (sink == NULL || !takt__sized_read(sink, &copy))
        return TAKT_EINVAL;
    ctx = takt__ctx_or_default(ctx);
    return ctx == NULL ? TAKT_ENOMEM : takt__ctx_add_sink(ctx, &copy);
}

takt_status takt_ctx_export(takt_ctx *ctx, const takt_otlp_options *options,
                            takt_diag *diag)
{
    takt_otlp_options copy = {.size = sizeof copy};

    if (options != NULL && !takt__sized_read(options, &copy))
        return TAKT_EINVAL;
    ctx = takt__ctx_or_default(ctx);
    if (ctx == NULL)
        return TAKT_ENOMEM;
    takt__section_begin();
    const takt_status status = takt__ctx_export(ctx, &copy, diag);
    takt__section_end();
    return status;
}

takt_status takt_ctx_trace(takt_ctx *ctx, const takt_trace_options *options)
{
    takt_trace_options copy = {0};

    if ((options != NULL && !takt__sized_read(options, &copy)) ||
        isnan(copy.threshold_s) || isnan(copy.rate) || isnan(copy.hot_rate))
        return TAKT_EINVAL;
    ctx = takt__ctx_or_default(ctx);
    if (ctx == NULL)
        return TAKT_ENOMEM;
    const struct takt_tap_settings settings = takt__telemetry_settings(&copy);
    takt__dispatcher_set(ctx->dispatcher, &settings);
    return TAKT_OK;
}

takt_status takt_ctx_telemetry(takt_ctx *ctx, takt_telemetry *out)
{
    takt_telemetry found = {0};

    if (out == NULL || !takt__sized_fits(out))
        return TAKT_EINVAL;
    takt__sized_fill(out, &found);
    ctx = takt__ctx_or_default(ctx);
    if (ctx == NULL)
        return TAKT_ENOMEM;
    takt__dispatcher_report(ctx->dispatcher, &found);
    takt__lock(&ctx->export_lock);
    found.diag = ctx->export_problem;
    takt__unlock(&ctx->export_lock);
    takt__sized_fill(out, &found);
    return TAKT_OK;
}
