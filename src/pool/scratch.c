/* SPDX-License-Identifier: MIT */
/*
 * scratch.c - a block that grows, and one of them for each thread.
 *
 * The thread's own is reached through a thread-local variable; a key exists
 * only so that it is freed at the end of the thread.
 */
#include "pool/scratch.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/size.h"

enum { alignment = 64 };

void *takt__scratch_get(struct takt_scratch *scratch, size_t bytes)
{
    if (bytes == 0)
        return NULL;
    if (bytes <= scratch->bytes)
        return scratch->memory;

    /* A quarter more, so that slowly growing requests do not move each time. */
    const size_t grown =
        takt__size_round_up(takt__size_add(bytes, bytes / 4), alignment);
    if (grown > PTRDIFF_MAX)
        return NULL;
    void *memory = aligned_alloc(alignment, grown);
    if (memory == NULL)
        return NULL;
    free(scratch->memory);
    scratch->memory = memory;
    scratch->bytes = grown;
    return memory;
}

void takt__scratch_free(struct takt_scratch *scratch)
{
    free(scratch->memory);
    scratch->memory = NULL;
    scratch->bytes = 0;
}

static _Thread_local struct takt_scratch of_thread;
static _Thread_local int is_registered;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t key;
static int key_status;

static void free_of_thread(void *scratch)
{
    takt__scratch_free(scratch);
}

static void make_key(void)
{
    key_status = pthread_key_create(&key, free_of_thread);
}

struct takt_scratch *takt__scratch_of_thread(void)
{
    if (!is_registered) {
        pthread_once(&once, make_key);
        if (key_status != 0 || pthread_setspecific(key, &of_thread) != 0)
            return NULL;
        is_registered = 1;
    }
    return &of_thread;
}
