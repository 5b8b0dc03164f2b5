/* SPDX-License-Identifier: MIT */
/*
 * vfs.h - which files SQLite may touch for one connection.
 *
 * A rollback journal can name another file, its super-journal, which SQLite
 * deletes after it has played the journal back. Takt never makes such a
 * journal, so a name in one is an attack. A connection made here opens,
 * looks for and deletes its database, that one's log and journal, and
 * temporary files of SQLite's own; or an image alone.
 */
#pragma once

#include <sqlite3.h>

#include "store/image.h"

struct takt_vfs;

/* Opens the database at `path`, an absolute name without links in it, or
 * `image` in its place, which is owned from here on, also on failure. On
 * success *out is needed until the connection is closed. */
takt_status takt__vfs_connect(const char *path, int flags,
                              struct takt_image *image, struct takt_vfs **out,
                              sqlite3 **db);
void takt__vfs_free(struct takt_vfs *vfs); /* NULL is allowed */

/* Whether another copy of Takt in this program uses the same copy of SQLite:
 * then they share its locks. To be called before each store is opened. */
bool takt__vfs_shares_sqlite(void);
