/* SPDX-License-Identifier: MIT */
/*
 * test_expectation.c - a GPU is opened for matrices that would stay there, and
 * for nothing else.
 */
#include "expectation.h"

#include "support/tap.h"

/* Ten calls that took 2 ms each. On a GPU they take 3 ms, of which 2.5 are for
 * large operands. */
static bool tell(struct takt_expectation *self)
{
    return takt__expectation_add(self, 10, 2e-3, 3e-3, 2.5e-3, 0.1);
}

static void what_stays_there_is_not_moved_again(void)
{
    struct takt_expectation self = {0};
    unsigned times = 0;

    do {
        takt__expectation_read(&self, 4e6, true);
        times++;
    } while (!tell(&self) && times < 100);
    EXPECT_INT(times, 7); /* 15 ms are missed each time */
    EXPECT_NEAR(takt__expectation_ratio(&self), 0.25, 1e-12);
}

static void what_changes_is_moved_each_time(void)
{
    struct takt_expectation self = {0};

    for (int i = 0; i < 1000; i++) {
        takt__expectation_read(&self, 4e6, false);
        EXPECT(!tell(&self));
    }
    EXPECT_NEAR(takt__expectation_ratio(&self), 1, 1e-12);
}

static void half_of_it_saves_half(void)
{
    struct takt_expectation self = {0};

    takt__expectation_read(&self, 1e6, true);
    takt__expectation_read(&self, 1e6, false);
    EXPECT(!tell(&self));
    EXPECT_NEAR(self.missed_s, 10 * (2e-3 - (3e-3 - 1.25e-3)), 1e-12);
    EXPECT(!tell(&self)); /* nothing was read since */
    EXPECT_NEAR(self.missed_s, 2.5e-3, 1e-12);
}

static void without_calls_nothing_is_expected(void)
{
    const struct takt_expectation self = {0};

    EXPECT_NEAR(takt__expectation_ratio(&self), 1, 0);
}

int main(void)
{
    RUN(what_stays_there_is_not_moved_again);
    RUN(what_changes_is_moved_each_time);
    RUN(half_of_it_saves_half);
    RUN(without_calls_nothing_is_expected);
    return tap_done();
}
