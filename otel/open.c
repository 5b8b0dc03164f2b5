/* SPDX-License-Identifier: MIT */
/*
 * open.c - the sink: events become spans, spans go into the channel of traces,
 * metrics into that of metrics.
 *
 * In the child of a fork the identity (instance, trace) is made anew with the
 * first event: a child that calls nothing sends nothing.
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "config.h"
#include "transport.h"

enum {
    QUEUE_BYTES = 16 << 20,
    BATCH_BYTES = 1900000 /* receivers refuse 4 MiB; 2 MB with the resource */
};

struct sink {
    struct takt_otel_config config;
    takt_machine machine;
    bool has_machine;
    struct takt_otel_file *file; /* NULL: it is a network */
    enum takt_otel_format format;
    struct takt_otel_channel *channel[TAKT_OTEL_SIGNALS]; /* NULL: off */

    pthread_mutex_t turn; /* what follows is being used */
    struct takt_otel_trace trace;
    bool is_sampled;
    bool is_child; /* of a fork, and has sent nothing yet */
    char instance_id[37];
    struct takt_otel_bytes resource, written;
    uint64_t told, dropped; /* events, as far as is known here */
};

/* ---- identity ------------------------------------------------------------ */

/* Never all zero. A system without randomness has a clock. */
static void draw(void *out, size_t size)
{
    if (getrandom(out, size, 0) != (ssize_t)size) {
        const uint64_t now =
            takt__clock_ns(CLOCK_REALTIME) * 0x9e3779b97f4a7c15u;
        for (size_t i = 0; i < size; i++)
            ((unsigned char *)out)[i] = (unsigned char)(now >> i % 8 * 8);
    }
    ((unsigned char *)out)[size - 1] |= 1;
}

/* A random UUID: version 4. */
static void name_instance(char out[37])
{
    unsigned char id[16];
    char *at = out;

    draw(id, sizeof id);
    id[6] = (unsigned char)(0x40 | (id[6] & 0x0f));
    id[8] = (unsigned char)(0x80 | (id[8] & 0x3f));
    for (int i = 0; i < 16; i++)
        at += sprintf(at, "%s%02x",
                      i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", id[i]);
}

static bool is_there(const takt_span_context *context)
{
    static const takt_span_context none;

    return memcmp(context->trace_id, none.trace_id, sizeof none.trace_id) != 0;
}

static void begin_trace(struct sink *sink)
{
    const takt_span_context *parent = &sink->config.parent;
    const bool has_parent = is_there(parent);
    struct takt_otel_trace *trace = &sink->trace;

    *trace =
        (struct takt_otel_trace){.has_root = !has_parent,
                                 .flags = 1,
                                 .start_ns = takt__clock_ns(CLOCK_REALTIME)};
    draw(&trace->random, sizeof trace->random);
    draw(trace->trace_id, sizeof trace->trace_id);
    draw(trace->root_id, sizeof trace->root_id);
    if (has_parent) {
        memcpy(trace->trace_id, parent->trace_id, sizeof trace->trace_id);
        memcpy(trace->root_id, parent->span_id, sizeof trace->root_id);
        strcpy(trace->state, sink->config.state);
    }
    sink->is_sampled = takt__otel_sampled(
        &sink->config.sampler, has_parent ? parent : NULL, trace->trace_id);
}

/* The child's takt_compute is a child of the parent's. */
static void go_on_trace(struct sink *sink)
{
    struct takt_otel_trace *trace = &sink->trace;

    draw(&trace->random, sizeof trace->random);
    if (!trace->has_root)
        return;
    memcpy(trace->parent_id, trace->root_id, sizeof trace->parent_id);
    draw(trace->root_id, sizeof trace->root_id);
    trace->start_ns = takt__clock_ns(CLOCK_REALTIME);
}

static bool introduce(struct sink *sink)
{
    const struct takt_otel_source source = {
        .service_name = sink->config.service_name,
        .attributes = &sink->config.attributes,
        .machine = sink->has_machine ? &sink->machine : NULL,
        .instance_id = sink->instance_id,
    };
    struct takt_otel_channel *traces = sink->channel[TAKT_OTEL_TRACES];

    name_instance(sink->instance_id);
    takt__otel_bytes_clear(&sink->resource);
    takt__otel_resource(sink->format, &source, &sink->resource);
    return !sink->resource.is_short &&
           (traces == NULL ||
            takt__otel_channel_resource(traces, &sink->resource));
}

/* With turn. */
static void wake_child(struct sink *sink)
{
    if (!sink->is_child)
        return;
    go_on_trace(sink);
    introduce(sink);
    sink->is_child = false;
}

/* With turn: an empty buffer to write into. */
static struct takt_otel_bytes *blank(struct sink *sink)
{
    takt__otel_bytes_clear(&sink->written);
    return &sink->written;
}

/* ---- what the context calls ---------------------------------------------- */

static bool is_sampled(const struct sink *sink, const takt_event *event)
{
    if (!is_there(&event->parent))
        return sink->is_sampled;
    return takt__otel_sampled(&sink->config.sampler, &event->parent,
                              event->parent.trace_id);
}

static int take_event(void *self, const takt_event *event)
{
    struct sink *sink = self;
    struct takt_otel_channel *traces = sink->channel[TAKT_OTEL_TRACES];

    pthread_mutex_lock(&sink->turn);
    wake_child(sink);
    sink->told++;
    if (traces != NULL && is_sampled(sink, event)) {
        struct takt_otel_bytes *spans = blank(sink);
        const unsigned count =
            takt__otel_spans(sink->format, &sink->trace, event, spans);
        takt__otel_channel_put(traces, spans, count, false);
    }
    pthread_mutex_unlock(&sink->turn);
    return 0;
}

static int take_metrics(void *self, const takt_metrics *metrics)
{
    struct sink *sink = self;
    struct takt_otel_channel *traces = sink->channel[TAKT_OTEL_TRACES];
    struct takt_otel_channel *channel = sink->channel[TAKT_OTEL_METRICS];
    struct takt_otel_counts counts = {0};
    char problem[256];

    if (sink->is_child && metrics->told == 0 && metrics->op_count == 0)
        return 0;
    if (traces != NULL)
        takt__otel_channel_counts(traces, &counts, problem);
    pthread_mutex_lock(&sink->turn);
    wake_child(sink);
    sink->told = metrics->told;
    sink->dropped = metrics->dropped;
    if (channel != NULL) {
        struct takt_otel_bytes *request = blank(sink);
        takt__otel_metrics_request(sink->format, &sink->resource, metrics,
                                   &counts, request);
        takt__otel_channel_renew(channel, request);
    }
    pthread_mutex_unlock(&sink->turn);
    return 0;
}

static void flush(void *self, unsigned deadline_ms)
{
    struct sink *sink = self;
    const uint64_t until_ns = takt__otel_after_ms(takt__now_ns(), deadline_ms);

    for (int i = 0; i < TAKT_OTEL_SIGNALS; i++)
        if (sink->channel[i] != NULL)
            takt__otel_channel_begin_flush(sink->channel[i]);
    for (int i = 0; i < TAKT_OTEL_SIGNALS; i++)
        if (sink->channel[i] != NULL)
            takt__otel_channel_flush(sink->channel[i], until_ns);
}

static void end_trace(struct sink *sink)
{
    struct takt_otel_channel *traces = sink->channel[TAKT_OTEL_TRACES];

    if (traces == NULL || sink->is_child || !sink->is_sampled)
        return;
    pthread_mutex_lock(&sink->turn);
    struct takt_otel_bytes *spans = blank(sink);
    const unsigned count = takt__otel_root(sink->format, &sink->trace,
                                           takt__clock_ns(CLOCK_REALTIME),
                                           sink->told, sink->dropped, spans);
    if (count > 0)
        takt__otel_channel_put(traces, spans, count, true);
    pthread_mutex_unlock(&sink->turn);
}

static void destroy(struct sink *sink)
{
    for (int i = 0; i < TAKT_OTEL_SIGNALS; i++)
        takt__otel_channel_destroy(sink->channel[i]);
    takt__otel_file_close(sink->file);
    takt__otel_bytes_free(&sink->resource);
    takt__otel_bytes_free(&sink->written);
    takt__otel_config_free(&sink->config);
    pthread_mutex_destroy(&sink->turn);
    free(sink);
}

/* Both channels end at the same time: the deadline is for both. */
static void close_sink(void *self, unsigned deadline_ms)
{
    struct sink *sink = self;
    const unsigned most_ms = sink->config.shutdown_ms;
    const uint64_t until_ns = takt__otel_after_ms(
        takt__now_ns(), deadline_ms < most_ms ? deadline_ms : most_ms);

    end_trace(sink);
    for (int i = 0; i < TAKT_OTEL_SIGNALS; i++)
        if (sink->channel[i] != NULL)
            takt__otel_channel_begin_close(sink->channel[i], until_ns);
    for (int i = 0; i < TAKT_OTEL_SIGNALS; i++)
        if (sink->channel[i] != NULL)
            takt__otel_channel_join(sink->channel[i]);
    destroy(sink);
}

static void forked(void *self, takt_fork_phase phase)
{
    struct sink *sink = self;

    if (phase == TAKT_FORK_PREPARE)
        pthread_mutex_lock(&sink->turn);
    for (int i = 0; i < TAKT_OTEL_SIGNALS; i++)
        if (sink->channel[i] != NULL)
            takt__otel_channel_forked(sink->channel[i], phase);
    if (phase == TAKT_FORK_CHILD) {
        sink->is_child = true;
        sink->told = sink->dropped = 0;
    }
    if (phase != TAKT_FORK_PREPARE)
        pthread_mutex_unlock(&sink->turn);
}

static void report(void *self, takt_sink_report *out)
{
    struct sink *sink = self;
    uint64_t latest_ns = 0;

    *out = (takt_sink_report){0};
    strcpy(out->name, sink->file != NULL ? "otlp file" : "otlp");
    for (int i = 0; i < TAKT_OTEL_SIGNALS; i++) {
        struct takt_otel_counts counts;
        char problem[sizeof out->problem];
        if (sink->channel[i] == NULL)
            continue;
        const uint64_t when_ns =
            takt__otel_channel_counts(sink->channel[i], &counts, problem);
        out->sent += counts.spans_sent;
        out->dropped += counts.spans_queue_full;
        out->failed += counts.spans_failed;
        out->rejected += counts.spans_rejected;
        if (when_ns > latest_ns)
            memcpy(out->problem, problem, sizeof problem);
        latest_ns = when_ns > latest_ns ? when_ns : latest_ns;
        if (out->problem[0] == '\0' &&
            takt__otel_channel_is_flushing(sink->channel[i]))
            snprintf(out->problem, sizeof out->problem,
                     "%.200s has not answered yet",
                     sink->config.target[i].shown);
    }
}

/* ---- opening ------------------------------------------------------------- */

static bool open_channel(struct sink *sink, enum takt_otel_signal signal)
{
    const struct takt_otel_config *config = &sink->config;
    const struct takt_otel_target *target = &config->target[signal];
    struct takt_otel_transport transport;
    struct takt_otel_channel_options options = {
        .signal = signal,
        .queue_size = config->queue_size,
        .batch_size = config->batch_size,
        .queue_bytes = QUEUE_BYTES,
        .batch_bytes = BATCH_BYTES,
        .delay_ms = config->delay_ms,
        .timeout_ms = target->timeout_ms,
        .backoff = TAKT_OTEL_BACKOFF_USUAL,
    };

    if (!target->is_on)
        return true;
    options.backoff.budget_s = target->export_ms * 1e-3;
    if (sink->file != NULL)
        transport = takt__otel_file_transport(sink->file);
    else if (!takt__otel_transport_open(target, &transport))
        return false;
    sink->channel[signal] = takt__otel_channel_open(&options, &transport);
    return sink->channel[signal] != NULL;
}

static takt_status open_file(struct sink *sink, takt_diag *diag)
{
    char why[128];

    if (sink->config.file == NULL)
        return TAKT_OK;
    sink->format = TAKT_OTEL_JSON;
    sink->file = takt__otel_file_open(sink->config.file);
    if (sink->file != NULL)
        return TAKT_OK;
    if (errno == EEXIST)
        strcpy(why, "it is a database, and stays");
    else if (strerror_r(errno, why, sizeof why) != 0)
        strcpy(why, "it is refused");
    takt__otel_say(diag, "cannot open %.200s: %s", sink->config.file, why);
    return TAKT_EIO;
}

static takt_status set_up(struct sink *sink, const takt_otlp_options *options,
                          const takt_machine *machine, takt_diag *diag)
{
    takt_status status = takt__otel_config_read(options, &sink->config, diag);

    if (status == TAKT_OK)
        status = open_file(sink, diag);
    if (status != TAKT_OK)
        return status;
    sink->has_machine = machine != NULL;
    if (machine != NULL)
        sink->machine = *machine;
    if (!open_channel(sink, TAKT_OTEL_TRACES) ||
        !open_channel(sink, TAKT_OTEL_METRICS) || !introduce(sink))
        return TAKT_ENOMEM;
    begin_trace(sink);
    return TAKT_OK;
}

takt_status takt_otel_open(int version, const takt_otlp_options *options,
                           const takt_machine *machine, takt_sink *out,
                           takt_diag *diag)
{
    if (diag != NULL)
        diag->text[0] = '\0';
    if (out == NULL)
        return TAKT_EINVAL;
    *out = (takt_sink){0};
    if (version != TAKT_OTEL_VERSION)
        return TAKT_ENOTSUP;
    /* First of all: what it leaves to be done at exit is then done last. */
    if (!takt__otel_transport_begin())
        return TAKT_ENOTSUP;
    struct sink *sink = calloc(1, sizeof *sink);
    if (sink == NULL)
        return TAKT_ENOMEM;
    pthread_mutex_init(&sink->turn, NULL);
    const takt_status status = set_up(sink, options, machine, diag);
    if (status != TAKT_OK) {
        destroy(sink);
        return status;
    }
    const bool has_metrics = sink->channel[TAKT_OTEL_METRICS] != NULL;
    *out = (takt_sink){
        .size = sizeof *out,
        .self = sink,
        .metrics_ms = has_metrics ? sink->config.metrics_ms : 0,
        .event = take_event,
        .metrics = take_metrics,
        .flush = flush,
        .close = close_sink,
        .forked = forked,
        .report = report,
    };
    return TAKT_OK;
}

void takt_otel_watch(const takt_sink *sink, takt_otel_problem *problem)
{
    const struct sink *self = sink->self;

    for (int i = 0; i < TAKT_OTEL_SIGNALS; i++)
        if (self->channel[i] != NULL)
            takt__otel_channel_watch(self->channel[i], problem);
}
