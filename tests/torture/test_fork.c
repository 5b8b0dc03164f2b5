/* SPDX-License-Identifier: MIT */
/*
 * test_fork.c - a child that was forked while another thread made the first
 * context of the process can use Takt, and fork in its turn.
 */
#define _GNU_SOURCE /* struct timespec */
#include <pthread.h>

#include "store/scratch.h"
#include "support/tolerance.h"
#include "takt/takt.h"
#include "torture/child.h"

enum { length = 4096, forks = 12, child_s = 15 };

static float numbers[2][length];
static _Atomic bool is_made;
static long most_us; /* that a fork() is drawn out */

static void compute(takt_ctx *ctx, float *out)
{
    const takt_call call = {.op = takt_op_find("exp"),
                            .shape = {.rank = 1, .dim = {length}},
                            .in = {numbers[0]},
                            .out = out};

    REQUIRE(takt_run(ctx, &call, NULL) == TAKT_OK);
}

static takt_ctx *make_ctx(const char *store)
{
    const takt_ctx_options options = {
        .store = store, .blas = "", .gpu = "", .telemetry = "", .threads = 2};
    takt_ctx *ctx;

    REQUIRE(takt_ctx_create(&options, &ctx) == TAKT_OK);
    return ctx;
}

static void use_takt(const char *store)
{
    takt_ctx *ctx = make_ctx(store);

    compute(ctx, numbers[1]);
    REQUIRE(takt_ctx_flush(ctx) == TAKT_OK);
    takt_ctx_destroy(ctx);
    compute(NULL, numbers[1]); /* the default context */
}

static void expect_good(pid_t child)
{
    int status;

    REQUIRE(child >= 0);
    REQUIRE(waitpid(child, &status, 0) == child);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != good_end)
        _exit(bad_end);
}

/* A child uses Takt, and forks itself: handlers of fork() that it has twice
 * would wait for their own locks. */
static void live(const char *store)
{
    alarm(child_s);
    use_takt(store);
    const pid_t child = fork();
    if (child == 0) {
        alarm(child_s);
        use_takt(store);
        exit(good_end);
    }
    expect_good(child);
    exit(good_end);
}

static void *make_first(void *self)
{
    static float out[length];

    compute(NULL, out);
    takt_ctx_destroy(make_ctx(self));
    atomic_store(&is_made, true);
    return NULL;
}

/* A program may have handlers of its own that take their time: the thread that
 * uses Takt goes on meanwhile. */
static void draw_out(void)
{
    nap_us(random_us(most_us));
}

static void fork_beside_first(void *self)
{
    pthread_t thread;
    pid_t child[forks];
    int count = 0;

    most_us = 1500;
    pthread_atfork(draw_out, NULL, NULL);
    REQUIRE(pthread_create(&thread, NULL, make_first, self) == 0);
    do {
        child[count] = fork();
        if (child[count] == 0)
            live(self);
    } while (++count < forks && !atomic_load(&is_made));
    for (int i = 0; i < count; i++)
        expect_good(child[i]);
    pthread_join(thread, NULL);
    exit(good_end);
}

static void a_fork_beside_the_first_context_leaves_a_child_that_works(void)
{
    if (is_sanitized) {
        SKIP("the sanitizers' own locks do not survive such a fork");
        return;
    }
    for (int i = 0; i < rounds_or(25); i++)
        EXPECT(ends_well(fork_beside_first, (void *)(uintptr_t)scratch_path()));
}

int main(int count, char **arguments)
{
    torture_read(count, arguments);
    scratch_make();
    setenv("TAKT_DB", "", 1);
    RUN(a_fork_beside_the_first_context_leaves_a_child_that_works);
    return tap_done();
}
