/* SPDX-License-Identifier: MIT */
/* size_signal.c - SIGXFSZ is blocked, and one that was raised is taken back. */
#include "base/size_signal.h"

#include <errno.h>
#include <stddef.h>
#include <time.h>

static bool is_pending(void)
{
    sigset_t pending;

    return sigpending(&pending) == 0 && sigismember(&pending, SIGXFSZ) == 1;
}

static void put_in_set(sigset_t *set)
{
    sigemptyset(set);
    sigaddset(set, SIGXFSZ);
}

void takt__size_signal_block(struct takt_size_signal *out)
{
    sigset_t set;

    put_in_set(&set);
    out->was_pending = is_pending();
    pthread_sigmask(SIG_BLOCK, &set, &out->before);
}

void takt__size_signal_restore(const struct takt_size_signal *signal)
{
    const struct timespec now = {0};
    sigset_t set;

    put_in_set(&set);
    while (!signal->was_pending && is_pending() &&
           sigtimedwait(&set, NULL, &now) < 0 && errno == EINTR)
        ;
    pthread_sigmask(SIG_SETMASK, &signal->before, NULL);
}
