/* SPDX-License-Identifier: MIT */
/* rows.h - records in and out of a database. */
#ifndef TAKT_STORE_ROWS_H
#define TAKT_STORE_ROWS_H

#include "store/database.h"
#include "store/record.h"

/* The number of a name, which is given one if it has none. In a transaction.
 * `slot`: which of the known names to look at first. */
takt_status takt__rows_name(struct takt_database *database, int slot,
                            const char *text, int64_t *id);

/* Puts a sound record, in a transaction. `rule` is TAKT_SQL_ADVANCE or
 * TAKT_SQL_MERGE; *is_put: it was later than what was there. */
takt_status takt__rows_put(struct takt_database *database, enum takt_sql rule,
                           const struct takt_record *record, bool *is_put);

/* See takt__store_read(). */
takt_status takt__rows_visit(struct takt_database *database,
                             takt_record_visit *visit, void *self);

takt_status takt__rows_count(struct takt_database *database, int64_t *count);

#endif
