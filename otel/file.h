/* SPDX-License-Identifier: MIT */
/*
 * file.h - requests into a file, as JSON, one on a line. Traces and metrics
 * share it, and so may other processes: a line is appended by one write().
 */
#ifndef TAKT_OTEL_FILE_H
#define TAKT_OTEL_FILE_H

#include "channel.h"

struct takt_otel_file;

/* NULL: it cannot be opened or there is no memory; errno says. */
struct takt_otel_file *takt__otel_file_open(const char *path);
void takt__otel_file_close(struct takt_otel_file *file); /* NULL allowed */

/* A way into it, for one channel; the file must outlive it. */
struct takt_otel_transport
takt__otel_file_transport(struct takt_otel_file *file);

#endif
