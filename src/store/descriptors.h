/* SPDX-License-Identifier: MIT */
/*
 * descriptors.h - whether the descriptors of a database are still what they
 * were.
 *
 * A program may close descriptors that it does not know: all of them, as
 * daemons do, or one by mistake. It is then given their numbers for files of
 * its own, and SQLite would write into these. So this process keeps a list of
 * which descriptors belong to a database (of the file, of its -wal and -shm,
 * and of -writers) and looks at them before each use.
 *
 * If one is not what it was, the database is lost to this process, and to those
 * that it forks, for SQLite goes on believing in locks that are gone: it is not
 * used, closed or opened again.
 */
#pragma once

#include <stdbool.h>
#include <sys/stat.h>

#include "takt/status.h"

#define TAKT_STORE_LOST                                 \
    "the program closed the descriptors of the store: " \
    "learning goes on in memory"

#define TAKT_STORE_SHARED                                                     \
    "another copy of Takt or of SQLite in this program has it open: what is " \
    "learned stays in memory"

struct takt_descriptors;

/* Whether the database, which need not exist, may be opened: it is not lost. */
bool takt__descriptors_may_open(const struct stat *database);

/* Whether SQLite may read a file as a database, or as the log of one: it is not
 * another part of a database that is open, such as the index of its log. SQLite
 * knows only of databases that to close them drops locks. */
bool takt__descriptors_may_read(const struct stat *facts, bool is_log);

/* Whether the database is open in this process, and not in the list: by another
 * copy of Takt, or by the program itself. What one copy of SQLite closes drops
 * the locks of the other. To be called with the opening lock. */
bool takt__descriptors_have_stranger(const char *path);

/* Notes what is open for the database at `path`, and `lockfile`: to be
 * called once SQLite has opened all that it needs. On failure too, what *out is
 * set to has to be released. TAKT_EIO: it is lost. */
takt_status takt__descriptors_add(const char *path, const struct stat *database,
                                  int lockfile, struct takt_descriptors **out);

/* Looks. True: all is as it was. NULL is a database without a file. */
bool takt__descriptors_are_ours(struct takt_descriptors *of);

/* Descriptors are closed between these two; other threads wait. False:
 * it is lost, none may be closed, and there is nothing to end; `connection` is
 * SQLite's, whose memory stays. NULL is allowed for both. */
bool takt__descriptors_begin_release(struct takt_descriptors *of,
                                     void *connection);
void takt__descriptors_end_release(struct takt_descriptors *of);
