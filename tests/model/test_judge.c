/* SPDX-License-Identifier: MIT */
/* test_judge.c - what routing costs against an oracle, and what tries may. */
#include "model/simulate.h"

static const takt_work some = {1 << 20, 1 << 18};

/* One case of the table: what arms take, and what is expected of them. */
struct contest {
    const char *name;
    unsigned arms;
    double truth_s[8], expected_s[8];
    double bar[4]; /* at 10, 100, 1000 and 10000 calls; 0: none */
};

static const struct contest contests[] = {
    {"prior right",
     3,
     {1.2e-3, 8.5e-3, 45e-3},
     {1.2e-3, 8.5e-3, 45e-3},
     {1.22, 1.14, 1.12, 0}},
    {"prior wrong 4x, others between",
     4,
     {1e-3, 2e-3, 3e-3, 4e-3},
     {1.5e-3, 1.8e-3, 1.4e-3, 1e-3},
     {0, 1.35, 1.25, 1.15}},
    {"prior wrong 4x, upside down",
     3,
     {1e-3, 2e-3, 4e-3},
     {4e-3, 2e-3, 1e-3},
     {0, 1.35, 1.25, 1.15}},
    {"prior wrong 4x, the best is right",
     3,
     {1.2e-3, 4.8e-3, 45e-3},
     {1.2e-3, 1.1e-3, 45e-3},
     {0, 1.35, 1.25, 1.15}},
    {"8 close experts",
     8,
     {1e-3, 1.05e-3, 1.1e-3, 1.15e-3, 1.2e-3, 1.25e-3, 1.3e-3, 1.35e-3},
     {1e-3, 1e-3, 1e-3, 1e-3, 1e-3, 1e-3, 1e-3, 1e-3},
     {1.22, 1.17, 1.14, 0}},
    {"tiny",
     4,
     {0.3e-6, 2e-6, 12e-6, 60e-6},
     {0.3e-6, 2e-6, 12e-6, 60e-6},
     {1.29, 1.23, 1.21, 0}},
};

static const unsigned marks[4] = {10, 100, 1000, 10000};

/* Total time over that of the oracle: one with the same noise and spikes, and
 * one that is spared them, as in the table that is to be beaten. */
struct ratios {
    double fair[4], spared[4];
};

static void contend(const struct contest *contest, uint64_t seed,
                    unsigned calls, struct ratios *sum)
{
    struct sim sim = sim_create(seed, 0.02);
    double took = 0, fair = 0, spared = 0;

    sim.spike_rate = 0.02;
    for (unsigned a = 0; a < contest->arms; a++)
        sim_add_flat(&sim, a, contest->truth_s[a], contest->expected_s[a]);
    for (unsigned i = 1, mark = 0; i <= calls; i++) {
        const struct sim_run run = sim_call(&sim, 0, &some, 0);
        took += run.seconds;
        fair += run.oracle_s * run.shaken;
        spared += run.oracle_s;
        if (i == marks[mark]) {
            sum->fair[mark] += took / fair;
            sum->spared[mark] += took / spared;
            mark++;
        }
    }
    sim_destroy(&sim);
}

static void routing_costs_little_more_than_an_oracle(void)
{
    const unsigned seeds = sim_share(200), long_seeds = sim_share(20);

    for (size_t c = 0; c < sizeof contests / sizeof contests[0]; c++) {
        const struct contest *contest = &contests[c];
        struct ratios sum = {{0}, {0}};
        for (unsigned seed = 0; seed < seeds; seed++)
            contend(contest, seed, seed < long_seeds ? 10000 : 1000, &sum);
        printf("# %-34s", contest->name);
        for (unsigned m = 0; m < 4; m++) {
            const double count = m < 3 ? seeds : long_seeds;
            const double ratio = sum.spared[m] / count;
            printf(" %5u: %.3f (%.3f)", marks[m], ratio, sum.fair[m] / count);
            TAP_CHECK(contest->bar[m] == 0 || ratio <= contest->bar[m] ||
                          is_sanitized, /* a mean of few */
                      "%s: %g after %u calls, more than %g", contest->name,
                      ratio, marks[m], contest->bar[m]);
        }
        printf("\n");
    }
}

/* ---- tries -----------------------------------------------------------------
 */

/* Arms, series, sizes and noise at random. */
static struct sim random_machine(uint64_t seed, double exploration)
{
    struct sim sim = sim_create(seed, exploration);
    uint64_t *random = &sim.random;
    const unsigned arms = 2 + (unsigned)(random_next(random) % 7);

    sim.sigma = 0.01 + 0.1 * random_unit(random);
    sim.spike_rate = 0.04 * random_unit(random);
    sim.has_heavy_tail = random_next(random) % 2 == 0;
    for (unsigned a = 0; a < arms; a++) {
        const double seconds = random_real(random, -5, -3);
        sim_add_flat(&sim, a / 2, seconds,
                     seconds * random_real(random, -0.7, 0.7));
        if (random_next(random) % 4 == 0)
            sim.first_factor[a] = random_real(random, 0, 2);
    }
    return sim;
}

static void tries_stay_within_their_budget(void)
{
    double worst = 0;

    for (uint64_t seed = 0; seed < sim_share(300); seed++) {
        struct sim sim = random_machine(seed, 0.02);
        double tried = 0, total = 0, best = 0, last = 0;
        for (int i = 0; i < 1500; i++) {
            const struct sim_run run = sim_call(&sim, 0, &some, 0);
            const double extra = run.plain_s - run.routed_s;
            total += run.plain_s;
            best = fmax(best, run.routed_s);
            if (!run.is_explored)
                continue;
            /* The budget held before this one; this one may overshoot. */
            worst = fmax(worst, (tried - 0.02 * total) / best);
            last = fmax(last, extra);
            tried += fmax(0, extra);
        }
        TAP_CHECK(tried <= 0.02 * total + 4 * best + last,
                  "seed %d: %g s of tries in %g s, a call takes %g s",
                  (int)seed, tried, total, best);
        sim_destroy(&sim);
    }
    printf("# beyond 2%%, at most %.2f calls of the best went into tries\n",
           worst);
}

static void without_a_budget_nothing_is_tried(void)
{
    for (uint64_t seed = 0; seed < sim_share(50); seed++) {
        struct sim sim = random_machine(seed, 0);
        for (int i = 0; i < 3000; i++)
            EXPECT(!sim_call(&sim, 0, &some, 0).is_explored);
        EXPECT_INT(takt__model_counters(sim.model).explored, 0);
        sim_destroy(&sim);
    }
}

static void an_offered_try_is_kept_until_it_is_taken(void)
{
    struct sim sim = sim_create(1, 0.02);
    const takt_work other = {1 << 24, 1 << 22};
    const unsigned bucket = takt__bucket_of(some.bytes);

    sim_add_flat(&sim, 0, 1e-3, 1e-3);
    sim_add_flat(&sim, 1, 1.1e-3, 1e-3);
    sim_call(&sim, 0, &some, 0);
    const struct sim_cell *cell = sim_cell_at(&sim, 0, bucket, 0);
    EXPECT(cell->explore >= 0);
    sim_call(&sim, 0, &other, 0); /* the series is judged anew */
    EXPECT(cell->verdict.is_offered);
    EXPECT(cell->explore >= 0);
    EXPECT(sim_call(&sim, 0, &some, 0).is_explored);
    sim_destroy(&sim);
}

static void threads_are_tried_around_the_best(void)
{
    struct sim sim = sim_create(2, 0.02);
    const takt_work much = {1 << 22, 1e9};
    unsigned farthest = 1;

    for (unsigned threads = 1; threads <= 64; threads *= 2) {
        const struct takt_rates truth = {.threads = threads,
                                         .s_per_flop =
                                             1e-9 / (threads < 8 ? threads : 8),
                                         .awake_s = 1e-3 * threads};
        struct takt_arm arm = {.rates = truth};
        arm.rates.awake_s = 1e-6;
        arm.rates.s_per_flop = 1e-9 / threads;
        sim_add(&sim, &arm, &truth);
    }
    sim.spike_rate = 0.02;
    for (int i = 0; i < 2000; i++) {
        const unsigned best = sim_call(&sim, 0, &much, 0).arm; /* log2 */
        const struct sim_cell *cell =
            sim_cell_at(&sim, 0, takt__bucket_of(much.bytes), 0);
        if (cell->explore >= 0) {
            const int away = cell->explore - (int)cell->verdict.best;
            farthest =
                (unsigned)abs(away) > farthest ? (unsigned)abs(away) : farthest;
        }
        if (i > 1000 && cell->explore < 0)
            EXPECT(best == 3 || cell->verdict.best == 3);
    }
    EXPECT_INT(farthest, 1);
    EXPECT_INT(
        sim_cell_at(&sim, 0, takt__bucket_of(much.bytes), 0)->verdict.best, 3);
    sim_destroy(&sim);
}

/* An arm that runs elsewhere, and may take more than ten times the best. */
static void no_hopeless_arm_is_tried(void)
{
    struct sim sim = sim_create(10, 0.02);

    sim_add_flat(&sim, 0, 1e-3, 1e-3);
    sim_add_flat(&sim, 1, 40e-3, 5e-3);
    sim_report(&sim, 1, 1, &some, 0, 40e-3, 0);
    for (int i = 0; i < 5000; i++)
        EXPECT(!sim_call(&sim, 0, &some, 0).is_explored);
    sim_destroy(&sim);
}

/* ---- robustness ------------------------------------------------------------
 */

/* The verdict may not change with an outlier: neither at once nor later. */
static void try_outlier(unsigned victim, unsigned position, double expected_s,
                        uint64_t seed)
{
    struct sim sim = sim_create(seed, 0.02);
    const unsigned bucket = takt__bucket_of(some.bytes);

    sim_add_flat(&sim, 0, 190e-6, expected_s);
    sim_add_flat(&sim, 1, 202e-6, expected_s);
    sim.bad_run[victim] = position;
    sim.bad_run_s = 0.1;
    for (int i = 0; i < 400; i++) {
        const struct sim_cell *cell = sim_cell_at(&sim, 0, bucket, 0);
        const int before = cell->is_published ? cell->verdict.best : -1;
        const struct sim_run run = sim_call(&sim, 0, &some, 0);
        if (run.seconds > 0.05)
            TAP_CHECK(before < 0 || cell->verdict.best == before,
                      "run %u of arm %u changed the choice", position, victim);
    }
    TAP_CHECK(sim_cell_at(&sim, 0, bucket, 0)->verdict.best == 0,
              "outlier %u of arm %u: %u is best", position, victim,
              sim_cell_at(&sim, 0, bucket, 0)->verdict.best);
    sim_destroy(&sim);
}

static void one_outlier_never_changes_a_choice(void)
{
    static const unsigned positions[] = {1, 2, 3, 4, 5, 6, 10, 50, 100, 300};

    for (size_t p = 0; p < sizeof positions / sizeof positions[0]; p++)
        for (unsigned victim = 0; victim < 2; victim++)
            for (uint64_t seed = 0; seed < sim_share(10); seed++) {
                try_outlier(victim, positions[p], 190e-6, seed);
                try_outlier(victim, positions[p], 100e-6, seed);
                try_outlier(victim, positions[p], 400e-6, seed);
            }
}

static void an_outlier_at_a_new_size_is_not_believed(void)
{
    struct sim sim = sim_create(4, 0.02);
    const takt_work larger = {1 << 23, 1 << 21};

    sim_add_flat(&sim, 0, 190e-6, 190e-6);
    sim_add_flat(&sim, 1, 300e-6, 300e-6);
    for (int i = 0; i < 50; i++)
        sim_call(&sim, 0, &some, 0);
    sim_report(&sim, 0, 0, &larger, 0, 0.1, 0);
    sim_call(&sim, 0, &larger, 0);
    EXPECT_INT(
        sim_cell_at(&sim, 0, takt__bucket_of(larger.bytes), 0)->verdict.best,
        0);
    sim_destroy(&sim);
}

static void first_runs_are_kept_apart(void)
{
    struct sim sim = sim_create(5, 0.02);

    sim_add_flat(&sim, 0, 1e-3, 1e-3);
    sim_add_flat(&sim, 1, 1.5e-3, 1.2e-3);
    sim.first_factor[0] = 10000;
    sim.first_factor[1] = 3;
    for (int i = 0; i < 300; i++)
        sim_call(&sim, 0, &some, 0);
    const struct takt_arm_estimate best = sim_estimate(&sim, 0, 0, &some, 0);
    const struct takt_arm_estimate other = sim_estimate(&sim, 0, 1, &some, 0);
    EXPECT_INT(sim_call(&sim, 0, &some, 0).arm, 0);
    EXPECT_NEAR(best.seconds, 1e-3, 5e-5);
    EXPECT_NEAR(best.first_s, 10, 1);
    EXPECT_NEAR(other.seconds, 1.5e-3, 1.5e-4);
    EXPECT_NEAR(other.first_s, 4.5e-3, 5e-4);
    sim_destroy(&sim);
}

/* How often the verdict changes in ten times 9,900 calls of four experts within
 * 2%. */
static unsigned switches_at(double sigma)
{
    unsigned switches = 0;

    for (uint64_t seed = 0; seed < sim_share(10); seed++) {
        struct sim sim = sim_create(seed, 0.02);
        int before = -1;
        for (unsigned a = 0; a < 4; a++)
            sim_add_flat(&sim, a, 1e-3 + 5e-6 * a, 1e-3);
        sim.sigma = sigma;
        sim.spike_rate = 0.02;
        for (int i = 0; i < 10000; i++) {
            sim_call(&sim, 0, &some, 0);
            const int best =
                sim_cell_at(&sim, 0, takt__bucket_of(some.bytes), 0)
                    ->verdict.best;
            switches += i >= 100 && best != before;
            before = best;
        }
        sim_destroy(&sim);
    }
    return switches;
}

static void equals_do_not_take_turns(void)
{
    const unsigned calm = switches_at(0.02), noisy = switches_at(0.08);

    printf("# within 2%%: %u switches in 99,000 calls with noise of 2%%, %u "
           "with noise of 8%%\n",
           calm, noisy);
    EXPECT(calm <= 2);
    EXPECT(noisy <= 20);
}

static void an_arm_that_refuses_is_suspended_and_comes_back(void)
{
    struct sim sim = sim_create(6, 0.02);
    double last_s = 0, pause_s = 0;
    uint64_t refused = 0;

    sim_add_flat(&sim, 0, 1e-3, 1e-3);
    sim_add_flat(&sim, 1, 3e-3, 3e-3);
    for (int i = 0; i < 100; i++)
        sim_call(&sim, 0, &some, 0);
    sim.refuses[0] = true;
    for (int i = 0; i < 100000; i++) {
        const double now_s = (double)sim.now_ns * 1e-9;
        sim_call(&sim, 0, &some, 0);
        const uint64_t count = takt__model_counters(sim.model).refused;
        if (count == refused)
            continue;
        if (count > 1) {
            const double want = fmin(0.1 * (double)(1u << (count - 2)), 60);
            pause_s = now_s - last_s;
            EXPECT_NEAR(pause_s, want, 0.1 * want);
        }
        refused = count;
        last_s = now_s;
    }
    printf("# %d refusals in 300 s, the last after %.0f s\n", (int)refused,
           pause_s);
    EXPECT(refused >= 10 && refused <= 14);
    sim.refuses[0] = false;
    int calls = 0;
    while (calls < 30000 && sim_call(&sim, 0, &some, 0).arm != 0)
        calls++;
    EXPECT(calls < 21000);
    for (int i = 0; i < 100; i++)
        sim_call(&sim, 0, &some, 0);
    EXPECT_INT(
        sim_cell_at(&sim, 0, takt__bucket_of(some.bytes), 0)->verdict.best, 0);
    sim_destroy(&sim);
}

static void when_everyone_refuses_there_is_still_a_verdict(void)
{
    struct sim sim = sim_create(7, 0.02);

    sim_add_flat(&sim, 0, 1e-3, 1e-3);
    sim_report(&sim, 0, 0, &some, 0, 0, TAKT_SAMPLE_REFUSED);
    EXPECT_INT(sim_call(&sim, 0, &some, 0).arm, 0);
    sim_destroy(&sim);
}

static void nonsense_is_ignored(void)
{
    struct takt_change change;
    struct sim sim = sim_create(8, 0.02);
    const struct takt_sample good = sim_sample(0, 0, &some, 0, 1e-3);
    struct takt_sample bad[14];

    sim_add_flat(&sim, 0, 1e-3, 1e-3);
    sim_add_flat(&sim, 1, 1e-3, 1e-3);
    sim_series_at(&sim, 0);
    for (int i = 0; i < 14; i++)
        bad[i] = good;
    bad[0].seconds = NAN;
    bad[1].seconds = INFINITY;
    bad[2].seconds = -1;
    bad[3].seconds = 0;
    bad[4].seconds = 1e10;
    bad[5].series = TAKT_SERIES_COUNT;
    bad[6].bucket = TAKT_BUCKETS;
    bad[7].situation = TAKT_SITUATIONS;
    bad[8].arm = 2;
    bad[9].bytes = NAN;
    bad[10].flops = INFINITY;
    bad[11].bytes = -1;
    bad[12].series = 1; /* no arm is allowed there */
    bad[13].arm = 255;
    for (int i = 0; i < 14; i++)
        takt__model_learn(sim.model, &bad[i]);
    EXPECT_INT(takt__model_counters(sim.model).samples, 0);
    EXPECT(!takt__model_next_change(sim.model, &change));
    takt__model_learn(sim.model, &good);
    EXPECT_INT(takt__model_counters(sim.model).samples, 1);
    EXPECT(takt__model_next_change(sim.model, &change));
    EXPECT_INT(change.series, 0);
    sim_destroy(&sim);
}

/* A sample matters most near its size: all series are judged there before any
 * is judged along all sizes. */
static void what_is_near_is_judged_first(void)
{
    struct sim sim = sim_create(8, 0.02);
    struct takt_change change;
    unsigned narrow = 0, wide = 0;

    sim_add_flat(&sim, 0, 1e-3, 1e-3);
    for (unsigned series = 0; series < 3; series++) {
        sim_series_at(&sim, series);
        REQUIRE(takt__model_want(sim.model, series) == TAKT_OK);
    }
    for (unsigned i = 0; i < 2; i++) { /* the first run may not count */
        while (takt__model_next_change(sim.model, &change))
            ;
        for (unsigned series = 0; series < 3; series++) {
            const struct takt_sample sample =
                sim_sample(series, 0, &some, 0, 1e-3);
            takt__model_learn(sim.model, &sample);
        }
    }
    while (takt__model_next_change(sim.model, &change)) {
        const bool is_wide = change.last - change.first == TAKT_BUCKETS - 1;
        wide += is_wide;
        narrow += !is_wide;
        EXPECT(is_wide || wide == 0);
    }
    EXPECT_INT(narrow, 3);
    EXPECT_INT(wide, 3);
    sim_destroy(&sim);
}

static void rates_decide_before_anything_is_measured(void)
{
    struct sim sim = sim_create(9, 0.02);
    struct takt_verdict verdict;

    sim_add_flat(&sim, 0, 1e-3, 1e-3);
    sim_add_flat(&sim, 1, 1.2e-3, 1.2e-3);
    sim_series_at(&sim, 0);
    sim.posterior = takt__model_posterior(sim.model, 0, 0);
    REQUIRE(takt__posterior_judge(sim.posterior, 40, 1, true, &verdict));
    EXPECT_INT(verdict.best, 0);
    EXPECT_INT(verdict.runner_up, 1);
    EXPECT(verdict.confidence > 0.5);
    EXPECT(!verdict.is_measured);
    sim_destroy(&sim);
}

/* ---- confidence ------------------------------------------------------------
 */

/* It may be too modest, since it takes the others as independent; it may not
 * boast. */
static void confidence_is_what_it_says(void)
{
    static const double limits[] = {0, 0.4, 0.6, 0.7, 0.8, 0.9, 0.97, 1.01};
    double count[7] = {0}, right[7] = {0}, said[7] = {0};

    for (uint64_t seed = 0; seed < sim_share(6000); seed++) {
        struct sim sim = sim_create(seed, 0.02);
        const unsigned arms = 2 + (unsigned)(random_next(&sim.random) % 4);
        const unsigned calls = (unsigned)(random_next(&sim.random) % 20);
        const double series = exp(0.4 * sim_normal(&sim.random));
        for (unsigned a = 0; a < arms; a++) {
            const double expected = random_real(&sim.random, -4, -3.3);
            sim_add_flat(&sim, a,
                         expected * series * exp(0.6 * sim_normal(&sim.random)),
                         expected);
        }
        sim.spike_rate = 0.02;
        for (unsigned i = 0; i <= calls; i++)
            sim_call(&sim, 0, &some, 0);
        const struct takt_verdict verdict =
            sim_cell_at(&sim, 0, takt__bucket_of(some.bytes), 0)->verdict;
        unsigned bucket = 0;
        while (verdict.confidence >= limits[bucket + 1])
            bucket++;
        count[bucket]++;
        said[bucket] += verdict.confidence;
        right[bucket] += verdict.best == sim_best(&sim, 0, &some, 0);
        sim_destroy(&sim);
    }
    for (unsigned b = 0; b < 7; b++) {
        if (count[b] == 0)
            continue;
        printf("# confidence %.2f: right %.2f (%.0f verdicts)\n",
               said[b] / count[b], right[b] / count[b], count[b]);
        if (is_sanitized) /* shares of few */
            continue;
        EXPECT(right[b] > said[b] - 0.05 * count[b]);
        EXPECT(right[b] < said[b] + 0.15 * count[b]);
    }
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

/* What the program runs by itself is compared, and never chosen. */
static void an_observed_arm_is_never_chosen(void)
{
    struct sim sim = sim_create(5, 0.02);
    const struct takt_arm observed = {.rates = sim_flat(1e-4),
                                      .is_observed = true};
    const struct takt_rates fast = sim_flat(1e-4);

    sim_add_flat(&sim, 0, 1e-3, 1e-3);
    sim_add(&sim, &observed, &fast);
    for (int i = 0; i < 20; i++)
        sim_report(&sim, 0, 1, &some, 0, 1e-4, 0);
    for (int i = 0; i < 200; i++)
        EXPECT_INT(sim_call(&sim, 0, &some, 0).arm, 0);
    sim_destroy(&sim);
}

int main(void)
{
    RUN(routing_costs_little_more_than_an_oracle);
    RUN(tries_stay_within_their_budget);
    RUN(a_trial_is_charged_where_it_was_decided);
    RUN(an_observed_arm_is_never_chosen);
    RUN(without_a_budget_nothing_is_tried);
    RUN(an_offered_try_is_kept_until_it_is_taken);
    RUN(threads_are_tried_around_the_best);
    RUN(no_hopeless_arm_is_tried);
    RUN(one_outlier_never_changes_a_choice);
    RUN(an_outlier_at_a_new_size_is_not_believed);
    RUN(first_runs_are_kept_apart);
    RUN(equals_do_not_take_turns);
    RUN(an_arm_that_refuses_is_suspended_and_comes_back);
    RUN(when_everyone_refuses_there_is_still_a_verdict);
    RUN(nonsense_is_ignored);
    RUN(what_is_near_is_judged_first);
    RUN(rates_decide_before_anything_is_measured);
    RUN(confidence_is_what_it_says);
    return tap_done();
}
