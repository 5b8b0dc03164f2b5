/* SPDX-License-Identifier: MIT */
/*
 * takt/telemetry.h - what was decided and what it took, while it happens.
 *
 * A context with a sink hands it an event for each call that is worth telling
 * of, and metrics of all calls. Without a sink nothing is gathered, and calls
 * take not a nanosecond longer. takt/otlp.h has the sink that exports to
 * OpenTelemetry; `takt trace` brings its own.
 *
 * Told of is every call that takes the threshold or longer, a share of the
 * faster ones, and every one that was run to learn, that another expert had to
 * step in for, or that came just after its expert changed its speed. An op that
 * is called more often than the hot rate is told of in metrics alone.
 *
 * Threads: everything here may be called from any thread.
 * Since: 0.3.
 */
#ifndef TAKT_TELEMETRY_H
#define TAKT_TELEMETRY_H

#include <stddef.h>
#include <stdint.h>

#include <takt/context.h>
#include <takt/export.h>
#include <takt/store.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- whose trace -----------------------------------------------------------
 */

/* A span that somebody else began: W3C Trace Context. */
typedef struct takt_span_context {
    unsigned char trace_id[16]; /* all zero: none */
    unsigned char span_id[8];
    unsigned char flags; /* bit 0: it is sampled */
} takt_span_context;

/* Reads a `traceparent`: "00-" 32 hex digits "-" 16 hex digits "-" 2 hex
 * digits.
 * TAKT_EINVAL: it is not one; *out is all zero. */
TAKT_API takt_status takt_span_context_parse(const char *traceparent,
                                             takt_span_context *out);

/* The span that calls of this thread belong to from now on (copied); NULL: the
 * one that the process has. A call with a parent of its own (takt_call) belongs
 * to that. */
TAKT_API void takt_trace_parent(const takt_span_context *parent);

/* ---- events ----------------------------------------------------------------
 */

typedef enum takt_event_kind {
    TAKT_EVENT_CALL = 0, /* a call was decided and run */
    TAKT_EVENT_DRIFT = 1 /* an expert has changed its speed */
} takt_event_kind;

/* Why it is told. */
#define TAKT_TOLD_SLOW 1u     /* it took the threshold or longer */
#define TAKT_TOLD_DRAWN 2u    /* one of the share of faster ones */
#define TAKT_TOLD_EXPLORED 4u /* it was run to learn */
#define TAKT_TOLD_FALLBACK 8u /* the first choice did not run it */
#define TAKT_TOLD_DRIFT 16u   /* its expert changed its speed just now */
#define TAKT_TOLD_ALL 32u     /* somebody wants all of them */

typedef enum takt_residency {
    TAKT_RESIDENCY_HOST = 0,
    TAKT_RESIDENCY_GPU = 1,  /* all of its operands in one GPU's memory */
    TAKT_RESIDENCY_MIXED = 2 /* some here, some there */
} takt_residency;

/* "host", "gpu" or "mixed". */
TAKT_API const char *takt_residency_name(takt_residency residency);

/* One call, or one change. Strings are never NULL, and "" where nothing is
 * known; all pointers are borrowed until the sink returns. Times are
 * nanoseconds since 1970. Fields of a later version come after these. */
typedef struct takt_event {
    takt_event_kind kind;
    unsigned told; /* TAKT_TOLD_... */

    const char *op;
    takt_dtype dtype;
    takt_shape shape; /* rank 0 for a change: the size is that of a class */
    size_t elements;  /* of the largest operand */
    takt_work work;

    takt_backend backend; /* where it was run */
    const char *expert;   /* who ran it; of a change: who changed */
    unsigned threads;     /* that it ran on; 0: a GPU */
    const char *device;   /* the name of that GPU; "" */
    takt_reason reason;
    int has_history; /* decided by measurements, not by a rule or the prior */
    const char *runner_up;
    double predicted_s; /* negative: not known; of a change: before it */
    double confidence;  /* 0..1; negative: not known */
    takt_residency residency;

    const char *refused; /* who was chosen and did not run it; "" */
    takt_status refusal; /* what that one said */
    takt_status status;  /* of the call */

    uint64_t start_ns; /* the call came */
    uint64_t run_ns;   /* it was decided, and the run began */
    uint64_t end_ns;   /* the run was done; of a change: when it was found */
    double actual_s;   /* of the run; of a change: after it */

    uint64_t thread_id;       /* as the system counts threads */
    takt_span_context parent; /* all zero: the one that the process has */
} takt_event;

/* ---- metrics ---------------------------------------------------------------
 */

/* The upper bounds of the classes of durations, in seconds, ascending; one more
 * class follows them. The bounds belong to their classes. */
#define TAKT_DURATION_BOUNDS 25
TAKT_API const double *takt_duration_bounds(void);

#define TAKT_REASONS 8

/* The calls of one op. */
typedef struct takt_op_metric {
    const char *op;
    uint64_t calls;     /* all of them, told of or not; of the smallest
                         * one-line calls one in 256 stands for all */
    int is_hot;         /* more than the hot rate just now */
    uint64_t times_hot; /* how often that began */
    double calls_per_s; /* in the last second */
} takt_op_metric;

/* The runs of one op by one expert. Fast calls are timed now and then, and
 * then stand for those that were not. */
typedef struct takt_duration_metric {
    const char *op;
    const char *expert;
    takt_backend backend;
    uint64_t calls;
    double seconds;
    double least_s, most_s;
    uint64_t in_class[TAKT_DURATION_BOUNDS + 1];
} takt_duration_metric;

/* Since the context got its first sink. Fields of a later version come after
 * these. */
typedef struct takt_metrics {
    uint64_t start_ns, now_ns; /* since 1970 */
    const takt_op_metric *op;
    size_t op_count;
    const takt_duration_metric *duration;
    size_t duration_count;
    uint64_t decisions[TAKT_REASONS]; /* by takt_reason */
    uint64_t explorations, fallbacks, drift_alarms;
    double exploring_s;       /* spent on exploration beyond the best */
    uint64_t told;            /* events that were made */
    uint64_t dropped;         /* events for which there was no room */
    uint64_t samples_dropped; /* measurements for which there was none */
} takt_metrics;

/* ---- sinks -----------------------------------------------------------------
 */

typedef enum takt_fork_phase {
    TAKT_FORK_PREPARE = 0, /* take your locks */
    TAKT_FORK_PARENT = 1,  /* let go of them */
    TAKT_FORK_CHILD = 2    /* the same, and you have no threads any more; what
                            * was not sent yet is the parent's to send */
} takt_fork_phase;

/* What became of what a sink was given. */
typedef struct takt_sink_report {
    char name[32];     /* such as "otlp" */
    uint64_t sent;     /* spans or records that were taken at the other end */
    uint64_t dropped;  /* for which there was no room here */
    uint64_t failed;   /* that could not be delivered */
    uint64_t rejected; /* that the other end did not want */
    char problem[256]; /* the last one, for people; "": none so far */
} takt_sink_report;

/* Who is told. All functions but report and forked are called by one thread of
 * Takt's own, which must not be kept waiting: an event that cannot be taken at
 * once is to be dropped and counted. */
typedef struct takt_sink {
    size_t size; /* sizeof(takt_sink): see takt/takt.h */
    void *self;
    int wants_all;       /* every call, whatever it took */
    unsigned metrics_ms; /* how often metrics are wanted; 0: never */
    /* Not 0: nothing more is wanted; it is closed. */
    int (*event)(void *self, const takt_event *event);
    /* Also just before flush and close. May be NULL. */
    int (*metrics)(void *self, const takt_metrics *metrics);
    /* Sends what it has, within so many milliseconds. May be NULL. */
    void (*flush)(void *self, unsigned deadline_ms);
    /* The same, and ends: nothing is called after it. At exit() it is called if
     * the thread comes to it within the deadlines of all sinks and a second. */
    void (*close)(void *self, unsigned deadline_ms);
    void (*forked)(void *self, takt_fork_phase phase); /* may be NULL */
    /* From any thread. May be NULL. */
    void (*report)(void *self, takt_sink_report *out);
} takt_sink;

#define TAKT_MAX_SINKS 4

/* Adds a sink (copied); it is the context's from then on.
 * TAKT_EFULL: there are TAKT_MAX_SINKS.
 * TAKT_EINVAL: it has no event or no close function.
 * TAKT_ENODEV: the context answers for another machine, and runs nothing. */
TAKT_API takt_status takt_ctx_add_sink(takt_ctx *ctx, const takt_sink *sink);

/* ---- what is told ----------------------------------------------------------
 */

/* NULL or zero members mean the usual. */
typedef struct takt_trace_options {
    size_t size;        /* sizeof(takt_trace_options): see takt/takt.h */
    double threshold_s; /* from here on, always; 0: TAKT_TRACE_THRESHOLD_US, or
                         * 100 microseconds; negative: 0, that is all */
    double rate;        /* of faster ones; 0: TAKT_TRACE_RATE, or 0.01; above 1
                         * as 1; negative: none */
    double hot_rate;    /* calls of an op per second beyond which it is told of
                         * in metrics alone; 0: TAKT_HOT_RATE, or 10,000;
                         * negative: never */
    int is_debugging;   /* every call of every op; 0: TAKT_TRACE_DEBUG */
} takt_trace_options;

/* Changes what is told from now on; NULL: the usual again.
 * TAKT_EINVAL: a number is not one. */
TAKT_API takt_status takt_ctx_trace(takt_ctx *ctx,
                                    const takt_trace_options *options);

/* How telemetry is doing. */
typedef struct takt_telemetry {
    size_t size; /* sizeof(takt_telemetry): see takt/takt.h */
    int is_on;   /* there is a sink */
    uint64_t told, dropped;
    unsigned hot_ops; /* at the moment */
    size_t sink_count;
    takt_sink_report sink[TAKT_MAX_SINKS];
    takt_diag diag; /* why an exporter that was asked for is not there */
} takt_telemetry;

TAKT_API takt_status takt_ctx_telemetry(takt_ctx *ctx, takt_telemetry *out);

#ifdef __cplusplus
}
#endif

#endif
