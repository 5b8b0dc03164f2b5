/* SPDX-License-Identifier: MIT */
/*
 * channel.h - exports one signal: a bounded queue, and a thread that sends what
 * is in it.
 *
 * To enqueue takes a short lock and never waits for the collector. What does
 * not fit is dropped and counted. Each signal has its own channel, so that one
 * that is stuck does not delay the other.
 *
 * Threads: one thread puts, flushes, forks and closes; any thread may count.
 */
#pragma once

#include <takt/otlp.h>

#include "base/clock.h"
#include "encode.h"

/* When a batch that could not be delivered is tried again: later and later, at
 * a random moment, so that not all programs come back at once. */
struct takt_otel_backoff {
    double first_s;  /* the longest wait before the second try */
    double factor;   /* by which that grows */
    double most_s;   /* up to this */
    double budget_s; /* from the first try to the last */
    unsigned tries;  /* at most, the first included */
};

/* Waits of 1 s and half as much more each time, up to 5 s, and 5 tries. */
#define TAKT_OTEL_BACKOFF_USUAL ((struct takt_otel_backoff){1, 1.5, 5, 30, 5})

static inline uint64_t takt__otel_after_ms(uint64_t now_ns, unsigned ms)
{
    return now_ns + (uint64_t)ms * 1000000;
}

/* How one try ended. */
struct takt_otel_outcome {
    enum takt_otel_result {
        TAKT_OTEL_DELIVERED,
        TAKT_OTEL_PUT_OFF, /* it may be tried again */
        TAKT_OTEL_REFUSED  /* it would be no use */
    } result;
    double asked_s;    /* to wait before the next try; negative: not said */
    uint64_t rejected; /* of what was delivered, what was not wanted */
    char problem[256]; /* for people; "" */
};

/* What a transport calls of the channel while it sends. It may stop to wait
 * only between release() and acquire(): a fork() happens there or nowhere. */
struct takt_otel_watch {
    void *self;
    uint64_t (*until_ns)(void *self); /* CLOCK_MONOTONIC; may move nearer */
    void (*release)(void *self);
    void (*acquire)(void *self);
};

/* What carries requests. All but wake are called with no other at work. */
struct takt_otel_transport {
    void *self;
    enum takt_otel_format format;
    /* Before the thread is there; false: no memory or the like. May be NULL. */
    bool (*start)(void *self);
    void (*send)(void *self, const struct takt_otel_bytes *request,
                 const struct takt_otel_watch *watch,
                 struct takt_otel_outcome *out);
    /* Has send() ask until_ns() again. From another thread, while started. May
     * be NULL: it asks often enough. */
    void (*wake)(void *self);
    /* By the thread, as its last act. May be NULL. */
    void (*stop)(void *self);
    /* In the child of a fork: what was started is the parent's, and is
     * forgotten without a word to the other end. May be NULL. */
    void (*forget)(void *self);
    void (*destroy)(void *self); /* may be NULL */
};

struct takt_otel_channel_options {
    enum takt_otel_signal signal;
    unsigned queue_size, batch_size; /* in spans */
    size_t queue_bytes, batch_bytes;
    unsigned delay_ms;   /* until a batch that is not full is sent */
    unsigned timeout_ms; /* of one try */
    struct takt_otel_backoff backoff;
};

struct takt_otel_channel;

/* Takes the transport over, also when it fails: NULL, no memory. */
struct takt_otel_channel *
takt__otel_channel_open(const struct takt_otel_channel_options *options,
                        const struct takt_otel_transport *transport);

/* Before anything is put. */
void takt__otel_channel_watch(struct takt_otel_channel *channel,
                              takt_otel_problem *tell);

/* What requests begin with; copied. Traces need it before anything is put. */
bool takt__otel_channel_resource(struct takt_otel_channel *channel,
                                 const struct takt_otel_bytes *resource);

/* Traces: spans as takt__otel_spans() writes them. The last spans of a process
 * are taken however full it is. */
void takt__otel_channel_put(struct takt_otel_channel *channel,
                            const struct takt_otel_bytes *spans, unsigned count,
                            bool is_last);

/* Metrics: a whole request, which takes the place of one that waits still. */
void takt__otel_channel_renew(struct takt_otel_channel *channel,
                              const struct takt_otel_bytes *request);

/* Sends all that was put, from now on. Does not wait. */
void takt__otel_channel_begin_flush(struct takt_otel_channel *channel);
/* Waits until it is sent, or until `until_ns`; for 100 ms at most after a try
 * that failed. */
void takt__otel_channel_flush(struct takt_otel_channel *channel,
                              uint64_t until_ns);
/* Whether some of it is on its way yet. */
bool takt__otel_channel_is_flushing(struct takt_otel_channel *channel);

/* Starts to close: what is queued is sent until `until_ns`, or for 100 ms at
 * most after a try that failed. */
void takt__otel_channel_begin_close(struct takt_otel_channel *channel,
                                    uint64_t until_ns);
/* Waits until it is closed. What could not be sent counts as failed. */
void takt__otel_channel_join(struct takt_otel_channel *channel);
void takt__otel_channel_destroy(struct takt_otel_channel *channel);

void takt__otel_channel_forked(struct takt_otel_channel *channel,
                               takt_fork_phase phase);

/* Spans so far; `problem` has room for 256 bytes and holds the last one, which
 * is "" when there was none. Returns when it was, 0: never. */
uint64_t takt__otel_channel_counts(struct takt_otel_channel *channel,
                                   struct takt_otel_counts *counts,
                                   char *problem);

/* After the try number `tried` (the first is 1), `elapsed_s` after the first
 * began: how long to wait before the next. `asked_s` is what the collector
 * asked for, negative when it did not; `random` is any number. Negative: there
 * is no next. */
double takt__otel_backoff(const struct takt_otel_backoff *backoff,
                          unsigned tried, double elapsed_s, double asked_s,
                          uint64_t random);
