/* SPDX-License-Identifier: MIT */
/*
 * spans.c - events as spans.
 *
 * A call has two: `backend_selection: OP`, from when it came, and in it
 * `compute_block: OP` or `gpu_kernel: OP`, from when it was run; both to its
 * end. A change of speed has one, `drift_alarm: OP`, without extent. All are
 * below `takt_compute`, the span of the process, unless the caller has one.
 */
#include "writer.h"

enum { KIND_INTERNAL = 1, STATUS_ERROR = 2 };

/* Bits of Span.flags above those of W3C: whether it is known that the parent
 * is of another process, and whether it is. */
enum { KNOWS_REMOTE = 0x100, IS_REMOTE = 0x200 };

struct span {
    const unsigned char *trace_id, *parent_id; /* no parent: NULL */
    unsigned char id[8];
    const char *state;
    uint32_t flags;
    const char *name, *op; /* "name: op"; op NULL: "name" */
    uint64_t start_ns, end_ns;
    takt_status status;
};

/* (splitmix64: no value comes twice.) */
void takt__otel_draw_id(uint64_t *state, unsigned char id[8])
{
    uint64_t z;

    do {
        z = *state += UINT64_C(0x9E3779B97F4A7C15);
        z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
        z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
        z ^= z >> 31;
    } while (z == 0);
    for (int i = 0; i < 8; i++)
        id[i] = (unsigned char)(z >> (56 - 8 * i));
}

static bool is_zero(const unsigned char *id, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if (id[i] != 0)
            return false;
    return true;
}

/* ---- any span ------------------------------------------------------------ */

/* "head: tail", or "head" where there is no tail. */
static void put_joined(struct takt_otel_writer *w, unsigned number,
                       const char *name, const char *head, const char *tail)
{
    const size_t begun = w->form->text_begin(w, number, name);

    takt__otel_piece(w, head, strlen(head));
    if (tail != NULL) {
        takt__otel_piece(w, ": ", 2);
        takt__otel_piece(w, tail, strlen(tail));
    }
    w->form->text_end(w, begun);
}

/* Up to its attributes, which follow. */
static size_t begin_span(struct takt_otel_writer *w, const struct span *span)
{
    const size_t begun = w->form->begin(w, 2, NULL);

    w->form->id(w, 1, "traceId", span->trace_id, 16);
    w->form->id(w, 2, "spanId", span->id, 8);
    if (span->state[0] != '\0')
        w->form->text(w, 3, "traceState", span->state, strlen(span->state));
    if (span->parent_id != NULL)
        w->form->id(w, 4, "parentSpanId", span->parent_id, 8);
    put_joined(w, 5, "name", span->name, span->op);
    w->form->number(w, 6, "kind", TAKT_OTEL_ENUM, KIND_INTERNAL);
    w->form->number(w, 7, "startTimeUnixNano", TAKT_OTEL_FIXED64,
                    span->start_ns);
    w->form->number(w, 8, "endTimeUnixNano", TAKT_OTEL_FIXED64, span->end_ns);
    takt__otel_attributes(w, 9);
    return begun;
}

static void put_error(struct takt_otel_writer *w, takt_status status)
{
    const size_t begun = w->form->begin(w, 15, "status");
    const char *message = takt_status_text(status);

    w->form->text(w, 2, "message", message, strlen(message));
    w->form->number(w, 3, "code", TAKT_OTEL_ENUM, STATUS_ERROR);
    w->form->end(w, begun);
}

static void end_span(struct takt_otel_writer *w, const struct span *span,
                     size_t begun)
{
    takt__otel_attributes_end(w);
    if (span->status != TAKT_OK)
        put_error(w, span->status);
    w->form->number(w, 16, "flags", TAKT_OTEL_FIXED32, span->flags);
    w->form->end(w, begun);
}

/* ---- of an event --------------------------------------------------------- */

/* A span right below the root, or below the parent that the event has. It is
 * not known whether that one is of this process. */
static struct span span_of(struct takt_otel_trace *trace,
                           const takt_event *event, const char *name)
{
    const takt_span_context *parent = &event->parent;
    struct span span = {.name = name, .op = event->op};

    takt__otel_draw_id(&trace->random, span.id);
    span.start_ns = event->start_ns;
    span.end_ns = event->end_ns;
    span.status = event->status;
    if (is_zero(parent->trace_id, 16) || is_zero(parent->span_id, 8)) {
        span.trace_id = trace->trace_id;
        span.parent_id = trace->root_id;
        span.state = trace->state;
        span.flags = (uint32_t)trace->flags | KNOWS_REMOTE |
                     (trace->has_root ? 0u : IS_REMOTE);
    } else {
        span.trace_id = parent->trace_id;
        span.parent_id = parent->span_id;
        span.state = "";
        /* What is sent is sampled; bit 1, that the id of the trace is random,
         * is the trace's. */
        span.flags = 1u | (parent->flags & 2u);
    }
    return span;
}

static void put_told(struct takt_otel_writer *w, unsigned told)
{
    static const char *const name[] = {"slow",     "drawn", "explored",
                                       "fallback", "drift", "all"};
    const struct takt_otel_list list = takt__otel_key_list(w, "takt.told");

    for (unsigned i = 0; i < sizeof name / sizeof name[0]; i++)
        if (told & 1u << i)
            takt__otel_list_text(w, name[i]);
    takt__otel_key_list_end(w, list);
}

static void put_shape(struct takt_otel_writer *w, const takt_shape *shape)
{
    const struct takt_otel_list list = takt__otel_key_list(w, "takt.shape");

    for (unsigned i = 0; i < shape->rank && i < TAKT_SHAPE_MAX_RANK; i++)
        takt__otel_list_integer(w, shape->dim[i]);
    takt__otel_key_list_end(w, list);
}

static void put_fallback(struct takt_otel_writer *w, const takt_event *event)
{
    static const char key[] = "takt.fallback_cause";

    if (event->refused[0] == '\0') {
        if (event->reason == TAKT_REASON_FALLBACK)
            takt__otel_key_text(w, key, "the rule's backend is not there");
        return;
    }
    const struct takt_otel_begun pair =
        w->form->pair(w, w->attribute, key, sizeof key - 1);
    put_joined(w, 1, "stringValue", event->refused,
               takt_status_text(event->refusal));
    takt__otel_pair_end(w, pair);
}

/* Why this expert. */
static void put_decision(struct takt_otel_writer *w, const takt_event *event)
{
    takt__otel_key_text(w, "takt.expert", event->expert);
    takt__otel_key_text(w, "takt.reason", takt_reason_name(event->reason));
    if (event->predicted_s >= 0)
        takt__otel_key_real(w, "takt.predicted_s", event->predicted_s);
    takt__otel_key_real(w, "takt.actual_s", event->actual_s);
    if (event->confidence >= 0)
        takt__otel_key_real(w, "takt.confidence", event->confidence);
    if (event->runner_up[0] != '\0')
        takt__otel_key_text(w, "takt.runner_up", event->runner_up);
    takt__otel_key_text(w, "takt.residency",
                        takt_residency_name(event->residency));
    takt__otel_key_truth(w, "takt.explored",
                         event->reason == TAKT_REASON_EXPLORE);
    takt__otel_key_truth(w, "takt.drift", event->told & TAKT_TOLD_DRIFT);
    put_fallback(w, event);
}

static void put_selection(struct takt_otel_writer *w, const takt_event *event)
{
    takt__otel_key_text(w, "operation", event->op);
    takt__otel_key_integer(w, "input_size", event->elements);
    takt__otel_key_text(w, "selected_backend",
                        takt_backend_key(event->backend));
    takt__otel_key_truth(w, "has_history", event->has_history);
    takt__otel_key_text(w, "decision_type",
                        event->has_history ? "historical" : "heuristic");
    put_decision(w, event);
    takt__otel_key_text(w, "takt.dtype", takt_dtype_name(event->dtype));
    if (event->shape.rank > 0)
        put_shape(w, &event->shape);
    if (event->told != 0) /* an empty list is more than some collectors take */
        put_told(w, event->told);
    takt__otel_key_integer(w, "thread.id", event->thread_id);
}

static void put_run(struct takt_otel_writer *w, const takt_event *event)
{
    takt__otel_key_text(w, "operation", event->op);
    takt__otel_key_text(w, "takt.expert", event->expert);
    takt__otel_key_text(w, "takt.backend", takt_backend_key(event->backend));
    if (event->threads > 0)
        takt__otel_key_integer(w, "takt.threads", event->threads);
    if (event->work.bytes >= 0)
        takt__otel_key_real(w, "takt.bytes", event->work.bytes);
    if (event->work.flops >= 0)
        takt__otel_key_real(w, "takt.flops", event->work.flops);
    if (event->backend == TAKT_BACKEND_GPU) {
        takt__otel_key_text(w, "hw.type", "gpu");
        if (event->device[0] != '\0')
            takt__otel_key_text(w, "hw.name", event->device);
    }
}

static void put_drift(struct takt_otel_writer *w, const takt_event *event)
{
    takt__otel_key_text(w, "operation", event->op);
    takt__otel_key_text(w, "takt.expert", event->expert);
    takt__otel_key_text(w, "selected_backend",
                        takt_backend_key(event->backend));
    takt__otel_key_text(w, "takt.dtype", takt_dtype_name(event->dtype));
    takt__otel_key_integer(w, "input_size", event->elements);
    if (event->predicted_s >= 0)
        takt__otel_key_real(w, "takt.before_s", event->predicted_s);
    takt__otel_key_real(w, "takt.after_s", event->actual_s);
    takt__otel_key_truth(w, "takt.drift", true);
}

static void put_span(struct takt_otel_writer *w, const struct span *span,
                     const takt_event *event,
                     void (*put)(struct takt_otel_writer *w,
                                 const takt_event *event))
{
    const size_t begun = begin_span(w, span);

    put(w, event);
    end_span(w, span, begun);
}

unsigned takt__otel_spans(enum takt_otel_format format,
                          struct takt_otel_trace *trace,
                          const takt_event *event, struct takt_otel_bytes *out)
{
    struct takt_otel_writer writer = takt__otel_writer(format, out);
    struct span outer, inner;

    writer.needs_comma = out->size > 0;
    if (event->kind == TAKT_EVENT_DRIFT) {
        outer = span_of(trace, event, "drift_alarm");
        outer.start_ns = event->end_ns;
        outer.status = TAKT_OK;
        put_span(&writer, &outer, event, put_drift);
        return 1;
    }
    outer = span_of(trace, event, "backend_selection");
    put_span(&writer, &outer, event, put_selection);
    inner = outer;
    takt__otel_draw_id(&trace->random, inner.id);
    inner.parent_id = outer.id;
    inner.flags = (outer.flags & 0xFFu) | KNOWS_REMOTE;
    inner.name =
        event->backend == TAKT_BACKEND_GPU ? "gpu_kernel" : "compute_block";
    inner.start_ns = event->run_ns;
    put_span(&writer, &inner, event, put_run);
    return 2;
}

unsigned takt__otel_root(enum takt_otel_format format,
                         const struct takt_otel_trace *trace, uint64_t end_ns,
                         uint64_t told, uint64_t dropped,
                         struct takt_otel_bytes *out)
{
    struct takt_otel_writer writer = takt__otel_writer(format, out);
    const bool has_parent = !is_zero(trace->parent_id, 8);
    struct span span = {.trace_id = trace->trace_id,
                        .parent_id = has_parent ? trace->parent_id : NULL,
                        .state = trace->state,
                        .name = "takt_compute",
                        .start_ns = trace->start_ns,
                        .end_ns = end_ns};
    size_t begun;

    if (!trace->has_root)
        return 0;
    writer.needs_comma = out->size > 0;
    memcpy(span.id, trace->root_id, 8);
    /* A process has but one: its parent is another's. */
    span.flags =
        (uint32_t)trace->flags | KNOWS_REMOTE | (has_parent ? IS_REMOTE : 0u);
    begun = begin_span(&writer, &span);
    takt__otel_key_integer(&writer, "takt.told", told);
    takt__otel_key_integer(&writer, "takt.dropped", dropped);
    end_span(&writer, &span, begun);
    return 1;
}

void takt__otel_trace_request(enum takt_otel_format format,
                              const struct takt_otel_bytes *resource,
                              const unsigned char *spans, size_t size,
                              struct takt_otel_bytes *out)
{
    struct takt_otel_writer writer = takt__otel_writer(format, out);
    const struct takt_otel_form *form = writer.form;
    struct takt_otel_request begun;

    begun = takt__otel_request(&writer, TAKT_OTEL_TRACES, resource);
    form->list(&writer, "spans");
    form->written(&writer, spans, size);
    form->list_end(&writer);
    takt__otel_request_end(&writer, begun);
}
