/* SPDX-License-Identifier: MIT */
/*
 * finding_calls.c - which functions are called in loops.
 *
 * Functions are known by hashes of their names alone, so those that share a
 * name share their calls. A function that is called in two loops runs as often
 * as if it stood in them; one that it calls inherits that, over a few steps.
 */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "findings.h"

enum {
    most_depth = 7, /* of one call, three bits */
    most_heat = 2,
    rounds = 4, /* steps over which loops are inherited */
    most_calls = 4 << 20,
    slot_bits = 20
};

_Static_assert(fan_in_slots == 1 << slot_bits, "slots are packed");

uint32_t call_slot(const char *name, size_t length)
{
    uint32_t hash = 2166136261u; /* FNV-1a */

    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (unsigned char)name[i]) * 16777619u;
    return (hash ^ hash >> slot_bits) % fan_in_slots;
}

/* The calls of one file. */
struct file_calls {
    struct fan_in *fan_in;
    uint64_t *call;
    size_t count, room;
};

static void note_call(void *self, uint32_t caller, uint32_t callee,
                      unsigned loops)
{
    struct file_calls *in = self;

    atomic_fetch_add_explicit(&in->fan_in->count[callee], 1,
                              memory_order_relaxed);
    if (!takt__grow(&in->call, &in->room, in->count + 1, sizeof *in->call))
        return;
    in->call[in->count++] = (uint64_t)caller << (slot_bits + 3) |
                            (uint64_t)callee << 3 |
                            (loops < most_depth ? loops : most_depth);
}

static int compare_calls(const void *left, const void *right)
{
    const uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

    return a < b ? -1 : a > b;
}

/* Of calls of one function by another, the one in the most loops. */
static size_t keep_deepest(uint64_t *call, size_t count)
{
    size_t kept = 0;

    qsort(call, count, sizeof *call, compare_calls);
    for (size_t i = 0; i < count; i++)
        if (i + 1 == count || call[i] >> 3 != call[i + 1] >> 3)
            call[kept++] = call[i];
    return kept;
}

static void add_calls(struct fan_in *fan_in, const uint64_t *call, size_t count)
{
    pthread_mutex_lock(&fan_in->lock);
    if (fan_in->calls + count > most_calls ||
        !takt__grow(&fan_in->call, &fan_in->room, fan_in->calls + count,
                    sizeof *call))
        count = 0;
    if (count > 0)
        memcpy(fan_in->call + fan_in->calls, call, count * sizeof *call);
    fan_in->calls += count;
    pthread_mutex_unlock(&fan_in->lock);
}

void open_fan_in(struct fan_in *fan_in)
{
    *fan_in =
        (struct fan_in){.count = calloc(fan_in_slots, sizeof *fan_in->count)};
    pthread_mutex_init(&fan_in->lock, NULL);
}

void free_fan_in(struct fan_in *fan_in)
{
    free(fan_in->count);
    free(fan_in->call);
    free(fan_in->heat);
    pthread_mutex_destroy(&fan_in->lock);
}

void count_calls(struct fan_in *fan_in, const char *path,
                 enum takt_scan_language language, const char *text,
                 size_t size)
{
    struct file_calls in = {.fan_in = fan_in};

    if (fan_in->count == NULL || is_aside(path))
        return;
    read_calls(language, text, size, note_call, &in);
    if (in.count > 0)
        add_calls(fan_in, in.call, keep_deepest(in.call, in.count));
    free(in.call);
}

void follow_calls(struct fan_in *fan_in)
{
    unsigned char *now = calloc(fan_in_slots, 1);
    unsigned char *next = calloc(fan_in_slots, 1);

    for (int round = 0; now != NULL && next != NULL && round < rounds;
         round++) {
        memcpy(next, now, fan_in_slots);
        for (size_t i = 0; i < fan_in->calls; i++) {
            const uint64_t call = fan_in->call[i];
            const uint32_t caller = (uint32_t)(call >> (slot_bits + 3));
            const uint32_t callee = (uint32_t)(call >> 3) % fan_in_slots;
            const unsigned heat = now[caller] + (unsigned)(call & most_depth);
            if (caller != callee && heat > next[callee])
                next[callee] =
                    (unsigned char)(heat < most_heat ? heat : most_heat);
        }
        unsigned char *old = now;
        now = next;
        next = old;
    }
    free(next);
    fan_in->heat = now;
}

static uint32_t slot_of_function(const char *function)
{
    char name[longest_symbol];

    plain_symbol(function, name);
    return call_slot(name, strlen(name));
}

uint32_t calls_of(const struct fan_in *fan_in, const char *function)
{
    return fan_in->count == NULL || function[0] == '\0'
               ? 0
               : atomic_load_explicit(
                     &fan_in->count[slot_of_function(function)],
                     memory_order_relaxed);
}

unsigned loops_of_calls(const struct fan_in *fan_in, const char *function)
{
    return fan_in->heat == NULL || function[0] == '\0'
               ? 0
               : fan_in->heat[slot_of_function(function)];
}
