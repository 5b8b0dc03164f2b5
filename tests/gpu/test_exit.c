/* SPDX-License-Identifier: MIT */
/*
 * test_exit.c - a program that ends while a thread is inside of a vendor's
 * library: the library's own handlers of exit() run when the thread is out.
 */
#define _GNU_SOURCE /* MAP_ANONYMOUS in guard.h */
#include <pthread.h>
#include <sys/wait.h>

#include "gpu/subject.h"

static int began[2];

static void *open_solver(void *ctx)
{
    (void)takt_solver_open(ctx);
    return NULL;
}

/* In a child. The fake ends the program with 99 if it is taken down while a
 * call is in it. */
static void exit_while_it_opens(void)
{
    void (*tell)(int pipe);
    pthread_t thread;
    char byte;

    subject_choose_fake();
    test_config()->cusolver = TAKT_FAKE_CUSOLVER;
    void *library = dlopen(TAKT_FAKE_CUSOLVER, RTLD_NOW | RTLD_LOCAL);
    REQUIRE(library != NULL);
    fixture_find(library, "fake_cusolver_tell", &tell);
    takt_ctx *ctx = context_of(TAKT_POLICY_ADAPTIVE, 2);
    tell(began[1]);
    REQUIRE(pthread_create(&thread, NULL, open_solver, ctx) == 0 &&
            pthread_detach(thread) == 0);
    REQUIRE(read(began[0], &byte, 1) == 1);
    exit(tap_failures != 0);
}

static void expect_good_end(void (*program)(void))
{
    int status;

    fflush(stdout);
    const pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0)
        program();
    REQUIRE(waitpid(child, &status, 0) == child);
    EXPECT(WIFEXITED(status));
    EXPECT_INT(WEXITSTATUS(status), 0);
}

static void libraries_are_left_before_they_are_taken_down(void)
{
    expect_good_end(exit_while_it_opens);
}

/* What calls at that time is refused, as on a machine without a GPU. */
static takt_ctx *left;

static void solve_at_the_end(void)
{
    double a[4] = {2, 0, 0, 2}, b[2] = {2, 4};
    int pivots[2];
    const takt_solver_call call = {.size = sizeof call,
                                   .routine = TAKT_SOLVER_GESV,
                                   .dtype = TAKT_F64,
                                   .n = 2,
                                   .k = 1,
                                   .a = {a, 2, a, 2},
                                   .b = {b, 2, b, 2},
                                   .pivots = pivots};

    if (takt_solver_run(left, &call) != TAKT_ENODEV || b[0] != 2)
        _exit(98);
}

static void call_from_a_handler(void)
{
    subject_choose_fake();
    test_config()->cusolver = TAKT_FAKE_CUSOLVER;
    atexit(solve_at_the_end);
    left = context_of(TAKT_POLICY_ADAPTIVE, 2);
    REQUIRE(takt_solver_open(left) == TAKT_OK);
    exit(tap_failures != 0);
}

static void later_calls_are_refused(void)
{
    expect_good_end(call_from_a_handler);
}

int main(void)
{
    REQUIRE(pipe(began) == 0);
    RUN(libraries_are_left_before_they_are_taken_down);
    RUN(later_calls_are_refused);
    return tap_done();
}
