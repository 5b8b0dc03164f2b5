/* SPDX-License-Identifier: MIT */
/* stack.c - the bounds of a thread's stack. */
#define _GNU_SOURCE /* pthread_getattr_np() */
#include "base/stack.h"

#include <pthread.h>
#include <stdint.h>

static const size_t of_others = 64 << 10;

/* Of this thread; `end` is 0 until that is known. */
static _Thread_local struct {
    uintptr_t begin, end;
} own __attribute__((tls_model("initial-exec")));

/* Without /proc the first thread cannot tell. It has megabytes, as a rule. */
static void measure(void)
{
    pthread_attr_t attributes;
    size_t bytes;
    void *begin;

    own.end = UINTPTR_MAX;
    if (pthread_getattr_np(pthread_self(), &attributes) != 0)
        return;
    if (pthread_attr_getstack(&attributes, &begin, &bytes) == 0) {
        own.begin = (uintptr_t)begin;
        own.end = own.begin + bytes;
    }
    pthread_attr_destroy(&attributes);
}

bool takt__stack_has(size_t bytes)
{
    const uintptr_t here = (uintptr_t)__builtin_frame_address(0);

    if (own.end == 0)
        measure();
    return here < own.begin || here >= own.end ? bytes <= of_others
                                               : here - own.begin >= bytes;
}
