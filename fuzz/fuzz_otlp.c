/* SPDX-License-Identifier: MIT */
/*
 * fuzz_otlp.c - any bytes as the answer of a collector, or as what an event,
 * metrics or a resource are made of.
 *
 * What is written of them is read back: protobuf field by field, as the
 * definitions of OTLP have them, and JSON as JSON. Both hold as many
 * attributes, and no string that is not UTF-8.
 */
#include "fuzz.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "../otel/encode.h"
#include "otlp_read.h"

/* ---- inputs out of bytes ---------------------------------------------------
 */

struct feed {
    const uint8_t *at;
    size_t size;
    char text[16][400]; /* strings that were taken */
    unsigned texts;
};

static uint64_t take(struct feed *feed, size_t bytes)
{
    uint64_t value = 0;

    for (; bytes > 0 && feed->size > 0; bytes--, feed->size--)
        value = value << 8 | *feed->at++;
    return value;
}

static double take_real(struct feed *feed)
{
    const uint64_t bits = take(feed, 8);
    double value;

    memcpy(&value, &bits, sizeof value);
    return value;
}

/* Up to a zero, the end, or as much as there is room for. */
static char *take_text(struct feed *feed)
{
    char *text = feed->text[feed->texts++ % 16];
    size_t length = 0;

    while (feed->size > 0 && length < sizeof feed->text[0] - 1) {
        const char c = (char)take(feed, 1);
        if (c == '\0')
            break;
        text[length++] = c;
    }
    text[length] = '\0';
    return text;
}

static void take_bytes(struct feed *feed, unsigned char *to, size_t size)
{
    for (size_t i = 0; i < size; i++)
        to[i] = (unsigned char)take(feed, 1);
}

static takt_event take_event(struct feed *feed)
{
    takt_event event = {.kind = (takt_event_kind)take(feed, 1),
                        .told = (unsigned)take(feed, 1),
                        .op = take_text(feed),
                        .expert = take_text(feed),
                        .device = take_text(feed),
                        .runner_up = take_text(feed),
                        .refused = take_text(feed),
                        .dtype = (takt_dtype)take(feed, 1),
                        .backend = (takt_backend)take(feed, 1),
                        .reason = (takt_reason)take(feed, 1),
                        .residency = (takt_residency)take(feed, 1),
                        .refusal = (takt_status)take(feed, 1),
                        .status = (takt_status)take(feed, 1),
                        .has_history = (int)take(feed, 1),
                        .threads = (unsigned)take(feed, 2)};

    event.shape.rank = (unsigned)take(feed, 1);
    for (unsigned i = 0; i < event.shape.rank % 11; i++)
        event.shape.dim[i] = (size_t)take(feed, i % 2 ? 8 : 2);
    take_bytes(feed, event.parent.trace_id, 16);
    take_bytes(feed, event.parent.span_id, 8);
    event.parent.flags = (unsigned char)take(feed, 1);
    event.elements = (size_t)take(feed, 8);
    event.start_ns = take(feed, 8);
    event.run_ns = take(feed, 8);
    event.end_ns = take(feed, 8);
    event.thread_id = take(feed, 8);
    event.work.bytes = take_real(feed);
    event.work.flops = take_real(feed);
    event.predicted_s = take_real(feed);
    event.confidence = take_real(feed);
    event.actual_s = take_real(feed);
    return event;
}

static takt_op_metric take_op(struct feed *feed)
{
    return (takt_op_metric){.op = take_text(feed),
                            .calls = take(feed, 8),
                            .is_hot = (int)take(feed, 1),
                            .times_hot = take(feed, 2),
                            .calls_per_s = take_real(feed)};
}

static takt_duration_metric take_duration(struct feed *feed)
{
    takt_duration_metric runs = {.op = take_text(feed),
                                 .expert = take_text(feed),
                                 .backend = (takt_backend)take(feed, 1),
                                 .calls = take(feed, 8),
                                 .seconds = take_real(feed),
                                 .least_s = take_real(feed),
                                 .most_s = take_real(feed)};

    for (unsigned i = 0; i <= TAKT_DURATION_BOUNDS; i++)
        runs.in_class[i] = take(feed, i % 8);
    return runs;
}

/* ---- both ------------------------------------------------------------------
 */

static void compare(enum message message, struct takt_otel_bytes out[2])
{
    const uint8_t *text = out[TAKT_OTEL_JSON].at;
    struct json json = {text, text + out[TAKT_OTEL_JSON].size, 0};

    demand(!out[0].is_short && !out[1].is_short);
    read_value(&json);
    expect(&json, "\n");
    demand(json.at == json.end);
    demand(json.keys == read_message(message, out[0].at, out[0].size));
    takt__otel_bytes_free(&out[0]);
    takt__otel_bytes_free(&out[1]);
}

static void write_resource(struct feed feed, enum takt_otel_format format,
                           struct takt_otel_bytes *out)
{
    struct takt_otel_pair pair[4];
    const struct takt_otel_pairs pairs = {pair, take(&feed, 1) % 5};
    static takt_machine machine;
    const bool is_named = take(&feed, 1) % 2;
    struct takt_otel_source source = {.attributes = &pairs,
                                      .machine = &machine,
                                      .instance_id = take_text(&feed)};

    if (is_named)
        source.service_name = take_text(&feed);
    for (size_t i = 0; i < pairs.count; i++)
        pair[i] = (struct takt_otel_pair){take_text(&feed), take_text(&feed)};
    machine.gpu_count = (unsigned)take(&feed, 1);
    take_bytes(&feed, (unsigned char *)machine.gpu[0].name, 63);
    take_bytes(&feed, (unsigned char *)machine.cpu_name, 63);
    takt__otel_resource(format, &source, out);
}

static void write_spans(struct feed feed, enum takt_otel_format format,
                        struct takt_otel_bytes *out)
{
    struct takt_otel_bytes resource = {0}, spans = {0};
    struct takt_otel_trace trace = {.trace_id = {1}, .root_id = {2}};
    const size_t events = take(&feed, 1) % 4;
    unsigned count = 0;

    trace.random = take(&feed, 8);
    trace.flags = (unsigned char)take(&feed, 1);
    trace.has_root = take(&feed, 1) % 2;
    trace.start_ns = take(&feed, 8);
    strcpy(trace.state, take_text(&feed));
    write_resource(feed, format, &resource);
    for (size_t i = 0; i < events; i++) {
        const takt_event event = take_event(&feed);
        count += takt__otel_spans(format, &trace, &event, &spans);
    }
    count += takt__otel_root(format, &trace, 1, take(&feed, 8), 2, &spans);
    demand((count == 0) == (spans.size == 0));
    takt__otel_trace_request(format, &resource, spans.at, spans.size, out);
    takt__otel_bytes_free(&resource);
    takt__otel_bytes_free(&spans);
}

static void write_metrics(struct feed feed, enum takt_otel_format format,
                          struct takt_otel_bytes *out)
{
    struct takt_otel_bytes resource = {0};
    takt_op_metric op[4];
    takt_duration_metric duration[4];
    takt_metrics metrics = {.start_ns = take(&feed, 8),
                            .now_ns = take(&feed, 8),
                            .op = op,
                            .op_count = take(&feed, 1) % 5,
                            .duration = duration,
                            .duration_count = take(&feed, 1) % 5,
                            .told = take(&feed, 8),
                            .dropped = take(&feed, 8),
                            .exploring_s = take_real(&feed)};
    const struct takt_otel_counts counts = {.spans_sent = take(&feed, 8)};

    for (unsigned i = 0; i < TAKT_REASONS; i++)
        metrics.decisions[i] = take(&feed, 1);
    for (size_t i = 0; i < metrics.op_count; i++)
        op[i] = take_op(&feed);
    for (size_t i = 0; i < metrics.duration_count; i++)
        duration[i] = take_duration(&feed);
    write_resource(feed, format, &resource);
    takt__otel_metrics_request(format, &resource, &metrics, &counts, out);
    takt__otel_bytes_free(&resource);
}

static void read_answer(const uint8_t *bytes, size_t length)
{
    struct takt_otel_answer answer;
    const bool is_one = takt__otel_answer(bytes, length, &answer);
    const double seconds = takt__otel_retry_delay_s(bytes, length);

    demand(answer.rejected >= 0 && (is_one || answer.rejected == 0));
    demand(memchr(answer.message, '\0', sizeof answer.message) != NULL);
    demand_utf8((const uint8_t *)answer.message, strlen(answer.message));
    demand(seconds == -1 || (seconds >= 0 && seconds < 4e11));
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    struct takt_otel_bytes out[2] = {{0}, {0}};
    static struct feed feed;

    if (length == 0)
        return 0;
    feed.at = bytes + 1;
    feed.size = length - 1;
    feed.texts = 0;
    if (bytes[0] % 3 == 0) {
        read_answer(bytes + 1, length - 1);
        return 0;
    }
    for (int i = 0; i < 2; i++)
        if (bytes[0] % 3 == 1)
            write_spans(feed, (enum takt_otel_format)i, &out[i]);
        else
            write_metrics(feed, (enum takt_otel_format)i, &out[i]);
    compare(bytes[0] % 3 == 1 ? REQUEST_OF_SPANS : REQUEST_OF_METRICS, out);
    return 0;
}
