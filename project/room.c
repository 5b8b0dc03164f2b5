/* SPDX-License-Identifier: MIT */
/* room.c - blocks, of which the last is filled from its beginning on. */
#include "project/room.h"

#include <stdalign.h>
#include <stdlib.h>

enum { BLOCK_BYTES = 16384 };

struct takt_room_block {
    struct takt_room_block *next;
    size_t used, size;
    alignas(max_align_t) unsigned char bytes[];
};

void *takt__room_take(struct takt_room *room, size_t size)
{
    struct takt_room_block *block = room->blocks;
    const size_t step = alignof(max_align_t);

    size = (size + step - 1) / step * step;
    if (block == NULL || block->size - block->used < size) {
        const size_t bytes = size > BLOCK_BYTES ? size : BLOCK_BYTES;
        block = calloc(1, sizeof *block + bytes);
        if (block == NULL)
            return NULL;
        block->size = bytes;
        block->next = room->blocks;
        room->blocks = block;
    }
    block->used += size;
    return block->bytes + block->used - size;
}

void takt__room_free(struct takt_room *room)
{
    while (room->blocks != NULL) {
        struct takt_room_block *next = room->blocks->next;
        free(room->blocks);
        room->blocks = next;
    }
}
