/* SPDX-License-Identifier: MIT */
/*
 * test_exit.c - exit() ends a program soon and with its status, whatever its
 * threads are doing, also from a signal handler inside of any function.
 */
#define _GNU_SOURCE /* sigaction, pthread_kill */
#include <pthread.h>
#include <sqlite3.h>

#include "learn/inside.h"

#include "call/ctx.h"
#include "store/scratch.h"
#include "support/tolerance.h"
#include "takt/takt.h"
#include "torture/child.h"

enum {
    callers = 3,
    order = is_sanitized ? 64 : 256,
    length = 256 * 256,
    few = is_sanitized ? 3 : 12 /* rounds */
};

static takt_ctx *ctx;
static pthread_t main_thread;
static float numbers[callers + 1][3][length];

static takt_request request_of(const char *op)
{
    return (takt_request){.op = takt_op_find(op),
                          .shape = {.rank = 1, .dim = {length}}};
}

static takt_call call_of(int thread)
{
    return (takt_call){.op = takt_op_find("exp"),
                       .shape = {.rank = 1, .dim = {length}},
                       .in = {numbers[thread][0]},
                       .out = numbers[thread][1]};
}

static takt_call product_of(int thread)
{
    return (takt_call){.op = takt_op_find("matmul"),
                       .shape = {.rank = 3, .dim = {order, order, order}},
                       .in = {numbers[thread][0], numbers[thread][1]},
                       .out = numbers[thread][2],
                       .alpha = 1};
}

static void make_ctx(const char *store, const char *blas)
{
    main_thread = pthread_self();
    REQUIRE(takt_ctx_create(&(takt_ctx_options){.store = store,
                                                .blas = blas,
                                                .gpu = "",
                                                .telemetry = "",
                                                .threads = 2},
                            &ctx) == TAKT_OK);
}

static void handle(void (*handler)(int number))
{
    const struct sigaction action = {.sa_handler = handler};

    REQUIRE(sigaction(SIGUSR1, &action, NULL) == 0);
}

static void start(void *run(void *self), void *self)
{
    pthread_t thread;

    REQUIRE(pthread_create(&thread, NULL, run, self) == 0);
    pthread_detach(thread);
}

/* ---- threads that compute --------------------------------------------------
 */

static _Atomic int begun;

/* The experts that are other people's libraries; without any, all. */
static bool is_of_library(const char *expert)
{
    return takt_ctx_library(ctx, 0) == NULL ||
           (strncmp(expert, "simd", 4) != 0 && strcmp(expert, "scalar") != 0);
}

/* One after another, for ever. */
static void *multiply(void *self)
{
    const int thread = (int)(intptr_t)self;
    const takt_call call = product_of(thread);

    for (size_t i = (size_t)thread;; i++) {
        const char *expert = takt_ctx_expert(ctx, i, NULL);
        if (expert == NULL)
            i = SIZE_MAX; /* from the first again */
        else if (is_of_library(expert))
            takt_run_on(ctx, &call, i);
        atomic_fetch_add(&begun, 1);
    }
    return NULL;
}

static void leave_while_threads_compute(void *self)
{
    make_ctx("", self);
    for (intptr_t i = 0; i < callers; i++)
        start(multiply, (void *)i);
    while (atomic_load(&begun) < 10 * callers)
        nap_us(100);
    nap_us(random_us(3000));
    exit(good_end);
}

static void a_program_may_end_while_threads_compute(void)
{
    expect_ends_well(leave_while_threads_compute, NULL, rounds_or(few));
}

static size_t slow_expert;

static void find_slow_expert(void)
{
    const char *name;

    make_ctx("", TAKT_SLOW_BLAS);
    do
        name = takt_ctx_expert(ctx, ++slow_expert, NULL);
    while (name != NULL && strcmp(name, "blas.blas") != 0);
    REQUIRE(name != NULL);
}

static void *multiply_slowly(void *self)
{
    const takt_call call = product_of((int)(intptr_t)self);

    for (;;) {
        atomic_fetch_add(&begun, 1);
        takt_run_on(ctx, &call, slow_expert);
    }
    return NULL;
}

static void await_callers(void)
{
    while (atomic_load(&begun) < 2 * callers)
        nap_us(100);
}

static void leave_while_the_library_computes(void *self)
{
    const takt_call call = product_of(callers);

    find_slow_expert();
    REQUIRE(takt_run_on(ctx, &call, slow_expert) == TAKT_OK);
    for (intptr_t i = 0; i < callers; i++)
        start(multiply_slowly, (void *)i);
    await_callers();
    exit(good_end);
    (void)self;
}

static void *interrupt_caller(void *self)
{
    await_callers();
    pthread_kill(main_thread, SIGUSR1);
    return self;
}

/* It is inside itself, and does not wait for itself. */
static void leave_from_inside_of_the_library(void *self)
{
    find_slow_expert();
    handle(end_well);
    for (intptr_t i = 1; i < callers; i++)
        start(multiply_slowly, (void *)i);
    start(interrupt_caller, NULL);
    multiply_slowly(self);
}

static void a_library_ends_when_no_call_is_inside(void)
{
    if (is_sanitized) {
        SKIP("the sanitizers cannot see into the other libraries");
        return;
    }
    expect_ends_well(leave_while_the_library_computes, NULL, rounds_or(2));
    expect_ends_well(leave_from_inside_of_the_library, NULL, rounds_or(2));
}

/* ---- handlers --------------------------------------------------------------
 */

static int visit(void *self, const takt_history_row *row)
{
    (void)self;
    return row->samples < 0;
}

/* Everything that takes a lock, and some that does not. */
static void ask_everything(void)
{
    const takt_request request = request_of("exp");
    const takt_measurement told = {
        .request = &request, .expert = "scalar", .seconds = 1e-4};
    takt_estimate estimate[8] = {{.size = sizeof estimate[0]}};
    takt_decision decision = {.size = sizeof decision};
    takt_history_row row = {.size = sizeof row};
    takt_learning learning = {.size = sizeof learning};
    takt_telemetry telemetry = {.size = sizeof telemetry};
    size_t count;

    takt_select(ctx, &request, &decision);
    takt_explain(ctx, &request, estimate, 8, &count);
    takt_record(ctx, &told);
    takt_ctx_learning(ctx, &learning);
    takt_history_best(ctx, &request, &row);
    takt_history_read(ctx, visit, NULL);
    takt_ctx_telemetry(ctx, &telemetry);
    takt_ctx_flush(ctx);
}

static void *interrupt(void *self)
{
    while (atomic_load(&begun) == 0)
        nap_us(100);
    nap_us(random_us(2000));
    pthread_kill(main_thread, SIGUSR1);
    return self;
}

static void leave_by_a_handler(void *self)
{
    const takt_call call = call_of(0);

    make_ctx(self, "");
    handle(end_well);
    start(interrupt, NULL);
    for (;;) {
        takt_run(ctx, &call, NULL);
        ask_everything();
        atomic_store(&begun, 1);
    }
}

static void a_handler_may_end_a_program_that_asks(void)
{
    expect_ends_well(leave_by_a_handler, "", rounds_or(2 * few));
    expect_ends_well(leave_by_a_handler, (void *)(uintptr_t)scratch_path(),
                     rounds_or(2 * few));
}

/* ---- locks that are held on purpose ----------------------------------------
 */

/* The file is somebody else's until this process ends. */
static void occupy(const char *path)
{
    static sqlite3 *db;

    REQUIRE(sqlite3_open(path, &db) == SQLITE_OK);
    REQUIRE(sqlite3_exec(db, "PRAGMA locking_mode=EXCLUSIVE; BEGIN EXCLUSIVE",
                         NULL, NULL, NULL) == SQLITE_OK);
}

static void await_store_lock(void)
{
    while (pthread_mutex_trylock(&ctx->learner->store_lock) == 0) {
        pthread_mutex_unlock(&ctx->learner->store_lock);
        nap_us(200);
    }
}

static void *interrupt_who_waits(void *self)
{
    await_store_lock();
    nap_us(20000);
    pthread_kill(main_thread, SIGUSR1);
    return self;
}

static void leave_while_waiting_for_the_file(void *self)
{
    takt_learning learning = {.size = sizeof learning};

    occupy(self);
    make_ctx(self, "");
    handle(end_well);
    start(interrupt_who_waits, NULL);
    for (;;)
        takt_ctx_learning(ctx, &learning);
}

static void a_handler_may_end_a_program_that_waits_for_the_file(void)
{
    expect_ends_well(leave_while_waiting_for_the_file,
                     (void *)(uintptr_t)scratch_path(), 1);
}

static void *wait_for_file(void *self)
{
    takt_learning learning = {.size = sizeof learning};

    for (;;)
        takt_ctx_learning(ctx, &learning);
    return self;
}

static void leave_while_another_waits(void *self)
{
    occupy(self);
    make_ctx(self, "");
    start(wait_for_file, NULL);
    await_store_lock();
    exit(good_end);
}

static void a_program_may_end_while_a_thread_waits_for_the_file(void)
{
    expect_ends_well(leave_while_another_waits,
                     (void *)(uintptr_t)scratch_path(), 1);
}

/* A thread that stays in the lock for ever stands for whatever is worse. */
static void *keep_lock(void *lock)
{
    pthread_mutex_lock(lock);
    atomic_store(&begun, 1);
    for (;;)
        pause();
    return NULL;
}

static void leave_with_a_lock_for_ever(void *self)
{
    const takt_call call = call_of(0);

    make_ctx("", "");
    takt_run(ctx, &call, NULL);
    start(keep_lock,
          self != NULL ? &ctx->learner->store_lock : &ctx->learner->lock);
    while (atomic_load(&begun) == 0)
        nap_us(100);
    exit(good_end);
}

static void exit_gives_up_a_lock_that_is_not_to_be_had(void)
{
    if (is_thread_sanitized) {
        SKIP("the sanitizer reports a lock that is never released");
        return;
    }
    expect_ends_well(leave_with_a_lock_for_ever, NULL, 1);
    if (torture_rounds > 0) /* exit() takes its time */
        expect_ends_well(leave_with_a_lock_for_ever, &begun, 1);
}

/* ---- destroying at exit ----------------------------------------------------
 */

static void destroy(void)
{
    takt_ctx_destroy(ctx);
}

static void leave_and_destroy(void *self)
{
    takt_learning learning = {.size = sizeof learning};

    occupy(self);
    make_ctx(self, "");
    atexit(destroy);
    handle(end_well);
    start(interrupt_who_waits, NULL);
    for (;;)
        takt_ctx_learning(ctx, &learning);
}

static void a_context_that_a_handler_left_may_be_destroyed_at_exit(void)
{
    expect_ends_well(leave_and_destroy, (void *)(uintptr_t)scratch_path(), 1);
}

/* ---- sinks -----------------------------------------------------------------
 */

static int stay(void *self, const takt_event *event)
{
    (void)event;
    atomic_store((_Atomic int *)self, 1);
    for (;;)
        pause();
    return 0;
}

static void close_nothing(void *self, unsigned deadline_ms)
{
    (void)self;
    (void)deadline_ms;
}

static int leave_in_sink(void *self, const takt_event *event)
{
    (void)self;
    (void)event;
    exit(good_end);
}

static void add_sink(int (*event)(void *self, const takt_event *event))
{
    const takt_sink sink = {
        .self = &begun, .event = event, .close = close_nothing, .wants_all = 1};

    make_ctx("", "");
    REQUIRE(takt_ctx_add_sink(ctx, &sink) == TAKT_OK);
}

static void leave_with_a_sink_that_stays(void *self)
{
    const takt_call call = call_of(0);

    (void)self;
    add_sink(stay);
    takt_run(ctx, &call, NULL);
    while (atomic_load(&begun) == 0)
        nap_us(100);
    exit(good_end);
}

static void leave_by_a_sink(void *self)
{
    const takt_call call = call_of(0);

    (void)self;
    add_sink(leave_in_sink);
    for (;;)
        takt_run(ctx, &call, NULL);
}

static void a_sink_that_never_returns_does_not_keep_a_program(void)
{
    expect_ends_well(leave_with_a_sink_that_stays, NULL, 1);
}

static void a_sink_may_end_the_program(void)
{
    expect_ends_well(leave_by_a_sink, NULL, rounds_or(3));
}

static void *export_first(void *unused)
{
    takt_diag diag;

    (void)takt_ctx_export(ctx, NULL, &diag);
    return unused;
}

static void leave_while_an_exporter_opens(void *unused)
{
    int opening[2];
    char byte, text[16];

    (void)unused;
    REQUIRE(pipe(opening) == 0);
    snprintf(text, sizeof text, "%d", opening[1]);
    setenv("TAKT_TEST_OPENING", text, 1);
    setenv("TAKT_OTEL", TAKT_SLOW_OTEL, 1);
    make_ctx("", "");
    start(export_first, NULL);
    REQUIRE(read(opening[0], &byte, 1) == 1);
    exit(good_end);
}

static void a_program_may_end_while_an_exporter_is_opened(void)
{
    expect_ends_well(leave_while_an_exporter_opens, NULL, 1);
}

int main(int argc, char **argv)
{
    torture_read(argc, argv);
    scratch_make();
    for (int i = 0; i <= callers; i++)
        for (int j = 0; j < length; j++)
            numbers[i][0][j] = numbers[i][1][j] = (float)(j % 7);
    RUN(a_program_may_end_while_threads_compute);
    RUN(a_library_ends_when_no_call_is_inside);
    RUN(a_handler_may_end_a_program_that_asks);
    RUN(a_handler_may_end_a_program_that_waits_for_the_file);
    RUN(a_program_may_end_while_a_thread_waits_for_the_file);
    RUN(exit_gives_up_a_lock_that_is_not_to_be_had);
    RUN(a_context_that_a_handler_left_may_be_destroyed_at_exit);
    RUN(a_sink_that_never_returns_does_not_keep_a_program);
    RUN(a_sink_may_end_the_program);
    RUN(a_program_may_end_while_an_exporter_is_opened);
    return tap_done();
}
