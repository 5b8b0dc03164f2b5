/* SPDX-License-Identifier: MIT */
/*
 * stream.c - records into a file or a socket, without ever waiting.
 *
 * A socket gets records through a buffer, because it may take a part of one. A
 * file gets each record at once and whole: others may be appending to it.
 */
#include "telemetry/stream.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/config.h"
#include "base/database_file.h"
#include "base/descriptor.h"
#include "base/log.h"
#include "base/write_signals.h"
#include "telemetry/listener.h"
#include "telemetry/record.h"
#include <takt/version.h>

enum {
    most_of_one = TAKT_TRACE_FRAME + TAKT_TRACE_MOST,
    for_end = 256,            /* reserved for counts of drops, and the end */
    for_metrics = 64 * 1024,  /* reserved for metrics: they count all calls */
    batch = 16 * 1024,        /* that many bytes are sent at once, ... */
    longest_wait_ns = 1000000 /* ... or what there is after that long */
};

struct stream {
    atomic_int fd; /* -1: the other end is gone */
    dev_t device;  /* to recognise the file behind the descriptor */
    ino_t inode;
    bool is_socket;
    bool has_no_events;         /* the reader wants metrics alone */
    bool is_child;              /* after a fork(): no header was written yet */
    struct sockaddr_un address; /* of a socket */
    uint64_t id;
    uint64_t reported_dropped; /* to the reader */
    uint64_t sent_at_ns;       /* the last time */
    _Atomic uint64_t sent, dropped, failed;
    _Atomic(const char *) problem; /* NULL: none */
    size_t head;                   /* the first byte that was not sent ... */
    size_t whole; /* ... is of the record that begins here ... */
    size_t tail;  /* ... and these are the last */
    unsigned char buffer[TAKT_STREAM_BUFFER];
};

static const char closed_by_program[] = "the program closed the descriptor";

/* ---- bytes --------------------------------------------------------------- */

/* How many bytes the record at `at` in the buffer has. */
static size_t record_size(const struct stream *stream, size_t at)
{
    const unsigned char *length = stream->buffer + at + 4;
    return TAKT_TRACE_FRAME + (size_t)length[0] + ((size_t)length[1] << 8);
}

/* Skips the records that end at or before `until`; returns their number. */
static uint64_t skip_records(struct stream *stream, size_t until)
{
    uint64_t count = 0;

    while (stream->whole < stream->tail) {
        const size_t next = stream->whole + record_size(stream, stream->whole);
        if (next > until)
            break;
        stream->whole = next;
        count++;
    }
    return count;
}

static void set_fd(struct stream *stream, int fd)
{
    struct stat facts = {0};

    fstat(fd, &facts);
    stream->device = facts.st_dev;
    stream->inode = facts.st_ino;
    atomic_store(&stream->fd, fd);
}

/* A program that closes descriptors it did not open may have opened a file of
 * its own under this number, which must not be written to, nor closed. */
static bool is_ours(const struct stream *stream, int fd)
{
    struct stat facts;

    return fstat(fd, &facts) == 0 && facts.st_dev == stream->device &&
           facts.st_ino == stream->inode;
}

static void close_fd(struct stream *stream)
{
    const int fd = atomic_exchange(&stream->fd, -1);

    if (fd >= 0 && is_ours(stream, fd))
        close(fd);
}

static void give_up(struct stream *stream, const char *problem)
{
    if (atomic_load(&stream->fd) < 0)
        return;
    close_fd(stream);
    atomic_fetch_add(&stream->failed, skip_records(stream, stream->tail));
    atomic_store(&stream->problem, problem);
    stream->head = stream->whole = stream->tail = 0;
}

/* Sends what the other end takes now. */
static void send_some(struct stream *stream)
{
    const int fd = atomic_load(&stream->fd);

    if (fd >= 0 && !is_ours(stream, fd))
        give_up(stream, closed_by_program);
    while (atomic_load(&stream->fd) >= 0 && stream->head < stream->tail) {
        const ssize_t sent =
            send(fd, stream->buffer + stream->head, stream->tail - stream->head,
                 MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent < 0 && errno == EINTR)
            continue;
        if (sent < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
            break;
        if (sent <= 0) {
            give_up(stream, "the reader went away");
            return;
        }
        stream->head += (size_t)sent;
        atomic_fetch_add(&stream->sent, skip_records(stream, stream->head));
    }
    stream->sent_at_ns = takt__now_ns();
    if (stream->head == stream->tail)
        stream->head = stream->whole = stream->tail = 0;
}

/* Moves unsent bytes to the front, if need be. */
static bool has_space(struct stream *stream, size_t size)
{
    if (sizeof stream->buffer - stream->tail >= size)
        return true;
    if (stream->whole == 0)
        return false;
    memmove(stream->buffer, stream->buffer + stream->whole,
            stream->tail - stream->whole);
    stream->tail -= stream->whole;
    stream->head -= stream->whole;
    stream->whole = 0;
    return sizeof stream->buffer - stream->tail >= size;
}

/* A record that is half written because the disk is full stays, since others
 * may have appended after it; readers skip it. */
static bool write_whole(struct stream *stream, const unsigned char *bytes,
                        size_t size)
{
    const int fd = atomic_load(&stream->fd);
    const bool is_lost = fd >= 0 && !is_ours(stream, fd);
    ssize_t wrote = -1;

    while (fd >= 0 && !is_lost && (wrote = write(fd, bytes, size)) < 0 &&
           errno == EINTR)
        continue;
    if (wrote == (ssize_t)size) {
        atomic_fetch_add(&stream->sent, 1);
        return true;
    }
    if (fd >= 0 && !is_lost)
        takt__log(TAKT_LOG_ERROR, "telemetry: the trace ends here: %s",
                  wrote < 0 ? strerror(errno) : "the disk is full");
    atomic_fetch_add(&stream->failed, 1);
    give_up(stream, is_lost ? closed_by_program : "the file cannot be written");
    return false;
}

/* False: it does not fit with `reserve` bytes to spare. */
static bool put(struct stream *stream, const struct takt_trace_record *record,
                size_t reserve)
{
    unsigned char bytes[most_of_one];
    const size_t size = takt__trace_encode(record, bytes);

    if (!stream->is_socket)
        return write_whole(stream, bytes, size);
    if (atomic_load(&stream->fd) < 0 || !has_space(stream, size + reserve))
        return false;
    memcpy(stream->buffer + stream->tail, bytes, size);
    stream->tail += size;
    return true;
}

/* ---- records ------------------------------------------------------------- */

static bool put_loss(struct stream *stream, enum takt_trace_kind kind,
                     size_t reserve)
{
    const uint64_t dropped = atomic_load(&stream->dropped);
    const struct takt_trace_record record = {
        .kind = kind,
        .stream = stream->id,
        .loss = {takt__clock_ns(CLOCK_REALTIME), dropped}};

    if (!put(stream, &record, reserve))
        return false;
    stream->reported_dropped = dropped;
    return true;
}

/* Before any other record the reader gets the number of dropped ones. */
static bool report_drops(struct stream *stream, size_t reserve)
{
    return atomic_load(&stream->dropped) == stream->reported_dropped ||
           put_loss(stream, TAKT_TRACE_DROPPED, reserve + most_of_one);
}

static void put_header(struct stream *stream)
{
    char path[1024];
    const ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    path[length > 0 ? length : 0] = '\0';
    const char *slash = strrchr(path, '/');
    const struct takt_config *config = takt__config();
    const uint64_t now_ns = takt__clock_ns(CLOCK_REALTIME);

    /* Two contexts of a process, and two processes, differ. */
    stream->id = (now_ns ^ (uint64_t)getpid() << 40) * 0x9e3779b97f4a7c15u +
                 (uintptr_t)stream;
    const struct takt_trace_record record = {
        .kind = TAKT_TRACE_HEADER,
        .stream = stream->id,
        .header = {.version = TAKT_TRACE_VERSION,
                   .pid = (uint64_t)getpid(),
                   .start_ns = now_ns,
                   .threshold_s = config->trace_threshold_s,
                   .rate = config->trace_rate,
                   .program = slash != NULL ? slash + 1 : path,
                   .takt = takt_version()}};
    put(stream, &record, 0);
}

/* -1: errno says why. */
static int connect_to(const struct sockaddr_un *address)
{
    const int fd = takt__descriptor_move_up(
        socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));

    if (fd < 0 ||
        (connect(fd, (const struct sockaddr *)address, sizeof *address) == 0 &&
         takt__listener_is_ours(fd)))
        return fd;
    const int wrong = errno;
    close(fd);
    errno = wrong;
    return -1;
}

/* A child connects by itself and writes a header of its own. A file can be
 * appended to as it is. */
static void begin_in_child(struct stream *stream)
{
    if (!stream->is_child)
        return;
    stream->is_child = false;
    if (stream->is_socket)
        set_fd(stream, connect_to(&stream->address));
    put_header(stream);
}

static int on_event(void *self, const takt_event *event)
{
    struct stream *stream = self;
    struct takt_trace_record record;

    if (stream->has_no_events)
        return atomic_load(&stream->fd) < 0;
    begin_in_child(stream);
    record.kind = TAKT_TRACE_EVENT;
    record.stream = stream->id;
    record.event = *event;
    const size_t reserve = for_end + for_metrics;
    if (stream->is_socket && !has_space(stream, reserve + 2 * most_of_one))
        send_some(stream);
    if (!report_drops(stream, reserve) || !put(stream, &record, reserve))
        atomic_fetch_add(&stream->dropped, 1);
    if (stream->is_socket &&
        (stream->tail - stream->head >= batch ||
         takt__now_ns() - stream->sent_at_ns >= longest_wait_ns))
        send_some(stream);
    return atomic_load(&stream->fd) < 0;
}

/* All numbers are sums since the start, so a part that does not fit is made up
 * for the next time. */
static int on_metrics(void *self, const takt_metrics *metrics)
{
    struct stream *stream = self;
    struct takt_trace_record record;

    if (stream->is_child && metrics->told == 0 && metrics->op_count == 0)
        return 0; /* the child may never use Takt */
    begin_in_child(stream);
    record.stream = stream->id;
    bool is_put = report_drops(stream, for_end);
    for (size_t i = 0; is_put && i < metrics->op_count; i++) {
        record.kind = TAKT_TRACE_OP;
        record.op = metrics->op[i];
        is_put = put(stream, &record, for_end);
    }
    for (size_t i = 0; is_put && i < metrics->duration_count; i++) {
        record.kind = TAKT_TRACE_DURATION;
        record.duration = metrics->duration[i];
        is_put = put(stream, &record, for_end);
    }
    if (is_put) {
        record.kind = TAKT_TRACE_TOTALS;
        record.totals = *metrics;
        put(stream, &record, for_end);
    }
    if (stream->is_socket)
        send_some(stream);
    return atomic_load(&stream->fd) < 0;
}

static void on_flush(void *self, unsigned deadline_ms)
{
    struct stream *stream = self;
    const uint64_t end_ns = takt__now_ns() + (uint64_t)deadline_ms * 1000000;

    if (!stream->is_socket)
        return;
    for (send_some(stream); stream->head < stream->tail; send_some(stream)) {
        struct pollfd wanted = {.fd = atomic_load(&stream->fd),
                                .events = POLLOUT};
        const uint64_t now_ns = takt__now_ns();
        if (now_ns >= end_ns ||
            poll(&wanted, 1, (int)((end_ns - now_ns) / 1000000) + 1) == 0)
            return;
    }
}

static void on_close(void *self, unsigned deadline_ms)
{
    struct stream *stream = self;

    if (atomic_load(&stream->fd) >= 0 && !stream->is_child) {
        put_loss(stream, TAKT_TRACE_END, 0);
        on_flush(stream, deadline_ms);
    }
    give_up(stream, NULL);
    free(stream);
}

/* The connection and the unsent bytes are the parent's. */
static void on_fork(void *self, takt_fork_phase phase)
{
    struct stream *stream = self;

    if (phase != TAKT_FORK_CHILD || atomic_load(&stream->fd) < 0)
        return;
    if (stream->is_socket)
        close_fd(stream);
    stream->is_child = true;
    stream->head = stream->whole = stream->tail = 0;
    stream->reported_dropped = 0;
    atomic_store(&stream->sent, 0);
    atomic_store(&stream->dropped, 0);
}

static void on_report(void *self, takt_sink_report *out)
{
    struct stream *stream = self;
    const char *problem = atomic_load(&stream->problem);

    *out = (takt_sink_report){.sent = atomic_load(&stream->sent),
                              .dropped = atomic_load(&stream->dropped),
                              .failed = atomic_load(&stream->failed)};
    snprintf(out->name, sizeof out->name, "trace");
    snprintf(out->problem, sizeof out->problem, "%s",
             problem != NULL ? problem : "");
}

/* ---- opening ------------------------------------------------------------- */

/* Both return -1 when it cannot be; errno says why. */
static int open_socket(struct stream *stream, const char *path)
{
    const size_t length = strlen(path);

    errno = ENAMETOOLONG;
    if (length == 0 || length >= sizeof stream->address.sun_path)
        return -1;
    stream->address.sun_family = AF_UNIX;
    memcpy(stream->address.sun_path, path, length + 1);
    return connect_to(&stream->address);
}

/* A pipe could end the program by SIGPIPE, a terminal would show noise. */
static int open_file(const char *path)
{
    struct stat facts;
    const int fd = takt__append_open(path, 0600);

    if (fd < 0 || (fstat(fd, &facts) == 0 && S_ISREG(facts.st_mode)))
        return fd;
    close(fd);
    errno = ENODEV; /* not a plain file */
    return -1;
}

/* What the reader is to get, if its greeting comes in time. */
static void await_greeting(struct stream *stream, takt_sink *out)
{
    const uint64_t end_ns =
        takt__now_ns() + (uint64_t)TAKT_STREAM_GREETING_MS * 1000000;
    struct takt_trace_record record;
    unsigned char bytes[256];
    size_t length = 0, used;

    for (uint64_t now_ns; (now_ns = takt__now_ns()) < end_ns;) {
        struct pollfd wanted = {.fd = atomic_load(&stream->fd),
                                .events = POLLIN};
        poll(&wanted, 1, (int)((end_ns - now_ns) / 1000000) + 1);
        const ssize_t got = recv(wanted.fd, bytes + length,
                                 sizeof bytes - length, MSG_DONTWAIT);
        if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR))
            return;
        length += got > 0 ? (size_t)got : 0;
        if (length == 0)
            continue;
        const enum takt_trace_outcome outcome =
            takt__trace_decode(bytes, length, &record, &used);
        if (outcome == TAKT_TRACE_SHORT)
            continue;
        if (outcome == TAKT_TRACE_FOUND && record.kind == TAKT_TRACE_GREETING) {
            out->wants_all = record.greeting.wants_all;
            stream->has_no_events = record.greeting.wants_no_events;
            if (record.greeting.metrics_ms > 0)
                out->metrics_ms = record.greeting.metrics_ms;
        }
        return;
    }
}

takt_status takt__stream_open(const char *where, takt_sink *out,
                              takt_diag *diag)
{
    const bool is_socket = strncmp(where, "unix:", 5) == 0;
    struct stream *stream = malloc(sizeof *stream);
    struct takt_write_signals signals;

    if (stream == NULL)
        return TAKT_ENOMEM;
    memset(stream, 0, offsetof(struct stream, buffer));
    const int fd = is_socket ? open_socket(stream, where + strlen("unix:"))
                             : open_file(where);
    if (fd < 0) {
        if (diag != NULL)
            snprintf(diag->text, sizeof diag->text, "trace to '%.256s': %s",
                     where,
                     errno == ENODEV   ? "not a plain file"
                     : errno == EEXIST ? "is a database, and stays"
                                       : strerror(errno));
        free(stream);
        return TAKT_EIO;
    }
    set_fd(stream, fd);
    stream->is_socket = is_socket;
    *out = (takt_sink){.size = sizeof *out,
                       .self = stream,
                       .metrics_ms = is_socket ? TAKT_STREAM_METRICS_MS
                                               : TAKT_STREAM_FILE_METRICS_MS,
                       .event = on_event,
                       .metrics = on_metrics,
                       .flush = on_flush,
                       .close = on_close,
                       .forked = on_fork,
                       .report = on_report};
    takt__write_signals_block(&signals); /* on a thread of the program's */
    put_header(stream);
    takt__write_signals_restore(&signals);
    if (is_socket) {
        send_some(stream);
        await_greeting(stream, out);
    }
    return TAKT_OK;
}
