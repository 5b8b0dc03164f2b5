/* SPDX-License-Identifier: MIT */
/*
 * test_hints.c - what machines of a fleet measured: how far this machine is off
 * them, and what need not be tried again.
 */
#include "model/simulate.h"

static const takt_work some = {1e5, 1e5};

/* Two arms that take 1 ms by their rates, and hints of a fleet about both. */
static struct sim two_arms(double first_s, double second_s, double machines)
{
    struct sim sim = sim_create(1, 0.02);
    const double hint[] = {first_s, second_s};

    for (unsigned arm = 0; arm < 2; arm++)
        sim_add_flat(&sim, arm, hint[arm], 1e-3);
    sim_series_at(&sim, 0);
    for (unsigned arm = 0; arm < 2; arm++)
        takt__model_hint(
            sim.model,
            &(struct takt_summary){.arm = arm,
                                   .bucket = takt__bucket_of(some.bytes),
                                   .n = 1,
                                   .mean = log(hint[arm] * 1e9),
                                   .bytes = some.bytes,
                                   .flops = some.flops,
                                   .calls = machines},
            0.1 * 0.1);
    return sim;
}

static struct takt_arm_estimate estimate(struct sim *sim, unsigned arm)
{
    return takt__posterior_estimate(takt__model_posterior(sim->model, 0, 0),
                                    arm, takt__bucket_of(some.bytes), &some);
}

/* It was measured that this machine is slower: then it is so on the other arm
 * too, which would look better than the best otherwise. */
static void a_slower_machine_is_slower_on_all_arms(void)
{
    struct sim sim = two_arms(1e-3, 1.1e-3, 12);

    EXPECT_NEAR(estimate(&sim, 1).seconds, 1.1e-3, 0.05e-3);
    for (int i = 0; i < 8; i++)
        sim_report(&sim, 0, 0, &some, 0, 1.15e-3, 0);
    EXPECT_NEAR(estimate(&sim, 0).seconds, 1.15e-3, 0.03e-3);
    EXPECT(estimate(&sim, 1).seconds > 1.16e-3);
    EXPECT(estimate(&sim, 1).variance < 0.1 * 0.1);
    sim_destroy(&sim);
}

/* Twice as slow as twelve machines is not what machines differ by. It may
 * concern this arm alone, so the other one's hint is doubtful, and tried. */
static void what_is_far_off_makes_hints_doubtful(void)
{
    struct sim sim = two_arms(1e-3, 1.8e-3, 12);

    for (int i = 0; i < 8; i++)
        sim_report(&sim, 0, 0, &some, 0, 2e-3, 0);
    EXPECT(estimate(&sim, 1).variance > 0.3 * 0.3);
    EXPECT(estimate(&sim, 1).seconds < 2.8e-3);
    sim_destroy(&sim);
}

static unsigned trials_of(double machines)
{
    struct sim sim = two_arms(1e-3, 1.15e-3, machines);
    unsigned trials = 0;

    for (int i = 0; i < 60; i++)
        trials += sim_call(&sim, 0, &some, 0).is_explored;
    sim_destroy(&sim);
    return trials;
}

/* An arm that twelve machines of the fleet found slower is not tried; one that
 * some other store knows of is. */
static void what_the_fleet_tried_is_not_tried_again(void)
{
    EXPECT_INT(trials_of(12), 0);
    EXPECT(trials_of(0) > 0);
}

/* A hint that is wrong is found out: the arm that it calls slow is tried in
 * the end, and used. */
static void a_wrong_hint_is_found_out(void)
{
    struct sim sim = two_arms(1e-3, 1.3e-3, 12);

    sim.slowness[1] = 0.5;
    for (int i = 0; i < 4000; i++)
        sim_call(&sim, 0, &some, 0);
    EXPECT_INT(sim_call(&sim, 0, &some, 0).arm, 1);
    sim_destroy(&sim);
}

int main(void)
{
    RUN(a_slower_machine_is_slower_on_all_arms);
    RUN(what_is_far_off_makes_hints_doubtful);
    RUN(what_the_fleet_tried_is_not_tried_again);
    RUN(a_wrong_hint_is_found_out);
    return tap_done();
}
