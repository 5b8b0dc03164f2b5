/* SPDX-License-Identifier: MIT */
/*
 * room.h - memory for the many parts of a tree, which are freed together.
 */
#ifndef TAKT_PROJECT_ROOM_H
#define TAKT_PROJECT_ROOM_H

#include <stddef.h>

/* Zeros: nothing was taken. */
struct takt_room {
    struct takt_room_block *blocks;
};

/* Zeros, aligned for anything; NULL: no memory. */
void *takt__room_take(struct takt_room *room, size_t size);

void takt__room_free(struct takt_room *room);

#endif
