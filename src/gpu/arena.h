/* SPDX-License-Identifier: MIT */
/*
 * arena.h - the addresses of buffers, apart from all other memory.
 *
 * All buffers of a process lie in one stretch of reserved addresses, so that
 * "is this pointer in a buffer?" is one comparison, and a call takes buffers
 * and plain pointers alike.
 *
 * Threads: may be called from any thread.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct takt_buffer;

extern _Atomic uintptr_t takt__arena_base;
extern _Atomic size_t takt__arena_bytes; /* 0: there was never a buffer */

static inline bool takt__arena_has(const void *pointer)
{
    const uintptr_t base =
        atomic_load_explicit(&takt__arena_base, memory_order_relaxed);
    return (uintptr_t)pointer - base <
           atomic_load_explicit(&takt__arena_bytes, memory_order_relaxed);
}

/* Memory for a buffer, all zero, which takes none until it is touched. NULL:
 * no addresses or no memory. */
void *takt__arena_take(struct takt_buffer *buffer, size_t bytes);
void takt__arena_give(void *start, size_t bytes);

/* The buffer that a pointer is in; NULL: none. */
struct takt_buffer *takt__arena_find(const void *pointer);
