/* SPDX-License-Identifier: MIT */
/*
 * line.h - files in a line: put in at one end in their order, examined by
 * whoever has time, and taken out at the other end in the same order.
 *
 * The line has an end, so that a scan takes no more memory, and has no more
 * files open, however many there are.
 */
#ifndef TAKT_SCAN_LINE_H
#define TAKT_SCAN_LINE_H

#include "examine.h"
#include "walk.h"

enum { TAKT_LINE_ROOM = 256 };

struct takt_line_place {
    bool is_examined;
    struct takt_walk_file file;
    struct takt_examined examined;
};

struct takt_line {
    pthread_mutex_t lock;
    pthread_cond_t is_more, is_done;
    size_t room, out, next, in; /* counted from the first file */
    bool is_closed;
    struct takt_line_place place[TAKT_LINE_ROOM];
};

void takt__line_open(struct takt_line *line);
void takt__line_close(struct takt_line *line);

bool takt__line_is_full(const struct takt_line *line);
bool takt__line_is_empty(const struct takt_line *line);

/* Only by the one thread that puts in and takes out. */
void takt__line_put(struct takt_line *line, const struct takt_walk_file *file);
/* The first one, once it is examined; waits if told so. NULL: it is not. */
struct takt_line_place *takt__line_first(struct takt_line *line, bool wait);
void takt__line_drop_first(struct takt_line *line);

/* A file to examine; NULL: there is none now or, having waited, no more. */
struct takt_line_place *takt__line_take(struct takt_line *line, bool wait);
void takt__line_return(struct takt_line *line, struct takt_line_place *place);

/* Nobody needs to wait for files any more. */
void takt__line_end(struct takt_line *line);

#endif
