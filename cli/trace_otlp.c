/* SPDX-License-Identifier: MIT */
/*
 * trace_otlp.c - a trace as OTLP in JSON: requests with spans, one per line, as
 * collectors read them from files.
 *
 * The spans are those that libtakt-otel sends (otel/spans.c). Their ids come
 * from the process and the time at which it began: a trace that is converted
 * twice has the same ones.
 */
#include <stdlib.h>

#include <takt/version.h>

#include "otel/writer.h"
#include "trace.h"

enum { spans_per_request = 512 };

struct otlp_stream {
    struct takt_otel_trace trace;
    struct takt_otel_bytes resource, spans, request;
    unsigned span_count;
    uint64_t told;
};

static void draw_ids(struct takt_otel_trace *out, uint64_t pid, uint64_t id)
{
    out->random = out->start_ns ^ pid << 32 ^ id;
    takt__otel_draw_id(&out->random, out->trace_id);
    takt__otel_draw_id(&out->random, out->trace_id + 8);
    takt__otel_draw_id(&out->random, out->root_id);
}

static void write_resource(struct takt_otel_bytes *out,
                           const struct takt_trace_header *header)
{
    struct takt_otel_writer writer = takt__otel_writer(TAKT_OTEL_JSON, out);
    const size_t begun = writer.form->begin(&writer, 1, "resource");

    takt__otel_attributes(&writer, 1);
    takt__otel_key_text(&writer, "service.name", header->program);
    takt__otel_key_text(&writer, "telemetry.sdk.name", "takt");
    takt__otel_key_text(&writer, "telemetry.sdk.language", "c");
    takt__otel_key_text(&writer, "telemetry.sdk.version", header->takt);
    takt__otel_key_integer(&writer, "process.pid", header->pid);
    takt__otel_key_text(&writer, "process.executable.name", header->program);
    takt__otel_attributes_end(&writer);
    writer.form->end(&writer, begun);
}

void otlp_hello(struct trace *trace, struct trace_stream *stream,
                const struct takt_trace_header *header)
{
    if (stream->otlp != NULL)
        return;
    struct otlp_stream *otlp = calloc(1, sizeof *otlp);
    if (otlp == NULL) {
        trace->tally.lacks_memory = true;
        return;
    }
    otlp->trace = (struct takt_otel_trace){
        .has_root = true, .flags = 1, .start_ns = header->start_ns};
    draw_ids(&otlp->trace, header->pid, stream->id);
    write_resource(&otlp->resource, header);
    stream->otlp = otlp;
}

static void write_request(struct trace *trace, struct otlp_stream *otlp)
{
    takt__otel_bytes_clear(&otlp->request);
    takt__otel_trace_request(TAKT_OTEL_JSON, &otlp->resource, otlp->spans.at,
                             otlp->spans.size, &otlp->request);
    if (otlp->spans.is_short || otlp->resource.is_short ||
        otlp->request.is_short)
        trace->tally.lacks_memory = true;
    else
        fwrite(otlp->request.at, 1, otlp->request.size, trace->out);
    takt__otel_bytes_clear(&otlp->spans);
    otlp->span_count = 0;
}

void otlp_event(struct trace *trace, const struct trace_stream *stream,
                const takt_event *event)
{
    struct otlp_stream *otlp = stream->otlp;

    if (otlp == NULL)
        return;
    otlp->told++;
    otlp->span_count +=
        takt__otel_spans(TAKT_OTEL_JSON, &otlp->trace, event, &otlp->spans);
    if (otlp->span_count >= spans_per_request)
        write_request(trace, otlp);
}

/* The span of each process, and what was not yet written. */
void otlp_end(struct trace *trace)
{
    for (size_t i = 0; i < trace->tally.stream_count; i++) {
        const struct trace_stream *stream = &trace->tally.stream[i];
        struct otlp_stream *otlp = stream->otlp;
        if (otlp == NULL)
            continue;
        takt__otel_root(TAKT_OTEL_JSON, &otlp->trace, trace->tally.end_ns,
                        otlp->told, stream->dropped, &otlp->spans);
        write_request(trace, otlp);
    }
    fflush(trace->out);
}

void otlp_free(struct otlp_stream *otlp)
{
    if (otlp == NULL)
        return;
    takt__otel_bytes_free(&otlp->resource);
    takt__otel_bytes_free(&otlp->spans);
    takt__otel_bytes_free(&otlp->request);
    free(otlp);
}
