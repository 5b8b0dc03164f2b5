/* SPDX-License-Identifier: MIT */
/*
 * test_hot_ops.c - hot is a rate: more calls in the last second than the limit,
 * wherever that second begins, and cool again only well below it.
 */
#include "telemetry/hot_ops.h"

#include "support/tap.h"

enum { op = 3, other = TAKT_OP_COUNT + 7 };
static const uint64_t step_ns = TAKT_HOT_STEP_NS;

static struct takt_hot_ops hot;
static uint64_t calls[TAKT_OP_NUMBERS], now_ns;
static int changes, last_op;
static bool last_state;

static void changed(void *self, unsigned which, bool is_hot)
{
    (void)self;
    changes++;
    last_op = (int)which;
    last_state = is_hot;
}

static void begin(void)
{
    memset(&hot, 0, sizeof hot);
    memset(calls, 0, sizeof calls);
    changes = 0;
    now_ns = 5000000000;
    takt__hot_ops_update(&hot, now_ns, calls, 10000, changed, NULL);
}

/* So many calls of an op in each of so many steps. */
static void go_on(unsigned which, uint64_t per_step, int steps)
{
    for (int i = 0; i < steps; i++) {
        now_ns += step_ns;
        calls[which] += per_step;
        takt__hot_ops_update(&hot, now_ns, calls, 10000, changed, NULL);
    }
}

static void ten_thousand_in_a_second_are_not_too_many(void)
{
    begin();
    go_on(op, 500, 200); /* 10,000 in each second, for ten of them */
    EXPECT(!hot.is_hot[op]);
    EXPECT_INT(changes, 0);
    EXPECT_NEAR(hot.rate[op], 10000, 1);
}

static void one_more_is(void)
{
    begin();
    go_on(op, 500, 40);
    now_ns += step_ns;
    calls[op] += 501;
    takt__hot_ops_update(&hot, now_ns, calls, 10000, changed, NULL);
    EXPECT(hot.is_hot[op]);
    EXPECT_INT(changes, 1);
    EXPECT_INT(last_op, op);
    EXPECT(last_state);
    EXPECT_INT(hot.times_hot[op], 1);
    EXPECT(!hot.is_hot[other]);
}

static void a_burst_is_noticed_before_its_second_is_over(void)
{
    begin();
    go_on(op, 10001, 1);
    EXPECT(hot.is_hot[op]);
}

static void a_long_life_is_not_a_high_rate(void)
{
    begin();
    go_on(op, 400, 20000); /* 8 million calls in a thousand seconds */
    EXPECT(!hot.is_hot[op]);
    EXPECT_INT(hot.times_hot[op], 0);
}

static void it_cools_only_well_below_the_limit(void)
{
    begin();
    go_on(op, 600, 40);
    EXPECT(hot.is_hot[op]);
    go_on(op, 450, 100); /* 9,000 a second: to and fro it must not go */
    EXPECT(hot.is_hot[op]);
    EXPECT_INT(changes, 1);
    go_on(op, 399, 19); /* the last second still has some of what was before */
    go_on(op, 399, 2);
    EXPECT(!hot.is_hot[op]);
    EXPECT_INT(changes, 2);
    EXPECT(!last_state);
    go_on(op, 600, 40);
    EXPECT_INT(hot.times_hot[op], 2);
}

static void it_cools_when_the_calls_stop(void)
{
    begin();
    go_on(other, 1000, 40);
    EXPECT(hot.is_hot[other]);
    now_ns += 3000000000u; /* no snapshot for a while */
    takt__hot_ops_update(&hot, now_ns, calls, 10000, changed, NULL);
    EXPECT(!hot.is_hot[other]);
    EXPECT_NEAR(hot.rate[other], 0, 1e-9);
}

static void a_long_pause_is_averaged_not_added_up(void)
{
    begin();
    now_ns += 4000000000u;
    calls[op] += 30000; /* in four seconds */
    takt__hot_ops_update(&hot, now_ns, calls, 10000, changed, NULL);
    EXPECT(!hot.is_hot[op]);
    EXPECT_NEAR(hot.rate[op], 7500, 1);
}

static void without_a_limit_nothing_is_hot(void)
{
    begin();
    for (int i = 0; i < 40; i++) {
        now_ns += step_ns;
        calls[op] += 1000000;
        takt__hot_ops_update(&hot, now_ns, calls, INFINITY, changed, NULL);
    }
    EXPECT(!hot.is_hot[op]);
}

int main(void)
{
    RUN(ten_thousand_in_a_second_are_not_too_many);
    RUN(one_more_is);
    RUN(a_burst_is_noticed_before_its_second_is_over);
    RUN(a_long_life_is_not_a_high_rate);
    RUN(it_cools_only_well_below_the_limit);
    RUN(it_cools_when_the_calls_stop);
    RUN(a_long_pause_is_averaged_not_added_up);
    RUN(without_a_limit_nothing_is_hot);
    return tap_done();
}
