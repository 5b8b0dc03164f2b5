/* SPDX-License-Identifier: MIT */
/* test_attribution.c - watts of experts from counters that are simulated. */
#include "simulation.h"

#define MILLIJOULES UINT64_C(1000000000000000)
#define MICROJOULES UINT64_C(1000000000000)

static const struct takt_energy_counter gpu_counter = {.source = "nvml",
                                                       .name = "NVIDIA H200",
                                                       .address =
                                                           "0000:19:00.0",
                                                       .unit_aj = MILLIJOULES,
                                                       .step_ms = 100};
static const struct takt_energy_counter package_counter = {
    .source = "powercap", .name = "package-0", .unit_aj = MICROJOULES};

/* A product and a vector op on a GPU. */
static struct machine gpu_machine(uint64_t seed)
{
    return (struct machine){
        .counter = {gpu_counter},
        .counters = 1,
        .idle_w = {120},
        .kind =
            {{.arm = 9, .bound = 1, .threads = 1, .watts = 480, .call_ms = 12},
             {.arm = 9, .bound = 0, .threads = 1, .watts = 210, .call_ms = 3}},
        .kinds = 2,
        .random = seed};
}

static struct machine cpu_machine(uint64_t seed)
{
    return (struct machine){.counter = {package_counter},
                            .counters = 1,
                            .idle_w = {35},
                            .kind = {{.arm = 1,
                                      .bound = 1,
                                      .threads = 1,
                                      .where = TAKT_ENERGY_PROCESSOR,
                                      .watts = 14,
                                      .call_ms = 20},
                                     {.arm = 4,
                                      .bound = 1,
                                      .threads = 8,
                                      .where = TAKT_ENERGY_PROCESSOR,
                                      .watts = 92,
                                      .call_ms = 7},
                                     {.arm = 4,
                                      .bound = 0,
                                      .threads = 8,
                                      .where = TAKT_ENERGY_PROCESSOR,
                                      .watts = 61,
                                      .call_ms = 2}},
                            .kinds = 3,
                            .random = seed};
}

static void finish(struct machine *m)
{
    takt__energy_destroy(m->energy);
    m->energy = NULL;
}

static void kinds_of_calls_on_a_gpu_are_told_apart(void)
{
    for (uint64_t seed = 1; seed <= 30; seed++) {
        struct machine m = gpu_machine(seed);
        simulate(&m, 120);
        expect_watts(watts_of(&m, 0), 480);
        expect_watts(watts_of(&m, 1), 210);
        expect_watts(takt__energy_idle(m.energy, 0), 120);
        expect_watts(takt__energy_total_watts(m.energy, 9, 1), 600);
        finish(&m);
    }
}

static void experts_of_the_processor_are_told_apart(void)
{
    for (uint64_t seed = 1; seed <= 10; seed++) {
        struct machine m = cpu_machine(seed);
        simulate(&m, 120);
        for (unsigned i = 0; i < 3; i++)
            expect_watts(watts_of(&m, i), m.kind[i].watts);
        expect_watts(takt__energy_idle(m.energy, 0), 35);
        finish(&m);
    }
}

static void a_counter_that_wraps_around_goes_on_counting(void)
{
    struct machine m = cpu_machine(3);

    m.counter[0].range = 1000000000; /* a thousand joules: some ten seconds */
    simulate(&m, 150);
    expect_watts(watts_of(&m, 1), 92);
    EXPECT_INT(takt__energy_windows(m.energy, 0).broken, 0);
    EXPECT(m.joules[0] > 5000); /* it did wrap around */
    finish(&m);
}

/* A second that begins and ends anywhere would be off by a tenth. */
static void windows_end_where_the_counter_steps(void)
{
    for (uint64_t seed = 1; seed <= 10; seed++) {
        struct machine m = gpu_machine(seed);
        simulate(&m, 120);
        TAP_CHECK(watts_of(&m, 0).error < 2.5, "error %g",
                  watts_of(&m, 0).error);
        finish(&m);
    }
}

/* What it counts there is right to the last count. */
static void no_energy_is_lost_where_a_counter_wraps_around(void)
{
    struct machine m = cpu_machine(3);

    m.counter[0].range = 1000000000;
    m.kinds = 0;
    simulate(&m, 150);
    EXPECT_NEAR(takt__energy_idle(m.energy, 0).mean, 35, 0.01);
    finish(&m);
}

/* They are known when they are over, and lie in two windows. */
static void long_calls_count_in_the_windows_that_they_lie_in(void)
{
    struct machine m = gpu_machine(17);

    m.kind[0].call_ms = 900;
    m.kind[1].call_ms = 600;
    simulate(&m, 200);
    expect_watts(watts_of(&m, 0), 480);
    EXPECT(watts_of(&m, 0).error < 4);
    finish(&m);
}

static void a_counter_that_is_reset_breaks_one_window(void)
{
    struct machine m = gpu_machine(4);

    simulate(&m, 60);
    m.joules[0] = 0; /* as when the driver was loaded anew */
    simulate(&m, 60);
    EXPECT_INT(takt__energy_windows(m.energy, 0).broken, 1);
    expect_watts(watts_of(&m, 0), 480);
    finish(&m);
}

static void both_counters_of_a_call_on_a_gpu_are_added_up(void)
{
    struct machine m = gpu_machine(5);

    m.counter[1] = package_counter;
    m.counters = 2;
    m.idle_w[1] = 50;
    m.kind[2] = (struct kind){.arm = 3,
                              .bound = 1,
                              .threads = 4,
                              .where = TAKT_ENERGY_PROCESSOR,
                              .watts = 80,
                              .call_ms = 9};
    m.kinds = 3;
    simulate(&m, 200);
    expect_watts(watts_of(&m, 0), 480);
    expect_watts(watts_of(&m, 2), 80);
    finish(&m);
}

static void without_a_counter_of_the_processor_its_experts_are_unknown(void)
{
    struct machine m = gpu_machine(6);

    m.kind[1] = (struct kind){.arm = 3,
                              .bound = 1,
                              .threads = 4,
                              .where = TAKT_ENERGY_PROCESSOR,
                              .watts = 80,
                              .call_ms = 9};
    simulate(&m, 120);
    expect_watts(watts_of(&m, 0), 480);
    EXPECT(!watts_of(&m, 1).is_known);
    finish(&m);
}

static void a_gpu_without_a_counter_is_unknown(void)
{
    struct machine m = cpu_machine(7);

    m.kind[0].where = TAKT_ENERGY_UNCOUNTED;
    simulate(&m, 120);
    EXPECT(!watts_of(&m, 0).is_known);
    expect_watts(watts_of(&m, 1), 92);
    finish(&m);
}

static void a_few_windows_are_not_enough(void)
{
    struct machine m = gpu_machine(8);

    simulate(&m, 8);
    EXPECT(!watts_of(&m, 0).is_known);
    EXPECT(!takt__energy_idle(m.energy, 0).is_known);
    finish(&m);
}

static void a_counter_that_vanishes_leaves_nothing_known(void)
{
    struct machine m = gpu_machine(9);

    simulate(&m, 120);
    EXPECT(watts_of(&m, 0).is_known);
    m.is_gone = true;
    simulate(&m, 5);
    EXPECT(!watts_of(&m, 0).is_known);
    EXPECT(takt__energy_windows(m.energy, 0).is_gone);
    EXPECT_INT(takt__energy_due(m.energy, ns_at(m.ms + 100000)), 0);
    finish(&m);
}

static void a_counter_that_does_not_count_is_none(void)
{
    struct machine m = gpu_machine(10);

    m.idle_w[0] = m.kind[0].watts = m.kind[1].watts = 0;
    simulate(&m, 10);
    EXPECT(takt__energy_windows(m.energy, 0).is_gone);
    finish(&m);
}

static void noise_is_averaged_out(void)
{
    struct machine m = gpu_machine(11);

    m.noise = 0.5;
    simulate(&m, 200);
    expect_watts(watts_of(&m, 0), 480);
    expect_watts(watts_of(&m, 1), 210);
    finish(&m);
}

static void one_short_call_that_was_timed_stands_for_many(void)
{
    struct machine m = gpu_machine(12);

    m.kind[1].one_in = 16;
    simulate(&m, 300);
    expect_watts(watts_of(&m, 0), 480);
    expect_watts(watts_of(&m, 1), 210);
    finish(&m);
}

/* Their shares of every window are the same. */
static void experts_that_cannot_be_told_apart_are_unknown(void)
{
    for (uint64_t seed = 1; seed <= 10; seed++) {
        struct machine m = gpu_machine(seed);
        m.is_alternating = true;
        m.kind[0].arm = 8;
        m.kind[0].call_ms = m.kind[1].call_ms = 5;
        simulate(&m, 200);
        EXPECT(!watts_of(&m, 0).is_known);
        EXPECT(!watts_of(&m, 1).is_known);
        finish(&m);
    }
}

static void experts_that_are_at_work_together_are_unknown(void)
{
    struct machine m = gpu_machine(18);

    m.kind[0].twin = 7;
    simulate(&m, 300);
    EXPECT(!watts_of(&m, 0).is_known);
    EXPECT(!takt__energy_watts(m.energy, 7, m.kind[0].bound).is_known);
    expect_watts(watts_of(&m, 1), 210);
    finish(&m);
}

/* As a mixture of one expert they are known all the same. */
static void kinds_that_cannot_be_told_apart_are_known_together(void)
{
    struct machine m = gpu_machine(13);

    m.is_alternating = true;
    m.kind[0].call_ms = m.kind[1].call_ms = 5;
    simulate(&m, 200);
    EXPECT(!watts_of(&m, 0).is_known);
    expect_watts(takt__energy_watts(m.energy, 9, TAKT_ENERGY_BOUNDS), 345);
    finish(&m);
}

static void the_load_of_others_is_accounted_for_or_rejected(void)
{
    for (uint64_t seed = 1; seed <= 10; seed++) {
        struct machine m = cpu_machine(seed);
        m.others = 2;
        m.others_w = 9;
        simulate(&m, 240);
        EXPECT(takt__energy_windows(m.energy, 0).busy_elsewhere > 0);
        expect_watts(watts_of(&m, 1), 92);
        expect_watts(watts_of(&m, 2), 61);
        finish(&m);
    }
}

static void surges_that_nobody_explains_count_little(void)
{
    struct machine m = gpu_machine(19);

    m.surge_w = 400; /* 20 on average */
    simulate(&m, 300);
    EXPECT_NEAR(takt__energy_idle(m.energy, 0).mean, 120, 10);
    expect_watts(watts_of(&m, 0), 480);
    finish(&m);
}

static void a_gpu_that_others_use_is_not_learned_from(void)
{
    struct takt_energy *energy = takt__energy_create(&gpu_counter, 1);

    REQUIRE(energy != NULL);
    for (unsigned i = 0; i < 1500; i++) {
        const struct takt_energy_reading reading = {
            .at_ns = ns_at(20 * i), .count = 60 * (i / 5), .share_pml = 900};
        takt__energy_read(energy, 0, &reading);
    }
    EXPECT(takt__energy_windows(energy, 0).busy_elsewhere > 10);
    EXPECT_INT(takt__energy_windows(energy, 0).used, 0);
    takt__energy_destroy(energy);
}

static void an_integral_of_power_needs_no_steps_but_no_holes(void)
{
    struct machine m = gpu_machine(14);

    m.counter[0].is_power = true;
    m.counter[0].step_ms = 0;
    simulate(&m, 120);
    expect_watts(watts_of(&m, 0), 480);
    EXPECT_INT(takt__energy_windows(m.energy, 0).broken, 0);
    m.next_read_ms = m.ms + 700;
    simulate(&m, 5);
    EXPECT_INT(takt__energy_windows(m.energy, 0).broken, 1);
    finish(&m);
}

/* More kinds than there is room for: the windows are left out. */
static void windows_of_too_many_kinds_are_rejected(void)
{
    struct machine m = gpu_machine(15);

    simulate(&m, 5);
    for (unsigned arm = 20; arm < 60; arm++)
        takt__energy_use(m.energy, &(struct takt_energy_use){
                                       arm, 0, 1, 0, ns_at(m.ms), 1000000, 1});
    simulate(&m, 5);
    EXPECT(takt__energy_windows(m.energy, 0).mixed > 0);
    finish(&m);
}

/* Of a kind that is new nothing is known; of the others, what was. */
static void a_new_kind_of_calls_changes_nothing_for_the_others(void)
{
    struct machine m = gpu_machine(16);

    simulate(&m, 120);
    takt__energy_use(m.energy,
                     &(struct takt_energy_use){20, 0, 1, 0, ns_at(m.ms), 1, 1});
    EXPECT(watts_of(&m, 0).is_known);
    EXPECT(!takt__energy_watts(m.energy, 20, 0).is_known);
    finish(&m);
}

static void gpus_are_found_by_their_address_on_the_bus(void)
{
    struct takt_energy *energy = takt__energy_create(&gpu_counter, 1);

    REQUIRE(energy != NULL);
    EXPECT_INT(takt__energy_find_gpu(energy, "0000:19:00.0"), 0);
    EXPECT_INT(takt__energy_find_gpu(energy, "00000000:19:00.0"), 0);
    EXPECT_INT(takt__energy_find_gpu(energy, "0000:1A:00.0"),
               TAKT_ENERGY_UNCOUNTED);
    EXPECT_INT(takt__energy_find_gpu(energy, ""), TAKT_ENERGY_UNCOUNTED);
    takt__energy_destroy(energy);
}

int main(void)
{
    RUN(kinds_of_calls_on_a_gpu_are_told_apart);
    RUN(experts_of_the_processor_are_told_apart);
    RUN(a_counter_that_wraps_around_goes_on_counting);
    RUN(windows_end_where_the_counter_steps);
    RUN(no_energy_is_lost_where_a_counter_wraps_around);
    RUN(long_calls_count_in_the_windows_that_they_lie_in);
    RUN(a_counter_that_is_reset_breaks_one_window);
    RUN(both_counters_of_a_call_on_a_gpu_are_added_up);
    RUN(without_a_counter_of_the_processor_its_experts_are_unknown);
    RUN(a_gpu_without_a_counter_is_unknown);
    RUN(a_few_windows_are_not_enough);
    RUN(a_counter_that_vanishes_leaves_nothing_known);
    RUN(a_counter_that_does_not_count_is_none);
    RUN(noise_is_averaged_out);
    RUN(one_short_call_that_was_timed_stands_for_many);
    RUN(experts_that_cannot_be_told_apart_are_unknown);
    RUN(experts_that_are_at_work_together_are_unknown);
    RUN(kinds_that_cannot_be_told_apart_are_known_together);
    RUN(the_load_of_others_is_accounted_for_or_rejected);
    RUN(surges_that_nobody_explains_count_little);
    RUN(a_gpu_that_others_use_is_not_learned_from);
    RUN(an_integral_of_power_needs_no_steps_but_no_holes);
    RUN(windows_of_too_many_kinds_are_rejected);
    RUN(a_new_kind_of_calls_changes_nothing_for_the_others);
    RUN(gpus_are_found_by_their_address_on_the_bus);
    return tap_done();
}
