/* SPDX-License-Identifier: MIT */
/* write_signals.c - the signals are blocked, and those raised are taken back.
 */
#include "base/write_signals.h"

#include <errno.h>
#include <stddef.h>
#include <time.h>

static const int numbers[] = {SIGXFSZ, SIGPIPE};
enum { count = sizeof numbers / sizeof numbers[0] };

void takt__write_signals_block(struct takt_write_signals *out)
{
    sigset_t set;

    sigemptyset(&set);
    for (int i = 0; i < count; i++)
        sigaddset(&set, numbers[i]);
    sigpending(&out->pending);
    pthread_sigmask(SIG_BLOCK, &set, &out->mask);
}

static void take_back(int number)
{
    const struct timespec now = {0};
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, number);
    while (sigtimedwait(&set, NULL, &now) < 0 && errno == EINTR)
        ;
}

void takt__write_signals_restore(const struct takt_write_signals *before)
{
    sigset_t pending;

    sigpending(&pending);
    for (int i = 0; i < count; i++)
        if (sigismember(&pending, numbers[i]) == 1 &&
            sigismember(&before->pending, numbers[i]) == 0)
            take_back(numbers[i]);
    pthread_sigmask(SIG_SETMASK, &before->mask, NULL);
}
