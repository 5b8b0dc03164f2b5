/* SPDX-License-Identifier: MIT */
/* thread.c - signals blocked, no cancellation, enough stack, a name. */
#define _GNU_SOURCE /* pthread_setname_np() */
#include "base/thread.h"

#include <fenv.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/prctl.h>
#include <unistd.h>

/* Of threads whose program has smaller ones by default, for many threads of its
 * own (pthread_setattr_default_np(), `ulimit -s`): SQLite, kernels and loaders
 * of libraries take more. */
static const size_t least_stack = 1 << 20;

/* False: no memory. */
static bool make_attributes(pthread_attr_t *out)
{
    size_t bytes;

    if (pthread_attr_init(out) != 0)
        return false;
    if (pthread_attr_getstacksize(out, &bytes) == 0 && bytes < least_stack)
        (void)pthread_attr_setstacksize(out, least_stack);
    return true;
}

bool takt__thread_start(pthread_t *out, void *run(void *self), void *self)
{
    pthread_attr_t attributes;
    sigset_t all, before;

    if (!make_attributes(&attributes))
        return false;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const bool is_started = pthread_create(out, &attributes, run, self) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    return is_started;
}

void takt__thread_enter(const char *name)
{
    fesetenv(FE_DFL_ENV);
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
    (void)pthread_setname_np(pthread_self(), name);
}

/* The threads that have another name: 0 is a free place. A thread that is
 * cancelled meanwhile, or stays behind at a fork, leaves a number of nobody. */
enum { most_lenders = 64 };

static _Atomic long lenders[most_lenders];
static _Atomic unsigned lendings;

static int take_slot(void)
{
    for (int i = 0; i < most_lenders; i++) {
        long free_place = 0;
        if (atomic_compare_exchange_strong(&lenders[i], &free_place,
                                           (long)gettid()))
            return i;
    }
    return -1;
}

/* The name is another one only while the slot is taken. */
struct takt_thread_name takt__thread_name_lend(const char *name)
{
    struct takt_thread_name before = {.slot = take_slot()};

    if (before.slot < 0)
        return before;
    atomic_fetch_add(&lendings, 1);
    (void)prctl(PR_GET_NAME, before.text);
    (void)prctl(PR_SET_NAME, name);
    return before;
}

void takt__thread_name_back(struct takt_thread_name before)
{
    if (before.slot < 0)
        return;
    (void)prctl(PR_SET_NAME, before.text);
    atomic_fetch_add(&lendings, 1);
    atomic_store(&lenders[before.slot], 0);
}

bool takt__thread_has_lent(long thread)
{
    bool has_lent = false;

    for (int i = 0; i < most_lenders && !has_lent; i++)
        has_lent = atomic_load(&lenders[i]) == thread;
    return has_lent;
}

unsigned takt__thread_lendings(void)
{
    return atomic_load(&lendings);
}
