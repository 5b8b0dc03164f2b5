/* SPDX-License-Identifier: MIT */
/*
 * test_tap.c - what callers leave: exact counts from any number of threads, and
 * event records of calls that are emitted.
 */
#include "telemetry/tap.h"

#include <pthread.h>

#include "support/tap.h"
#include "telemetry/dispatcher.h"

enum { series = 5, other_line = 9 };

static struct takt_tap *tap_with(uint64_t threshold, double share)
{
    static struct takt_worker awake = {.state = TAKT_WORKER_AWAKE};
    struct takt_tap *tap = takt__tap_create();

    REQUIRE(tap != NULL);
    tap->worker = &awake;
    atomic_store(&tap->threshold, threshold);
    atomic_store(&tap->share, (uint64_t)(share * 4294967296.0));
    return tap;
}

static unsigned why(struct takt_tap *tap, takt_reason reason, uint64_t ticks,
                    uint32_t random)
{
    return takt__tap_emits(tap, series, reason, false, ticks, random);
}

static void long_runs_are_always_told_of(void)
{
    struct takt_tap *tap = tap_with(1000, 0);

    EXPECT_INT(why(tap, TAKT_REASON_MODEL, 1000, 0), TAKT_TOLD_SLOW);
    EXPECT_INT(why(tap, TAKT_REASON_MODEL, 999, 0), 0);
    EXPECT_INT(why(tap, TAKT_REASON_MODEL, UINT64_MAX, 0), TAKT_TOLD_SLOW);
    takt__tap_destroy(tap);
}

static void a_share_of_the_others_is_drawn(void)
{
    struct takt_tap *tap = tap_with(1000, 0.25);

    EXPECT_INT(why(tap, TAKT_REASON_MODEL, 1, 0x3fffffff), TAKT_TOLD_DRAWN);
    EXPECT_INT(why(tap, TAKT_REASON_MODEL, 1, 0x40000000), 0);
    atomic_store(&tap->share, (uint64_t)1 << 32); /* all */
    EXPECT_INT(why(tap, TAKT_REASON_MODEL, 1, UINT32_MAX), TAKT_TOLD_DRAWN);
    atomic_store(&tap->share, 0);
    EXPECT_INT(why(tap, TAKT_REASON_MODEL, 1, 0), 0);
    takt__tap_destroy(tap);
}

static void what_is_special_is_always_told_of(void)
{
    struct takt_tap *tap = tap_with(1000, 0);

    EXPECT_INT(why(tap, TAKT_REASON_EXPLORE, 1, 9), TAKT_TOLD_EXPLORED);
    EXPECT_INT(why(tap, TAKT_REASON_FALLBACK, 1, 9), TAKT_TOLD_FALLBACK);
    EXPECT_INT(takt__tap_emits(tap, series, TAKT_REASON_MODEL, true, 1, 9),
               TAKT_TOLD_FALLBACK);
    atomic_store(&tap->series[series], TAKT_SERIES_DRIFT_BEGINS);
    for (int i = 0; i < 15; i++) /* so many calls after a change, no more */
        EXPECT_INT(why(tap, TAKT_REASON_MODEL, 1, 9), TAKT_TOLD_DRIFT);
    atomic_store(&tap->is_all, true);
    EXPECT_INT(why(tap, TAKT_REASON_MODEL, 1, 9),
               TAKT_TOLD_DRIFT | TAKT_TOLD_ALL);
    EXPECT_INT(why(tap, TAKT_REASON_MODEL, 1, 9), TAKT_TOLD_ALL);
    takt__tap_destroy(tap);
}

static void a_hot_series_is_told_of_only_when_it_is_special(void)
{
    struct takt_tap *tap = tap_with(1000, 1);

    EXPECT(!takt__tap_is_quiet(tap, series));
    atomic_store(&tap->series[series], TAKT_SERIES_HOT);
    EXPECT(takt__tap_is_quiet(tap, series));
    EXPECT_INT(why(tap, TAKT_REASON_MODEL, 5000, 0), 0);
    EXPECT_INT(why(tap, TAKT_REASON_EXPLORE, 5000, 0), TAKT_TOLD_EXPLORED);
    EXPECT_INT(why(tap, TAKT_REASON_FALLBACK, 1, 0), TAKT_TOLD_FALLBACK);
    atomic_store(&tap->series[series], TAKT_SERIES_HOT | TAKT_SERIES_DRIFT);
    EXPECT(!takt__tap_is_quiet(tap, series));
    EXPECT_INT(why(tap, TAKT_REASON_MODEL, 1, 0), TAKT_TOLD_DRIFT);
    atomic_store(&tap->is_all, true);
    atomic_store(&tap->series[series], TAKT_SERIES_HOT);
    EXPECT(!takt__tap_is_quiet(tap, series));
    EXPECT_INT(why(tap, TAKT_REASON_MODEL, 1, 0), TAKT_TOLD_ALL);
    takt__tap_destroy(tap);
}

static void an_op_is_hot_in_all_its_series(void)
{
    struct takt_tap *tap = tap_with(1000, 0);
    const unsigned matmul = TAKT_OP_matmul, user = TAKT_OP_COUNT + 2;

    EXPECT_INT(takt__tap_hot_ops(tap), 0);
    takt__tap_mark_op(tap, matmul, TAKT_SERIES_HOT, true);
    takt__tap_mark_op(tap, user, TAKT_SERIES_HOT, true);
    EXPECT_INT(takt__tap_hot_ops(tap), 2);
    for (unsigned l = 0; l < TAKT_SERIES_COUNT; l++)
        EXPECT_INT(atomic_load(&tap->series[l]) != 0,
                   takt__series_op(l) == matmul || takt__series_op(l) == user);
    takt__tap_mark_op(tap, matmul, TAKT_SERIES_HOT, false);
    EXPECT_INT(takt__tap_hot_ops(tap), 1);
    takt__tap_destroy(tap);
}

/* ---- counting --------------------------------------------------------------
 */

struct counting {
    struct takt_tap *tap;
    int rounds;
};

static void *count(void *self)
{
    const struct counting *counting = self;

    for (int i = 0; i < counting->rounds; i++) {
        takt__tap_count(counting->tap, series, TAKT_REASON_MODEL, 1);
        takt__tap_count(counting->tap, other_line, TAKT_REASON_EXPLORE, 3);
    }
    return NULL;
}

static void no_call_is_counted_twice_or_lost(void)
{
    enum {
        threads = TAKT_TAP_THREADS + 16,
        rounds = 2000
    }; /* some have to share */
    struct takt_tap *tap = tap_with(1000, 0);
    struct counting counting = {tap, rounds};
    pthread_t thread[threads];
    uint64_t calls[TAKT_OP_NUMBERS], decisions[TAKT_REASONS];

    for (int i = 0; i < threads; i++)
        REQUIRE(pthread_create(&thread[i], NULL, count, &counting) == 0);
    for (int i = 0; i < threads; i++)
        pthread_join(thread[i], NULL);
    takt__tap_sums(tap, calls, decisions);
    EXPECT_INT(calls[takt__series_op(series)], threads * rounds);
    EXPECT_INT(calls[takt__series_op(other_line)], threads * rounds * 3);
    EXPECT_INT(decisions[TAKT_REASON_MODEL], threads * rounds);
    EXPECT_INT(decisions[TAKT_REASON_EXPLORE], threads * rounds * 3);
    EXPECT_INT(decisions[TAKT_REASON_PRIOR], 0);
    takt__tap_destroy(tap);
}

static void a_thread_can_use_two_taps_in_turn(void)
{
    struct takt_tap *a = tap_with(1, 0), *b = tap_with(1, 0);
    uint64_t calls[TAKT_OP_NUMBERS], decisions[TAKT_REASONS];

    for (int i = 0; i < 100; i++) {
        takt__tap_count(a, series, TAKT_REASON_MODEL, 1);
        takt__tap_count(b, series, TAKT_REASON_MODEL, 2);
    }
    takt__tap_sums(a, calls, decisions);
    EXPECT_INT(calls[takt__series_op(series)], 100);
    takt__tap_sums(b, calls, decisions);
    EXPECT_INT(calls[takt__series_op(series)], 200);
    takt__tap_destroy(b);
    takt__tap_destroy(a);
}

/* ---- event records
 * -----------------------------------------------------------------
 */

static void notes_come_out_as_they_went_in_and_too_many_are_counted(void)
{
    enum { extra = 7 };
    struct takt_tap *tap = tap_with(1, 0);
    struct takt_event_record record = {.series = series,
                                       .reason = TAKT_REASON_MODEL},
                             out;

    for (unsigned i = 0; i < TAKT_TAP_SLOTS + extra; i++) {
        record.start = i;
        takt__tap_push(tap, &record);
    }
    EXPECT_INT(atomic_load(&tap->ring.dropped), extra);
    for (unsigned i = 0; i < TAKT_TAP_SLOTS; i++) {
        REQUIRE(takt__tap_next(tap, &out));
        REQUIRE(out.start == i && out.series == series && out.thread_id != 0);
    }
    EXPECT(!takt__tap_next(tap, &out));
    takt__tap_push(tap, &record); /* there is room again */
    EXPECT(takt__tap_next(tap, &out));
    takt__tap_destroy(tap);
}

int main(void)
{
    RUN(long_runs_are_always_told_of);
    RUN(a_share_of_the_others_is_drawn);
    RUN(what_is_special_is_always_told_of);
    RUN(a_hot_series_is_told_of_only_when_it_is_special);
    RUN(an_op_is_hot_in_all_its_series);
    RUN(no_call_is_counted_twice_or_lost);
    RUN(a_thread_can_use_two_taps_in_turn);
    RUN(notes_come_out_as_they_went_in_and_too_many_are_counted);
    return tap_done();
}
