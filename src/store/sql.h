/* SPDX-License-Identifier: MIT */
/* sql.h - running SQL: one-liners over SQLite's interface. */
#pragma once

#include <stdint.h>

#include <sqlite3.h>

#include "takt/status.h"

/* What a caller can do about a result of SQLite, by its code. TAKT_ECORRUPT is
 * a suspicion (see open.c): a disk that fails may look like it, and so may a
 * statement that does not compile, or one that was stopped because it took too
 * long, which only foreign files are (read.c). */
takt_status takt__sql_status(int result);

/* Runs statements that have no result. */
takt_status takt__sql_run(sqlite3 *db, const char *text);

/* Runs one that has a single number as its result. */
takt_status takt__sql_number(sqlite3 *db, const char *text, int64_t *out);

/* Runs a prepared one to its end, and makes it ready for the next time. */
takt_status takt__sql_step(sqlite3_stmt *statement);
