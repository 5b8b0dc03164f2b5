/* SPDX-License-Identifier: MIT */
/*
 * image.h - a database and its log in memory, as SQLite's files.
 *
 * SQLite reads and writes the copy, so that nothing it finds in a file can
 * make it touch another one, and the file cannot change while it reads.
 */
#pragma once

#include <stdbool.h>

#include <sqlite3.h>

#include "takt/status.h"
#include "takt/store.h"

enum {
    TAKT_IMAGE_FOREIGN_BYTES = 128 << 20, /* a million records */
    TAKT_IMAGE_OWN_BYTES = 1 << 30
};

struct takt_image;

/* Reads the file at `path` and its log, both as of one moment, `limit` bytes
 * at most. `diag` says why not.
 * TAKT_ENOENT: there is no file.  TAKT_ECORRUPT: it is larger.
 * TAKT_EIO: it cannot be read, is being changed, or a rollback journal lies
 * beside it. TAKT_ENOMEM. */
takt_status takt__image_read(const char *path, size_t limit, takt_diag *diag,
                             struct takt_image **out);
void takt__image_free(struct takt_image *image); /* NULL is allowed */

/* The first bytes of a file that may be open, zeros beyond its end. False: they
 * cannot be read. */
bool takt__image_start(const char *path, char *out, size_t length);

/* Of the database and its log together. */
size_t takt__image_bytes(const struct takt_image *image);

bool takt__image_has_log(const struct takt_image *image);

/* Whether the database keeps a log, and came without one. */
bool takt__image_lacks_log(const struct takt_image *image);

/* Whether the description of a table claims to be longer than all of the image.
 * SQLite calls that a lack of memory. */
bool takt__image_claims_too_much(const struct takt_image *image);

/* For xOpen: the database or its log; others are refused. `file` has
 * takt__image_file_bytes() bytes. */
int takt__image_open(struct takt_image *image, sqlite3_file *file, int flags,
                     int *flags_out);
int takt__image_file_bytes(void);
