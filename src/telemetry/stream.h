/* SPDX-License-Identifier: MIT */
/*
 * stream.h - the sink that `takt trace` reads: a file, or a socket.
 *
 * It never waits for its reader: what does not fit into the buffer is dropped,
 * counted, and reported as soon as there is space again. It ends without an
 * error when the reader goes away.
 */
#pragma once

#include <takt/telemetry.h>

enum {
    TAKT_STREAM_BUFFER = 256 * 1024, /* bytes that wait for a slow reader */
    TAKT_STREAM_GREETING_MS = 100,   /* how long a reader may be silent */
    TAKT_STREAM_METRICS_MS = 250,    /* to a reader that did not say */
    TAKT_STREAM_FILE_METRICS_MS = 5000
};

/* `where` is the path of a file, which is appended to, and made for the owner
 * alone if it does not exist; or "unix:PATH", a socket that a reader listens
 * on. The reader may send a greeting within TAKT_STREAM_GREETING_MS that says
 * what it wants. `diag` may be NULL.
 * TAKT_EIO: it cannot be opened, is no plain file, or no process of this user
 * or root listens.
 * TAKT_ENOMEM. */
takt_status takt__stream_open(const char *where, takt_sink *out,
                              takt_diag *diag);
