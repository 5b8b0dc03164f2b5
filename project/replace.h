/* SPDX-License-Identifier: MIT */
/*
 * replace.h - whole files, in and out: a file is as it was or as it shall be,
 * whatever fails meanwhile.
 *
 * Threads: nothing is shared.
 */
#ifndef TAKT_PROJECT_REPLACE_H
#define TAKT_PROJECT_REPLACE_H

#include <stddef.h>

#include <takt/status.h>
#include <takt/store.h>

/* Reads a regular file of at most `most` bytes; the caller frees *text, behind
 * which a NUL stands that does not count.
 * TAKT_ENOENT: there is none; `diag` is empty.
 * TAKT_EIO: it cannot be read, is no file, or is too large.  TAKT_ENOMEM. */
takt_status takt__read_file(const char *path, size_t most, char **text,
                            size_t *length, takt_diag *diag);

/* Whether takt__replace_file() may replace a file, as far as can be told now.
 * TAKT_EIO: the file is read-only, or is no file. */
takt_status takt__check_writable(const char *path, takt_diag *diag);

/* Makes `path` hold `text`: written beside it, brought to the disk, and put in
 * its place. A file that is there keeps its permissions and its owner; a
 * symbolic link stays one, and the file that it leads to is replaced. If
 * `expected` is not NULL, the file must still hold that.
 * TAKT_EIO: the file is read-only, is no file, or holds something else, or it
 * cannot be written; it is as it was. */
takt_status takt__replace_file(const char *path, const char *text,
                               size_t length, const char *expected,
                               size_t expected_length, takt_diag *diag);

/* Makes a new file, whole or not at all, with the permissions and the owner of
 * `like`, and never touches one that is there.
 * TAKT_EEXIST: one is; `diag` is empty.  TAKT_EIO: it cannot be written. */
takt_status takt__create_file(const char *path, const char *like,
                              const char *text, size_t length, takt_diag *diag);

#endif
