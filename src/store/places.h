/* SPDX-License-Identifier: MIT */
/*
 * places.h - who is writing: the file PATH-writers and the locks on it.
 *
 * Byte i locked: the writer's place i is taken. One more byte is the gate,
 * which whoever opens the database holds meanwhile. The locks are those of an
 * open file description, so they go with the last process that has it,
 * however it ends, and two stores of one process are two holders. The file
 * has no content, but for its size, which says what was found of the database.
 */
#ifndef TAKT_STORE_PLACES_H
#define TAKT_STORE_PLACES_H

#include <stdbool.h>

#include "takt/status.h"

enum { TAKT_PLACES = 4096 };

/* The descriptor of the file for the database at `path`, -1: it cannot be
 * had. `may_make`: also when there is none yet. */
int takt__places_open(const char *path, bool may_make);

/* Closing it leaves the gate and gives the place back, unless a process that
 * was forked still has it open. -1 is allowed. */
void takt__places_close(int places);

/* TAKT_EIO: somebody else has been inside for seconds. */
takt_status takt__places_enter(int places);
void takt__places_leave(int places);

/* Takes the lowest place that is free; -1: there is none. */
int takt__places_take(int places);

/* The mark. Damage that is met while a store is used may be a disk that failed
 * once: whoever opens the store next looks at it from the beginning. If nothing
 * is found then, but the same happens again before anything could be written,
 * it is damage that only writing shows. */
enum takt_mark {
    TAKT_MARK_NONE,
    TAKT_MARK_MET,      /* damage was met */
    TAKT_MARK_LOOKED,   /* it was, and looking found nothing */
    TAKT_MARK_MET_AGAIN /* and then it was met again */
};
void takt__places_mark(int places, enum takt_mark mark);
enum takt_mark takt__places_read_mark(int places);

#endif
