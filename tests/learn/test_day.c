/* SPDX-License-Identifier: MIT */
/*
 * test_day.c - what is kept of each day: once, by the day on which it was
 * learned, of 400 days at most, and the same in whatever order stores are
 * merged. The clock on the wall is the test's.
 */
#define _GNU_SOURCE /* scratch.h */
#include <math.h>
#include <time.h>

#include "store/scratch.h"
#include "takt/takt.h"

enum { size = 120000 }; /* long enough that every call is timed */

static float *a, *out;
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
                &(takt_ctx_options){.store = store, .blas = "", .threads = 2},
                &ctx) == TAKT_OK);
    return ctx;
}

static void call(takt_ctx *ctx, int count)
{
    const takt_call one = {.op = takt_op_find("exp"),
                           .shape = {.rank = 1, .dim = {size}},
                           .in = {a},
                           .out = out};

    for (int i = 0; i < count; i++)
        EXPECT_INT(takt_run(ctx, &one, NULL), TAKT_OK);
    EXPECT_INT(takt_ctx_flush(ctx), TAKT_OK);
}

static void call_once_opened(const char *path, int count)
{
    takt_ctx *ctx = open_ctx(path);

    call(ctx, count);
    takt_ctx_destroy(ctx);
}

/* ---- what is stored ---- */

struct wanted {
    int64_t day;
    const char *part;
    unsigned records; /* of all days */
    struct takt_record found;
};

static void look(void *self, const struct takt_record *record)
{
    struct wanted *wanted = self;

    if (strcmp(record->op, "takt:day") != 0 ||
        strcmp(record->expert, wanted->part) != 0)
        return;
    wanted->records++;
    EXPECT_INT(record->bin, (unsigned)(record->last_unix_s / 86400 % 400));
    if (record->last_unix_s / 86400 != wanted->day)
        return;
    wanted->found.n += record->n;
    wanted->found.mean = record->mean;
    wanted->found.calls += record->calls;
    wanted->found.seconds += record->seconds;
}

static struct wanted stored(const char *path, int64_t day, const char *part)
{
    struct takt_store *store = scratch_open(path);
    struct wanted wanted = {.day = day, .part = part};

    EXPECT_INT(takt__store_read(store, look, &wanted), TAKT_OK);
    takt__store_close(store);
    return wanted;
}

static double calls_of(const char *path, int64_t day)
{
    return stored(path, day, "calls").found.calls;
}

/* ---- tests ---- */

static void a_day_has_its_calls_and_their_budget(void)
{
    const char *path = scratch_path();

    call_once_opened(path, 30);
    const struct takt_record calls = stored(path, today, "calls").found;
    const struct takt_record budget = stored(path, today, "budget").found;
    EXPECT_NEAR(calls.calls, 30, 0);
    EXPECT(calls.n >= 30 && calls.seconds > 0);
    EXPECT_NEAR(budget.seconds, 0.02 * calls.seconds, 1e-9);
}

static void processes_of_one_day_add_up(void)
{
    const char *path = scratch_path();

    for (int i = 1; i <= 3; i++) {
        call_once_opened(path, 10);
        EXPECT_NEAR(calls_of(path, today), 10 * i, 0);
    }
    EXPECT_INT(stored(path, today, "calls").records, 1);
    takt_ctx *first = open_ctx(path), *second = open_ctx(path);
    call(first, 5);
    call(second, 5);
    takt_ctx_destroy(first);
    takt_ctx_destroy(second);
    EXPECT_NEAR(calls_of(path, today), 40, 0);
}

static void a_process_may_run_for_days(void)
{
    const char *path = scratch_path();
    const int64_t first = today;
    takt_ctx *ctx = open_ctx(path);

    call(ctx, 10);
    today++;
    call(ctx, 20);
    today -= 3; /* somebody set the clock: the day goes on */
    call(ctx, 5);
    EXPECT_NEAR(calls_of(path, first), 10, 0);
    EXPECT_NEAR(calls_of(path, first + 1), 25, 0);
    EXPECT_INT(stored(path, first, "calls").records, 2);
    takt_ctx_destroy(ctx);
    today = first + 2;
}

static void a_day_replaces_the_one_400_days_before(void)
{
    const char *path = scratch_path();
    const int64_t first = today;

    call_once_opened(path, 10);
    today += 399;
    call_once_opened(path, 20);
    EXPECT_INT(stored(path, first, "calls").records, 2);
    today++;
    call_once_opened(path, 30);
    EXPECT_INT(stored(path, first, "calls").records, 2);
    EXPECT_NEAR(calls_of(path, first), 0, 0);
    EXPECT_NEAR(calls_of(path, first + 399), 20, 0);
    EXPECT_NEAR(calls_of(path, first + 400), 30, 0);
}

static void the_gain_is_the_mean_of_comparisons(void)
{
    const char *path = scratch_path();
    const takt_work unit = {.bytes = 1, .flops = 1};
    const takt_op *op;
    takt_ctx *ctx = open_ctx(path);

    REQUIRE(takt_ctx_define_op(ctx,
                               &(takt_op_spec){.size = sizeof(takt_op_spec),
                                               .name = "run.app-12345678"},
                               &op) == TAKT_OK);
    const takt_request request = {
        .op = op, .shape = {.rank = 1, .dim = {1}}, .work = &unit};
    for (int i = 0; i < 2; i++) {
        EXPECT_INT(takt_record(ctx, &(takt_measurement){.request = &request,
                                                        .expert = "baseline",
                                                        .seconds = 1,
                                                        .calls = 1}),
                   TAKT_OK);
        EXPECT_INT(
            takt_record(ctx, &(takt_measurement){.request = &request,
                                                 .expert = "routed",
                                                 .seconds = i == 0 ? 0.5 : 2,
                                                 .calls = 1}),
            TAKT_OK);
    }
    takt_ctx_destroy(ctx);
    const struct takt_record gain = stored(path, today, "gain").found;
    EXPECT_NEAR(gain.n, 2, 0);
    EXPECT_NEAR(gain.mean, log(1e9), 1e-9);
    /* What is recorded took no time of a call. */
    EXPECT_NEAR(calls_of(path, today), 0, 0);
    EXPECT_NEAR(stored(path, today, "calls").found.seconds, 0, 0);
}

static void to_forget_everything_forgets_days(void)
{
    const char *path = scratch_path();
    takt_ctx *ctx = open_ctx(path);

    call(ctx, 10);
    EXPECT_INT(takt_history_reset(ctx, takt_op_find("exp")), TAKT_OK);
    EXPECT_NEAR(calls_of(path, today), 10, 0);
    EXPECT_INT(takt_history_reset(ctx, NULL), TAKT_OK);
    EXPECT_INT(stored(path, today, "calls").records, 0);
    call(ctx, 5);
    EXPECT_NEAR(calls_of(path, today), 5, 0);
    takt_ctx_destroy(ctx);
}

static void days_are_no_records_of_ops(void)
{
    const char *path = scratch_path();
    takt_learning before = {.size = sizeof before}, after = before;

    call_once_opened(path, 10);
    takt_ctx *ctx = open_ctx(path);
    EXPECT_INT(takt_ctx_learning(ctx, &before), TAKT_OK);
    takt_ctx_destroy(ctx);
    for (int i = 0; i < 3; i++) {
        today++;
        call_once_opened(path, 10);
    }
    ctx = open_ctx(path);
    EXPECT_INT(takt_ctx_learning(ctx, &after), TAKT_OK);
    EXPECT(after.own_records <= before.own_records + 8); /* situations */
    EXPECT_NEAR(after.other_records, 0, 0);
    takt_ctx_destroy(ctx);
}

static void merge(const char *into, const char *from)
{
    EXPECT_INT(takt_store_merge(into, from, NULL, NULL), TAKT_OK);
}

static void merged_days_add_up_once(void)
{
    const char *one = scratch_path(), *two = scratch_path();
    const char *ab = scratch_path(), *ba = scratch_path();

    call_once_opened(one, 10);
    call_once_opened(two, 20);
    merge(ab, one);
    merge(ab, two);
    merge(ab, one);
    merge(ba, two);
    merge(ba, ab);
    char *first = scratch_export(ab), *second = scratch_export(ba);
    EXPECT_STR(first, second);
    EXPECT_NEAR(calls_of(ab, today), 30, 0);
    call_once_opened(one, 5); /* goes on after it was merged elsewhere */
    merge(ab, one);
    EXPECT_NEAR(calls_of(ab, today), 35, 0);
    free(first);
    free(second);
}

int main(void)
{
    scratch_make();
    a = calloc(size, sizeof *a);
    out = calloc(size, sizeof *out);
    REQUIRE(a != NULL && out != NULL);
    RUN(a_day_has_its_calls_and_their_budget);
    RUN(processes_of_one_day_add_up);
    RUN(a_process_may_run_for_days);
    RUN(a_day_replaces_the_one_400_days_before);
    RUN(the_gain_is_the_mean_of_comparisons);
    RUN(to_forget_everything_forgets_days);
    RUN(days_are_no_records_of_ops);
    RUN(merged_days_add_up_once);
    free(a);
    free(out);
    return tap_done();
}
