/* SPDX-License-Identifier: MIT */
/* measure.c - what the courier knows about all calls, told of or not. */
#include <math.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "telemetry/inside.h"

/* ---- the clock of spans ----------------------------------------------------
 */

void takt__span_clock_start(struct takt_span_clock *clock)
{
    struct timespec real;

    clock->first_ns = takt__now_ns();
    clock->first_ticks = takt__ticks();
    clock_gettime(CLOCK_REALTIME, &real);
    clock->since_1970_ns = (int64_t)real.tv_sec * 1000000000 + real.tv_nsec -
                           (int64_t)clock->first_ns;
    clock->ns_per_tick = takt__seconds_per_tick() * 1e9;
}

/* Over a hundredth of a second the rate is better known than from the start of
 * the program. */
void takt__span_clock_set(struct takt_span_clock *clock)
{
    const uint64_t ns = takt__now_ns() - clock->first_ns;
    const uint64_t ticks = takt__ticks() - clock->first_ticks;

    if (ns > 10000000 && ticks > 0)
        clock->ns_per_tick = (double)ns / (double)ticks;
}

uint64_t takt__span_clock_at(const struct takt_span_clock *clock,
                             uint64_t ticks)
{
    const double ns =
        (double)(int64_t)(ticks - clock->first_ticks) * clock->ns_per_tick;

    return clock->first_ns + (uint64_t)(clock->since_1970_ns + (int64_t)ns);
}

/* ---- what callers are told -------------------------------------------------
 */

void takt__courier_adjust(struct takt_courier *courier)
{
    const struct takt_tap_settings *settings = &courier->settings;
    struct takt_tap *tap = courier->tap;
    bool is_all = settings->is_debugging, is_any = false;

    atomic_store(&courier->is_debugging, settings->is_debugging);
    if (tap == NULL)
        return;
    for (unsigned i = 0; i < TAKT_MAX_SINKS; i++) {
        is_any |= courier->seat[i].is_taken;
        is_all |=
            courier->seat[i].is_taken && courier->seat[i].sink.wants_all != 0;
    }
    const double ticks = settings->threshold_s / takt__seconds_per_tick();
    atomic_store(&tap->threshold, ticks < 1e18 ? (uint64_t)ticks : UINT64_MAX);
    atomic_store(&tap->share, (uint64_t)(settings->rate * 4294967296.0));
    atomic_store(&tap->is_all, is_all);
    atomic_store(&courier->is_shown, is_any);
    courier->names.show(courier->names.self, is_any ? tap : NULL);
}

void takt__courier_set(struct takt_courier *courier,
                       const struct takt_tap_settings *settings)
{
    takt__lock(&courier->lock);
    courier->settings = *settings;
    takt__courier_adjust(courier);
    takt__unlock(&courier->lock);
}

static void begin(struct takt_courier *courier)
{
    memset(&courier->window, 0, sizeof courier->window);
    memset(courier->calls, 0, sizeof courier->calls);
    takt__meters_clear(&courier->meters);
    takt__span_clock_start(&courier->clock);
    courier->begun_ns = takt__now_ns();
    courier->next_slide_ns = 0;
    takt__lock(&courier->meters.lock);
    courier->counts_at_first = courier->counts;
    takt__unlock(&courier->meters.lock);
}

void takt__courier_begin(struct takt_courier *courier)
{
    begin(courier);
}

void takt__courier_reset(struct takt_courier *courier)
{
    takt__worker_reset(&courier->worker);
    courier->flush_done = courier->flush_wanted;
    pthread_cond_init(&courier->flushed, NULL); /* who waited is not here */
    if (courier->tap == NULL)
        return;
    takt__tap_reset(courier->tap);
    takt__meters_init(&courier->meters); /* its lock may have had an owner */
    takt__courier_begin(courier);
}

/* ---- how often -------------------------------------------------------------
 */

static void mark_hot(void *self, unsigned op, bool is_hot)
{
    const struct takt_courier *courier = self;
    takt__tap_mark_op(courier->tap, op, TAKT_SERIES_HOT, is_hot);
}

void takt__courier_watch(struct takt_courier *courier, uint64_t now_ns)
{
    if (now_ns < courier->next_slide_ns)
        return;
    courier->next_slide_ns = now_ns + TAKT_WINDOW_STEP_NS;
    takt__lock(&courier->lock);
    const double hot_rate = courier->settings.hot_rate;
    takt__unlock(&courier->lock);
    takt__tap_sums(courier->tap, courier->calls, courier->metrics.decisions);
    takt__window_slide(&courier->window, now_ns, courier->calls, hot_rate,
                       mark_hot, courier);
}

/* ---- what was learned ------------------------------------------------------
 */

static void note_drift(struct takt_courier *courier,
                       const struct takt_sample *sample, double before_s)
{
    const uint64_t now = takt__ticks();
    struct takt_note note = {
        .kind = TAKT_EVENT_DRIFT,
        .told = TAKT_TOLD_DRIFT,
        .arm = sample->arm,
        .refused = sample->arm,
        .series = sample->series,
        .work = {.bytes = (double)sample->bytes,
                 .flops = (double)sample->flops},
        .reason = TAKT_REASON_MODEL,
        .has_history = true,
        .confidence = -1,
        .predicted_s = before_s,
        .actual_s = sample->seconds,
        .start = now,
        .run = now,
        .end = now,
    };

    atomic_fetch_or(&courier->tap->series[sample->series],
                    TAKT_SERIES_DRIFT_BEGINS);
    takt__tap_push(courier->tap, &note);
}

/* True: the model has raised an alarm since. */
static bool keep_counts(struct takt_courier *courier,
                        const struct takt_lesson_counts *counts)
{
    takt__lock(&courier->meters.lock);
    const bool is_alarm = counts->alarms > courier->counts.alarms;
    courier->counts = *counts;
    takt__unlock(&courier->meters.lock);
    return is_alarm;
}

void takt__courier_heed(struct takt_courier *courier,
                        const struct takt_sample *sample, double before_s,
                        const struct takt_lesson_counts *counts)
{
    const unsigned op = takt__series_op(sample->series);
    const bool is_alarm = keep_counts(courier, counts);

    if (!atomic_load(&courier->is_shown) || op == TAKT_OP_NUMBERS)
        return;
    if ((sample->flags & (TAKT_SAMPLE_REFUSED | TAKT_SAMPLE_TRIAL)) == 0)
        takt__meters_add(&courier->meters, op, sample->arm, sample->seconds,
                         sample->calls);
    if (is_alarm)
        note_drift(courier, sample, before_s);
}

/* ---- metrics ---------------------------------------------------------------
 */

static void measure_ops(struct takt_courier *courier)
{
    takt_metrics *metrics = &courier->metrics;

    metrics->op_count = 0;
    for (unsigned op = 0; op < TAKT_OP_NUMBERS; op++) {
        const char *name = courier->calls[op] == 0
                               ? NULL
                               : courier->names.op(courier->names.self, op);
        if (name == NULL)
            continue;
        courier->op_metric[metrics->op_count++] =
            (takt_op_metric){.op = name,
                             .calls = courier->calls[op],
                             .is_hot = courier->window.is_hot[op],
                             .times_hot = courier->window.times_hot[op],
                             .calls_per_s = courier->window.rate[op]};
    }
    metrics->op = courier->op_metric;
}

static void measure_durations(struct takt_courier *courier)
{
    takt_metrics *metrics = &courier->metrics;
    const unsigned count = takt__meters_copy(&courier->meters, courier->meter);

    metrics->duration_count = 0;
    for (unsigned i = 0; i < count; i++) {
        const struct takt_meter *meter = &courier->meter[i];
        takt_duration_metric *out =
            &courier->duration_metric[metrics->duration_count];
        out->op = courier->names.op(courier->names.self, meter->op - 1u);
        out->expert =
            courier->names.arm(courier->names.self, meter->arm, &out->backend);
        if (out->op == NULL)
            continue;
        out->calls = meter->calls;
        out->seconds = meter->seconds;
        out->least_s = meter->least_s;
        out->most_s = meter->most_s;
        memcpy(out->in_class, meter->in_class, sizeof out->in_class);
        metrics->duration_count++;
    }
    metrics->duration = courier->duration_metric;
}

const takt_metrics *takt__courier_measure(struct takt_courier *courier)
{
    takt_metrics *metrics = &courier->metrics;
    struct takt_ring *ring = &courier->tap->ring;

    takt__span_clock_set(&courier->clock);
    metrics->start_ns =
        courier->begun_ns + (uint64_t)courier->clock.since_1970_ns;
    metrics->now_ns = takt__now_ns() + (uint64_t)courier->clock.since_1970_ns;
    takt__tap_sums(courier->tap, courier->calls, metrics->decisions);
    metrics->explorations = metrics->decisions[TAKT_REASON_EXPLORE];
    metrics->fallbacks = metrics->decisions[TAKT_REASON_FALLBACK];
    metrics->told = atomic_load(&ring->head);
    metrics->dropped = atomic_load(&ring->dropped);
    takt__lock(&courier->meters.lock);
    const struct takt_lesson_counts now = courier->counts,
                                    then = courier->counts_at_first;
    takt__unlock(&courier->meters.lock);
    metrics->drift_alarms = now.alarms - then.alarms;
    metrics->exploring_s = fmax(0, now.explored_s - then.explored_s);
    metrics->samples_dropped = now.samples_dropped - then.samples_dropped;
    measure_ops(courier);
    measure_durations(courier);
    return metrics;
}

void takt__courier_report(struct takt_courier *courier, takt_telemetry *out)
{
    takt__lock(&courier->lock);
    const struct takt_tap *tap = courier->tap;
    if (tap != NULL) {
        out->told = atomic_load(&tap->ring.head);
        out->dropped = atomic_load(&tap->ring.dropped);
        out->hot_ops = takt__tap_hot_ops(tap);
    }
    for (unsigned i = 0; i < TAKT_MAX_SINKS; i++) {
        const takt_sink *sink = &courier->seat[i].sink;
        if (!courier->seat[i].is_taken)
            continue;
        out->is_on = 1;
        if (sink->report != NULL)
            sink->report(sink->self, &out->sink[out->sink_count++]);
    }
    takt__unlock(&courier->lock);
}
