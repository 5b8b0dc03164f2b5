/* SPDX-License-Identifier: MIT */
/* top_model.c - rates of calls from the sums that programs send. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "top.h"

enum { most_streams = 512, most_pairs = 512 };

static const uint64_t kept_ns = 5000000000; /* after the end of a program */

static struct top_stream *find_stream(struct top_model *model, uint64_t source,
                                      uint64_t id)
{
    for (size_t i = 0; i < model->stream_count; i++)
        if (model->stream[i].source == source && model->stream[i].id == id)
            return &model->stream[i];
    return NULL;
}

static void add_stream(struct top_model *model, uint64_t source,
                       const struct takt_trace_record *record)
{
    if (find_stream(model, source, record->stream) != NULL ||
        model->stream_count == most_streams)
        return;
    struct top_stream *more = realloc(model->stream, (model->stream_count + 1) *
                                                         sizeof *model->stream);
    if (more == NULL)
        return;
    model->stream = more;
    struct top_stream *stream = &more[model->stream_count++];
    *stream = (struct top_stream){.source = source,
                                  .id = record->stream,
                                  .pid = record->header.pid,
                                  .known_until_ns = record->header.start_ns,
                                  .is_strange = record->header.version !=
                                                TAKT_TRACE_VERSION};
    snprintf(stream->program, sizeof stream->program, "%s",
             record->header.program);
    top_find_script(stream->pid, stream->program, stream->script);
    top_gain_begin(stream);
}

static struct top_pair *find_pair(struct top_stream *stream,
                                  const takt_duration_metric *metric)
{
    for (size_t i = 0; i < stream->pair_count; i++)
        if (strcmp(stream->pair[i].op, metric->op) == 0 &&
            strcmp(stream->pair[i].expert, metric->expert) == 0)
            return &stream->pair[i];
    if (stream->pair_count == most_pairs)
        return NULL;
    struct top_pair *more =
        realloc(stream->pair, (stream->pair_count + 1) * sizeof *more);
    if (more == NULL)
        return NULL;
    stream->pair = more;
    struct top_pair *pair = &more[stream->pair_count++];
    *pair = (struct top_pair){.backend = metric->backend};
    snprintf(pair->op, sizeof pair->op, "%s", metric->op);
    snprintf(pair->expert, sizeof pair->expert, "%s", metric->expert);
    return pair;
}

/* The totals come last of all that a program sends at once. What it did before
 * it was followed is in its first sums: no rates come of these. */
static void take_totals(struct top_stream *stream, const takt_metrics *totals)
{
    const double past_s =
        totals->now_ns > stream->known_until_ns
            ? (double)(totals->now_ns - stream->known_until_ns) * 1e-9
            : 0;

    if (past_s < 0.05)
        return;
    for (size_t i = 0; i < stream->pair_count; i++) {
        struct top_pair *pair = &stream->pair[i];
        pair->calls_per_s = (double)(pair->calls - pair->calls_before) / past_s;
        pair->busy = (pair->seconds - pair->seconds_before) / past_s;
        pair->calls_before = pair->calls;
        pair->seconds_before = pair->seconds;
    }
    stream->trials_per_s =
        (double)(totals->explorations - stream->explorations) / past_s;
    stream->explorations = totals->explorations;
    stream->alarms = totals->drift_alarms;
    stream->known_until_ns = totals->now_ns;
}

void top_take(struct top_model *model, uint64_t source,
              const struct takt_trace_record *record)
{
    struct top_stream *stream = find_stream(model, source, record->stream);

    if (record->kind == TAKT_TRACE_HEADER)
        add_stream(model, source, record);
    if (stream == NULL || stream->is_strange)
        return;
    if (record->kind == TAKT_TRACE_DURATION) {
        struct top_pair *pair = find_pair(stream, &record->duration);
        if (pair != NULL && record->duration.calls >= pair->calls) {
            pair->calls = record->duration.calls;
            pair->seconds = record->duration.seconds;
        }
    } else if (record->kind == TAKT_TRACE_TOTALS) {
        take_totals(stream, &record->totals);
    }
}

static void end_stream(struct top_stream *stream, uint64_t now_ns)
{
    stream->ended_ns = now_ns;
    for (size_t i = 0; i < stream->pair_count; i++)
        stream->pair[i].calls_per_s = stream->pair[i].busy = 0;
    stream->trials_per_s = 0;
}

void top_end(struct top_model *model, uint64_t source, uint64_t now_ns)
{
    for (size_t i = 0; i < model->stream_count; i++)
        if (model->stream[i].source == source)
            end_stream(&model->stream[i], now_ns);
}

static void drop_stream(struct top_stream *stream)
{
    top_gain_end(stream);
    free(stream->pair);
}

void top_age(struct top_model *model, uint64_t now_ns)
{
    for (size_t i = model->stream_count; i-- > 0;) {
        struct top_stream *stream = &model->stream[i];
        if (stream->ended_ns == 0 || now_ns - stream->ended_ns < kept_ns)
            continue;
        drop_stream(stream);
        *stream = model->stream[--model->stream_count];
    }
}

void top_free(struct top_model *model)
{
    for (size_t i = 0; i < model->stream_count; i++)
        drop_stream(&model->stream[i]);
    free(model->stream);
    free(model->other);
}

/* ---- rows ---- */

static struct top_row *row_for(struct top_row *rows, size_t *count,
                               uint64_t pid)
{
    for (size_t i = 0; i < *count; i++)
        if (rows[i].pid == pid)
            return &rows[i];
    rows[*count] = (struct top_row){.pid = pid,
                                    .has_ended = true,
                                    .detail = "-",
                                    .expert = "-",
                                    .gain_s = (double)NAN,
                                    .gain_error_s = (double)NAN,
                                    .gain_share = (double)NAN,
                                    .most_busy = -1};
    return &rows[(*count)++];
}

/* A process may have several contexts. */
static void add_program(struct top_row *row, const struct top_stream *stream)
{
    row->program = stream->program;
    row->name = stream->script[0] != '\0' ? stream->script : stream->program;
    row->has_ended = row->has_ended && stream->ended_ns != 0;
    row->alarms += stream->alarms;
    if (!isnan(stream->gain_s)) { /* all contexts are of one run */
        row->gain_s = stream->gain_s;
        row->gain_error_s = stream->gain_error_s;
        row->gain_share = stream->gain_share;
    }
    row->trials_per_s += stream->trials_per_s;
    for (size_t i = 0; i < stream->pair_count; i++) {
        const struct top_pair *pair = &stream->pair[i];
        row->calls_per_s += pair->calls_per_s;
        row->busy += pair->busy;
        row->gpu_busy += pair->backend == TAKT_BACKEND_GPU ? pair->busy : 0;
        if (pair->busy > row->most_busy) {
            row->most_busy = pair->busy;
            row->detail = pair->op;
            row->expert = pair->expert;
        }
    }
}

static void add_pairs(struct top_row *rows, size_t *count,
                      const struct top_stream *stream)
{
    for (size_t i = 0; i < stream->pair_count; i++) {
        const struct top_pair *pair = &stream->pair[i];
        const double on_gpu = pair->backend == TAKT_BACKEND_GPU;
        rows[(*count)++] = (struct top_row){.pid = stream->pid,
                                            .name = pair->op,
                                            .program = stream->program,
                                            .detail = pair->expert,
                                            .expert = pair->expert,
                                            .calls_per_s = pair->calls_per_s,
                                            .busy = pair->busy,
                                            .gpu_busy = on_gpu * pair->busy,
                                            .has_ended = stream->ended_ns != 0};
    }
}

static void add_others(struct top_row *rows, size_t *count,
                       const struct top_model *model)
{
    for (size_t i = 0; i < model->other_count; i++) {
        const struct top_other *other = &model->other[i];
        const bool has_script = other->script[0] != '\0';
        rows[(*count)++] = (struct top_row){.pid = other->pid,
                                            .name = has_script ? other->script
                                                               : other->program,
                                            .program = other->program,
                                            .detail = "-",
                                            .expert = "-",
                                            .user = other->user};
    }
}

static double latency_of(const struct top_row *row)
{
    return row->calls_per_s > 0 ? row->busy / row->calls_per_s : 0;
}

static int descending(double x, double y)
{
    return (x < y) - (x > y);
}

/* Rows that are alike in all that counts stay where they are. */
static int compare(const struct top_row *x, const struct top_row *y, double a,
                   double b)
{
    if (x->has_ended != y->has_ended)
        return x->has_ended ? 1 : -1;
    if ((x->user != NULL) != (y->user != NULL))
        return x->user != NULL ? 1 : -1;
    if (a != b)
        return descending(a, b);
    const int by_text = strcmp(x->name, y->name);
    return by_text != 0 ? by_text : (x->pid > y->pid) - (x->pid < y->pid);
}

static int compare_calls(const void *a, const void *b)
{
    const struct top_row *x = a, *y = b;
    return compare(x, y, x->calls_per_s, y->calls_per_s);
}

static int compare_busy(const void *a, const void *b)
{
    const struct top_row *x = a, *y = b;
    return compare(x, y, x->busy, y->busy);
}

static int compare_latency(const void *a, const void *b)
{
    return compare(a, b, latency_of(a), latency_of(b));
}

static int compare_name(const void *a, const void *b)
{
    return compare(a, b, 0, 0);
}

struct top_row *top_rows(const struct top_model *model, uint64_t pid,
                         enum top_order order, const char *filter,
                         size_t *count)
{
    static int (*const by[top_orders])(const void *, const void *) = {
        compare_calls, compare_busy, compare_latency, compare_name};
    size_t room = model->stream_count + model->other_count, kept = 0;

    *count = 0;
    for (size_t i = 0; i < model->stream_count; i++)
        room += model->stream[i].pair_count;
    struct top_row *rows = calloc(room + 1, sizeof *rows);
    for (size_t i = 0; rows != NULL && i < model->stream_count; i++) {
        const struct top_stream *stream = &model->stream[i];
        if (stream->is_strange || (pid != 0 && stream->pid != pid))
            continue;
        if (pid == 0)
            add_program(row_for(rows, count, stream->pid), stream);
        else
            add_pairs(rows, count, stream);
    }
    if (rows != NULL && pid == 0)
        add_others(rows, count, model);
    for (size_t i = 0; rows != NULL && i < *count; i++)
        if (strstr(rows[i].name, filter) != NULL ||
            strstr(rows[i].program, filter) != NULL)
            rows[kept++] = rows[i];
    *count = kept;
    if (kept > 0)
        qsort(rows, kept, sizeof *rows, by[order]);
    return rows;
}
