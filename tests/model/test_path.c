/* SPDX-License-Identifier: MIT */
/* test_path.c - which arms are chosen along the sizes, and what teams say of
 * each other. */
#include "model/simulate.h"

enum { SERIES = 0, FIRST = 24, LAST = 56, MACHINES = 40 };

/* A call in the middle of a bucket. */
static takt_work work_at(unsigned bucket)
{
    const double bytes = takt__bucket_work(bucket);
    return (takt_work){bytes, bytes / 12};
}

static void tune(struct sim *sim, unsigned arm, unsigned bucket, double factor)
{
    const takt_work work = work_at(bucket);

    sim_report(sim, SERIES, arm, &work, 0,
               sim_seconds(sim, SERIES, arm, &work, 0) * factor *
                   exp(sim_noise(sim)),
               TAKT_SAMPLE_TUNING);
}

/* One sample of each arm at every other bucket, as tuning takes them. */
static void tune_all(struct sim *sim)
{
    for (unsigned b = FIRST; b <= LAST; b += 2)
        for (unsigned a = 0; a < takt__model_arm_count(sim->model); a++)
            tune(sim, a, b, 1);
}

static unsigned chosen_at(struct sim *sim, unsigned bucket)
{
    struct takt_verdict verdict;

    REQUIRE(takt__posterior_judge(sim->posterior, bucket, sim->now_ns, true,
                                  &verdict));
    return verdict.best;
}

static unsigned cheapest_at(struct sim *sim, unsigned bucket)
{
    unsigned best = 0;
    double least = INFINITY;

    for (unsigned a = 0; a < takt__model_arm_count(sim->model); a++) {
        const double seconds =
            takt__posterior_estimate(sim->posterior, a, bucket, NULL).seconds;
        if (seconds < least) {
            least = seconds;
            best = a;
        }
    }
    return best;
}

/* Changes of the arm along the sizes: of what is chosen, and of what would be
 * cheapest. */
struct changes {
    unsigned chosen, cheapest;
};

static struct changes count_changes(struct sim *sim)
{
    struct changes count = {0, 0};

    sim->posterior = takt__model_posterior(sim->model, SERIES, 0);
    for (unsigned b = FIRST + 1; b <= LAST; b++) {
        count.chosen += chosen_at(sim, b) != chosen_at(sim, b - 1);
        count.cheapest += cheapest_at(sim, b) != cheapest_at(sim, b - 1);
    }
    return count;
}

/* One thread of an arm with vectors of some width. */
static struct takt_rates rates_of(double s_per_byte)
{
    return (struct takt_rates){
        .threads = 1,
        .call_s = 30e-9,
        .s_per_flop = 1e-15,
        .s_per_byte = {s_per_byte, s_per_byte, s_per_byte},
        .l2_bytes = 1 << 20,
        .l3_bytes = 32 << 20,
    };
}

/* ---- changes ---------------------------------------------------------------
 */

static void noise_does_not_change_the_arm(void)
{
    struct changes all = {0, 0};

    for (uint64_t seed = 0; seed < MACHINES; seed++) {
        struct sim sim = sim_create(seed, 0.02);
        sim.sigma = 0.08;
        for (unsigned a = 0; a < 4; a++) {
            const struct takt_rates truth = rates_of(1e-11 * (1 + 0.005 * a));
            const struct takt_arm arm = {.kin = a, .rates = rates_of(1e-11)};
            sim_add(&sim, &arm, &truth);
        }
        tune_all(&sim);
        const struct changes count = count_changes(&sim);
        all.chosen += count.chosen;
        all.cheapest += count.cheapest;
        sim_destroy(&sim);
    }
    printf("# arms within 2%%: %.2f changes along %d sizes, %.2f if each took "
           "the cheapest\n",
           (double)all.chosen / MACHINES, LAST - FIRST + 1,
           (double)all.cheapest / MACHINES);
    EXPECT(all.cheapest > 4 * MACHINES); /* or there is nothing to see */
    EXPECT(4 * all.chosen <= all.cheapest);
}

/* One arm is faster below a size and the other one above it, by 30%. */
static void a_change_that_pays_is_made(void)
{
    static const unsigned middle = (FIRST + LAST) / 2;

    for (uint64_t seed = 0; seed < MACHINES; seed++) {
        struct sim sim = sim_create(seed, 0.02);
        const struct takt_rates rates = rates_of(1e-11);
        sim.sigma = 0.05;
        for (unsigned a = 0; a < 2; a++)
            sim_add(&sim, &(struct takt_arm){.kin = a, .rates = rates}, &rates);
        for (unsigned b = FIRST; b <= LAST; b += 2)
            for (unsigned a = 0; a < 2; a++)
                tune(&sim, a, b, (b < middle) == (a == 0) ? 1 : 1.3);
        TAP_CHECK(count_changes(&sim).chosen == 1, "seed %d: %u changes",
                  (int)seed, count_changes(&sim).chosen);
        EXPECT_INT(chosen_at(&sim, middle - 4), 0);
        EXPECT_INT(chosen_at(&sim, middle + 4), 1);
        sim_destroy(&sim);
    }
}

/* What is known for certain is not given up for the sake of neighbours. */
static void a_size_that_is_known_well_is_chosen_well(void)
{
    static const unsigned odd = (FIRST + LAST) / 2;
    struct sim sim = sim_create(3, 0.02);
    const struct takt_rates rates = rates_of(1e-11);

    for (unsigned a = 0; a < 2; a++)
        sim_add(&sim, &(struct takt_arm){.kin = a, .rates = rates}, &rates);
    for (unsigned b = FIRST; b <= LAST; b++)
        for (unsigned i = 0; i < 40; i++)
            for (unsigned a = 0; a < 2; a++)
                tune(&sim, a, b, (b == odd) == (a == 0) ? 1.3 : 1);
    count_changes(&sim);
    EXPECT_INT(chosen_at(&sim, odd - 1), 0);
    EXPECT_INT(chosen_at(&sim, odd), 1);
    EXPECT_INT(chosen_at(&sim, odd + 1), 0);
    sim_destroy(&sim);
}

/* ---- teams -----------------------------------------------------------------
 */

/* Teams of 1, 2, 4, 8 and 16 threads of two kins: arms 0 to 4, and 5 to 9. */
static struct sim teams(void)
{
    struct sim sim = sim_create(5, 0.02);

    sim.sigma = 0.01;
    for (unsigned a = 0; a < 10; a++) {
        struct takt_arm arm = {.kin = a / 5, .rates = rates_of(1e-11)};
        arm.rates.threads = 1u << a % 5;
        for (int i = 0; i < 3; i++)
            arm.rates.s_per_byte[i] /= arm.rates.threads;
        sim_add(&sim, &arm, &arm.rates);
    }
    return sim;
}

static struct takt_arm_estimate estimate(struct sim *sim, unsigned arm)
{
    const takt_work work = work_at(LAST);
    return sim_estimate(sim, SERIES, arm, &work, 0);
}

/* Four threads take three times as long as expected; one thread, of which most
 * is known, does not. */
static void a_sample_informs_the_next_teams(void)
{
    struct sim sim = teams();
    double mean[10], variance[10], shift[10];

    for (unsigned i = 0; i < 8; i++)
        tune(&sim, 0, LAST, 1);
    for (unsigned a = 0; a < 10; a++) {
        mean[a] = estimate(&sim, a).log_mean;
        variance[a] = estimate(&sim, a).variance;
    }
    for (unsigned i = 0; i < 3; i++)
        tune(&sim, 2, LAST, 3);
    for (unsigned a = 0; a < 10; a++)
        shift[a] = estimate(&sim, a).log_mean - mean[a];
    printf("# 4 threads are %.2f off: 2 threads expected %.2f, 8 %.2f, 16 %.2f "
           "off, 4 of another kin %.2f\n",
           log(3), shift[1], shift[3], shift[4], shift[7]);
    for (unsigned a = 1; a <= 3; a += 2) {
        EXPECT(shift[a] > 0.5 * log(3));
        EXPECT(estimate(&sim, a).variance < 0.6 * variance[a]);
    }
    EXPECT(shift[4] > 0.4 * log(3) && shift[4] < shift[3]);
    EXPECT(shift[7] < 0.3 * log(3));
    EXPECT(fabs(shift[0]) < 0.05); /* its own samples count */
    sim_destroy(&sim);
}

/* Two threads are as fast as one, and would only be busy. */
static void of_equals_the_smaller_team_is_chosen(void)
{
    struct sim sim = sim_create(6, 0.02);

    sim.sigma = 0.02;
    for (unsigned a = 0; a < 2; a++) {
        struct takt_arm arm = {.rates = rates_of(1e-11)};
        arm.rates.threads = 2 - a;
        sim_add(&sim, &arm, &arm.rates);
    }
    tune_all(&sim);
    EXPECT_INT(count_changes(&sim).chosen, 0);
    EXPECT_INT(chosen_at(&sim, FIRST), 1);
    sim_destroy(&sim);
}

int main(void)
{
    RUN(noise_does_not_change_the_arm);
    RUN(a_change_that_pays_is_made);
    RUN(a_size_that_is_known_well_is_chosen_well);
    RUN(a_sample_informs_the_next_teams);
    RUN(of_equals_the_smaller_team_is_chosen);
    return tap_done();
}
