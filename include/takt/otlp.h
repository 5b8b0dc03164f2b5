/* SPDX-License-Identifier: MIT */
/*
 * takt/otlp.h - exports to OpenTelemetry: OTLP over gRPC or HTTP, or a file.
 *
 * Call takt_ctx_export(), or set the environment (OTEL_EXPORTER_OTLP_ENDPOINT,
 * TAKT_OTLP_FILE and others; docs/telemetry.md has the list). The exporter is a
 * library of its own, libtakt-otel.so, which is loaded then. No other part of
 * Takt uses the network.
 *
 *     const takt_otlp_options options = {.size = sizeof options,
 *                                        .file = "trace.jsonl"};
 *     takt_diag diag;
 *
 *     if (takt_ctx_export(NULL, &options, &diag) != TAKT_OK)
 *         fprintf(stderr, "no telemetry: %s\n", diag.text);
 *
 * Threads: everything here may be called from any thread.
 */
#ifndef TAKT_OTLP_H
#define TAKT_OTLP_H

#include <stddef.h>

#include <takt/context.h>
#include <takt/export.h>
#include <takt/store.h>
#include <takt/telemetry.h>

#ifdef __cplusplus
extern "C" {
#endif

/* How telemetry is exported. NULL or zero members mean the environment, or the
 * default; all are copied. What is set here holds for traces and metrics both,
 * and overrides variables that are for one of them. */
typedef struct takt_otlp_options {
    size_t size;             /* sizeof(takt_otlp_options): see takt/takt.h */
    const char *endpoint;    /* "http://localhost:4317" */
    const char *protocol;    /* "grpc" (default) or "http/protobuf" */
    const char *headers;     /* "key=value,key2=value2" */
    const char *compression; /* "none" (default) or "gzip" */
    const char *certificate; /* of the authorities to trust: a PEM file */
    const char *client_certificate, *client_key; /* PEM files */
    unsigned timeout_ms;                         /* of one attempt; 0: 10000 */
    const char *service_name;
    const char *resource_attributes;        /* "key=value,key2=value2" */
    const char *sampler, *sampler_argument; /* as OTEL_TRACES_SAMPLER */
    unsigned queue_size;                    /* spans that may wait; 0: 8192 */
    unsigned batch_size;                    /* spans sent at once; 0: 512 */
    unsigned delay_ms;       /* until a batch that is not full is sent */
    unsigned metrics_ms;     /* between two exports of metrics; 0: 60000 */
    const char *file;        /* instead of an endpoint: JSON lines */
    const char *traceparent; /* the parent of the process; NULL: TRACEPARENT */
    const char *tracestate;
} takt_otlp_options;

/* Exports the telemetry of a context to OpenTelemetry: loads the exporter and
 * adds it to the context. `options` may be NULL: the environment, or the
 * defaults. `diag` may be NULL; also on success it says which settings were
 * ignored.
 * TAKT_ENOTSUP: libtakt-otel.so was not found, or is of another version.
 * TAKT_EINVAL: an endpoint, a protocol or a file is not valid.
 * TAKT_EIO: the file or a certificate cannot be opened.
 * TAKT_ENOENT: OTEL_SDK_DISABLED is "true", or both exporters are "none".
 * TAKT_EFULL, TAKT_ENODEV: as takt_ctx_add_sink(). */
TAKT_API takt_status takt_ctx_export(takt_ctx *ctx,
                                     const takt_otlp_options *options,
                                     takt_diag *diag);

/* Makes the sink of OpenTelemetry, for programs that link libtakt-otel.so.
 * takt_ctx_export() calls it, and the function below.
 * `machine` is copied. `version` is TAKT_OTEL_VERSION; it stands for the layout
 * of all structs here, so their sizes are not read.
 * TAKT_ENOENT: nothing asks for an export: `options` is NULL and the
 *   environment does not; or OTEL_SDK_DISABLED is "true". */
#define TAKT_OTEL_VERSION 2
TAKT_API takt_status takt_otel_open(int version,
                                    const takt_otlp_options *options,
                                    const takt_machine *machine, takt_sink *out,
                                    takt_diag *diag);

/* Gets a line about an export that failed. Such as "cannot reach
 * http://localhost:4317: connection refused"; on a thread of the exporter's,
 * with no lock. */
typedef void takt_otel_problem(const char *text);

/* Sets who is told of exports that failed, of traces and of metrics: at most
 * once a minute, and more and more seldom. `sink` is one that takt_otel_open()
 * made and that no context has yet. takt_ctx_export() has Takt's log told
 * (takt/log.h). */
TAKT_API void takt_otel_watch(const takt_sink *sink,
                              takt_otel_problem *problem);

#ifdef __cplusplus
}
#endif

#endif
