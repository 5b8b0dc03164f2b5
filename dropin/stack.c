/* SPDX-License-Identifier: MIT */
/* stack.c - the bounds of a thread's stack. */
#include "stack.h"

#include <pthread.h>
#include <stddef.h>

#include "guard.h"
#include "opener.h"

enum { room_bytes = 64 << 10 };

_Thread_local struct takt_stack_room takt__stack_room;

static bool find(void **begin, size_t *bytes)
{
    pthread_attr_t attributes;

    if (pthread_getattr_np(pthread_self(), &attributes) != 0)
        return false;
    const bool is_found = pthread_attr_getstack(&attributes, begin, bytes) == 0;
    pthread_attr_destroy(&attributes);
    return is_found;
}

bool takt__stack_measure(uintptr_t here)
{
    struct takt_stack_room *room = &takt__stack_room;
    struct takt_guard guard;
    void *begin;
    size_t bytes;

    /* Asking allocates memory. */
    if (room->size != 0 || takt__opener_is_bad_moment())
        return false;
    takt__guard_begin(&guard);
    const bool is_found = find(&begin, &bytes);
    takt__guard_end(&guard);
    if (!is_found) /* without /proc: as most stacks are */
        *room = (struct takt_stack_room){.size = UINTPTR_MAX};
    else if (bytes > room_bytes)
        *room = (struct takt_stack_room){.begin = (uintptr_t)begin + room_bytes,
                                         .size = bytes - room_bytes};
    else
        *room = (struct takt_stack_room){.begin = UINTPTR_MAX, .size = 1};
    return here - room->begin < room->size;
}
