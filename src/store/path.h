/* SPDX-License-Identifier: MIT */
/* path.h - where a store is, and on what kind of file system. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "takt/status.h"

/* The path of the store (takt_store_path()) on the machine of that
 * fingerprint: to find that out takes half a millisecond. */
takt_status takt__path_of_machine(const char *fingerprint, char *out,
                                  size_t size);

/* Whether other computers may write to a file system of that kind (f_type of
 * statfs()) at the same time, or its locks are those of a server. */
bool takt__path_is_remote_kind(uint32_t kind);

/* The same for the file system of `path`, which need not exist yet. */
bool takt__path_is_remote(const char *path);

/* Makes the folders above `path` that are missing. False: errno says why. */
bool takt__path_make_folders(const char *path);

/* The one absolute name of a file that exists or could be made; the caller
 * frees it. NULL: errno says why. */
char *takt__path_resolve(const char *path);

/* `path` with `end` behind it, to be freed; NULL: no memory. */
char *takt__path_extend(const char *path, const char *end);
