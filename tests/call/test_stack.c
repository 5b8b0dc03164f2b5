/* SPDX-License-Identifier: MIT */
/*
 * test_stack.c - programs with small stacks: their threads' calls do with
 * little, Takt's own threads have enough, and libraries are not entered that
 * take more than there is.
 */
#define _GNU_SOURCE /* pthread_setattr_default_np() */
#include "base/stack.h"

#include <pthread.h>
#include <unistd.h>

#include "base/thread.h"
#include "store/scratch.h"
#include "support/tap.h"
#include "support/tolerance.h"
#include "takt/takt.h"

enum {
    small = 72 << 10, /* 64 KiB, and what a thread itself takes */
    order = 500,
    most_experts = 64
};

static takt_ctx *ctx;
static double matrix[order * order], right[order], out[order * order];

static void make_ctx(const char *store)
{
    REQUIRE(takt_ctx_create(
                &(takt_ctx_options){
                    .store = store, .gpu = "", .telemetry = "", .threads = 2},
                &ctx) == TAKT_OK);
}

static void on_stack(size_t bytes, void *run(void *self), void *self)
{
    pthread_attr_t attributes;
    pthread_t thread;

    REQUIRE(pthread_attr_init(&attributes) == 0);
    REQUIRE(pthread_attr_setstacksize(&attributes, bytes) == 0);
    REQUIRE(pthread_create(&thread, &attributes, run, self) == 0);
    pthread_join(thread, NULL);
    pthread_attr_destroy(&attributes);
}

/* ---- functions ------------------------------------------------------------
 */

static takt_request request_of(void)
{
    return (takt_request){.op = takt_op_find("matmul"),
                          .shape = {.rank = 3, .dim = {64, 64, 64}}};
}

static takt_estimate estimates[most_experts];
static takt_learning learning;
static takt_diag diag;
static size_t found;

static void *ask(void *path)
{
    const takt_request request = request_of();
    takt_decision decision = {0};
    const takt_measurement measurement = {
        .request = &request, .expert = "scalar", .seconds = 1e-3};

    EXPECT_INT(takt_select(ctx, &request, &decision), TAKT_OK);
    EXPECT_INT(takt_explain(ctx, &request, estimates, most_experts, &found),
               TAKT_OK);
    EXPECT_INT(takt_record(ctx, &measurement), TAKT_OK);
    EXPECT_INT(takt_ctx_learning(ctx, &learning), TAKT_OK);
    EXPECT_INT(takt_ctx_flush(ctx), TAKT_OK);
    EXPECT_INT(takt_ctx_write_pin(ctx, path, &diag), TAKT_OK);
    return NULL;
}

static takt_call product(void)
{
    return (takt_call){.op = takt_op_find("matmul"),
                       .dtype = TAKT_F64,
                       .shape = {.rank = 3, .dim = {order / 2, order, order}},
                       .in = {matrix, matrix},
                       .out = out,
                       .alpha = 1};
}

static void *multiply(void *self)
{
    const takt_call call = product();

    (void)self;
    for (size_t i = 0; takt_ctx_expert(ctx, i, NULL) != NULL; i++) {
        const takt_status status = takt_run_on(ctx, &call, i);
        EXPECT(status == TAKT_OK || status == TAKT_ENODEV);
    }
    EXPECT_INT(takt_run(ctx, &call, NULL), TAKT_OK);
    return NULL;
}

static void functions_do_with_64_kib_of_stack(void)
{
    char pin[160];

    snprintf(pin, sizeof pin, "%s/pin", scratch);
    make_ctx(scratch_path());
    on_stack(small, ask, pin);
    EXPECT(found > 0);
    on_stack(small, multiply, NULL);
    takt_ctx_destroy(ctx);
}

/* ---- factors --------------------------------------------------------------
 */

static void *solve(void *self)
{
    const takt_call call = {.op = takt_op_find("solve"),
                            .dtype = TAKT_F64,
                            .shape = {.rank = 2, .dim = {order, 1}},
                            .in = {matrix, right},
                            .out = out};

    (void)self;
    for (size_t i = 0; takt_ctx_expert(ctx, i, NULL) != NULL; i++) {
        const takt_status status = takt_run_on(ctx, &call, i);
        EXPECT(status == TAKT_OK || status == TAKT_ENODEV);
        if (status == TAKT_OK)
            EXPECT(fabs(out[7] - 1) < 1e-9);
    }
    EXPECT_INT(takt_run(ctx, &call, NULL), TAKT_OK);
    return NULL;
}

static void libraries_are_not_entered_that_take_more_stack_than_there_is(void)
{
    for (size_t i = 0; i < order; i++) {
        for (size_t j = 0; j < order; j++)
            matrix[i * order + j] = i == j ? order : 1;
        right[i] = 2 * order - 1;
    }
    make_ctx("");
    on_stack(small, solve, NULL);
    on_stack(512 << 10, solve, NULL);
    on_stack(2 << 20, solve, NULL);
    takt_ctx_destroy(ctx);
}

/* ---- Takt's own threads ---------------------------------------------------
 */

static void *look(void *has)
{
    *(bool *)has = takt__stack_has(192 << 10);
    return NULL;
}

/* 16 KiB on x86-64, 128 on AArch64. */
static size_t least_stack(void)
{
    const long bytes = sysconf(_SC_THREAD_STACK_MIN);
    return bytes > 0 ? (size_t)bytes : small;
}

static void own_threads_have_a_megabyte_whatever_the_default_is(void)
{
    const size_t least = least_stack();
    pthread_attr_t usual, attributes;
    pthread_t thread;
    bool has = false;

    REQUIRE(pthread_getattr_default_np(&usual) == 0);
    REQUIRE(pthread_attr_init(&attributes) == 0);
    REQUIRE(pthread_attr_setstacksize(&attributes,
                                      least > small ? least : small) == 0);
    REQUIRE(pthread_setattr_default_np(&attributes) == 0);
    REQUIRE(takt__thread_start(&thread, look, &has));
    pthread_join(thread, NULL);
    EXPECT(has);
    REQUIRE(pthread_setattr_default_np(&usual) == 0);
    pthread_attr_destroy(&attributes);
}

static void *measure(void *left)
{
    const bool has[] = {takt__stack_has(32 << 10), takt__stack_has(small)};

    *(int *)left = has[0] + 2 * has[1];
    return NULL;
}

static void what_is_left_is_known(void)
{
    int left = 0;

    on_stack(small, measure, &left);
    EXPECT_INT(left, 1);
    EXPECT(takt__stack_has(64 << 10));
    EXPECT(!takt__stack_has((size_t)1 << 40));
}

int main(void)
{
    scratch_make();
    /* Sanitizers take several times as much. */
    if (!is_sanitized && least_stack() <= small) {
        RUN(functions_do_with_64_kib_of_stack);
        RUN(libraries_are_not_entered_that_take_more_stack_than_there_is);
        RUN(what_is_left_is_known);
    }
    RUN(own_threads_have_a_megabyte_whatever_the_default_is);
    return tap_done();
}
