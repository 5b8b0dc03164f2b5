/* SPDX-License-Identifier: MIT */
/* channel.c - a bounded queue, and how others reach its thread. */
#include "channel_parts.h"

#include <stdlib.h>
#include <string.h>

static void make_conditions(struct takt_otel_channel *channel)
{
    pthread_condattr_t attributes;

    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&channel->changed, &attributes);
    pthread_cond_init(&channel->done, &attributes);
    pthread_condattr_destroy(&attributes);
}

static void destroy_transport(const struct takt_otel_transport *transport)
{
    if (transport->destroy != NULL)
        transport->destroy(transport->self);
}

struct takt_otel_channel *
takt__otel_channel_open(const struct takt_otel_channel_options *options,
                        const struct takt_otel_transport *transport)
{
    struct takt_otel_channel *channel = calloc(1, sizeof *channel);

    if (channel == NULL) {
        destroy_transport(transport);
        return NULL;
    }
    channel->options = *options;
    channel->transport = *transport;
    channel->queue = (struct takt_otel_queue){
        .format = transport->format,
        .most_spans = options->queue_size,
        .batch_spans = options->batch_size,
        .most_bytes = options->queue_bytes,
        .batch_bytes = options->batch_bytes,
    };
    channel->random = takt__now_ns() | 1;
    pthread_mutex_init(&channel->busy, NULL);
    pthread_mutex_init(&channel->lock, NULL);
    make_conditions(channel);
    return channel;
}

bool takt__otel_channel_resource(struct takt_otel_channel *channel,
                                 const struct takt_otel_bytes *resource)
{
    takt__otel_bytes_clear(&channel->resource);
    takt__otel_bytes_append(&channel->resource, resource->at, resource->size);
    return !channel->resource.is_short;
}

void takt__otel_channel_put(struct takt_otel_channel *channel,
                            const struct takt_otel_bytes *spans, unsigned count,
                            bool is_last)
{
    struct takt_otel_queue *queue = &channel->queue;

    pthread_mutex_lock(&channel->lock);
    const bool was_empty = queue->first == NULL;
    const bool was_full = takt__otel_queue_is_full(queue);
    if (!takt__otel_queue_put(queue, spans, count, is_last, takt__now_ns()))
        channel->counts.spans_queue_full += count;
    takt__otel_sender_start(channel);
    if (was_empty || was_full != takt__otel_queue_is_full(queue))
        pthread_cond_signal(&channel->changed);
    pthread_mutex_unlock(&channel->lock);
}

void takt__otel_channel_renew(struct takt_otel_channel *channel,
                              const struct takt_otel_bytes *request)
{
    pthread_mutex_lock(&channel->lock);
    if (takt__otel_queue_renew(&channel->queue, request, takt__now_ns()))
        takt__otel_sender_start(channel);
    pthread_cond_signal(&channel->changed);
    pthread_mutex_unlock(&channel->lock);
}

void takt__otel_channel_begin_flush(struct takt_otel_channel *channel)
{
    pthread_mutex_lock(&channel->lock);
    channel->flush_number = channel->queue.begun;
    channel->flushes++;
    pthread_cond_signal(&channel->changed);
    pthread_mutex_unlock(&channel->lock);
}

void takt__otel_channel_flush(struct takt_otel_channel *channel,
                              uint64_t until_ns)
{
    uint64_t failing_until_ns = 0;

    pthread_mutex_lock(&channel->lock);
    while (channel->is_running &&
           channel->done_number < channel->flush_number) {
        const uint64_t now_ns = takt__now_ns();
        if (channel->is_failing && failing_until_ns == 0)
            failing_until_ns =
                takt__otel_after_ms(now_ns, TAKT_OTEL_FAILING_MS);
        const uint64_t limit_ns =
            channel->is_failing ? takt__otel_least(until_ns, failing_until_ns)
                                : until_ns;
        if (now_ns >= limit_ns)
            break;
        takt__otel_wait(&channel->done, &channel->lock, limit_ns);
    }
    pthread_mutex_unlock(&channel->lock);
}

bool takt__otel_channel_is_flushing(struct takt_otel_channel *channel)
{
    pthread_mutex_lock(&channel->lock);
    const bool is_flushing =
        channel->is_running && channel->done_number < channel->flush_number;
    pthread_mutex_unlock(&channel->lock);
    return is_flushing;
}

void takt__otel_channel_begin_close(struct takt_otel_channel *channel,
                                    uint64_t until_ns)
{
    const uint64_t soon_ns =
        takt__otel_after_ms(takt__now_ns(), TAKT_OTEL_FAILING_MS);

    pthread_mutex_lock(&channel->lock);
    channel->is_ending = true;
    channel->end_ns =
        channel->is_failing ? takt__otel_least(until_ns, soon_ns) : until_ns;
    channel->flushes++;
    pthread_cond_signal(&channel->changed);
    if (channel->is_running && channel->transport.wake != NULL)
        channel->transport.wake(channel->transport.self);
    pthread_mutex_unlock(&channel->lock);
}

void takt__otel_channel_join(struct takt_otel_channel *channel)
{
    if (channel->is_running)
        pthread_join(channel->thread, NULL);
    pthread_mutex_lock(&channel->lock);
    channel->is_running = false;
    takt__otel_give_up(channel);
    pthread_mutex_unlock(&channel->lock);
}

void takt__otel_channel_destroy(struct takt_otel_channel *channel)
{
    if (channel == NULL)
        return;
    destroy_transport(&channel->transport);
    takt__otel_bytes_free(&channel->resource);
    takt__otel_bytes_free(&channel->request);
    pthread_cond_destroy(&channel->changed);
    pthread_cond_destroy(&channel->done);
    pthread_mutex_destroy(&channel->lock);
    pthread_mutex_destroy(&channel->busy);
    free(channel);
}

/* The thread is not there, and what it had is the parent's to send. */
static void begin_anew(struct takt_otel_channel *channel)
{
    struct takt_otel_batch *batch;

    while ((batch = takt__otel_queue_take(&channel->queue)) != NULL)
        takt__otel_batch_free(batch);
    takt__otel_batch_free(channel->sending);
    channel->sending = NULL;
    channel->done_number = channel->flush_number = channel->queue.begun;
    channel->is_running = channel->is_failing = false;
    channel->not_before_ns = 0;
    channel->counts = (struct takt_otel_counts){0};
    channel->problem[0] = '\0';
    channel->problem_ns = 0;
    channel->random = takt__now_ns() | 1;
    make_conditions(channel); /* no thread waits on them here */
    if (channel->transport.forget != NULL)
        channel->transport.forget(channel->transport.self);
}

void takt__otel_channel_forked(struct takt_otel_channel *channel,
                               takt_fork_phase phase)
{
    if (phase == TAKT_FORK_PREPARE) {
        pthread_mutex_lock(&channel->busy);
        pthread_mutex_lock(&channel->lock);
        return;
    }
    if (phase == TAKT_FORK_CHILD)
        begin_anew(channel);
    pthread_mutex_unlock(&channel->lock);
    pthread_mutex_unlock(&channel->busy);
}

void takt__otel_channel_watch(struct takt_otel_channel *channel,
                              takt_otel_problem *tell)
{
    channel->tell = tell;
}

uint64_t takt__otel_channel_counts(struct takt_otel_channel *channel,
                                   struct takt_otel_counts *counts,
                                   char *problem)
{
    pthread_mutex_lock(&channel->lock);
    *counts = channel->counts;
    strcpy(problem, channel->problem);
    const uint64_t problem_ns = channel->problem_ns;
    pthread_mutex_unlock(&channel->lock);
    return problem_ns;
}
