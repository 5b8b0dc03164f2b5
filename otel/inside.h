/* SPDX-License-Identifier: MIT */
/*
 * inside.h - what channel.c and its thread, sender.c, share.
 *
 * There are two locks. `lock` guards what others see of the channel, and is
 * held for moments. `busy` is held by the thread always but while it waits, and
 * taken by a fork(): so the child finds everything whole, and neither curl nor
 * the allocator in the middle of something. `busy` is taken before `lock`.
 */
#ifndef TAKT_OTEL_INSIDE_H
#define TAKT_OTEL_INSIDE_H

#include <pthread.h>

#include "channel.h"
#include "queue.h"

enum { TAKT_OTEL_FAILING_MS = 100 };

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
    uint64_t not_before_ns; /* the collector wants silence */
    struct takt_otel_queue queue;
    struct takt_otel_counts counts;
    uint64_t problem_ns;
    char problem[256];
};

static inline uint64_t takt__otel_least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static inline uint64_t takt__otel_after_ms(uint64_t now_ns, unsigned ms)
{
    return now_ns + (uint64_t)ms * 1000000;
}

/* Waits on a condition until a time of CLOCK_MONOTONIC; UINT64_MAX: for good.
 */
void takt__otel_wait(pthread_cond_t *condition, pthread_mutex_t *lock,
                     uint64_t until_ns);

/* With lock: starts the thread, unless it runs. */
void takt__otel_sender_start(struct takt_otel_channel *channel);

/* With lock: all that waits counts as failed. */
void takt__otel_give_up(struct takt_otel_channel *channel);

#endif
