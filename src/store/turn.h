/* SPDX-License-Identifier: MIT */
/*
 * turn.h - which of the programs of a machine syncs its store, and when.
 *
 * STORE-fleet-lock is locked by whoever syncs. The time of its last change is
 * when the interval began in which nobody else has to, plus a random part, so
 * that machines which were started together do not stay together. Its text is
 * what came of the last sync.
 */
#pragma once

#include <stdbool.h>

enum { TAKT_TURN_TEXT = 400 };

struct takt_turn {
    bool is_now;   /* this process is to sync: nobody else will */
    double wait_s; /* until it is worth looking again */
    int wrong;     /* why the file cannot be used (errno); 0: it can */
    char
        said[TAKT_TURN_TEXT]; /* of the last sync that failed; "": it did not */
};

/* Looks, and takes the turn if it has come; `is_taking` false: only looks.
 * At most one sync per `every_s` is begun on a machine. A file that cannot be
 * made or locked is nobody's turn. */
struct takt_turn takt__turn_look(const char *store, double every_s,
                                 bool is_taking);

/* For a tool, which may wait: a sync ended; `problem`: one line, "" for none.
 * The next interval begins. */
void takt__turn_note(const char *store, double every_s, const char *problem);
