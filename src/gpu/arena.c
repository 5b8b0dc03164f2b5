/* SPDX-License-Identifier: MIT */
/*
 * arena.c - reserved addresses, cut into grains; a table has the buffer of
 * each.
 */
#define _GNU_SOURCE /* mmap() flags */
#include "gpu/arena.h"

#include <pthread.h>
#include <sys/mman.h>

#include "base/fork.h"
#include "base/lock.h"

enum { grain_bits = 16 };

_Atomic uintptr_t takt__arena_base;
_Atomic size_t takt__arena_bytes;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct takt_fork_entry fork_entry = {.handlers = &takt__fork_mutex,
                                            .self = &lock};
TAKT_FORK_STATIC(fork_entry)
static struct takt_buffer *_Atomic *owner; /* by grain */
static size_t grains, search_from;

static void *reserve(size_t bytes, int protection)
{
    void *at = mmap(NULL, bytes, protection,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return at == MAP_FAILED ? NULL : at;
}

/* As much as a limit on addresses leaves: a terabyte, or a good deal less. */
static bool open_arena(void)
{
    for (unsigned bits = 40; bits >= 32 && grains == 0; bits--) {
        const size_t bytes = (size_t)1 << bits;
        void *base = reserve(bytes, PROT_NONE);
        if (base == NULL)
            continue;
        owner = reserve((bytes >> grain_bits) * sizeof *owner,
                        PROT_READ | PROT_WRITE);
        if (owner == NULL) {
            munmap(base, bytes);
            continue;
        }
        grains = bytes >> grain_bits;
        atomic_store(&takt__arena_base, (uintptr_t)base);
        atomic_store(&takt__arena_bytes, bytes);
    }
    return grains > 0;
}

/* Free grains in a row, beginning where the last search ended; grains: none. */
static size_t find_row(size_t count)
{
    size_t at = search_from, looked_at = 0, row = 0;

    while (looked_at < grains + count && row < count) {
        if (at == grains) { /* a row does not go round */
            at = 0;
            row = 0;
        }
        row = owner[at] == NULL ? row + 1 : 0;
        at++;
        looked_at++;
    }
    search_from = at;
    return row == count ? at - count : grains;
}

static void set_owner(size_t first, size_t count, struct takt_buffer *buffer)
{
    for (size_t i = first; i < first + count; i++)
        atomic_store_explicit(&owner[i], buffer, memory_order_release);
}

static size_t grains_of(size_t bytes)
{
    return bytes == 0 ? 1 : ((bytes - 1) >> grain_bits) + 1;
}

static char *address_of(size_t grain)
{
    return (char *)atomic_load(&takt__arena_base) + (grain << grain_bits);
}

void *takt__arena_take(struct takt_buffer *buffer, size_t bytes)
{
    const size_t count = grains_of(bytes);
    void *start = NULL;

    takt__lock(&lock);
    if ((grains > 0 || open_arena()) && count <= grains) {
        const size_t first = find_row(count);
        if (first < grains && mprotect(address_of(first), count << grain_bits,
                                       PROT_READ | PROT_WRITE) == 0) {
            start = address_of(first);
            set_owner(first, count, buffer);
        }
    }
    takt__unlock(&lock);
    return start;
}

/* New pages in the place of the old ones: nothing of them is left. */
void takt__arena_give(void *start, size_t bytes)
{
    const size_t count = grains_of(bytes);
    const size_t first =
        ((uintptr_t)start - atomic_load(&takt__arena_base)) >> grain_bits;

    takt__lock(&lock);
    set_owner(first, count, NULL);
    (void)mmap(start, count << grain_bits, PROT_NONE,
               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
    takt__unlock(&lock);
}

struct takt_buffer *takt__arena_find(const void *pointer)
{
    if (!takt__arena_has(pointer))
        return NULL;
    const size_t grain =
        ((uintptr_t)pointer - atomic_load(&takt__arena_base)) >> grain_bits;
    return atomic_load_explicit(&owner[grain], memory_order_acquire);
}
