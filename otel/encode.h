/* SPDX-License-Identifier: MIT */
/*
 * encode.h - events and metrics as OTLP: in protobuf for the wire, in JSON for
 * files. One walk over each message writes both (writer.h).
 *
 * Nothing here allocates but the buffers that grow, waits or fails otherwise.
 */
#pragma once

#include <stdbool.h>

#include <takt/machine.h>
#include <takt/telemetry.h>

/* Bytes that grow. When there is no memory `is_short` stays set, and what was
 * written is not to be used. Zero-initialised is empty. */
struct takt_otel_bytes {
    unsigned char *at;
    size_t size, room;
    bool is_short;
};

static inline void takt__otel_bytes_clear(struct takt_otel_bytes *bytes)
{
    bytes->size = 0;
    bytes->is_short = false;
}

void takt__otel_bytes_free(struct takt_otel_bytes *bytes);
void takt__otel_bytes_append(struct takt_otel_bytes *bytes, const void *at,
                             size_t size);

/* gzip.c: appends the compressed form. False: no memory; *out is as before. */
bool takt__otel_gzip(const unsigned char *at, size_t size,
                     struct takt_otel_bytes *out);

enum takt_otel_format { TAKT_OTEL_PROTOBUF, TAKT_OTEL_JSON };
enum takt_otel_signal { TAKT_OTEL_TRACES, TAKT_OTEL_METRICS };

/* "key=value" pairs, in the order in which they were given. */
struct takt_otel_pairs {
    struct takt_otel_pair {
        char *key, *value; /* owned */
    } * pair;
    size_t count;
};

/* The source. The system is asked for the rest: the names of the host and of
 * the executable, and the process id. A child of fork() is another source. */
struct takt_otel_source {
    const char *service_name; /* wins over service.name among the attributes;
                               * NULL: that one, or unknown_service:... */
    const struct takt_otel_pairs *attributes; /* of the user: they win */
    const takt_machine *machine;
    const char *instance_id; /* a UUID */
};

/* Appends the `resource` field of a ResourceSpans or ResourceMetrics message
 * (in JSON: "resource":{...}), ready to be put into requests. */
void takt__otel_resource(enum takt_otel_format format,
                         const struct takt_otel_source *source,
                         struct takt_otel_bytes *out);

/* The trace of this process. */
struct takt_otel_trace {
    unsigned char trace_id[16];
    unsigned char root_id[8];   /* of takt_compute, or the caller's span */
    unsigned char parent_id[8]; /* of takt_compute; all zero: it has none */
    bool has_root;              /* takt_compute is ours to send */
    unsigned char flags;        /* W3C trace flags of our spans: 1, sampled */
    char state[512];            /* W3C tracestate; "" */
    uint64_t start_ns;          /* of takt_compute */
    uint64_t random;            /* state of the span ids; a child of fork()
                                 * needs another, or their ids are the same */
};

/* Draws the next id. Never all zero, which means none. */
void takt__otel_draw_id(uint64_t *state, unsigned char id[8]);

/* Appends the spans of an event as elements of ScopeSpans.spans (protobuf: each
 * with its tag and length; JSON: objects with a comma between them, none at the
 * ends) and returns how many: a call has two, a change one. When `out` is not
 * empty it holds other spans: in JSON a comma is put before the new ones. Spans
 * of an event with a parent of its own belong to that parent's trace. */
unsigned takt__otel_spans(enum takt_otel_format format,
                          struct takt_otel_trace *trace,
                          const takt_event *event, struct takt_otel_bytes *out);

/* The same of the span takt_compute; 0 when it is not ours to send. */
unsigned takt__otel_root(enum takt_otel_format format,
                         const struct takt_otel_trace *trace, uint64_t end_ns,
                         uint64_t told, uint64_t dropped,
                         struct takt_otel_bytes *out);

/* Appends a whole ExportTraceServiceRequest (in JSON: one line, with its line
 * feed) made of what the two above gave. */
void takt__otel_trace_request(enum takt_otel_format format,
                              const struct takt_otel_bytes *resource,
                              const unsigned char *spans, size_t size,
                              struct takt_otel_bytes *out);

/* What the exporter itself has counted, for the metrics. */
struct takt_otel_counts {
    uint64_t spans_sent;
    uint64_t spans_queue_full; /* no room in the queue */
    uint64_t spans_failed;     /* could not be delivered */
    uint64_t spans_rejected;   /* not wanted by the collector */
};

/* Appends a whole ExportMetricsServiceRequest. */
void takt__otel_metrics_request(enum takt_otel_format format,
                                const struct takt_otel_bytes *resource,
                                const takt_metrics *metrics,
                                const struct takt_otel_counts *counts,
                                struct takt_otel_bytes *out);

/* What a collector answered. */
struct takt_otel_answer {
    int64_t rejected;  /* spans or points that it did not want; never < 0 */
    char message[256]; /* why, on one line, in UTF-8, cut to fit; "" */
};

/* Reads an ExportTraceServiceResponse or ExportMetricsServiceResponse (no bytes
 * at all are one): partial success. False: it is not one, and *out is zero. */
bool takt__otel_answer(const unsigned char *at, size_t size,
                       struct takt_otel_answer *out);

/* Reads the delay out of a google.rpc.Status with a google.rpc.RetryInfo, as
 * gRPC has it in grpc-status-details-bin (decoded from base64 before).
 * Negative: it has none. */
double takt__otel_retry_delay_s(const unsigned char *at, size_t size);
