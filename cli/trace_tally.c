/* SPDX-License-Identifier: MIT */
/*
 * trace_tally.c - streams, ops and experts, and what they add up to.
 *
 * Records come from outside, so what is kept has limits; what is beyond them is
 * counted. Everything is looked for from the front: lists are short where
 * streams are honest. What one thread of SIMD would have taken is asked of the
 * model: the same call comes again and again, so answers are kept.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "context.h"
#include "trace.h"

enum {
    most_streams = 4096,
    most_ops = 1024,
    most_pairs = 256,
    most_last = 2 * most_ops
};

/* A zeroed element at the end of a list, which grows by doubling. NULL: no
 * memory, or it has `most`. */
static void *append(struct trace_tally *tally, void *list_at, size_t *count,
                    size_t size, size_t most)
{
    void *list;

    if (*count >= most)
        return NULL;
    memcpy(&list, list_at, sizeof list);
    if ((*count & (*count - 1)) == 0)
        list = realloc(list, (*count == 0 ? 1 : 2 * *count) * size);
    tally->lacks_memory |= list == NULL;
    if (list == NULL)
        return NULL;
    memcpy(list_at, &list, sizeof list);
    return memset((char *)list + (*count)++ * size, 0, size);
}

static void copy_name(char out[TAKT_TRACE_TEXT + 1], const char *name)
{
    snprintf(out, TAKT_TRACE_TEXT + 1, "%.*s", TAKT_TRACE_TEXT, name);
}

/* ---- streams ---- */

static struct trace_stream *find_stream(struct trace_tally *tally, uint64_t id)
{
    for (size_t i = 0; i < tally->stream_count; i++) {
        const size_t at = (tally->at + i) % tally->stream_count;
        if (tally->stream[at].id == id) {
            tally->at = at;
            return &tally->stream[at];
        }
    }
    return NULL;
}

static void see_time(struct trace_tally *tally, uint64_t now_ns)
{
    if (now_ns > tally->end_ns)
        tally->end_ns = now_ns;
}

struct trace_stream *tally_header(struct trace_tally *tally,
                                  const struct takt_trace_record *record)
{
    struct trace_stream *stream = find_stream(tally, record->stream);

    if (stream == NULL)
        stream = append(tally, &tally->stream, &tally->stream_count,
                        sizeof *stream, most_streams);
    if (stream == NULL) {
        tally->left_out++;
        return NULL;
    }
    stream->id = record->stream;
    stream->pid = record->header.pid;
    stream->start_ns = record->header.start_ns;
    stream->is_strange = record->header.version != TAKT_TRACE_VERSION;
    if (!stream->is_strange &&
        (tally->start_ns == 0 || stream->start_ns < tally->start_ns))
        tally->start_ns = stream->start_ns;
    see_time(tally, stream->start_ns);
    return stream;
}

struct trace_stream *tally_stream(struct trace_tally *tally, uint64_t id)
{
    struct trace_stream *stream = find_stream(tally, id);

    if (stream == NULL || stream->is_strange) {
        tally->left_out++;
        return NULL;
    }
    return stream;
}

/* ---- ops and experts ---- */

static struct op_tally *op_named(struct trace_tally *tally, const char *name)
{
    for (size_t i = 0; i < tally->op_count; i++)
        if (strncmp(tally->op[i].name, name, TAKT_TRACE_TEXT) == 0)
            return &tally->op[i];
    struct op_tally *op =
        append(tally, &tally->op, &tally->op_count, sizeof *op, most_ops);
    if (op == NULL)
        tally->left_out++;
    else
        copy_name(op->name, name);
    return op;
}

static struct expert_tally *pair_named(struct trace_tally *tally,
                                       struct op_tally *op, const char *expert,
                                       takt_backend backend)
{
    for (size_t i = 0; i < op->pair_count; i++)
        if (strncmp(op->pair[i].expert, expert, TAKT_TRACE_TEXT) == 0)
            return &op->pair[i];
    struct expert_tally *pair =
        append(tally, &op->pair, &op->pair_count, sizeof *pair, most_pairs);
    if (pair == NULL) {
        tally->left_out++;
        return NULL;
    }
    copy_name(pair->expert, expert);
    pair->backend = backend;
    return pair;
}

static size_t class_of(double seconds)
{
    const double *bounds = takt_duration_bounds();
    size_t i = 0;

    while (i < TAKT_DURATION_BOUNDS && seconds > bounds[i])
        i++;
    return i;
}

static bool is_time(double seconds)
{
    return seconds >= 0 && seconds < 1e9;
}

/* ---- events ---- */

static void tally_call(struct trace_tally *tally, struct op_tally *op,
                       const takt_event *event, double would_s)
{
    op->told++;
    op->sampled += event->told == TAKT_TOLD_DRAWN;
    op->explored += event->reason == TAKT_REASON_EXPLORE;
    op->fell_back += (event->told & TAKT_TOLD_FALLBACK) != 0;
    if (!is_time(event->actual_s))
        return;
    op->slowest_s = fmax(op->slowest_s, event->actual_s);
    struct expert_tally *pair =
        pair_named(tally, op, event->expert, event->backend);
    if (pair == NULL || !is_time(would_s))
        return;
    struct told *told = &pair->told[class_of(event->actual_s)];
    told->count++;
    told->took_s += event->actual_s;
    told->would_s += would_s;
}

void tally_event(struct trace_tally *tally, const takt_event *event,
                 double would_s)
{
    struct op_tally *op = op_named(tally, event->op);

    see_time(tally, event->end_ns);
    if (op == NULL)
        return;
    if (event->kind == TAKT_EVENT_DRIFT)
        op->drifted++;
    else
        tally_call(tally, op, event, would_s);
}

/* ---- metrics ---- */

/* How much a sum has grown; one that shrank has begun anew. */
static uint64_t growth(uint64_t now, uint64_t before)
{
    return now >= before ? now - before : now;
}

static struct last_sums *last_of(struct trace_tally *tally,
                                 struct trace_stream *stream, size_t op,
                                 size_t pair)
{
    for (size_t i = 0; i < stream->last_count; i++)
        if (stream->last[i].op == op && stream->last[i].pair == pair)
            return &stream->last[i];
    struct last_sums *last = append(tally, &stream->last, &stream->last_count,
                                    sizeof *last, most_last);
    if (last != NULL) {
        last->op = op;
        last->pair = pair;
    }
    return last;
}

enum turn tally_op(struct trace_tally *tally, struct trace_stream *stream,
                   const takt_op_metric *metric)
{
    struct op_tally *op = op_named(tally, metric->op);
    struct last_sums *last =
        op != NULL ? last_of(tally, stream, (size_t)(op - tally->op), SIZE_MAX)
                   : NULL;

    if (last == NULL)
        return same;
    const bool was_hot = last->is_hot, is_hot = metric->is_hot != 0;
    op->calls += growth(metric->calls, last->calls);
    op->times_hot += growth(metric->times_hot, last->times_hot);
    op->hot_streams += is_hot;
    op->hot_streams -= was_hot;
    last->calls = metric->calls;
    last->times_hot = metric->times_hot;
    last->is_hot = is_hot;
    return is_hot == was_hot ? same : is_hot ? heated : cooled;
}

static void tally_duration(struct trace_tally *tally,
                           struct trace_stream *stream,
                           const takt_duration_metric *metric)
{
    struct op_tally *op = op_named(tally, metric->op);
    struct expert_tally *pair =
        op != NULL ? pair_named(tally, op, metric->expert, metric->backend)
                   : NULL;
    struct last_sums *last =
        pair != NULL ? last_of(tally, stream, (size_t)(op - tally->op),
                               (size_t)(pair - op->pair))
                     : NULL;

    if (last == NULL || !is_time(metric->seconds)) {
        tally->left_out++;
        return;
    }
    pair->calls += growth(metric->calls, last->calls);
    pair->seconds += metric->seconds -
                     (metric->seconds >= last->seconds ? last->seconds : 0);
    for (size_t i = 0; i < duration_classes; i++) {
        pair->in_class[i] += growth(metric->in_class[i], last->in_class[i]);
        last->in_class[i] = metric->in_class[i];
    }
    last->calls = metric->calls;
    last->seconds = metric->seconds;
    if (is_time(metric->most_s))
        op->slowest_s = fmax(op->slowest_s, metric->most_s);
}

/* All kinds but events, headers and ops. */
void tally_metrics(struct trace_tally *tally, struct trace_stream *stream,
                   const struct takt_trace_record *record)
{
    switch (record->kind) {
    case TAKT_TRACE_TOTALS:
        stream->totals = record->totals;
        see_time(tally, record->totals.now_ns);
        return;
    case TAKT_TRACE_DURATION:
        tally_duration(tally, stream, &record->duration);
        return;
    case TAKT_TRACE_DROPPED:
    case TAKT_TRACE_END:
        stream->dropped = record->loss.dropped;
        stream->has_ended = record->kind == TAKT_TRACE_END;
        see_time(tally, record->loss.now_ns);
        return;
    default:
        return;
    }
}

static void drop_stream(struct trace_stream *stream)
{
    otlp_free(stream->otlp);
    free(stream->last);
}

void tally_free(struct trace_tally *tally)
{
    for (size_t i = 0; i < tally->stream_count; i++)
        drop_stream(&tally->stream[i]);
    for (size_t i = 0; i < tally->op_count; i++)
        free(tally->op[i].pair);
    free(tally->stream);
    free(tally->op);
}

/* ---- what one thread of SIMD would have taken, by the model ---- */

enum { most_estimates = 128 };

void gauge_open(struct gauge *gauge, const char *store)
{
    /* No other experts are asked about, so none are loaded. */
    const takt_ctx_options options = {.store = store,
                                      .store_is_foreign =
                                          is_foreign_store(store),
                                      .exploration = -1,
                                      .blas = "",
                                      .gpu = "",
                                      .telemetry = ""};
    const char *name;

    *gauge = (struct gauge){.price = calloc(most_prices, sizeof(struct price))};
    if (gauge->price == NULL ||
        takt_ctx_create(&options, &gauge->ctx) != TAKT_OK)
        return;
    for (size_t i = 0; (name = takt_ctx_expert(gauge->ctx, i, NULL)) != NULL;
         i++)
        if (gauge->expert[0] == '\0' && strncmp(name, "simd.", 5) == 0 &&
            expert_threads(name) == 1) /* the widest comes first */
            snprintf(gauge->expert, sizeof gauge->expert, "%s", name);
}

void gauge_close(struct gauge *gauge)
{
    takt_ctx_destroy(gauge->ctx);
    free(gauge->price);
}

static double ask(struct gauge *gauge, const takt_event *event)
{
    const takt_request request = {.op = takt_op_find(event->op),
                                  .dtype = event->dtype,
                                  .shape = event->shape};
    takt_estimate all[most_estimates] = {{.size = sizeof all[0]}};
    size_t count;

    if (request.op == NULL || takt_explain(gauge->ctx, &request, all,
                                           most_estimates, &count) != TAKT_OK)
        return -1;
    for (size_t i = 0; i < count && i < most_estimates; i++)
        if (strcmp(all[i].expert, gauge->expert) == 0)
            return all[i].predicted_s;
    return -1;
}

static size_t hash_of(const takt_event *event)
{
    uint64_t hash = (uint64_t)event->dtype + event->shape.rank;

    for (const char *at = event->op; *at != '\0'; at++)
        hash = (hash ^ (unsigned char)*at) * 0x100000001b3u;
    for (unsigned i = 0; i < event->shape.rank; i++)
        hash = (hash ^ event->shape.dim[i]) * 0x9e3779b97f4a7c15u;
    return (size_t)(hash >> 32) & (most_prices - 1);
}

static bool is_price_of(const struct price *price, const takt_event *event)
{
    return price->dtype == event->dtype &&
           price->shape.rank == event->shape.rank &&
           memcmp(price->shape.dim, event->shape.dim,
                  event->shape.rank * sizeof *event->shape.dim) == 0 &&
           strcmp(price->op, event->op) == 0;
}

double one_thread_s(struct gauge *gauge, const takt_event *event)
{
    if (gauge->ctx == NULL || gauge->expert[0] == '\0' ||
        event->shape.rank == 0 || strlen(event->op) >= sizeof gauge->price->op)
        return -1;
    struct price *price = &gauge->price[hash_of(event)];
    if (!is_price_of(price, event)) {
        *price = (struct price){.dtype = event->dtype,
                                .shape = event->shape,
                                .seconds = ask(gauge, event)};
        memcpy(price->op, event->op, strlen(event->op) + 1);
    }
    return price->seconds;
}
