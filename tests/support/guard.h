/* SPDX-License-Identifier: MIT */
/*
 * guard.h - memory between two pages that nobody may touch.
 *
 * An operand that ends (or begins) right at such a page shows a read or write
 * of one byte too many as a fault, which ends the program and names what it
 * was doing. What lies on the other side of an output is filled with a pattern
 * and compared afterwards.
 */
#pragma once

#ifndef _GNU_SOURCE
#error "define _GNU_SOURCE first: MAP_ANONYMOUS"
#endif

#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "support/tap.h"

enum { guard_pattern = 0xA5, guard_margin = 192 };

struct guard {
    char *low; /* the first byte after the lower page */
    size_t bytes;
};

/* Where an operand is put. */
enum guard_side { GUARD_LOW, GUARD_HIGH, GUARD_SIDES };

static char guard_doing[200]; /* what a fault is blamed on */

/* Names what runs now, for a message or a fault. */
#define DOING(...) snprintf(guard_doing, sizeof guard_doing, __VA_ARGS__)

static inline void guard_fault(int signal)
{
    static const char text[] = "Bail out! touched what it must not: ";

    (void)signal;
    fflush(stdout); /* not quite allowed here, but the last words count */
    if (write(1, text, sizeof text - 1) < 0 ||
        write(1, guard_doing, strlen(guard_doing)) < 0 || write(1, "\n", 1) < 0)
        _exit(2);
    _exit(1);
}

static inline void guard_watch(void)
{
    struct sigaction action;

    memset(&action, 0, sizeof action);
    action.sa_handler = guard_fault;
    sigaction(SIGSEGV, &action, NULL);
    sigaction(SIGBUS, &action, NULL);
}

static inline struct guard guard_make(size_t bytes)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    const size_t inner = (bytes + page - 1) / page * page;
    char *all = mmap(NULL, inner + 2 * page, PROT_NONE,
                     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    REQUIRE(all != MAP_FAILED);
    REQUIRE(mprotect(all + page, inner, PROT_READ | PROT_WRITE) == 0);
    return (struct guard){all + page, inner};
}

static inline void guard_free(struct guard *guard)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);

    munmap(guard->low - page, guard->bytes + 2 * page);
}

/* Room for `bytes` at one side, `away` bytes from the page. */
static inline void *guard_at(const struct guard *guard, enum guard_side side,
                             size_t bytes, size_t away)
{
    REQUIRE(bytes + away <= guard->bytes);
    if (side == GUARD_LOW)
        return guard->low + away;
    return guard->low + guard->bytes - bytes - away;
}

static inline size_t guard_before(const struct guard *guard, const char *at)
{
    const size_t room = (size_t)(at - guard->low);
    return room < guard_margin ? room : guard_margin;
}

static inline size_t guard_after(const struct guard *guard, const char *end)
{
    const size_t room = (size_t)(guard->low + guard->bytes - end);
    return room < guard_margin ? room : guard_margin;
}

/* Fills an output and its surroundings with the pattern. */
static inline void guard_paint(const struct guard *guard, void *at,
                               size_t bytes)
{
    char *first = at;
    const size_t before = guard_before(guard, first);

    memset(first - before, guard_pattern,
           before + bytes + guard_after(guard, first + bytes));
}

static inline bool guard_is_painted(const char *at, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        if ((unsigned char)at[i] != guard_pattern)
            return false;
    return true;
}

/* Whether the surroundings of an output are still as painted. */
static inline bool guard_is_whole(const struct guard *guard, const void *at,
                                  size_t bytes)
{
    const char *first = at;
    const size_t before = guard_before(guard, first);

    return guard_is_painted(first - before, before) &&
           guard_is_painted(first + bytes, guard_after(guard, first + bytes));
}
