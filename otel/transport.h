/* SPDX-License-Identifier: MIT */
/*
 * transport.h - requests over a network, by libcurl: OTLP over gRPC or HTTP.
 *
 * Certificates are verified, redirects not followed, and what the other end
 * says is read up to a bound.
 */
#ifndef TAKT_OTEL_TRANSPORT_H
#define TAKT_OTEL_TRANSPORT_H

#include "channel.h"
#include "target.h"

/* Readies libcurl, once in a process. */
bool takt__otel_transport_begin(void);

/* The target must outlive what is made. False: no memory. */
bool takt__otel_transport_open(const struct takt_otel_target *target,
                               struct takt_otel_transport *out);

#endif
