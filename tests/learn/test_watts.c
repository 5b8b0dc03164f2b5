/* SPDX-License-Identifier: MIT */
/*
 * test_watts.c - what experts draw is kept for the next process: of this
 * machine and this library, the latest of all writers, for a month. The clock
 * on the wall is the test's.
 */
#define _GNU_SOURCE /* scratch.h */
#include <math.h>
#include <time.h>

#include "call/ctx.h"
#include "energy/recording.h"
#include "learn/inside.h"
#include "store/scratch.h"
#include "takt/takt.h"

enum { size = 120000 }; /* long enough that every call is timed */

static float a[size], out[size];
static int64_t today = 20000;

/* Instead of the C library's. */
time_t time(time_t *unused)
{
    if (unused != NULL)
        *unused = (time_t)(today * 86400 + 3600);
    return (time_t)(today * 86400 + 3600);
}

static takt_ctx *open_ctx(const char *store)
{
    takt_ctx *ctx;
    REQUIRE(takt_ctx_create(
                &(takt_ctx_options){
                    .store = store, .blas = "", .gpu = "", .threads = 2},
                &ctx) == TAKT_OK);
    return ctx;
}

static unsigned arm_of(takt_ctx *ctx, const char *name)
{
    return (unsigned)takt__experts_find(&ctx->experts, name);
}

/* A processor that draws 30 W, and `watts` more while an arm computes, which it
 * does in every other window of a second. */
static struct takt_energy *energy_of(unsigned arm, unsigned watts)
{
    static char text[1 << 16];
    takt_diag diag;
    struct takt_energy *energy = NULL;
    size_t length = (size_t)snprintf(
        text, sizeof text,
        "takt-energy 1\ncounter powercap - 1000000000000 0 0 0 package-0\n");
    unsigned long long uj = 0;

    for (unsigned i = 0; i < 120; i++) {
        length +=
            (size_t)snprintf(text + length, sizeof text - length,
                             "read 0 %u000000000 %llu 0 1001\n", i + 1, uj);
        uj += 30000000ULL + (i % 2) * watts * 1000000ULL;
        if (i % 2 == 1)
            length += (size_t)snprintf(
                text + length, sizeof text - length,
                "use %u 3 1 - %u000000000 1000000000 1\n", arm, i + 1);
    }
    REQUIRE(takt__energy_replay(text, &energy, &diag) == TAKT_OK);
    return energy;
}

/* A program that measured it, and its store. */
static void measure(const char *store, const char *expert, unsigned watts)
{
    takt_ctx *ctx = open_ctx(store);
    const takt_call one = {.op = takt_op_find("exp"),
                           .shape = {.rank = 1, .dim = {size}},
                           .in = {a},
                           .out = out};

    takt__learner_enter(ctx->learner);
    ctx->learner->energy.energy = energy_of(arm_of(ctx, expert), watts);
    takt__learner_leave(ctx->learner);
    EXPECT_INT(takt_run(ctx, &one, NULL), TAKT_OK);
    EXPECT_INT(takt_ctx_flush(ctx), TAKT_OK);
    takt_ctx_destroy(ctx);
}

/* What the next program knows of it. */
static struct takt_watts recall(const char *store, const char *expert,
                                unsigned bound)
{
    takt_ctx *ctx = open_ctx(store);
    const unsigned arm = arm_of(ctx, expert);

    takt__learner_enter(ctx->learner);
    const struct takt_watts watts = takt__watts_get(ctx->learner, arm, bound);
    takt__learner_leave(ctx->learner);
    takt_ctx_destroy(ctx);
    return watts;
}

static void the_next_process_knows_what_was_measured(void)
{
    const char *store = scratch_path();

    measure(store, "scalar", 40);
    const struct takt_watts found =
        recall(store, "scalar", TAKT_BOUND_COMPUTING);
    EXPECT(found.is_known);
    EXPECT_NEAR((double)found.mean, 40, 1);
    EXPECT(found.error > 0 && found.error < 2);
    EXPECT_NEAR((double)recall(store, "scalar", TAKT_BOUNDS).mean, 40, 1);
    EXPECT(!recall(store, "scalar", TAKT_BOUND_LINK).is_known);
}

static void the_latest_measurement_counts(void)
{
    const char *store = scratch_path();

    measure(store, "scalar", 40);
    today++;
    measure(store, "scalar", 70);
    EXPECT_NEAR((double)recall(store, "scalar", TAKT_BOUNDS).mean, 70, 2);
}

static void what_is_older_than_a_month_is_forgotten(void)
{
    const char *store = scratch_path();

    measure(store, "scalar", 40);
    today += 29;
    EXPECT(recall(store, "scalar", TAKT_BOUNDS).is_known);
    today += 2;
    EXPECT(!recall(store, "scalar", TAKT_BOUNDS).is_known);
}

/* What a record says of the scalar expert; NAN: nothing. */
static double believed(const struct takt_record *record)
{
    takt_ctx *ctx = open_ctx("");
    struct takt_learner *learner = ctx->learner;
    struct takt_record copy = *record;

    takt__learner_enter(learner);
    if (copy.software[0] == '\0')
        strcpy(copy.software, learner->software);
    EXPECT(takt__watts_restore(learner, &copy));
    const struct takt_watts found =
        takt__watts_get(learner, arm_of(ctx, "scalar"), TAKT_BOUNDS);
    takt__learner_leave(learner);
    takt_ctx_destroy(ctx);
    return found.is_known ? (double)found.mean : (double)NAN;
}

static void records_are_not_believed_blindly(void)
{
    const struct takt_record good = {.op = "takt:watts",
                                     .layout = "all",
                                     .expert = "scalar",
                                     .n = 1,
                                     .mean = log(25e9),
                                     .m2 = 1e-4,
                                     .last_unix_s = today * 86400};
    struct takt_record bad = good;

    EXPECT_NEAR(believed(&good), 25, 0.1);
    strcpy(bad.software, "cc33");
    EXPECT(isnan(believed(&bad)));
    bad = good;
    strcpy(bad.device, "dd44"); /* of a GPU */
    EXPECT(isnan(believed(&bad)));
    bad = good;
    strcpy(bad.layout, "some");
    EXPECT(isnan(believed(&bad)));
    bad = good;
    bad.mean = 50; /* more than any machine draws */
    EXPECT(isnan(believed(&bad)));
    bad = good;
    bad.m2 = 0.5; /* not well known */
    EXPECT(isnan(believed(&bad)));
    bad = good;
    bad.n = 0;
    EXPECT(isnan(believed(&bad)));
    bad = good;
    bad.last_unix_s += 5 * 86400; /* to come */
    EXPECT(isnan(believed(&bad)));
}

static void an_expert_that_is_not_there_yet_is_waited_for(void)
{
    const struct takt_record record = {
        .op = "takt:watts", .layout = "all", .expert = "blas.none", .n = 1};
    takt_ctx *ctx = open_ctx("");

    takt__learner_enter(ctx->learner);
    EXPECT(!takt__watts_restore(ctx->learner, &record));
    takt__learner_leave(ctx->learner);
    takt_ctx_destroy(ctx);
}

int main(void)
{
    scratch_make();
    RUN(the_next_process_knows_what_was_measured);
    RUN(the_latest_measurement_counts);
    RUN(what_is_older_than_a_month_is_forgotten);
    RUN(records_are_not_believed_blindly);
    RUN(an_expert_that_is_not_there_yet_is_waited_for);
    return tap_done();
}
