/* SPDX-License-Identifier: MIT */
/*
 * first_at_exit.h - a handler that exit() runs before all others.
 *
 * Of the handlers of atexit() the last registered runs first, and a library
 * that another thread is loading registers its own meanwhile. exit() begins
 * with the destructors of its thread's own objects: so the main thread, which
 * is nearly always the one that exits, has one. It runs as well when main ends
 * by pthread_exit().
 */
#pragma once

#include <stdatomic.h>
#include <unistd.h>

#ifdef __GLIBC__
/* What C++ compilers call for objects of threads. */
extern int __cxa_thread_atexit_impl(void (*destroy)(void *), void *object,
                                    void *library) __attribute__((weak));
extern void *__dso_handle __attribute__((visibility("hidden")));
#endif

/* Once for each `is_registered`, when the main thread comes by. */
static inline void takt__first_at_exit(void (*handler)(void *unused),
                                       atomic_flag *is_registered)
{
#ifdef __GLIBC__
    if (__cxa_thread_atexit_impl != NULL && gettid() == getpid() &&
        !atomic_flag_test_and_set(is_registered))
        __cxa_thread_atexit_impl(handler, NULL, &__dso_handle);
#else
    (void)handler, (void)is_registered;
#endif
}
