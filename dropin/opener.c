/* SPDX-License-Identifier: MIT */
/* opener.c - starts the thread, and waits for it. */
#include "opener.h"

#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/first_at_exit.h"
#include "guard.h"
#include "mode.h"

enum { stack_bytes = 2 << 20, most_deferred = 10000 };

static _Atomic unsigned running; /* threads of this process that open */
static _Atomic pid_t process;
static _Atomic bool is_ending; /* the program */

enum { most_told = 4 };
static void (*_Atomic told[most_told])(void);
static _Atomic unsigned told_count;

bool takt__opener_is_bad_moment(void)
{
    static _Atomic unsigned deferred;
    stack_t stack;
    sigset_t blocked;

    if (atomic_load_explicit(&is_ending, memory_order_relaxed))
        return true;
    /* The kernel writes 64 bits of it. Before glibc 2.32 sigisemptyset() looks
     * at 1024. */
    sigemptyset(&blocked);
    if (sigaltstack(NULL, &stack) != 0 ||
        pthread_sigmask(SIG_SETMASK, NULL, &blocked) != 0)
        return false;
    if ((stack.ss_flags & SS_ONSTACK) == 0 && sigisemptyset(&blocked))
        return false;
    return atomic_fetch_add(&deferred, 1) < most_deferred;
}

/* ---- the end of the program ---------------------------------------------- */

static void nap(void)
{
    nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
}

static void tell_all(void)
{
    for (unsigned i = atomic_load(&told_count); i-- > 0;) {
        void (*const handler)(void) =
            i < most_told ? atomic_load(&told[i]) : NULL;
        if (handler != NULL)
            handler();
    }
}

/* Before the destructors of what is being opened. Not for ever: the thread that
 * exits may hold what the other one waits for. */
static void wait_at_exit(void)
{
    enum { naps = 100000 };

    if (!atomic_exchange(&is_ending, true))
        tell_all();
    for (int i = 0; i < naps && atomic_load(&process) == getpid() &&
                    atomic_load(&running) != 0;
         i++)
        nap();
}

static void wait_first(void *unused)
{
    (void)unused;
    wait_at_exit();
}

void takt__opener_tell_at_exit(void (*handler)(void))
{
    const unsigned i = atomic_fetch_add(&told_count, 1);

    if (i < most_told)
        atomic_store(&told[i], handler);
}

static void watch_exit(void)
{
    (void)atexit(wait_at_exit);
}

static void register_exit(void)
{
    static atomic_flag is_registered = ATOMIC_FLAG_INIT;

    takt__first_at_exit(wait_first, &is_registered);
}

void takt__opener_watch_exit(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, watch_exit);
}

/* A child of fork() has none of the threads. False: the program is ending. */
static bool count_on(void)
{
    if (atomic_exchange(&process, getpid()) != getpid())
        atomic_store(&running, 0);
    atomic_fetch_add(&running, 1);
    return !atomic_load(&is_ending);
}

/* ---- the thread ---------------------------------------------------------- */

static void *run(void *self)
{
    const struct takt_opener *opener = self;

    pthread_setname_np(pthread_self(), "takt-open");
    opener->run();
    atomic_fetch_sub(&running, 1);
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
    register_exit();
    const bool may_start = count_on();
    pthread_attr_setstacksize(&attributes, stack_bytes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    const bool is_started =
        may_start && pthread_create(&thread, &attributes, run, opener) == 0;
    pthread_attr_destroy(&attributes);
    if (!is_started)
        atomic_fetch_sub(&running, 1);
    takt__guard_end(&guard);
    return is_started;
}

/* Without cancellation: nanosleep() would be where a thread ends that the
 * program thinks is in BLAS. */
static void wait_for(const struct takt_opener *opener)
{
    enum { naps = 20000 }; /* of 0.1 ms: machines may be busy */
    const struct takt_cancel before = takt__cancel_off();

    for (int i = 0; i < naps && atomic_load(&opener->is_busy); i++)
        nap();
    takt__cancel_restore(before);
}

bool takt__opener_run(struct takt_opener *opener)
{
    if (!start(opener))
        return false;
    if (takt__mode_has(TAKT_MODE_EAGER))
        wait_for(opener);
    return true;
}
