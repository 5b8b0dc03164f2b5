/* SPDX-License-Identifier: MIT */
/*
 * text.h - records as lines of text, see docs/formats/history.md.
 *
 * Printing and parsing use no database. The reader is fed bytes as
 * they come; no input makes it use more memory than itself.
 */
#pragma once

#include "store/record.h"

enum { TAKT_TEXT_LINE = 1024 }; /* no line is longer, with its end */

/* Called for each record; false: stop reading. */
typedef bool takt_text_visit(void *self, const struct takt_record *record);

struct takt_text_reader {
    takt_text_visit *visit;
    void *self;
    size_t line;        /* the number of the line being read, from 1 */
    size_t records;     /* read so far */
    const char *column; /* where the fault is; NULL: the whole line */
    const char *fault;  /* what is wrong; NULL: nothing */
    bool is_stopped;    /* by the visitor */
    bool has_end;       /* the last line has been seen */
    size_t length;      /* of what waits in `text` */
    char text[TAKT_TEXT_LINE];
};

void takt__text_init(struct takt_text_reader *reader, takt_text_visit *visit,
                     void *self);

/* Reads on; false when nothing more can be read: a fault, or stopped. */
bool takt__text_feed(struct takt_text_reader *reader, const char *bytes,
                     size_t count);

/* Says that there is no more; false when something is missing. */
bool takt__text_finish(struct takt_text_reader *reader);

/* Each writes whole lines, NUL-terminated, and returns their length. */
size_t takt__text_print_head(char out[TAKT_TEXT_LINE]);
size_t takt__text_print(const struct takt_record *record,
                        char out[TAKT_TEXT_LINE]);
size_t takt__text_print_end(size_t records, char out[TAKT_TEXT_LINE]);
