/* SPDX-License-Identifier: MIT */
/*
 * memory.c - memory for tree-sitter, which has no way to go on without it and
 * would abort, and for what the scanner makes of its trees.
 *
 * The tool ends with a message instead. It reads while it scans and writes
 * nothing, so nothing is left half-done.
 */
#include "memory.h"

#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#include <tree_sitter/api.h>

#include "base/grow.h"

static void *expect(void *memory)
{
    static const char text[] = "takt: there is not enough memory to parse\n";

    if (memory == NULL) {
        if (write(STDERR_FILENO, text, sizeof text - 1) < 0)
            _exit(2); /* the message cannot be written */
        _exit(1);
    }
    return memory;
}

/* An empty piece may be NULL, and is no failure. */
static void *allocate(size_t size)
{
    return expect(malloc(size > 0 ? size : 1));
}

void *takt__scan_zeros(size_t count, size_t size)
{
    const bool is_empty = count == 0 || size == 0;
    return expect(is_empty ? calloc(1, 1) : calloc(count, size));
}

static void *resize(void *old, size_t size)
{
    return expect(realloc(old, size > 0 ? size : 1));
}

void takt__scan_grow(void *list, size_t *room, size_t count, size_t size)
{
    expect(takt__grow(list, room, count, size) ? list : NULL);
}

void takt__scan_use_memory(void)
{
    ts_set_allocator(allocate, takt__scan_zeros, resize, free);
}
