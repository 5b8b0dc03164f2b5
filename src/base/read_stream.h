/* SPDX-License-Identifier: MIT */
/* read_stream.h - the rest of a stream; new_file.h writes whole files. */
#pragma once

#include <stddef.h>
#include <stdio.h>

/* Reads to the end of what may be no file: a pipe, say. The caller frees *text,
 * behind which a NUL stands that does not count. 0, or an error of errno, EFBIG
 * for more than `most` bytes: *text is NULL then. */
int takt__read_stream(FILE *stream, size_t most, char **text, size_t *length);
