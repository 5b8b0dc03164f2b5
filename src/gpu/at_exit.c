/* SPDX-License-Identifier: MIT */
/* at_exit.c - counts threads, and waits until there is none. */
#define _GNU_SOURCE /* gettid() */
#include "gpu/at_exit.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

#include "base/clock.h"
#include "base/exit.h"
#include "base/first_at_exit.h"
#include "base/library.h"
#include "base/lock.h"

/* Devices that are lost and opened again register no more than this. */
enum { most_handlers = 24 };

/* A driver may translate code for seconds. It is told to stop between steps. */
static const uint64_t patience_ns = 10000000000;

static _Atomic unsigned inside; /* threads */
static _Atomic bool is_ending;

void takt__gpu_leave(void)
{
    const uint64_t until_ns =
        takt__exit_deadline(takt__section_is_open(), patience_ns);

    atomic_store(&is_ending, true);
    while (atomic_load(&inside) > 0 && takt__now_ns() < until_ns)
        nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
}

static void before_exit(void)
{
    (void)takt__exit_begin();
    takt__gpu_leave();
}

static void before_all(void *unused)
{
    (void)unused;
    takt__gpu_leave();
}

/* Counted first: either the handler sees this thread, or it sees the handler.
 */
bool takt__gpu_begin(void)
{
    takt__gpu_register_exit();
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

bool takt__gpu_is_ending(void)
{
    return atomic_load_explicit(&is_ending, memory_order_relaxed);
}

void takt__gpu_register_exit(void)
{
    static atomic_flag is_registered = ATOMIC_FLAG_INIT;
    static _Thread_local bool is_done;

    if (!is_done)
        takt__first_at_exit(before_all, &is_registered);
    is_done = true;
}

void takt__gpu_watch_exit(void)
{
    static _Atomic unsigned handlers;

    if (atomic_fetch_add(&handlers, 1) < most_handlers)
        (void)atexit(before_exit);
}

void *takt__gpu_library_open(const char *file)
{
    if (takt__gpu_is_ending())
        return NULL;
    void *library = takt__library_open(file);
    if (library != NULL)
        takt__gpu_watch_exit();
    return takt__gpu_is_ending() ? NULL : library;
}

void takt__gpu_forget_threads(void)
{
    atomic_store(&inside, 0);
}
