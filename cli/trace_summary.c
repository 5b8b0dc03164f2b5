/* SPDX-License-Identifier: MIT */
/*
 * trace_summary.c - what a trace adds up to.
 *
 * Calls and times are those of metrics, which count every call. What they would
 * have taken on one thread is known of events alone, which are a choice of
 * calls: so each class of durations is weighed by the calls that it has in the
 * metrics. Where that covers less than half of the time, nothing is said: what
 * was tried once is no measure of what is done every day.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "number.h"
#include "trace.h"

/* A line of the table. */
struct op_row {
    struct op_tally of;
    double calls, share[backend_count]; /* share: calls of a backend */
    double seconds;                     /* negative: not known */
    double took_s, would_s;             /* where the latter is known */
    bool is_counted;                    /* calls are by metrics: exact */
};

/* What a trace adds up to besides its ops. */
struct whole {
    uint64_t explorations, fallbacks, drift_alarms, told, dropped;
    double exploring_s;
    size_t streams, ended;
};

/* ---- sums ---- */

static void weigh_pair(const struct expert_tally *pair, struct op_row *row)
{
    for (size_t i = 0; i < duration_classes; i++) {
        const struct told *told = &pair->told[i];
        if (told->count <= 0)
            continue;
        const double weight =
            fmax(told->count, (double)pair->in_class[i]) / told->count;
        row->took_s += weight * told->took_s;
        row->would_s += weight * told->would_s;
    }
}

static struct op_row row_of(const struct op_tally *op)
{
    struct op_row row = {
        .of = *op,
        .calls = (double)(op->calls > op->told ? op->calls : op->told),
        .is_counted = op->calls > 0};

    for (size_t i = 0; i < op->pair_count; i++) {
        row.share[op->pair[i].backend] += (double)op->pair[i].calls;
        row.seconds += op->pair[i].seconds;
        weigh_pair(&op->pair[i], &row);
    }
    return row;
}

/* The share of an op's time for which there is a prediction. */
static double covered_share(const struct op_row *row)
{
    return row->took_s <= 0              ? 0
           : row->took_s >= row->seconds ? 1
                                         : row->took_s / row->seconds;
}

/* Times as fast as one thread is predicted to be; 0: not known. */
static double speedup_of(const struct op_row *row)
{
    return covered_share(row) >= 0.5 ? row->would_s / row->took_s : 0;
}

static void add_row(struct op_row *total, const struct op_row *row)
{
    total->calls += row->calls;
    for (size_t i = 0; i < backend_count; i++)
        total->share[i] += row->share[i];
    total->seconds += row->seconds;
    total->took_s += speedup_of(row) > 0 ? row->took_s : 0;
    total->would_s += speedup_of(row) > 0 ? row->would_s : 0;
    total->of.slowest_s = fmax(total->of.slowest_s, row->of.slowest_s);
    total->of.told += row->of.told;
    total->of.sampled += row->of.sampled;
    total->of.explored += row->of.explored;
    total->of.fell_back += row->of.fell_back;
    total->of.drifted += row->of.drifted;
    total->of.times_hot += row->of.times_hot;
    total->of.hot_streams += row->of.hot_streams;
    total->is_counted &= row->is_counted;
}

static int longest_first(const void *a, const void *b)
{
    const struct op_row *one = a, *other = b;

    if (one->seconds != other->seconds)
        return one->seconds < other->seconds ? 1 : -1;
    return strcmp(one->of.name, other->of.name);
}

static struct whole sum_up(const struct trace_tally *tally)
{
    struct whole whole = {0};

    for (size_t i = 0; i < tally->stream_count; i++) {
        const struct trace_stream *stream = &tally->stream[i];
        const takt_metrics *totals = &stream->totals;
        whole.streams += !stream->is_strange;
        whole.ended += stream->has_ended;
        whole.explorations += totals->explorations;
        whole.fallbacks += totals->fallbacks;
        whole.drift_alarms += totals->drift_alarms;
        whole.exploring_s += totals->exploring_s;
        whole.told += totals->told;
        whole.dropped += totals->dropped + stream->dropped;
    }
    return whole;
}

static double all_shares(const struct op_row *row)
{
    return row->share[0] + row->share[1] + row->share[2];
}

/* ---- text ---- */

static void print_share(FILE *out, const struct op_row *row, size_t backend)
{
    const double all = all_shares(row);

    if (all > 0)
        fprintf(out, " %6.1f%%", 100 * row->share[backend] / all);
    else
        fprintf(out, " %7s", "-");
}

static void print_time(FILE *out, double seconds)
{
    fprintf(out, " %9s", seconds > 0 ? seconds_text(seconds).at : "-");
}

static void print_row(FILE *out, const struct op_row *row)
{
    char speedup[32] = "-";

    fprintf(out, "%-14s %13s", row->of.name,
            phrase("%s%s", row->is_counted ? "" : ">=",
                   count_text((uint64_t)fmin(row->calls, 1e18)).at)
                .at);
    for (size_t i = 0; i < backend_count; i++)
        print_share(out, row, i);
    print_time(out, row->seconds);
    if (speedup_of(row) > 0)
        snprintf(speedup, sizeof speedup, "%.2fx", speedup_of(row));
    fprintf(out, " %9s", speedup);
    print_time(out, row->of.slowest_s);
    fprintf(out, " %8" PRIu64 " %9" PRIu64 " %6" PRIu64 "  %s\n",
            row->of.explored, row->of.fell_back, row->of.drifted,
            row->of.hot_streams > 0 ? "now"
            : row->of.times_hot > 0 ? "was"
                                    : "-");
}

static void print_head(FILE *out, const struct trace_tally *tally,
                       const struct whole *whole, const struct op_row *total)
{
    const double seconds =
        tally->end_ns > tally->start_ns
            ? (double)(tally->end_ns - tally->start_ns) * 1e-9
            : 0;

    fprintf(out,
            "\n%s%s calls in %.3g s, %zu %s; %s were emitted, %s of "
            "them as samples; %s dropped\n\n",
            total->is_counted ? "" : "at least ",
            count_text((size_t)fmin(total->calls, 1e18)).at, seconds,
            whole->streams, whole->streams == 1 ? "stream" : "streams",
            count_text(total->of.told).at, count_text(total->of.sampled).at,
            count_text(whole->dropped).at);
}

static void print_remarks(FILE *out, const struct trace *trace,
                          const struct op_row *total)
{
    const struct trace_tally *tally = &trace->tally;

    if (speedup_of(total) > 0)
        fprintf(out,
                "\npredicted: times as fast as one thread of %s, by what the "
                "model predicts for\nthat; below 1: slower\n",
                trace->gauge.expert);
    if (!total->is_counted)
        fputs("\n>=: no metrics came, so only calls that were emitted are "
              "counted\n",
              out);
    if (tally->damaged > 0)
        fprintf(out, "\n%" PRIu64 " bytes were damaged and left out\n",
                tally->damaged);
    if (tally->is_cut_off)
        fputs("\nthe trace is cut off in the middle of a record\n", out);
    if (tally->left_out + tally->passed > 0)
        fprintf(out, "\n%" PRIu64 " records were not understood or too many\n",
                tally->left_out + tally->passed);
}

static void print_text(const struct trace *trace, const struct op_row *rows,
                       size_t count, const struct op_row *total,
                       const struct whole *whole)
{
    FILE *out = trace->out;

    print_head(out, &trace->tally, whole, total);
    fprintf(out, "%-14s %13s %7s %7s %7s %9s %9s %9s %8s %9s %6s  %s\n", "op",
            "calls", "scalar", "simd", "gpu", "took", "predicted", "slowest",
            "explored", "fell back", "drifts", "hot");
    for (size_t i = 0; i < count; i++)
        print_row(out, &rows[i]);
    if (count > 1)
        print_row(out, total);
    print_remarks(out, trace, total);
}

/* ---- JSON ---- */

static void json_row(struct json *json, const char *key,
                     const struct op_row *row)
{
    const double all = all_shares(row);

    json_open(json, key, '{');
    json_print(json, "op:%s calls:%g is_exact:%d share:{",
               key == NULL ? row->of.name : NULL, row->calls, row->is_counted);
    for (unsigned i = 0; i < backend_count; i++)
        json_number(json, takt_backend_key((takt_backend)i),
                    all > 0 ? row->share[i] / all : (double)NAN);
    json_print(
        json,
        "} seconds:%g predicted_speedup:%g speedup_covers:%g slowest_s:%g "
        "told:%ju sampled:%ju explored:%ju fell_back:%ju drifts:%ju "
        "times_hot:%ju is_hot:%d}",
        row->seconds, positive_number(speedup_of(row)), covered_share(row),
        row->of.slowest_s, row->of.told, row->of.sampled, row->of.explored,
        row->of.fell_back, row->of.drifted, row->of.times_hot,
        row->of.hot_streams > 0);
}

static void print_json(const struct trace *trace, const struct op_row *rows,
                       size_t count, const struct op_row *total,
                       const struct whole *whole)
{
    const struct trace_tally *tally = &trace->tally;
    struct json json = json_begin(trace->out);

    json_print(
        &json,
        "{event:%s schema:2 streams:%zu ended:%zu start_ns:%ju end_ns:%ju "
        "baseline:%s",
        "summary", whole->streams, whole->ended, tally->start_ns, tally->end_ns,
        known_text(trace->gauge.expert));
    json_row(&json, "total", total);
    json_open(&json, "ops", '[');
    for (size_t i = 0; i < count; i++)
        json_row(&json, NULL, &rows[i]);
    json_print(
        &json,
        "] explorations:%ju fallbacks:%ju drift_alarms:%ju exploring_s:%g "
        "dropped:%ju left_out:%ju damaged_bytes:%ju is_cut_off:%d}\n",
        whole->explorations, whole->fallbacks, whole->drift_alarms,
        whole->exploring_s, whole->dropped, tally->left_out + tally->passed,
        tally->damaged, tally->is_cut_off);
}

/* ---- both ---- */

void print_summary(struct trace *trace)
{
    const struct trace_tally *tally = &trace->tally;
    struct op_row total = {.of = {.name = "all"}, .is_counted = true};
    struct op_row *rows = calloc(tally->op_count + 1, sizeof *rows);
    const struct whole whole = sum_up(tally);
    size_t count = 0;

    if (trace->is_chrome)
        chrome_end(trace);
    if (trace->is_otlp)
        otlp_end(trace);
    trace->tally.lacks_memory |= rows == NULL;
    if (rows == NULL || trace->is_converted) {
        free(rows);
        return;
    }
    for (size_t i = 0; i < tally->op_count; i++) {
        rows[count] = row_of(&tally->op[i]);
        add_row(&total, &rows[count++]);
    }
    qsort(rows, count, sizeof *rows, longest_first);
    if (trace->is_json)
        print_json(trace, rows, count, &total, &whole);
    else
        print_text(trace, rows, count, &total, &whole);
    free(rows);
    fflush(trace->out);
}
