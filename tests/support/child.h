/* SPDX-License-Identifier: MIT */
/* child.h - a test in a process of its own, for what can be done only once. */
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include "support/tap.h"

static inline void in_child(void (*test)(void))
{
    int status = 0;

    fflush(stdout);
    const pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        tap_failures = 0;
        test();
        fflush(stdout);
        _exit(tap_failures != 0); /* leaks are looked for in the parent */
    }
    REQUIRE(waitpid(child, &status, 0) == child);
    EXPECT(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}
