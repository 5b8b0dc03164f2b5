/* SPDX-License-Identifier: MIT */
/*
 * metrics.c - counts, durations and rates as metrics.
 *
 * Everything that is counted is counted from the start: cumulative. A metric
 * without a point is left out.
 */
#include "writer.h"

enum { CUMULATIVE = 2 };

/* What a metric is. */
struct metric_kind {
    const char *name, *description, *unit;
};

/* A request that is being written. */
struct sheet {
    struct takt_otel_writer writer;
    const takt_metrics *metrics;
    size_t metric, points; /* where they began */
};

/* ---- any metric ------------------------------------------------------------
 */

static void begin_metric(struct sheet *sheet, const struct metric_kind *kind,
                         unsigned number, const char *name)
{
    struct takt_otel_writer *w = &sheet->writer;

    sheet->metric = w->form->begin(w, 2, NULL);
    w->form->text(w, 1, "name", kind->name, strlen(kind->name));
    w->form->text(w, 2, "description", kind->description,
                  strlen(kind->description));
    w->form->text(w, 3, "unit", kind->unit, strlen(kind->unit));
    sheet->points = w->form->begin(w, number, name);
    w->form->list(w, "dataPoints");
}

static void begin_gauge(struct sheet *sheet, const struct metric_kind *kind)
{
    begin_metric(sheet, kind, 5, "gauge");
}

static void begin_sum(struct sheet *sheet, const struct metric_kind *kind)
{
    begin_metric(sheet, kind, 7, "sum");
}

static void end_gauge(struct sheet *sheet)
{
    struct takt_otel_writer *w = &sheet->writer;

    w->form->list_end(w);
    w->form->end(w, sheet->points);
    w->form->end(w, sheet->metric);
}

static void end_histogram(struct sheet *sheet)
{
    struct takt_otel_writer *w = &sheet->writer;

    w->form->list_end(w);
    w->form->choice(w, 2, "aggregationTemporality", CUMULATIVE);
    w->form->end(w, sheet->points);
    w->form->end(w, sheet->metric);
}

static void end_sum(struct sheet *sheet)
{
    struct takt_otel_writer *w = &sheet->writer;

    w->form->list_end(w);
    w->form->choice(w, 2, "aggregationTemporality", CUMULATIVE);
    w->form->truth(w, 3, "isMonotonic", true);
    w->form->end(w, sheet->points);
    w->form->end(w, sheet->metric);
}

/* Up to the value of a point with at most one attribute. What is not counted
 * from a start has none. */
static size_t begin_point(struct sheet *sheet, const char *key,
                          const char *value, bool has_start)
{
    struct takt_otel_writer *w = &sheet->writer;
    const size_t begun = w->form->begin(w, 1, NULL);

    if (has_start)
        w->form->fixed64(w, 2, "startTimeUnixNano", sheet->metrics->start_ns);
    w->form->fixed64(w, 3, "timeUnixNano", sheet->metrics->now_ns);
    if (key != NULL) {
        takt__otel_attributes(w, 7);
        takt__otel_key_text(w, key, value);
        takt__otel_attributes_end(w);
    }
    return begun;
}

static void put_real(struct sheet *sheet, size_t begun, double value)
{
    struct takt_otel_writer *w = &sheet->writer;

    w->form->real(w, 4, "asDouble", value);
    w->form->end(w, begun);
}

static void put_integer(struct sheet *sheet, size_t begun, uint64_t value)
{
    struct takt_otel_writer *w = &sheet->writer;

    w->form->fixed64(w, 6, "asInt", takt__otel_at_most(value));
    w->form->end(w, begun);
}

static void put_count(struct sheet *sheet, const char *key, const char *value,
                      uint64_t count)
{
    put_integer(sheet, begin_point(sheet, key, value, true), count);
}

/* A metric with one point. */
static void put_total(struct sheet *sheet, const struct metric_kind *kind,
                      uint64_t count)
{
    begin_sum(sheet, kind);
    put_count(sheet, NULL, NULL, count);
    end_sum(sheet);
}

/* ---- ops ------------------------------------------------------------------*/

static void put_calls(struct sheet *sheet)
{
    static const struct metric_kind kind = {"takt.calls",
                                            "Calls of an operation.", "{call}"};
    const takt_metrics *metrics = sheet->metrics;

    if (metrics->op_count == 0)
        return;
    begin_sum(sheet, &kind);
    for (size_t i = 0; i < metrics->op_count; i++)
        put_count(sheet, "operation", metrics->op[i].op, metrics->op[i].calls);
    end_sum(sheet);
}

static void put_rates(struct sheet *sheet)
{
    static const struct metric_kind kind = {
        "takt.call_rate", "Calls of an operation in the last second.",
        "{call}/s"};
    const takt_metrics *metrics = sheet->metrics;

    if (metrics->op_count == 0)
        return;
    begin_gauge(sheet, &kind);
    for (size_t i = 0; i < metrics->op_count; i++)
        put_real(sheet,
                 begin_point(sheet, "operation", metrics->op[i].op, false),
                 metrics->op[i].calls_per_s);
    end_gauge(sheet);
}

static bool was_hot(const takt_op_metric *op)
{
    return op->is_hot || op->times_hot > 0;
}

static void put_hot(struct sheet *sheet)
{
    static const struct metric_kind state = {
        "takt.hot",
        "1: an operation is called so often that it is told of in metrics "
        "alone.",
        "1"};
    static const struct metric_kind changes = {
        "takt.hot.transitions", "How often an operation became hot.",
        "{transition}"};
    const takt_op_metric *op = sheet->metrics->op;
    const size_t count = sheet->metrics->op_count;
    size_t first = 0;

    while (first < count && !was_hot(&op[first]))
        first++;
    if (first == count)
        return;
    begin_gauge(sheet, &state);
    for (size_t i = first; i < count; i++)
        if (was_hot(&op[i]))
            put_integer(sheet, begin_point(sheet, "operation", op[i].op, false),
                        op[i].is_hot != 0);
    end_gauge(sheet);
    begin_sum(sheet, &changes);
    for (size_t i = first; i < count; i++)
        if (was_hot(&op[i]))
            put_count(sheet, "operation", op[i].op, op[i].times_hot);
    end_sum(sheet);
}

/* ---- durations -------------------------------------------------------------
 */

static void put_duration(struct sheet *sheet, const takt_duration_metric *runs)
{
    struct takt_otel_writer *w = &sheet->writer;
    const size_t begun = w->form->begin(w, 1, NULL);

    w->form->fixed64(w, 2, "startTimeUnixNano", sheet->metrics->start_ns);
    w->form->fixed64(w, 3, "timeUnixNano", sheet->metrics->now_ns);
    w->form->fixed64(w, 4, "count", runs->calls);
    w->form->real(w, 5, "sum", runs->seconds);
    w->form->fixed64s(w, 6, "bucketCounts", runs->in_class,
                      TAKT_DURATION_BOUNDS + 1);
    w->form->reals(w, 7, "explicitBounds", takt_duration_bounds(),
                   TAKT_DURATION_BOUNDS);
    takt__otel_attributes(w, 9);
    takt__otel_key_text(w, "operation", runs->op);
    takt__otel_key_text(w, "takt.expert", runs->expert);
    takt__otel_key_text(w, "takt.backend", takt_backend_key(runs->backend));
    takt__otel_attributes_end(w);
    w->form->real(w, 11, "min", runs->least_s);
    w->form->real(w, 12, "max", runs->most_s);
    w->form->end(w, begun);
}

static void put_durations(struct sheet *sheet)
{
    static const struct metric_kind kind = {
        "takt.duration", "What an expert takes for an operation.", "s"};
    const takt_metrics *metrics = sheet->metrics;

    if (metrics->duration_count == 0)
        return;
    begin_metric(sheet, &kind, 9, "histogram");
    for (size_t i = 0; i < metrics->duration_count; i++)
        put_duration(sheet, &metrics->duration[i]);
    end_histogram(sheet);
}

/* ---- decisions -------------------------------------------------------------
 */

static void put_decisions(struct sheet *sheet)
{
    static const struct metric_kind kind = {
        "takt.decisions", "Decisions, by why they were made.", "{decision}"};
    const uint64_t *decisions = sheet->metrics->decisions;
    unsigned first = 0;

    while (first < TAKT_REASONS && decisions[first] == 0)
        first++;
    if (first == TAKT_REASONS)
        return;
    begin_sum(sheet, &kind);
    for (unsigned i = first; i < TAKT_REASONS; i++)
        if (decisions[i] > 0)
            put_count(sheet, "takt.reason", takt_reason_name((takt_reason)i),
                      decisions[i]);
    end_sum(sheet);
}

static void put_learning(struct sheet *sheet)
{
    static const struct metric_kind explorations = {
        "takt.explorations", "Calls that were run to learn.", "{call}"};
    static const struct metric_kind fallbacks = {
        "takt.fallbacks", "Calls that the first choice did not run.", "{call}"};
    static const struct metric_kind drift_alarms = {
        "takt.drift_alarms", "How often an expert changed its speed.",
        "{alarm}"};
    static const struct metric_kind exploring = {
        "takt.exploration.time",
        "What exploring took beyond what the best expert takes.", "s"};

    put_total(sheet, &explorations, sheet->metrics->explorations);
    put_total(sheet, &fallbacks, sheet->metrics->fallbacks);
    put_total(sheet, &drift_alarms, sheet->metrics->drift_alarms);
    begin_sum(sheet, &exploring);
    put_real(sheet, begin_point(sheet, NULL, NULL, true),
             sheet->metrics->exploring_s);
    end_sum(sheet);
}

/* ---- telemetry of telemetry ------------------------------------------------
 */

static void put_dropped(struct sheet *sheet,
                        const struct takt_otel_counts *counts)
{
    static const struct metric_kind kind = {
        "takt.spans.dropped", "Spans that did not arrive, by why.", "{span}"};
    const uint64_t dropped = takt__otel_at_most(sheet->metrics->dropped);

    begin_sum(sheet, &kind);
    put_count(sheet, "reason", "ring_full", 2 * dropped); /* two for a call */
    put_count(sheet, "reason", "queue_full", counts->spans_queue_full);
    put_count(sheet, "reason", "export_failed", counts->spans_failed);
    put_count(sheet, "reason", "rejected", counts->spans_rejected);
    end_sum(sheet);
}

static void put_telemetry(struct sheet *sheet,
                          const struct takt_otel_counts *counts)
{
    static const struct metric_kind events = {
        "takt.events", "Calls and changes that were told of.", "{event}"};
    static const struct metric_kind sent = {
        "takt.spans.sent", "Spans that were taken by the collector.", "{span}"};
    static const struct metric_kind samples = {
        "takt.samples.dropped", "Measurements for which there was no room.",
        "{sample}"};

    put_total(sheet, &events, sheet->metrics->told);
    put_total(sheet, &sent, counts->spans_sent);
    put_dropped(sheet, counts);
    put_total(sheet, &samples, sheet->metrics->samples_dropped);
}

void takt__otel_metrics_request(enum takt_otel_format format,
                                const struct takt_otel_bytes *resource,
                                const takt_metrics *metrics,
                                const struct takt_otel_counts *counts,
                                struct takt_otel_bytes *out)
{
    struct sheet sheet = {.writer = takt__otel_writer(format, out),
                          .metrics = metrics};
    struct takt_otel_writer *w = &sheet.writer;
    const struct takt_otel_request begun =
        takt__otel_request(w, TAKT_OTEL_METRICS, resource);

    w->form->list(w, "metrics");
    put_calls(&sheet);
    put_durations(&sheet);
    put_decisions(&sheet);
    put_learning(&sheet);
    put_hot(&sheet);
    put_rates(&sheet);
    put_telemetry(&sheet, counts);
    w->form->list_end(w);
    takt__otel_request_end(w, begun);
}
