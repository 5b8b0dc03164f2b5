/* SPDX-License-Identifier: MIT */
/* listener.h - the sockets on which `takt trace PID` listens for a process, and
 * `takt top` for all. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* The socket for a process, or (0) for all of a user's: "unix:PATH". False:
 * there is none in a folder that is this user's alone. */
bool takt__listener_path(long pid, char *out, size_t size);

/* Its name in a folder. */
struct takt_listener_name {
    char at[32];
};
struct takt_listener_name takt__listener_name(long pid);

/* The folders in which it may be, the best first; false beyond the last. A
 * program and its reader may have different environments, so both look into all
 * of them. */
bool takt__listener_folder(unsigned index, char *out, size_t size);

/* Whether a folder exists and only this user can write to it. */
bool takt__listener_is_private(const char *folder);

/* Whether this user or root listens at the other end of `fd`: no other user may
 * read what is computed. False: errno is EACCES. */
bool takt__listener_is_ours(int fd);
