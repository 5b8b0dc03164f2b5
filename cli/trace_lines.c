/* SPDX-License-Identifier: MIT */
/* trace_lines.c - an event as a line: for people, or JSON. */
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include "json.h"
#include "number.h"
#include "trace.h"

/* Beyond this factor, the expected time is printed. */
static const double surprise = 1.5;

/* Text that may have to be cut off. */
struct remark {
    char text[512];
    size_t length;
};

__attribute__((format(printf, 2, 3))) static void add(struct remark *note,
                                                      const char *format, ...)
{
    const size_t room = sizeof note->text - note->length;
    va_list values;

    if (note->length > 0 && room > 2)
        note->length += (size_t)snprintf(note->text + note->length, room, "; ");
    va_start(values, format);
    const int length =
        vsnprintf(note->text + note->length, sizeof note->text - note->length,
                  format, values);
    va_end(values);
    note->length += length > 0 ? (size_t)length : 0;
    if (note->length >= sizeof note->text)
        note->length = sizeof note->text - 1;
}

/* ---- text ---- */

enum colour { plain, red, yellow, cyan, faint };

/* Ends the line. */
static void print_coloured(struct trace *trace, enum colour colour,
                           const char *text)
{
    static const char *const codes[] = {"", "31", "33", "36", "2"};

    if (trace->has_colour && colour != plain)
        fprintf(trace->out, "\033[%sm%s\033[0m\n", codes[colour], text);
    else
        fprintf(trace->out, "%s\n", text);
}

/* When it was and, if there are several, in which process. */
static void print_when(struct trace *trace, const struct trace_stream *stream,
                       uint64_t at_ns)
{
    const uint64_t start_ns = trace->tally.start_ns;

    fprintf(trace->out, "%10.4f  ",
            at_ns > start_ns ? (double)(at_ns - start_ns) * 1e-9 : 0);
    if (trace->tally.stream_count > 1)
        fprintf(trace->out, "%-7" PRIu64 " ", stream->pid);
}

void print_hello(struct trace *trace, struct trace_stream *stream,
                 const struct takt_trace_header *header)
{
    struct remark note = {.length = 0};

    if (trace->is_chrome)
        chrome_hello(trace, header);
    if (trace->is_otlp)
        otlp_hello(trace, stream, header);
    if (trace->is_quiet || trace->is_json || trace->is_converted)
        return;
    add(&note, "process %" PRIu64 ": %.200s, Takt %.64s", header->pid,
        header->program, header->takt);
    if (header->threshold_s >= 0)
        add(&note, "slow is %s and more", seconds_text(header->threshold_s).at);
    if (header->rate >= 0)
        add(&note, "the sample is %.3g%% of the others", 100 * header->rate);
    print_coloured(trace, faint, note.text);
}

static void note_expectation(struct remark *note, const takt_event *event)
{
    const double expected_s = event->predicted_s, took_s = event->actual_s;
    const struct number_text text = seconds_text(expected_s);

    if (!(expected_s > 0) || !(took_s > 0))
        return;
    if (took_s > surprise * expected_s)
        add(note, "%.3gx as long as expected (%s)", took_s / expected_s,
            text.at);
    else if (expected_s > surprise * took_s)
        add(note, "%.3gx as fast as expected (%s)", expected_s / took_s,
            text.at);
}

static enum colour note_call(struct remark *note, const takt_event *event)
{
    enum colour colour = plain;

    if ((event->told & TAKT_TOLD_EXPLORED) != 0) {
        add(note, "explored");
        colour = cyan;
    }
    if ((event->told & TAKT_TOLD_DRIFT) != 0) {
        add(note, "its expert has just changed its speed");
        colour = yellow;
    }
    if ((event->told & TAKT_TOLD_FALLBACK) != 0) {
        if (event->refused[0] != '\0')
            add(note, "fell back from %s: %s", event->refused,
                takt_status_text(event->refusal));
        else
            add(note, "fell back: the rule's backend is not there");
        colour = red;
    }
    if (event->status != TAKT_OK) {
        add(note, "failed: %s", takt_status_text(event->status));
        colour = red;
    }
    if ((event->told & TAKT_TOLD_SLOW) != 0)
        add(note, "slow");
    else if (event->told == TAKT_TOLD_DRAWN)
        add(note, "sampled");
    note_expectation(note, event);
    return colour;
}

static void print_call(struct trace *trace, const struct trace_stream *stream,
                       const takt_event *event)
{
    struct remark note = {.length = 0};
    const enum colour colour = note_call(&note, event);
    const bool is_f32 = event->dtype == TAKT_F32;
    const struct phrase size =
        phrase("%s%s%s",
               event->shape.rank > 0 ? shape_text(&event->shape).at
                                     : count_text(event->elements).at,
               is_f32 ? "" : " ", is_f32 ? "" : takt_dtype_name(event->dtype));

    print_when(trace, stream, event->start_ns);
    fprintf(trace->out, "%-12s %-16s %-14s %8s  %-8s ", event->op, size.at,
            event->expert,
            event->actual_s >= 0 ? seconds_text(event->actual_s).at : "-",
            takt_reason_name(event->reason));
    print_coloured(trace, colour, note.text);
}

static void print_drift(struct trace *trace, const struct trace_stream *stream,
                        const takt_event *event)
{
    const double was_s = event->predicted_s, is_s = event->actual_s;
    const bool is_slower = is_s > was_s;
    struct phrase how = {""};

    if (was_s > 0 && is_s > 0)
        how = phrase(": %s, was %s, %.3g times as %s", seconds_text(is_s).at,
                     seconds_text(was_s).at,
                     is_slower ? is_s / was_s : was_s / is_s,
                     is_slower ? "slow" : "fast");
    print_when(trace, stream, event->end_ns);
    print_coloured(trace, yellow,
                   phrase("%s has changed its speed for %s of about %s "
                          "elements (%s)%s",
                          event->expert, event->op,
                          count_text(event->elements).at,
                          takt_dtype_name(event->dtype), how.at)
                       .at);
}

/* ---- JSON ---- */

static void json_told(struct json *json, unsigned told)
{
    static const char *const words[] = {"slow",     "drawn", "explored",
                                        "fallback", "drift", "all"};

    json_open(json, "told", '[');
    for (unsigned i = 0; i < sizeof words / sizeof *words; i++)
        if ((told >> i & 1) != 0)
            json_string(json, NULL, words[i]);
    json_close(json, ']');
}

static void json_event(struct trace *trace, const struct trace_stream *stream,
                       const takt_event *event)
{
    struct json json = json_begin(trace->out);
    const bool is_call = event->kind == TAKT_EVENT_CALL;
    const bool has_refused = event->refused[0] != '\0';

    json_print(&json, "{event:%s pid:%ju thread:%ju",
               is_call ? "call" : "drift", stream->pid, event->thread_id);
    json_told(&json, event->told);
    json_print(&json,
               "op:%s dtype:%s shape:%p elements:%zu bytes:%g flops:%g "
               "backend:%s expert:%s threads:%u device:%s reason:%s "
               "has_history:%d runner_up:%s",
               event->op, takt_dtype_name(event->dtype),
               (const void *)&event->shape, event->elements,
               known_number(event->work.bytes), known_number(event->work.flops),
               takt_backend_key(event->backend), event->expert, event->threads,
               known_text(event->device), takt_reason_name(event->reason),
               event->has_history != 0, known_text(event->runner_up));
    json_print(
        &json,
        "predicted_s:%g confidence:%g residency:%s refused:%s "
        "refusal:%s error:%s",
        known_number(event->predicted_s), known_number(event->confidence),
        takt_residency_name(event->residency), known_text(event->refused),
        has_refused ? takt_status_text(event->refusal) : NULL,
        event->status != TAKT_OK ? takt_status_text(event->status) : NULL);
    json_print(&json, "start_ns:%ju run_ns:%ju end_ns:%ju actual_s:%g}\n",
               event->start_ns, event->run_ns, event->end_ns,
               known_number(event->actual_s));
}

/* ---- both ---- */

void print_event(struct trace *trace, const struct trace_stream *stream,
                 const takt_event *event)
{
    if (trace->is_chrome) {
        chrome_event(trace, stream, event);
        return;
    }
    if (trace->is_otlp) {
        otlp_event(trace, stream, event);
        return;
    }
    if (trace->is_quiet)
        return;
    if (trace->is_json)
        json_event(trace, stream, event);
    else if (event->kind == TAKT_EVENT_DRIFT)
        print_drift(trace, stream, event);
    else
        print_call(trace, stream, event);
}

void print_turn(struct trace *trace, const struct trace_stream *stream,
                const takt_op_metric *metric, enum turn turn)
{
    const bool is_hot = turn == heated;
    struct json json = json_begin(trace->out);
    const bool is_known =
        metric->calls_per_s >= 0 && metric->calls_per_s < 1e15;

    if (trace->is_chrome && turn != same)
        chrome_turn(trace, stream, metric, turn);
    if (trace->is_quiet || trace->is_converted || turn == same)
        return;
    if (trace->is_json) {
        json_print(&json, "{event:%s pid:%ju op:%s calls_per_s:%g calls:%ju}\n",
                   is_hot ? "hot" : "cooled", stream->pid, metric->op,
                   known_number(metric->calls_per_s), metric->calls);
        return;
    }
    const struct phrase text = phrase(
        "%.*s %s: %s calls/s%s", TAKT_TRACE_TEXT, metric->op,
        is_hot ? "is hot" : "has cooled down",
        is_known ? count_text((uint64_t)metric->calls_per_s).at : "?",
        is_hot && !trace->wants_all ? ", from here on in the summary alone"
                                    : "");
    print_when(trace, stream, trace->tally.end_ns);
    print_coloured(trace, is_hot ? yellow : faint, text.at);
}

/* As time goes on, ever more seldom: a page has a thousand of them in an
 * hour. */
void print_totals(struct trace *trace, struct trace_stream *stream)
{
    const takt_metrics *totals = &stream->totals;
    struct json json = json_begin(trace->out);
    const uint64_t start_ns = trace->tally.start_ns;
    double seconds = 0;

    if (totals->now_ns <= start_ns ||
        (double)(totals->now_ns - start_ns) < 1.01 * (double)stream->told_ns)
        return;
    stream->told_ns = totals->now_ns - start_ns;
    for (size_t i = 0; i < stream->last_count; i++)
        seconds += stream->last[i].seconds;
    json_print(
        &json,
        "{event:%s pid:%ju context:%ju now_ns:%ju seconds:%g exploring_s:%g "
        "explorations:%ju fallbacks:%ju drift_alarms:%ju}\n",
        "totals", stream->pid, stream->id, totals->now_ns, seconds,
        totals->exploring_s, totals->explorations, totals->fallbacks,
        totals->drift_alarms);
}
