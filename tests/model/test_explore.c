/* SPDX-License-Identifier: MIT */
/* test_explore.c - what trials take in all, when they are made, and when an arm
 * that became slower is used again. */
#include "model/simulate.h"

static const takt_work some = {1 << 20, 1 << 18};

/* ---- the budget of an op --------------------------------------------------
 */

enum { most_sizes = 3 };

/* An op at a few sizes, with experts of which nothing is known before. */
struct setting {
    struct sim sim;
    unsigned sizes;
    takt_work work[most_sizes];
};

static struct setting draw(uint64_t seed)
{
    struct setting out = {.sim = sim_create(seed, 0.02)};
    uint64_t *random = &out.sim.random;
    const double base_s = random_real(random, -5.3, -3.3);
    const unsigned arms = 2 + (unsigned)(random_next(random) % 5);

    out.sim.sigma = 0.1 * random_unit(random);
    out.sim.spike_rate = 0.03 * random_unit(random);
    out.sizes = 1 + (unsigned)(random_next(random) % most_sizes);
    for (unsigned i = 0; i < out.sizes; i++)
        out.work[i] = (takt_work){(1 << 18) << (2 * i), (1 << 16) << (2 * i)};
    for (unsigned a = 0; a < arms; a++) {
        struct takt_rates truth =
            sim_flat(base_s * random_real(random, 0, 0.6));
        struct takt_arm arm = {.rates = sim_flat(base_s / 3)};
        truth.s_per_flop = truth.call_s / out.work[0].flops;
        arm.rates.s_per_flop = arm.rates.call_s / out.work[0].flops;
        sim_add(&out.sim, &arm, &truth);
        if (random_next(random) % 4 == 0)
            out.sim.first_factor[a] = random_real(random, 0, 0.5);
    }
    return out;
}

/* How far trials went beyond the budget, in calls of the best; by what they
 * took, or without the noise and the spikes that any call may have. */
static double overdraw(struct setting *setting, bool has_spikes)
{
    double total_s = 0, ideal_s = 0, explored_s = 0, most = -INFINITY;

    for (unsigned i = 1; i <= 1000; i++) {
        const takt_work *work =
            &setting->work[random_next(&setting->sim.random) % setting->sizes];
        const struct sim_run run = sim_call(&setting->sim, 0, work, 0);
        total_s += run.seconds;
        ideal_s += run.oracle_s;
        if (run.is_explored)
            explored_s += fmax(0, (has_spikes ? run.seconds : run.plain_s) -
                                      run.oracle_s);
        most = fmax(most, (explored_s - 0.02 * total_s) / (ideal_s / i) - 4);
    }
    return most;
}

static unsigned count_overdrawn(unsigned settings, bool has_spikes)
{
    unsigned exceeded = 0;
    double worst = -INFINITY;

    for (uint64_t seed = 0; seed < settings; seed++) {
        struct setting setting = draw(seed);
        const double over = overdraw(&setting, has_spikes);
        exceeded += over > 0;
        worst = fmax(worst, over);
        sim_destroy(&setting.sim);
    }
    printf("# %s: the budget was exceeded in %u of %u settings, by %.1f calls "
           "of the best at the worst\n",
           has_spikes ? "spikes included" : "without spikes", exceeded,
           settings, worst);
    return exceeded;
}

/* Of an expert of which nothing is known the first trial may take any time. */
static void trials_of_an_op_stay_within_its_budget(void)
{
    EXPECT(count_overdrawn(300, false) <= 36);
    EXPECT(count_overdrawn(300, true) <= 100);
}

static unsigned offers_of(const struct sim *sim, const unsigned bucket[],
                          unsigned count)
{
    unsigned offers = 0;

    for (unsigned i = 0; i < count; i++)
        offers += sim->series[0]->cell[0][bucket[i]].verdict.explore >= 0;
    return offers;
}

/* Calls of eight sizes; nobody takes the trials that are offered. */
static void trials_without_a_result_count_as_spent(void)
{
    struct sim sim = sim_create(1, 0.02);
    unsigned bucket[8];

    sim_add_flat(&sim, 0, 1e-3, 1e-3);
    sim_add_flat(&sim, 1, 2e-3, 2e-3);
    for (unsigned i = 0; i < 8; i++) {
        const takt_work work = {(1 << 12) << (2 * i), (1 << 10) << (2 * i)};
        bucket[i] = takt__bucket_of(work.bytes);
        sim_call(&sim, 0, &work, 0);
        sim_cell_at(&sim, 0, bucket[i], 0)->explore = -1;
    }
    EXPECT_INT(takt__model_counters(sim.model).explored, 0);
    EXPECT_INT(offers_of(&sim, bucket, 8), 1);

    /* After a while they are given back, and another one gets them. */
    const unsigned first =
        sim_cell_at(&sim, 0, bucket[0], 0)->verdict.is_offered ? bucket[0]
                                                               : bucket[7];
    sim.now_ns += 5000000000;
    const takt_work last = {(1 << 12) << 14, (1 << 10) << 14};
    sim_report(&sim, 0, 0, &last, 0, 1e-3, 0);
    sim_report(&sim, 0, 0, &last, 0, 1e-3, 0);
    sim_publish(&sim);
    EXPECT_INT(offers_of(&sim, bucket, 8), 1);
    EXPECT(!sim_cell_at(&sim, 0, first, 0)->verdict.is_offered);
    sim_destroy(&sim);
}

/* Threads that were taken to be awake slept, or the other way round. */
static void a_trial_is_charged_where_it_was_decided(void)
{
    struct sim sim = sim_create(2, 0.02);
    const unsigned bucket = takt__bucket_of(some.bytes);

    sim_add_flat(&sim, 0, 1e-3, 1e-3);
    sim_add_flat(&sim, 1, 2e-3, 1e-3);
    sim_call(&sim, 0, &some, 0);
    sim_report(&sim, 0, 1, &some, TAKT_ASLEEP, 2e-3,
               TAKT_SAMPLE_EXPLORED | TAKT_SAMPLE_MISJUDGED);
    EXPECT(takt__model_account(sim.model, 0, 0, bucket).explored_s > 0);
    EXPECT(!(takt__model_account(sim.model, 0, TAKT_ASLEEP, bucket).explored_s >
             0));
    sim_report(&sim, 0, 1, &some, TAKT_ASLEEP, 2e-3, TAKT_SAMPLE_EXPLORED);
    EXPECT(takt__model_account(sim.model, 0, TAKT_ASLEEP, bucket).explored_s >
           0);
    sim_destroy(&sim);
}

/* ---- trials in a row ------------------------------------------------------
 */

/* The trials that are offered of the second arm after the first was run. */
static unsigned tries_of(const struct takt_arm *best,
                         const struct takt_arm *other, unsigned situation)
{
    struct sim sim = sim_create(3, 0.02);
    const unsigned bucket = takt__bucket_of(some.bytes);

    sim_add(&sim, best, &best->rates);
    sim_add(&sim, other, &other->rates);
    for (int i = 0; i < 50; i++) {
        sim_call(&sim, 0, &some, situation);
        const struct takt_verdict *verdict =
            &sim_cell_at(&sim, 0, bucket, situation)->verdict;
        if (verdict->explore >= 0) {
            const unsigned tries = verdict->tries;
            EXPECT_INT(verdict->explore, 1);
            sim_destroy(&sim);
            return tries;
        }
    }
    sim_destroy(&sim);
    return 0;
}

static void the_first_trial_in_a_row_wakes_the_threads(void)
{
    const struct takt_arm one = {.rates = sim_flat(1e-3)};
    struct takt_arm library = {.kin = 1, .rates = sim_flat(1e-3)};
    struct takt_arm team = {
        .kin = 2, .uses_pool = true, .rates = sim_flat(1.1e-3)};

    library.rates.threads = 2;
    team.rates.threads = 2;
    EXPECT_INT(tries_of(&one, &team, 0), 3);
    EXPECT_INT(tries_of(&library, &team, 0), 3);
    EXPECT_INT(tries_of(&library, &team, TAKT_REPEAT), 3);
    EXPECT_INT(tries_of(&one, &library, 0), 1);
    EXPECT_INT(tries_of(&one, &library, TAKT_REPEAT), 2);
    EXPECT_INT(tries_of(&one, &one, TAKT_REPEAT), 1);
}

/* ---- who is found ----------------------------------------------------------
 */

static unsigned calls_until(struct sim *sim, unsigned arm, unsigned most)
{
    const unsigned bucket = takt__bucket_of(some.bytes);
    unsigned calls = 0;

    while (calls < most &&
           sim_cell_at(sim, 0, bucket, 0)->verdict.best != arm) {
        sim_call(sim, 0, &some, 0);
        calls++;
    }
    return calls;
}

static void call_often(struct sim *sim, unsigned calls)
{
    for (unsigned i = 0; i < calls; i++)
        sim_call(sim, 0, &some, 0);
}

/* It is 20% faster, and its first runs took 1.7 times as long as the other. */
static void bad_luck_is_not_the_end_of_an_arm(void)
{
    unsigned longest = 0;

    for (uint64_t seed = 0; seed < 50; seed++) {
        struct sim sim = sim_create(seed, 0.02);
        sim_add_flat(&sim, 0, 1e-4, 1e-5);
        sim_add_flat(&sim, 1, 0.8e-4, 1.1e-5);
        sim.spike_rate = 0.02;
        sim.sigma = 0.05;
        sim.slowness[1] = 1.7 / 0.8;
        while (sim.runs[1] < 3)
            sim_call(&sim, 0, &some, 0);
        sim.slowness[1] = 1;
        const unsigned calls = calls_until(&sim, 1, 5000);
        longest = calls > longest ? calls : longest;
        call_often(&sim, 1000);
        EXPECT_INT(calls_until(&sim, 1, 1), 0);
        sim_destroy(&sim);
    }
    printf("# after three bad runs found after %u calls at most\n", longest);
    EXPECT(longest <= 2000);
}

/* The best arm is slower for some calls. */
struct lapse {
    double best_s, slowness;
    unsigned calls;
};

static void recover(const struct lapse *lapse)
{
    unsigned most_calls = 0;
    double most_s = 0;

    for (uint64_t seed = 0; seed < 20; seed++) {
        struct sim sim = sim_create(seed, 0.02);
        sim_add_flat(&sim, 0, lapse->best_s, lapse->best_s);
        sim_add_flat(&sim, 1, 1.5 * lapse->best_s, lapse->best_s);
        sim.spike_rate = 0.01;
        call_often(&sim, 2000);
        EXPECT_INT(calls_until(&sim, 0, 1), 0);
        sim.slowness[0] = lapse->slowness;
        call_often(&sim, lapse->calls);
        EXPECT_INT(calls_until(&sim, 1, 1), 0);
        sim.slowness[0] = 1;
        const uint64_t start_ns = sim.now_ns;
        const unsigned calls = calls_until(&sim, 0, 100000);
        const double seconds = (double)(sim.now_ns - start_ns) * 1e-9;
        most_calls = calls > most_calls ? calls : most_calls;
        most_s = fmax(most_s, seconds);
        TAP_CHECK(calls <= 1000 || seconds <= 1,
                  "%g s, %g times slower for %u calls: %u calls, %g s",
                  lapse->best_s, lapse->slowness, lapse->calls, calls, seconds);
        sim_destroy(&sim);
    }
    printf("# %g us, %g times slower for %u calls: used again after %u calls, "
           "%.3f s\n",
           lapse->best_s * 1e6, lapse->slowness, lapse->calls, most_calls,
           most_s);
}

static void an_arm_that_was_slow_for_a_while_is_used_again(void)
{
    static const struct lapse lapses[] = {
        {100e-6, 10, 500}, {100e-6, 10, 20000}, {5e-6, 10, 500},
        {5e-6, 10, 50000}, {10e-3, 10, 500},    {100e-6, 3, 500},
        {100e-6, 2, 500},  {1e-3, 10, 2000},
    };

    for (size_t i = 0; i < sizeof lapses / sizeof lapses[0]; i++)
        recover(&lapses[i]);
}

/* And while it is slow, and stays so, the budget holds. */
static void looking_after_a_slow_arm_costs_little(void)
{
    struct sim sim = sim_create(4, 0.02);
    double extra_s = 0, total_s = 0;

    sim_add_flat(&sim, 0, 1e-4, 1e-4);
    sim_add_flat(&sim, 1, 1.5e-4, 1e-4);
    call_often(&sim, 2000);
    sim.slowness[0] = 10;
    call_often(&sim, 100);
    for (int i = 0; i < 50000; i++) {
        const struct sim_run run = sim_call(&sim, 0, &some, 0);
        total_s += run.seconds;
        if (run.is_explored)
            extra_s += run.seconds - run.oracle_s;
    }
    printf("# %.2f%% of the time went into looking after a slow arm\n",
           100 * extra_s / total_s);
    EXPECT(extra_s > 0);
    EXPECT(extra_s < 0.01 * total_s);
    sim_destroy(&sim);
}

/* ---- who stays --------------------------------------------------------------
 */

/* Two arms within 2%, on a machine that is slower at times: what is known of
 * the one that runs is of now, and of the other one of then. */
static void two_alike_do_not_take_turns(void)
{
    const unsigned bucket = takt__bucket_of(some.bytes);
    unsigned switches = 0, most = 0;

    for (uint64_t seed = 0; seed < 20; seed++) {
        struct sim sim = sim_create(seed, 0.02);
        unsigned own = 0;
        sim_add_flat(&sim, 0, 15.4e-6, 15e-6);
        sim_add_flat(&sim, 1, 15.7e-6, 15e-6);
        sim.spike_rate = 0.01;
        sim.sigma = 0.05;
        for (int i = 0; i < 20000; i++) {
            if (i % 100 == 0)
                sim.slowness[0] = sim.slowness[1] =
                    exp(0.06 * sim_normal(&sim.random));
            const unsigned before =
                sim_cell_at(&sim, 0, bucket, 0)->verdict.best;
            sim_call(&sim, 0, &some, 0);
            own += i > 100 &&
                   sim_cell_at(&sim, 0, bucket, 0)->verdict.best != before;
        }
        switches += own;
        most = own > most ? own : most;
        sim_destroy(&sim);
    }
    printf("# two alike: %u changes in 20 times 20,000 calls, %u at most\n",
           switches, most);
    EXPECT(most <= 6);
}

int main(void)
{
    RUN(trials_of_an_op_stay_within_its_budget);
    RUN(trials_without_a_result_count_as_spent);
    RUN(a_trial_is_charged_where_it_was_decided);
    RUN(the_first_trial_in_a_row_wakes_the_threads);
    RUN(bad_luck_is_not_the_end_of_an_arm);
    RUN(an_arm_that_was_slow_for_a_while_is_used_again);
    RUN(looking_after_a_slow_arm_costs_little);
    RUN(two_alike_do_not_take_turns);
    return tap_done();
}
