/* SPDX-License-Identifier: MIT */
/*
 * test_gpus.c - GPUs in the model: with transfers and without, by place, over
 * links, and asleep.
 */
#include <float.h>

#include "model/inside.h"
#include "model/simulate.h"

enum { ADD = 0, OTHER = 1, CPU = 0, TEAM = 1, GPU = 2 };

static const takt_work some = {1 << 24, 1 << 22};
static const takt_work small = {1 << 12, 1 << 10};

static const struct takt_rates core = {
    .threads = 1,
    .call_s = 0.1e-6,
    .s_per_flop = 20e-12,
    .s_per_byte = {20e-12, 40e-12, 80e-12},
    .l2_bytes = 1 << 20,
    .l3_bytes = 32 << 20,
};
static const struct takt_rates cores = {
    .threads = 4,
    .call_s = 0.1e-6,
    .s_per_flop = 5e-12,
    .s_per_byte = {5e-12, 10e-12, 40e-12},
    .l2_bytes = 4 << 20,
    .l3_bytes = 32 << 20,
    .awake_s = 0.6e-6,
    .asleep_s = 20e-6,
};
static const struct takt_rates gpu = {
    .threads = 1,
    .call_s = 12e-6,
    .s_per_flop = 0.1e-12,
    .s_per_byte = {2e-12, 2e-12, 2e-12},
    .link_s = 10e-6,
    .s_per_link_byte = 80e-12,
};

static struct sim machine_with(double exploration)
{
    struct sim sim = sim_create(7, exploration);
    const struct takt_arm arms[] = {
        {.name = "core", .kin = 0, .rates = core},
        {.name = "cores",
         .device = TAKT_DEVICE_CORES,
         .kin = 1,
         .rates = cores},
        {.name = "gpu", .device = TAKT_DEVICE_GPU, .kin = 2, .rates = gpu},
    };

    for (unsigned a = 0; a < 3; a++)
        sim_add(&sim, &arms[a], &arms[a].rates);
    return sim;
}

static struct sim machine(void)
{
    return machine_with(0.02);
}

static void tell_often(struct sim *sim, unsigned series, unsigned arm,
                       const takt_work *work, unsigned situation,
                       double seconds, unsigned times)
{
    for (unsigned i = 0; i < times; i++)
        sim_report(sim, series, arm, work, situation,
                   seconds * exp(sim_noise(sim)), 0);
}

static double seconds_of(struct sim *sim, unsigned series, unsigned arm,
                         const takt_work *work, unsigned situation)
{
    return exp(sim_estimate(sim, series, arm, work, situation).log_mean);
}

static bool judge(struct sim *sim, const takt_work *work, unsigned situation,
                  struct takt_verdict *out)
{
    sim_series_at(sim, ADD);
    sim->posterior = takt__model_posterior(sim->model, ADD, situation);
    return takt__posterior_judge(sim->posterior, takt__bucket_of(work->bytes),
                                 sim->now_ns, false, out);
}

static bool place_of(struct sim *sim, unsigned series, const takt_work *work,
                     struct takt_verdict *out)
{
    sim->posterior = takt__model_posterior(sim->model, series, TAKT_RESIDENT);
    return takt__posterior_judge_gpu(
        sim->posterior, GPU, takt__bucket_of(work->bytes), sim->now_ns, out);
}

/* ---- situations ------------------------------------------------------------
 */

static void with_and_without_transfers_are_learned_apart(void)
{
    struct sim sim = machine();

    tell_often(&sim, ADD, GPU, &some, TAKT_REPEAT, 3e-3, 8);
    tell_often(&sim, ADD, GPU, &some, TAKT_RESIDENT | TAKT_ASLEEP, 90e-6, 8);
    tell_often(&sim, ADD, CPU, &some, TAKT_RESIDENT, 2e-3, 8);
    for (unsigned s = 0; s < TAKT_SITUATIONS; s++) {
        const double taken_s = (s & TAKT_RESIDENT) != 0 ? 90e-6 : 3e-3;
        EXPECT_NEAR(seconds_of(&sim, ADD, GPU, &some, s) / taken_s, 1, 0.03);
    }
    /* To the processor it is all one. */
    EXPECT_NEAR(seconds_of(&sim, ADD, CPU, &some, 0) / 2e-3, 1, 0.03);
    for (unsigned s = 0; s < TAKT_RESIDENT; s++)
        for (unsigned arm = CPU; arm <= TEAM; arm++)
            EXPECT_NEAR(seconds_of(&sim, ADD, arm, &some, s),
                        seconds_of(&sim, ADD, arm, &some, s | TAKT_RESIDENT),
                        0);
    sim_destroy(&sim);
}

/* Where the link is the longest part, a slow kernel is no news; where
 * arithmetic is, it is. */
static void transfers_and_computing_are_told_apart(void)
{
    const takt_work product = {1 << 24, 1e12};
    struct sim sim = machine();
    const double moving = seconds_of(&sim, ADD, GPU, &some, 0);
    const double computing = seconds_of(&sim, OTHER, GPU, &product, 0);

    tell_often(&sim, ADD, GPU, &some, TAKT_RESIDENT, 200e-6, 8);
    EXPECT_NEAR(seconds_of(&sim, ADD, GPU, &some, 0) / moving, 1, 0.05);
    tell_often(&sim, OTHER, GPU, &product, TAKT_RESIDENT, 0.3, 8);
    EXPECT_NEAR(seconds_of(&sim, OTHER, GPU, &product, 0) / computing, 3, 0.5);
    sim_destroy(&sim);
}

/* The rate of a link is the same for all ops. */
static void a_slow_link_is_slow_for_every_op(void)
{
    struct sim sim = machine();
    const double before_s = seconds_of(&sim, OTHER, GPU, &some, 0);
    const double resident_s =
        seconds_of(&sim, OTHER, GPU, &some, TAKT_RESIDENT);

    for (unsigned series = 2; series < 6; series++)
        tell_often(&sim, series, GPU, &some, 0, 3 * before_s, 8);
    EXPECT(seconds_of(&sim, OTHER, GPU, &some, 0) > 2.2 * before_s);
    EXPECT_NEAR(seconds_of(&sim, OTHER, GPU, &some, TAKT_RESIDENT) / resident_s,
                1, 0.01);
    sim_destroy(&sim);
}

static void where_operands_may_be_anywhere_the_processor_is_judged(void)
{
    struct sim sim = machine();
    struct takt_verdict verdict;

    for (unsigned s = 0; s < TAKT_SITUATIONS; s++)
        for (unsigned arm = CPU; arm <= GPU; arm++)
            tell_often(&sim, ADD, arm, &some, s, arm == GPU ? 1e-4 : 1e-2, 6);
    for (unsigned s = 0; s < TAKT_SITUATIONS; s++) {
        EXPECT(judge(&sim, &some, s, &verdict));
        if ((s & TAKT_RESIDENT) == 0) {
            EXPECT_INT(verdict.best, GPU);
            continue;
        }
        EXPECT(verdict.best != GPU && verdict.runner_up != GPU);
        EXPECT(verdict.explore != GPU);
        EXPECT_NEAR(verdict.seconds / 1e-2, 1, 0.1);
    }
    sim_destroy(&sim);
}

/* The processor is explored there as anywhere else, from calls made there. */
static void the_processor_is_explored_there_too(void)
{
    struct sim sim = machine();
    struct takt_verdict verdict;

    EXPECT(judge(&sim, &some, TAKT_RESIDENT, &verdict));
    EXPECT_INT(verdict.best, TEAM);
    EXPECT_INT(verdict.explore, -1);
    tell_often(&sim, ADD, TEAM, &some, TAKT_RESIDENT, 2e-3, 3);
    EXPECT(judge(&sim, &some, TAKT_RESIDENT, &verdict));
    EXPECT_INT(verdict.explore, CPU);
    EXPECT(!verdict.is_offered);
    EXPECT(judge(&sim, &some, 0, &verdict)); /* no call there */
    EXPECT_INT(verdict.explore, -1);
    EXPECT_NEAR(
        takt__model_account(sim.model, ADD, 0, takt__bucket_of(some.bytes))
            .calls,
        0, 0);
    sim_destroy(&sim);
}

/* What changed since the last time, all series together. */
static unsigned situations_changed(struct sim *sim)
{
    struct takt_change change;
    unsigned all = 0;

    while (takt__model_next_change(sim->model, &change))
        all |= change.situations;
    return all;
}

static void without_a_gpu_awake_nothing_more_is_judged(void)
{
    struct sim sim = machine();

    takt__model_set_closed(sim.model, GPU, true);
    tell_often(&sim, ADD, CPU, &some, 0, 1e-3, 4);
    tell_often(&sim, ADD, CPU, &some, TAKT_RESIDENT, 1e-3, 4);
    EXPECT_INT(situations_changed(&sim), 0x0f);
    EXPECT_NEAR(
        takt__model_account(sim.model, ADD, 0, takt__bucket_of(some.bytes))
            .calls,
        8, 0);
    takt__model_set_closed(sim.model, GPU, false);
    EXPECT_INT(situations_changed(&sim), 0xff);
    takt__model_set_closed(sim.model, GPU, true); /* taken back, once */
    EXPECT_INT(situations_changed(&sim), 0xff);
    tell_often(&sim, ADD, CPU, &some, 0, 2e-3, 40);
    EXPECT_INT(situations_changed(&sim) & 0xf0, 0);
    sim_destroy(&sim);
}

/* ---- places ----------------------------------------------------------------
 */

static void a_place_says_what_its_gpu_takes(void)
{
    struct sim sim = machine();
    struct takt_verdict verdict;

    sim_series_at(&sim, ADD);
    EXPECT(place_of(&sim, ADD, &some, &verdict));
    EXPECT_INT(verdict.best, GPU);
    EXPECT_INT(verdict.runner_up, GPU);
    EXPECT_INT(verdict.explore, -1); /* no call yet */
    EXPECT(!verdict.is_measured);
    EXPECT(verdict.confidence > 0.2 && verdict.confidence < 0.3);
    tell_often(&sim, ADD, GPU, &some, TAKT_RESIDENT, 70e-6, 20);
    EXPECT(place_of(&sim, ADD, &some, &verdict));
    EXPECT(verdict.is_measured);
    EXPECT_NEAR(verdict.seconds / 70e-6, 1, 0.03);
    EXPECT_NEAR(verdict.samples, 19, 1.1);
    EXPECT(verdict.confidence > 0.9 && verdict.confidence < 1);
    sim_destroy(&sim);
}

/* Calls go to the processor; the GPU is run when it is offered a try. */
static unsigned call_resident(struct sim *sim, unsigned calls, double cpu_s,
                              double gpu_s, double *most_beyond)
{
    struct takt_verdict verdict;
    double spent = 0, total = 0;
    unsigned tries = 0;

    *most_beyond = 0;
    sim_series_at(sim, ADD);
    for (unsigned i = 0; i < calls; i++) {
        EXPECT(place_of(sim, ADD, &some, &verdict));
        const bool is_try = verdict.explore >= 0 && !verdict.is_offered;
        const double taken_s = is_try ? gpu_s : cpu_s;
        if (is_try) {
            EXPECT_INT(verdict.explore, GPU);
            const double beyond = spent - 0.02 * total;
            *most_beyond = fmax(*most_beyond, beyond / cpu_s);
        }
        tries += is_try;
        sim_report(sim, ADD, is_try ? GPU : TEAM, &some,
                   TAKT_RESIDENT | (i % 2 ? TAKT_REPEAT : 0), taken_s,
                   is_try ? TAKT_SAMPLE_EXPLORED : 0);
        total += taken_s;
        spent += fmax(0, taken_s - cpu_s);
    }
    return tries;
}

static void a_gpu_is_tried_until_it_is_settled(void)
{
    struct sim sim = machine();
    struct takt_verdict verdict;
    double beyond;

    const unsigned tries = call_resident(&sim, 100, 1e-3, 1e-4, &beyond);
    EXPECT(tries >= 5 && tries <= 6);
    EXPECT(place_of(&sim, ADD, &some, &verdict));
    EXPECT_NEAR(verdict.seconds / 1e-4, 1, 0.05);
    EXPECT_INT(takt__model_counters(sim.model).explored, tries);
    sim_destroy(&sim);
}

static void tries_of_a_gpu_have_a_budget(void)
{
    struct sim sim = machine();
    double beyond;

    const unsigned tries = call_resident(&sim, 2000, 1e-3, 4e-3, &beyond);
    printf("# a GPU that is slower: %u tries in 2,000 calls, %.1f calls of the "
           "best beyond 2%% before one\n",
           tries, beyond);
    EXPECT(tries >= 1 && tries < 12);
    EXPECT(beyond < 5);
    sim_destroy(&sim);
}

static void an_offer_stands_until_it_is_taken_or_forgotten(void)
{
    struct sim sim = machine();
    struct takt_verdict verdict;

    tell_often(&sim, ADD, TEAM, &some, TAKT_RESIDENT, 1e-3, 3);
    EXPECT(place_of(&sim, ADD, &some, &verdict));
    EXPECT_INT(verdict.explore, GPU);
    EXPECT(!verdict.is_offered);
    for (int i = 0; i < 5; i++) {
        EXPECT(place_of(&sim, ADD, &some, &verdict));
        EXPECT_INT(verdict.explore, GPU);
        EXPECT(verdict.is_offered);
    }
    sim.now_ns += 10000000000;
    EXPECT(place_of(&sim, ADD, &some, &verdict));
    EXPECT_INT(verdict.explore, GPU);
    EXPECT(!verdict.is_offered);
    sim_destroy(&sim);
}

static void without_a_budget_no_gpu_is_tried(void)
{
    struct sim sim = machine_with(0);
    double beyond;

    EXPECT_INT(call_resident(&sim, 100, 1e-3, 1e-4, &beyond), 0);
    sim_destroy(&sim);
}

static void tiny_calls_are_not_tried_on_a_gpu(void)
{
    struct sim sim = machine();
    struct takt_verdict verdict;

    tell_often(&sim, ADD, CPU, &some, TAKT_RESIDENT, 1e-3, 2);
    tell_often(&sim, ADD, CPU, &small, TAKT_RESIDENT, 0.3e-6, 200);
    EXPECT(place_of(&sim, ADD, &small, &verdict));
    EXPECT_INT(verdict.explore, -1);
    sim_destroy(&sim);
}

static void a_gpu_that_refuses_is_left_alone_and_comes_back(void)
{
    struct sim sim = machine();
    struct takt_verdict verdict;

    tell_often(&sim, ADD, TEAM, &some, TAKT_RESIDENT, 1e-3, 3);
    EXPECT(place_of(&sim, ADD, &some, &verdict));
    EXPECT_INT(verdict.explore, GPU);
    sim_report(&sim, ADD, GPU, &some, TAKT_RESIDENT, 0,
               TAKT_SAMPLE_REFUSED | TAKT_SAMPLE_EXPLORED);
    EXPECT((situations_changed(&sim) >> TAKT_RESIDENT & 1) != 0);
    EXPECT(place_of(&sim, ADD, &some, &verdict));
    EXPECT(verdict.seconds >= (double)FLT_MAX);
    EXPECT_INT(verdict.explore, -1);
    sim.now_ns += 110000000;
    tell_often(&sim, ADD, TEAM, &some, TAKT_RESIDENT, 1e-3, 1);
    EXPECT((situations_changed(&sim) >> TAKT_RESIDENT & 1) != 0);
    EXPECT(place_of(&sim, ADD, &some, &verdict));
    EXPECT(verdict.seconds < 1e-3);
    EXPECT_INT(verdict.explore, GPU);
    sim_destroy(&sim);
}

static void a_ninth_gpu_finds_no_place(void)
{
    struct sim sim = sim_create(1, 0.02);
    struct takt_arm arm = {.rates = gpu};

    for (unsigned i = 0; i < 8; i++) {
        arm.device = TAKT_DEVICE_GPU + i;
        EXPECT_INT(takt__model_add_arm(sim.model, &arm), i);
        EXPECT_INT(takt__arm_column(&arm), TAKT_COLUMN_GPU + i);
    }
    arm.device++;
    EXPECT_INT(takt__model_add_arm(sim.model, &arm), -1);
    sim_destroy(&sim);
}

/* ---- links -----------------------------------------------------------------
 */

static void tell_link(struct sim *sim, unsigned link, double bytes,
                      double seconds)
{
    const takt_work work = {bytes, 0};
    struct takt_sample sample =
        sim_sample(TAKT_SERIES_LINKS + link, GPU, &work, 0, seconds);

    takt__model_allow(sim->model, TAKT_SERIES_LINKS + link, GPU);
    sample.start_ns = sim->now_ns += 1000;
    takt__model_learn(sim->model, &sample);
}

static double link_seconds(struct sim *sim, unsigned link, double bytes)
{
    const takt_work work = {bytes, 0};
    struct takt_verdict verdict;

    takt__model_allow(sim->model, TAKT_SERIES_LINKS + link, GPU);
    EXPECT(place_of(sim, TAKT_SERIES_LINKS + link, &work, &verdict));
    EXPECT_INT(verdict.best, GPU);
    EXPECT_INT(verdict.explore, -1);
    return takt__posterior_estimate(sim->posterior, GPU, takt__bucket_of(bytes),
                                    &work)
        .seconds;
}

static void links_are_learned_by_their_bytes(void)
{
    static const double true_rate = 25e9, true_start = 4e-6;
    struct sim sim = machine();
    const double first_s = link_seconds(&sim, TAKT_LINK_IN_PINNED, 1e7);

    EXPECT(first_s > 0.5 * (10e-6 + 1e7 * 80e-12) &&
           first_s < 2 * (10e-6 + 1e7 * 80e-12));
    for (double bytes = 1e3; bytes < 1e9; bytes *= 5)
        for (int i = 0; i < 4; i++)
            tell_link(&sim, TAKT_LINK_IN_PINNED, bytes,
                      true_start + bytes / true_rate);
    for (double bytes = 2e3; bytes < 5e8; bytes *= 3)
        EXPECT_NEAR(link_seconds(&sim, TAKT_LINK_IN_PINNED, bytes) /
                        (true_start + bytes / true_rate),
                    1, 0.25);
    /* Nothing else is judged of a link. */
    EXPECT_INT(situations_changed(&sim), 1 << TAKT_RESIDENT);
    sim.posterior = takt__model_posterior(
        sim.model, TAKT_SERIES_LINKS + TAKT_LINK_IN_PINNED, TAKT_RESIDENT);
    struct takt_verdict verdict;
    EXPECT(!takt__posterior_judge(sim.posterior, 20, 1, false, &verdict));
    sim_destroy(&sim);
}

static void a_link_that_became_slower_is_noticed(void)
{
    struct sim sim = machine();

    for (int i = 0; i < 200; i++)
        tell_link(&sim, TAKT_LINK_OUT, 1e6, 1e-4 * exp(sim_noise(&sim)));
    EXPECT_NEAR(link_seconds(&sim, TAKT_LINK_OUT, 1e6) / 1e-4, 1, 0.03);
    for (int i = 0; i < 10; i++)
        tell_link(&sim, TAKT_LINK_OUT, 1e6, 3e-4 * exp(sim_noise(&sim)));
    EXPECT_NEAR(link_seconds(&sim, TAKT_LINK_OUT, 1e6) / 3e-4, 1, 0.1);
    EXPECT_INT(takt__model_counters(sim.model).alarms, 1);
    sim_destroy(&sim);
}

/* It happens once in a process, so the first time counts; and it says nothing
 * of how long copies take. */
static void opening_is_learned_from_one_sample(void)
{
    struct sim sim = machine();
    const double copy_s = link_seconds(&sim, TAKT_LINK_IN, 1e6);

    EXPECT_NEAR(link_seconds(&sim, TAKT_LINK_OPEN, 0), 0.4, 0.15);
    tell_link(&sim, TAKT_LINK_OPEN, 0, 1.5);
    EXPECT_NEAR(link_seconds(&sim, TAKT_LINK_OPEN, 0), 1.5, 0.2);
    EXPECT_NEAR(link_seconds(&sim, TAKT_LINK_IN, 1e6) / copy_s, 1, 0.01);
    sim_destroy(&sim);
}

/* ---- asleep ----------------------------------------------------------------
 */

/* Half a millisecond slower than the GPU would be. */
static void call_the_processor(struct sim *sim, unsigned calls)
{
    const double gpu_s = takt__rates_seconds(&gpu, some.bytes, some.flops, 0);

    tell_often(sim, ADD, TEAM, &some, TAKT_REPEAT, 2 * gpu_s, calls);
}

static void a_closed_gpu_is_no_candidate_and_adds_up_time(void)
{
    struct sim sim = machine();
    struct takt_verdict verdict;
    unsigned arm;

    takt__model_set_closed(sim.model, GPU, true);
    EXPECT(takt__model_is_closed(sim.model, GPU));
    EXPECT_NEAR(sim.model->regret_s[GPU], 0, 0);
    call_the_processor(&sim, 100);
    for (unsigned s = 0; s < TAKT_RESIDENT; s++) {
        EXPECT(judge(&sim, &some, s, &verdict));
        EXPECT(verdict.best != GPU && verdict.runner_up != GPU);
        EXPECT(verdict.explore != GPU);
    }
    EXPECT(!place_of(&sim, ADD, &some, &verdict));
    /* It may be asked about all the same. */
    EXPECT(seconds_of(&sim, ADD, GPU, &some, 0) > 0);

    const double each = takt__rates_seconds(&gpu, some.bytes, some.flops, 0);
    const double regret = sim.model->regret_s[GPU];
    printf("# regret %.3f s, in truth %.3f s\n", regret, 100 * each);
    EXPECT(regret > 40 * each && regret < 110 * each);
    EXPECT(
        !takt__model_next_to_open(sim.model, &arm)); /* opening takes 0.4 s */
    sim_destroy(&sim);
}

static unsigned wakes_after(struct sim *sim, unsigned calls, double *first_s)
{
    unsigned wakes = 0, arm = CPU;

    for (unsigned i = 0; i < calls; i++) {
        call_the_processor(sim, 1);
        while (takt__model_next_to_open(sim->model, &arm)) {
            EXPECT_INT(arm, GPU);
            if (wakes++ == 0)
                *first_s = sim->model->regret_s[GPU];
        }
    }
    return wakes;
}

static void it_is_time_to_wake_when_opening_would_have_paid(void)
{
    struct sim sim = machine();
    struct takt_verdict verdict;
    double first_s = 0;

    takt__model_set_closed(sim.model, GPU, true);
    /* About 5 s in all: at 0.4, 0.8, 1.6 and 3.2. */
    const unsigned wakes = wakes_after(&sim, 4000, &first_s);
    EXPECT_NEAR(first_s, 0.4, 0.01);
    EXPECT(wakes >= 3 && wakes <= 5);
    situations_changed(&sim);
    takt__model_set_closed(sim.model, GPU, false);
    EXPECT_INT(situations_changed(&sim), 0xff);
    EXPECT(place_of(&sim, ADD, &some, &verdict));
    EXPECT_INT(wakes_after(&sim, 100, &first_s), 0);
    EXPECT_NEAR(sim.model->regret_s[GPU], 0, 0);
    sim_destroy(&sim);
}

static void what_opening_took_before_counts(void)
{
    struct sim sim = machine();
    double first_s = 0;

    tell_link(&sim, TAKT_LINK_OPEN, 0, 0.1);
    takt__model_set_closed(sim.model, GPU, true);
    EXPECT(wakes_after(&sim, 400, &first_s) > 0);
    EXPECT_NEAR(first_s, 0.1, 0.01);
    sim_destroy(&sim);
}

/* A driver that had to compile took long, once. */
static void a_long_opening_is_not_waited_for_again(void)
{
    struct sim sim = machine();
    double first_s = 0;

    tell_link(&sim, TAKT_LINK_OPEN, 0, 6);
    takt__model_set_closed(sim.model, GPU, true);
    EXPECT(wakes_after(&sim, 4000, &first_s) > 0);
    EXPECT_NEAR(first_s, 0.4, 0.02);
    sim_destroy(&sim);
}

static void small_calls_miss_nothing(void)
{
    struct sim sim = machine();

    takt__model_set_closed(sim.model, GPU, true);
    tell_often(&sim, ADD, CPU, &small, 0, 0.3e-6, 1000);
    EXPECT_NEAR(sim.model->regret_s[GPU], 0, 0);
    sim_destroy(&sim);
}

/* A debugger, a suspended machine: not what a GPU would have saved. */
static void a_spike_is_not_missed_time(void)
{
    struct sim sim = machine();

    takt__model_set_closed(sim.model, GPU, true);
    tell_often(&sim, ADD, CPU, &small, 0, 0.3e-6, 10);
    tell_often(&sim, ADD, CPU, &small, 0, 100, 1);
    EXPECT_NEAR(sim.model->regret_s[GPU], 0, 1e-3);
    sim_destroy(&sim);
}

/* What it showed in an earlier process shows that it is not worth it. */
static void a_slow_one_is_let_sleep(void)
{
    struct sim sim = machine();
    const struct takt_summary memory = {.series = ADD,
                                        .arm = GPU,
                                        .bucket = takt__bucket_of(some.bytes),
                                        .n = 20,
                                        .mean = log(1e9),
                                        .m2 = 0.01,
                                        .bytes = some.bytes,
                                        .flops = some.flops};
    double first_s;

    sim_series_at(&sim, ADD);
    takt__model_set_closed(sim.model, GPU, true);
    takt__model_restore(sim.model, &memory, true);
    EXPECT_INT(wakes_after(&sim, 1000, &first_s), 0);
    sim_destroy(&sim);
}

/* ---- rates -----------------------------------------------------------------
 */

static void other_rates_leave_what_was_measured(void)
{
    struct sim sim = machine();
    struct takt_rates better = gpu;
    double before[2][8];

    for (unsigned i = 0; i < 8; i++) {
        const takt_work work = {ldexp(1, 14 + 2 * (int)i),
                                ldexp(1, 12 + 2 * (int)i)};
        for (unsigned s = 0; s <= TAKT_RESIDENT; s += TAKT_RESIDENT)
            tell_often(&sim, ADD, GPU, &work, s,
                       (s != 0 ? 20e-6 : 40e-6) + work.bytes * 50e-12, 12);
    }
    for (unsigned i = 0; i < 8; i++)
        for (unsigned r = 0; r < 2; r++) {
            const takt_work work = {ldexp(1, 14 + 2 * (int)i),
                                    ldexp(1, 12 + 2 * (int)i)};
            before[r][i] = seconds_of(&sim, ADD, GPU, &work, r * TAKT_RESIDENT);
        }
    better.call_s = 3e-6;
    better.s_per_byte[0] = better.s_per_byte[1] = better.s_per_byte[2] =
        0.3e-12;
    better.s_per_link_byte = 20e-12;
    situations_changed(&sim);
    takt__model_set_rates(sim.model, GPU, &better);
    EXPECT_INT(situations_changed(&sim), 0xff);
    for (unsigned i = 0; i < 8; i++)
        for (unsigned r = 0; r < 2; r++) {
            const takt_work work = {ldexp(1, 14 + 2 * (int)i),
                                    ldexp(1, 12 + 2 * (int)i)};
            EXPECT_NEAR(seconds_of(&sim, ADD, GPU, &work, r * TAKT_RESIDENT) /
                            before[r][i],
                        1, 0.02);
        }
    /* What was never measured follows them. */
    EXPECT_NEAR(takt__model_arm(sim.model, GPU)->rates.call_s, 3e-6, 0);
    sim_destroy(&sim);
}

static void samples_go_on_where_they_were(void)
{
    struct sim sim = machine();
    struct takt_rates better = gpu;

    tell_often(&sim, ADD, GPU, &some, TAKT_RESIDENT, 1e-4, 50);
    better.s_per_byte[2] /= 5;
    takt__model_set_rates(sim.model, GPU, &better);
    tell_often(&sim, ADD, GPU, &some, TAKT_RESIDENT, 1e-4, 50);
    EXPECT_INT(takt__model_counters(sim.model).alarms, 0);
    EXPECT_NEAR(seconds_of(&sim, ADD, GPU, &some, TAKT_RESIDENT) / 1e-4, 1,
                0.02);
    sim_destroy(&sim);
}

/* ---- memory ----------------------------------------------------------------
 */

static void recall_it(void *self, const struct takt_summary *memory)
{
    takt__model_restore(self, memory, true);
}

static void links_and_residents_are_remembered(void)
{
    struct sim sim = machine(), later = machine();

    tell_often(&sim, ADD, GPU, &some, 0, 3e-3, 8);
    tell_often(&sim, ADD, GPU, &some, TAKT_RESIDENT, 90e-6, 8);
    for (int i = 0; i < 4; i++)
        tell_link(&sim, TAKT_LINK_OUT_PINNED, 1e6, 77e-6);
    tell_link(&sim, TAKT_LINK_OPEN, 0, 0.2);
    sim_series_at(&later, ADD);
    takt__model_visit(sim.model, false, recall_it, later.model);
    EXPECT_NEAR(seconds_of(&later, ADD, GPU, &some, 0) / 3e-3, 1, 0.03);
    EXPECT_NEAR(seconds_of(&later, ADD, GPU, &some, TAKT_RESIDENT) / 90e-6, 1,
                0.03);
    EXPECT_NEAR(link_seconds(&later, TAKT_LINK_OUT_PINNED, 1e6) / 77e-6, 1,
                0.05);
    EXPECT_NEAR(link_seconds(&later, TAKT_LINK_OPEN, 0), 0.2, 0.02);
    sim_destroy(&sim);
    sim_destroy(&later);
}

int main(void)
{
    RUN(with_and_without_transfers_are_learned_apart);
    RUN(transfers_and_computing_are_told_apart);
    RUN(a_slow_link_is_slow_for_every_op);
    RUN(where_operands_may_be_anywhere_the_processor_is_judged);
    RUN(the_processor_is_explored_there_too);
    RUN(without_a_gpu_awake_nothing_more_is_judged);
    RUN(a_place_says_what_its_gpu_takes);
    RUN(a_gpu_is_tried_until_it_is_settled);
    RUN(tries_of_a_gpu_have_a_budget);
    RUN(an_offer_stands_until_it_is_taken_or_forgotten);
    RUN(without_a_budget_no_gpu_is_tried);
    RUN(tiny_calls_are_not_tried_on_a_gpu);
    RUN(a_gpu_that_refuses_is_left_alone_and_comes_back);
    RUN(a_ninth_gpu_finds_no_place);
    RUN(links_are_learned_by_their_bytes);
    RUN(a_link_that_became_slower_is_noticed);
    RUN(opening_is_learned_from_one_sample);
    RUN(a_closed_gpu_is_no_candidate_and_adds_up_time);
    RUN(it_is_time_to_wake_when_opening_would_have_paid);
    RUN(what_opening_took_before_counts);
    RUN(a_long_opening_is_not_waited_for_again);
    RUN(small_calls_miss_nothing);
    RUN(a_spike_is_not_missed_time);
    RUN(a_slow_one_is_let_sleep);
    RUN(other_rates_leave_what_was_measured);
    RUN(samples_go_on_where_they_were);
    RUN(links_and_residents_are_remembered);
    return tap_done();
}
