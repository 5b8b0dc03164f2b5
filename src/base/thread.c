/* SPDX-License-Identifier: MIT */
/* thread.c - signals blocked, no cancellation, a name. */
#define _GNU_SOURCE /* pthread_setname_np() */
#include "base/thread.h"

#include <fenv.h>
#include <signal.h>
#include <sys/prctl.h>

bool takt__thread_start(pthread_t *out, void *run(void *self), void *self)
{
    sigset_t all, before;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const bool is_started = pthread_create(out, NULL, run, self) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return is_started;
}

void takt__thread_enter(const char *name)
{
    fesetenv(FE_DFL_ENV);
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
    (void)pthread_setname_np(pthread_self(), name);
}

struct takt_thread_name takt__thread_name_lend(const char *name)
{
    struct takt_thread_name before = {""};

    (void)prctl(PR_GET_NAME, before.text);
    (void)prctl(PR_SET_NAME, name);
    return before;
}

void takt__thread_name_back(struct takt_thread_name before)
{
    (void)prctl(PR_SET_NAME, before.text);
}
