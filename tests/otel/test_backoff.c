/* SPDX-License-Identifier: MIT */
/* test_backoff.c - when a batch is tried again. */
#include "../../otel/channel.h"
#include "support/tap.h"

static const struct takt_otel_backoff usual = {1, 1.5, 5, 30, 5};

static double wait_s(unsigned tried, uint64_t random)
{
    return takt__otel_backoff(&usual, tried, 0, -1, random);
}

static void waits_grow_by_half_up_to_five_seconds(void)
{
    static const struct takt_otel_backoff patient = {1, 1.5, 5, 1e9, 100};
    static const double want[] = {1, 1.5, 2.25, 3.375, 5, 5};

    for (unsigned i = 0; i < sizeof want / sizeof *want; i++)
        EXPECT_NEAR(takt__otel_backoff(&patient, i + 1, 0, -1, UINT64_MAX),
                    want[i], 1e-9);
    EXPECT_NEAR(takt__otel_backoff(&patient, 99, 0, -1, UINT64_MAX), 5, 1e-9);
}

static void a_wait_is_any_part_of_the_longest(void)
{
    EXPECT_NEAR(wait_s(1, 0), 0, 0);
    EXPECT_NEAR(wait_s(1, UINT64_MAX / 2), 0.5, 1e-9);
    EXPECT_NEAR(wait_s(2, UINT64_MAX / 4), 0.375, 1e-9);
}

static void there_are_five_tries(void)
{
    EXPECT(wait_s(4, 0) >= 0);
    EXPECT(wait_s(5, 0) < 0);
    EXPECT(wait_s(6, 0) < 0);
}

static void no_try_begins_after_the_time_for_all(void)
{
    EXPECT(takt__otel_backoff(&usual, 1, 29.4, -1, UINT64_MAX / 2) >= 0);
    EXPECT(takt__otel_backoff(&usual, 1, 29.6, -1, UINT64_MAX / 2) < 0);
    EXPECT(takt__otel_backoff(&usual, 1, 30, -1, 0) < 0);
}

static void what_the_collector_asks_for_is_done(void)
{
    EXPECT_NEAR(takt__otel_backoff(&usual, 1, 0, 12, 0), 12, 0);
    EXPECT_NEAR(takt__otel_backoff(&usual, 1, 0, 0, UINT64_MAX), 0, 0);
    EXPECT(takt__otel_backoff(&usual, 1, 20, 12, 0) < 0);
    EXPECT(takt__otel_backoff(&usual, 5, 0, 0, 0) < 0);
}

int main(void)
{
    RUN(waits_grow_by_half_up_to_five_seconds);
    RUN(a_wait_is_any_part_of_the_longest);
    RUN(there_are_five_tries);
    RUN(no_try_begins_after_the_time_for_all);
    RUN(what_the_collector_asks_for_is_done);
    return tap_done();
}
