/* SPDX-License-Identifier: MIT */
/*
 * test_channel.c - a queue and its thread, with a collector made of lists: what
 * it is to answer, and what it was sent.
 *
 * Times are upper bounds far above what is needed, or lower bounds of waits
 * that were asked for.
 */
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../otel/channel.h"
#include "support/tap.h"

#if defined(__SANITIZE_THREAD__)
enum { is_thread_sanitized = 1 };
#else
enum { is_thread_sanitized = 0 };
#endif

/* ---- the collector ---------------------------------------------------------
 */

enum { MOST = 256 };

struct collector {
    pthread_mutex_t lock;
    pthread_cond_t change;
    struct takt_otel_outcome answer[MOST]; /* by try; then it is delivered */
    unsigned answers;
    bool hangs;           /* until the time has come */
    unsigned tries;       /* so far */
    size_t size[MOST];    /* of each request */
    uint64_t at_ns[MOST]; /* when it came */
    uint64_t until_ns;    /* the last time that was granted */
    bool was_woken, is_started;
    unsigned starts, stops, forgets;
    bool are_signals_blocked;
};

static bool start_collector(void *self)
{
    struct collector *collector = self;

    collector->starts++;
    collector->is_started = true;
    return true;
}

static void stop_collector(void *self)
{
    ((struct collector *)self)->stops++;
}

static void forget_collector(void *self)
{
    struct collector *collector = self;

    collector->forgets++;
    collector->was_woken = false;
    pthread_mutex_init(&collector->lock, NULL);
    pthread_cond_init(&collector->change, NULL);
}

static void wake_collector(void *self)
{
    struct collector *collector = self;

    pthread_mutex_lock(&collector->lock);
    collector->was_woken = true;
    pthread_cond_broadcast(&collector->change);
    pthread_mutex_unlock(&collector->lock);
}

static void keep_collector(void *self)
{
    (void)self;
}

/* Looks at its time every few milliseconds. */
static void hang(struct collector *collector,
                 const struct takt_otel_watch *watch)
{
    const struct timespec moment = {.tv_nsec = 2000000};

    while (collector->hangs && takt__now_ns() < watch->until_ns(watch->self)) {
        watch->release(watch->self);
        nanosleep(&moment, NULL);
        watch->acquire(watch->self);
    }
}

static void collect(void *self, const struct takt_otel_bytes *request,
                    const struct takt_otel_watch *watch,
                    struct takt_otel_outcome *out)
{
    struct collector *collector = self;
    sigset_t blocked;

    pthread_sigmask(SIG_BLOCK, NULL, &blocked);
    pthread_mutex_lock(&collector->lock);
    const unsigned i = collector->tries++ % MOST;
    collector->size[i] = request->size;
    collector->at_ns[i] = takt__now_ns();
    collector->are_signals_blocked = sigismember(&blocked, SIGPIPE) == 1 &&
                                     sigismember(&blocked, SIGINT) == 1;
    *out = (struct takt_otel_outcome){TAKT_OTEL_DELIVERED, -1, 0, ""};
    if (i < collector->answers)
        *out = collector->answer[i];
    const bool hangs = collector->hangs;
    pthread_cond_broadcast(&collector->change);
    pthread_mutex_unlock(&collector->lock);
    if (hangs) {
        hang(collector, watch);
        *out = (struct takt_otel_outcome){TAKT_OTEL_PUT_OFF, -1, 0, "silence"};
    }
}

static unsigned wait_for_tries(struct collector *collector, unsigned tries)
{
    pthread_mutex_lock(&collector->lock);
    while (collector->tries < tries)
        pthread_cond_wait(&collector->change, &collector->lock);
    const unsigned seen = collector->tries;
    pthread_mutex_unlock(&collector->lock);
    return seen;
}

/* ---- the channel -----------------------------------------------------------
 */

/* Waits between tries are thousandths of the usual ones. */
static const struct takt_otel_channel_options usual = {
    .signal = TAKT_OTEL_TRACES,
    .queue_size = 100,
    .batch_size = 10,
    .queue_bytes = 100000,
    .batch_bytes = 10000,
    .delay_ms = 600000,
    .timeout_ms = 600000,
    .backoff = {0.001, 1.5, 0.005, 600, 5},
};

static struct takt_otel_channel *
open_channel(struct collector *collector,
             const struct takt_otel_channel_options *options)
{
    const struct takt_otel_transport transport = {
        .self = collector,
        .format = TAKT_OTEL_PROTOBUF,
        .start = start_collector,
        .send = collect,
        .wake = wake_collector,
        .stop = stop_collector,
        .forget = forget_collector,
        .destroy = keep_collector,
    };
    struct takt_otel_channel *channel =
        takt__otel_channel_open(options, &transport);

    pthread_mutex_init(&collector->lock, NULL);
    pthread_cond_init(&collector->change, NULL);
    REQUIRE(channel != NULL);
    return channel;
}

static void put(struct takt_otel_channel *channel, unsigned events)
{
    unsigned char span[20] = {0x12, 18}; /* a field that holds 18 bytes */
    const struct takt_otel_bytes bytes = {span, sizeof span, sizeof span,
                                          false};

    for (unsigned i = 0; i < events; i++)
        takt__otel_channel_put(channel, &bytes, 2, false);
}

static uint64_t in_ms(unsigned ms)
{
    return takt__now_ns() + (uint64_t)ms * 1000000;
}

static struct takt_otel_counts close_channel(struct takt_otel_channel *channel,
                                             unsigned deadline_ms)
{
    struct takt_otel_counts counts;
    char problem[256];

    takt__otel_channel_begin_close(channel, in_ms(deadline_ms));
    takt__otel_channel_join(channel);
    takt__otel_channel_counts(channel, &counts, problem);
    takt__otel_channel_destroy(channel);
    return counts;
}

/* ---- batches ---------------------------------------------------------------
 */

static void a_full_batch_goes_without_waiting(void)
{
    static struct collector collector;
    struct takt_otel_channel *channel = open_channel(&collector, &usual);

    put(channel, 5);
    wait_for_tries(&collector, 1);
    EXPECT(collector.are_signals_blocked);
    const struct takt_otel_counts counts = close_channel(channel, 60000);
    EXPECT_INT(counts.spans_sent, 10);
    EXPECT_INT(collector.tries, 1);
    EXPECT_INT(collector.starts, 1);
    EXPECT_INT(collector.stops, 1);
}

static void a_batch_holds_no_more_spans_than_it_may(void)
{
    static struct collector collector;
    struct takt_otel_channel *channel = open_channel(&collector, &usual);

    put(channel, 23);
    const struct takt_otel_counts counts = close_channel(channel, 60000);
    EXPECT_INT(counts.spans_sent, 46);
    EXPECT_INT(collector.tries, 5);
    for (unsigned i = 0; i < 4; i++)
        EXPECT_INT(collector.size[i], collector.size[0]);
    EXPECT(collector.size[4] < collector.size[0]);
}

static void a_batch_holds_no_more_bytes_than_it_may(void)
{
    static struct collector collector;
    struct takt_otel_channel_options options = usual;

    options.batch_bytes = 50; /* two events of 20, and a byte for each */
    struct takt_otel_channel *channel = open_channel(&collector, &options);
    put(channel, 6);
    const struct takt_otel_counts counts = close_channel(channel, 60000);
    EXPECT_INT(counts.spans_sent, 12);
    EXPECT_INT(collector.tries, 3);
}

static void a_batch_that_is_not_full_goes_after_the_delay(void)
{
    static struct collector collector;
    struct takt_otel_channel_options options = usual;

    options.delay_ms = 30;
    struct takt_otel_channel *channel = open_channel(&collector, &options);
    const uint64_t begun_ns = takt__now_ns();
    put(channel, 1);
    wait_for_tries(&collector, 1);
    EXPECT(takt__now_ns() - begun_ns >= 30000000);
    EXPECT_INT(close_channel(channel, 60000).spans_sent, 2);
}

static void spans_without_a_delay_go_at_once(void)
{
    static struct collector collector;
    struct takt_otel_channel_options options = usual;

    options.delay_ms = 0;
    struct takt_otel_channel *channel = open_channel(&collector, &options);
    put(channel, 1);
    wait_for_tries(&collector, 1);
    EXPECT_INT(close_channel(channel, 60000).spans_sent, 2);
}

/* ---- bounds ----------------------------------------------------------------
 */

static void what_does_not_fit_is_dropped_and_counted(void)
{
    unsigned char span[] = {0x12, 0};
    const struct takt_otel_bytes one = {span, 2, 2, false};
    static struct collector collector = {.hangs = true};
    struct takt_otel_channel *channel = open_channel(&collector, &usual);

    put(channel, 5);
    wait_for_tries(&collector, 1); /* 10 spans are on their way, none waits */
    put(channel, 60);
    takt__otel_channel_put(channel, &one, 1, false);
    struct takt_otel_counts counts;
    char problem[256];
    takt__otel_channel_counts(channel, &counts, problem);
    EXPECT_INT(counts.spans_queue_full, 21);
    counts = close_channel(channel, 0);
    EXPECT_INT(counts.spans_failed, 110);
    EXPECT_INT(counts.spans_sent, 0);
}

static void bytes_are_bounded_too(void)
{
    static struct collector collector = {.hangs = true};
    struct takt_otel_channel_options options = usual;

    options.queue_bytes = 100;
    options.batch_size = 100;
    struct takt_otel_channel *channel = open_channel(&collector, &options);
    put(channel, 7);
    const struct takt_otel_counts counts = close_channel(channel, 0);
    EXPECT_INT(counts.spans_queue_full, 4);
    EXPECT_INT(counts.spans_failed, 10);
}

static void an_event_larger_than_a_batch_is_dropped(void)
{
    static struct collector collector;
    struct takt_otel_channel_options options = usual;

    options.batch_bytes = 19;
    struct takt_otel_channel *channel = open_channel(&collector, &options);
    put(channel, 1);
    EXPECT_INT(close_channel(channel, 60000).spans_queue_full, 2);
    EXPECT_INT(collector.tries, 0);
}

static void the_smallest_queue_takes_one_event_at_a_time(void)
{
    static struct collector collector;
    struct takt_otel_channel_options options = usual;

    options.queue_size = options.batch_size = 1;
    struct takt_otel_channel *channel = open_channel(&collector, &options);
    put(channel, 1);
    EXPECT_INT(close_channel(channel, 60000).spans_sent, 2);
}

static void the_last_span_is_taken_however_full_it_is(void)
{
    static struct collector collector = {.hangs = true};
    struct takt_otel_channel *channel = open_channel(&collector, &usual);
    unsigned char span[] = {0x12, 0};
    const struct takt_otel_bytes bytes = {span, 2, 2, false};

    put(channel, 5);
    wait_for_tries(&collector, 1);
    put(channel, 50);
    takt__otel_channel_put(channel, &bytes, 1, true);
    const struct takt_otel_counts counts = close_channel(channel, 0);
    EXPECT_INT(counts.spans_failed, 111);
    EXPECT_INT(counts.spans_queue_full, 0);
}

/* ---- trying again ----------------------------------------------------------
 */

static void answer_all(struct collector *collector, unsigned count,
                       enum takt_otel_result result)
{
    collector->answers = count;
    for (unsigned i = 0; i < count; i++)
        collector->answer[i] =
            (struct takt_otel_outcome){result, -1, 0, "not now"};
}

static void a_batch_that_is_put_off_is_tried_again(void)
{
    static struct collector collector;
    struct takt_otel_channel *channel = open_channel(&collector, &usual);

    answer_all(&collector, 3, TAKT_OTEL_PUT_OFF);
    put(channel, 5);
    wait_for_tries(&collector, 4);
    EXPECT_INT(close_channel(channel, 60000).spans_sent, 10);
    EXPECT_INT(collector.tries, 4);
}

static void after_five_tries_it_is_given_up(void)
{
    static struct collector collector;
    struct takt_otel_channel *channel = open_channel(&collector, &usual);

    answer_all(&collector, 5, TAKT_OTEL_PUT_OFF);
    put(channel, 10);
    wait_for_tries(&collector, 6);
    struct takt_otel_counts counts;
    char problem[256];
    EXPECT(takt__otel_channel_counts(channel, &counts, problem) > 0);
    EXPECT_STR(problem, "not now");
    counts = close_channel(channel, 60000);
    EXPECT_INT(counts.spans_failed, 10);
    EXPECT_INT(counts.spans_sent, 10);
}

static void a_batch_that_is_refused_is_not_tried_again(void)
{
    static struct collector collector;
    struct takt_otel_channel *channel = open_channel(&collector, &usual);

    answer_all(&collector, 1, TAKT_OTEL_REFUSED);
    put(channel, 10);
    wait_for_tries(&collector, 2);
    const struct takt_otel_counts counts = close_channel(channel, 60000);
    EXPECT_INT(counts.spans_failed, 10);
    EXPECT_INT(counts.spans_sent, 10);
    EXPECT_INT(collector.tries, 2);
}

static void a_collector_says_how_long_to_wait(void)
{
    static struct collector collector = {
        .answers = 1, .answer = {{TAKT_OTEL_PUT_OFF, 0.1, 0, ""}}};
    struct takt_otel_channel *channel = open_channel(&collector, &usual);

    put(channel, 5);
    wait_for_tries(&collector, 2);
    EXPECT(collector.at_ns[1] - collector.at_ns[0] >= 100000000);
    EXPECT_INT(close_channel(channel, 60000).spans_sent, 10);
}

static void one_that_wants_longer_is_left_alone_so_long(void)
{
    static struct collector collector = {
        .answers = 1, .answer = {{TAKT_OTEL_PUT_OFF, 0.1, 0, ""}}};
    struct takt_otel_channel_options options = usual;

    options.backoff.budget_s = 0.05;
    struct takt_otel_channel *channel = open_channel(&collector, &options);
    put(channel, 10);
    wait_for_tries(&collector, 2);
    EXPECT(collector.at_ns[1] - collector.at_ns[0] >= 100000000);
    const struct takt_otel_counts counts = close_channel(channel, 60000);
    EXPECT_INT(counts.spans_failed, 10);
    EXPECT_INT(counts.spans_sent, 10);
}

static void what_was_not_wanted_is_counted_and_not_sent_again(void)
{
    static struct collector collector = {
        .answers = 2,
        .answer = {{TAKT_OTEL_DELIVERED, -1, 3, "three\tare\x1b[bad"},
                   {TAKT_OTEL_DELIVERED, -1, 1000, ""}}};
    struct takt_otel_channel *channel = open_channel(&collector, &usual);
    struct takt_otel_counts counts;
    char problem[256];

    put(channel, 10);
    wait_for_tries(&collector, 2);
    takt__otel_channel_counts(channel, &counts, problem);
    EXPECT_STR(problem, "three?are?[bad");
    counts = close_channel(channel, 60000);
    EXPECT_INT(counts.spans_rejected, 13);
    EXPECT_INT(counts.spans_sent, 7);
    EXPECT_INT(collector.tries, 2);
}

static void a_try_ends_at_its_timeout(void)
{
    static struct collector collector = {.hangs = true};
    struct takt_otel_channel_options options = usual;

    options.timeout_ms = 20;
    struct takt_otel_channel *channel = open_channel(&collector, &options);
    put(channel, 5);
    wait_for_tries(&collector, 2);
    EXPECT_INT(close_channel(channel, 60000).spans_failed, 10);
}

/* ---- flushing and closing --------------------------------------------------
 */

static void a_flush_sends_what_is_there(void)
{
    static struct collector collector;
    struct takt_otel_channel *channel = open_channel(&collector, &usual);
    struct takt_otel_counts counts;
    char problem[256];

    put(channel, 7);
    takt__otel_channel_begin_flush(channel);
    takt__otel_channel_flush(channel, in_ms(60000));
    takt__otel_channel_counts(channel, &counts, problem);
    EXPECT_INT(counts.spans_sent, 14);
    EXPECT_STR(problem, "");
    takt__otel_channel_begin_flush(channel); /* nothing is there */
    takt__otel_channel_flush(channel, in_ms(60000));
    put(channel, 1);
    EXPECT_INT(close_channel(channel, 60000).spans_sent, 16);
}

static void a_flush_that_takes_too_long_loses_nothing(void)
{
    static struct collector collector = {.hangs = true};
    struct takt_otel_channel *channel = open_channel(&collector, &usual);
    struct takt_otel_counts counts;
    char problem[256];

    put(channel, 1);
    takt__otel_channel_begin_flush(channel);
    takt__otel_channel_flush(channel, in_ms(20));
    takt__otel_channel_counts(channel, &counts, problem);
    EXPECT_INT(counts.spans_sent + counts.spans_failed, 0);
    EXPECT_INT(close_channel(channel, 0).spans_failed, 2);
}

static void a_flush_ends_a_wait(void)
{
    static struct collector collector;
    struct takt_otel_channel_options options = usual;

    options.backoff = (struct takt_otel_backoff){500, 1, 500, 600, 5};
    struct takt_otel_channel *channel = open_channel(&collector, &options);
    answer_all(&collector, 1, TAKT_OTEL_PUT_OFF);
    put(channel, 5);
    wait_for_tries(&collector, 1);
    do { /* it may not have begun to wait yet */
        takt__otel_channel_begin_flush(channel);
        takt__otel_channel_flush(channel, in_ms(60000));
    } while (collector.tries < 2);
    EXPECT_INT(close_channel(channel, 60000).spans_sent, 10);
}

static void closing_ends_a_transfer_at_the_deadline(void)
{
    static struct collector collector = {.hangs = true};
    struct takt_otel_channel *channel = open_channel(&collector, &usual);

    put(channel, 10);
    wait_for_tries(&collector, 1);
    const uint64_t begun_ns = takt__now_ns();
    const struct takt_otel_counts counts = close_channel(channel, 200);
    const uint64_t taken_ns = takt__now_ns() - begun_ns;
    EXPECT(collector.was_woken);
    EXPECT(taken_ns >= 200000000 && taken_ns < 30000000000);
    EXPECT_INT(counts.spans_failed, 20);
}

/* It wants to be left alone for longer than anybody would wait. */
static void be_busy(struct collector *collector)
{
    answer_all(collector, MOST, TAKT_OTEL_PUT_OFF);
    for (unsigned i = 0; i < MOST; i++)
        collector->answer[i].asked_s = 40;
}

static void a_failing_collector_is_not_waited_for(void)
{
    static struct collector collector;
    struct takt_otel_channel *channel = open_channel(&collector, &usual);
    struct takt_otel_counts counts;
    char problem[256];

    be_busy(&collector);
    put(channel, 10);
    while (takt__otel_channel_counts(channel, &counts, problem) == 0)
        wait_for_tries(&collector, 1);
    const uint64_t begun_ns = takt__now_ns();
    EXPECT_INT(close_channel(channel, 60000).spans_failed, 20);
    EXPECT(takt__now_ns() - begun_ns < 30000000000);
    EXPECT_INT(collector.tries, 1);
}

static void one_that_fails_at_the_end_is_not_waited_for_either(void)
{
    static struct collector collector;
    struct takt_otel_channel *channel = open_channel(&collector, &usual);

    be_busy(&collector);
    put(channel, 1);
    const uint64_t begun_ns = takt__now_ns();
    EXPECT_INT(close_channel(channel, 60000).spans_failed, 2);
    EXPECT(takt__now_ns() - begun_ns < 30000000000);
}

static void closing_gives_a_failing_collector_one_more_try(void)
{
    static struct collector collector;
    struct takt_otel_channel_options options = usual;

    options.backoff = (struct takt_otel_backoff){500, 1, 500, 600, 5};
    options.timeout_ms = 1;
    struct takt_otel_channel *channel = open_channel(&collector, &options);
    answer_all(&collector, 1, TAKT_OTEL_PUT_OFF);
    put(channel, 5);
    wait_for_tries(&collector, 1);
    const struct timespec moment = {.tv_nsec = 50000000};
    nanosleep(&moment, NULL); /* most likely it waits by now */
    const struct takt_otel_counts counts = close_channel(channel, 60000);
    EXPECT_INT(counts.spans_sent + counts.spans_failed, 10);
}

static void a_channel_that_was_never_used_just_ends(void)
{
    static struct collector collector;
    struct takt_otel_channel *channel = open_channel(&collector, &usual);

    EXPECT_INT(close_channel(channel, 60000).spans_sent, 0);
    EXPECT_INT(collector.starts, 0);
}

/* ---- metrics ---------------------------------------------------------------
 */

static void newer_metrics_take_the_place_of_older_ones(void)
{
    static struct collector collector = {.hangs = true};
    struct takt_otel_channel_options options = usual;
    unsigned char request[300] = {0};
    struct takt_otel_bytes bytes = {request, 100, sizeof request, false};

    options.signal = TAKT_OTEL_METRICS;
    struct takt_otel_channel *channel = open_channel(&collector, &options);
    takt__otel_channel_renew(channel, &bytes);
    wait_for_tries(&collector, 1);
    bytes.size = 200;
    takt__otel_channel_renew(channel, &bytes);
    bytes.size = 300;
    takt__otel_channel_renew(channel, &bytes);
    pthread_mutex_lock(&collector.lock);
    collector.answers = 0;
    pthread_mutex_unlock(&collector.lock);
    const struct takt_otel_counts counts = close_channel(channel, 50);
    EXPECT_INT(collector.size[0], 100);
    for (unsigned i = 1; i < collector.tries; i++)
        EXPECT(collector.size[i] != 200);
    EXPECT_INT(counts.spans_failed + counts.spans_sent, 0);
}

/* ---- fork ------------------------------------------------------------------
 */

static int child_of_a_fork(struct takt_otel_channel *channel,
                           struct collector *collector)
{
    struct takt_otel_counts counts;
    char problem[256];

    takt__otel_channel_forked(channel, TAKT_FORK_CHILD);
    takt__otel_channel_counts(channel, &counts, problem);
    if (counts.spans_sent + counts.spans_failed + counts.spans_queue_full != 0)
        return 1;
    collector->hangs = false;
    collector->tries = 0;
    put(channel, 5);
    wait_for_tries(collector, 1);
    counts = close_channel(channel, 60000);
    return counts.spans_sent == 10 && collector->forgets == 1 ? 0 : 2;
}

/* The parent is sending, and has more waiting. */
static void a_child_begins_with_nothing_and_can_send(void)
{
    static struct collector collector = {.hangs = true};
    struct takt_otel_channel *channel = open_channel(&collector, &usual);
    int status = -1;

    if (is_thread_sanitized) {
        SKIP("this sanitizer cannot follow a fork");
        close_channel(channel, 0);
        return;
    }
    put(channel, 12);
    wait_for_tries(&collector, 1);
    takt__otel_channel_forked(channel, TAKT_FORK_PREPARE);
    const pid_t child = fork();
    if (child == 0)
        _exit(child_of_a_fork(channel, &collector));
    takt__otel_channel_forked(channel, TAKT_FORK_PARENT);
    waitpid(child, &status, 0);
    EXPECT_INT(status, 0);
    EXPECT_INT(close_channel(channel, 0).spans_failed, 24);
}

int main(void)
{
    RUN(a_full_batch_goes_without_waiting);
    RUN(a_batch_holds_no_more_spans_than_it_may);
    RUN(a_batch_holds_no_more_bytes_than_it_may);
    RUN(a_batch_that_is_not_full_goes_after_the_delay);
    RUN(spans_without_a_delay_go_at_once);
    RUN(what_does_not_fit_is_dropped_and_counted);
    RUN(bytes_are_bounded_too);
    RUN(an_event_larger_than_a_batch_is_dropped);
    RUN(the_smallest_queue_takes_one_event_at_a_time);
    RUN(the_last_span_is_taken_however_full_it_is);
    RUN(a_batch_that_is_put_off_is_tried_again);
    RUN(after_five_tries_it_is_given_up);
    RUN(a_batch_that_is_refused_is_not_tried_again);
    RUN(a_collector_says_how_long_to_wait);
    RUN(one_that_wants_longer_is_left_alone_so_long);
    RUN(what_was_not_wanted_is_counted_and_not_sent_again);
    RUN(a_try_ends_at_its_timeout);
    RUN(a_flush_sends_what_is_there);
    RUN(a_flush_that_takes_too_long_loses_nothing);
    RUN(a_flush_ends_a_wait);
    RUN(closing_ends_a_transfer_at_the_deadline);
    RUN(a_failing_collector_is_not_waited_for);
    RUN(one_that_fails_at_the_end_is_not_waited_for_either);
    RUN(closing_gives_a_failing_collector_one_more_try);
    RUN(a_channel_that_was_never_used_just_ends);
    RUN(newer_metrics_take_the_place_of_older_ones);
    RUN(a_child_begins_with_nothing_and_can_send);
    return tap_done();
}
