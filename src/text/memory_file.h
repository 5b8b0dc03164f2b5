/* SPDX-License-Identifier: MIT */
/*
 * memory_file.h - a stream that is written to memory.
 *
 * As open_memstream(), which loses text without an error where there is no
 * memory for it (glibc 2.36): neither ferror() nor fclose() tell.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Stays where it is while the stream is open. */
struct takt_memory_file {
    FILE *stream;
    char *text;
    size_t length, room;
    bool is_short; /* there was no memory for all of it */
};

/* False: no memory. */
bool takt__memory_file_open(struct takt_memory_file *out);

/* Closes the stream. `text`, which is the caller's to free, has a NUL at its
 * end. False: there was no memory for all of it, and `text` is NULL. */
bool takt__memory_file_close(struct takt_memory_file *file);
