/* SPDX-License-Identifier: MIT */
/* record.c - fills the cell of a call. */
#include "record.h"

#include "effect.h"
#include "guard.h"
#include "stats_write.h"
#include "switchback.h"

_Thread_local uint64_t takt__recorded_ns;

static uint64_t ns_of(double seconds)
{
    return seconds > 0 && seconds < 1e9 ? (uint64_t)(seconds * 1e9 + 0.5) : 0;
}

static struct takt_stats_cell *cell_of(const struct takt_intercept *intercept)
{
    return takt__stats_cell(intercept->routine, intercept->type,
                            intercept->work);
}

enum takt_destination takt__destination_of(const struct takt_route *route,
                                           const takt_decision *decision)
{
    if (decision->backend == TAKT_BACKEND_GPU)
        return TAKT_DESTINATION_GPU;
    if (takt__is_baseline_expert(route, decision->expert))
        return TAKT_DESTINATION_BASELINE;
    return decision->backend == TAKT_BACKEND_SCALAR ? TAKT_DESTINATION_SCALAR
                                                    : TAKT_DESTINATION_SIMD;
}

void takt__record_pass(const struct takt_intercept *intercept, uint64_t ns)
{
    struct takt_stats_cell *cell = cell_of(intercept);

    takt__recorded_ns += ns;
    takt__stats_run(cell, TAKT_DESTINATION_PASS_THROUGH, ns);
    if (ns > 0) {
        takt__stats_span(intercept->start_ns, intercept->start_ns + ns);
        takt__stats_time(TAKT_TRACK_BASELINE, intercept->start_ns,
                         intercept->start_ns + ns, intercept->weight);
    }
    takt__stats_add(&cell->why[intercept->why], 1);
}

/* As in the mean of the baseline library, a call that takes far longer than
 * others of its kind counts as three times the mean: another process had the
 * processor, or this one was stopped. */
static uint64_t typical(const struct takt_kind *kind, double work, uint64_t ns)
{
    const double control = (double)atomic_load(&kind->control);
    const double routed = (double)atomic_load(&kind->routed);
    const double most = 3 * work * (control > routed ? control : routed);

    return routed > 0 && (double)ns > most ? (uint64_t)most : ns;
}

/* With what the baseline library took for calls of this kind. */
static void compare(const struct takt_intercept *intercept,
                    struct takt_stats_cell *cell, uint64_t ns)
{
    const struct takt_kind *kind = intercept->kind;
    const double control =
        kind == NULL ? 0 : (double)atomic_load(&kind->control);

    if (!(control > 0))
        return;
    takt__stats_add(&cell->compared, 1);
    takt__stats_add(&cell->baseline_ns, (uint64_t)(control * intercept->work));
    takt__stats_add(&cell->error_ns,
                    (uint64_t)((double)atomic_load(&kind->control_error) *
                               intercept->work));
    takt__stats_add(&cell->instead_ns, typical(kind, intercept->work, ns));
}

/* Mostly nothing: calls on the CPU neither move anything nor wait. */
static void add_part(_Atomic uint64_t *at, double seconds)
{
    if (seconds > 0)
        takt__stats_add(at, ns_of(seconds));
}

static enum takt_track track_of(enum takt_destination destination)
{
    return destination == TAKT_DESTINATION_GPU        ? TAKT_TRACK_GPU
           : destination == TAKT_DESTINATION_BASELINE ? TAKT_TRACK_BASELINE
                                                      : TAKT_TRACK_CPU;
}

void takt__record(const struct takt_intercept *intercept,
                  enum takt_destination destination,
                  const struct takt_taken *taken,
                  const struct takt_forecast *forecast, enum takt_why why)
{
    struct takt_stats_cell *cell = cell_of(intercept);
    const uint64_t ns = taken->end_ns - taken->start_ns;

    takt__recorded_ns += ns;
    takt__stats_run(cell, destination, ns);
    takt__stats_span(taken->start_ns, taken->end_ns);
    takt__stats_time(track_of(destination), taken->start_ns, taken->end_ns, 1);
    add_part(&cell->transfer_ns, taken->transfer_s);
    add_part(&cell->wait_ns, taken->wait_s);
    if (destination != TAKT_DESTINATION_BASELINE)
        compare(intercept, cell, ns);
    if (destination == TAKT_DESTINATION_GPU)
        return;
    takt__stats_add(&cell->why[why], 1);
    if (forecast->gpu_s > 0 &&
        (why == TAKT_WHY_SLOWER || why == TAKT_WHY_ASLEEP)) {
        takt__stats_add(&cell->judged, 1);
        takt__stats_add(&cell->gpu_ns, ns_of(forecast->gpu_s));
        takt__stats_add(&cell->own_ns, ns);
    }
}

/* Why not on a GPU. */
static enum takt_why why_on_cpu(const takt_decision *decision,
                                const struct takt_forecast *forecast)
{
    if (!forecast->has_gpu)
        return TAKT_WHY_NO_GPU;
    switch (decision->reason) {
    case TAKT_REASON_EXPLORE:
        return TAKT_WHY_TRIED;
    case TAKT_REASON_FALLBACK:
        return TAKT_WHY_LOST;
    case TAKT_REASON_STATIC:
    case TAKT_REASON_FORCED:
    case TAKT_REASON_PINNED:
        return TAKT_WHY_POLICY;
    case TAKT_REASON_PRIOR:
    case TAKT_REASON_ONLY:
    case TAKT_REASON_MODEL:
        break;
    }
    return forecast->is_suspect  ? TAKT_WHY_LOST
           : forecast->is_asleep ? TAKT_WHY_ASLEEP
                                 : TAKT_WHY_SLOWER;
}

void takt__record_routed(const struct takt_route *route,
                         const struct takt_intercept *intercept,
                         const takt_call *call, const takt_decision *decision,
                         uint64_t start_ns, uint64_t end_ns)
{
    const struct takt_forecast forecast =
        takt__forecast_call(route, intercept, call);

    const struct takt_taken taken = {start_ns, end_ns, decision->transfer_s,
                                     decision->wait_s};

    takt__record(intercept, takt__destination_of(route, decision), &taken,
                 &forecast, why_on_cpu(decision, &forecast));
}

void takt__record_side(const struct takt_intercept *intercept,
                       enum takt_side side, uint64_t start_ns, uint64_t end_ns)
{
    if (intercept->kind == NULL)
        return;
    const bool is_off = takt__effect_is_off();
    takt__switchback_add(
        &(struct takt_switchback_call){.kind = intercept->kind,
                                       .side = side,
                                       .is_gpu = intercept->is_gpu,
                                       .is_trial = intercept->is_trial,
                                       .is_off = is_off,
                                       .work = intercept->work,
                                       .weight = intercept->weight,
                                       .start_ns = start_ns,
                                       .end_ns = end_ns});
    if (intercept->work > takt__least_step_work)
        takt__effect_add(intercept->kind, intercept->work, start_ns, end_ns);
}

void takt__record_learned(const struct takt_route *route,
                          const takt_measurement *measurement)
{
    struct takt_cancel cancel;

    if (!takt__guard_enter_libtakt(&cancel))
        return;
    route->takt->record(route->ctx, measurement);
    takt__guard_leave_libtakt(cancel);
}
