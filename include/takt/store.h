/* SPDX-License-Identifier: MIT */
/*
 * takt/store.h - the file in which what was learned is kept.
 *
 * A store holds, for every writer, what it measured. Merging two stores keeps
 * the later record of each writer: in whatever order and however often stores
 * are merged, the result is the same.
 *
 * Threads: everything here may be called from any thread, and while other
 *   processes learn into the same file.
 * Since: 0.2.
 */
#ifndef TAKT_STORE_H
#define TAKT_STORE_H

#include <stddef.h>

#include <takt/export.h>
#include <takt/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* One line for people: what happened and what to do. Empty: nothing to say. */
typedef struct takt_diag {
    char text[512];
} takt_diag;

/* Where the store of this machine is: TAKT_DB, or a file named after the
 * machine in $XDG_STATE_HOME/takt or ~/.local/state/takt. On a network file
 * system a hash of the host's name is added, so that each host has its own.
 * Empty when there is to be none (TAKT_DB is empty, or there is no home).
 * TAKT_EINVAL: `size` is too small; *out is empty. */
TAKT_API takt_status takt_store_path(char *out, size_t size);

typedef struct takt_store_report {
    size_t size;    /* sizeof(takt_store_report): see takt/takt.h */
    size_t read;    /* records in what was merged */
    size_t added;   /* of keys that were not there */
    size_t renewed; /* of keys that were, with an earlier record */
} takt_store_report;

/* Merges the store at `from` into the one at `into`, which is made if it does
 * not exist; all or nothing. `from` may be anybody's: it is read into memory,
 * with its log, must have exactly the tables that Takt makes, and is not
 * changed; no file beside it is. `diag` may be NULL.
 * TAKT_ENOENT: there is no such file.
 * TAKT_ECORRUPT: `from` is not a store, or damaged, or of a later version, or
 * has more than 128 MiB, or takes too long to read.
 * TAKT_EIO: `into` cannot be written, or `from` not be read: a rollback journal
 * lies beside it, say. TAKT_ENOMEM. TAKT_ENOTSUP: this build has no store. */
TAKT_API takt_status takt_store_merge(const char *into, const char *from,
                                      takt_store_report *report,
                                      takt_diag *diag);

/* Writes all records of a store as text (docs/formats/history.md), to be read
 * by people, spreadsheets and takt_store_import(). Two stores with the same
 * content make the same bytes. The store is read as by takt_store_merge().
 * TAKT_ENOENT: there is no such file.  TAKT_ECORRUPT: it is not a store.
 * TAKT_EIO: the text cannot be written, or the store not be read. */
TAKT_API takt_status takt_store_export(const char *store, int fd,
                                       takt_diag *diag);

/* Merges such a text into a store, which is made if it does not exist; all or
 * nothing. A line that is wrong is named in `diag`.
 * TAKT_ECORRUPT: the text is not one of ours, or was cut off.
 * TAKT_EIO: the text cannot be read, or the store not written. */
TAKT_API takt_status takt_store_import(const char *store, int fd,
                                       takt_store_report *report,
                                       takt_diag *diag);

#ifdef __cplusplus
}
#endif

#endif
