/* SPDX-License-Identifier: MIT */
/*
 * channel_parts.h - what a channel is made of, for channel.c, its queue
 * (queue.c) and its thread (sender.c).
 *
 * There are two locks. `lock` guards what others see of the channel, and is
 * held for moments. `busy` is held by the thread always but while it waits, and
 * taken by a fork(): so the child finds everything whole, and neither curl nor
 * the allocator in the middle of something. `busy` is taken before `lock`.
 */
#pragma once

#include <pthread.h>

#include "channel.h"

enum { TAKT_OTEL_FAILING_MS = 100 };

/* What waits to be sent, in batches as they will be sent. Bounded in spans and
 * in bytes. */
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

struct takt_otel_channel {
    struct takt_otel_channel_options options;
    struct takt_otel_transport transport;
    struct takt_otel_bytes resource;
    uint64_t random; /* the thread's */

    pthread_mutex_t busy;
    struct takt_otel_batch *sending; /* the thread's: it is being sent */
    struct takt_otel_bytes request;

    pthread_mutex_t lock;
    pthread_cond_t changed; /* for the thread */
    pthread_cond_t done;    /* for flush() */
    pthread_t thread;
    bool is_running, is_ending;
    bool is_failing;        /* the last try was no success */
    unsigned flushes;       /* flushes and ends so far */
    uint64_t flush_number;  /* batches up to this wait no longer */
    uint64_t done_number;   /* batches up to this were sent or given up */
    uint64_t end_ns;        /* all is over by then */
    uint64_t try_until_ns;  /* of the try that is going on */
    uint64_t not_before_ns; /* the collector asked to wait */
    struct takt_otel_queue queue;
    struct takt_otel_counts counts;
    uint64_t problem_ns;
    char problem[256];

    takt_otel_problem *tell; /* of what failed; NULL: nobody */
    uint64_t quiet_until_ns; /* the thread's, as what follows */
    unsigned tellings;
};

static inline uint64_t takt__otel_least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* Waits on a condition until a time of CLOCK_MONOTONIC; UINT64_MAX: ever. */
void takt__otel_wait(pthread_cond_t *condition, pthread_mutex_t *lock,
                     uint64_t until_ns);

/* With lock: starts the thread, unless it runs. */
void takt__otel_sender_start(struct takt_otel_channel *channel);

/* With lock: all that waits counts as failed. */
void takt__otel_give_up(struct takt_otel_channel *channel);

/* ---- queue.c: with lock -------------------------------------------------- */

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
