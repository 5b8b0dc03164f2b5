/* SPDX-License-Identifier: MIT */
/*
 * pile.c - a chain of blocks; the last is filled, larger wishes get their own.
 */
#include "pile.h"

#include <stdalign.h>
#include <stdint.h>
#include <stdlib.h>

enum { BLOCK = 4000 };

struct takt_pile_block {
    struct takt_pile_block *before;
    size_t used, size;
    alignas(max_align_t) unsigned char bytes[];
};

static struct takt_pile_block *add_block(struct takt_pile *pile, size_t size)
{
    struct takt_pile_block *block = calloc(1, sizeof *block + size);

    if (block == NULL)
        return NULL;
    block->size = size;
    block->before = pile->last;
    pile->last = block;
    return block;
}

void *takt__pile_take(struct takt_pile *pile, size_t size)
{
    const size_t unit = alignof(max_align_t);
    struct takt_pile_block *block = pile->last;

    if (size > SIZE_MAX / 2)
        return NULL;
    size = (size + unit - 1) / unit * unit;
    if (block == NULL || block->size - block->used < size) {
        block = add_block(pile, size > BLOCK ? size : BLOCK);
        if (block == NULL)
            return NULL;
    }
    void *taken = block->bytes + block->used;
    block->used += size;
    return taken;
}

void takt__pile_clear(struct takt_pile *pile)
{
    while (pile->last != NULL) {
        struct takt_pile_block *before = pile->last->before;

        free(pile->last);
        pile->last = before;
    }
}
