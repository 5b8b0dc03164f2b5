/* SPDX-License-Identifier: MIT */
/*
 * trace_chrome.c - a trace in the Trace Event Format, for Perfetto, speedscope
 * and chrome://tracing.
 *
 * One JSON object with an array of events: a complete event (X) for each call,
 * an instant (i) for each change of speed or rate, and metadata (M) with the
 * names of processes. Times are microseconds since the trace began.
 */
#include <inttypes.h>

#include "number.h"
#include "text/json.h"
#include "trace.h"

static void begin_event(struct trace *trace)
{
    fputs(trace->has_begun ? ",\n"
                           : "{\"displayTimeUnit\":\"ns\","
                             "\"traceEvents\":[\n",
          trace->out);
    trace->has_begun = true;
}

static void print_member(FILE *out, const char *name, const char *text)
{
    fprintf(out, ",\"%s\":", name);
    takt__json_quote(out, text, "\\ufffd");
}

/* Microseconds with all digits of the nanoseconds. */
static void print_time(FILE *out, const char *name, uint64_t ns)
{
    fprintf(out, "\"%s\":%" PRIu64 ".%03u", name, ns / 1000,
            (unsigned)(ns % 1000));
}

static uint64_t since_start(const struct trace *trace, uint64_t at_ns)
{
    return at_ns > trace->tally.start_ns ? at_ns - trace->tally.start_ns : 0;
}

void chrome_hello(struct trace *trace, const struct takt_trace_header *header)
{
    begin_event(trace);
    fprintf(trace->out,
            "{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":%" PRIu64
            ",\"tid\":0,\"args\":{\"name\":",
            header->pid);
    takt__json_quote(trace->out, header->program, "\\ufffd");
    fputs("}}", trace->out);
}

static void begin_instant(struct trace *trace, uint64_t pid, uint64_t thread,
                          uint64_t at_ns)
{
    begin_event(trace);
    fprintf(trace->out,
            "{\"ph\":\"i\",\"s\":\"p\",\"pid\":%" PRIu64 ",\"tid\":%" PRIu64
            ",",
            pid, thread);
    print_time(trace->out, "ts", since_start(trace, at_ns));
}

static void chrome_call(struct trace *trace, const struct trace_stream *stream,
                        const takt_event *event)
{
    const uint64_t took =
        event->end_ns > event->start_ns ? event->end_ns - event->start_ns : 0;
    const uint64_t decided =
        event->run_ns > event->start_ns ? event->run_ns - event->start_ns : 0;
    FILE *out = trace->out;

    begin_event(trace);
    fprintf(out, "{\"ph\":\"X\",\"pid\":%" PRIu64 ",\"tid\":%" PRIu64 ",",
            stream->pid, event->thread_id);
    print_time(out, "ts", since_start(trace, event->start_ns));
    fputc(',', out);
    print_time(out, "dur", took);
    print_member(out, "name", event->op);
    print_member(out, "cat", takt_backend_key(event->backend));
    fputs(",\"args\":{\"shape\":", out);
    takt__json_quote(out, shape_text(&event->shape).at, "?");
    print_member(out, "dtype", takt_dtype_name(event->dtype));
    print_member(out, "expert", event->expert);
    print_member(out, "reason", takt_reason_name(event->reason));
    fprintf(out, ",\"threads\":%u,", event->threads);
    print_time(out, "decide_us", decided);
    if (event->predicted_s >= 0)
        fprintf(out, ",\"predicted_us\":%.6g", 1e6 * event->predicted_s);
    if (event->refused[0] != '\0')
        print_member(out, "refused", event->refused);
    if (event->status != TAKT_OK)
        print_member(out, "error", takt_status_text(event->status));
    fputs("}}", out);
}

void chrome_event(struct trace *trace, const struct trace_stream *stream,
                  const takt_event *event)
{
    if (event->kind == TAKT_EVENT_CALL) {
        chrome_call(trace, stream, event);
        return;
    }
    begin_instant(trace, stream->pid, event->thread_id, event->end_ns);
    print_member(trace->out, "name", "change of speed");
    fputs(",\"args\":{\"op\":", trace->out);
    takt__json_quote(trace->out, event->op, "\\ufffd");
    print_member(trace->out, "expert", event->expert);
    fputs("}}", trace->out);
}

void chrome_turn(struct trace *trace, const struct trace_stream *stream,
                 const takt_op_metric *metric, enum turn turn)
{
    begin_instant(trace, stream->pid, 0, trace->tally.end_ns);
    print_member(trace->out, "name", turn == heated ? "hot" : "cooled");
    fputs(",\"args\":{\"op\":", trace->out);
    takt__json_quote(trace->out, metric->op, "\\ufffd");
    fputs("}}", trace->out);
}

void chrome_end(struct trace *trace)
{
    if (!trace->has_begun)
        begin_event(trace);
    fputs("\n]}\n", trace->out);
}
