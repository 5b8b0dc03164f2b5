/* SPDX-License-Identifier: MIT */
/*
 * record.c - trace records to bytes and back.
 *
 * The members of records are a table: the same walk over it writes them or
 * reads them, so that the two cannot differ.
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

static void walk_size(struct walk *walk, size_t *value)
{
    const uint64_t got = walk_number(walk, *value, 8);
    *value = got < SIZE_MAX ? (size_t)got : SIZE_MAX;
}

/* One of the values up to `last`; others are of a later version. */
static unsigned walk_choice(struct walk *walk, unsigned value, unsigned last)
{
    const unsigned got = (unsigned)walk_number(walk, value, 1);

    if (got <= last)
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

static void walk_shape(struct walk *walk, takt_shape *shape)
{
    shape->rank = walk_choice(walk, shape->rank, TAKT_SHAPE_MAX_RANK);
    for (unsigned i = 0; i < shape->rank; i++)
        walk_size(walk, &shape->dim[i]);
}

/* 64 bits each: integers or doubles. */
static void walk_words(struct walk *walk, unsigned char *words, unsigned count)
{
    for (unsigned i = 0; i < count; i++, words += sizeof(uint64_t)) {
        uint64_t word;
        memcpy(&word, words, sizeof word);
        word = walk_number(walk, word, sizeof word);
        memcpy(words, &word, sizeof word);
    }
}

/* ---- records ------------------------------------------------------------- */

struct member {
    enum takt_trace_kind kind; /* of the record that it is in */
    enum { WORDS, SIZE, U32, FLAG, CHOICE, TEXT, BYTES, SHAPE } type;
    size_t offset;
    unsigned count; /* words or bytes; of a choice the last value */
};

#define AT(member_) offsetof(struct takt_trace_record, member_)
/* Words that follow each other, and bytes. */
#define FROM(first_, last_) AT(first_), (AT(last_) - AT(first_)) / 8 + 1
#define BYTES_OF(first_, last_) AT(first_), AT(last_) - AT(first_) + 1

static const struct member members[] = {
    {TAKT_TRACE_HEADER, TEXT, AT(header.program), 0},
    {TAKT_TRACE_HEADER, WORDS, FROM(header.pid, header.rate)},
    {TAKT_TRACE_EVENT, CHOICE, AT(event.kind), TAKT_EVENT_DRIFT},
    {TAKT_TRACE_EVENT, U32, AT(event.told), 0},
    {TAKT_TRACE_EVENT, TEXT, AT(event.op), 0},
    {TAKT_TRACE_EVENT, CHOICE, AT(event.dtype), TAKT_F64},
    {TAKT_TRACE_EVENT, SHAPE, AT(event.shape), 0},
    {TAKT_TRACE_EVENT, SIZE, AT(event.elements), 0},
    {TAKT_TRACE_EVENT, WORDS, FROM(event.work.bytes, event.work.flops)},
    {TAKT_TRACE_EVENT, CHOICE, AT(event.backend), TAKT_BACKEND_GPU},
    {TAKT_TRACE_EVENT, TEXT, AT(event.expert), 0},
    {TAKT_TRACE_EVENT, U32, AT(event.threads), 0},
    {TAKT_TRACE_EVENT, TEXT, AT(event.device), 0},
    {TAKT_TRACE_EVENT, CHOICE, AT(event.reason), TAKT_REASONS - 1},
    {TAKT_TRACE_EVENT, FLAG, AT(event.has_history), 0},
    {TAKT_TRACE_EVENT, TEXT, AT(event.runner_up), 0},
    {TAKT_TRACE_EVENT, WORDS, FROM(event.predicted_s, event.confidence)},
    {TAKT_TRACE_EVENT, CHOICE, AT(event.residency), TAKT_RESIDENCY_MIXED},
    {TAKT_TRACE_EVENT, TEXT, AT(event.refused), 0},
    {TAKT_TRACE_EVENT, CHOICE, AT(event.refusal), TAKT_ENOTSUP},
    {TAKT_TRACE_EVENT, CHOICE, AT(event.status), TAKT_ENOTSUP},
    {TAKT_TRACE_EVENT, WORDS, FROM(event.start_ns, event.thread_id)},
    {TAKT_TRACE_EVENT, BYTES, BYTES_OF(event.parent, event.parent.flags)},
    {TAKT_TRACE_TOTALS, WORDS, FROM(totals.start_ns, totals.now_ns)},
    {TAKT_TRACE_TOTALS, WORDS, FROM(totals.decisions, totals.samples_dropped)},
    {TAKT_TRACE_OP, TEXT, AT(op.op), 0},
    {TAKT_TRACE_OP, WORDS, FROM(op.calls, op.calls)},
    {TAKT_TRACE_OP, FLAG, AT(op.is_hot), 0},
    {TAKT_TRACE_OP, WORDS, FROM(op.times_hot, op.calls_per_s)},
    {TAKT_TRACE_DURATION, TEXT, AT(duration.op), 0},
    {TAKT_TRACE_DURATION, TEXT, AT(duration.expert), 0},
    {TAKT_TRACE_DURATION, CHOICE, AT(duration.backend), TAKT_BACKEND_GPU},
    {TAKT_TRACE_DURATION, WORDS,
     FROM(duration.calls, duration.in_class[TAKT_DURATION_BOUNDS])},
    {TAKT_TRACE_DROPPED, WORDS, FROM(loss.now_ns, loss.dropped)},
    {TAKT_TRACE_END, WORDS, FROM(loss.now_ns, loss.dropped)},
    {TAKT_TRACE_GREETING, FLAG, AT(greeting.wants_all), 0},
    {TAKT_TRACE_GREETING, U32, AT(greeting.metrics_ms), 0},
    {TAKT_TRACE_GREETING, FLAG, AT(greeting.wants_no_events), 0},
};
_Static_assert(sizeof(takt_reason) == sizeof(unsigned), "enums are unsigned");

static void walk_unsigned(struct walk *walk, const struct member *member,
                          unsigned char *at)
{
    unsigned value;

    memcpy(&value, at, sizeof value);
    if (member->type == U32)
        value = (unsigned)walk_number(walk, value, 4);
    else if (member->type == FLAG)
        value = walk_number(walk, value != 0, 1) != 0;
    else
        value = walk_choice(walk, value, member->count);
    memcpy(at, &value, sizeof value);
}

static void walk_member(struct walk *walk, const struct member *member,
                        struct takt_trace_record *record)
{
    void *at = (unsigned char *)record + member->offset;

    if (member->type == WORDS)
        walk_words(walk, at, member->count);
    else if (member->type == SIZE)
        walk_size(walk, at);
    else if (member->type == TEXT)
        walk_text(walk, at);
    else if (member->type == BYTES)
        walk_bytes(walk, at, member->count);
    else if (member->type == SHAPE)
        walk_shape(walk, at);
    else
        walk_unsigned(walk, member, at);
}

/* False: a header of another version, the rest of which is not known. */
static bool walk_version(struct walk *walk, struct takt_trace_header *header)
{
    unsigned char sign[sizeof magic];

    memcpy(sign, magic, sizeof sign);
    walk_bytes(walk, sign, sizeof sign);
    walk->is_wrong |= memcmp(sign, magic, sizeof sign) != 0;
    header->version = (unsigned)walk_number(walk, header->version, 4);
    walk_text(walk, &header->takt);
    if (header->version == TAKT_TRACE_VERSION)
        return true;
    header->program = "";
    return false;
}

static void walk_record(struct walk *walk, struct takt_trace_record *record)
{
    bool is_known = record->kind == TAKT_TRACE_HEADER;

    if (is_known && !walk_version(walk, &record->header))
        return;
    for (size_t i = 0; i < sizeof members / sizeof members[0]; i++)
        if (members[i].kind == record->kind) {
            walk_member(walk, &members[i], record);
            is_known = true;
        }
    walk->is_unknown |= !is_known;
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
    frame->length = (unsigned)walk_number(walk, frame->length, 4);
    frame->kind = (unsigned)walk_number(walk, frame->kind, 2);
    frame->check = (unsigned)walk_number(walk, frame->check, 2);
    frame->stream = walk_number(walk, frame->stream, 8);
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
