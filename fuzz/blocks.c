/* SPDX-License-Identifier: MIT */
/*
 * blocks.c - calloc() and free() of a fuzz target, for large blocks.
 *
 * The sanitizer maps a large block and unmaps it when it is freed: each run
 * then pays for fresh pages, which takes longer than the run. Here a block that
 * was freed is poisoned and kept, and is used again after the next three of its
 * size. Linked with --wrap. Threads: one.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <sanitizer/asan_interface.h>

enum { least_bytes = 16 << 10, least_kept = 4, most_blocks = 256 };

struct block {
    void *at;
    size_t bytes;
    size_t freed; /* how many were freed before it */
    bool is_free;
};

static struct block blocks[most_blocks];
static size_t count, freed;

void *__real_calloc(size_t items, size_t size);
void __real_free(void *at);
void *__wrap_calloc(size_t items, size_t size);
void __wrap_free(void *at);

/* The one of that size that was freed first, if there are enough of them. */
static struct block *find_oldest(size_t bytes)
{
    struct block *oldest = NULL;
    size_t found = 0;

    for (size_t i = 0; i < count; i++) {
        struct block *block = &blocks[i];
        if (!block->is_free || block->bytes != bytes)
            continue;
        found++;
        if (oldest == NULL || block->freed < oldest->freed)
            oldest = block;
    }
    return found >= least_kept ? oldest : NULL;
}

void *__wrap_calloc(size_t items, size_t size)
{
    size_t bytes;

    if (__builtin_mul_overflow(items, size, &bytes) || bytes < least_bytes)
        return __real_calloc(items, size);
    struct block *block = find_oldest(bytes);
    if (block != NULL) {
        block->is_free = false;
        __asan_unpoison_memory_region(block->at, bytes);
        return memset(block->at, 0, bytes);
    }
    void *at = __real_calloc(items, size);
    if (at != NULL && count < most_blocks)
        blocks[count++] = (struct block){.at = at, .bytes = bytes};
    return at;
}

void __wrap_free(void *at)
{
    for (size_t i = 0; at != NULL && i < count; i++) {
        struct block *block = &blocks[i];
        if (block->at != at)
            continue;
        if (block->is_free)
            abort(); /* twice */
        block->is_free = true;
        block->freed = freed++;
        __asan_poison_memory_region(at, block->bytes);
        return;
    }
    __real_free(at);
}
