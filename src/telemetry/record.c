/* SPDX-License-Identifier: MIT */
/*
 * record.c - trace records to bytes and back.
 *
 * The members of a record are listed once: the same walk over them writes them
 * or reads them, so that the two cannot differ.
 */
#include "telemetry/record.h"

#include <stdbool.h>
#include <string.h>

static const unsigned char mark[4] = {'T', 'k', 0xf1, '\n'};
static const unsigned char magic[8] = {'t', 'a', 'k', 't', 't', 'r', 'c', 'e'};

struct walk {
    unsigned char *to;         /* NULL: it reads */
    const unsigned char *from; /* NULL: it writes */
    size_t left;               /* bytes of the record */
    char *text;      /* for strings that are read: TAKT_TRACE_MOST bytes */
    bool is_wrong;   /* the record is too short, or not valid */
    bool is_unknown; /* it has values of a later version */
};

/* ---- members ------------------------------------------------------------- */

static bool take(struct walk *walk, size_t count)
{
    if (walk->left < count)
        walk->is_wrong = true;
    if (walk->is_wrong)
        return false;
    walk->left -= count;
    return true;
}

static void walk_bytes(struct walk *walk, unsigned char *bytes, size_t count)
{
    if (!take(walk, count)) {
        memset(bytes, 0, count);
    } else if (walk->to != NULL) {
        memcpy(walk->to, bytes, count);
        walk->to += count;
    } else {
        memcpy(bytes, walk->from, count);
        walk->from += count;
    }
}

static uint64_t walk_number(struct walk *walk, uint64_t value, unsigned width)
{
    unsigned char bytes[8];
    uint64_t got = 0;

    for (unsigned i = 0; i < width; i++)
        bytes[i] = (unsigned char)(value >> 8 * i);
    walk_bytes(walk, bytes, width);
    for (unsigned i = 0; i < width; i++)
        got |= (uint64_t)bytes[i] << 8 * i;
    return got;
}

static void walk_u64(struct walk *walk, uint64_t *value)
{
    *value = walk_number(walk, *value, 8);
}

static void walk_u32(struct walk *walk, unsigned *value)
{
    *value = (unsigned)walk_number(walk, *value, 4);
}

static void walk_flag(struct walk *walk, int *value)
{
    *value = walk_number(walk, *value != 0, 1) != 0;
}

static void walk_size(struct walk *walk, size_t *value)
{
    const uint64_t got = walk_number(walk, *value, 8);
    *value = got < SIZE_MAX ? (size_t)got : SIZE_MAX;
}

static void walk_double(struct walk *walk, double *value)
{
    uint64_t bits;

    memcpy(&bits, value, sizeof bits);
    bits = walk_number(walk, bits, 8);
    memcpy(value, &bits, sizeof bits);
}

/* One of `count` values; others are of a later version. */
static unsigned walk_choice(struct walk *walk, unsigned value, unsigned count)
{
    const unsigned got = (unsigned)walk_number(walk, value, 1);

    if (got < count)
        return got;
    walk->is_unknown = true;
    return 0;
}

static void read_text(struct walk *walk, const char **text, size_t length)
{
    char *out = walk->text;

    *text = "";
    if (!take(walk, length))
        return;
    for (size_t i = 0; i < length; i++) {
        const unsigned char c = walk->from[i];
        out[i] = c >= 0x20 && c < 0x7f ? (char)c : '?';
    }
    out[length] = '\0';
    *text = out;
    walk->from += length;
    walk->text += length + 1;
}

static void walk_text(struct walk *walk, const char **text)
{
    size_t length = 0;

    if (walk->to != NULL)
        while (length < TAKT_TRACE_TEXT && (*text)[length] != '\0')
            length++;
    length = (size_t)walk_number(walk, length, 2);
    if (walk->to == NULL) {
        read_text(walk, text, length);
    } else if (take(walk, length)) {
        memcpy(walk->to, *text, length);
        walk->to += length;
    }
}

/* ---- records ------------------------------------------------------------- */

static void walk_header(struct walk *walk, struct takt_trace_header *header)
{
    unsigned char sign[sizeof magic];

    memcpy(sign, magic, sizeof sign);
    walk_bytes(walk, sign, sizeof sign);
    walk->is_wrong |= memcmp(sign, magic, sizeof sign) != 0;
    walk_u32(walk, &header->version);
    walk_text(walk, &header->takt);
    if (header->version != TAKT_TRACE_VERSION) { /* the rest is not known */
        header->program = "";
        return;
    }
    walk_text(walk, &header->program);
    walk_u64(walk, &header->pid);
    walk_u64(walk, &header->start_ns);
    walk_double(walk, &header->threshold_s);
    walk_double(walk, &header->rate);
}

static void walk_shape(struct walk *walk, takt_shape *shape)
{
    shape->rank = walk_choice(walk, shape->rank, TAKT_SHAPE_MAX_RANK + 1);
    for (unsigned i = 0; i < shape->rank; i++)
        walk_size(walk, &shape->dim[i]);
}

static takt_status walk_status(struct walk *walk, takt_status status)
{
    return (takt_status)walk_choice(walk, (unsigned)status, TAKT_ENOTSUP + 1);
}

/* The decision: the expert that ran it, and why. */
static void walk_decision(struct walk *walk, takt_event *event)
{
    event->backend = (takt_backend)walk_choice(walk, (unsigned)event->backend,
                                               TAKT_BACKEND_GPU + 1);
    walk_text(walk, &event->expert);
    walk_u32(walk, &event->threads);
    walk_text(walk, &event->device);
    event->reason =
        (takt_reason)walk_choice(walk, (unsigned)event->reason, TAKT_REASONS);
    walk_flag(walk, &event->has_history);
    walk_text(walk, &event->runner_up);
    walk_double(walk, &event->predicted_s);
    walk_double(walk, &event->confidence);
    event->residency = (takt_residency)walk_choice(
        walk, (unsigned)event->residency, TAKT_RESIDENCY_MIXED + 1);
    walk_text(walk, &event->refused);
    event->refusal = walk_status(walk, event->refusal);
    event->status = walk_status(walk, event->status);
}

static void walk_event(struct walk *walk, takt_event *event)
{
    event->kind = (takt_event_kind)walk_choice(walk, (unsigned)event->kind,
                                               TAKT_EVENT_DRIFT + 1);
    walk_u32(walk, &event->told);
    walk_text(walk, &event->op);
    event->dtype =
        (takt_dtype)walk_choice(walk, (unsigned)event->dtype, TAKT_F64 + 1);
    walk_shape(walk, &event->shape);
    walk_size(walk, &event->elements);
    walk_double(walk, &event->work.bytes);
    walk_double(walk, &event->work.flops);
    walk_decision(walk, event);
    walk_u64(walk, &event->start_ns);
    walk_u64(walk, &event->run_ns);
    walk_u64(walk, &event->end_ns);
    walk_double(walk, &event->actual_s);
    walk_u64(walk, &event->thread_id);
    walk_bytes(walk, event->parent.trace_id, sizeof event->parent.trace_id);
    walk_bytes(walk, event->parent.span_id, sizeof event->parent.span_id);
    walk_bytes(walk, &event->parent.flags, 1);
}

static void walk_totals(struct walk *walk, takt_metrics *totals)
{
    walk_u64(walk, &totals->start_ns);
    walk_u64(walk, &totals->now_ns);
    for (unsigned i = 0; i < TAKT_REASONS; i++)
        walk_u64(walk, &totals->decisions[i]);
    walk_u64(walk, &totals->explorations);
    walk_u64(walk, &totals->fallbacks);
    walk_u64(walk, &totals->drift_alarms);
    walk_double(walk, &totals->exploring_s);
    walk_u64(walk, &totals->told);
    walk_u64(walk, &totals->dropped);
    walk_u64(walk, &totals->samples_dropped);
}

static void walk_op(struct walk *walk, takt_op_metric *op)
{
    walk_text(walk, &op->op);
    walk_u64(walk, &op->calls);
    walk_flag(walk, &op->is_hot);
    walk_u64(walk, &op->times_hot);
    walk_double(walk, &op->calls_per_s);
}

static void walk_duration(struct walk *walk, takt_duration_metric *duration)
{
    walk_text(walk, &duration->op);
    walk_text(walk, &duration->expert);
    duration->backend = (takt_backend)walk_choice(
        walk, (unsigned)duration->backend, TAKT_BACKEND_GPU + 1);
    walk_u64(walk, &duration->calls);
    walk_double(walk, &duration->seconds);
    walk_double(walk, &duration->least_s);
    walk_double(walk, &duration->most_s);
    for (unsigned i = 0; i <= TAKT_DURATION_BOUNDS; i++)
        walk_u64(walk, &duration->in_class[i]);
}

static void walk_record(struct walk *walk, struct takt_trace_record *record)
{
    switch (record->kind) {
    case TAKT_TRACE_HEADER:
        walk_header(walk, &record->header);
        return;
    case TAKT_TRACE_EVENT:
        walk_event(walk, &record->event);
        return;
    case TAKT_TRACE_TOTALS:
        walk_totals(walk, &record->totals);
        return;
    case TAKT_TRACE_OP:
        walk_op(walk, &record->op);
        return;
    case TAKT_TRACE_DURATION:
        walk_duration(walk, &record->duration);
        return;
    case TAKT_TRACE_DROPPED:
    case TAKT_TRACE_END:
        walk_u64(walk, &record->loss.now_ns);
        walk_u64(walk, &record->loss.dropped);
        return;
    case TAKT_TRACE_GREETING:
        walk_flag(walk, &record->greeting.wants_all);
        walk_u32(walk, &record->greeting.metrics_ms);
        return;
    }
    walk->is_unknown = true;
}

/* ---- frames -------------------------------------------------------------- */

/* What precedes a record. */
struct frame {
    unsigned char sign[sizeof mark];
    unsigned length, kind, check;
    uint64_t stream;
};

enum { check_at = 10, check_end = 12 };

static void walk_frame(struct walk *walk, struct frame *frame)
{
    walk_bytes(walk, frame->sign, sizeof frame->sign);
    walk_u32(walk, &frame->length);
    frame->kind = (unsigned)walk_number(walk, frame->kind, 2);
    frame->check = (unsigned)walk_number(walk, frame->check, 2);
    walk_u64(walk, &frame->stream);
}

static uint32_t add_up(uint32_t sum, const unsigned char *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        sum = (sum ^ bytes[i]) * 16777619u; /* FNV-1a */
    return sum;
}

unsigned takt__trace_check(const unsigned char *record, size_t size)
{
    uint32_t sum = add_up(2166136261u, record, check_at);

    sum = add_up(sum, record + check_end, size - check_end);
    return (sum ^ sum >> 16) & 0xffff;
}

size_t takt__trace_encode(const struct takt_trace_record *record,
                          unsigned char *out)
{
    struct takt_trace_record copy; /* except for the text, which is large */
    struct walk inside = {.to = out + TAKT_TRACE_FRAME,
                          .left = TAKT_TRACE_MOST};
    struct walk before = {.to = out, .left = TAKT_TRACE_FRAME};

    memcpy(&copy, record, offsetof(struct takt_trace_record, text));
    walk_record(&inside, &copy);
    struct frame frame = {.length = (unsigned)(TAKT_TRACE_MOST - inside.left),
                          .kind = (unsigned)record->kind,
                          .stream = record->stream};
    memcpy(frame.sign, mark, sizeof mark);
    walk_frame(&before, &frame);
    const size_t size = TAKT_TRACE_FRAME + frame.length;
    const unsigned check = takt__trace_check(out, size);
    out[check_at] = (unsigned char)check;
    out[check_at + 1] = (unsigned char)(check >> 8);
    return size;
}

/* Where the next mark may begin, after bytes[0]. */
static size_t next_mark(const unsigned char *bytes, size_t length)
{
    const unsigned char *at =
        length > 1 ? memchr(bytes + 1, mark[0], length - 1) : NULL;
    return at != NULL ? (size_t)(at - bytes) : length;
}

static bool begins_like_a_mark(const unsigned char *bytes, size_t length)
{
    return memcmp(bytes, mark, length < sizeof mark ? length : sizeof mark) ==
           0;
}

enum takt_trace_outcome takt__trace_decode(const unsigned char *bytes,
                                           size_t length,
                                           struct takt_trace_record *out,
                                           size_t *used)
{
    struct walk walk = {.from = bytes, .left = length, .text = out->text};
    struct frame frame = {.length = 0};

    memset(out, 0, offsetof(struct takt_trace_record, text));
    *used = next_mark(bytes, length);
    if (!begins_like_a_mark(bytes, length))
        return TAKT_TRACE_DAMAGED;
    walk_frame(&walk, &frame);
    if (!walk.is_wrong && frame.length > TAKT_TRACE_MOST)
        return TAKT_TRACE_DAMAGED;
    if (walk.is_wrong || frame.length > walk.left) {
        *used = 0;
        return TAKT_TRACE_SHORT;
    }
    const size_t size = TAKT_TRACE_FRAME + frame.length;
    if (takt__trace_check(bytes, size) != frame.check)
        return TAKT_TRACE_DAMAGED;
    walk.left = frame.length;
    out->kind = (enum takt_trace_kind)frame.kind;
    out->stream = frame.stream;
    walk_record(&walk, out);
    if (walk.is_wrong)
        return TAKT_TRACE_DAMAGED;
    *used = size;
    return walk.is_unknown ? TAKT_TRACE_PASSED : TAKT_TRACE_FOUND;
}
