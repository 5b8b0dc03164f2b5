/* SPDX-License-Identifier: MIT */
/*
 * takt/telemetry.h - events and metrics of calls, for sinks.
 *
 * Add a sink to a context: it gets an event for each call that is sampled, and
 * metrics of all calls. Without a sink nothing is gathered, and calls take no
 * longer. takt/otlp.h has the sink that exports to OpenTelemetry; `takt trace`
 * has another one.
 *
 * An event is emitted for every call that takes the threshold or longer, for a
 * share of the faster ones, and for every call that was a trial, that another
 * expert took over, or that came just after its expert changed its speed. Of an
 * op that is called more often than the hot rate there are metrics alone.
 *
 *     const takt_trace_options every = {.size = sizeof every,
 *                                       .is_debugging = 1};
 *     takt_telemetry state = {.size = sizeof state};
 *
 *     if (takt_ctx_trace(NULL, &every) != TAKT_OK ||
 *         takt_ctx_telemetry(NULL, &state) != TAKT_OK)
 *         return 1;
 *     printf("%zu sinks, %llu events\n", state.sink_count,
 *            (unsigned long long)state.told);
 *
 * examples/traced.c has a sink.
 *
 * Threads: everything here may be called from any thread.
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

/* ---- trace context ---------------------------------------------------------
 */

/* A span of another library: W3C Trace Context. */
typedef struct takt_span_context {
    unsigned char trace_id[16]; /* all zero: none */
    unsigned char span_id[8];
    unsigned char flags; /* bit 0: it is sampled */
} takt_span_context;

/* Reads a traceparent of W3C Trace Context: "00-" 32 hex digits "-" 16 hex
 * digits "-" 2 hex digits.
 * TAKT_EINVAL: it is not one; *out is all zero. */
TAKT_API takt_status takt_span_context_parse(const char *traceparent,
                                             takt_span_context *out);

/* Sets the parent of all later calls of this thread (copied). NULL: the parent
 * of the process. A call with a parent of its own (takt_call) uses that. */
TAKT_API void takt_trace_parent(const takt_span_context *parent);

/* ---- events ----------------------------------------------------------------
 */

/* What an event tells of. */
typedef enum takt_event_kind {
    TAKT_EVENT_CALL = 0, /* a call was decided and run */
    TAKT_EVENT_DRIFT = 1 /* an expert has changed its speed */
} takt_event_kind;

/* Why an event was emitted: the bits of takt_event.told. */
#define TAKT_TOLD_SLOW 1u     /* it took the threshold or longer */
#define TAKT_TOLD_DRAWN 2u    /* one of the share of faster ones */
#define TAKT_TOLD_EXPLORED 4u /* it was a trial */
#define TAKT_TOLD_FALLBACK 8u /* the first choice did not run it */
#define TAKT_TOLD_DRIFT 16u   /* its expert changed its speed just now */
#define TAKT_TOLD_ALL 32u     /* a sink wants all of them */

/* Where the operands of a call are. */
typedef enum takt_residency {
    TAKT_RESIDENCY_HOST = 0,
    TAKT_RESIDENCY_GPU = 1,  /* all of its operands in one GPU's memory */
    TAKT_RESIDENCY_MIXED = 2 /* in more than one memory */
} takt_residency;

/* The name of a residency: "host", "gpu" or "mixed". */
TAKT_API const char *takt_residency_name(takt_residency residency);

/* One call, or one change of speed. Strings are never NULL, and "" where
 * nothing is known. All pointers are borrowed until the sink returns. Times are
 * nanoseconds since 1970. Members of later versions come after these. */
typedef struct takt_event {
    takt_event_kind kind;
    unsigned told; /* TAKT_TOLD_... */

    const char *op;
    takt_dtype dtype;
    takt_shape shape; /* rank 0 for a change: `work` is of a bucket */
    size_t elements;  /* of the largest operand */
    takt_work work;

    takt_backend backend; /* of the expert */
    const char *expert;   /* that ran it; of a change: that changed */
    unsigned threads;     /* that it ran on; 0: a GPU */
    const char *device;   /* the name of that GPU, or "" */
    takt_reason reason;
    int has_history; /* decided by measurements, not by a rule or the prior */
    const char *runner_up;
    double predicted_s; /* negative: not known; of a change: before it */
    double confidence;  /* 0..1; negative: not known */
    takt_residency residency;

    const char *refused; /* the expert that was chosen but did not run it */
    takt_status refusal; /* the status that it returned */
    takt_status status;  /* of the call */

    uint64_t start_ns; /* the call began */
    uint64_t run_ns;   /* it was decided and the run began */
    uint64_t end_ns;   /* the run ended; of a change: it was detected */
    double actual_s;   /* of the run; of a change: after it */

    uint64_t thread_id;       /* of the operating system */
    takt_span_context parent; /* all zero: that of the process */
} takt_event;

/* ---- metrics ---------------------------------------------------------------
 */

/* The upper bounds of the histogram of durations, in seconds. They ascend and
 * are inclusive. One more class follows them. */
#define TAKT_DURATION_BOUNDS 25
TAKT_API const double *takt_duration_bounds(void);

/* The number of reasons: see takt_reason. */
#define TAKT_REASONS 8

/* The calls of one op. */
typedef struct takt_op_metric {
    const char *op;
    uint64_t calls;     /* all of them; of the smallest calls one in 256 is
                         * counted for all */
    int is_hot;         /* above the hot rate at the moment */
    uint64_t times_hot; /* how often it became hot */
    double calls_per_s; /* in the last second */
} takt_op_metric;

/* The runs of one op by one expert. Of fast calls some are timed, and stand for
 * the others. */
typedef struct takt_duration_metric {
    const char *op;
    const char *expert;
    takt_backend backend;
    uint64_t calls;
    double seconds;
    double least_s, most_s;
    uint64_t in_class[TAKT_DURATION_BOUNDS + 1];
} takt_duration_metric;

/* The metrics of a context. All counts begin when it gets its first sink.
 * Members of later versions come after these. */
typedef struct takt_metrics {
    uint64_t start_ns, now_ns; /* since 1970 */
    const takt_op_metric *op;
    size_t op_count;
    const takt_duration_metric *duration;
    size_t duration_count;
    uint64_t decisions[TAKT_REASONS]; /* by takt_reason */
    uint64_t explorations, fallbacks, drift_alarms;
    double exploring_s;       /* time of trials beyond that of the best */
    uint64_t told;            /* events that were emitted */
    uint64_t dropped;         /* events lost because the buffer was full */
    uint64_t samples_dropped; /* measurements lost the same way */
} takt_metrics;

/* ---- sinks -----------------------------------------------------------------
 */

/* When a sink is told of a fork(). */
typedef enum takt_fork_phase {
    TAKT_FORK_PREPARE = 0, /* lock */
    TAKT_FORK_PARENT = 1,  /* unlock */
    TAKT_FORK_CHILD = 2 /* unlock; the sink's threads are gone, and the parent
                         * sends what was not sent yet */
} takt_fork_phase;

/* What a sink has delivered. */
typedef struct takt_sink_report {
    char name[32];     /* such as "otlp" */
    uint64_t sent;     /* spans or records that the receiver accepted */
    uint64_t dropped;  /* because the queue was full */
    uint64_t failed;   /* that could not be delivered */
    uint64_t rejected; /* that the receiver refused */
    char problem[256]; /* the last one, as text; "": none so far */
} takt_sink_report;

/* A receiver of events and metrics. All functions but report and forked are
 * called on one thread of Takt. They must not block: drop and count an event
 * that cannot be taken at once. */
typedef struct takt_sink {
    size_t size; /* sizeof(takt_sink): see takt/takt.h */
    void *self;
    int wants_all;       /* every call, however short */
    unsigned metrics_ms; /* between two metrics(); 0: never */
    /* Returning other than 0 closes the sink. */
    int (*event)(void *self, const takt_event *event);
    /* Also called just before flush and close. May be NULL. */
    int (*metrics)(void *self, const takt_metrics *metrics);
    /* Sends what is queued, within so many milliseconds. May be NULL. */
    void (*flush)(void *self, unsigned deadline_ms);
    /* The same, and frees the sink: no function is called after it. At exit()
     * it is called if the thread reaches it within the deadlines of all sinks
     * and a second. */
    void (*close)(void *self, unsigned deadline_ms);
    void (*forked)(void *self, takt_fork_phase phase); /* may be NULL */
    /* From any thread. May be NULL. */
    void (*report)(void *self, takt_sink_report *out);
} takt_sink;

/* As many sinks can a context have. */
#define TAKT_MAX_SINKS 4

/* Adds a sink to a context. The struct is copied; the context owns the sink
 * from then on.
 * TAKT_EFULL: there are TAKT_MAX_SINKS.
 * TAKT_EINVAL: it has no event or no close function.
 * TAKT_ENODEV: the context answers for another machine, and runs nothing. */
TAKT_API takt_status takt_ctx_add_sink(takt_ctx *ctx, const takt_sink *sink);

/* ---- sampling --------------------------------------------------------------
 */

/* Which calls get an event. Zero members mean the defaults. */
typedef struct takt_trace_options {
    size_t size;        /* sizeof(takt_trace_options): see takt/takt.h */
    double threshold_s; /* calls this long always; 0: TAKT_TRACE_THRESHOLD_US,
                         * or 100 microseconds; negative: every call */
    double rate;        /* the share of faster ones; 0: TAKT_TRACE_RATE, or
                         * 0.01; above 1: all; negative: none */
    double hot_rate;    /* calls of an op per second beyond which there are
                         * metrics alone; 0: TAKT_HOT_RATE, or 10,000;
                         * negative: no limit */
    int is_debugging;   /* every call of every op; 0: TAKT_TRACE_DEBUG */
} takt_trace_options;

/* Sets which calls get an event from now on; NULL: the defaults.
 * TAKT_EINVAL: a number is NaN. */
TAKT_API takt_status takt_ctx_trace(takt_ctx *ctx,
                                    const takt_trace_options *options);

/* The state of telemetry. */
typedef struct takt_telemetry {
    size_t size; /* sizeof(takt_telemetry): see takt/takt.h */
    int is_on;   /* there is a sink */
    uint64_t told, dropped;
    unsigned hot_ops; /* at the moment */
    size_t sink_count;
    takt_sink_report sink[TAKT_MAX_SINKS];
    takt_diag diag; /* why an exporter could not be opened */
} takt_telemetry;

/* Tells how telemetry goes in a context.
 * TAKT_EINVAL: the size of the struct is wrong.
 * TAKT_ENOMEM: there is no default context. */
TAKT_API takt_status takt_ctx_telemetry(takt_ctx *ctx, takt_telemetry *out);

#ifdef __cplusplus
}
#endif

#endif
