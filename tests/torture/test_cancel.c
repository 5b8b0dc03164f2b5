/* SPDX-License-Identifier: MIT */
/*
 * test_cancel.c - a thread that is cancelled inside of a function leaves no
 * lock behind: everybody else goes on.
 */
#define _GNU_SOURCE /* pthread_cancel and a store of its own */
#include <pthread.h>
#include <sqlite3.h>

#include "learn/inside.h"

#include "call/ctx.h"
#include "store/scratch.h"
#include "support/tolerance.h"
#include "takt/takt.h"
#include "torture/child.h"

#ifdef __SANITIZE_ADDRESS__
enum { is_address_sanitized = 1 };
#else
enum { is_address_sanitized = 0 };
#endif

enum { order = 64, length = 20000, victims = 3 };

static takt_ctx *ctx;
static const takt_op *own_op;
static float numbers[victims + 1][3][length];

static void make_ctx(const char *store, const char *blas)
{
    REQUIRE(takt_ctx_create(&(takt_ctx_options){.store = store,
                                                .blas = blas,
                                                .gpu = "",
                                                .telemetry = "",
                                                .threads = 2},
                            &ctx) == TAKT_OK);
}

static takt_request request_of(void)
{
    return (takt_request){.op = takt_op_find("exp"),
                          .shape = {.rank = 1, .dim = {length}}};
}

/* ---- a lock that is held for long ------------------------------------------
 */

static void *learn(void *out)
{
    takt_ctx_learning(ctx, out);
    pthread_testcancel();
    return NULL;
}

/* SQLite sleeps while somebody else has the file, which is where a thread may
 * be cancelled. */
static void cancel_who_waits_for_the_file(void *self)
{
    takt_learning learning = {.size = sizeof learning};
    pthread_t thread;
    sqlite3 *db;
    void *end;

    REQUIRE(sqlite3_open(self, &db) == SQLITE_OK);
    REQUIRE(sqlite3_exec(db, "PRAGMA locking_mode=EXCLUSIVE; BEGIN EXCLUSIVE",
                         NULL, NULL, NULL) == SQLITE_OK);
    make_ctx(self, "");
    REQUIRE(pthread_create(&thread, NULL, learn, &learning) == 0);
    while (pthread_mutex_trylock(&ctx->learner->store_lock) == 0) {
        pthread_mutex_unlock(&ctx->learner->store_lock);
        nap_us(200);
    }
    pthread_cancel(thread);
    pthread_join(thread, &end);
    REQUIRE(end == PTHREAD_CANCELED);
    sqlite3_close(db);
    REQUIRE(takt_ctx_learning(ctx, &learning) == TAKT_OK);
    takt_ctx_destroy(ctx);
    exit(good_end);
}

static void a_cancelled_wait_for_the_file_holds_nothing(void)
{
    expect_ends_well(cancel_who_waits_for_the_file,
                     (void *)(uintptr_t)scratch_path(), 1);
}

/* ---- a user's own code -----------------------------------------------------
 */

static _Atomic int begun;

static takt_status stay(const takt_call *call, void *self)
{
    (void)call;
    (void)self;
    atomic_store(&begun, 1);
    for (;;)
        pause(); /* where it is cancelled */
    return TAKT_OK;
}

static void *call_own(void *self)
{
    const takt_call call = {.op = own_op,
                            .shape = {.rank = 1, .dim = {length}},
                            .in = {numbers[0][0]},
                            .out = numbers[0][1]};

    takt_run(ctx, &call, NULL);
    return self;
}

static void cancel_own_code(void *self)
{
    const takt_expert_spec spec = {.name = "own", .run = stay};
    takt_learning learning = {.size = sizeof learning};
    pthread_t thread;
    void *end;

    make_ctx(self, "");
    REQUIRE(takt_ctx_define_op(ctx, &(takt_op_spec){.name = "own"}, &own_op) ==
            TAKT_OK);
    REQUIRE(takt_ctx_add_expert(ctx, own_op, &spec) == TAKT_OK);
    REQUIRE(pthread_create(&thread, NULL, call_own, NULL) == 0);
    while (atomic_load(&begun) == 0)
        nap_us(100);
    pthread_cancel(thread);
    pthread_join(thread, &end);
    REQUIRE(end == PTHREAD_CANCELED);
    REQUIRE(takt_ctx_learning(ctx, &learning) == TAKT_OK);
    takt_ctx_destroy(ctx);
    exit(good_end);
}

static void a_users_own_code_may_be_cancelled(void)
{
    if (is_address_sanitized) {
        SKIP("this sanitizer cannot follow a thread that is unwound");
        return;
    }
    expect_ends_well(cancel_own_code, "", 1);
}

/* ---- a storm ---------------------------------------------------------------
 */

static int visit(void *self, const takt_history_row *row)
{
    (void)self;
    return row->samples < 0;
}

static void write_pin(void)
{
    char path[160];
    takt_diag diag;

    snprintf(path, sizeof path, "%s/%d.pin", scratch, (int)getpid());
    takt_ctx_write_pin(ctx, path, &diag);
}

static void make_another(void)
{
    takt_ctx *other;

    if (takt_ctx_create(&(takt_ctx_options){.store = "", .gpu = ""}, &other) ==
        TAKT_OK)
        takt_ctx_destroy(other);
}

static void ask(int what)
{
    const takt_request request = request_of();
    const takt_measurement told = {
        .request = &request, .expert = "scalar", .seconds = 1e-4};
    takt_estimate estimate[8] = {{.size = sizeof estimate[0]}};
    takt_decision decision = {.size = sizeof decision};
    takt_history_row row = {.size = sizeof row};
    takt_learning learning = {.size = sizeof learning};
    takt_telemetry telemetry = {.size = sizeof telemetry};
    size_t count;

    switch (what % 10) {
    case 0:
        takt_select(ctx, &request, &decision);
        break;
    case 1:
        takt_explain(ctx, &request, estimate, 8, &count);
        break;
    case 2:
        takt_record(ctx, &told);
        break;
    case 3:
        takt_ctx_learning(ctx, &learning);
        break;
    case 4:
        takt_history_best(ctx, &request, &row);
        break;
    case 5:
        takt_history_read(ctx, visit, NULL);
        break;
    case 6:
        takt_ctx_telemetry(ctx, &telemetry);
        break;
    case 7:
        takt_ctx_flush(ctx);
        break;
    case 8:
        write_pin();
        break;
    default:
        make_another();
    }
}

static void multiply(int thread, int expert)
{
    const takt_call call = {.op = takt_op_find("matmul"),
                            .shape = {.rank = 3, .dim = {order, order, order}},
                            .in = {numbers[thread][0], numbers[thread][1]},
                            .out = numbers[thread][2],
                            .alpha = 1};
    size_t count = 0;

    while (takt_ctx_expert(ctx, count, NULL) != NULL)
        count++;
    takt_run_on(ctx, &call, (size_t)expert % count);
}

/* Until it is cancelled, wherever it is then. */
static void *go_on(void *self)
{
    const int thread = (int)(intptr_t)self;

    for (int i = thread;; i++) {
        ask(i);
        multiply(thread, i);
        atomic_fetch_add(&begun, 1);
        pthread_testcancel();
    }
    return NULL;
}

static void live_through_a_storm(void *self)
{
    pthread_t thread[victims];

    make_ctx(self, NULL);
    for (int round = 0; round < rounds_or(6); round++) {
        const int before = atomic_load(&begun);
        for (intptr_t i = 0; i < victims; i++)
            REQUIRE(pthread_create(&thread[i], NULL, go_on, (void *)i) == 0);
        while (atomic_load(&begun) < before + victims)
            nap_us(100);
        nap_us(random_us(5000));
        for (int i = 0; i < victims; i++)
            pthread_cancel(thread[i]);
        for (int i = 0; i < victims; i++)
            pthread_join(thread[i], NULL);
        alarm(longest_s);
    }
    for (int i = 0; i < 10; i++)
        ask(i);
    for (int i = 0; i < 30; i++)
        multiply(0, i);
    takt_ctx_destroy(ctx);
    exit(good_end);
}

static void everything_goes_on_after_threads_were_cancelled_anywhere(void)
{
    if (is_address_sanitized) {
        SKIP("this sanitizer cannot follow a thread that is unwound");
        return;
    }
    expect_ends_well(live_through_a_storm, "", 1);
    expect_ends_well(live_through_a_storm, (void *)(uintptr_t)scratch_path(),
                     1);
}

int main(int argc, char **argv)
{
    torture_read(argc, argv);
    scratch_make();
    RUN(a_cancelled_wait_for_the_file_holds_nothing);
    RUN(a_users_own_code_may_be_cancelled);
    RUN(everything_goes_on_after_threads_were_cancelled_anywhere);
    return tap_done();
}
