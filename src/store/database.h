/* SPDX-License-Identifier: MIT */
/*
 * database.h - a file of SQLite, opened and known to be a store.
 *
 * Statements are prepared when they are first needed and kept.
 */
#pragma once

#include <sqlite3.h>

#include "store/descriptors.h"
#include "store/lockfile.h"
#include "store/record.h"
#include "store/vfs.h"
#include "takt/store.h"

enum takt_database_use {
    TAKT_DATABASE_READ, /* untrusted: it must exist and be exactly what Takt
                         * makes, is read into memory and stays as it is */
    TAKT_DATABASE_WRITE /* ours: it is made, upgraded and repaired */
};

enum takt_sql {
    TAKT_SQL_FIND_NAME,
    TAKT_SQL_ADD_NAME,
    TAKT_SQL_ADVANCE, /* a writer puts a record of its own */
    TAKT_SQL_MERGE,   /* puts a record from elsewhere */
    TAKT_SQL_NAME_OF, /* a number */
    TAKT_SQL_SCAN,    /* records with the numbers of their names */
    TAKT_SQL_SELECT,  /* with their names, in the order of these */
    TAKT_SQL_FIND_WRITER,
    TAKT_SQL_ADD_WRITER,
    TAKT_SQL_LAST_OF_WRITER,
    TAKT_SQL_RETIRE_WRITER,
    TAKT_SQL_FORGET,
    TAKT_SQL_FORGET_MACHINE,
    TAKT_SQL_COUNT
};

/* The number of a name that was just looked up, good for one transaction. */
struct takt_known_name {
    char text[TAKT_SHA256_HEX];
    int64_t id; /* 0: nothing known */
};

struct takt_database {
    sqlite3 *db;
    struct takt_vfs *vfs; /* of `db`; NULL: SQLite's own */
    size_t steps_left;    /* which a foreign file may take to be read */
    sqlite3_stmt *statement[TAKT_SQL_COUNT]; /* NULL: not needed so far */
    struct takt_known_name known[TAKT_RECORD_NAMES];
    const struct takt_patience *patience; /* while it is opened */
    char *path;                           /* absolute, no link in it */
    int lockfile;                         /* see lockfile.h; -1: none */
    struct takt_descriptors *descriptors;
    int64_t inode;    /* of the file */
    bool is_readonly; /* asked for, or nothing else is possible */
    bool is_empty;    /* not even tables; only where it cannot be written */
};

/* Opens the store at `path`. One that should be written and can only be read
 * is opened for reading, and `diag` says so; as it does when a damaged one
 * was moved aside.
 * `patience` is needed until takt__database_is_open().
 * TAKT_ENOENT: there is no file, and it was to be read.
 * TAKT_EIO: it cannot be made, read or locked.
 * TAKT_ENOMEM: no memory to look at it, which says nothing about it.
 * TAKT_ECORRUPT: damaged (only for reading), of a later version, or another
 * program's. On failure there is nothing to close, and `diag` says why. */
takt_status takt__database_open(const char *path, enum takt_database_use use,
                                const struct takt_patience *patience,
                                takt_diag *diag, struct takt_database *out);

/* From now on it waits as usual. */
void takt__database_is_open(struct takt_database *database);

/* A store without a file, that ends when it is closed. */
takt_status takt__database_open_private(struct takt_database *out);

void takt__database_close(struct takt_database *database);

/* Whether the file is still the one at its path. */
bool takt__database_is_there(const struct takt_database *database);

/* Whether the descriptors are still ours; otherwise nothing below does anything
 * but fail, and closing leaves them alone: see lockfile.h. */
bool takt__database_is_usable(const struct takt_database *database);

/* The statement, ready to be bound. */
takt_status takt__database_prepare(struct takt_database *database,
                                   enum takt_sql which, sqlite3_stmt **out);

/* The same with its one parameter, a text that is borrowed, or NULL. */
takt_status takt__database_prepare_text(struct takt_database *database,
                                        enum takt_sql which, const char *text,
                                        sqlite3_stmt **out);

/* Runs such a statement. */
takt_status takt__database_run(struct takt_database *database,
                               enum takt_sql which, const char *text);

takt_status takt__database_prepare_all(struct takt_database *database);

/* Ends the connection and keeps the rest. */
void takt__database_disconnect(struct takt_database *database);

/* One transaction that writes. Ending takes what happened so far, commits if
 * that was TAKT_OK, and otherwise, or when that fails, undoes everything. */
takt_status takt__database_begin(struct takt_database *database);
takt_status takt__database_end(struct takt_database *database,
                               takt_status so_far);

/* ---- rows.c: records in and out ------------------------------------------ */

/* The number of a name, which is given one if it has none. In a transaction.
 * `slot`: which of the known names to look at first. */
takt_status takt__rows_name(struct takt_database *database, int slot,
                            const char *text, int64_t *id);

/* Puts a sound record, in a transaction. `rule` is TAKT_SQL_ADVANCE or
 * TAKT_SQL_MERGE; *is_put: it was later than what was there. */
takt_status takt__rows_put(struct takt_database *database, enum takt_sql rule,
                           const struct takt_record *record, bool *is_put);

/* See takt__store_read(). `which`: TAKT_SQL_SCAN, or TAKT_SQL_SELECT, which
 * has names to look up in every row, and sorts. */
takt_status takt__rows_visit(struct takt_database *database,
                             enum takt_sql which, takt_record_visit *visit,
                             void *self);

/* ---- merge.c: the records of one database into another ------------------- */

/* Opens a store to be written by merging; `diag` says why not. */
takt_status takt__merge_open(const char *path, takt_diag *diag,
                             struct takt_database *out);

/* All or nothing. TAKT_ECORRUPT: `from` is damaged. */
takt_status takt__merge(struct takt_database *into, struct takt_database *from,
                        takt_store_report *report);

/* Runs one that a caller of the library asked for, from another store (its
 * path) or from a text (its descriptor), and fills in the caller's report. */
typedef takt_status takt_merge_run(const char *into, const void *from,
                                   takt_store_report *report, takt_diag *diag);
takt_status takt__merge_guarded(takt_merge_run *run, const char *into,
                                const void *from, takt_store_report *report,
                                takt_diag *diag);
