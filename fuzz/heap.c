/* SPDX-License-Identifier: MIT */
/*
 * heap.c - blocks by powers of two, each behind a head that says its size.
 *
 * A block is either used, or in the queue of its class: from there the oldest
 * is taken, and not before the queue is long. Those of no class are rare, and
 * the sanitizer's. This file is compiled without sanitizers: it reads what it
 * has poisoned. Threads: one.
 */
#include "heap.h"

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <sanitizer/asan_interface.h>
#include <sqlite3.h>

enum {
    least_log = 5,
    classes = 13, /* 32 bytes to 128 KiB */
    longest_queue_bytes = 1 << 14,
    chunk_bytes = 1 << 22
};

/* Poisoned, like what is around it. */
struct head {
    struct head *next; /* in its queue */
    uint32_t size;     /* as asked for, rounded up to 8 */
    uint32_t class;
};

struct queue {
    struct head *first, *last;
    size_t count;
};

static struct queue queues[classes];
static char *chunk;
static size_t chunk_left;

static size_t bytes_of_class(unsigned class)
{
    return (size_t)1 << (least_log + class);
}

static unsigned class_of(size_t size)
{
    const size_t last = (size + sizeof(struct head) - 1) >> least_log;
    const unsigned class = last == 0 ? 0 : 64 - (unsigned)__builtin_clzl(last);

    return class < classes ? class : classes;
}

static struct head *take_oldest(unsigned class)
{
    struct queue *queue = &queues[class];
    struct head *head = queue->first;

    if (queue->count * bytes_of_class(class) <= longest_queue_bytes ||
        queue->count < 4)
        return NULL;
    queue->first = head->next;
    queue->count--;
    return head;
}

static struct head *take_new(unsigned class)
{
    const size_t bytes = bytes_of_class(class);

    if (chunk_left < bytes) {
        chunk = malloc(chunk_bytes); /* for ever; the rest is lost */
        if (chunk == NULL)
            return NULL;
        chunk_left = chunk_bytes;
        __asan_poison_memory_region(chunk, chunk_bytes);
    }
    struct head *head = (struct head *)(void *)chunk;
    chunk += bytes;
    chunk_left -= bytes;
    return head;
}

static void *take(int size)
{
    const size_t wanted = ((size_t)size + 7) / 8 * 8;
    const unsigned class = class_of(wanted);

    struct head *head =
        class < classes ? take_oldest(class) : malloc(sizeof *head + wanted);
    if (head == NULL && class < classes)
        head = take_new(class);
    if (head == NULL)
        return NULL;
    head->size = (uint32_t)wanted;
    head->class = class;
    __asan_unpoison_memory_region(head + 1, wanted);
    return head + 1;
}

static void give(void *block)
{
    struct head *head = (struct head *)block - 1;

    if (head->class == classes) {
        free(head);
        return;
    }
    struct queue *queue = &queues[head->class];
    __asan_poison_memory_region(block, head->size);
    head->next = NULL;
    if (queue->count++ == 0)
        queue->first = head;
    else
        queue->last->next = head;
    queue->last = head;
}

static int size_of(void *block)
{
    return block == NULL ? 0 : (int)((struct head *)block - 1)->size;
}

static void *resize(void *block, int size)
{
    void *other = take(size);

    if (other != NULL) {
        const int before = size_of(block);
        memcpy(other, block, (size_t)(before < size ? before : size));
        give(block);
    }
    return other;
}

static int round_up(int size)
{
    return (size + 7) / 8 * 8;
}

static int begin(void *self)
{
    (void)self;
    return SQLITE_OK;
}

static void end(void *self)
{
    (void)self;
}

void heap_give_to_sqlite(void)
{
    static const sqlite3_mem_methods methods = {.xMalloc = take,
                                                .xFree = give,
                                                .xRealloc = resize,
                                                .xSize = size_of,
                                                .xRoundup = round_up,
                                                .xInit = begin,
                                                .xShutdown = end};

    if (sqlite3_config(SQLITE_CONFIG_MALLOC, &methods) != SQLITE_OK)
        abort();
}
