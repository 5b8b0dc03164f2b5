/* SPDX-License-Identifier: MIT */
/* schema.h - the tables of a store and their versions. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <sqlite3.h>

#include "takt/status.h"

enum {
    TAKT_SCHEMA_VERSION = 1,
    TAKT_SCHEMA_APPLICATION = 0x54616b74 /* "Takt", in the file's header */
};

enum takt_schema_state {
    TAKT_SCHEMA_CURRENT,
    TAKT_SCHEMA_EMPTY,  /* there is nothing at all in it */
    TAKT_SCHEMA_OLDER,  /* takt__schema_upgrade() makes it current */
    TAKT_SCHEMA_LATER,  /* made by a later Takt */
    TAKT_SCHEMA_FOREIGN /* a database of another program */
};

/* What a database is. TAKT_ECORRUPT: not even a database. */
takt_status takt__schema_read(sqlite3 *db, enum takt_schema_state *state,
                              int64_t *version);

/* Makes the tables, or makes older ones current, in one transaction. */
takt_status takt__schema_upgrade(sqlite3 *db);

/* Whether there is in it what Takt makes for that version, and nothing else. */
takt_status takt__schema_compare(sqlite3 *db, int64_t version, bool *is_same);

/* Looks through the whole file, and if thorough, whether indexes and tables
 * agree. TAKT_ECORRUPT: something is wrong in it, or it could not be read, or
 * there was too little memory: SQLite reports these alike. */
takt_status takt__schema_check(sqlite3 *db, bool is_thorough);
