/* SPDX-License-Identifier: MIT */
#include "telemetry/record.h"

#include <string.h>

#include "support/tap.h"

enum { room = TAKT_TRACE_FRAME + TAKT_TRACE_MOST };

/* Makes the check right again after a change. */
static void seal(unsigned char *record, size_t size)
{
    const unsigned check = takt__trace_check(record, size);

    record[10] = (unsigned char)check;
    record[11] = (unsigned char)(check >> 8);
}

static const takt_event some_event = {
    .kind = TAKT_EVENT_CALL,
    .told = TAKT_TOLD_SLOW | TAKT_TOLD_FALLBACK,
    .op = "matmul",
    .dtype = TAKT_F64,
    .shape = {3, {512, 256, SIZE_MAX}},
    .elements = 131072,
    .work = {1.5e6, 6.7e7},
    .backend = TAKT_BACKEND_GPU,
    .expert = "cuda.0",
    .threads = 7,
    .device = "Some GPU, 80 GB",
    .reason = TAKT_REASON_PINNED,
    .has_history = 1,
    .runner_up = "simd.avx2",
    .predicted_s = 1e-3,
    .confidence = -1,
    .residency = TAKT_RESIDENCY_MIXED,
    .refused = "cuda.1",
    .refusal = TAKT_ENOMEM,
    .status = TAKT_ENOTSUP,
    .start_ns = 1700000000123456789,
    .run_ns = UINT64_MAX,
    .end_ns = 1,
    .actual_s = 0.1,
    .thread_id = 4711,
    .parent = {{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 255},
               {9, 8, 7, 6, 5, 4, 3, 2},
               1}};

/* Encodes and decodes. */
static void carry(const struct takt_trace_record *record,
                  struct takt_trace_record *out)
{
    unsigned char bytes[room];
    size_t used;
    const size_t size = takt__trace_encode(record, bytes);

    memset(out, 0xab, sizeof *out);
    EXPECT(size <= room);
    EXPECT_INT(takt__trace_decode(bytes, size, out, &used), TAKT_TRACE_FOUND);
    EXPECT_INT(used, size);
    EXPECT_INT(out->kind, record->kind);
    EXPECT(out->stream == record->stream);
}

static void a_header_comes_back(void)
{
    const struct takt_trace_record record = {
        .kind = TAKT_TRACE_HEADER,
        .stream = 0x123456789abcdef0,
        .header = {.version = TAKT_TRACE_VERSION,
                   .pid = 77,
                   .start_ns = 5,
                   .threshold_s = 1e-4,
                   .rate = 0.01,
                   .program = "train",
                   .takt = "1.2.3"}};
    struct takt_trace_record got;

    carry(&record, &got);
    EXPECT_INT(got.header.version, 1);
    EXPECT_INT(got.header.pid, 77);
    EXPECT_INT(got.header.start_ns, 5);
    EXPECT_NEAR(got.header.threshold_s, 1e-4, 0);
    EXPECT_NEAR(got.header.rate, 0.01, 0);
    EXPECT_STR(got.header.program, "train");
    EXPECT_STR(got.header.takt, "1.2.3");
}

static void expect_same_call(const takt_event *got, const takt_event *want)
{
    EXPECT_INT(got->kind, want->kind);
    EXPECT_INT(got->told, want->told);
    EXPECT_STR(got->op, want->op);
    EXPECT_INT(got->dtype, want->dtype);
    EXPECT_INT(got->shape.rank, want->shape.rank);
    for (unsigned i = 0; i < want->shape.rank; i++)
        EXPECT(got->shape.dim[i] == want->shape.dim[i]);
    EXPECT_INT(got->elements, want->elements);
    EXPECT_NEAR(got->work.bytes, want->work.bytes, 0);
    EXPECT_NEAR(got->work.flops, want->work.flops, 0);
    EXPECT(got->start_ns == want->start_ns);
    EXPECT(got->run_ns == want->run_ns);
    EXPECT(got->end_ns == want->end_ns);
    EXPECT_NEAR(got->actual_s, want->actual_s, 0);
    EXPECT(got->thread_id == want->thread_id);
    EXPECT(memcmp(&got->parent, &want->parent, sizeof want->parent) == 0);
}

static void expect_same_choice(const takt_event *got, const takt_event *want)
{
    EXPECT_INT(got->backend, want->backend);
    EXPECT_STR(got->expert, want->expert);
    EXPECT_INT(got->threads, want->threads);
    EXPECT_STR(got->device, want->device);
    EXPECT_INT(got->reason, want->reason);
    EXPECT_INT(got->has_history, want->has_history);
    EXPECT_STR(got->runner_up, want->runner_up);
    EXPECT_NEAR(got->predicted_s, want->predicted_s, 0);
    EXPECT_NEAR(got->confidence, want->confidence, 0);
    EXPECT_INT(got->residency, want->residency);
    EXPECT_STR(got->refused, want->refused);
    EXPECT_INT(got->refusal, want->refusal);
    EXPECT_INT(got->status, want->status);
}

static void every_member_of_an_event_comes_back(void)
{
    const struct takt_trace_record record = {
        .kind = TAKT_TRACE_EVENT, .stream = 3, .event = some_event};
    struct takt_trace_record got;

    carry(&record, &got);
    expect_same_call(&got.event, &some_event);
    expect_same_choice(&got.event, &some_event);
}

static void a_change_of_speed_comes_back(void)
{
    struct takt_trace_record record = {.kind = TAKT_TRACE_EVENT,
                                       .event = some_event};
    struct takt_trace_record got;

    record.event.kind = TAKT_EVENT_DRIFT;
    record.event.shape.rank = 0;
    record.event.refused = record.event.device = record.event.runner_up = "";
    record.event.predicted_s = INFINITY;
    carry(&record, &got);
    expect_same_call(&got.event, &record.event);
    EXPECT(isinf(got.event.predicted_s));
    EXPECT_STR(got.event.refused, "");
}

static void totals_come_back(void)
{
    struct takt_trace_record record = {
        .kind = TAKT_TRACE_TOTALS,
        .totals = {.start_ns = 1,
                   .now_ns = 2,
                   .explorations = 3,
                   .fallbacks = 4,
                   .drift_alarms = 5,
                   .exploring_s = 0.25,
                   .told = 6,
                   .dropped = 7,
                   .samples_dropped = UINT64_MAX}};
    struct takt_trace_record got;

    for (unsigned i = 0; i < TAKT_REASONS; i++)
        record.totals.decisions[i] = 100 + i;
    carry(&record, &got);
    EXPECT(memcmp(&got.totals, &record.totals, sizeof got.totals) == 0);
}

static void metrics_of_an_op_come_back(void)
{
    const struct takt_trace_record record = {
        .kind = TAKT_TRACE_OP, .op = {"add", UINT64_MAX, 1, 9, 12345.5}};
    struct takt_trace_record got;

    carry(&record, &got);
    EXPECT_STR(got.op.op, "add");
    EXPECT(got.op.calls == UINT64_MAX);
    EXPECT_INT(got.op.is_hot, 1);
    EXPECT_INT(got.op.times_hot, 9);
    EXPECT_NEAR(got.op.calls_per_s, 12345.5, 0);
}

static void durations_come_back(void)
{
    struct takt_trace_record record = {
        .kind = TAKT_TRACE_DURATION,
        .duration = {.op = "sum",
                     .expert = "simd.neon",
                     .backend = TAKT_BACKEND_SIMD,
                     .calls = 11,
                     .seconds = 2.5,
                     .least_s = 1e-9,
                     .most_s = 2}};
    struct takt_trace_record got;

    for (unsigned i = 0; i <= TAKT_DURATION_BOUNDS; i++)
        record.duration.in_class[i] = (uint64_t)1 << i;
    carry(&record, &got);
    EXPECT_STR(got.duration.op, "sum");
    EXPECT_STR(got.duration.expert, "simd.neon");
    EXPECT_INT(got.duration.backend, TAKT_BACKEND_SIMD);
    EXPECT_INT(got.duration.calls, 11);
    EXPECT_NEAR(got.duration.seconds, 2.5, 0);
    EXPECT_NEAR(got.duration.least_s, 1e-9, 0);
    EXPECT_NEAR(got.duration.most_s, 2, 0);
    EXPECT(memcmp(got.duration.in_class, record.duration.in_class,
                  sizeof got.duration.in_class) == 0);
}

static void losses_and_greetings_come_back(void)
{
    struct takt_trace_record record = {.kind = TAKT_TRACE_DROPPED,
                                       .loss = {17, 4}};
    struct takt_trace_record got;

    carry(&record, &got);
    EXPECT_INT(got.loss.now_ns, 17);
    EXPECT_INT(got.loss.dropped, 4);
    record.kind = TAKT_TRACE_END;
    carry(&record, &got);
    EXPECT_INT(got.loss.dropped, 4);
    record = (struct takt_trace_record){.kind = TAKT_TRACE_GREETING,
                                        .greeting = {1, 250, 1}};
    carry(&record, &got);
    EXPECT_INT(got.greeting.wants_all, 1);
    EXPECT_INT(got.greeting.metrics_ms, 250);
    EXPECT_INT(got.greeting.wants_no_events, 1);
}

static void long_and_strange_strings_are_made_fit(void)
{
    char name[1000];
    struct takt_trace_record record = {.kind = TAKT_TRACE_EVENT,
                                       .event = some_event};
    struct takt_trace_record got;

    memset(name, 'x', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    record.event.op = record.event.expert = record.event.device = name;
    record.event.runner_up = record.event.refused = name;
    carry(&record, &got);
    EXPECT_INT(strlen(got.event.op), TAKT_TRACE_TEXT);
    EXPECT_INT(strlen(got.event.refused), TAKT_TRACE_TEXT);
    record.event.op = "a\033[2J\n\x80z";
    carry(&record, &got);
    EXPECT_STR(got.event.op, "a?[2J??z");
}

/* ---- bytes that are not what they should be -------------------------------
 */

/* A stream with a record of every kind; returns its length, and where each
 * record ends. */
static size_t make_stream(unsigned char *out, size_t ends[8])
{
    struct takt_trace_record record = {.stream = 1};
    size_t length = 0;

    for (unsigned kind = TAKT_TRACE_HEADER; kind <= TAKT_TRACE_GREETING;
         kind++) {
        record.kind = (enum takt_trace_kind)kind;
        memset(&record.totals, 0, sizeof record.totals);
        if (kind == TAKT_TRACE_HEADER)
            record.header = (struct takt_trace_header){
                .version = TAKT_TRACE_VERSION, .program = "p", .takt = "t"};
        else if (kind == TAKT_TRACE_EVENT)
            record.event = some_event;
        else if (kind == TAKT_TRACE_OP)
            record.op.op = "add";
        else if (kind == TAKT_TRACE_DURATION)
            record.duration =
                (takt_duration_metric){.op = "add", .expert = "scalar"};
        length += takt__trace_encode(&record, out + length);
        ends[kind - 1] = length;
    }
    return length;
}

/* The whole of `bytes`, which are copied to memory that ends there, so that a
 * sanitizer sees what is read beyond; returns the records that were found. */
static unsigned count_records(const unsigned char *bytes, size_t length,
                              bool *is_short)
{
    unsigned char *exact = malloc(length > 0 ? length : 1);
    struct takt_trace_record record;
    unsigned count = 0;
    size_t at = 0, used;

    REQUIRE(exact != NULL);
    memcpy(exact, bytes, length);
    *is_short = false;
    while (at < length && !*is_short) {
        const enum takt_trace_outcome outcome =
            takt__trace_decode(exact + at, length - at, &record, &used);
        *is_short = outcome == TAKT_TRACE_SHORT;
        REQUIRE(*is_short == (used == 0) && used <= length - at);
        count += outcome == TAKT_TRACE_FOUND;
        at += used;
    }
    free(exact);
    return count;
}

static void a_cut_off_stream_is_read_as_far_as_it_goes(void)
{
    unsigned char bytes[8 * room];
    size_t ends[8];
    const size_t length = make_stream(bytes, ends);

    for (size_t cut = 0; cut <= length; cut++) {
        unsigned whole = 0;
        bool is_short;
        while (whole < 8 && ends[whole] <= cut)
            whole++;
        EXPECT_INT(count_records(bytes, cut, &is_short), whole);
        EXPECT_INT(is_short, cut > 0 && cut != (whole ? ends[whole - 1] : 0));
    }
}

static void what_is_not_a_record_is_passed_over(void)
{
    unsigned char bytes[9 * room];
    size_t ends[8];
    bool is_short;

    memset(bytes, 'T', 1000); /* as a mark begins */
    const size_t length = 1000 + make_stream(bytes + 1000, ends);
    EXPECT_INT(count_records(bytes, length, &is_short), 8);
    bytes[1000 + ends[3]] ^= 1; /* the mark of the fifth */
    EXPECT_INT(count_records(bytes, length, &is_short), 7);
}

static void half_a_record_costs_that_record_alone(void)
{
    unsigned char bytes[8 * room], torn[8 * room];
    size_t ends[8];
    bool is_short;
    const size_t length = make_stream(bytes, ends);

    for (size_t part = 1; part < ends[1] - ends[0]; part++) {
        const size_t rest = length - ends[1];
        memcpy(torn, bytes, ends[0] + part);
        memcpy(torn + ends[0] + part, bytes + ends[1], rest);
        EXPECT_INT(count_records(torn, ends[0] + part + rest, &is_short), 7);
    }
}

static void a_changed_byte_is_noticed(void)
{
    unsigned char bytes[room];
    struct takt_trace_record record = {.kind = TAKT_TRACE_EVENT,
                                       .event = some_event};
    size_t used;
    const size_t size = takt__trace_encode(&record, bytes);

    for (size_t i = 0; i < size; i++) {
        bytes[i] ^= 0x10;
        EXPECT(takt__trace_decode(bytes, size, &record, &used) !=
               TAKT_TRACE_FOUND);
        bytes[i] ^= 0x10;
    }
}

static void lengths_that_lie_are_refused(void)
{
    unsigned char bytes[room];
    struct takt_trace_record record = {.kind = TAKT_TRACE_EVENT,
                                       .event = some_event};
    size_t used;
    const size_t size = takt__trace_encode(&record, bytes);

    for (unsigned shift = 0; shift < 32; shift++) { /* of the record */
        const uint32_t claimed = (uint32_t)1 << shift;
        for (unsigned i = 0; i < 4; i++)
            bytes[4 + i] = (unsigned char)(claimed >> 8 * i);
        if (claimed <= size - TAKT_TRACE_FRAME)
            seal(bytes, TAKT_TRACE_FRAME + claimed);
        const enum takt_trace_outcome outcome =
            takt__trace_decode(bytes, size, &record, &used);
        EXPECT_INT(outcome, claimed > TAKT_TRACE_MOST ? TAKT_TRACE_DAMAGED
                            : claimed > size - TAKT_TRACE_FRAME
                                ? TAKT_TRACE_SHORT
                                : TAKT_TRACE_DAMAGED);
    }
    record = (struct takt_trace_record){.kind = TAKT_TRACE_OP, .op.op = "add"};
    const size_t short_size = takt__trace_encode(&record, bytes);
    for (unsigned length = 0; length < 0x10000; length++) { /* of a string */
        bytes[TAKT_TRACE_FRAME] = (unsigned char)length;
        bytes[TAKT_TRACE_FRAME + 1] = (unsigned char)(length >> 8);
        seal(bytes, short_size);
        const bool fits = length <= 3; /* what follows is read all the same */
        EXPECT_INT(takt__trace_decode(bytes, short_size, &record, &used),
                   fits ? TAKT_TRACE_FOUND : TAKT_TRACE_DAMAGED);
    }
}

static void what_a_later_version_says_is_passed_over(void)
{
    unsigned char bytes[room];
    struct takt_trace_record record = {.kind = TAKT_TRACE_END};
    size_t used;
    const size_t size = takt__trace_encode(&record, bytes);

    bytes[8] = 200; /* a kind that there is not */
    seal(bytes, size);
    EXPECT_INT(takt__trace_decode(bytes, size, &record, &used),
               TAKT_TRACE_PASSED);
    EXPECT_INT(used, size);
    record = (struct takt_trace_record){.kind = TAKT_TRACE_DURATION,
                                        .duration = {.op = "", .expert = ""}};
    const size_t long_size = takt__trace_encode(&record, bytes);
    bytes[TAKT_TRACE_FRAME + 4] = 3; /* a backend that there is not */
    seal(bytes, long_size);
    EXPECT_INT(takt__trace_decode(bytes, long_size, &record, &used),
               TAKT_TRACE_PASSED);
    EXPECT_INT(used, long_size);
}

static void more_members_at_the_end_do_no_harm(void)
{
    unsigned char bytes[room] = {0};
    struct takt_trace_record record = {.kind = TAKT_TRACE_END, .loss = {5, 6}};
    size_t used;
    const size_t size = takt__trace_encode(&record, bytes);

    bytes[4] = (unsigned char)(bytes[4] + 9);
    seal(bytes, size + 9);
    EXPECT_INT(takt__trace_decode(bytes, size + 9, &record, &used),
               TAKT_TRACE_FOUND);
    EXPECT_INT(used, size + 9);
    EXPECT_INT(record.loss.dropped, 6);
}

static void a_header_of_a_later_version_says_which(void)
{
    unsigned char bytes[room];
    struct takt_trace_record record = {
        .kind = TAKT_TRACE_HEADER,
        .header = {.version = 9, .program = "", .takt = "9.9.9"}};
    size_t used;
    const size_t size = takt__trace_encode(&record, bytes);

    EXPECT_INT(takt__trace_decode(bytes, size, &record, &used),
               TAKT_TRACE_FOUND);
    EXPECT_INT(record.header.version, 9);
    EXPECT_STR(record.header.takt, "9.9.9");
    EXPECT_STR(record.header.program, "");
}

int main(void)
{
    RUN(a_header_comes_back);
    RUN(every_member_of_an_event_comes_back);
    RUN(a_change_of_speed_comes_back);
    RUN(totals_come_back);
    RUN(metrics_of_an_op_come_back);
    RUN(durations_come_back);
    RUN(losses_and_greetings_come_back);
    RUN(long_and_strange_strings_are_made_fit);
    RUN(a_cut_off_stream_is_read_as_far_as_it_goes);
    RUN(what_is_not_a_record_is_passed_over);
    RUN(half_a_record_costs_that_record_alone);
    RUN(a_changed_byte_is_noticed);
    RUN(lengths_that_lie_are_refused);
    RUN(what_a_later_version_says_is_passed_over);
    RUN(more_members_at_the_end_do_no_harm);
    RUN(a_header_of_a_later_version_says_which);
    return tap_done();
}
