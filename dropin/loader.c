/* SPDX-License-Identifier: MIT */
/* loader.c - counts the threads in the loader, and has fork() wait for them. */
#include "loader.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/auxv.h>
#include <time.h>

#include "base/library.h"
#include "fork.h"
#include "guard.h"

enum { most_waits = 200 }; /* of a millisecond, on either side */

static _Atomic int inside;
static _Atomic bool is_forking, is_torn;
static _Thread_local int own; /* of `inside`: loading may call BLAS */

/* Without cancellation: a cancelled thread would leave `inside` or `is_forking`
 * as it is. */
static void wait_a_millisecond(void)
{
    const struct takt_cancel before = takt__cancel_off();

    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    takt__cancel_restore(before);
}

static void before_fork(void)
{
    atomic_store(&is_forking, true);
    for (int i = 0; i < most_waits && atomic_load(&inside) > own; i++)
        wait_a_millisecond();
}

static void in_parent(void)
{
    atomic_store(&is_forking, false);
}

static void in_child(void)
{
    if (atomic_exchange(&inside, own) > own)
        atomic_store(&is_torn, true);
    atomic_store(&is_forking, false);
}

static void add_handlers(void)
{
    takt__at_fork(TAKT_FORK_LOADER, before_fork, in_parent, in_child);
}

void takt__loader_enter(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, add_handlers);
    atomic_fetch_add(&inside, 1);
    for (int i = 0; i < most_waits && own == 0 && atomic_load(&is_forking);
         i++) {
        atomic_fetch_sub(&inside, 1);
        wait_a_millisecond();
        atomic_fetch_add(&inside, 1);
    }
    own++;
}

bool takt__loader_is_forking(void)
{
    return atomic_load_explicit(&is_forking, memory_order_relaxed);
}

bool takt__loader_was_torn(void)
{
    return atomic_load(&is_torn);
}

void takt__loader_leave(void)
{
    own--;
    atomic_fetch_sub(&inside, 1);
}

void *takt__loader_open(const char *file, int flags)
{
    if (file[0] != '/' && (flags & RTLD_NOLOAD) == 0 &&
        getauxval(AT_SECURE) != 0)
        return NULL;
    return takt__library_may_be(file) ? dlopen(file, flags) : NULL;
}
