/* SPDX-License-Identifier: MIT */
/* history.h - what was learned, as rows to be printed. */
#pragma once

#include <takt/takt.h>

#include "json.h"

/* A copy of a row that takt_history_read() reported. */
struct memory {
    takt_history_row row; /* layout and expert point below */
    char layout[16];
    char expert[TAKT_EXPERT_NAME_MAX];
};

struct memories {
    struct memory *memory; /* owned */
    size_t count, room;
    bool is_short; /* there was no memory for all of them */
    bool lacks_programs;
};

/* Everything known, by op, dtype, layout, situation, size and expert. */
void read_memories(takt_ctx *ctx, struct memories *out);
void free_memories(struct memories *memories);

/* A call like those of a row: in its layout, with its work. */
bool request_like(const takt_history_row *row, takt_request *out);

/* Text goes to standard output, JSON to `stream`. */
void print_list(FILE *stream, const struct memories *memories, bool is_json);

/* Rows of one op; `work`, if not NULL, picks a size. */
void print_rows(const struct memories *memories, const takt_op *op,
                const takt_work *work, bool is_json);

/* Calls visit() for every line of the text of a store; a line may be changed.
 * "" is no store, and has none. False: the store could not be read. */
bool visit_lines(const char *store, void (*visit)(void *self, char *line),
                 void *self);

/* ---- history_fleet.c ---- */

/* Says that nothing was measured here, and what the store has all the same. */
void print_no_history(takt_ctx *ctx, const char *store);

/* ---- history_gain.c ---- */

/* What routing gained, in programs and against every fixed choice. */
void print_gain(FILE *stream, takt_ctx *ctx, const struct memories *memories,
                bool is_json);

/* ---- history_programs.c ---- */

/* Defines the programs of a store in the context, so that their rows are read.
 * False: not all of them. */
bool define_programs(takt_ctx *ctx, const char *store);
bool is_program_name(const char *op);

/* What routing gained in each. False: there is none, and nothing was printed.
 */
bool print_programs(const struct memories *memories);
void print_programs_json(struct json *json, const struct memories *memories);

/* ---- history_days.c ---- */

enum { most_days = 400 };

struct day {
    int64_t number; /* of days since 1970, by UTC; 0: none */
    double samples, calls, called_s;
    double trials, trials_s; /* beyond the best expert */
    double budget_s;         /* what they might take */
    double changes;          /* of an expert's speed */
    /* ln of the time of programs' calls as a share of the baseline's: how many
     * times it was measured, the mean, and squared distances from it. */
    double comparisons, log_mean, squares;
};

struct days {
    struct day day[most_days]; /* those with anything in them, in order */
    size_t count;
};

/* The days of the context's machine. False: the store could not be read. */
bool read_days(takt_ctx *ctx, const char *store, struct days *out);
void print_days_json(struct json *json, const struct days *days);

/* All of it, to standard output. False: as above. */
bool print_days(takt_ctx *ctx, const char *store, bool is_json);
