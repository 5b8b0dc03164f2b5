/* SPDX-License-Identifier: MIT */
/* quarantine.h - renames a damaged store, so that a new one can be made. */
#ifndef TAKT_STORE_QUARANTINE_H
#define TAKT_STORE_QUARANTINE_H

#include "takt/status.h"

/* Renames the database at `path`, which no process may be opening meanwhile, to
 * the first of "PATH.damaged-1", "PATH.damaged-2", ... that is free, together
 * with the files that SQLite keeps beside it. *number tells which it was.
 * TAKT_EIO: it cannot be moved, or there are too many already. */
takt_status takt__quarantine(const char *path, int *number);

#endif
