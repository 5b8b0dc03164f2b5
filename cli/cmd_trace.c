/* SPDX-License-Identifier: MIT */
/* cmd_trace.c - `takt trace`: decisions while they are made. */
#include <errno.h>
#include <fcntl.h>
#include <float.h>
#include <poll.h>
#include <signal.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/database_file.h"
#include "clean.h"
#include "commands.h"
#include "context.h"
#include "trace.h"

/* ---- records ---- */

static bool is_wanted(const struct trace *trace, const char *op)
{
    return trace->op == NULL || strcmp(trace->op, op) == 0;
}

static void take_event(struct trace *trace, const struct trace_stream *stream,
                       const takt_event *event)
{
    if (!is_wanted(trace, event->op))
        return;
    const double would_s =
        event->kind == TAKT_EVENT_CALL && !trace->is_converted
            ? one_thread_s(&trace->gauge, event)
            : -1;
    tally_event(&trace->tally, event, would_s);
    if (event->kind != TAKT_EVENT_CALL || trace->most_calls == 0 ||
        trace->calls++ < trace->most_calls)
        print_event(trace, stream, event);
}

static void take_metrics(struct trace *trace, struct trace_stream *stream,
                         const struct takt_trace_record *record)
{
    tally_metrics(&trace->tally, stream, record);
    if (record->kind == TAKT_TRACE_TOTALS && trace->wants_totals)
        print_totals(trace, stream);
}

static void take_record(struct trace *trace,
                        const struct takt_trace_record *record)
{
    struct trace_stream *stream;

    if (record->kind == TAKT_TRACE_HEADER) {
        stream = tally_header(&trace->tally, record);
        if (stream != NULL && !stream->is_strange)
            print_hello(trace, stream, &record->header);
        return;
    }
    stream = tally_stream(&trace->tally, record->stream);
    if (stream == NULL)
        return;
    if (record->kind == TAKT_TRACE_EVENT)
        take_event(trace, stream, &record->event);
    else if (record->kind != TAKT_TRACE_OP &&
             (record->kind != TAKT_TRACE_DURATION ||
              is_wanted(trace, record->duration.op)))
        take_metrics(trace, stream, record);
    else if (record->kind == TAKT_TRACE_OP && is_wanted(trace, record->op.op))
        print_turn(trace, stream, &record->op,
                   tally_op(&trace->tally, stream, &record->op));
}

/* Takes what is whole; returns how many bytes that was. */
static size_t take_records(struct trace *trace, const unsigned char *bytes,
                           size_t length)
{
    struct takt_trace_record record;
    size_t at = 0, used = 0;

    for (; at < length; at += used) {
        switch (takt__trace_decode(bytes + at, length - at, &record, &used)) {
        case TAKT_TRACE_SHORT:
            return at;
        case TAKT_TRACE_DAMAGED:
            trace->tally.damaged += used;
            continue;
        case TAKT_TRACE_PASSED:
            trace->tally.passed++;
            break;
        case TAKT_TRACE_FOUND:
            take_record(trace, &record);
            break;
        }
        if (trace->record != NULL)
            fwrite(bytes + at, 1, used, trace->record);
    }
    return at;
}

ssize_t take_bytes(struct trace *trace, struct inlet *inlet)
{
    const ssize_t got = read(inlet->fd, inlet->bytes + inlet->length,
                             sizeof inlet->bytes - inlet->length);

    if (got <= 0)
        return got;
    inlet->length += (size_t)got;
    const size_t used = take_records(trace, inlet->bytes, inlet->length);
    inlet->length -= used;
    memmove(inlet->bytes, inlet->bytes + used, inlet->length);
    return got;
}

void take_rest(struct trace *trace, struct inlet *inlet)
{
    trace->tally.is_cut_off |= inlet->length > 0;
    for (size_t at = 0; at < inlet->length;) {
        const size_t used =
            take_records(trace, inlet->bytes + at, inlet->length - at);
        at += used > 0 ? used : 1;
    }
    inlet->length = 0;
}

/* ---- surroundings ---- */

int open_signals(void)
{
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGHUP);
    sigaddset(&set, SIGQUIT);
    sigaddset(&set, SIGCHLD);
    if (sigprocmask(SIG_BLOCK, &set, NULL) != 0)
        return -1;
    return signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
}

/* ---- a trace that was written into a file ---- */

enum { poll_ms = 100 };

/* It begins with the header of its first stream. */
const char *fault_of_trace(int fd, char *text, size_t size)
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

/* Waits a moment. False: a signal ends it, or time is up. */
static bool wait_for_more(int signals, uint64_t end_ns)
{
    struct pollfd wanted = {.fd = signals, .events = POLLIN};
    return poll(&wanted, 1, poll_ms) == 0 &&
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

static int trace_file(struct trace *trace, const char *path, bool is_followed)
{
    char text[256];
    struct inlet *inlet = malloc(sizeof *inlet);

    if (inlet == NULL) {
        trace->tally.lacks_memory = true;
        return EXIT_FINDING;
    }
    inlet->length = 0;
    inlet->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    int code = EXIT_USAGE;
    const char *fault = inlet->fd < 0 ? strerror(errno)
                        : is_waiting_for_start(inlet->fd, is_followed)
                            ? NULL
                            : fault_of_trace(inlet->fd, text, sizeof text);
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

/* ---- the command ---- */

static bool is_number(const char *word)
{
    return word[0] != '\0' && word[strspn(word, "0123456789")] == '\0';
}

/* A link is followed if root or this user has made it, as that of /dev/stdout:
 * another one's in a folder such as /tmp may lead anywhere. */
static int open_in_place(const char *path, mode_t mode)
{
    const int flags = O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC;
    const int fd = open(path, flags | O_NOFOLLOW, mode);
    struct stat link;

    if (fd >= 0 || errno != ELOOP || lstat(path, &link) != 0)
        return fd;
    if (link.st_uid == 0 || link.st_uid == geteuid())
        return open(path, flags, mode);
    errno = EACCES;
    return -1;
}

/* Written in place and from the start, since others may read it meanwhile
 * ('tail -f'): a file that is replaced as a whole shows nothing until the end.
 */
static FILE *open_for_writing(const struct command *command, const char *path,
                              mode_t mode)
{
    const bool is_kept = takt__is_database(AT_FDCWD, path);
    const int fd = is_kept ? -1 : open_in_place(path, mode);
    FILE *file = fd >= 0 ? fdopen(fd, "w") : NULL;

    if (is_kept)
        usage_error(command, "'%s' is a database, and stays", path);
    else if (file == NULL)
        usage_error(command, "'%s' cannot be written: %s", path,
                    strerror(errno));
    return file;
}

/* Options that a file of a trace cannot have. What is written is emptied first,
 * and must not be what is to be read. */
static bool is_sensible_for_file(const struct invocation *invocation)
{
    const char *output = option_value(invocation, "output");

    if (output != NULL && is_same_file(output, invocation->operands[0]))
        return reject(invocation->command,
                      "--output '%s' is the trace that is to be read", output);
    if (option_given(invocation, "record"))
        return reject(invocation->command,
                      "--record is for programs; '%s' is a file already",
                      invocation->operands[0]);
    if (option_given(invocation, "all"))
        return reject(invocation->command,
                      "--all is for programs: a file has what it has "
                      "(TAKT_TRACE_DEBUG=1 when it is made)");
    return true;
}

/* What makes no sense together, or not at all. */
static bool is_sensible(const struct invocation *invocation)
{
    const struct command *command = invocation->command;
    const bool is_program = invocation->program != NULL;
    const bool is_file = !is_program && invocation->operand_count == 1 &&
                         !is_number(invocation->operands[0]);

    if (is_program && invocation->operand_count > 0)
        return reject(command, "'%s' and a command cannot both be traced",
                      invocation->operands[0]);
    if (is_program && invocation->program[0] == NULL)
        return reject(command, "no command after --");
    if (!is_program && invocation->operand_count == 0)
        return reject(command, "needs %s", command->operands);
    if (option_given(invocation, "follow") && !is_file)
        return reject(command, "--follow is for files");
    if (option_given(invocation, "as-is") && !is_program)
        return reject(command, "--as-is is for a command");
    return !is_file || is_sensible_for_file(invocation);
}

static bool read_options(const struct invocation *invocation,
                         struct trace *trace)
{
    const struct command *command = invocation->command;
    const char *output = option_value(invocation, "output");
    const char *record = option_value(invocation, "record");

    trace->is_json = option_choice(invocation, "format") == 1;
    trace->is_chrome = option_choice(invocation, "format") == 2;
    trace->is_otlp = option_choice(invocation, "format") == 3;
    trace->is_converted = trace->is_chrome || trace->is_otlp;
    trace->is_quiet = option_given(invocation, "summary");
    trace->wants_all = option_given(invocation, "all");
    trace->as_is = option_given(invocation, "as-is");
    trace->op = option_value(invocation, "op");
    trace->store = option_value(invocation, "db");
    if (!read_rate_option(invocation, "for", DBL_MAX, "is no time",
                          &trace->for_s))
        return false;
    trace->out = invocation->program != NULL ? stderr : stdout;
    if (output != NULL &&
        (trace->out = open_for_writing(command, output, 0666)) == NULL)
        return false;
    if (record != NULL &&
        (trace->record = open_for_writing(command, record, 0600)) == NULL)
        return false;
    if (trace->out != stderr) /* no other thread writes there */
        __fsetlocking(trace->out, FSETLOCKING_BYCALLER);
    trace->has_colour = wants_colour(trace->out);
    return true;
}

static int run_trace(const struct invocation *invocation, struct trace *trace)
{
    const char *word = invocation->operands[0];

    if (invocation->program != NULL)
        return trace_program(trace, invocation->program);
    if (is_number(word))
        return trace_process(trace, word);
    return trace_file(trace, word, option_given(invocation, "follow"));
}

/* What was written must have been written. */
static int finish_file(FILE *file, const char *name, int code)
{
    if (file == NULL || file == stdout || file == stderr)
        return code;
    const bool is_bad = ferror(file) != 0;
    if (fclose(file) == 0 && !is_bad)
        return code;
    complain(&cmd_trace, "'%s' could not be written", name);
    return code == EXIT_DONE ? EXIT_FINDING : code;
}

/* What is missing for lack of memory must not look as if it had not been. */
static int no_memory(const struct invocation *invocation, int code)
{
    complain(invocation->command, "%s", takt_status_text(TAKT_ENOMEM));
    return code == EXIT_DONE ? EXIT_FINDING : code;
}

static int run(const struct invocation *invocation)
{
    struct trace *trace = calloc(1, sizeof *trace);
    int code = EXIT_USAGE;

    if (trace == NULL)
        return no_memory(invocation, EXIT_FINDING);
    trace->command = invocation->command;
    unsetenv("TAKT_TRACE"); /* a command gets one of ours */
    if (is_sensible(invocation) && read_options(invocation, trace)) {
        code = run_trace(invocation, trace);
        gauge_close(&trace->gauge);
    }
    if (trace->tally.lacks_memory)
        code = no_memory(invocation, code);
    code = finish_file(trace->record, option_value(invocation, "record"), code);
    code = finish_file(trace->out, option_value(invocation, "output"), code);
    tally_free(&trace->tally);
    free(trace);
    return code;
}

const struct command cmd_trace = {
    .name = "trace",
    .operands = "PID | FILE | -- COMMAND [ARG...]",
    .summary = "follow what a program decides, while it runs",
    .description =
        "Prints a line for each call that stands out (it was slow, a trial, "
        "fell "
        "back to another expert, or came after a change of speed) and for a "
        "sample of the others, then a summary of all calls.\n"
        "-- COMMAND: runs it and follows it and its children. Lines go to "
        "standard error, so that its output stays what it is; signals are "
        "passed on, and its exit status is that of takt trace (128 + n after "
        "signal n). A command that is not linked with libtakt, such as "
        "python3, is run as by 'takt run': its BLAS calls are routed and "
        "traced, and the summary says so.\n"
        "PID: follows a program that runs already, from within a second or "
        "two; ^C ends that, and the program goes on. Nothing has to be "
        "prepared.\n"
        "FILE: reads a trace that a program started with TAKT_TRACE=FILE "
        "wrote, "
        "or that --record did.\n"
        "Times of lines are seconds since the trace began. In the summary, "
        "predicted is how many times as fast the calls were as one thread of "
        "SIMD, whose time is predicted by the model of this machine.",
    .max_operands = 1,
    .takes_program = true,
    .options = {{"all", NULL, NULL, "a line for every call"},
                {"summary", NULL, NULL, "print only the summary"},
                {"op", "NAME", NULL, "only calls of this op"},
                {"format", "WORD", "text|json|chrome|otlp",
                 "json: an object per line, the last is the summary; chrome: "
                 "for Perfetto and speedscope; otlp: requests in JSON, for "
                 "OpenTelemetry's collectors"},
                {"for", "SECONDS", NULL, "stop after so many seconds"},
                {"output", "FILE", NULL,
                 "write lines and summary to this file"},
                {"record", "FILE", NULL,
                 "also keep the trace in this file, for 'takt trace FILE'"},
                {"follow", NULL, NULL, "with a file: go on while it grows"},
                {"as-is", NULL, NULL, "do not route the BLAS of a command"},
                DB_OPTION},
    .examples = {"takt trace -- ./train --epochs 3",
                 "takt trace --summary -- python3 model.py",
                 "takt trace --for 10 $(pidof train)",
                 "takt trace --record slow.trace --op matmul 1234",
                 "TAKT_TRACE=run.trace ./train; takt trace run.trace",
                 "takt trace --format json run.trace | tail -n 1",
                 "takt trace --format chrome run.trace > run.json",
                 "takt trace --format otlp run.trace > spans.jsonl"},
    .run = run,
};
