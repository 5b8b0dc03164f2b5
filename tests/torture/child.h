/* SPDX-License-Identifier: MIT */
/*
 * child.h - programs that end in every possible moment.
 *
 * Each runs in a process of its own, forked from a test program that has no
 * threads, and has to end with `good_end` before the alarm kills it: a hang is
 * an end by SIGALRM, a crash one by SIGSEGV. TAKT_TORTURE or the first argument
 * is how often loops are run; without either they are short.
 */
#pragma once

#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "support/tap.h"

enum { good_end = 7, bad_end = 99, longest_s = 60 };

static int torture_rounds;

static inline void torture_read(int count, char **arguments)
{
    const char *said = count > 1 ? arguments[1] : getenv("TAKT_TORTURE");

    torture_rounds = said == NULL ? 0 : atoi(said);
}

static inline int rounds_or(int usual)
{
    return torture_rounds > 0 ? torture_rounds : usual;
}

/* True: it ended as it should. */
static inline bool ends_well(void (*body)(void *self), void *self)
{
    int status;

    fflush(stdout);
    const pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        alarm(longest_s);
        body(self);
        _exit(bad_end); /* none of them returns */
    }
    REQUIRE(waitpid(child, &status, 0) == child);
    const bool is_good = WIFEXITED(status) && WEXITSTATUS(status) == good_end;
    if (!is_good)
        printf("# %s %d\n", WIFEXITED(status) ? "status" : "signal",
               WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status));
    return is_good;
}

static inline void expect_ends_well(void (*body)(void *self), void *self,
                                    int rounds)
{
    int good = 0;

    for (int i = 0; i < rounds; i++)
        good += ends_well(body, self);
    EXPECT_INT(good, rounds);
}

static inline void nap_us(long us)
{
    nanosleep(&(struct timespec){.tv_nsec = us * 1000}, NULL);
}

/* Of this process, a different one in each. */
static inline long random_us(long most)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (long)(((uint64_t)now.tv_nsec * 2654435761u ^ (uint64_t)getpid()) %
                  (uint64_t)most);
}

/* A leak check takes the locks of the sanitizer's allocator, and would wait for
 * ever if the thread was interrupted inside of it. LeakSanitizer asks first. */
static volatile sig_atomic_t was_interrupted;

int __lsan_is_turned_off(void);
int __lsan_is_turned_off(void)
{
    return was_interrupted;
}

static inline void end_well(int number)
{
    (void)number;
    was_interrupted = 1;
    exit(good_end);
}
