/* SPDX-License-Identifier: MIT */
/*
 * trace.h - `takt trace`: records come in, lines and a summary go out.
 *
 *     cmd_trace.c, trace_live.c      where records come from
 *     trace_tally.c                  what they add up to
 *     trace_lines.c, trace_summary.c what is shown
 *     trace_chrome.c                 ... or written for other tools
 */
#pragma once

#include <stdio.h>
#include <sys/types.h>

#include <takt/takt.h>
#include <takt/telemetry.h>

#include "base/clock.h"
#include "command.h"
#include "telemetry/record.h"

enum { duration_classes = TAKT_DURATION_BOUNDS + 1, backend_count = 3 };

/* ---- trace_tally.c: what one thread of SIMD would have taken ---- */

enum { most_prices = 1024 }; /* a power of two */

/* What a kind of call would take; asking the model takes a while. */
struct price {
    char op[64];
    takt_dtype dtype;
    takt_shape shape;
    double seconds; /* negative: not known */
};

struct gauge {
    takt_ctx *ctx; /* NULL: nothing is known */
    char expert[TAKT_EXPERT_NAME_MAX];
    struct price *price; /* owned; by a hash of what is asked */
};

/* Where the context cannot be made, nothing is known and nothing is wrong. */
void gauge_open(struct gauge *gauge, const char *store);
void gauge_close(struct gauge *gauge);

/* Negative: not known. */
double one_thread_s(struct gauge *gauge, const takt_event *event);

/* ---- trace_tally.c: sums ---- */

/* The events of one class of durations. */
struct told {
    double count, took_s;
    double would_s; /* on one thread of SIMD */
};

/* An op on an expert, over all streams. */
struct expert_tally {
    char expert[TAKT_TRACE_TEXT + 1];
    takt_backend backend;
    uint64_t calls;
    double seconds;
    uint64_t in_class[duration_classes];
    struct told told[duration_classes]; /* where would_s is known */
};

struct op_tally {
    char name[TAKT_TRACE_TEXT + 1];
    uint64_t calls;   /* by metrics; 0: there were none */
    uint64_t told;    /* calls with an event ... */
    uint64_t sampled; /* ... of which so many only because they were drawn */
    uint64_t explored, fell_back, drifted, times_hot;
    unsigned hot_streams;      /* in which it is hot now */
    double slowest_s;          /* 0: not known */
    struct expert_tally *pair; /* owned */
    size_t pair_count;
};

/* What a stream last said of an op, or of an op on an expert: metrics are
 * sums, of which the difference is new. */
struct last_sums {
    size_t op, pair; /* pair SIZE_MAX: of the op as a whole */
    uint64_t calls, times_hot, in_class[duration_classes];
    double seconds;
    bool is_hot;
};

/* A context of a process. */
struct trace_stream {
    uint64_t id, pid, start_ns;
    bool is_strange; /* of a later version: left alone */
    bool has_ended;
    uint64_t dropped; /* that the reader did not get */
    uint64_t told_ns; /* when its totals were last told of */
    takt_metrics totals;
    struct last_sums *last; /* owned */
    size_t last_count;
    struct otlp_stream *otlp; /* owned; NULL: not --format otlp */
};

struct trace_tally {
    struct trace_stream *stream; /* owned */
    struct op_tally *op;         /* owned */
    size_t stream_count, op_count;
    size_t at;         /* the stream that was last looked for */
    uint64_t start_ns; /* of the first stream */
    uint64_t end_ns;   /* the latest time in a record */
    uint64_t left_out; /* records beyond the limits */
    uint64_t passed;   /* records of a later version */
    uint64_t damaged;  /* bytes that were no records */
    bool is_cut_off;   /* the last record is not whole */
    bool lacks_memory; /* for some of what was left out */
};

/* A new stream, or the same one again. NULL: no memory, or too many. */
struct trace_stream *tally_header(struct trace_tally *tally,
                                  const struct takt_trace_record *record);

/* The stream of a record. NULL: it has no header, or is of a later version. */
struct trace_stream *tally_stream(struct trace_tally *tally, uint64_t id);

/* What a record adds; would_s is of an event. */
void tally_event(struct trace_tally *tally, const takt_event *event,
                 double would_s);
void tally_metrics(struct trace_tally *tally, struct trace_stream *stream,
                   const struct takt_trace_record *record);
void tally_free(struct trace_tally *tally);

/* Whether an op became hot or cooled down by these metrics of it. */
enum turn { same, heated, cooled };
enum turn tally_op(struct trace_tally *tally, struct trace_stream *stream,
                   const takt_op_metric *metric);

/* ---- cmd_trace.c ---- */

struct trace {
    const struct command *command;
    FILE *out;         /* lines and summary */
    bool is_json;      /* --format json */
    bool is_chrome;    /* --format chrome */
    bool has_begun;    /* with that: an event was written */
    bool is_otlp;      /* --format otlp */
    bool is_converted; /* one of the two: neither lines nor a summary */
    bool is_quiet;     /* --summary: no lines */
    size_t most_calls; /* that are told of; 0: there is no limit */
    size_t calls;
    bool wants_totals; /* JSON: what trials took, from time to time */
    bool has_colour;
    bool wants_all;    /* --all */
    bool as_is;        /* --as-is */
    const char *op;    /* --op; NULL: all */
    double for_s;      /* --for; 0: as long as it takes */
    const char *store; /* --db; NULL: the default */
    FILE *record;      /* --record; NULL: nothing is kept */
    struct trace_tally tally;
    struct gauge gauge;
};

/* Bytes of one stream or file on their way to records. */
struct inlet {
    int fd;
    size_t length;
    unsigned char bytes[32 * 1024];
};

/* Reads once from an inlet and takes all records that are whole. Returns what
 * read() does. */
ssize_t take_bytes(struct trace *trace, struct inlet *inlet);

/* When nothing more will come: what is left is not a whole record, but there
 * may be some within. */
void take_rest(struct trace *trace, struct inlet *inlet);

/* A trace in a file. Says why one is of no use; NULL: it is. Text goes to
 * `text` where it has to be made. */
const char *fault_of_trace(int fd, char *text, size_t size);

/* The reader's own signals, from now on read from the file descriptor that is
 * returned; -1: that cannot be. */
int open_signals(void);

/* ---- trace_socket.c ---- */

enum { most_trace_places = 2 };

/* A socket that listens. */
struct trace_place {
    int fd;
    char path[108]; /* as long as a socket's may be */
};

/* Listens on a path, from the moment that it is there: programs try but once. A
 * socket that a reader left behind is replaced. False: errno says why. */
bool listen_on(const char *path, struct trace_place *out);

/* Listens under that name in every folder in which programs may look, but those
 * that a reader with another environment has. 0: what is wrong was said; `who`
 * is the program that another reader may have. */
size_t listen_in_folders(const struct command *command, const char *name,
                         const char *who,
                         struct trace_place out[most_trace_places]);
void close_places(const struct trace_place *place, size_t count);

/* The first thing that a program gets to read. */
void greet_program(int fd, struct takt_trace_greeting greeting);

/* A program of this user, or of root, that has connected: a socket that does
 * not block. -1: there is none. */
int accept_program(int listener, pid_t *pid);

/* ---- trace_live.c: each returns an exit code ---- */

int trace_process(struct trace *trace, const char *word);
int trace_program(struct trace *trace, char *const *program);

/* ---- trace_child.c ---- */

struct trace_child {
    pid_t pid;
    bool is_routed; /* its BLAS is, as under `takt run` */
    bool has_ended;
    int code; /* its exit status; 128 + n: signal n */
};

/* Starts a program with TAKT_TRACE=unix:PATH; unless `as_is`, one that is not
 * linked with libtakt gets the library that `takt run` preloads. False: it says
 * why, and `code` is what to exit with. */
bool child_start(struct trace_child *child, char *const *program,
                 const char *path, bool as_is);

/* Whether it has ended; does not wait. */
bool child_poll(struct trace_child *child);

/* ---- trace_lines.c ---- */

void print_hello(struct trace *trace, struct trace_stream *stream,
                 const struct takt_trace_header *header);
void print_event(struct trace *trace, const struct trace_stream *stream,
                 const takt_event *event);
void print_turn(struct trace *trace, const struct trace_stream *stream,
                const takt_op_metric *metric, enum turn turn);

/* What calls and trials of a stream took so far, as JSON. */
void print_totals(struct trace *trace, struct trace_stream *stream);

/* ---- trace_chrome.c: the same in the Trace Event Format ---- */

void chrome_hello(struct trace *trace, const struct takt_trace_header *header);
void chrome_event(struct trace *trace, const struct trace_stream *stream,
                  const takt_event *event);
void chrome_turn(struct trace *trace, const struct trace_stream *stream,
                 const takt_op_metric *metric, enum turn turn);
void chrome_end(struct trace *trace);

/* ---- trace_otlp.c: the same as OTLP ---- */

void otlp_hello(struct trace *trace, struct trace_stream *stream,
                const struct takt_trace_header *header);
void otlp_event(struct trace *trace, const struct trace_stream *stream,
                const takt_event *event);
void otlp_end(struct trace *trace);
void otlp_free(struct otlp_stream *otlp);

/* ---- trace_summary.c ---- */

void print_summary(struct trace *trace);
