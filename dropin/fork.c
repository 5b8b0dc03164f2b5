/* SPDX-License-Identifier: MIT */
/* fork.c - the one pthread_atfork() of this library. */
#include "fork.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

typedef void handler(void);

enum { prepare_step, parent_step, child_step, steps };

static _Atomic(handler *) handlers[TAKT_FORK_PARTS][steps];

static void run(int part, int step)
{
    handler *run_it = atomic_load(&handlers[part][step]);

    if (run_it != NULL)
        run_it();
}

static void run_prepare(void)
{
    for (int i = TAKT_FORK_PARTS; i-- > 0;)
        run(i, prepare_step);
}

static void run_parent(void)
{
    for (int i = 0; i < TAKT_FORK_PARTS; i++)
        run(i, parent_step);
}

static void run_child(void)
{
    for (int i = 0; i < TAKT_FORK_PARTS; i++)
        run(i, child_step);
}

static void add_handlers(void)
{
    pthread_atfork(run_prepare, run_parent, run_child);
}

void takt__at_fork(enum takt_fork_part part, void (*prepare)(void),
                   void (*parent)(void), void (*child)(void))
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    atomic_store(&handlers[part][prepare_step], prepare);
    atomic_store(&handlers[part][parent_step], parent);
    atomic_store(&handlers[part][child_step], child);
    pthread_once(&once, add_handlers);
}
