/* SPDX-License-Identifier: MIT */
/*
 * loading.h - a constructor that waits for the end of a fork() that is under
 * way, as one does that calls pthread_atfork() in glibc before 2.36.
 *
 * TAKT_TEST_WAITING names two descriptors: it says by the one that it has begun
 * to wait, and waits for the other to be closed.
 */
#pragma once

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static inline void wait_for_fork(void)
{
    const char *fds = getenv("TAKT_TEST_WAITING");
    int say, hear;
    char byte;

    if (fds != NULL && sscanf(fds, "%d %d", &say, &hear) == 2 &&
        write(say, "", 1) == 1)
        while (read(hear, &byte, 1) > 0)
            ;
}
