/* SPDX-License-Identifier: MIT */
/*
 * stream.h - the sink that `takt trace` reads: a file, or a socket.
 *
 * It never waits for its reader: what has no room is dropped, counted, and told
 * of as soon as there is room again. A reader that went away ends it, quietly.
 */
#ifndef TAKT_TELEMETRY_STREAM_H
#define TAKT_TELEMETRY_STREAM_H

#include <stdbool.h>
#include <stddef.h>

#include <takt/telemetry.h>

enum {
    TAKT_STREAM_ROOM = 256 * 1024, /* bytes that wait for a slow reader */
    TAKT_STREAM_GREETING_MS = 100, /* how long a reader may be silent */
    TAKT_STREAM_METRICS_MS = 250,  /* to a reader that did not say */
    TAKT_STREAM_FILE_METRICS_MS = 5000
};

/* `where` is the path of a file, which is appended to, and made for the owner
 * alone if it does not exist; or "unix:PATH", a socket that somebody listens
 * on. A socket's reader may say within TAKT_STREAM_GREETING_MS what it wants.
 * `diag` may be NULL.
 * TAKT_EIO: it cannot be opened, is no plain file, or nobody listens, or
 * somebody who is neither this user nor root.
 * TAKT_ENOMEM. */
takt_status takt__stream_open(const char *where, takt_sink *out,
                              takt_diag *diag);

/* Where `takt trace PID` listens for a process: "unix:PATH". False: nobody
 * does, or not in a folder that is this user's alone. */
bool takt__stream_place(long pid, char *out, size_t size);

/* The folders in which that may be, the best first; false beyond the last. A
 * program and its reader may see different environments, so both look into all
 * of them. */
bool takt__stream_folder(unsigned index, char *out, size_t size);

/* Whether it is this user or root who listens where `fd` is connected to:
 * nobody else is told what is computed. False: errno is EACCES. */
bool takt__stream_is_listener_ours(int fd);

/* Whether a folder is there and nobody else can put anything into it. */
bool takt__stream_is_private(const char *folder);

#endif
