/* SPDX-License-Identifier: MIT */
/*
 * sender.c - the thread of a channel. All of it is done with `busy` held, and
 * with `lock` where it says so.
 */
#include "channel_parts.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/thread.h"

enum { LONGEST_DELAY_S = 300, SILENCE_MS = 60000, MOST_DOUBLINGS = 10 };

void takt__otel_wait(pthread_cond_t *condition, pthread_mutex_t *lock,
                     uint64_t until_ns)
{
    const uint64_t second = 1000000000;
    const struct timespec until = {.tv_sec = (time_t)(until_ns / second),
                                   .tv_nsec = (long)(until_ns % second)};

    if (until_ns == UINT64_MAX)
        pthread_cond_wait(condition, lock);
    else
        pthread_cond_timedwait(condition, lock, &until);
}

/* With both; without either while it waits. */
static void wait_for_change(struct takt_otel_channel *channel,
                            uint64_t until_ns)
{
    pthread_mutex_unlock(&channel->busy);
    takt__otel_wait(&channel->changed, &channel->lock, until_ns);
    pthread_mutex_unlock(&channel->lock);
    pthread_mutex_lock(&channel->busy);
    pthread_mutex_lock(&channel->lock);
}

static uint64_t until(void *self)
{
    struct takt_otel_channel *channel = self;

    pthread_mutex_lock(&channel->lock);
    const uint64_t end_ns = channel->is_ending ? channel->end_ns : UINT64_MAX;
    const uint64_t until_ns = takt__otel_least(channel->try_until_ns, end_ns);
    pthread_mutex_unlock(&channel->lock);
    return until_ns;
}

static void release(void *self)
{
    pthread_mutex_unlock(&((struct takt_otel_channel *)self)->busy);
}

static void acquire(void *self)
{
    pthread_mutex_lock(&((struct takt_otel_channel *)self)->busy);
}

/* With lock. What collectors write is shown on terminals. */
static void note_problem(struct takt_otel_channel *channel, const char *problem)
{
    if (problem[0] == '\0')
        return;
    snprintf(channel->problem, sizeof channel->problem, "%s", problem);
    for (char *at = channel->problem; *at != '\0'; at++)
        if ((*at >= 0 && *at < ' ') || *at == 127)
            *at = '?';
    channel->problem_ns = takt__now_ns();
}

static void try_once(struct takt_otel_channel *channel, uint64_t give_up_ns,
                     struct takt_otel_outcome *outcome)
{
    const struct takt_otel_watch watch = {channel, until, release, acquire};

    *outcome = (struct takt_otel_outcome){TAKT_OTEL_REFUSED, -1, 0, ""};
    pthread_mutex_lock(&channel->lock);
    channel->try_until_ns = takt__otel_least(
        takt__otel_after_ms(takt__now_ns(), channel->options.timeout_ms),
        give_up_ns);
    pthread_mutex_unlock(&channel->lock);
    channel->transport.send(channel->transport.self, &channel->request, &watch,
                            outcome);
    pthread_mutex_lock(&channel->lock);
    channel->is_failing = outcome->result != TAKT_OTEL_DELIVERED;
    if (channel->is_failing && channel->is_ending)
        channel->end_ns = takt__otel_least(
            channel->end_ns,
            takt__otel_after_ms(takt__now_ns(), TAKT_OTEL_FAILING_MS));
    note_problem(channel, outcome->problem);
    pthread_cond_broadcast(&channel->done); /* a flush sees it fail */
    pthread_mutex_unlock(&channel->lock);
}

static uint64_t draw(struct takt_otel_channel *channel)
{
    uint64_t x = channel->random;

    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    return channel->random = x;
}

double takt__otel_backoff(const struct takt_otel_backoff *backoff,
                          unsigned tried, double elapsed_s, double asked_s,
                          uint64_t random)
{
    double longest_s = backoff->first_s;

    if (tried >= backoff->tries)
        return -1;
    for (unsigned i = 1; i < tried && longest_s < backoff->most_s; i++)
        longest_s *= backoff->factor;
    if (longest_s > backoff->most_s)
        longest_s = backoff->most_s;
    const double wait_s =
        asked_s >= 0 ? asked_s : longest_s * (double)(random >> 11) * 0x1p-53;
    return elapsed_s + wait_s < backoff->budget_s ? wait_s : -1;
}

/* A collector that asks for a longer wait than a batch has time for gets it
 * with the next batches. */
static void delay_next(struct takt_otel_channel *channel, double asked_s)
{
    if (!(asked_s > 0))
        return;
    if (asked_s > LONGEST_DELAY_S)
        asked_s = LONGEST_DELAY_S;
    pthread_mutex_lock(&channel->lock);
    channel->not_before_ns = takt__now_ns() + (uint64_t)(asked_s * 1e9);
    pthread_mutex_unlock(&channel->lock);
}

/* A flush or a close tries at once, unless the collector said when. */
static bool wait_between(struct takt_otel_channel *channel, double wait_s,
                         bool is_asked)
{
    const uint64_t again_ns = takt__now_ns() + (uint64_t)(wait_s * 1e9);
    bool is_too_late = false;

    pthread_mutex_lock(&channel->lock);
    const unsigned flushes = channel->flushes;
    while (takt__now_ns() < again_ns && !is_too_late &&
           (is_asked || channel->flushes == flushes)) {
        is_too_late = channel->is_ending && again_ns >= channel->end_ns;
        if (!is_too_late)
            wait_for_change(channel, again_ns);
    }
    pthread_mutex_unlock(&channel->lock);
    return !is_too_late;
}

static bool tries_again(struct takt_otel_channel *channel,
                        const struct takt_otel_outcome *outcome, unsigned tried,
                        uint64_t begun_ns)
{
    const double elapsed_s = (double)(takt__now_ns() - begun_ns) * 1e-9;
    const double wait_s =
        takt__otel_backoff(&channel->options.backoff, tried, elapsed_s,
                           outcome->asked_s, draw(channel));

    if (wait_s >= 0 && wait_between(channel, wait_s, outcome->asked_s >= 0))
        return true;
    delay_next(channel, outcome->asked_s);
    return false;
}

static bool compose(struct takt_otel_channel *channel)
{
    const struct takt_otel_bytes *bytes = &channel->sending->bytes;

    takt__otel_bytes_clear(&channel->request);
    if (channel->options.signal == TAKT_OTEL_TRACES)
        takt__otel_trace_request(channel->transport.format, &channel->resource,
                                 bytes->at, bytes->size, &channel->request);
    else
        takt__otel_bytes_append(&channel->request, bytes->at, bytes->size);
    return !channel->request.is_short;
}

/* With lock. */
static void settle(struct takt_otel_channel *channel,
                   const struct takt_otel_batch *batch,
                   const struct takt_otel_outcome *outcome)
{
    struct takt_otel_counts *counts = &channel->counts;

    if (outcome->result == TAKT_OTEL_DELIVERED) {
        const uint64_t rejected =
            takt__otel_least(outcome->rejected, batch->spans);
        counts->spans_rejected += rejected;
        counts->spans_sent += batch->spans - rejected;
    } else {
        counts->spans_failed += batch->spans;
    }
    channel->done_number = batch->number;
    pthread_cond_broadcast(&channel->done);
}

/* More and more seldom: a collector may be away for days. With busy alone, and
 * without it while it tells: who is told may fork. */
static void tell(struct takt_otel_channel *channel)
{
    const uint64_t now_ns = takt__now_ns();
    char problem[sizeof channel->problem];

    if (channel->tell == NULL || now_ns < channel->quiet_until_ns)
        return;
    pthread_mutex_lock(&channel->lock);
    memcpy(problem, channel->problem, sizeof problem);
    pthread_mutex_unlock(&channel->lock);
    if (problem[0] == '\0')
        return;
    channel->quiet_until_ns =
        takt__otel_after_ms(now_ns, (unsigned)SILENCE_MS << channel->tellings);
    if (channel->tellings < MOST_DOUBLINGS)
        channel->tellings++;
    pthread_mutex_unlock(&channel->busy);
    channel->tell(problem);
    pthread_mutex_lock(&channel->busy);
}

/* With busy alone. */
static void deliver(struct takt_otel_channel *channel)
{
    const uint64_t begun_ns = takt__now_ns();
    const uint64_t give_up_ns =
        begun_ns + (uint64_t)(channel->options.backoff.budget_s * 1e9);
    struct takt_otel_outcome outcome = {TAKT_OTEL_REFUSED, -1, 0, ""};
    unsigned tried = 0;
    const bool is_whole = compose(channel);

    while (is_whole) {
        try_once(channel, give_up_ns, &outcome);
        tried++;
        if (outcome.result != TAKT_OTEL_PUT_OFF ||
            !tries_again(channel, &outcome, tried, begun_ns))
            break;
    }
    pthread_mutex_lock(&channel->lock);
    if (!is_whole)
        note_problem(channel, "no memory to send with");
    settle(channel, channel->sending, &outcome);
    pthread_mutex_unlock(&channel->lock);
    takt__otel_batch_free(channel->sending);
    channel->sending = NULL;
    if (outcome.result != TAKT_OTEL_DELIVERED || outcome.rejected > 0)
        tell(channel);
}

/* With lock: when the first batch may go; UINT64_MAX: there is none. */
static uint64_t due_ns(const struct takt_otel_channel *channel)
{
    const struct takt_otel_batch *first = channel->queue.first;
    uint64_t due = 0;

    if (first == NULL)
        return UINT64_MAX;
    if (channel->options.signal == TAKT_OTEL_TRACES && !channel->is_ending &&
        first->number > channel->flush_number &&
        !takt__otel_queue_is_full(&channel->queue))
        due = takt__otel_after_ms(first->begun_ns, channel->options.delay_ms);
    return due > channel->not_before_ns ? due : channel->not_before_ns;
}

/* With lock: no more is to be sent. */
static bool is_over(const struct takt_otel_channel *channel)
{
    return channel->is_ending &&
           (channel->queue.first == NULL || takt__now_ns() >= channel->end_ns ||
            channel->not_before_ns >= channel->end_ns);
}

/* With lock. */
void takt__otel_give_up(struct takt_otel_channel *channel)
{
    const struct takt_otel_outcome outcome = {TAKT_OTEL_REFUSED, -1, 0, ""};
    struct takt_otel_batch *batch;

    while ((batch = takt__otel_queue_take(&channel->queue)) != NULL) {
        settle(channel, batch, &outcome);
        takt__otel_batch_free(batch);
    }
}

static void *run(void *self)
{
    struct takt_otel_channel *channel = self;

    takt__thread_enter("takt-otel");
    pthread_mutex_lock(&channel->busy);
    pthread_mutex_lock(&channel->lock);
    while (!is_over(channel)) {
        const uint64_t due = due_ns(channel);
        if (due > takt__now_ns()) {
            wait_for_change(channel,
                            channel->is_ending
                                ? takt__otel_least(due, channel->end_ns)
                                : due);
            continue;
        }
        channel->sending = takt__otel_queue_take(&channel->queue);
        pthread_mutex_unlock(&channel->lock);
        deliver(channel);
        pthread_mutex_lock(&channel->lock);
    }
    takt__otel_give_up(channel);
    pthread_mutex_unlock(&channel->lock);
    if (channel->transport.stop != NULL)
        channel->transport.stop(channel->transport.self);
    pthread_mutex_unlock(&channel->busy);
    return NULL;
}

/* With lock. No signal of the program's is ours to take, and none of what the
 * other end does to a connection is the program's. */
void takt__otel_sender_start(struct takt_otel_channel *channel)
{
    struct takt_otel_transport *transport = &channel->transport;

    if (channel->is_running ||
        (transport->start != NULL && !transport->start(transport->self)))
        return;
    channel->is_running = takt__thread_start(&channel->thread, run, channel);
    if (!channel->is_running && transport->stop != NULL)
        transport->stop(transport->self);
}
