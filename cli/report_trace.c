/* SPDX-License-Identifier: MIT */
/*
 * report_trace.c - a trace as an input of `takt report`: the first calls and
 * all changes of speed as events, and the summary, as `takt trace --format
 * json` prints them.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "report.h"
#include "trace.h"

/* On a time line more would lie on top of each other. */
enum { most_calls = 1000 };

bool is_trace(const char *path)
{
    static const unsigned char mark[] = {0x54, 0x6b, 0xf1, 0x0a};

    return begins_with(path, mark, sizeof mark);
}

/* Lines of JSON, as the values of an array. */
static void print_lines(FILE *out, const char *lines, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (lines[i] != '\n')
            fputc(lines[i], out);
        else if (i + 1 < length)
            fputs(",\n", out);
}

/* Whether all of it was read; lines go to trace->out. */
static bool read_records(struct trace *trace, struct inlet *inlet)
{
    ssize_t got;

    do
        got = take_bytes(trace, inlet);
    while (got > 0);
    if (got == 0)
        take_rest(trace, inlet);
    return got == 0;
}

/* "" or what is wrong. */
static const char *write_trace(struct trace *trace, struct inlet *inlet,
                               struct takt_memory_file *out)
{
    struct takt_memory_file events;

    if (!takt__memory_file_open(&events))
        return "out of memory";
    trace->out = events.stream;
    gauge_open(&trace->gauge, NULL);
    const bool is_read = read_records(trace, inlet);
    const bool has_events = takt__memory_file_close(&events);
    bool is_whole = has_events && takt__memory_file_open(out);
    if (is_whole) {
        fputs("{\"events\":[", out->stream);
        print_lines(out->stream, events.text, events.length);
        fputs("],\"summary\":", out->stream);
        trace->out = out->stream;
        print_summary(trace);
        fputs("}\n", out->stream);
        is_whole = takt__memory_file_close(out);
    }
    gauge_close(&trace->gauge);
    free(events.text);
    return !is_whole ? "out of memory" : is_read ? "" : "cannot be read";
}

bool read_trace(const struct command *command, const char *path,
                struct report_input *out)
{
    struct trace *trace = calloc(1, sizeof *trace);
    struct inlet *inlet = calloc(1, sizeof *inlet);
    struct takt_memory_file page = {0};
    char text[256];
    const char *wrong = "out of memory";

    if (trace != NULL && inlet != NULL) {
        *trace = (struct trace){.command = command,
                                .is_json = true,
                                .most_calls = most_calls,
                                .wants_totals = true};
        inlet->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
        wrong = inlet->fd < 0 ? "cannot be opened"
                              : fault_of_trace(inlet->fd, text, sizeof text);
        if (wrong == NULL)
            wrong = write_trace(trace, inlet, &page);
        if (inlet->fd >= 0)
            close(inlet->fd);
        tally_free(&trace->tally);
    }
    free(trace);
    free(inlet);
    *out = (struct report_input){.path = path,
                                 .kind = "trace",
                                 .text = page.text,
                                 .length = page.length};
    return wrong[0] == '\0' || reject(command, "'%s' %s", path, wrong);
}
