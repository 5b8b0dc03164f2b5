/* SPDX-License-Identifier: MIT */
/*
 * test_context.c - a context that was asked measures on Takt's own thread;
 * one that was not reads no counter, and neither does a child of fork().
 */
#define _GNU_SOURCE /* RTLD_NOLOAD */
#include <dlfcn.h>
#include <pthread.h>
#include <time.h>

#include "call/ctx.h"
#include "energy/energy.h"
#include "support/child.h"
#include "support/config.h"
#include "support/tolerance.h"

enum { n = 20000 };

static float x[n], y[n];

static takt_ctx *open_context(bool is_asked)
{
    takt_ctx *ctx = NULL;

    test_config()->nvml = TAKT_FAKE_NVML;
    test_config()->is_energy_asked = is_asked;
    REQUIRE(takt_ctx_create(
                &(takt_ctx_options){
                    .blas = "", .store = "", .gpu = "", .telemetry = ""},
                &ctx) == TAKT_OK);
    return ctx;
}

static void call(takt_ctx *ctx)
{
    const takt_call add = {.op = takt_op_find("add"),
                           .dtype = TAKT_F32,
                           .shape = {.rank = 1, .dim = {n}},
                           .in = {x, x},
                           .out = y};

    EXPECT_INT(takt_run(ctx, &add, NULL), TAKT_OK);
    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}

static unsigned windows_of(takt_ctx *ctx)
{
    unsigned used = 0;

    takt__learner_enter(ctx->learner);
    struct takt_energy *energy = takt__learner_energy(ctx->learner);
    if (energy != NULL)
        used = takt__energy_windows(energy, 0).used;
    takt__learner_leave(ctx->learner);
    return used;
}

/* By the library that the context has loaded; 0: it has not. */
static unsigned reads(pthread_t *last)
{
    void *library = dlopen(TAKT_FAKE_NVML, RTLD_NOW | RTLD_NOLOAD);
    void *found = library == NULL ? NULL : dlsym(library, "fake_nvml_reads");
    unsigned (*get)(pthread_t *);

    memcpy(&get, &found, sizeof get);
    const unsigned count = get == NULL ? 0 : get(last);
    if (library != NULL)
        dlclose(library);
    return count;
}

/* Until the learner has looked at calls in several rounds. */
static void run_for_a_while(takt_ctx *ctx)
{
    struct takt_model_counters counters;

    do {
        call(ctx);
        counters = takt__model_counters(takt__learner_enter(ctx->learner));
        takt__learner_leave(ctx->learner);
    } while (counters.samples < 30);
}

static void nothing_is_read_unless_somebody_asked(void)
{
    takt_ctx *ctx = open_context(false);
    pthread_t thread;

    run_for_a_while(ctx);
    EXPECT_INT(reads(&thread), 0);
    takt__learner_enter(ctx->learner);
    EXPECT(takt__learner_energy(ctx->learner) == NULL);
    takt__learner_leave(ctx->learner);
    takt_ctx_destroy(ctx);
}

static void counters_are_read_by_takts_own_thread(void)
{
    takt_ctx *ctx = open_context(true);
    pthread_t thread = pthread_self();

    while (windows_of(ctx) == 0)
        call(ctx);
    EXPECT(reads(&thread) > 2);
    EXPECT(!pthread_equal(thread, pthread_self()));

    takt_ctx *second = open_context(true);
    run_for_a_while(second);
    takt__learner_enter(second->learner);
    EXPECT(takt__learner_energy(second->learner) == NULL);
    takt__learner_leave(second->learner);
    takt_ctx_destroy(second);

    takt_ctx_destroy(ctx);
}

static takt_ctx *parents;

/* The library ends a child that calls it. */
static void run_in_child(void)
{
    run_for_a_while(parents);
    EXPECT_INT(windows_of(parents), 0);
    takt_ctx_destroy(parents);
}

/* Its learner is a thread. This sanitizer ends a process that starts one after
 * a fork, or takes it for a thread of the parent's at the same address. */
static void a_child_reads_no_counter(void)
{
    if (is_thread_sanitized) {
        SKIP("this sanitizer cannot follow a fork");
        return;
    }
    parents = open_context(true);
    while (windows_of(parents) == 0)
        call(parents);
    in_child(run_in_child);
    EXPECT(windows_of(parents) > 0);
    takt_ctx_destroy(parents);
}

int main(void)
{
    RUN(nothing_is_read_unless_somebody_asked);
    RUN(counters_are_read_by_takts_own_thread);
    RUN(a_child_reads_no_counter);
    return tap_done();
}
