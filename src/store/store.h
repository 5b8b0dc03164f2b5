/* SPDX-License-Identifier: MIT */
/*
 * store.h - where records are kept: one SQLite file per machine.
 *
 * Nothing here is on the path of a call: one thread of Takt's own opens, reads
 * and writes. A store that cannot be used (read-only, full, damaged) is never
 * an error for a caller that computes; it is reported once and learning goes on
 * in memory.
 *
 * Threads: one store, one thread at a time. Any number of processes. A store
 * is closed before a fork(): neither SQLite's locks nor its connections survive
 * one.
 */
#pragma once

#include "store/descriptors.h"
#include "store/lockfile.h"
#include "store/record.h"
#include "takt/store.h"

struct takt_store;

struct takt_store_identity {
    const char *machine; /* fingerprints of what learns, see record.h */
    const char *software;
    bool is_foreign; /* the file is not ours: it is read once, as one
                      * that may be hostile, and never written */
    const struct takt_patience *patience; /* while it is opened */
};

/* Opens or makes the file at `path` and the folders above it, brings an older
 * schema up to date, and takes a writer slot in it that no living process
 * has. A damaged file is renamed ("PATH.damaged-1") and a new one made.
 * `diag` gets one line for people when something is worth saying; it may be
 * set although the store opened.
 * One that can only be read is opened so: it has no writer's name, and nothing
 * is written to it; as is one that is foreign, which is not made or repaired.
 * TAKT_ENOENT: there is no such file, and it is foreign.
 * TAKT_ENOMEM: no memory to look at it.
 * TAKT_EINVAL: no path, or a fingerprint that is empty or too long.
 * TAKT_EIO: the file cannot be made, read or locked, or it is lost.
 * TAKT_ECORRUPT: it is of a later version than this library knows, another
 * program's, or damaged where nothing can be moved; it is left alone.
 * TAKT_ENOTSUP: this build has no store. */
takt_status takt__store_open(const char *path,
                             const struct takt_store_identity *identity,
                             takt_diag *diag, struct takt_store **out);

/* Gives the writer slot back. NULL is allowed. */
void takt__store_close(struct takt_store *store);

/* Whether the program closed descriptors of the store's: their numbers may be
 * those of its own files by now. Such a store fails with TAKT_EIO whatever is
 * asked of it, is not written to when it is closed, and cannot be opened again
 * by this process and those that it forks. */
bool takt__store_is_lost(const struct takt_store *store);

/* Whether records under the writer's name came from elsewhere: they may claim
 * to be later than any that this writer would write. Nothing more can be
 * written until the store is opened again, which gives another name. */
bool takt__store_is_renamed(const struct takt_store *store);

/* Whether the last attempt to write failed because others wrote all the time,
 * which passes. */
bool takt__store_is_locked(const struct takt_store *store);

/* The writer's name: that of records that this store writes. Empty: the store
 * can only be read. */
const char *takt__store_writer(const struct takt_store *store);

/* Visits every record of every machine and writer, in the order of their keys.
 * The record is borrowed for the visit. Records that make no sense are left
 * out.
 * TAKT_ECORRUPT: there is damage; what was visited is good, and the next
 * process to open the store renames the file. The same for writing. */
takt_status takt__store_read(struct takt_store *store, takt_record_visit *visit,
                             void *self);

/* The same in any order, in half the time. */
takt_status takt__store_scan(struct takt_store *store, takt_record_visit *visit,
                             void *self);

/* Writes records in one transaction: all or none. Their writer, epoch, machine
 * and software are filled in here; seq is the caller's, and one that is not
 * larger than what is stored changes nothing.
 * TAKT_EINVAL: a record makes no sense, see takt__record_is_sound().
 * TAKT_EIO: disk full, locked for too long, read-only: try again later; or the
 * file was removed or renamed: open it again; or it is lost, or renamed. */
takt_status takt__store_write(struct takt_store *store,
                              struct takt_record *records, size_t count);

/* Makes these the only records of a machine in the store at `path`, which is
 * made if it does not exist; all or nothing. They are of that machine, and
 * sound. TAKT_EIO: it cannot be written; `diag` says why. */
takt_status takt__store_replace(const char *path, const char *machine,
                                const struct takt_record *records, size_t count,
                                takt_diag *diag);

/* Deletes the records of an op, or (NULL) of all, of every writer, and raises
 * this writer's epoch. */
takt_status takt__store_reset(struct takt_store *store, const char *op);
