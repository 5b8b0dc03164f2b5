/* SPDX-License-Identifier: MIT */
/*
 * report.h - the page that `takt report` writes.
 *
 * A page is one HTML file: style and script of web/, pictures of maps, and the
 * data of everything else as JSON, written by the functions that answer --json.
 */
#pragma once

#include <takt/takt.h>

#include "command.h"
#include "history.h"
#include "json.h"
#include "map.h"
#include "text/memory_file.h"

enum { most_inputs = 32 };

/* A file that was given: JSON of another command. */
struct report_input {
    const char *path;
    const char *kind; /* "run", "compare", "optimize", "trace" */
    char *text;       /* owned */
    size_t length;
};

struct report {
    takt_ctx *ctx;     /* NULL: no page of the machine */
    const char *store; /* --db, or NULL */
    bool is_live;      /* the machine is this one */
    bool is_anonymous; /* no names and paths of the user's */
    struct report_input input[most_inputs];
    size_t input_count;
};

/* ---- report_input.c ---- */

/* Reads a file and finds out what it is. False: what is wrong was said. */
bool read_input(const struct command *command, const char *path,
                bool is_anonymous, struct report_input *out);
void free_input(struct report_input *input);

/* Leaves names and paths out of JSON that is complete. False: no memory. */
bool hide_in(const char *kind, struct takt_memory_file *text);

/* Whether a file begins with these bytes, at most 16. Of a pipe nothing is
 * read: that would be missing afterwards. */
bool begins_with(const char *path, const void *head, size_t length);

/* ---- report_trace.c ---- */

bool is_trace(const char *path);
bool read_trace(const struct command *command, const char *path,
                struct report_input *out);

/* ---- report_curves.c ---- */

/* An array: for each op and dtype, what the experts take at each size. False:
 * no memory. */
bool print_curves_json(struct json *json, takt_ctx *ctx, bool has_gpu);

/* ---- report_limits.c ---- */

/* Objects: the most operations and bytes per second that were measured. */
void print_limits_json(struct json *json, takt_ctx *ctx,
                       const struct memories *memories);

/* ---- report_map.c ---- */

/* What a picture of a map is about. */
struct map_question {
    takt_ctx *ctx;
    takt_dtype dtype;
    unsigned situation;
    bool (*is_asked)(const void *self, const takt_op *op); /* NULL: all */
    const void *self;
};

/* An SVG picture: op by size, coloured by winner, shaded by margin; and the
 * same as an HTML table, unless that is NULL. To ask for all sizes takes
 * long. */
void draw_map(FILE *stream, FILE *table, const struct map_question *question);

/* ---- report_page.c ---- */

/* One JSON object: the data of the page. False, of both: there was no memory
 * for all of it. */
bool print_report_json(FILE *stream, const struct report *report);
bool print_page(FILE *stream, const struct report *report);

/* A page of what another command has written to `text` as JSON. Closes it.
 * False: no memory. */
bool page_end(struct takt_memory_file *text, const char *kind, FILE *out);

/* How a file for a page is opened: where the user says, it may be a link or a
 * pipe. A usual name may be a link in a stranger's folder, out of it. */
unsigned page_flags(bool is_named);

/* Replaces a file by one of both, and says so; NULL: the usual one. Returns an
 * exit code; what is wrong was said. */
int write_report(const struct command *command, const struct report *report,
                 bool is_json, const char *path, const char *usual);

/* Text in HTML: markup is escaped, what is not UTF-8 becomes U+FFFD. */
void print_html(FILE *stream, const char *text);

/* ---- cmd_machine.c ---- */

/* `energy` NULL: nothing is said of it. */
struct takt_energy_meter;
void print_machine_json(FILE *stream, takt_ctx *ctx, bool is_live,
                        const struct takt_energy_meter *energy);
