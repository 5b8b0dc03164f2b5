/* SPDX-License-Identifier: MIT */
/*
 * connection.h - libcurl, set up for one target, and what it answered.
 *
 * The sockets are known here, so that the child of a fork can close its copies
 * of them: whatever libcurl has there is never touched again, because closing
 * it would send to the other end in the parent's name.
 */
#pragma once

#include <curl/curl.h>

#include "outcome.h"
#include "target.h"

enum {
    TAKT_OTEL_KEPT_BYTES = 65536, /* of an answer; a real one has a few */
    TAKT_OTEL_SOCKETS = 8
};

struct takt_otel_connection {
    const struct takt_otel_target *target;
    CURLM *multi;
    CURL *easy;
    int socket[TAKT_OTEL_SOCKETS]; /* that are open; -1: none */
    struct takt_otel_bytes posted; /* the request, as gRPC or gzip has it */

    /* Of the answer. */
    struct takt_otel_grpc grpc;
    char type[128];
    unsigned char kept[TAKT_OTEL_KEPT_BYTES];
    size_t size, seen, header_size;
    bool is_endless; /* it is longer than what is read */
    char curl_problem[CURL_ERROR_SIZE];
};

/* Methods of a transport (channel.h), whose self is a connection. */
bool takt__otel_connection_start(void *self);
void takt__otel_connection_stop(void *self);
void takt__otel_connection_forget(void *self);

/* Before a request: nothing was heard yet. */
void takt__otel_connection_clear(struct takt_otel_connection *link);
