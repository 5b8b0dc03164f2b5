/* SPDX-License-Identifier: MIT */
/* gzip.h - a request, made smaller. */
#ifndef TAKT_OTEL_GZIP_H
#define TAKT_OTEL_GZIP_H

#include "encode.h"

/* Appends the compressed form. False: no memory; *out is as before. */
bool takt__otel_gzip(const unsigned char *at, size_t size,
                     struct takt_otel_bytes *out);

#endif
