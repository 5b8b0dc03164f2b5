/* SPDX-License-Identifier: MIT */
/* aside.h - putting a damaged store out of the way without losing it. */
#ifndef TAKT_STORE_ASIDE_H
#define TAKT_STORE_ASIDE_H

#include "takt/status.h"

/* Renames the database at `path`, which nobody may be opening meanwhile, to
 * the first of "PATH.damaged-1", "PATH.damaged-2", ... that is free, together
 * with the files that SQLite keeps beside it. *number tells which it was.
 * TAKT_EIO: it cannot be moved, or there are too many already. */
takt_status takt__aside_move(const char *path, int *number);

#endif
