/* SPDX-License-Identifier: MIT */
/*
 * read_file.h - reads whole files; base/new_file.h writes them.
 *
 * Threads: nothing is shared.
 */
#pragma once

#include <takt/status.h>
#include <takt/store.h>

/* Reads a regular file of at most `most` bytes; the caller frees *text, behind
 * which a NUL stands that does not count.
 * TAKT_ENOENT: there is none; `diag` is empty.
 * TAKT_EIO: it cannot be read, is no file, or is too large.  TAKT_ENOMEM. */
takt_status takt__read_file(const char *path, size_t most, char **text,
                            size_t *length, takt_diag *diag);

/* The path of a file in a folder; the caller frees it. NULL: no memory. */
char *takt__join_path(const char *folder, const char *name);
