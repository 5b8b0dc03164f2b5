/* SPDX-License-Identifier: MIT */
/* loading.c - a lock that fork() and exit() wait for. */
#include "base/loading.h"

#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>

#include "base/exit.h"
#include "base/fork.h"

static const uint64_t most_wait_ns = 2000000000;

/* It comes after the handlers that a library sets while it is loaded. */
static void before_exit(void)
{
    const bool is_interrupted = takt__exit_begin();

    if (takt__fork_block_until(
            takt__exit_deadline(is_interrupted, most_wait_ns)))
        takt__fork_unblock();
}

static void watch(void)
{
    (void)atexit(before_exit);
}

void takt__loading_begin(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    (void)pthread_once(&once, watch);
    takt__fork_block();
}

void takt__loading_end(void)
{
    takt__fork_unblock();
}

const char *takt__loading_problem(void)
{
    if (takt__exit_has_begun())
        return "the program is ending";
    if (takt__fork_was_torn())
        return "this process was forked while a library was being loaded";
    return NULL;
}
