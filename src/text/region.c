/* SPDX-License-Identifier: MIT */
/* region.c - a chain of blocks, of which the last is filled; a request larger
 * than a block gets one of its own. */
#include "text/region.h"

#include <stdalign.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK_BYTES = 4000 };

struct takt_region_block {
    struct takt_region_block *before;
    size_t used, size;
    alignas(max_align_t) unsigned char bytes[];
};

void *takt__region_take(struct takt_region *region, size_t size)
{
    const size_t unit = alignof(max_align_t);
    struct takt_region_block *block = region->last;

    if (size > SIZE_MAX / 2)
        return NULL;
    size = (size + unit - 1) / unit * unit;
    if (block == NULL || block->size - block->used < size) {
        const size_t bytes = size > BLOCK_BYTES ? size : BLOCK_BYTES;
        block = calloc(1, sizeof *block + bytes);
        if (block == NULL)
            return NULL;
        block->size = bytes;
        block->before = region->last;
        region->last = block;
    }
    block->used += size;
    return block->bytes + block->used - size;
}

char *takt__region_copy(struct takt_region *region, const char *text,
                        size_t length)
{
    char *copy = takt__region_take(region, length + 1);

    return copy == NULL ? NULL : memcpy(copy, text, length);
}

void takt__region_free(struct takt_region *region)
{
    while (region->last != NULL) {
        struct takt_region_block *before = region->last->before;
        free(region->last);
        region->last = before;
    }
}
