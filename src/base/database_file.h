/* SPDX-License-Identifier: MIT */
/*
 * database_file.h - a slip of a name must not cost what was learned: files of
 * SQLite's, as stores are, are neither written over nor appended to.
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

/* Whether a file is one of them, by whatever name, or one that belongs to it:
 * its log, say. Locks that this process has on it stay. */
bool takt__is_database(int folder, const char *name);

/* Whether a name is that of a log, say, with a store beside it. */
bool takt__is_part_of_store(int folder, const char *name);

/* Opens a file for events, made if there is none, above the descriptors of
 * standard input and output. A pipe that is not read does not block. -1: errno
 * says why, EEXIST: it is a database. */
int takt__append_open(const char *path, mode_t mode);
