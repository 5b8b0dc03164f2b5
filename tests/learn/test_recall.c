/* SPDX-License-Identifier: MIT */
/*
 * test_recall.c - whose records count for what: this machine's as measured,
 * an older library's a little, other machines' as hints; and however many
 * there are.
 */
#define _GNU_SOURCE /* mkdtemp() */
#include <pthread.h>
#include <sqlite3.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/futex.h"
#include "call/ctx.h"
#include "learn/inside.h"
#include "store/scratch.h"
#include "takt/takt.h"

static takt_ctx *open_ctx(const char *store)
{
    takt_ctx *ctx;
    REQUIRE(takt_ctx_create(
                &(takt_ctx_options){.store = store, .blas = "", .threads = 1},
                &ctx) == TAKT_OK);
    return ctx;
}

static const takt_shape shape = {.rank = 1, .dim = {100000}};

static takt_request request_of(void)
{
    return (takt_request){.op = takt_op_find("add"), .shape = shape};
}

static takt_learning learning_of(takt_ctx *ctx)
{
    takt_learning learning = {.size = sizeof learning};
    EXPECT_INT(takt_ctx_learning(ctx, &learning), TAKT_OK);
    return learning;
}

/* `n` samples of an add of that size. */
static struct takt_record record_of(const char *expert, double seconds,
                                    double n)
{
    takt_work work;

    REQUIRE(takt_op_work(takt_op_find("add"), TAKT_F32, &shape, &work) ==
            TAKT_OK);
    struct takt_record record = {
        .bin = takt__key_of(takt_op_find("add"), TAKT_F32, &shape, 0, &work)
                   .bucket,
        .seq = 1,
        .n = n,
        .mean = log(seconds * 1e9),
        .m2 = 0.001 * n,
        .bytes = work.bytes,
        .flops = work.flops,
        .calls = n,
        .seconds = seconds * n,
    };
    strcpy(record.op, "add");
    snprintf(record.expert, sizeof record.expert, "%s", expert);
    return record;
}

static void write_as(const char *path, const char *machine,
                     const char *software, const struct takt_record *records,
                     size_t count)
{
    const struct takt_store_identity identity = {.machine = machine,
                                                 .software = software};
    struct takt_record copy[4];
    struct takt_store *store;
    takt_diag diag;

    memcpy(copy, records, count * sizeof *copy);
    REQUIRE(takt__store_open(path, &identity, &diag, &store) == TAKT_OK);
    EXPECT_INT(takt__store_write(store, copy, count), TAKT_OK);
    takt__store_close(store);
}

static void machine_of_this(char out[TAKT_SHA256_HEX])
{
    takt_ctx *ctx = open_ctx("");

    snprintf(out, TAKT_SHA256_HEX, "%s", takt_ctx_machine(ctx)->hw_fingerprint);
    takt_ctx_destroy(ctx);
}

/* On this machine scalar code is not the fastest; hearsay says it is. */
static void other_machines_are_a_hint(void)
{
    const char *path = scratch_path();
    const takt_request request = request_of();
    takt_decision decision = {.size = sizeof decision};
    takt_history_row row = {.size = sizeof row};
    const struct takt_record records[] = {record_of("scalar", 1e-7, 50)};

    write_as(path, "m1", "s", records, 1);
    write_as(path, "m2", "s", records, 1);
    takt_ctx *ctx = open_ctx(path);
    EXPECT_NEAR(learning_of(ctx).other_records, 2, 0);
    EXPECT_NEAR(learning_of(ctx).own_records, 0, 0);
    EXPECT_INT(takt_select(ctx, &request, &decision), TAKT_OK);
    EXPECT_STR(decision.expert, "scalar");
    EXPECT_INT(decision.reason, TAKT_REASON_PRIOR); /* no samples here */
    EXPECT_INT(takt_history_best(ctx, &request, &row), TAKT_ENOENT);
    for (int i = 0; i < 20; i++) /* one's own eyes count for more */
        EXPECT_INT(takt_record(ctx, &(takt_measurement){.request = &request,
                                                        .expert = "scalar",
                                                        .seconds = 1}),
                   TAKT_OK);
    EXPECT_INT(takt_select(ctx, &request, &decision), TAKT_OK);
    EXPECT(strcmp(decision.expert, "scalar") != 0 ||
           takt_ctx_expert(ctx, 1, NULL) == NULL);
    takt_ctx_destroy(ctx);
}

static void an_older_library_counts_for_three(void)
{
    const char *path = scratch_path();
    const takt_request request = request_of();
    char machine[TAKT_SHA256_HEX];
    takt_history_row row = {.size = sizeof row};
    const struct takt_record record = record_of("scalar", 1e-4, 100);

    machine_of_this(machine);
    write_as(path, machine, "older", &record, 1);
    takt_ctx *ctx = open_ctx(path);
    EXPECT_NEAR(learning_of(ctx).own_records, 1, 0);
    EXPECT_INT(takt_history_best(ctx, &request, &row), TAKT_OK);
    EXPECT_NEAR(row.samples, 3, 1e-9);
    EXPECT_NEAR(row.mean_s, 1e-4, 1e-6);
    EXPECT_NEAR(row.calls, 0, 0); /* they were not ours */
    takt_ctx_destroy(ctx);
}

static void report(takt_ctx *ctx, int count)
{
    const takt_request request = request_of();

    for (int i = 0; i < count; i++)
        EXPECT_INT(takt_record(ctx, &(takt_measurement){.request = &request,
                                                        .expert = "scalar",
                                                        .seconds = 1e-4}),
                   TAKT_OK);
}

static void writers_of_this_machine_add_up(void)
{
    const char *path = scratch_path();
    const takt_request request = request_of();
    takt_history_row row = {.size = sizeof row};
    takt_ctx *first = open_ctx(path), *second = open_ctx(path);

    report(first, 10);
    report(second, 7);
    EXPECT_INT(takt_ctx_flush(first), TAKT_OK);
    takt_ctx_destroy(second);
    takt_ctx *third = open_ctx(path); /* has the second one's name */
    EXPECT_INT(takt_history_best(third, &request, &row), TAKT_OK);
    EXPECT_NEAR(row.samples, 17, 1e-9);
    report(third, 1);
    takt_ctx_destroy(third);
    takt_ctx_destroy(first);
    takt_ctx *fourth = open_ctx(path);
    EXPECT_INT(takt_history_best(fourth, &request, &row), TAKT_OK);
    EXPECT_NEAR(row.samples, 18, 1e-9);
    takt_ctx_destroy(fourth);
}

/* More than are ever kept, of a machine and of unknown experts. */
static void there_may_be_more_than_anybody_keeps(void)
{
    enum { records = 70000, each = 2000 };
    const char *path = scratch_path();
    static struct takt_record batch[each];
    char machine[TAKT_SHA256_HEX];

    machine_of_this(machine);
    for (int own = 0; own < 2; own++) {
        const struct takt_store_identity identity = {
            .machine = own ? machine : "m1", .software = "older"};
        struct takt_store *store;
        takt_diag diag;
        REQUIRE(takt__store_open(path, &identity, &diag, &store) == TAKT_OK);
        for (int i = 0; i < records; i++) {
            batch[i % each] = record_of("scalar", 1e-4, 1);
            snprintf(batch[i % each].expert, sizeof batch[0].expert, "x%d", i);
            if (i % each == each - 1)
                REQUIRE(takt__store_write(store, batch, each) == TAKT_OK);
        }
        takt__store_close(store);
    }
    takt_ctx *ctx = open_ctx(path);
    EXPECT_NEAR(learning_of(ctx).other_records, records, 0);
    EXPECT_NEAR(learning_of(ctx).own_records, records, 0);
    report(ctx, 1);
    EXPECT_INT(takt_ctx_flush(ctx), TAKT_OK);
    takt_ctx_destroy(ctx);
}

/* ---- waiting for the file ------------------------------------------------
 */

static _Atomic bool is_flushed;

static void *flush(void *ctx)
{
    EXPECT_INT(takt_ctx_flush(ctx), TAKT_EIO);
    atomic_store(&is_flushed, true);
    return NULL;
}

/* A context that learned nothing has nothing to wait for. Each of these rounds
 * would take two seconds. */
static void who_only_reads_does_not_wait_for_the_file(void)
{
    enum { rounds = 20, seconds = 30 };
    const char *path = scratch_path();
    sqlite3 *db;

    takt_ctx *first = open_ctx(path);
    report(first, 5);
    takt_ctx_destroy(first);
    REQUIRE(sqlite3_open(path, &db) == SQLITE_OK);
    REQUIRE(sqlite3_exec(db, "PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE",
                         NULL, NULL, NULL) == SQLITE_OK);
    alarm(seconds);
    for (int i = 0; i < rounds; i++) {
        takt_ctx *ctx = open_ctx(path);
        const pid_t child = i % 2 == 0 ? fork() : -1;
        if (child == 0)
            _exit(0);
        if (child > 0)
            waitpid(child, NULL, 0);
        takt_ctx_destroy(ctx);
    }
    alarm(0);
    sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL);
    sqlite3_close(db);
    takt_ctx *ctx = open_ctx(path);
    EXPECT(learning_of(ctx).own_records + learning_of(ctx).other_records > 0);
    takt_ctx_destroy(ctx);
}

/* SQLite waits two seconds for the process that has the file; we have it for
 * longer. */
static void a_question_does_not_wait_for_the_file(void)
{
    const char *path = scratch_path();
    const takt_request request = request_of();
    takt_ctx *ctx = open_ctx(path);
    takt_estimate estimate[4] = {{.size = sizeof estimate[0]}};
    size_t count;
    pthread_t thread;
    sqlite3 *db;

    report(ctx, 5);
    EXPECT_INT(takt_ctx_flush(ctx), TAKT_OK);
    REQUIRE(sqlite3_open(path, &db) == SQLITE_OK);
    REQUIRE(sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL, NULL) == SQLITE_OK);
    report(ctx, 5);
    REQUIRE(pthread_create(&thread, NULL, flush, ctx) == 0);
    nanosleep(&(struct timespec){.tv_nsec = 300000000}, NULL);
    EXPECT_INT(takt_explain(ctx, &request, estimate, 4, &count), TAKT_OK);
    report(ctx, 5);
    EXPECT(!atomic_load(&is_flushed));
    pthread_join(thread, NULL);
    sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL);
    sqlite3_close(db);
    EXPECT_INT(takt_ctx_flush(ctx), TAKT_OK); /* and nothing was lost */
    takt_ctx_destroy(ctx);
    ctx = open_ctx(path);
    takt_history_row row = {.size = sizeof row};
    EXPECT_INT(takt_history_best(ctx, &request, &row), TAKT_OK);
    EXPECT_NEAR(row.samples, 15, 1e-9);
    takt_ctx_destroy(ctx);
}

/* ---- beside others
 * -----------------------------------------------------------
 */

static _Atomic bool is_over;

/* Returns how often. */
static void *keep_telling(void *ctx)
{
    long reported = 0;

    for (; !atomic_load(&is_over); reported++) {
        report(ctx, 1);
        nanosleep(&(struct timespec){.tv_nsec = 50000}, NULL);
    }
    return (void *)reported;
}

/* A fork closes the store, having written everything to it. */
static void what_is_told_while_a_process_forks_is_kept(void)
{
    const char *path = scratch_path();
    const takt_request request = request_of();
    takt_ctx *ctx = open_ctx(path);
    takt_history_row row = {.size = sizeof row};
    pthread_t thread;
    void *reported;

    REQUIRE(pthread_create(&thread, NULL, keep_telling, ctx) == 0);
    for (int i = 0; i < 60; i++) {
        nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
        EXPECT_INT(takt_ctx_flush(ctx), TAKT_OK);
        const pid_t child = fork();
        REQUIRE(child >= 0);
        if (child == 0)
            _exit(0);
        waitpid(child, NULL, 0);
    }
    atomic_store(&is_over, true);
    pthread_join(thread, &reported);
    takt_ctx_destroy(ctx);
    ctx = open_ctx(path);
    EXPECT_INT(takt_history_best(ctx, &request, &row), TAKT_OK);
    EXPECT_NEAR(row.calls, (double)(long)reported, 0);
    takt_ctx_destroy(ctx);
}

static takt_status do_nothing(const takt_call *call, void *self)
{
    (void)call;
    (void)self;
    return TAKT_OK;
}

/* The `i`-th op of the user's, with an expert; what is stored of it is claimed
 * then. */
static const takt_op *define(takt_ctx *ctx, int i)
{
    const takt_op *op;
    char name[32];

    snprintf(name, sizeof name, "mine%d", i);
    REQUIRE(takt_ctx_define_op(ctx, &(takt_op_spec){.name = name}, &op) ==
            TAKT_OK);
    REQUIRE(
        takt_ctx_add_expert(
            ctx, op, &(takt_expert_spec){.name = "way", .run = do_nothing}) ==
        TAKT_OK);
    return op;
}

static void *fail_to_write(void *ctx)
{
    for (int i = 0; i < 2; i++) { /* the second time the file is closed */
        report(ctx, 1);
        EXPECT_INT(takt_ctx_flush(ctx), TAKT_EIO);
    }
    atomic_store(&is_over, true);
    return NULL;
}

/* For the sanitizers: a claim must not look at a store that is closed. */
static void records_are_claimed_while_the_file_is_in_trouble(void)
{
    enum { ops = 24 };
    const char *path = scratch_path();
    takt_ctx *ctx = open_ctx(path);
    pthread_t thread;
    sqlite3 *db;

    for (int i = 0; i < ops; i++) {
        const takt_measurement reported = {
            .request = &(takt_request){.op = define(ctx, i), .shape = shape},
            .expert = "user.way",
            .seconds = 1e-4};
        EXPECT_INT(takt_record(ctx, &reported), TAKT_OK);
    }
    takt_ctx_destroy(ctx);
    ctx = open_ctx(path);
    report(ctx, 1);
    EXPECT_INT(takt_ctx_flush(ctx), TAKT_OK);
    REQUIRE(sqlite3_open(path, &db) == SQLITE_OK);
    REQUIRE(sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL, NULL) == SQLITE_OK);
    atomic_store(&is_over, false);
    REQUIRE(pthread_create(&thread, NULL, fail_to_write, ctx) == 0);
    for (int i = 0; i < ops && !atomic_load(&is_over); i++) {
        define(ctx, i);
        nanosleep(&(struct timespec){.tv_nsec = 190000000}, NULL);
    }
    pthread_join(thread, NULL);
    sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL);
    sqlite3_close(db);
    takt_ctx_destroy(ctx);
}

/* What is expected of the only expert of an op of the user's, which is defined
 * after the store was read. */
static double expect_way(const char *path)
{
    takt_ctx *ctx = open_ctx(path);
    takt_estimate estimate = {.size = sizeof estimate};
    size_t count;

    learning_of(ctx); /* reads it */
    const takt_request request = {.op = define(ctx, 0), .shape = shape};
    EXPECT_INT(takt_explain(ctx, &request, &estimate, 1, &count), TAKT_OK);
    EXPECT_INT(count, 1);
    takt_ctx_destroy(ctx);
    return estimate.predicted_s;
}

static void a_hint_waits_for_its_expert(void)
{
    const char *path = scratch_path();
    struct takt_record record = record_of("user.way", 1, 50);

    strcpy(record.op, "mine0");
    write_as(path, "m1", "s", &record, 1);
    EXPECT(expect_way(path) > 5 * expect_way(scratch_path()));
}

/* ---- the first calls -------------------------------------------------------
 */

/* A context whose first calls wait for the store however long it takes. */
static takt_ctx *open_patient(const char *path)
{
    takt_ctx *ctx = open_ctx(path);

    atomic_store(&ctx->learner->ask_end_ns, UINT64_MAX);
    return ctx;
}

/* Runs calls of add and of sum, which is not in the store, in turns; counts
 * those of each that the model decided. */
static void count_calls(takt_ctx *ctx, int calls, unsigned flags,
                        int by_model[])
{
    static float x[100000], y[100000];
    const takt_call call[] = {{.op = takt_op_find("add"),
                               .shape = shape,
                               .flags = flags,
                               .in = {x, x},
                               .out = y},
                              {.op = takt_op_find("sum"),
                               .shape = shape,
                               .flags = flags,
                               .in = {x},
                               .out = y}};

    by_model[0] = by_model[1] = 0;
    for (int i = 0; i < calls; i++) {
        takt_decision decision = {.size = sizeof decision};
        EXPECT_INT(takt_run(ctx, &call[i % 2], &decision), TAKT_OK);
        by_model[i % 2] += decision.reason == TAKT_REASON_MODEL;
    }
}

static void report_all_experts(const char *path)
{
    const takt_request request = request_of();
    takt_ctx *ctx = open_ctx(path);
    const char *name;

    for (size_t e = 0; (name = takt_ctx_expert(ctx, e, NULL)) != NULL; e++)
        for (int i = 0; i < 10; i++)
            EXPECT_INT(takt_record(ctx, &(takt_measurement){.request = &request,
                                                            .expert = name,
                                                            .seconds = 2e-5}),
                       TAKT_OK);
    takt_ctx_destroy(ctx);
}

/* All but a few trials. */
static void the_first_calls_go_by_what_was_stored(void)
{
    const char *path = scratch_path();
    int by_model[2];

    report_all_experts(path);
    takt_ctx *ctx = open_patient(path);
    count_calls(ctx, 2, 0, by_model);
    EXPECT_INT(by_model[0], 1); /* the very first one */
    EXPECT_INT(by_model[1], 0);
    count_calls(ctx, 2000, 0, by_model);
    EXPECT(by_model[0] >= 950);
    takt_ctx_destroy(ctx);
}

/* By the learner's thread, as soon as there is a context. */
static void a_store_is_read_before_the_first_call(void)
{
    const char *path = scratch_path();

    report_all_experts(path);
    takt_ctx *ctx = open_ctx(path);
    takt__futex_changes(&ctx->learner->was_tried, 0,
                        takt__now_ns() + UINT64_C(60000000000));
    EXPECT(atomic_load(&ctx->learner->is_loaded));
    takt_ctx_destroy(ctx);
}

/* Verdicts of what nobody calls are nobody's business. */
static void a_store_is_published_as_it_is_asked_for(void)
{
    const char *path = scratch_path();
    const struct takt_record record = record_of("scalar", 1e-4, 10);
    struct takt_key key = {.bucket = (uint8_t)record.bin};
    int by_model[2];

    key.series = (uint16_t)takt__series_find(takt_op_find("add"), TAKT_F32, "");
    report_all_experts(path);
    takt_ctx *ctx = open_patient(path);
    EXPECT(learning_of(ctx).own_records >= 1); /* it is read */
    EXPECT_INT(takt__table_load(&ctx->decider.table, key, TAKT_REPEAT), 0);
    count_calls(ctx, 1, TAKT_CALL_URGENT, by_model);
    EXPECT_INT(by_model[0], 0);       /* it asks for nothing */
    count_calls(ctx, 1, 0, by_model); /* on the same operands */
    EXPECT_INT(by_model[0], 1);
    EXPECT(takt__table_load(&ctx->decider.table, key, TAKT_REPEAT) != 0);
    takt_ctx_destroy(ctx);
}

static void a_first_call_does_not_wait_for_ever(void)
{
    const char *path = scratch_path();
    int by_model[2];
    takt_ctx *ctx = open_ctx(path);

    takt__lock(&ctx->learner->store_lock); /* it is never read */
    count_calls(ctx, 4, 0, by_model);
    EXPECT_INT(by_model[0] + by_model[1], 0);
    takt__unlock(&ctx->learner->store_lock);
    takt_ctx_destroy(ctx);
}

/* ---- tails --------------------------------------------------------------- */

static takt_history_row row_in(const char *store)
{
    const takt_request request = request_of();
    takt_history_row row = {.size = sizeof row};
    takt_ctx *ctx = open_ctx(store);

    EXPECT_INT(takt_history_best(ctx, &request, &row), TAKT_OK);
    takt_ctx_destroy(ctx);
    return row;
}

/* One call in 20 takes five times as long. */
static void record_tail(const char *store, unsigned calls)
{
    const takt_request request = request_of();
    takt_ctx *ctx = open_ctx(store);

    for (unsigned i = 0; i < calls; i++)
        REQUIRE(takt_record(ctx, &(takt_measurement){.request = &request,
                                                     .expert = "scalar",
                                                     .seconds = i % 20 == 19
                                                                    ? 5e-4
                                                                    : 1e-4}) ==
                TAKT_OK);
    EXPECT_INT(takt_ctx_flush(ctx), TAKT_OK);
    takt_ctx_destroy(ctx);
}

static void tails_are_stored_and_merged(void)
{
    char path[3][256];
    takt_store_report report = {.size = sizeof report};

    for (int i = 0; i < 3; i++)
        snprintf(path[i], sizeof path[i], "%s%d", scratch_path(), i);
    record_tail(path[0], 400);
    record_tail(path[1], 200);
    const takt_history_row one = row_in(path[0]);
    EXPECT(one.tail_samples > 380 && one.tail_samples < 401);
    EXPECT(one.p99_s > 4e-4 && one.p99_s < 8e-4);
    EXPECT(one.p95_s < one.p99_s && one.p99_s <= one.p999_s);
    /* In either order, and once more: the same. */
    EXPECT_INT(takt_store_merge(path[2], path[0], &report, NULL), TAKT_OK);
    EXPECT_INT(takt_store_merge(path[2], path[1], &report, NULL), TAKT_OK);
    EXPECT_INT(takt_store_merge(path[1], path[0], &report, NULL), TAKT_OK);
    EXPECT_INT(takt_store_merge(path[1], path[0], &report, NULL), TAKT_OK);
    const takt_history_row a = row_in(path[2]), b = row_in(path[1]);
    EXPECT(a.tail_samples > 570 && a.tail_samples < 601);
    EXPECT_NEAR(a.tail_samples, b.tail_samples, 0);
    EXPECT_NEAR(a.p99_s, b.p99_s, 1e-12);
    /* A process that goes on writes over what it wrote, not beside it. */
    record_tail(path[0], 100);
    EXPECT(row_in(path[0]).tail_samples > 480);
    EXPECT(row_in(path[0]).tail_samples < 501);
}

int main(void)
{
    scratch_make();
    RUN(a_hint_waits_for_its_expert);
    RUN(the_first_calls_go_by_what_was_stored);
    RUN(a_store_is_read_before_the_first_call);
    RUN(a_store_is_published_as_it_is_asked_for);
    RUN(a_first_call_does_not_wait_for_ever);
    RUN(other_machines_are_a_hint);
    RUN(an_older_library_counts_for_three);
    RUN(writers_of_this_machine_add_up);
    RUN(there_may_be_more_than_anybody_keeps);
    RUN(who_only_reads_does_not_wait_for_the_file);
    RUN(a_question_does_not_wait_for_the_file);
    RUN(what_is_told_while_a_process_forks_is_kept);
    RUN(records_are_claimed_while_the_file_is_in_trouble);
    RUN(tails_are_stored_and_merged);
    return tap_done();
}
