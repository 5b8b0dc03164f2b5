/* SPDX-License-Identifier: MIT */
/* test_memory.c - what is kept, for how long, and in how much memory. */
#include <malloc.h>

#include "model/simulate.h"

static const takt_work some = {120e3, 30e3};

/* Arms that differ by size; the rates are a little off. */
static void add_arms(struct sim *sim)
{
    for (unsigned a = 0; a < 4; a++) {
        struct takt_arm arm = {
            .kin = a / 2,
            .rates = {.threads = 1 + a % 2,
                      .call_s = 1e-6 * (1 + 5 * (a % 2)),
                      .s_per_byte = {1e-10 / (1 + a), 2e-10 / (1 + a),
                                     4e-10 / (1 + a)},
                      .l2_bytes = 1 << 20,
                      .l3_bytes = 1 << 25,
                      .asleep_s = 20e-6}};
        struct takt_rates truth = arm.rates;
        truth.call_s *= 0.5 + a;
        truth.s_per_byte[1] *= 2;
        snprintf(arm.name, sizeof arm.name, "arm%u", a);
        sim_add(sim, &arm, &truth);
    }
}

static struct sim taught(uint64_t seed, int calls)
{
    struct sim sim = sim_create(seed, 0.02);

    add_arms(&sim);
    for (int i = 0; i < calls; i++) {
        const double bytes = random_real(&sim.random, 3, 8);
        const takt_work work = {bytes, bytes / 4};
        sim_call(&sim, (unsigned)(random_next(&sim.random) % 3), &work,
                 (unsigned)(random_next(&sim.random) % TAKT_RESIDENT));
    }
    return sim;
}

static struct sim untaught(void)
{
    struct sim sim = sim_create(99, 0.02);

    add_arms(&sim);
    for (unsigned series = 0; series < 3; series++)
        sim_series_at(&sim, series);
    return sim;
}

/* ---- out and in ------------------------------------------------------------
 */

enum { MOST = 4096 };

struct notebook {
    struct takt_summary memory[MOST];
    unsigned count;
};

static void keep_summary(void *self, const struct takt_summary *summary)
{
    struct notebook *book = self;

    REQUIRE(book->count < MOST);
    book->memory[book->count++] = *summary;
}

static struct notebook *notes_of(struct sim *sim, bool only_changed)
{
    struct notebook *book = calloc(1, sizeof *book);

    REQUIRE(book != NULL);
    if (only_changed)
        takt__model_visit(sim->model, true, keep_summary, book);
    else
        takt__model_visit(sim->model, false, keep_summary, book);
    return book;
}

static void recall(struct sim *sim, const struct notebook *book, bool is_own)
{
    for (unsigned i = 0; i < book->count; i++)
        takt__model_restore(sim->model, &book->memory[i], is_own);
}

static void compare_verdicts(struct sim *a, struct sim *b)
{
    struct takt_verdict x, y;
    unsigned same = 0, compared = 0;

    for (unsigned series = 0; series < 3; series++)
        for (unsigned s = 0; s < TAKT_RESIDENT; s++)
            for (unsigned bucket = 20; bucket < 53; bucket++) {
                a->posterior = takt__model_posterior(a->model, series, s);
                b->posterior = takt__model_posterior(b->model, series, s);
                REQUIRE(
                    takt__posterior_judge(a->posterior, bucket, 1, true, &x));
                REQUIRE(
                    takt__posterior_judge(b->posterior, bucket, 1, true, &y));
                compared++;
                same += x.best == y.best;
                /* Equals may change places: one has no incumbent. */
                EXPECT(x.best == y.best || x.confidence < 0.9);
                EXPECT_NEAR(y.seconds / x.seconds, 1, 0.1);
            }
    printf("# %u of %u verdicts are the same\n", same, compared);
    EXPECT(same >= compared * 95 / 100);
}

static void what_was_visited_can_be_recalled(void)
{
    struct sim sim = taught(1, 20000), fresh = untaught();
    struct notebook *book = notes_of(&sim, false);

    EXPECT(book->count > 100);
    recall(&fresh, book, true);
    compare_verdicts(&sim, &fresh);

    struct notebook *again = notes_of(&fresh, false);
    EXPECT_INT(again->count, book->count);
    for (unsigned i = 0; i < book->count && i < again->count; i++) {
        EXPECT_NEAR(again->memory[i].mean, book->memory[i].mean, 1e-9);
        EXPECT_NEAR(again->memory[i].n, book->memory[i].n, 1e-9);
        EXPECT_NEAR(again->memory[i].calls, book->memory[i].calls, 1e-9);
    }
    free(again);
    free(book);
    sim_destroy(&sim);
    sim_destroy(&fresh);
}

static void changes_are_told_once(void)
{
    struct sim sim = taught(2, 500);
    struct notebook *first = notes_of(&sim, true);
    struct notebook *second = notes_of(&sim, true);

    EXPECT(first->count > 10);
    EXPECT_INT(second->count, 0);
    sim_report(&sim, 0, 0, &some, 0, 1e-3, 0);
    struct notebook *third = notes_of(&sim, true);
    EXPECT_INT(third->count, 1);
    EXPECT_INT(third->memory[0].bucket, takt__bucket_of(some.bytes));
    free(first);
    free(second);
    free(third);
    sim_destroy(&sim);
}

static struct takt_summary best_known(const struct notebook *book)
{
    unsigned best = 0;

    for (unsigned i = 0; i < book->count; i++)
        if (book->memory[i].n > book->memory[best].n)
            best = i;
    return book->memory[best];
}

/* What others wrote counts for predictions and is not written again. */
static void others_samples_are_not_ours(void)
{
    struct sim sim = taught(3, 5000), reader = untaught();
    struct notebook *book = notes_of(&sim, false);
    const struct takt_summary known = best_known(book);
    const takt_work work = {known.bytes, known.flops};
    const double theirs_s = exp(known.mean) * 1e-9;

    EXPECT(known.n > 20);
    EXPECT(fabs(log(sim_estimate(&reader, known.series, known.arm, &work,
                                 known.situation)
                        .seconds /
                    theirs_s)) > 0.1);
    recall(&reader, book, false);
    EXPECT_NEAR(
        sim_estimate(&reader, known.series, known.arm, &work, known.situation)
                .seconds /
            theirs_s,
        1, 0.03);
    struct notebook *changed = notes_of(&reader, true);
    EXPECT_INT(changed->count, 0);

    for (int i = 0; i < 4; i++)
        sim_report(&reader, known.series, known.arm, &work, known.situation,
                   theirs_s * 1.05, 0);
    takt__model_visit(reader.model, true, keep_summary, changed);
    EXPECT_INT(changed->count, 1);
    EXPECT_NEAR(changed->memory[0].n, 4, 0);
    EXPECT_NEAR(changed->memory[0].calls, 4, 0);
    EXPECT_NEAR(exp(changed->memory[0].mean) * 1e-9 / theirs_s, 1.05, 0.01);
    free(book);
    free(changed);
    sim_destroy(&sim);
    sim_destroy(&reader);
}

static struct takt_summary sensible(void)
{
    return (struct takt_summary){.series = 0,
                                 .bucket = takt__bucket_of(some.bytes),
                                 .n = 10,
                                 .mean = log(1e6),
                                 .m2 = 0.01,
                                 .bytes = some.bytes,
                                 .flops = some.flops,
                                 .calls = 10,
                                 .seconds = 0.01};
}

static void nonsense_is_not_recalled(void)
{
    struct sim sim = untaught();
    struct takt_summary bad[16];

    for (int i = 0; i < 16; i++)
        bad[i] = sensible();
    bad[0].series = TAKT_SERIES_COUNT;
    bad[1].arm = 4;
    bad[2].situation = TAKT_SITUATIONS;
    bad[3].bucket = TAKT_BUCKETS;
    bad[4].n = -1;
    bad[5].n = NAN;
    bad[6].mean = NAN;
    bad[7].mean = 1e9;
    bad[8].m2 = -1;
    bad[9].m2 = INFINITY;
    bad[10].bytes = -1;
    bad[11].flops = NAN;
    bad[12].calls = NAN;
    bad[13].seconds = -1;
    bad[14].first_s = INFINITY;
    bad[15].bytes = bad[15].flops = 0;
    for (int i = 0; i < 16; i++) {
        takt__model_restore(sim.model, &bad[i], true);
        takt__model_hint(sim.model, &bad[i], 0.1);
    }
    for (unsigned series = 0; series < TAKT_SERIES_COUNT; series++)
        EXPECT(!takt__model_has_series(sim.model, series));
    const struct takt_summary good = sensible();
    takt__model_hint(sim.model, &good, 0);
    takt__model_hint(sim.model, &good, NAN);
    EXPECT(!takt__model_has_series(sim.model, 0));
    takt__model_restore(sim.model, &good, true);
    EXPECT(takt__model_has_series(sim.model, 0));
    sim_destroy(&sim);
}

static void hints_give_way_to_samples(void)
{
    struct sim sim = untaught();
    struct takt_summary memory = sensible();
    const double raw = sim_estimate(&sim, 0, 0, &some, 0).seconds;

    memory.mean = log(raw * 3 * 1e9);
    takt__model_hint(sim.model, &memory, 0.25);
    const struct takt_arm_estimate hinted = sim_estimate(&sim, 0, 0, &some, 0);
    EXPECT(hinted.seconds > 1.5 * raw && hinted.seconds < 3 * raw);
    EXPECT(hinted.samples < 1);
    const struct takt_arm_estimate asleep =
        sim_estimate(&sim, 0, 0, &some, TAKT_ASLEEP | TAKT_REPEAT);
    EXPECT(asleep.seconds > 1.3 * raw); /* better than nothing */
    struct notebook *changed = notes_of(&sim, true);
    EXPECT_INT(changed->count, 0);
    for (int i = 0; i < 4; i++)
        sim_report(&sim, 0, 0, &some, 0, raw, 0);
    EXPECT_NEAR(sim_estimate(&sim, 0, 0, &some, 0).seconds / raw, 1, 0.1);
    free(changed);
    sim_destroy(&sim);
}

static void a_forgotten_series_starts_anew(void)
{
    struct sim sim = taught(4, 3000);

    EXPECT(takt__model_has_series(sim.model, 1));
    EXPECT(takt__model_account(sim.model, 1, 0, takt__bucket_of(1e6)).calls >
           0);
    takt__model_forget(sim.model, 1);
    EXPECT(!takt__model_has_series(sim.model, 1));
    EXPECT(takt__model_account(sim.model, 1, 0, takt__bucket_of(1e6)).calls ==
           0);
    EXPECT(sim_estimate(&sim, 1, 0, &some, 0).samples < 1);
    sim_destroy(&sim);
}

/* ---- memory ----------------------------------------------------------------
 */

static size_t allocated(void)
{
    const struct mallinfo2 counts = mallinfo2();
    return counts.uordblks + counts.hblkhd;
}

static void a_million_sizes_take_no_more_than_a_few(void)
{
    struct sim sim = untaught();
    const size_t before = allocated();

    if (before == 0) {
        SKIP("this allocator does not count");
        sim_destroy(&sim);
        return;
    }
    for (unsigned i = 0; i < 1000000; i++) {
        const double bytes = random_real(&sim.random, 0, 14);
        const takt_work work = {bytes, bytes};
        sim_report(&sim, 0, (unsigned)(random_next(&sim.random) % 4), &work,
                   (unsigned)(random_next(&sim.random) % TAKT_RESIDENT),
                   bytes * 1e-10 + 1e-6, 0);
    }
    const double bytes = (double)(allocated() - before);
    printf("# a million sizes: %.2f MB\n", bytes / 1e6);
    EXPECT(bytes > 0 && bytes < 1e6);
    sim_destroy(&sim);
}

static void all_series_with_many_sizes_take_a_few_megabytes(void)
{
    const double most_each = 47e3; /* of a series */
    struct sim sim = untaught();
    const size_t before = allocated();
    size_t own = 0; /* what the simulation takes */

    if (before == 0) {
        SKIP("this allocator does not count");
        sim_destroy(&sim);
        return;
    }
    for (unsigned series = 0; series < TAKT_SERIES_USER; series++) {
        own += sim.series[series] == NULL ? sizeof *sim.series[series] : 0;
        for (unsigned i = 0; i < 600; i++) {
            const double bytes = random_real(&sim.random, 3, 7);
            const takt_work work = {bytes, bytes / 4};
            sim_call(&sim, series, &work, i % 2);
        }
    }
    const double bytes = (double)(allocated() - before - own);
    printf("# %d series of 27 buckets, 2 situations: %.2f MB\n",
           TAKT_SERIES_USER, bytes / 1e6);
    EXPECT(bytes > 0 && bytes < most_each * TAKT_SERIES_USER);
    sim_destroy(&sim);
}

int main(void)
{
    RUN(what_was_visited_can_be_recalled);
    RUN(changes_are_told_once);
    RUN(others_samples_are_not_ours);
    RUN(nonsense_is_not_recalled);
    RUN(hints_give_way_to_samples);
    RUN(a_forgotten_series_starts_anew);
    RUN(a_million_sizes_take_no_more_than_a_few);
    RUN(all_series_with_many_sizes_take_a_few_megabytes);
    return tap_done();
}
