/* SPDX-License-Identifier: MIT */
/* intercept_triangular.c - when a triangle is cut, and where its parts run. */
#include "intercepted.h"

#include "admit.h"
#include "baseline_call.h"
#include "forecast.h"
#include "mode.h"
#include "record.h"
#include "router.h"

/* A triangular call while it runs. */
struct progress {
    const struct takt_route *route;
    bool has_stats, used_gpu, used_other; /* than the baseline library */
};

static void run_product(void *self, const struct takt_product *product)
{
    struct progress *progress = self;
    const struct takt_route *route = progress->route;
    const takt_call call = takt__product_call(route, product);
    takt_decision decision = {.size = sizeof decision};

    if (route->takt->run(route->ctx, &call,
                         progress->has_stats ? &decision : NULL) != TAKT_OK) {
        takt__baseline_product(route->baseline, product);
    } else if (progress->has_stats) {
        const enum takt_path path = takt__path_of(route, &decision);
        progress->used_gpu |= path == TAKT_PATH_GPU;
        progress->used_other |= path != TAKT_PATH_BASELINE;
    }
}

static void run_rest(void *self, const struct takt_triangular *part)
{
    const struct progress *progress = self;

    takt__baseline_triangular(progress->route->baseline, part);
}

/* The product that the first cut makes. */
static takt_shape first_product(const struct takt_triangular *call)
{
    const size_t half = takt__triangle_order(call) / 2;

    if (takt__writes_triangle(call))
        return (takt_shape){.rank = 3, .dim = {half, half, call->k}};
    if (call->is_right)
        return (takt_shape){.rank = 3, .dim = {call->m, half, half}};
    return (takt_shape){.rank = 3, .dim = {half, call->n, half}};
}

/* The parts that stay are slower by themselves than as a whole, so the products
 * must be much faster elsewhere. A GPU that sleeps counts: what the products
 * miss there is what wakes it. */
static bool is_worth_cutting(const struct takt_forecast *forecast)
{
    return takt__is_eager() || (forecast->baseline_s > 0 &&
                                forecast->best_s < 0.5 * forecast->baseline_s);
}

static void record(const struct takt_intercept *intercept,
                   const struct progress *progress,
                   const struct takt_forecast *forecast, double seconds)
{
    takt__record(intercept,
                 progress->used_gpu     ? TAKT_PATH_GPU
                 : progress->used_other ? TAKT_PATH_SIMD
                                        : TAKT_PATH_BASELINE,
                 seconds, forecast,
                 !forecast->has_gpu    ? TAKT_WHY_NO_GPU
                 : forecast->is_asleep ? TAKT_WHY_ASLEEP
                                       : TAKT_WHY_SLOWER);
}

static void run(const struct takt_intercept *intercept,
                const struct takt_route *route,
                const struct takt_triangular *call,
                const struct takt_forecast *forecast)
{
    struct progress progress = {route, takt__has_stats(), false, false};
    const struct takt_steps steps = {
        .self = &progress,
        .product = run_product,
        .rest = run_rest,
        .least = takt__is_eager() ? 8 : TAKT_LEAST_ORDER};
    const uint64_t start_ns = progress.has_stats ? takt__now_ns() : 0;

    takt__by_halves(call, &steps);
    if (progress.has_stats)
        record(intercept, &progress, forecast,
               (double)(takt__now_ns() - start_ns) * 1e-9);
}

bool takt__route_triangular(struct takt_intercept *intercept,
                            const struct takt_arguments *arguments)
{
    struct takt_admission admission;
    struct takt_triangular call;
    struct takt_forecast forecast;

    if (!takt__read_triangular(arguments, &call))
        return false;
    intercept->why = TAKT_WHY_EMPTY;
    if (call.alpha == 0)
        return false;
    if (takt__triangle_order(&call) < TAKT_LEAST_ORDER && !takt__is_eager()) {
        intercept->why = TAKT_WHY_SMALL;
        return false;
    }
    if (!takt__admit_intercept(intercept, TAKT_GEMM, TAKT_LEAST_PRODUCT,
                               &admission) ||
        admission.route->baseline->function[call.routine][call.is_double] ==
            NULL)
        return false;
    takt_request request = {.op = admission.route->op[TAKT_GEMM],
                            .dtype = call.is_double ? TAKT_F64 : TAKT_F32,
                            .shape = first_product(&call)};
    takt__forecast(admission.route, &request, &forecast);
    const bool is_baseline = !is_worth_cutting(&forecast);
    takt__admission_answered(&admission, intercept, is_baseline);
    if (is_baseline) {
        intercept->why = TAKT_WHY_SETTLED;
        return false;
    }
    const size_t *dim = request.shape.dim;
    forecast = takt__forecast_scaled(
        forecast,
        intercept->work / ((double)dim[0] * (double)dim[1] * (double)dim[2]));
    run(intercept, admission.route, &call, &forecast);
    return true;
}
