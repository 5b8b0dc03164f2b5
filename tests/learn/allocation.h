/* SPDX-License-Identifier: MIT */
/*
 * allocation.h - counts what one thread allocates, and lets it fail.
 *
 * The definitions here come before those of the C library. Sanitizers bring
 * their own and want to keep them, and a program for an emulator is linked
 * without them: `can_count` then says so.
 */
#pragma once

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__) && !defined(TAKT_TEST_EMULATED)
#define TAKT_TEST_CAN_COUNT 1
#endif
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#undef TAKT_TEST_CAN_COUNT
#endif
#endif

static _Thread_local volatile bool is_counting;
static _Thread_local unsigned long allocations; /* while counting */
static _Thread_local long fail_at = -1;         /* allocation; -1: none */
/* And all after it. */
static _Thread_local bool keeps_failing __attribute__((unused));

#ifdef TAKT_TEST_CAN_COUNT
enum { can_count = 1 };

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *old, size_t size);
void *__libc_memalign(size_t alignment, size_t size);

static bool may_allocate(void)
{
    if (!is_counting)
        return true;
    allocations++;
    if (fail_at < 0 || fail_at > 0) {
        fail_at -= fail_at > 0;
        return true;
    }
    if (!keeps_failing)
        fail_at = -1;
    errno = ENOMEM;
    return false;
}

void *malloc(size_t size)
{
    return may_allocate() ? __libc_malloc(size) : NULL;
}

void *calloc(size_t count, size_t size)
{
    return may_allocate() ? __libc_calloc(count, size) : NULL;
}

void *realloc(void *old, size_t size)
{
    return may_allocate() ? __libc_realloc(old, size) : NULL;
}

void *aligned_alloc(size_t alignment, size_t size)
{
    return may_allocate() ? __libc_memalign(alignment, size) : NULL;
}
#else
enum { can_count = 0 };
#endif
