/* SPDX-License-Identifier: MIT */
/*
 * slow_takt.c - a libtakt in whose first function the program ends: it goes on
 * a moment after the program began to exit, and says so if its destructor comes
 * before. Whatever is called fails.
 */
#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <time.h>
#include <unistd.h>

#include "route.h"

static _Atomic bool is_inside;

static void nap(long ms)
{
    nanosleep(&(struct timespec){.tv_nsec = ms * 1000000}, NULL);
}

int slow(void);
int slow(void)
{
    atomic_store(&is_inside, true);
    close(open("opening", O_CREAT | O_WRONLY, 0600));
    while (access("leaving", F_OK) != 0)
        nap(1);
    nap(100);
    atomic_store(&is_inside, false);
    return TAKT_ENOMEM;
}

#define IS_SLOW(member_, function_) \
    __asm__(".globl " #function_ "\n.set " #function_ ", slow");
TAKT_LIBTAKT_FUNCTIONS(IS_SLOW)

__attribute__((destructor)) static void end(void)
{
    static const char message[] = "ended while it was being opened\n";

    if (atomic_load(&is_inside))
        (void)!write(STDERR_FILENO, message, sizeof message - 1);
}
