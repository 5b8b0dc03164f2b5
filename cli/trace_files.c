/* SPDX-License-Identifier: MIT */
/* trace_files.c - a trace that was written into a file. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "trace.h"

enum { look_again_ms = 100 };

/* Says why a file is of no use; NULL: it is. It begins with the header of its
 * first stream. */
static const char *fault_of(int fd, char *text, size_t size)
{
    unsigned char bytes[TAKT_TRACE_FRAME + TAKT_TRACE_MOST];
    struct takt_trace_record record;
    struct stat facts;
    size_t used;

    if (fstat(fd, &facts) != 0 || !S_ISREG(facts.st_mode))
        return "is not a file";
    const ssize_t length = pread(fd, bytes, sizeof bytes, 0);
    if (length < 0)
        return strerror(errno);
    if (length == 0)
        return "is empty: nothing was written yet (--follow waits for it)";
    const enum takt_trace_outcome outcome =
        takt__trace_decode(bytes, (size_t)length, &record, &used);
    if (outcome == TAKT_TRACE_SHORT)
        return "is cut off before its first record ends";
    if (outcome != TAKT_TRACE_FOUND || record.kind != TAKT_TRACE_HEADER)
        return "is not a trace (TAKT_TRACE=FILE and --record make them)";
    if (record.header.version == TAKT_TRACE_VERSION)
        return NULL;
    snprintf(text, size,
             "was written by Takt %.32s in version %u of the format, and this "
             "is Takt %s, which reads version %d: use the takt of that version",
             record.header.takt, record.header.version, takt_version(),
             TAKT_TRACE_VERSION);
    return text;
}

/* Waits a moment. False: a signal asks to end, or time is up. */
static bool wait_for_more(int signals, uint64_t end_ns)
{
    struct pollfd wanted = {.fd = signals, .events = POLLIN};
    return poll(&wanted, 1, look_again_ms) == 0 &&
           (end_ns == 0 || takt__now_ns() < end_ns);
}

static bool is_waiting_for_start(int fd, bool is_followed)
{
    struct stat facts;
    return is_followed && fstat(fd, &facts) == 0 && facts.st_size == 0;
}

static int read_file(struct trace *trace, struct inlet *inlet, bool is_followed)
{
    const uint64_t end_ns =
        trace->for_s > 0 ? takt__now_ns() + (uint64_t)(trace->for_s * 1e9) : 0;
    const int signals = is_followed ? open_signals() : -1;
    ssize_t got;

    gauge_open(&trace->gauge, trace->store);
    do {
        while ((got = take_bytes(trace, inlet)) > 0)
            if (end_ns != 0 && takt__now_ns() >= end_ns)
                break;
        fflush(trace->out);
    } while (got == 0 && is_followed && wait_for_more(signals, end_ns));
    if (got == 0)
        take_rest(trace, inlet);
    if (signals >= 0)
        close(signals);
    if (got >= 0)
        return EXIT_DONE;
    fprintf(stderr, "takt trace: reading failed: %s\n", strerror(errno));
    return EXIT_FINDING;
}

int trace_file(struct trace *trace, const char *path, bool is_followed)
{
    char text[256];
    struct inlet *inlet = malloc(sizeof *inlet);

    if (inlet == NULL)
        return EXIT_FINDING;
    inlet->length = 0;
    inlet->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    int code = EXIT_USAGE;
    const char *fault = inlet->fd < 0 ? strerror(errno)
                        : is_waiting_for_start(inlet->fd, is_followed)
                            ? NULL
                            : fault_of(inlet->fd, text, sizeof text);
    if (fault != NULL)
        usage_error(trace->command, "'%s': %s%s", path, fault,
                    inlet->fd < 0 ? "; a command comes after --" : "");
    else
        code = read_file(trace, inlet, is_followed);
    if (fault == NULL)
        print_summary(trace);
    if (inlet->fd >= 0)
        close(inlet->fd);
    free(inlet);
    return code;
}
