/* SPDX-License-Identifier: MIT */
/*
 * fuzz_trace.c - any bytes, read as a trace by `takt trace`.
 *
 * The first byte tells whether the rest is the trace, or is cut into records:
 * a kind, a length, and what it says. Those get a frame with the right check,
 * which a fuzzer would take long to find. What was understood must come out the
 * same when it is written and read again.
 */
#include "fuzz.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "commands.h"
#include "top.h"
#include "trace.h"

/* Whose name stands in front of messages; the command itself is not linked. */
const struct command cmd_run = {.name = "run"};

const struct command *const commands[] = {NULL};

/* The files that top_gain.c opens are not those of the input. */
void top_gain_begin(struct top_stream *stream)
{
    stream->stats_fd = -1;
}

void top_gain_end(struct top_stream *stream)
{
    stream->stats_fd = -1;
}

enum { room = TAKT_TRACE_FRAME + TAKT_TRACE_MOST, most = 60000 };

static void demand(bool condition)
{
    if (!condition)
        abort();
}

/* Makes a record of some bytes; returns its size. */
static size_t frame(unsigned kind, const uint8_t *says, size_t length,
                    unsigned char *out)
{
    struct takt_trace_record end = {.kind = TAKT_TRACE_END, .stream = 1};
    const size_t size = TAKT_TRACE_FRAME + length;

    takt__trace_encode(&end, out);
    out[4] = (unsigned char)length;
    out[5] = (unsigned char)(length >> 8);
    out[8] = (unsigned char)kind;
    memcpy(out + TAKT_TRACE_FRAME, says, length);
    const unsigned check = takt__trace_check(out, size);
    out[10] = (unsigned char)check;
    out[11] = (unsigned char)(check >> 8);
    return size;
}

static size_t make_records(const uint8_t *bytes, size_t length,
                           unsigned char *out)
{
    size_t at = 0, made = 0;

    while (at + 3 <= length && made + room <= most) {
        const size_t claimed = bytes[at + 1] + 256u * (bytes[at + 2] % 16u);
        const size_t left = length - at - 3;
        const size_t says = claimed < left ? claimed : left;
        made += frame(bytes[at] % 10u, bytes + at + 3, says, out + made);
        at += 3 + says;
    }
    return made;
}

static void check_text(const char *text)
{
    for (; *text != '\0'; text++)
        demand(*text >= 0x20 && *text < 0x7f);
}

static void check_again(const struct takt_trace_record *record)
{
    static struct takt_trace_record again;
    unsigned char first[room], second[room];
    size_t used;

    if (record->kind == TAKT_TRACE_EVENT) {
        check_text(record->event.op);
        check_text(record->event.refused);
    }
    const size_t size = takt__trace_encode(record, first);
    demand(size <= room);
    demand(takt__trace_decode(first, size, &again, &used) == TAKT_TRACE_FOUND);
    demand(used == size && takt__trace_encode(&again, second) == size);
    demand(memcmp(first, second, size) == 0);
}

/* As `takt top` shows it, to nobody. */
static void show_top(const struct top_model *model)
{
    static FILE *nobody;
    struct top_view view = {.width = 80, .height = 24, .has_colour = true};

    if (nobody == NULL)
        nobody = fopen("/dev/null", "w");
    demand(nobody != NULL);
    view.pid = draw_screen(nobody, model, &view);
    draw_screen(nobody, model, &view);
    print_top_json(nobody, model);
}

static void read_all(const unsigned char *bytes, size_t length)
{
    static struct takt_trace_record record;
    struct top_model top = {0};
    size_t used;

    for (size_t at = 0; at < length; at += used) {
        const enum takt_trace_outcome outcome =
            takt__trace_decode(bytes + at, length - at, &record, &used);
        demand((outcome == TAKT_TRACE_SHORT) == (used == 0));
        demand(used <= length - at);
        if (outcome == TAKT_TRACE_FOUND) {
            check_again(&record);
            top_take(&top, record.stream % 3, &record);
        }
        if (used == 0)
            break;
    }
    show_top(&top);
    top_free(&top);
}

/* The whole way: lines and summary, to nobody. */
static void show(const unsigned char *bytes, size_t length, unsigned format)
{
    static FILE *nobody;
    static struct inlet inlet;
    struct trace trace = {.is_json = format == 1,
                          .is_chrome = format == 2,
                          .is_otlp = format == 3,
                          .is_converted = format >= 2};
    int ends[2];

    if (nobody == NULL)
        nobody = fopen("/dev/null", "w");
    demand(nobody != NULL && pipe(ends) == 0);
    demand(write(ends[1], bytes, length) == (ssize_t)length);
    close(ends[1]);
    trace.out = nobody;
    inlet.fd = ends[0];
    inlet.length = 0;
    while (take_bytes(&trace, &inlet) > 0)
        continue;
    take_rest(&trace, &inlet);
    print_summary(&trace);
    tally_free(&trace.tally);
    close(ends[0]);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    static unsigned char made[most];

    if (length == 0 || length > most / 2)
        return 0;
    const bool is_raw = (bytes[0] & 1) != 0;
    const size_t size =
        is_raw ? length - 1 : make_records(bytes + 1, length - 1, made);
    const unsigned char *trace = is_raw ? bytes + 1 : made;
    read_all(trace, size);
    show(trace, size, (bytes[0] >> 1) % 4);
    return 0;
}
