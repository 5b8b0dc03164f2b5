/* SPDX-License-Identifier: MIT */
/* at_exit.c - counts threads, and waits until there is none. */
#include "gpu/at_exit.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

#include "base/clock.h"
#include "base/exit.h"
#include "base/library.h"

/* Devices that are lost and opened again register no more than this. */
enum { most_handlers = 24 };

/* A library that is being loaded, or a first call, may take a second. */
static const uint64_t patience_ns = 3000000000;

static _Atomic unsigned inside; /* threads */
static _Atomic bool is_ending;

static void before_exit(void)
{
    const uint64_t until_ns =
        takt__exit_deadline(takt__exit_begin(), patience_ns);

    atomic_store(&is_ending, true);
    while (atomic_load(&inside) > 0 && takt__now_ns() < until_ns)
        nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
}

/* Counted first: either the handler sees this thread, or it sees the handler.
 */
bool takt__gpu_begin(void)
{
    atomic_fetch_add(&inside, 1);
    if (!atomic_load(&is_ending))
        return true;
    takt__gpu_end();
    return false;
}

void takt__gpu_end(void)
{
    atomic_fetch_sub(&inside, 1);
}

void takt__gpu_watch_exit(void)
{
    static _Atomic unsigned handlers;

    if (atomic_fetch_add(&handlers, 1) < most_handlers)
        (void)atexit(before_exit);
}

void *takt__gpu_library_open(const char *file)
{
    if (atomic_load(&is_ending))
        return NULL;
    void *library = takt__library_open(file);
    if (library != NULL)
        takt__gpu_watch_exit();
    return atomic_load(&is_ending) ? NULL : library;
}

void takt__gpu_forget_threads(void)
{
    atomic_store(&inside, 0);
}
