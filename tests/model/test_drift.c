/* SPDX-License-Identifier: MIT */
/* test_drift.c - changes of speed: found soon, not invented, not forgotten. */
#include "model/simulate.h"

static const takt_work some = {1 << 20, 1 << 18};

/* Two arms; the first is the best. */
static struct sim pair(uint64_t seed, double first_s, double second_s)
{
    struct sim sim = sim_create(seed, 0.02);

    sim_add_flat(&sim, 0, first_s, first_s);
    sim_add_flat(&sim, 1, second_s, second_s);
    sim.spike_rate = 0.02;
    sim.spike_most = 500;
    return sim;
}

static void call_often(struct sim *sim, unsigned calls)
{
    for (unsigned i = 0; i < calls; i++)
        sim_call(sim, 0, &some, 0);
}

/* Calls until the verdict is that arm; at most `most`. */
static unsigned calls_until(struct sim *sim, unsigned arm, unsigned most)
{
    unsigned calls = 0;

    while (calls < most &&
           sim_cell_at(sim, 0, takt__bucket_of(some.bytes), 0)->verdict.best !=
               arm) {
        sim_call(sim, 0, &some, 0);
        calls++;
    }
    return calls;
}

static void a_slower_expert_is_left_within_ten_calls(void)
{
    static const double factors[] = {1.4, 2, 10};

    for (size_t f = 0; f < sizeof factors / sizeof factors[0]; f++) {
        unsigned longest = 0, sum = 0;
        for (uint64_t seed = 0; seed < sim_share(20); seed++) {
            struct sim sim = pair(seed, 1e-3, 1.15e-3);
            call_often(&sim, 10000);
            EXPECT_INT(calls_until(&sim, 0, 1), 0);
            sim.slowness[0] = factors[f];
            const unsigned calls = calls_until(&sim, 1, 1000);
            longest = calls > longest ? calls : longest;
            sum += calls;
            sim_destroy(&sim);
        }
        printf("# %gx slower: left after %.1f calls, %u at most\n", factors[f],
               sum / (double)sim_share(20), longest);
        TAP_CHECK(longest <= 10, "%u calls at %gx", longest, factors[f]);
    }
}

static void alarms_are_not_invented(void)
{
    static const struct {
        const char *name;
        double sigma, spike_most;
        bool has_heavy_tail;
    } noises[] = {{"2%", 0.02, 500, false},
                  {"10%", 0.1, 500, false},
                  {"30%", 0.3, 15, false},
                  {"heavy tails of 4%", 0.04, 500, true},
                  {"heavy tails of 15%", 0.15, 15, true}};
    const unsigned calls = sim_share(500000);

    for (size_t i = 0; i < sizeof noises / sizeof noises[0]; i++) {
        struct sim sim = pair(i, 1e-3, 2e-3);
        sim.sigma = noises[i].sigma;
        sim.spike_most = noises[i].spike_most;
        sim.has_heavy_tail = noises[i].has_heavy_tail;
        call_often(&sim, calls);
        const uint64_t alarms = takt__model_counters(sim.model).alarms;
        printf("# noise of %s: %d false alarms in %u calls\n", noises[i].name,
               (int)alarms, calls);
        TAP_CHECK(alarms <= calls / 50000, "%d alarms", (int)alarms);
        sim_destroy(&sim);
    }
}

/* Without another arm, the same one is seen all the time. */
static void what_comes_back_is_recognised(void)
{
    unsigned longest = 0;

    for (uint64_t seed = 0; seed < sim_share(20); seed++) {
        struct sim sim = pair(seed, 1e-3, 9e-3);
        call_often(&sim, 1000);
        sim.slowness[0] = 2;
        call_often(&sim, 100);
        sim.slowness[0] = 1;
        unsigned calls = 0;
        while (calls < 100 &&
               sim_estimate(&sim, 0, 0, &some, 0).seconds > 1.1e-3) {
            sim_call(&sim, 0, &some, 0);
            calls++;
        }
        longest = calls > longest ? calls : longest;
        EXPECT(sim_estimate(&sim, 0, 0, &some, 0).samples > 50);
        sim_destroy(&sim);
    }
    printf("# recognised after %u calls at most\n", longest);
    EXPECT(longest <= 5);
}

static void what_comes_and_goes_is_not_learned_anew(void)
{
    struct sim sim = pair(5, 1e-3, 9e-3);
    double took = 0, plain = 0;

    call_often(&sim, 1000);
    for (int i = 0; i < 40; i++) {
        sim.slowness[0] = i % 2 == 0 ? 2 : 1;
        call_often(&sim, 50);
        const struct takt_arm_estimate estimate =
            sim_estimate(&sim, 0, 0, &some, 0);
        EXPECT_NEAR(estimate.seconds / (1e-3 * sim.slowness[0]), 1, 0.05);
        took += estimate.seconds;
        plain += 1e-3 * sim.slowness[0];
    }
    const struct takt_model_counters counters = takt__model_counters(sim.model);
    printf("# 40 changes: %d alarms, %d recognised; predicted %.3f of true\n",
           (int)counters.alarms, (int)counters.restored, took / plain);
    EXPECT(counters.alarms <= 3);
    EXPECT(counters.restored >= 36);
    sim_destroy(&sim);
}

/* A core that the host takes away now and then, for milliseconds: short calls
 * of a team take twice as long, hundreds in a row. In all it is the best. */
static void a_team_that_is_held_up_for_milliseconds_stays(void)
{
    enum { calls = 200000 };
    const struct takt_rates single = sim_flat(9e-6);
    struct takt_rates team = sim_flat(5e-6);
    double took_s = 0;
    unsigned on_team = 0;

    team.threads = 2;
    struct sim sim = sim_create(9, 0.02);
    sim_add(&sim, &(struct takt_arm){.rates = single}, &single);
    sim_add(&sim, &(struct takt_arm){.uses_pool = true, .rates = team}, &team);
    uint64_t change_ns = 0;
    for (unsigned i = 0; i < calls; i++) {
        if (sim.now_ns >= change_ns) {
            const bool is_slow = random_unit(&sim.random) < 0.3;
            sim.slowness[1] = is_slow ? 2 : 1;
            change_ns = sim.now_ns +
                        (uint64_t)(1e6 * (1 + 4 * random_unit(&sim.random)));
        }
        const struct sim_run run = sim_call(&sim, 0, &some, TAKT_REPEAT);
        on_team += run.arm == 1;
        took_s += run.seconds;
    }
    printf("# %.1f%% of the calls on the team, %.2f us each, %d alarms\n",
           100.0 * on_team / calls, 1e6 * took_s / calls,
           (int)takt__model_counters(sim.model).alarms);
    EXPECT(on_team > 0.95 * calls);
    EXPECT(took_s < 6.8e-6 * calls); /* 6.5 on the team alone */
    sim_destroy(&sim);
}

/* The best becomes slow, another is used, the best recovers unseen. */
static void a_loser_that_became_faster_is_found_again(void)
{
    unsigned longest = 0;

    for (uint64_t seed = 0; seed < sim_share(20); seed++) {
        struct sim sim = pair(seed, 1e-3, 1.3e-3);
        call_often(&sim, 10000);
        sim.slowness[0] = 2;
        call_often(&sim, 50);
        EXPECT_INT(calls_until(&sim, 1, 1), 0);
        sim.slowness[0] = 1;
        const unsigned calls = calls_until(&sim, 0, 5000);
        longest = calls > longest ? calls : longest;
        sim_destroy(&sim);
    }
    printf("# found again after %u calls at most\n", longest);
    EXPECT(longest <= 300);
}

static void an_arm_that_was_never_best_is_found_when_it_improves(void)
{
    unsigned longest = 0;

    for (uint64_t seed = 0; seed < sim_share(20); seed++) {
        struct sim sim = pair(seed, 1e-3, 1.5e-3);
        call_often(&sim, 3000);
        EXPECT_INT(calls_until(&sim, 0, 1), 0);
        sim.slowness[1] = 0.4;
        const unsigned calls = calls_until(&sim, 1, 20000);
        longest = calls > longest ? calls : longest;
        sim_destroy(&sim);
    }
    printf("# improvement found after %u calls at most\n", longest);
    EXPECT(longest <= 5000);
}

enum { LINES = 12 };

/* Calls of many series in turn, as long as `calls` on each. */
static double call_all(struct sim *sim, unsigned calls)
{
    double took = 0;

    for (unsigned i = 0; i < calls; i++)
        for (unsigned l = 0; l < LINES; l++)
            took += sim_call(sim, l, &some, 0).seconds;
    return took;
}

static void a_slower_device_moves_the_load_and_leaves_the_shapes(void)
{
    struct sim sim = pair(9, 1e-3, 4e-3);

    sim.spike_most = 15;
    call_all(&sim, 200);
    EXPECT_NEAR(takt__model_load(sim.model, 0), 1, 1e-9);
    sim.slowness[0] = sim.slowness[1] = 3;
    call_all(&sim, 30);
    const struct takt_model_counters counters = takt__model_counters(sim.model);
    printf("# three times slower: load %.2f after %d alarms of series, %d of "
           "the device\n",
           takt__model_load(sim.model, 0), (int)counters.alarms,
           (int)counters.device_alarms);
    EXPECT_NEAR(takt__model_load(sim.model, 0), 3, 0.3);
    for (unsigned l = 0; l < LINES; l++) {
        EXPECT_NEAR(sim_estimate(&sim, l, 0, &some, 0).seconds, 3e-3, 3e-4);
        EXPECT_NEAR(sim_estimate(&sim, l, 1, &some, 0).seconds /
                        takt__model_load(sim.model, 0),
                    4e-3, 2.4e-3);
    }
    sim.slowness[0] = sim.slowness[1] = 1;
    call_all(&sim, 4);
    printf("# and back: load %.2f after 4 calls of each series\n",
           takt__model_load(sim.model, 0));
    EXPECT_NEAR(takt__model_load(sim.model, 0), 1, 0.1);
    call_all(&sim, 26);
    EXPECT_NEAR(takt__model_load(sim.model, 0), 1, 0.05);
    for (unsigned l = 0; l < LINES; l++) {
        EXPECT_NEAR(sim_estimate(&sim, l, 0, &some, 0).seconds, 1e-3, 1e-4);
        EXPECT(sim_estimate(&sim, l, 0, &some, 0).samples > 50);
    }
    sim_destroy(&sim);
}

static void one_series_that_changes_is_not_the_device(void)
{
    struct sim sim = pair(11, 1e-3, 4e-3);

    sim.spike_most = 15;
    call_all(&sim, 200);
    sim_series_at(&sim, 3)->factor[0] = 2;
    call_all(&sim, 50);
    EXPECT(takt__model_counters(sim.model).alarms > 0);
    EXPECT_INT(takt__model_counters(sim.model).device_alarms, 0);
    EXPECT_NEAR(takt__model_load(sim.model, 0), 1, 1e-9);
    EXPECT_NEAR(sim_estimate(&sim, 3, 0, &some, 0).seconds, 2e-3, 2e-4);
    EXPECT_NEAR(sim_estimate(&sim, 2, 0, &some, 0).seconds, 1e-3, 1e-4);
    sim_destroy(&sim);
}

/* A little slower with every call: never an alarm, and still the verdicts know.
 */
static void creeping_changes_are_followed_and_published(void)
{
    struct sim sim = sim_create(13, 0);

    sim_add_flat(&sim, 0, 1e-3, 1e-3);
    sim_add_flat(&sim, 1, 9e-3, 9e-3);
    call_often(&sim, 10000);
    for (int i = 0; i < 2000; i++) {
        sim.slowness[0] += 0.25 / 2000;
        sim_call(&sim, 0, &some, 0);
    }
    EXPECT_NEAR(
        sim_cell_at(&sim, 0, takt__bucket_of(some.bytes), 0)->verdict.seconds,
        1.25e-3, 0.03e-3);
    EXPECT_INT(takt__model_counters(sim.model).alarms, 0);
    sim_destroy(&sim);
}

static void nothing_is_published_while_nothing_changes(void)
{
    for (int tries = 0; tries < 2; tries++) {
        struct sim sim = sim_create(14, tries * 0.02);
        sim_add_flat(&sim, 0, 1e-3, 1e-3);
        sim_add_flat(&sim, 1, 1.2e-3, 1.2e-3);
        sim.spike_rate = 0.02;
        call_often(&sim, 1000);
        const unsigned before = sim.publications;
        call_often(&sim, 20000);
        printf("# %s tries: %u publications in 20,000 calls\n",
               tries == 0 ? "without" : "with", sim.publications - before);
        EXPECT(sim.publications - before < 200);
        sim_destroy(&sim);
    }
}

int main(void)
{
    RUN(a_slower_expert_is_left_within_ten_calls);
    RUN(alarms_are_not_invented);
    RUN(what_comes_back_is_recognised);
    RUN(what_comes_and_goes_is_not_learned_anew);
    RUN(a_team_that_is_held_up_for_milliseconds_stays);
    RUN(a_loser_that_became_faster_is_found_again);
    RUN(an_arm_that_was_never_best_is_found_when_it_improves);
    RUN(a_slower_device_moves_the_load_and_leaves_the_shapes);
    RUN(one_series_that_changes_is_not_the_device);
    RUN(creeping_changes_are_followed_and_published);
    RUN(nothing_is_published_while_nothing_changes);
    return tap_done();
}
