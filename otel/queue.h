/* SPDX-License-Identifier: MIT */
/*
 * queue.h - what waits to be sent, in batches as they will be sent. Bounded in
 * spans and in bytes. Locks are its owner's.
 */
#ifndef TAKT_OTEL_QUEUE_H
#define TAKT_OTEL_QUEUE_H

#include "encode.h"

struct takt_otel_batch {
    struct takt_otel_bytes bytes;
    unsigned spans;
    uint64_t number;   /* batches are counted from 1 */
    uint64_t begun_ns; /* when the first span came */
    struct takt_otel_batch *next;
};

struct takt_otel_queue {
    enum takt_otel_format format;
    unsigned most_spans, batch_spans;
    size_t most_bytes, batch_bytes;

    struct takt_otel_batch *first, *last;
    size_t spans, bytes; /* of all batches */
    uint64_t begun;      /* batches so far */
};

/* Whether there is room; an empty queue has room for one event, and a `last`
 * one is always taken. False: there is none, or no memory. */
bool takt__otel_queue_put(struct takt_otel_queue *queue,
                          const struct takt_otel_bytes *spans, unsigned count,
                          bool is_last, uint64_t now_ns);

/* Takes the place of all that waits. False: no memory; the old one waits on. */
bool takt__otel_queue_renew(struct takt_otel_queue *queue,
                            const struct takt_otel_bytes *request,
                            uint64_t now_ns);

/* Whether nothing more goes into the first batch. */
bool takt__otel_queue_is_full(const struct takt_otel_queue *queue);

/* The caller owns what it gets; NULL: it is empty. */
struct takt_otel_batch *takt__otel_queue_take(struct takt_otel_queue *queue);
void takt__otel_batch_free(struct takt_otel_batch *batch); /* NULL allowed */

#endif
