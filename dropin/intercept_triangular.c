/* SPDX-License-Identifier: MIT */
/*
 * intercept_triangular.c - when a triangular call is cut.
 *
 * A large one is cut in halves where the model says that the products are much
 * faster elsewhere. On the routed side syrk, of any size, is cut into products
 * altogether.
 */
#include "intercepted.h"

#include "admit.h"
#include "forecast.h"
#include "guard.h"
#include "mode.h"
#include "record.h"
#include "triangular_run.h"

/* Below this order syrk is passed through. */
enum { least_rank_order = 32 };

/* A call on its way. */
struct subject {
    struct takt_intercept *intercept;
    const struct takt_route *route;
    const struct takt_triangular *call;
};

/* Of the first product, and scaled to the whole call. */
static struct takt_forecast forecast_of(const struct subject *of)
{
    const takt_call product = {.op = of->route->op[TAKT_GEMM],
                               .dtype =
                                   of->call->is_double ? TAKT_F64 : TAKT_F32,
                               .shape = takt__first_product(of->call)};
    const size_t *dim = product.shape.dim;

    return takt__forecast_scaled(
        takt__forecast_call(of->route, of->intercept, &product),
        of->intercept->work /
            ((double)dim[0] * (double)dim[1] * (double)dim[2]));
}

static void record(const struct subject *of, const struct takt_parts *parts,
                   const struct takt_forecast *forecast, uint64_t start_ns,
                   uint64_t end_ns)
{
    const struct takt_taken taken = {start_ns, end_ns, parts->transfer_s,
                                     parts->wait_s};

    takt__record(of->intercept,
                 parts->used_gpu     ? TAKT_DESTINATION_GPU
                 : parts->used_other ? TAKT_DESTINATION_SIMD
                                     : TAKT_DESTINATION_BASELINE,
                 &taken, forecast,
                 !forecast->has_gpu    ? TAKT_WHY_NO_GPU
                 : forecast->is_asleep ? TAKT_WHY_ASLEEP
                                       : TAKT_WHY_SLOWER);
}

/* ---- in halves ----------------------------------------------------------- */

/* The parts that stay are slower by themselves than as a whole, so the products
 * must be much faster elsewhere. A GPU that sleeps counts: what the products
 * miss there is what wakes it. */
static bool is_worth_halving(const struct takt_forecast *forecast)
{
    return takt__mode_has(TAKT_MODE_EAGER) ||
           (forecast->baseline_s > 0 &&
            forecast->best_s < 0.5 * forecast->baseline_s);
}

static void work_by_halves(const struct subject *of, struct takt_parts *parts)
{
    takt__work_begin(of->intercept);
    takt__run_halves(parts, of->call,
                     takt__mode_has(TAKT_MODE_EAGER) ? 8 : TAKT_LEAST_ORDER);
    takt__work_end(of->intercept);
}

static bool work_as_products(const struct subject *of, struct takt_parts *parts)
{
    takt__work_begin(of->intercept);
    const bool is_done = takt__run_as_products(parts, of->call);
    takt__work_end(of->intercept);
    return is_done;
}

static void run_halves(const struct subject *of,
                       const struct takt_forecast *forecast)
{
    struct takt_parts parts = {.route = of->route,
                               .expert = TAKT_ANY_EXPERT,
                               .has_stats = takt__mode_has(TAKT_MODE_STATS)};
    const uint64_t start_ns = takt__now_ns();

    work_by_halves(of, &parts);
    const uint64_t end_ns = takt__now_ns();
    takt__record_side(of->intercept, TAKT_SIDE_ROUTED, start_ns, end_ns);
    if (parts.has_stats)
        record(of, &parts, forecast, start_ns, end_ns);
}

/* ---- all of them --------------------------------------------------------- */

static bool is_baseline_selected(const struct subject *of)
{
    const takt_request request = {.policy = of->route->policy,
                                  .op = of->route->op[TAKT_GEMM],
                                  .dtype =
                                      of->call->is_double ? TAKT_F64 : TAKT_F32,
                                  .shape = takt__first_product(of->call)};
    takt_decision decision = {.size = sizeof decision};
    struct takt_cancel cancel;

    if (!takt__guard_enter_libtakt(&cancel))
        return true;
    const takt_status status =
        of->route->takt->select(of->route->ctx, &request, &decision);
    takt__guard_leave_libtakt(cancel);
    return status != TAKT_OK ||
           takt__is_baseline_expert(of->route, decision.expert);
}

/* A static rule, one expert for all, a pin file: nothing may depend on what was
 * measured. Cut where the first product would leave the baseline library. */
static bool run_by_policy(const struct subject *of)
{
    const bool is_rank = of->call->routine == TAKT_SYRK;
    struct takt_parts parts = {.route = of->route,
                               .expert = TAKT_ANY_EXPERT,
                               .has_stats = takt__mode_has(TAKT_MODE_STATS)};
    const uint64_t start_ns = parts.has_stats ? takt__now_ns() : 0;

    if (is_baseline_selected(of))
        return false;
    if (!is_rank)
        work_by_halves(of, &parts);
    else if (!work_as_products(of, &parts))
        return false;
    if (parts.has_stats) {
        const uint64_t end_ns = takt__now_ns();
        const struct takt_forecast forecast = forecast_of(of);
        record(of, &parts, &forecast, start_ns, end_ns);
    }
    return true;
}

/* syrk as products altogether. False: there is no memory for that. */
static bool run_products(const struct subject *of)
{
    struct takt_parts parts = {.route = of->route,
                               .expert = TAKT_ANY_EXPERT,
                               .has_stats = takt__mode_has(TAKT_MODE_STATS)};
    const uint64_t start_ns = takt__now_ns();

    if (!work_as_products(of, &parts))
        return false;
    const uint64_t end_ns = takt__now_ns();
    takt__record_side(of->intercept, TAKT_SIDE_ROUTED, start_ns, end_ns);
    if (parts.has_stats) {
        const struct takt_forecast forecast = forecast_of(of);
        record(of, &parts, &forecast, start_ns, end_ns);
    }
    return true;
}

static bool run(const struct subject *of,
                const struct takt_admission *admission)
{
    if (!of->route->is_adaptive)
        return run_by_policy(of);
    if (of->call->routine == TAKT_SYRK && !takt__mode_has(TAKT_MODE_STEADY))
        return run_products(of);
    if (takt__triangle_order(of->call) >= TAKT_LEAST_ORDER ||
        takt__mode_has(TAKT_MODE_EAGER)) {
        const struct takt_forecast forecast = forecast_of(of);
        if (is_worth_halving(&forecast)) {
            takt__admission_answered(admission, of->intercept, false);
            run_halves(of, &forecast);
            return true;
        }
    }
    takt__admission_answered(admission, of->intercept, true);
    return false;
}

bool takt__route_triangular(struct takt_intercept *intercept,
                            const struct takt_arguments *arguments)
{
    struct takt_admission admission;
    struct takt_triangular call;

    if (!takt__read_triangular(arguments, &call))
        return false;
    intercept->why = TAKT_WHY_EMPTY;
    if (call.alpha == 0)
        return false;
    const size_t least =
        call.routine == TAKT_SYRK ? least_rank_order : TAKT_LEAST_ORDER;
    if (takt__triangle_order(&call) < least &&
        !takt__mode_has(TAKT_MODE_EAGER)) {
        intercept->why = TAKT_WHY_SMALL;
        return false;
    }
    if (!takt__admit_intercept(intercept, TAKT_GEMM, TAKT_LEAST_PRODUCT,
                               &admission) ||
        admission.route->baseline->function[call.routine][call.is_double] ==
            NULL)
        return false;
    intercept->why = TAKT_WHY_SETTLED;
    return run(&(struct subject){intercept, admission.route, &call},
               &admission);
}
