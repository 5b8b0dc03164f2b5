/* SPDX-License-Identifier: MIT */
/* opener.c - starts the thread, and waits for it. */
#include "opener.h"

#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <time.h>

#include "guard.h"

enum { stack_bytes = 2 << 20, most_deferred = 10000 };

bool takt__opener_is_bad_moment(void)
{
    static _Atomic unsigned deferred;
    stack_t stack;
    sigset_t blocked;

    if (sigaltstack(NULL, &stack) != 0 ||
        pthread_sigmask(SIG_SETMASK, NULL, &blocked) != 0)
        return false;
    if ((stack.ss_flags & SS_ONSTACK) == 0 && sigisemptyset(&blocked))
        return false;
    return atomic_fetch_add(&deferred, 1) < most_deferred;
}

static void *run(void *self)
{
    struct takt_opener *opener = self;

    pthread_setname_np(pthread_self(), "takt-open");
    opener->run(opener);
    atomic_fetch_add(&opener->done, 1);
    return NULL;
}

/* pthread_create() has locks. The thread gets no signals either. */
static bool start(struct takt_opener *opener)
{
    pthread_attr_t attributes;
    struct takt_guard guard;
    pthread_t thread;

    if (pthread_attr_init(&attributes) != 0)
        return false;
    takt__guard_begin(&guard);
    pthread_attr_setstacksize(&attributes, stack_bytes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    const int failed = pthread_create(&thread, &attributes, run, opener);
    pthread_attr_destroy(&attributes);
    takt__guard_end(&guard);
    return failed == 0;
}

/* Without cancellation: nanosleep() would be where a thread ends that the
 * program thinks is in BLAS. */
static void wait_for(struct takt_opener *opener, unsigned number)
{
    enum { naps = 2000 }; /* of 0.1 ms */
    int cancel;

    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
    for (int i = 0; i < naps && atomic_load(&opener->done) != number; i++)
        nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
    pthread_setcancelstate(cancel, NULL);
}

bool takt__opener_run(struct takt_opener *opener)
{
    if (!start(opener))
        return false;
    wait_for(opener, atomic_fetch_add(&opener->started, 1) + 1);
    return true;
}
