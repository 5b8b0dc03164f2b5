/* SPDX-License-Identifier: MIT */
/*
 * transport.h - where requests go: over a network by libcurl, which is OTLP
 * over gRPC or HTTP (transport.c), or into a file as JSON (file.c).
 *
 * Certificates are verified, redirects not followed, and what the other end
 * says is read up to a bound.
 */
#pragma once

#include "channel.h"
#include "target.h"

/* Readies libcurl, once in a process. */
bool takt__otel_transport_begin(void);

/* The target must outlive what is made. False: no memory. */
bool takt__otel_transport_open(const struct takt_otel_target *target,
                               struct takt_otel_transport *out);

/* A file of requests, one on a line. Traces and metrics share it, and so may
 * other processes: a line is appended by one write(). */
struct takt_otel_file;

/* NULL: it cannot be opened or there is no memory; errno says. */
struct takt_otel_file *takt__otel_file_open(const char *path);
void takt__otel_file_close(struct takt_otel_file *file); /* NULL allowed */

/* A way into it, for one channel; the file must outlive it. */
struct takt_otel_transport
takt__otel_file_transport(struct takt_otel_file *file);
