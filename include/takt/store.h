/* SPDX-License-Identifier: MIT */
/*
 * takt/store.h - the store: the file with what was learned.
 *
 * A store holds the measurements of every writer. Merging two stores keeps the
 * later record of each writer, so the order of merges and repeated merges do
 * not change the result.
 *
 *     char path[1024];
 *     takt_diag diag;
 *
 *     if (takt_store_path(path, sizeof path) != TAKT_OK)
 *         return 1;
 *     if (takt_store_merge(path, "elsewhere.db", NULL, &diag) != TAKT_OK)
 *         fprintf(stderr, "not merged: %s\n", diag.text);
 *
 * Threads: everything here may be called from any thread, and while other
 *   processes learn into the same file.
 */
#ifndef TAKT_STORE_H
#define TAKT_STORE_H

#include <stddef.h>

#include <takt/export.h>
#include <takt/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A diagnosis in one line of text: what happened and what to do. Empty:
 * nothing. */
typedef struct takt_diag {
    char text[512];
} takt_diag;

/* The path of the store of this machine: TAKT_DB, or a file named after the
 * machine in $XDG_STATE_HOME/takt or ~/.local/state/takt. On a network file
 * system a hash of the host's name is added, so that each host has its own.
 * Empty: there is no store (TAKT_DB is empty, or there is no home).
 * TAKT_EINVAL: `size` is too small; *out is empty.
 * TAKT_EIO: it is not known which machine this is (takt_machine). */
TAKT_API takt_status takt_store_path(char *out, size_t size);

/* How many records were merged. */
typedef struct takt_store_report {
    size_t size;    /* sizeof(takt_store_report): see takt/takt.h */
    size_t read;    /* records in the source */
    size_t added;   /* with a new key */
    size_t renewed; /* that replaced an earlier record */
} takt_store_report;

/* Merges one store into another. The one at `into` is made if it does not
 * exist; all or nothing. `from` need not be trusted: it is read into memory,
 * with its log, must have exactly the tables that Takt makes, and neither it
 * nor a file beside it is changed. `report` and `diag` may be NULL.
 * TAKT_ENOENT: there is no such file.
 * TAKT_ECORRUPT: `from` is not a store, or damaged, or of a later version, or
 *   has more than 128 MiB, or takes too long to read.
 * TAKT_EIO: `into` cannot be written, or `from` not be read: a rollback journal
 *   lies beside it, say.
 * TAKT_ENOMEM: no memory.
 * TAKT_ENOTSUP: this build has no store. */
TAKT_API takt_status takt_store_merge(const char *into, const char *from,
                                      takt_store_report *report,
                                      takt_diag *diag);

/* Writes all records of a store as text, for people and spreadsheets. The
 * format is in docs/formats/history.md; takt_store_import() reads it. Stores
 * with the same content give the same bytes. The store is read as by
 * takt_store_merge().
 * TAKT_ENOENT: there is no such file.
 * TAKT_ECORRUPT: it is not a store.
 * TAKT_EIO: the text cannot be written, or the store not be read. */
TAKT_API takt_status takt_store_export(const char *store, int fd,
                                       takt_diag *diag);

/* Merges the text of an exported store into a store. The store is made if it
 * does not exist; all or nothing. `diag` names a line that is wrong.
 * TAKT_ECORRUPT: the text is not in this format, or was cut off.
 * TAKT_EIO: the text cannot be read, or the store not written. */
TAKT_API takt_status takt_store_import(const char *store, int fd,
                                       takt_store_report *report,
                                       takt_diag *diag);

#ifdef __cplusplus
}
#endif

#endif
