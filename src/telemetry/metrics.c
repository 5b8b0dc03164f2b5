/* SPDX-License-Identifier: MIT */
/* metrics.c - counts and times of all calls, emitted or not. */
#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "telemetry/dispatcher_parts.h"

/* ---- the clock of spans -------------------------------------------------- */

static void start_span_clock(struct takt_span_clock *clock)
{
    clock->first_ns = takt__now_ns();
    clock->first_ticks = takt__ticks();
    clock->since_1970_ns =
        (int64_t)(takt__clock_ns(CLOCK_REALTIME) - clock->first_ns);
    clock->ns_per_tick = takt__seconds_per_tick() * 1e9;
}

/* After a hundredth of a second the rate is better known than at the start of
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

/* ---- durations ----------------------------------------------------------- */

/* Three to a decade, from a tenth of a microsecond to ten seconds. */
static const double bounds[TAKT_DURATION_BOUNDS] = {
    1e-7, 2.5e-7, 5e-7, 1e-6, 2.5e-6, 5e-6, 1e-5, 2.5e-5, 5e-5,
    1e-4, 2.5e-4, 5e-4, 1e-3, 2.5e-3, 5e-3, 1e-2, 2.5e-2, 5e-2,
    1e-1, 2.5e-1, 5e-1, 1e0,  2.5e0,  5e0,  1e1};

const double *takt_duration_bounds(void)
{
    return bounds;
}

static unsigned class_of(double seconds)
{
    unsigned low = 0, high = TAKT_DURATION_BOUNDS;

    while (low < high) {
        const unsigned middle = (low + high) / 2;
        if (seconds <= bounds[middle])
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

static struct takt_meter *find_meter(struct takt_meters *meters, unsigned op,
                                     unsigned expert)
{
    const unsigned key = (op + 1) << 8 | expert;
    unsigned at = (key * 2654435761u) >> 22; /* its high 10 bits */

    for (unsigned i = 0; i < TAKT_METERS; i++, at++) {
        struct takt_meter *meter = &meters->of[at & (TAKT_METERS - 1)];
        if (meter->op == op + 1 && meter->expert == expert)
            return meter;
        if (meter->op != 0)
            continue;
        meter->op = (uint16_t)(op + 1);
        meter->expert = (uint8_t)expert;
        meter->metric.least_s = INFINITY;
        return meter;
    }
    return NULL;
}

static void meters_add(struct takt_meters *meters, unsigned op, unsigned expert,
                       double seconds, uint64_t calls)
{
    takt__lock(&meters->lock);
    struct takt_meter *meter = find_meter(meters, op, expert);
    if (meter != NULL) {
        takt_duration_metric *metric = &meter->metric;
        metric->calls += calls;
        metric->seconds += seconds * (double)calls;
        metric->least_s = fmin(metric->least_s, seconds);
        metric->most_s = fmax(metric->most_s, seconds);
        metric->in_class[class_of(seconds)] += calls;
    }
    takt__unlock(&meters->lock);
}

static unsigned meters_copy(struct takt_meters *meters, struct takt_meter *out)
{
    unsigned count = 0;

    takt__lock(&meters->lock);
    for (unsigned i = 0; i < TAKT_METERS; i++)
        if (meters->of[i].op != 0)
            out[count++] = meters->of[i];
    takt__unlock(&meters->lock);
    return count;
}

/* ---- settings of the tap ------------------------------------------------- */

void takt__dispatcher_adjust(struct takt_dispatcher *dispatcher)
{
    const struct takt_tap_settings *settings = &dispatcher->settings;
    struct takt_tap *tap = dispatcher->tap;
    bool is_all = settings->is_debugging, is_any = false;

    atomic_store(&dispatcher->is_debugging, settings->is_debugging);
    if (tap == NULL)
        return;
    for (unsigned i = 0; i < TAKT_MAX_SINKS; i++) {
        is_any |= dispatcher->slot[i].is_taken;
        is_all |= dispatcher->slot[i].is_taken &&
                  dispatcher->slot[i].sink.wants_all != 0;
    }
    const double ticks = settings->threshold_s / takt__seconds_per_tick();
    atomic_store(&tap->threshold, ticks < 1e18 ? (uint64_t)ticks : UINT64_MAX);
    atomic_store(&tap->share, (uint64_t)(settings->rate * 4294967296.0));
    atomic_store(&tap->is_all, is_all);
    atomic_store(&dispatcher->is_shown, is_any);
    dispatcher->names.show(dispatcher->names.self, is_any ? tap : NULL);
}

void takt__dispatcher_set(struct takt_dispatcher *dispatcher,
                          const struct takt_tap_settings *settings)
{
    takt__lock(&dispatcher->lock);
    dispatcher->settings = *settings;
    takt__dispatcher_adjust(dispatcher);
    takt__unlock(&dispatcher->lock);
}

void takt__dispatcher_begin(struct takt_dispatcher *dispatcher)
{
    memset(&dispatcher->hot, 0, sizeof dispatcher->hot);
    memset(dispatcher->calls, 0, sizeof dispatcher->calls);
    start_span_clock(&dispatcher->clock);
    dispatcher->begun_ns = takt__now_ns();
    dispatcher->next_slide_ns = 0;
    takt__lock(&dispatcher->meters.lock);
    memset(dispatcher->meters.of, 0, sizeof dispatcher->meters.of);
    dispatcher->counts_at_first = dispatcher->counts;
    takt__unlock(&dispatcher->meters.lock);
}

void takt__dispatcher_reset(struct takt_dispatcher *dispatcher)
{
    takt__worker_reset(&dispatcher->worker);
    dispatcher->flush_done = dispatcher->flush_wanted;
    /* Its waiters are not in this process, and a lock may have had an owner. */
    pthread_cond_init(&dispatcher->flushed, NULL);
    if (dispatcher->tap == NULL)
        return;
    takt__tap_reset(dispatcher->tap);
    pthread_mutex_init(&dispatcher->meters.lock, NULL);
    takt__dispatcher_begin(dispatcher);
}

/* ---- hot ops ------------------------------------------------------------- */

static void mark_hot(void *self, unsigned op, bool is_hot)
{
    const struct takt_dispatcher *dispatcher = self;
    takt__tap_mark_op(dispatcher->tap, op, TAKT_SERIES_HOT, is_hot);
}

void takt__dispatcher_watch(struct takt_dispatcher *dispatcher, uint64_t now_ns)
{
    if (now_ns < dispatcher->next_slide_ns)
        return;
    dispatcher->next_slide_ns = now_ns + TAKT_HOT_STEP_NS;
    takt__lock(&dispatcher->lock);
    const double hot_rate = dispatcher->settings.hot_rate;
    takt__unlock(&dispatcher->lock);
    takt__tap_sums(dispatcher->tap, dispatcher->calls,
                   dispatcher->metrics.decisions);
    takt__hot_ops_update(&dispatcher->hot, now_ns, dispatcher->calls, hot_rate,
                         mark_hot, dispatcher);
}

/* ---- samples ------------------------------------------------------------- */

static void emit_drift(struct takt_dispatcher *dispatcher,
                       const struct takt_sample *sample, double before_s)
{
    const uint64_t now = takt__ticks();
    struct takt_event_record record = {
        .kind = TAKT_EVENT_DRIFT,
        .told = TAKT_TOLD_DRIFT,
        .expert = sample->arm,
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

    atomic_fetch_or(&dispatcher->tap->series[sample->series],
                    TAKT_SERIES_DRIFT_BEGINS);
    takt__tap_push(dispatcher->tap, &record);
}

/* True: the model has raised an alarm since. */
static bool keep_counts(struct takt_dispatcher *dispatcher,
                        const struct takt_learning_counts *counts)
{
    takt__lock(&dispatcher->meters.lock);
    const bool is_alarm = counts->alarms > dispatcher->counts.alarms;
    dispatcher->counts = *counts;
    takt__unlock(&dispatcher->meters.lock);
    return is_alarm;
}

void takt__dispatcher_add_sample(struct takt_dispatcher *dispatcher,
                                 const struct takt_sample *sample,
                                 double before_s,
                                 const struct takt_learning_counts *counts)
{
    const unsigned op = takt__series_op(sample->series);
    const bool is_alarm = keep_counts(dispatcher, counts);

    if (!atomic_load(&dispatcher->is_shown) || op == TAKT_OP_NUMBERS)
        return;
    if ((sample->flags & (TAKT_SAMPLE_REFUSED | TAKT_SAMPLE_TUNING)) == 0)
        meters_add(&dispatcher->meters, op, sample->arm, sample->seconds,
                   sample->calls);
    if (is_alarm)
        emit_drift(dispatcher, sample, before_s);
}

/* ---- metrics ------------------------------------------------------------- */

static void measure_ops(struct takt_dispatcher *dispatcher)
{
    takt_metrics *metrics = &dispatcher->metrics;

    metrics->op_count = 0;
    for (unsigned op = 0; op < TAKT_OP_NUMBERS; op++) {
        const char *name =
            dispatcher->calls[op] == 0
                ? NULL
                : dispatcher->names.op(dispatcher->names.self, op);
        if (name == NULL)
            continue;
        dispatcher->op_metric[metrics->op_count++] =
            (takt_op_metric){.op = name,
                             .calls = dispatcher->calls[op],
                             .is_hot = dispatcher->hot.is_hot[op],
                             .times_hot = dispatcher->hot.times_hot[op],
                             .calls_per_s = dispatcher->hot.rate[op]};
    }
    metrics->op = dispatcher->op_metric;
}

static void measure_durations(struct takt_dispatcher *dispatcher)
{
    const struct takt_dispatcher_names *names = &dispatcher->names;
    takt_metrics *metrics = &dispatcher->metrics;
    const unsigned count = meters_copy(&dispatcher->meters, dispatcher->meter);

    metrics->duration_count = 0;
    for (unsigned i = 0; i < count; i++) {
        const struct takt_meter *meter = &dispatcher->meter[i];
        takt_duration_metric metric = meter->metric;
        metric.op = names->op(names->self, meter->op - 1u);
        metric.expert =
            names->expert(names->self, meter->expert, &metric.backend);
        if (metric.op != NULL)
            dispatcher->duration_metric[metrics->duration_count++] = metric;
    }
    metrics->duration = dispatcher->duration_metric;
}

const takt_metrics *takt__dispatcher_measure(struct takt_dispatcher *dispatcher)
{
    takt_metrics *metrics = &dispatcher->metrics;
    struct takt_ring *ring = &dispatcher->tap->ring;

    takt__span_clock_set(&dispatcher->clock);
    metrics->start_ns =
        dispatcher->begun_ns + (uint64_t)dispatcher->clock.since_1970_ns;
    metrics->now_ns =
        takt__now_ns() + (uint64_t)dispatcher->clock.since_1970_ns;
    takt__tap_sums(dispatcher->tap, dispatcher->calls, metrics->decisions);
    metrics->explorations = metrics->decisions[TAKT_REASON_EXPLORE];
    metrics->fallbacks = metrics->decisions[TAKT_REASON_FALLBACK];
    metrics->told = atomic_load(&ring->head);
    metrics->dropped = atomic_load(&ring->dropped);
    takt__lock(&dispatcher->meters.lock);
    const struct takt_learning_counts now = dispatcher->counts,
                                      then = dispatcher->counts_at_first;
    takt__unlock(&dispatcher->meters.lock);
    metrics->drift_alarms = now.alarms - then.alarms;
    metrics->exploring_s = fmax(0, now.explored_s - then.explored_s);
    metrics->samples_dropped = now.samples_dropped - then.samples_dropped;
    measure_ops(dispatcher);
    measure_durations(dispatcher);
    return metrics;
}

void takt__dispatcher_report(struct takt_dispatcher *dispatcher,
                             takt_telemetry *out)
{
    takt__lock(&dispatcher->lock);
    const struct takt_tap *tap = dispatcher->tap;
    if (tap != NULL) {
        out->told = atomic_load(&tap->ring.head);
        out->dropped = atomic_load(&tap->ring.dropped);
        out->hot_ops = takt__tap_hot_ops(tap);
    }
    for (unsigned i = 0; i < TAKT_MAX_SINKS; i++) {
        const takt_sink *sink = &dispatcher->slot[i].sink;
        if (!dispatcher->slot[i].is_taken)
            continue;
        out->is_on = 1;
        if (sink->report != NULL)
            sink->report(sink->self, &out->sink[out->sink_count++]);
    }
    takt__unlock(&dispatcher->lock);
}
