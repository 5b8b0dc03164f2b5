/* SPDX-License-Identifier: MIT */
/* futex.h - waiting for a word of memory: asleep, or for a moment awake. */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* Sleeps while *word is `value`, until woken; may return early. */
void takt__futex_wait(_Atomic uint32_t *word, uint32_t value);

/* The same, for so many nanoseconds at most. */
void takt__futex_wait_for(_Atomic uint32_t *word, uint32_t value, uint64_t ns);

/* Waits while *word is `value`, until that time of CLOCK_MONOTONIC at most;
 * false: it still is. */
bool takt__futex_changes(_Atomic uint32_t *word, uint32_t value,
                         uint64_t until_ns);

/* Wakes all threads that sleep on the word. */
void takt__futex_wake(_Atomic uint32_t *word);

/* Between two looks at a word: leaves the core to its other thread. */
static inline void takt__pause(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}
