/* SPDX-License-Identifier: MIT */
/* futex.c - the system call, which libc does not wrap. */
#define _GNU_SOURCE /* syscall() */
#include "base/futex.h"

#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"

void takt__futex_wait(_Atomic uint32_t *word, uint32_t value)
{
    syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, NULL, NULL, 0);
}

void takt__futex_wait_for(_Atomic uint32_t *word, uint32_t value, uint64_t ns)
{
    const struct timespec time = {.tv_sec = (time_t)(ns / 1000000000),
                                  .tv_nsec = (long)(ns % 1000000000)};

    syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, &time, NULL, 0);
}

bool takt__futex_changes(_Atomic uint32_t *word, uint32_t value,
                         uint64_t until_ns)
{
    uint64_t now_ns = takt__now_ns();

    while (atomic_load(word) == value && now_ns < until_ns) {
        takt__futex_wait_for(word, value, until_ns - now_ns);
        now_ns = takt__now_ns();
    }
    return atomic_load(word) != value;
}

void takt__futex_wake(_Atomic uint32_t *word)
{
    syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}
