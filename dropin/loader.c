/* SPDX-License-Identifier: MIT */
/* loader.c - how many threads are in the loader, and who wants to fork. */
#include "loader.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <time.h>

enum { patience = 200 }; /* milliseconds, of either side */

static _Atomic int inside;
static _Atomic bool is_forking;
static _Thread_local int own; /* of `inside`: loading may call BLAS */

/* A thread that is cancelled in here would not come back to go on. */
static void rest(void)
{
    int before;

    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    pthread_setcancelstate(before, NULL);
}

static void await_loader(void)
{
    atomic_store(&is_forking, true);
    for (int i = 0; i < patience && atomic_load(&inside) > own; i++)
        rest();
}

static void go_on(void)
{
    atomic_store(&is_forking, false);
}

static void begin_anew(void)
{
    atomic_store(&inside, own);
    go_on();
}

static void add_handlers(void)
{
    pthread_atfork(await_loader, go_on, begin_anew);
}

void takt__loader_enter(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, add_handlers);
    atomic_fetch_add(&inside, 1);
    for (int i = 0; i < patience && own == 0 && atomic_load(&is_forking); i++) {
        atomic_fetch_sub(&inside, 1);
        rest();
        atomic_fetch_add(&inside, 1);
    }
    own++;
}

bool takt__loader_is_forking(void)
{
    return atomic_load_explicit(&is_forking, memory_order_relaxed);
}

void takt__loader_leave(void)
{
    own--;
    atomic_fetch_sub(&inside, 1);
}
