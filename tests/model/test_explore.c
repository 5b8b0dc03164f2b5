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
    unsigned sizes, calls;
    takt_work work[most_sizes];
};

/* Two to five experts, half to `most` times as slow as the first, of which some
 * are slow at first; noise and spikes; 100 to 5,000 calls. */
static struct setting draw(uint64_t seed, double most)
{
    struct setting out = {.sim = sim_create(seed, 0.02)};
    uint64_t *random = &out.sim.random;
    const double base_s = random_real(random, -5.3, -3.3);
    const double expected_s = base_s * random_real(random, -2, 2);
    const unsigned arms = 2 + (unsigned)(random_next(random) % 4);

    out.sim.sigma = 0.1 * random_unit(random);
    out.sim.spike_rate = 0.03 * random_unit(random);
    out.calls = (unsigned)random_real(random, 2, 3.7);
    out.sizes = 1 + (unsigned)(random_next(random) % most_sizes);
    for (unsigned i = 0; i < out.sizes; i++)
        out.work[i] = (takt_work){(1 << 18) << (2 * i), (1 << 16) << (2 * i)};
    for (unsigned a = 0; a < arms; a++) {
        const double ratio =
            a == 0 ? 1 : random_real(random, -0.3, log10(most));
        struct takt_rates truth = sim_flat(base_s * ratio);
        struct takt_arm arm = {
            .kin = a, .is_unrated = true, .rates = sim_flat(expected_s)};
        truth.s_per_flop = truth.call_s / out.work[0].flops;
        arm.rates.s_per_flop = arm.rates.call_s / out.work[0].flops;
        sim_add(&out.sim, &arm, &truth);
        if (random_next(random) % 4 == 0)
            out.sim.first_factor[a] = random_real(random, 0, 0.3);
    }
    return out;
}

/* What trials took beyond the arms that they were run instead of. */
struct spent {
    double over;        /* beyond the budget at the worst, in calls */
    double spiked_over; /* the same with the spikes that trials met */
    double ratio;       /* time of all calls / best arm, without noise */
    bool is_best_found;
};

static struct spent spend(struct setting *setting)
{
    double total_s = 0, plain_s = 0, ideal_s = 0, routed_s = 0, extra_s = 0,
           spiked_s = 0;
    struct spent out = {.over = -INFINITY, .spiked_over = -INFINITY};

    for (unsigned i = 1; i <= setting->calls; i++) {
        const takt_work *work =
            &setting->work[random_next(&setting->sim.random) % setting->sizes];
        const struct sim_run run = sim_call(&setting->sim, 0, work, 0);
        total_s += run.seconds;
        plain_s += run.plain_s;
        ideal_s += run.oracle_s;
        routed_s += run.routed_s;
        if (run.is_explored) {
            extra_s += fmax(0, run.plain_s - run.routed_s);
            spiked_s += fmax(0, run.seconds - run.routed_s);
        }
        const double call_s = routed_s / i;
        const double earned = 0.02 * total_s / call_s + 4;
        out.over = fmax(out.over, extra_s / call_s - earned);
        out.spiked_over = fmax(out.spiked_over, spiked_s / call_s - earned);
        out.is_best_found = run.routed_s < 1.05 * run.oracle_s;
    }
    out.ratio = plain_s / ideal_s;
    return out;
}

/* In how many of so many settings the budget was exceeded. */
static unsigned count_exceeded(unsigned settings, double most, double *worst)
{
    unsigned exceeded = 0, spiked = 0, found = 0;
    double worst_spiked = -INFINITY, ratio = 0;

    *worst = -INFINITY;
    for (uint64_t seed = 0; seed < settings; seed++) {
        struct setting setting = draw(seed, most);
        const struct spent spent = spend(&setting);
        exceeded += spent.over > 0;
        spiked += spent.spiked_over > 0;
        found += spent.is_best_found;
        ratio += log(spent.ratio) / settings;
        *worst = fmax(*worst, spent.over);
        worst_spiked = fmax(worst_spiked, spent.spiked_over);
        sim_destroy(&setting.sim);
    }
    printf("# experts up to %g times as slow: the budget was exceeded in %u of "
           "%u settings (%.1f calls at the worst), by spikes in %u (%.1f)\n"
           "# the best was found in %u; time / best %.3f\n",
           most, exceeded, settings, *worst, spiked, worst_spiked, found,
           exp(ratio));
    return exceeded;
}

/* An expert of which nothing is known is taken to be up to seven times as slow
 * as the best. */
static void trials_of_an_op_stay_within_its_budget(void)
{
    double worst;

    EXPECT_INT(count_exceeded(sim_share(300), 3.5, &worst), 0);
    EXPECT(count_exceeded(sim_share(300), 10, &worst) <= sim_share(30));
    EXPECT(worst <= 7);
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
    for (int i = 0; i < 5000; i++) {
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

    /* Until these are there: 0.1 ms of calls; of 63 at most. */
    struct takt_arm brief = one;
    brief.rates.call_s = 1e-5;
    team.rates.call_s = 1.1e-5;
    EXPECT_NEAR(tries_of(&brief, &team, TAKT_REPEAT), 13, 1);
    EXPECT_INT(tries_of(&brief, &team, TAKT_REPEAT | TAKT_ASLEEP), 3);
    brief.rates.call_s = 1e-6;
    team.rates.call_s = 1.1e-6;
    EXPECT_INT(tries_of(&brief, &team, TAKT_REPEAT), 63);
}

/* The first call of another team finds the operands in the caches of the last
 * one, and says nothing. */
static void a_team_of_another_size_is_tried_twice_in_a_row(void)
{
    struct takt_arm sixteen = {.uses_pool = true, .rates = sim_flat(1e-3)};
    struct takt_arm eight = {.uses_pool = true, .rates = sim_flat(1.1e-3)};
    struct takt_arm other = {
        .kin = 1, .uses_pool = true, .rates = sim_flat(1.1e-3)};

    sixteen.rates.threads = other.rates.threads = 16;
    eight.rates.threads = 8;
    EXPECT_INT(tries_of(&sixteen, &eight, TAKT_REPEAT), 2);
    EXPECT_INT(tries_of(&sixteen, &eight, 0), 1);
    EXPECT_INT(tries_of(&sixteen, &other, TAKT_REPEAT), 1);
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

    for (uint64_t seed = 0; seed < sim_share(50); seed++) {
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
    EXPECT(longest <= 2500);
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

    for (uint64_t seed = 0; seed < sim_share(20); seed++) {
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

int main(void)
{
    RUN(trials_of_an_op_stay_within_its_budget);
    RUN(the_first_trial_in_a_row_wakes_the_threads);
    RUN(a_team_of_another_size_is_tried_twice_in_a_row);
    RUN(bad_luck_is_not_the_end_of_an_arm);
    RUN(an_arm_that_was_slow_for_a_while_is_used_again);
    RUN(looking_after_a_slow_arm_costs_little);
    return tap_done();
}
