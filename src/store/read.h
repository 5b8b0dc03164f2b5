/* SPDX-License-Identifier: MIT */
/*
 * read.h - a file that is read and not written: an untrusted one, one that we
 * cannot write, or ours when it is looked at for damage.
 */
#pragma once

#include "store/database.h"
#include "store/schema.h"

/* A file may define what it likes under our tables' names; with this it gets
 * to run nothing. */
void takt__read_distrust(sqlite3 *db);

/* Opens the file at database->path, of `limit` bytes at most, in memory: a
 * reader can rely on the types of what it gets. `diag` says why not.
 * TAKT_ECORRUPT: damaged, too large, or not exactly what Takt makes. The rest
 * as takt__image_read(). */
takt_status takt__read_open(struct takt_database *database, size_t limit,
                            takt_diag *diag);

/* Whether our own file is sound, by a copy that was read without an error.
 * `is_thorough`: whether it can be written, too.
 * TAKT_ECORRUPT: it is damaged. Others: it could not be looked at. */
takt_status takt__read_verify(const char *path, bool is_thorough,
                              takt_diag *diag);

/* Says why a file is not read, and returns TAKT_ECORRUPT. */
takt_status takt__read_refuse(const char *path, enum takt_schema_state state,
                              int64_t version, takt_diag *diag);

/* Whether a copy of the file can be had and claims what no memory holds
 * (takt__image_claims_too_much()). */
bool takt__read_claims_too_much(const char *path);
