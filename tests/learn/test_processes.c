/* SPDX-License-Identifier: MIT */
/*
 * test_processes.c - what contexts learn survives: fork() in any state, exit()
 * from anywhere, kill -9, two contexts on one store, a store in trouble, and a
 * program that closes its descriptors.
 * Nothing is counted twice: the calls in the store are the calls made.
 */
#define _GNU_SOURCE /* struct timespec, kill */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <time.h>

#include "call/ctx.h"
#include "store/scratch.h"
#include "support/tolerance.h"
#include "takt/takt.h"

/* Long enough that every call is timed: each stands for itself. */
enum { size = 120000, most_threads = 3 };

static float *a, *out[most_threads];

static takt_ctx *open_ctx(const char *store)
{
    takt_ctx *ctx;
    REQUIRE(takt_ctx_create(
                &(takt_ctx_options){.store = store, .blas = "", .threads = 2},
                &ctx) == TAKT_OK);
    return ctx;
}

static void call(takt_ctx *ctx, int count, int thread)
{
    const takt_call one = {.op = takt_op_find("exp"),
                           .shape = {.rank = 1, .dim = {size}},
                           .in = {a},
                           .out = out[thread]};

    for (int i = 0; i < count; i++)
        EXPECT_INT(takt_run(ctx, &one, NULL), TAKT_OK);
}

/* By their statistics, and by the records of days. */
struct stored {
    double calls, calls_of_days;
};

static void add_calls(void *self, const struct takt_record *record)
{
    struct stored *stored = self;

    if (strcmp(record->op, "takt:day") != 0)
        stored->calls += record->calls;
    else if (strcmp(record->expert, "calls") == 0)
        stored->calls_of_days += record->calls;
}

static struct stored stored_in(const char *path)
{
    struct takt_store *store = scratch_open(path);
    struct stored stored = {0};

    EXPECT_INT(takt__store_read(store, add_calls, &stored), TAKT_OK);
    takt__store_close(store);
    return stored;
}

static double stored_calls(const char *path)
{
    const struct stored stored = stored_in(path);

    EXPECT_NEAR(stored.calls_of_days, stored.calls, 1e-6);
    return stored.calls;
}

static double dropped(takt_ctx *ctx)
{
    takt_learning learning = {.size = sizeof learning};

    EXPECT_INT(takt_ctx_learning(ctx, &learning), TAKT_OK);
    return (double)learning.dropped;
}

static void nap(long ms)
{
    nanosleep(&(struct timespec){.tv_nsec = ms * 1000000}, NULL);
}

/* In a process of its own that ends by exit(), as programs do; it must not
 * hang. */
static pid_t spawn(void (*body)(void *self), void *self)
{
    fflush(stdout);
    const pid_t child = fork();
    REQUIRE(child >= 0);
    if (child > 0)
        return child;
    alarm(60);
    tap_failures = 0;
    body(self);
    exit(tap_failures != 0);
}

/* ---- one process ---------------------------------------------------------
 */

static void what_was_learned_is_there_the_next_time(void)
{
    const char *path = scratch_path();
    const takt_request request = {.op = takt_op_find("exp"),
                                  .shape = {.rank = 1, .dim = {size}},
                                  .situation = TAKT_SITUATION_REPEAT};
    takt_history_row row = {.size = sizeof row};
    takt_learning learning = {.size = sizeof learning};

    for (int round = 1; round <= 3; round++) {
        takt_ctx *ctx = open_ctx(path);
        EXPECT_INT(takt_history_best(ctx, &request, &row),
                   round == 1 ? TAKT_ENOENT : TAKT_OK);
        EXPECT_INT(takt_ctx_learning(ctx, &learning), TAKT_OK);
        EXPECT_STR(learning.store, path);
        EXPECT_STR(learning.diag.text, "");
        EXPECT_INT(learning.own_records > 0, round > 1);
        call(ctx, 50, 0);
        takt_ctx_destroy(ctx);
        EXPECT_NEAR(stored_calls(path), 50 * round, 1e-6);
    }
}

static void a_context_that_learned_nothing_makes_no_file(void)
{
    const char *path = scratch_path();

    takt_ctx_destroy(open_ctx(path));
    EXPECT(!scratch_exists(path, ""));
}

static void two_contexts_share_a_store(void)
{
    const char *path = scratch_path();

    for (int round = 1; round <= 2; round++) {
        takt_ctx *first = open_ctx(path), *second = open_ctx(path);
        call(first, 30, 0);
        call(second, 20, 0);
        EXPECT_INT(takt_ctx_flush(first), TAKT_OK);
        EXPECT_INT(takt_ctx_flush(second), TAKT_OK);
        EXPECT_INT(takt_ctx_flush(second), TAKT_OK);
        call(first, 5, 0);
        takt_ctx_destroy(second);
        takt_ctx_destroy(first);
        EXPECT_NEAR(stored_calls(path), 55 * round, 1e-6);
    }
}

/* ---- fork ----------------------------------------------------------------
 */

struct family {
    const char *path;
    takt_ctx *ctx;
    int generations;
};

static void live_on(void *self)
{
    struct family *family = self;

    call(family->ctx, 10, 0);
    EXPECT_INT(takt_ctx_flush(family->ctx), TAKT_OK);
    call(family->ctx, 5, 0);
    if (--family->generations > 0)
        scratch_join(spawn(live_on, family));
    call(family->ctx, 2, 0); /* stored by exit() */
}

/* The parent forks before it learned, with its learner awake, and asleep. */
static void parent_and_child_each_store_their_own(void)
{
    struct family family = {.path = scratch_path()};
    double made = 0;

    if (is_thread_sanitized) {
        SKIP("this sanitizer cannot follow a fork");
        return;
    }
    family.ctx = open_ctx(family.path);
    for (int round = 0; round < 4; round++) {
        family.generations = 1 + round % 2;
        made += 17 * family.generations;
        const pid_t child = spawn(live_on, &family);
        call(family.ctx, 20, 0);
        made += 20;
        if (round % 2 == 0)
            scratch_join(child);
        EXPECT_INT(takt_ctx_flush(family.ctx), TAKT_OK);
        call(family.ctx, 3, 0);
        made += 3;
        if (round % 2 != 0)
            scratch_join(child);
        if (round == 2)
            nap(250);
    }
    takt_ctx_destroy(family.ctx);
    EXPECT_NEAR(stored_calls(family.path), made, 1e-6);
}

static bool is_heard(takt_ctx *ctx)
{
    const struct takt_journal *journal = takt__learner_journal(ctx->learner);

    for (int i = 0; i < 4000 && takt__journal_count(journal) > 0; i++)
        nap(5);
    return takt__journal_count(journal) == 0;
}

static void learn_alone(void *self)
{
    call(self, 10, 0);
    EXPECT(is_heard(self));
}

static void a_child_has_a_learner_of_its_own(void)
{
    takt_ctx *ctx = open_ctx("");

    if (is_thread_sanitized) {
        SKIP("this sanitizer cannot follow a fork");
        takt_ctx_destroy(ctx);
        return;
    }
    for (int i = 0; i < 3; i++) {
        call(ctx, 10, 0);
        scratch_join(spawn(learn_alone, ctx)); /* the parent's is awake ... */
        nap(250);
        scratch_join(spawn(learn_alone, ctx)); /* ... and asleep */
    }
    takt_ctx_destroy(ctx);
}

/* A child that ends last still writes into the log that is there. */
static void outlive(void *self)
{
    const struct family *family = self;

    call(family->ctx, 10, 0);
    EXPECT_INT(takt_ctx_flush(family->ctx), TAKT_OK);
    nap(400);
    call(family->ctx, 10, 0);
    EXPECT_INT(takt_ctx_flush(family->ctx), TAKT_OK);
}

static void a_child_may_outlive_its_parents_store(void)
{
    struct family family = {.path = scratch_path()};

    if (is_thread_sanitized) {
        SKIP("this sanitizer cannot follow a fork");
        return;
    }
    family.ctx = open_ctx(family.path);
    call(family.ctx, 10, 0);
    EXPECT_INT(takt_ctx_flush(family.ctx), TAKT_OK);
    const pid_t child = spawn(outlive, &family);
    call(family.ctx, 10, 0);
    nap(150);
    takt_ctx_destroy(family.ctx);
    scratch_join(child);
    EXPECT_NEAR(stored_calls(family.path), 40, 1e-6);
}

static _Atomic bool is_over;
static _Atomic int made_in_storm;
static takt_ctx *storm;

static void *call_on_and_on(void *self)
{
    while (!atomic_load(&is_over)) {
        call(storm, 10, (int)(intptr_t)self);
        atomic_fetch_add(&made_in_storm, 10);
    }
    return NULL;
}

static void live_in_storm(void *self)
{
    (void)self;
    call(storm, 20, 0);
    EXPECT_INT(takt_ctx_flush(storm), TAKT_OK);
    EXPECT_NEAR(dropped(storm), 0, 0);
}

/* Threads are inside of calls, samples half-written, the learner at work. */
static void a_fork_among_calls_does_no_harm(void)
{
    enum { forks = 25, callers = 2 };
    const char *path = scratch_path();
    pthread_t thread[callers];
    double lost;

    if (is_sanitized) {
        SKIP("the sanitizers' own locks do not survive such a fork");
        return;
    }
    storm = open_ctx(path);
    for (intptr_t i = 0; i < callers; i++)
        REQUIRE(pthread_create(&thread[i], NULL, call_on_and_on,
                               (void *)(i + 1)) == 0);
    for (int i = 0; i < forks; i++) {
        scratch_join(spawn(live_in_storm, NULL));
        nap(i % 5);
    }
    atomic_store(&is_over, true);
    for (int i = 0; i < callers; i++)
        pthread_join(thread[i], NULL);
    lost = dropped(storm);
    takt_ctx_destroy(storm);
    EXPECT_NEAR(stored_calls(path) + lost, made_in_storm + forks * 20, 1e-6);
}

/* ---- the end -------------------------------------------------------------
 */

static void *leave(void *self)
{
    (void)self;
    exit(tap_failures != 0);
}

static void leave_by_a_thread(void *self)
{
    pthread_t thread;

    call(open_ctx(self), 40, 0);
    REQUIRE(pthread_create(&thread, NULL, leave, NULL) == 0);
    pthread_join(thread, NULL);
}

static void leave_at_once(void *self)
{
    call(open_ctx(self), 40, 0);
}

static void exit_stores_what_was_learned(void)
{
    const char *path = scratch_path();

    if (is_thread_sanitized) {
        SKIP("this sanitizer cannot follow a fork");
        return;
    }
    scratch_join(spawn(leave_at_once, (void *)(uintptr_t)path));
    EXPECT_NEAR(stored_calls(path), 40, 1e-6);
    scratch_join(spawn(leave_by_a_thread, (void *)(uintptr_t)path));
    EXPECT_NEAR(stored_calls(path), 80, 1e-6);
}

struct victim {
    const char *path;
    int news[2];
};

static void work_until_killed(void *self)
{
    const struct victim *victim = self;
    takt_ctx *ctx = open_ctx(victim->path);

    for (int calls = 25;; calls += 25) {
        call(ctx, 25, 0);
        if (takt_ctx_flush(ctx) != TAKT_OK ||
            write(victim->news[1], &calls, sizeof calls) != sizeof calls)
            _exit(1);
    }
}

static void kill_loses_only_what_was_not_flushed(void)
{
    double before = 0;
    struct victim victim = {.path = scratch_path()};

    if (is_thread_sanitized) {
        SKIP("this sanitizer cannot follow a fork");
        return;
    }
    for (int round = 0; round < 8; round++) {
        int reported = 0, status;
        REQUIRE(pipe(victim.news) == 0);
        const pid_t child = spawn(work_until_killed, &victim);
        close(victim.news[1]);
        REQUIRE(read(victim.news[0], &reported, sizeof reported) ==
                sizeof reported);
        nap(7 * round);
        kill(child, SIGKILL);
        REQUIRE(waitpid(child, &status, 0) == child);
        while (read(victim.news[0], &reported, sizeof reported) ==
               sizeof reported)
            ;
        close(victim.news[0]);
        const double calls = stored_calls(victim.path);
        TAP_CHECK(calls >= before + reported && calls <= before + reported + 25,
                  "%g calls after %g and %d", calls, before, reported);
        before = calls;
    }
}

/* The thread saves by itself: no flush, no exit. */
static void work_quietly(void *self)
{
    const struct victim *victim = self;
    takt_ctx *ctx = open_ctx(victim->path);
    int calls = 30;

    call(ctx, calls, 0);
    if (write(victim->news[1], &calls, sizeof calls) != sizeof calls)
        _exit(1);
    for (;;)
        nap(500);
}

static void an_idle_learner_has_stored_everything(void)
{
    struct victim victim = {.path = scratch_path()};
    int reported, status;

    if (is_thread_sanitized) {
        SKIP("this sanitizer cannot follow a fork");
        return;
    }
    REQUIRE(pipe(victim.news) == 0);
    const pid_t child = spawn(work_quietly, &victim);
    REQUIRE(read(victim.news[0], &reported, sizeof reported) ==
            sizeof reported);
    double calls = 0;
    for (int i = 0; i < 100 && calls < reported; i++) {
        nap(100);
        if (scratch_exists(victim.path, ""))
            calls = stored_calls(victim.path);
    }
    kill(child, SIGKILL);
    REQUIRE(waitpid(child, &status, 0) == child);
    EXPECT_NEAR(stored_calls(victim.path), reported, 1e-6);
    close(victim.news[0]);
    close(victim.news[1]);
}

/* ---- trouble -------------------------------------------------------------
 */

static void a_store_that_cannot_be_had_is_said_and_no_more(void)
{
    char path[256];
    takt_learning learning = {.size = sizeof learning};

    snprintf(path, sizeof path, "%s/file", scratch);
    scratch_save(path, "x", 1);
    snprintf(path, sizeof path, "%s/file/below.db", scratch);
    takt_ctx *ctx = open_ctx(path);
    call(ctx, 20, 0);
    EXPECT_INT(takt_ctx_flush(ctx), TAKT_EIO);
    EXPECT_INT(takt_ctx_learning(ctx, &learning), TAKT_OK);
    EXPECT(learning.diag.text[0] != '\0');
    EXPECT_INT(learning.samples, 20);
    call(ctx, 20, 0);
    takt_ctx_destroy(ctx);
}

static void remove_store(const char *path)
{
    static const char *const ends[] = {"", "-wal", "-shm"};
    char name[256];

    for (int i = 0; i < 3; i++) {
        snprintf(name, sizeof name, "%s%s", path, ends[i]);
        unlink(name);
    }
}

static void a_store_that_was_removed_is_made_again(void)
{
    const char *path = scratch_path();
    takt_ctx *ctx = open_ctx(path);
    takt_status status = TAKT_EIO;
    takt_learning learning = {.size = sizeof learning};
    int again = 0;

    call(ctx, 20, 0);
    EXPECT_INT(takt_ctx_flush(ctx), TAKT_OK);
    remove_store(path);
    /* Two failures, of these or of Takt's own thread, and it is made again. */
    while (again < 40 && status != TAKT_OK) {
        call(ctx, 10, 0);
        again += 10;
        status = takt_ctx_flush(ctx);
        EXPECT(status == TAKT_OK || status == TAKT_EIO);
    }
    EXPECT_INT(status, TAKT_OK);
    EXPECT_INT(takt_ctx_learning(ctx, &learning), TAKT_OK);
    EXPECT_STR(learning.diag.text, "");
    takt_ctx_destroy(ctx);
    /* What was removed is gone, unless it was learned again. */
    const struct stored stored = stored_in(path);
    EXPECT(stored.calls >= 10 && stored.calls <= 20 + again);
    EXPECT(stored.calls_of_days >= 10 && stored.calls_of_days <= 20 + again);
}

static void do_nothing(void *self)
{
    EXPECT_INT(takt_ctx_flush(self), TAKT_OK);
}

struct writers {
    char name[2][TAKT_RECORD_WRITER];
    size_t count; /* 2: or more */
};

static void note_writer(void *self, const struct takt_record *record)
{
    struct writers *writers = self;

    for (size_t i = 0; i < writers->count; i++)
        if (strcmp(writers->name[i], record->writer) == 0)
            return;
    if (writers->count < 2)
        strcpy(writers->name[writers->count++], record->writer);
}

static struct writers writers_of(const char *path)
{
    struct writers writers = {.count = 0};
    struct takt_store *store = scratch_open(path);

    EXPECT_INT(takt__store_read(store, note_writer, &writers), TAKT_OK);
    takt__store_close(store);
    return writers;
}

/* What the parent could not write yet is not the child's to write. */
static void a_child_writes_nothing_of_its_parents(void)
{
    const char *path = scratch_path();

    if (is_thread_sanitized) {
        SKIP("this sanitizer cannot follow a fork");
        return;
    }
    takt_ctx *ctx = open_ctx(path);
    call(ctx, 20, 0);
    EXPECT_INT(takt_ctx_flush(ctx), TAKT_OK);
    remove_store(path);
    call(ctx, 10, 0);
    EXPECT_INT(takt_ctx_flush(ctx), TAKT_EIO);
    scratch_join(spawn(do_nothing, ctx));
    /* The parent may have written by now, but no other process. */
    EXPECT(writers_of(path).count <= 1);
    takt_ctx_destroy(ctx);
    const struct stored stored = stored_in(path);
    EXPECT(stored.calls >= 10 && stored.calls <= 30);
    EXPECT(stored.calls_of_days >= 10 && stored.calls_of_days <= 30);
}

/* ---- a program that closes what it does not know -------------------------
 */

enum { own_files = 40 };

static void own_path(int i, char path[128])
{
    snprintf(path, 128, "%s/own-%d", scratch, i);
}

/* As daemons do; the files then have the numbers of the store's. */
static void replace_descriptors(void)
{
    char path[128];

    for (int fd = 3; fd < 256; fd++)
        close(fd);
    for (int i = 0; i < own_files; i++) {
        own_path(i, path);
        const int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
        REQUIRE(fd >= 0 && write(fd, "whole", 5) == 5);
    }
}

static void expect_memory_only(takt_ctx *ctx)
{
    takt_learning learning = {.size = sizeof learning};

    call(ctx, 20, 0);
    EXPECT_INT(takt_ctx_flush(ctx), TAKT_EIO);
    EXPECT_INT(takt_ctx_learning(ctx, &learning), TAKT_OK);
    EXPECT_STR(learning.diag.text, TAKT_STORE_LOST);
}

static void become_daemon(void *self)
{
    takt_ctx *ctx = open_ctx(self), *other = open_ctx(self);

    call(ctx, 20, 0);
    EXPECT_INT(takt_ctx_flush(ctx), TAKT_OK);
    call(other, 10, 0);
    EXPECT_INT(takt_ctx_flush(other), TAKT_OK);
    replace_descriptors();
    expect_memory_only(ctx);
    expect_memory_only(ctx);
    nap(250); /* the thread saves before it sleeps */
    takt_ctx_destroy(other);
    other = open_ctx(self);
    expect_memory_only(other);
    if (is_thread_sanitized) {
        takt_ctx_destroy(other);
        takt_ctx_destroy(ctx);
    } /* else exit() comes upon them */
}

static void a_daemon_keeps_its_files(void)
{
    const char *path = scratch_path();
    char own[128];
    size_t length;

    if (is_thread_sanitized) /* which cannot follow a fork */
        become_daemon((void *)(uintptr_t)path);
    else
        scratch_join(spawn(become_daemon, (void *)(uintptr_t)path));
    for (int i = 0; i < own_files; i++) {
        own_path(i, own);
        char *bytes = scratch_load(own, &length);
        TAP_CHECK(length == 5 && memcmp(bytes, "whole", 5) == 0,
                  "%s was written to", own);
        free(bytes);
    }
    if (!is_thread_sanitized)
        EXPECT_NEAR(stored_calls(path), 30, 1e-6);
}

int main(void)
{
    scratch_make();
    a = calloc(size, sizeof *a);
    REQUIRE(a != NULL);
    for (int i = 0; i < most_threads; i++) {
        out[i] = calloc(size, sizeof *out[i]);
        REQUIRE(out[i] != NULL);
    }
    RUN(what_was_learned_is_there_the_next_time);
    RUN(a_context_that_learned_nothing_makes_no_file);
    RUN(two_contexts_share_a_store);
    RUN(parent_and_child_each_store_their_own);
    RUN(a_child_has_a_learner_of_its_own);
    RUN(a_child_may_outlive_its_parents_store);
    RUN(a_fork_among_calls_does_no_harm);
    RUN(exit_stores_what_was_learned);
    RUN(kill_loses_only_what_was_not_flushed);
    RUN(an_idle_learner_has_stored_everything);
    RUN(a_store_that_cannot_be_had_is_said_and_no_more);
    RUN(a_store_that_was_removed_is_made_again);
    RUN(a_child_writes_nothing_of_its_parents);
    RUN(a_daemon_keeps_its_files);
    free(a);
    for (int i = 0; i < most_threads; i++)
        free(out[i]);
    return tap_done();
}
