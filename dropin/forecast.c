/* SPDX-License-Identifier: MIT */
/* forecast.c - what the model of a context expects. */
#include "forecast.h"

#include "guard.h"

static void add_gpu(struct takt_forecast *out, const takt_estimate *estimate,
                    double total_s)
{
    if (out->has_gpu && total_s >= out->gpu_s)
        return;
    out->has_gpu = true;
    out->gpu_s = total_s;
    out->is_asleep = estimate->is_asleep != 0;
    out->is_suspect = estimate->is_suspect != 0;
}

void takt__forecast(const struct takt_route *route, const takt_request *request,
                    struct takt_forecast *out)
{
    enum { most = 64 };
    takt_estimate estimate[most] = {{.size = sizeof estimate[0]}};
    size_t count = 0;
    struct takt_cancel cancel;

    *out = (struct takt_forecast){0};
    if (!takt__guard_enter_libtakt(&cancel))
        return;
    const takt_status status =
        route->takt->explain(route->ctx, request, estimate, most, &count);
    takt__guard_leave_libtakt(cancel);
    if (status != TAKT_OK)
        return;
    for (size_t i = 0; i < count && i < most; i++) {
        const takt_estimate *at = &estimate[i];
        const double total_s =
            at->predicted_s + at->transfer_s + at->queue_s + at->switch_s;
        if (!(at->predicted_s > 0))
            continue;
        if (takt__is_baseline_expert(route, at->expert))
            out->baseline_s = total_s;
        if (at->backend == TAKT_BACKEND_GPU)
            add_gpu(out, at, total_s);
        if (at->is_suspect == 0 && (out->best_s <= 0 || total_s < out->best_s))
            out->best_s = total_s;
    }
}

struct takt_forecast takt__forecast_scaled(struct takt_forecast forecast,
                                           double scale)
{
    forecast.baseline_s *= scale;
    forecast.best_s *= scale;
    forecast.gpu_s *= scale;
    return forecast;
}

/* ---- of intercepted calls ------------------------------------------------ */

/* Calls that a forecast is for. */
struct forecast_kind {
    const struct takt_route *route;
    enum takt_routine routine;
    enum takt_blas_type type;
    unsigned class;
};

static bool is_same(const struct forecast_kind *a,
                    const struct forecast_kind *b)
{
    return a->route == b->route && a->routine == b->routine &&
           a->type == b->type && a->class == b->class;
}

struct takt_forecast takt__forecast_call(const struct takt_route *route,
                                         const struct takt_intercept *intercept,
                                         const takt_call *call)
{
    enum { kinds = 8, good_for = 64 };
    static _Thread_local struct {
        struct forecast_kind kind;
        unsigned uses;
        double work;
        struct takt_forecast forecast;
    } known[kinds], *at;
    const struct forecast_kind kind = {route, intercept->routine,
                                       intercept->type,
                                       takt__exponent(intercept->work)};

    at = &known[(kind.class * 31 + kind.routine * 5 + kind.type) % kinds];
    if (!is_same(&at->kind, &kind) || at->uses++ == good_for) {
        const takt_request request = takt__request_of(call);
        at->kind = kind;
        at->uses = 0;
        at->work = intercept->work;
        takt__forecast(route, &request, &at->forecast);
    }
    return takt__forecast_scaled(at->forecast, intercept->work / at->work);
}
