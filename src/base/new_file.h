/* SPDX-License-Identifier: MIT */
/*
 * new_file.h - writes whole files. A file holds its old content or its new
 * content, never a part of it, whatever fails.
 *
 * The content is written to a temporary file in the same directory, which is
 * new, has a random name and is opened without following links. It is synced
 * and then renamed. The rules for what is at the path already:
 *
 *   regular file   replaced; owner and permissions are kept. A file without
 *                  write permission is refused, for root too.
 *   symbolic link  stays; the file that it leads to is replaced. Refused if it
 *                  leads nowhere, or if another user put it into a directory
 *                  such as /tmp.
 *   FIFO, device   refused, or written in place with TAKT_NEW_FILE_STREAMS,
 *                  which also writes to a descriptor named by /dev/stdout,
 *                  /dev/stderr or /dev/fd/N.
 *   anything else  refused.
 *
 * Threads: nothing is shared.
 */
#pragma once

#include <limits.h>
#include <stdbool.h>

#include <takt/status.h>
#include <takt/store.h>

enum {
    TAKT_NEW_FILE_STREAMS = 1 << 0,  /* the path may be a FIFO or a device */
    TAKT_NEW_FILE_NO_LINKS = 1 << 1, /* a symbolic link is refused */
    TAKT_NEW_FILE_ONLY = 1 << 2      /* whatever is there already is kept */
};

/* A file that is being written. */
struct takt_new_file {
    int fd;           /* to be written to; -1: not open */
    int folder;       /* -1: it is written in place */
    const char *path; /* borrowed until the end, for messages */
    bool is_only;
    char name[NAME_MAX + 1]; /* in `folder`; so is `temporary` */
    char temporary[32];
};

/* Opens the temporary file. `diag` may be NULL, here and below.
 * TAKT_EEXIST: TAKT_NEW_FILE_ONLY, and something is there; `diag` is empty.
 * TAKT_EIO: it is refused, or cannot be written. */
takt_status takt__new_file_open(const char *path, unsigned flags,
                                struct takt_new_file *out, takt_diag *diag);

/* Puts it in place. Closes it in any case.
 * TAKT_EEXIST: TAKT_NEW_FILE_ONLY, and something is there now.
 * TAKT_EIO: it could not be written; the old file is as it was. */
takt_status takt__new_file_commit(struct takt_new_file *file, takt_diag *diag);

/* Removes the temporary file. Does nothing if `file` is not open. */
void takt__new_file_drop(struct takt_new_file *file);

/* Writes all of it. TAKT_EIO. */
takt_status takt__new_file_write(const struct takt_new_file *file,
                                 const char *text, size_t length,
                                 takt_diag *diag);

/* Writes all of a text to a descriptor. False: errno says why. */
bool takt__write_all(int fd, const char *text, size_t length);

/* All of these. On failure the old file is as it was. */
takt_status takt__write_whole(const char *path, unsigned flags,
                              const char *text, size_t length, takt_diag *diag);

/* Makes a new file with the permissions and the owner of `like`.
 * TAKT_EEXIST: there is one; `diag` is empty.  TAKT_EIO. */
takt_status takt__create_like(const char *path, const char *like,
                              const char *text, size_t length, takt_diag *diag);
