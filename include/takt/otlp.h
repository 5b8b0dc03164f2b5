/* SPDX-License-Identifier: MIT */
/*
 * takt/otlp.h - telemetry to OpenTelemetry: OTLP over gRPC or HTTP, or a file.
 *
 * The exporter is a library of its own, libtakt-otel.so, which is loaded when
 * it is asked for: by takt_ctx_export(), or by the environment
 * (OTEL_EXPORTER_OTLP_ENDPOINT and its like, TAKT_OTLP_FILE; docs/telemetry.md
 * has the list). Nothing else of Takt knows a network.
 *
 * Threads: everything here may be called from any thread.
 * Since: 0.3.
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

/* NULL or zero members mean what the environment says, or the usual; all are
 * copied. What is set here goes for traces and metrics both, over the forms of
 * the environment that are for one of them. */
typedef struct takt_otlp_options {
    size_t size;             /* sizeof(takt_otlp_options): see takt/takt.h */
    const char *endpoint;    /* "http://localhost:4317" */
    const char *protocol;    /* "grpc" (the usual) or "http/protobuf" */
    const char *headers;     /* "key=value,key2=value2" */
    const char *compression; /* "none" (the usual) or "gzip" */
    const char *certificate; /* of the authorities to trust: a PEM file */
    const char *client_certificate, *client_key; /* PEM files */
    unsigned timeout_ms;                         /* of one try; 0: 10000 */
    const char *service_name;
    const char *resource_attributes;        /* "key=value,key2=value2" */
    const char *sampler, *sampler_argument; /* as OTEL_TRACES_SAMPLER */
    unsigned queue_size;                    /* spans that may wait; 0: 8192 */
    unsigned batch_size;                    /* spans sent at once; 0: 512 */
    unsigned delay_ms;       /* until a batch that is not full is sent */
    unsigned metrics_ms;     /* between two exports of metrics; 0: 60000 */
    const char *file;        /* instead of an endpoint: JSON lines go there */
    const char *traceparent; /* the parent of the process; NULL: TRACEPARENT */
    const char *tracestate;
} takt_otlp_options;

/* Loads the exporter and gives it to the context. `options` may be NULL: all as
 * the environment says, or the usual. `diag` may be NULL; also on success it
 * says what was not understood and is done without.
 * TAKT_ENOTSUP: libtakt-otel.so is not there, or of another version.
 * TAKT_EINVAL: an endpoint, a protocol or a file that cannot be.
 * TAKT_EIO: the file or a certificate cannot be opened.
 * TAKT_ENOENT: OTEL_SDK_DISABLED is "true", or both exporters are "none".
 * TAKT_EFULL, TAKT_ENODEV: as takt_ctx_add_sink(). */
TAKT_API takt_status takt_ctx_export(takt_ctx *ctx,
                                     const takt_otlp_options *options,
                                     takt_diag *diag);

/* What libtakt-otel.so shows: makes the sink. `machine` is copied from. For
 * programs that link it themselves; takt_ctx_export() does it for the others.
 * `version` is TAKT_OTEL_VERSION.
 * TAKT_ENOENT: nothing asks for an export: `options` is NULL and the
 *   environment does not; or OTEL_SDK_DISABLED is "true". */
#define TAKT_OTEL_VERSION 2
TAKT_API takt_status takt_otel_open(int version,
                                    const takt_otlp_options *options,
                                    const takt_machine *machine, takt_sink *out,
                                    takt_diag *diag);

#ifdef __cplusplus
}
#endif

#endif
