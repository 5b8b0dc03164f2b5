/* SPDX-License-Identifier: MIT */
/* test_limit.c - nothing is expected to be faster than the machine. */
#include "model/simulate.h"

enum { SERIES = 0, MINE = TAKT_SERIES_USER };

/* 10 G operations per second on each thread, by the rates; and far too much for
 * a call, so that small calls beat the rates by far. */
static const struct takt_rates one_thread = {
    .threads = 1,
    .call_s = 20e-6,
    .s_per_flop = 1e-10,
    .s_per_byte = {1e-11, 1e-11, 1e-11},
    .l2_bytes = 1 << 20,
    .l3_bytes = 32 << 20,
};
static const struct takt_rates two_threads = {
    .threads = 2,
    .call_s = 20e-6,
    .s_per_flop = 0.5e-10,
    .s_per_byte = {0.5e-11, 0.5e-11, 1e-11},
    .l2_bytes = 2 << 20,
    .l3_bytes = 32 << 20,
};

static takt_work product(double n)
{
    return (takt_work){12 * n * n, 2 * n * n * n};
}

static struct sim two_arms(void)
{
    struct sim sim = sim_create(1, 0.02);
    const struct takt_arm one = {.name = "one", .kin = 1, .rates = one_thread};
    const struct takt_arm two = {.name = "two", .kin = 2, .rates = two_threads};

    sim_add(&sim, &one, &one_thread);
    sim_add(&sim, &two, &two_threads);
    return sim;
}

static void teach(struct sim *sim, unsigned series, unsigned arm, double n,
                  double seconds)
{
    const takt_work work = product(n);

    for (int i = 0; i < 40; i++)
        sim_report(sim, series, arm, &work, 0, seconds, 0);
}

/* The operations per second that are expected of it. */
static double rate_of(struct sim *sim, unsigned series, unsigned arm, double n)
{
    const takt_work work = product(n);

    return work.flops / sim_estimate(sim, series, arm, &work, 0).seconds;
}

/* A tenth is left for the spread: what is expected of a time is more than its
 * median. */
static const double slack = 1.1;

static void what_small_calls_gain_is_not_carried_to_large_ones(void)
{
    struct sim sim = two_arms();

    for (double n = 8; n <= 32; n *= 2)
        teach(&sim, SERIES, 0, n, 0.3e-6 + 2 * n * n * n * 1e-10);
    for (double n = 64; n <= 4096; n *= 2) {
        EXPECT(rate_of(&sim, SERIES, 0, n) < slack / one_thread.s_per_flop);
        EXPECT(rate_of(&sim, SERIES, 1, n) < slack / two_threads.s_per_flop);
    }
    sim_destroy(&sim);
}

static void what_was_measured_is_the_limit_of_the_others(void)
{
    struct sim sim = two_arms();
    const double reached = 2 / one_thread.s_per_flop;

    for (double n = 256; n <= 1024; n *= 2)
        teach(&sim, SERIES, 0, n, 2 * n * n * n / reached);
    for (double n = 16; n <= 8192; n *= 2) {
        EXPECT(rate_of(&sim, SERIES, 0, n) < slack * reached);
        EXPECT(rate_of(&sim, SERIES, 1, n) < slack * 2 * reached);
    }
    sim_destroy(&sim);
}

static void what_was_measured_is_believed_beyond_any_limit(void)
{
    struct sim sim = two_arms();
    const double reached = 5 / two_threads.s_per_flop;

    teach(&sim, SERIES, 0, 512, 2 * 512.0 * 512 * 512 * 1e-10);
    teach(&sim, SERIES, 1, 512, 2 * 512.0 * 512 * 512 / reached);
    EXPECT(rate_of(&sim, SERIES, 1, 512) > reached / 1.2);
    sim_destroy(&sim);
}

/* Nobody knows what the work of the user's own ops is worth. */
static void ops_of_the_user_have_no_limit(void)
{
    struct sim sim = two_arms();
    const double reached = 20 / one_thread.s_per_flop;

    for (double n = 256; n <= 1024; n *= 2)
        teach(&sim, MINE, 0, n, 2 * n * n * n / reached);
    EXPECT(rate_of(&sim, MINE, 0, 2048) > 2 / one_thread.s_per_flop);
    EXPECT(rate_of(&sim, SERIES, 0, 2048) < slack / one_thread.s_per_flop);
    sim_destroy(&sim);
}

int main(void)
{
    RUN(what_small_calls_gain_is_not_carried_to_large_ones);
    RUN(what_was_measured_is_the_limit_of_the_others);
    RUN(what_was_measured_is_believed_beyond_any_limit);
    RUN(ops_of_the_user_have_no_limit);
    return tap_done();
}
