/* SPDX-License-Identifier: MIT */
/*
 * stack.h - whether there is room for a routed call.
 *
 * Routing takes up to 48 KiB of stack, with a report (takt_explain()); BLAS
 * libraries take a few. Threads may have 16 KiB, and so may stacks for signals
 * and coroutines, of which nothing is known: calls there are passed through.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* The addresses of the thread's own stack from which there is room below. */
struct takt_stack_room {
    uintptr_t begin;
    uintptr_t size; /* 0: not known yet */
};
extern _Thread_local struct takt_stack_room takt__stack_room;

/* Finds that out, once per thread. */
bool takt__stack_measure(uintptr_t here);

static inline bool takt__has_stack(void)
{
    const uintptr_t here = (uintptr_t)__builtin_frame_address(0);

    return __builtin_expect(
               here - takt__stack_room.begin < takt__stack_room.size, 1) ||
           takt__stack_measure(here);
}
