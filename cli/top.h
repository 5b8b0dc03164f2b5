/* SPDX-License-Identifier: MIT */
/*
 * top.h - `takt top`: the programs that use Takt, live.
 *
 *     cmd_top.c     connections, keys, time
 *     top_model.c   records come in, rates go out
 *     top_script.c  what an interpreter runs
 *     top_gain.c    what programs under `takt run --report` have gained
 *     top_others.c  programs of other users
 *     top_screen.c  rates as a screen, or as a line of JSON
 */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include <takt/takt.h>

#include "telemetry/record.h"

/* Calls of one op on one expert. */
struct top_pair {
    char op[64];
    char expert[TAKT_EXPERT_NAME_MAX];
    takt_backend backend;
    uint64_t calls, calls_before; /* sums since the program began */
    double seconds, seconds_before;
    double calls_per_s, busy; /* busy: seconds of calls in a second */
};

/* A context of a program. */
struct top_stream {
    uint64_t source; /* the connection that it came by */
    uint64_t id, pid;
    char program[64];
    char script[64];       /* that it interprets; empty: none, or not known */
    bool is_strange;       /* of a later version: not shown */
    uint64_t ended_ns;     /* by our clock; 0: it has not */
    struct top_pair *pair; /* owned */
    size_t pair_count;
    uint64_t known_until_ns; /* of the last rates, by the program's clock */
    uint64_t explorations, alarms;
    double trials_per_s;
    int stats_fd; /* in which its run counts; -1: it does not */
    uint64_t gain_due_ns;
    /* Of its run so far: in wall time, half of the 95% interval, and of the
     * time without Takt. NAN: not known. */
    double gain_s, gain_error_s, gain_share;
};

/* A program of another user. */
struct top_other {
    uint64_t pid;
    char program[64], script[64], user[64];
};

struct top_model {
    struct top_stream *stream; /* owned */
    size_t stream_count;
    struct top_other *other; /* owned */
    size_t other_count;
    uint64_t others_due_ns;
};

/* A record of any stream. Streams are told apart by their connection too: no
 * program can send in the name of another one. */
void top_take(struct top_model *model, uint64_t source,
              const struct takt_trace_record *record);

/* A connection has ended, and with it all of its streams. `now_ns`: by our
 * clock. */
void top_end(struct top_model *model, uint64_t source, uint64_t now_ns);

/* Drops what ended some seconds ago. */
void top_age(struct top_model *model, uint64_t now_ns);
void top_free(struct top_model *model);

/* ---- top_script.c ---- */

/* Leaves `out` alone where it is none, or not known. */
void top_find_script(uint64_t pid, const char *program, char out[64]);

/* ---- top_others.c ---- */

/* Looks for them where that is due. */
void top_find_others(struct top_model *model, uint64_t now_ns);

/* ---- top_gain.c ---- */

void top_gain_begin(struct top_stream *stream);
void top_gain_end(struct top_stream *stream);

/* Reads what has been gained where that is due. */
void top_read_gains(struct top_model *model, uint64_t now_ns);

/* ---- rows ---- */

/* A program, or one op of it on one expert. */
struct top_row {
    uint64_t pid;
    const char *name; /* of the program or its script, or of the op */
    const char *program;
    const char *detail; /* the busiest op, or the expert */
    const char *expert; /* of the busiest op */
    const char *user;   /* that alone can read it; NULL: this one */
    double calls_per_s, busy, gpu_busy, trials_per_s, most_busy;
    uint64_t alarms;
    double gain_s, gain_error_s, gain_share; /* NAN: not known */
    bool has_ended;
};

enum top_order { by_calls, by_busy, by_latency, by_name, top_orders };

/* Rows of all programs (0), or of the ops of one; whose name or program has
 * `filter` in it. Those of other users come after this one's, and what has
 * ended comes last. The caller frees them. NULL: no memory, or none. */
struct top_row *top_rows(const struct top_model *model, uint64_t pid,
                         enum top_order order, const char *filter,
                         size_t *count);

/* ---- top_screen.c ---- */

struct top_view {
    unsigned width, height;
    bool has_colour;
    bool is_paused, is_typing; /* a filter is being typed */
    uint64_t pid;              /* the program that is open; 0: all */
    enum top_order order;
    size_t selected;
    char filter[48];
    uint64_t since_ns; /* when it began, by the clock on the wall */
};

/* Draws all of it and returns the program that is selected; 0: none. */
uint64_t draw_screen(FILE *out, const struct top_model *model,
                     struct top_view *view);

/* One object in one line. */
void print_top_json(FILE *out, const struct top_model *model);
