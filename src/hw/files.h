/* SPDX-License-Identifier: MIT */
/* files.h - reading and writing the small text files of a machine. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Whether `path` is absolute and no part of it is "..": it stays below
 * whatever folder it is put under. */
bool takt__path_stays_below(const char *path);

/* Joins two parts; false when they do not fit. */
bool takt__path_join(const char *folder, const char *path, char *out,
                     size_t cap);

/* See struct takt_hw_source. Only regular files are opened, so a recording
 * cannot make a reader wait on a pipe. What fails is tried again before it has
 * failed. */
size_t takt__file_read(const char *path, char *buf, size_t cap);
size_t takt__folder_list(const char *folder, char *buf, size_t cap);

/* Writes a new file, making the folders below `root` that it needs. */
bool takt__file_write(const char *root, const char *path, const char *text,
                      size_t length);

/* Removes a folder and everything in it; follows no link. */
void takt__folder_remove(const char *folder);
