/* SPDX-License-Identifier: MIT */
/*
 * metrics.c - counts, durations and rates as metrics.
 *
 * Everything that is counted is counted from the start: cumulative. A metric
 * without a point is left out.
 */
#include "writer.h"

enum { CUMULATIVE = 2 };

/* What a metric is: the number of its field. */
enum metric_form { GAUGE = 5, SUM = 7, HISTOGRAM = 9 };

/* A request that is being written. */
struct sheet {
    struct takt_otel_writer writer;
    const takt_metrics *metrics;
    enum metric_form form; /* of the metric that was begun */
    size_t metric, points; /* where they began */
};

/* ---- any metric ---------------------------------------------------------- */

static void begin(struct sheet *sheet, enum metric_form form, const char *name,
                  const char *description, const char *unit)
{
    static const char *const forms[] = {
        [GAUGE] = "gauge", [SUM] = "sum", [HISTOGRAM] = "histogram"};
    struct takt_otel_writer *w = &sheet->writer;

    sheet->form = form;
    sheet->metric = w->form->begin(w, 2, NULL);
    w->form->text(w, 1, "name", name, strlen(name));
    w->form->text(w, 2, "description", description, strlen(description));
    w->form->text(w, 3, "unit", unit, strlen(unit));
    sheet->points = w->form->begin(w, form, forms[form]);
    w->form->list(w, "dataPoints");
}

static void end(struct sheet *sheet)
{
    struct takt_otel_writer *w = &sheet->writer;

    w->form->list_end(w);
    if (sheet->form != GAUGE)
        w->form->number(w, 2, "aggregationTemporality", TAKT_OTEL_ENUM,
                        CUMULATIVE);
    if (sheet->form == SUM)
        w->form->number(w, 3, "isMonotonic", TAKT_OTEL_BOOL, true);
    w->form->end(w, sheet->points);
    w->form->end(w, sheet->metric);
}

/* What is not counted from a start has none. */
static size_t begin_point(struct sheet *sheet)
{
    struct takt_otel_writer *w = &sheet->writer;
    const size_t begun = w->form->begin(w, 1, NULL);

    if (sheet->form != GAUGE)
        w->form->number(w, 2, "startTimeUnixNano", TAKT_OTEL_FIXED64,
                        sheet->metrics->start_ns);
    w->form->number(w, 3, "timeUnixNano", TAKT_OTEL_FIXED64,
                    sheet->metrics->now_ns);
    return begun;
}

/* A point with at most one attribute. */
static void put_point(struct sheet *sheet, const char *key, const char *value,
                      enum takt_otel_type type, uint64_t bits)
{
    const bool is_real = type == TAKT_OTEL_REAL;
    struct takt_otel_writer *w = &sheet->writer;
    const size_t begun = begin_point(sheet);

    if (key != NULL) {
        takt__otel_attributes(w, 7);
        takt__otel_key_text(w, key, value);
        takt__otel_attributes_end(w);
    }
    w->form->number(w, is_real ? 4 : 6, is_real ? "asDouble" : "asInt", type,
                    bits);
    w->form->end(w, begun);
}

static void put_count(struct sheet *sheet, const char *key, const char *value,
                      uint64_t count)
{
    put_point(sheet, key, value, TAKT_OTEL_FIXED64, takt__otel_at_most(count));
}

/* A metric with one point. */
static void put_total(struct sheet *sheet, const char *name,
                      const char *description, const char *unit, uint64_t count)
{
    begin(sheet, SUM, name, description, unit);
    put_count(sheet, NULL, NULL, count);
    end(sheet);
}

/* ---- ops ------------------------------------------------------------------*/

static void put_calls(struct sheet *sheet)
{
    const takt_metrics *metrics = sheet->metrics;

    if (metrics->op_count == 0)
        return;
    begin(sheet, SUM, "takt.calls", "Calls of an operation.", "{call}");
    for (size_t i = 0; i < metrics->op_count; i++)
        put_count(sheet, "operation", metrics->op[i].op, metrics->op[i].calls);
    end(sheet);
}

static void put_rates(struct sheet *sheet)
{
    const takt_metrics *metrics = sheet->metrics;

    if (metrics->op_count == 0)
        return;
    begin(sheet, GAUGE, "takt.call_rate",
          "Calls of an operation in the last second.", "{call}/s");
    for (size_t i = 0; i < metrics->op_count; i++)
        put_point(sheet, "operation", metrics->op[i].op, TAKT_OTEL_REAL,
                  takt__otel_bits(metrics->op[i].calls_per_s));
    end(sheet);
}

static void put_hot_ops(struct sheet *sheet, bool is_state)
{
    const takt_op_metric *op = sheet->metrics->op;

    for (size_t i = 0; i < sheet->metrics->op_count; i++)
        if (op[i].is_hot || op[i].times_hot > 0)
            put_count(sheet, "operation", op[i].op,
                      is_state ? op[i].is_hot != 0 : op[i].times_hot);
    end(sheet);
}

static void put_hot(struct sheet *sheet)
{
    const takt_op_metric *op = sheet->metrics->op;
    const size_t count = sheet->metrics->op_count;
    size_t first = 0;

    while (first < count && !op[first].is_hot && op[first].times_hot == 0)
        first++;
    if (first == count)
        return;
    begin(sheet, GAUGE, "takt.hot",
          "1: an operation is called so often that it is told of in metrics "
          "alone.",
          "1");
    put_hot_ops(sheet, true);
    begin(sheet, SUM, "takt.hot.transitions",
          "How often an operation became hot.", "{transition}");
    put_hot_ops(sheet, false);
}

/* ---- durations ----------------------------------------------------------- */

static void put_duration(struct sheet *sheet, const takt_duration_metric *runs)
{
    struct takt_otel_writer *w = &sheet->writer;
    const size_t begun = begin_point(sheet);

    w->form->number(w, 4, "count", TAKT_OTEL_FIXED64, runs->calls);
    w->form->number(w, 5, "sum", TAKT_OTEL_REAL,
                    takt__otel_bits(runs->seconds));
    w->form->numbers(w, 6, "bucketCounts", TAKT_OTEL_FIXED64, runs->in_class,
                     TAKT_DURATION_BOUNDS + 1);
    w->form->numbers(w, 7, "explicitBounds", TAKT_OTEL_REAL,
                     takt_duration_bounds(), TAKT_DURATION_BOUNDS);
    takt__otel_attributes(w, 9);
    takt__otel_key_text(w, "operation", runs->op);
    takt__otel_key_text(w, "takt.expert", runs->expert);
    takt__otel_key_text(w, "takt.backend", takt_backend_key(runs->backend));
    takt__otel_attributes_end(w);
    w->form->number(w, 11, "min", TAKT_OTEL_REAL,
                    takt__otel_bits(runs->least_s));
    w->form->number(w, 12, "max", TAKT_OTEL_REAL,
                    takt__otel_bits(runs->most_s));
    w->form->end(w, begun);
}

static void put_durations(struct sheet *sheet)
{
    const takt_metrics *metrics = sheet->metrics;

    if (metrics->duration_count == 0)
        return;
    begin(sheet, HISTOGRAM, "takt.duration",
          "What an expert takes for an operation.", "s");
    for (size_t i = 0; i < metrics->duration_count; i++)
        put_duration(sheet, &metrics->duration[i]);
    end(sheet);
}

/* ---- decisions ----------------------------------------------------------- */

static void put_decisions(struct sheet *sheet)
{
    const uint64_t *decisions = sheet->metrics->decisions;
    unsigned first = 0;

    while (first < TAKT_REASONS && decisions[first] == 0)
        first++;
    if (first == TAKT_REASONS)
        return;
    begin(sheet, SUM, "takt.decisions", "Decisions, by why they were made.",
          "{decision}");
    for (unsigned i = first; i < TAKT_REASONS; i++)
        if (decisions[i] > 0)
            put_count(sheet, "takt.reason", takt_reason_name((takt_reason)i),
                      decisions[i]);
    end(sheet);
}

static void put_learning(struct sheet *sheet)
{
    const takt_metrics *metrics = sheet->metrics;

    put_total(sheet, "takt.explorations", "Calls that were run to learn.",
              "{call}", metrics->explorations);
    put_total(sheet, "takt.fallbacks",
              "Calls that the first choice did not run.", "{call}",
              metrics->fallbacks);
    put_total(sheet, "takt.drift_alarms",
              "How often an expert changed its speed.", "{alarm}",
              metrics->drift_alarms);
    begin(sheet, SUM, "takt.exploration.time",
          "What exploring took beyond what the best expert takes.", "s");
    put_point(sheet, NULL, NULL, TAKT_OTEL_REAL,
              takt__otel_bits(metrics->exploring_s));
    end(sheet);
}

/* ---- telemetry of telemetry ---------------------------------------------- */

static void put_dropped(struct sheet *sheet,
                        const struct takt_otel_counts *counts)
{
    const uint64_t dropped = takt__otel_at_most(sheet->metrics->dropped);

    begin(sheet, SUM, "takt.spans.dropped",
          "Spans that did not arrive, by why.", "{span}");
    put_count(sheet, "reason", "ring_full", 2 * dropped); /* two for a call */
    put_count(sheet, "reason", "queue_full", counts->spans_queue_full);
    put_count(sheet, "reason", "export_failed", counts->spans_failed);
    put_count(sheet, "reason", "rejected", counts->spans_rejected);
    end(sheet);
}

static void put_telemetry(struct sheet *sheet,
                          const struct takt_otel_counts *counts)
{
    put_total(sheet, "takt.events", "Calls and changes that were told of.",
              "{event}", sheet->metrics->told);
    put_total(sheet, "takt.spans.sent",
              "Spans that were taken by the collector.", "{span}",
              counts->spans_sent);
    put_dropped(sheet, counts);
    put_total(sheet, "takt.samples.dropped",
              "Measurements for which there was no room.", "{sample}",
              sheet->metrics->samples_dropped);
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
