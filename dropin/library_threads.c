/* SPDX-License-Identifier: MIT */
/* library_threads.c - one word per library: which change there is. */
#include "library_threads.h"

#include <pthread.h>
#include <stdlib.h>

#include "fork.h"

static _Atomic(struct takt_library_threads *) libraries;

/* The word is 0 (as the program has it), `changing`, or the number of calls
 * that share a change, and its threads. */
enum { bits = 16, mask = (1 << bits) - 1, one_call = 1 << bits };
static const uint32_t changing = UINT32_MAX, most_calls = 1 << 15;

static bool exchange(_Atomic uint32_t *at, uint32_t from, uint32_t to)
{
    return atomic_compare_exchange_strong(at, &from, to);
}

/* A child has one thread, which is in no call of the library. */
static void in_child(void)
{
    struct takt_library_threads *at = atomic_load(&libraries);

    for (; at != NULL; at = at->next) {
        const unsigned before = atomic_exchange(&at->before, 0);
        if (atomic_exchange(&at->change, 0) != 0 && before != 0)
            at->set((int)before);
    }
}

static void watch_forks(void)
{
    takt__at_fork(TAKT_FORK_THREADS, NULL, NULL, in_child);
}

struct takt_library_threads *takt__library_threads(int (*get)(void),
                                                   void (*set)(int))
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    struct takt_library_threads *made = NULL, *first = atomic_load(&libraries);

    do {
        for (struct takt_library_threads *at = first; at != NULL; at = at->next)
            if (at->set == set) {
                free(made);
                return at;
            }
        if (made == NULL && (made = calloc(1, sizeof *made)) == NULL)
            return NULL;
        made->next = first;
        made->get = get;
        made->set = set;
    } while (!atomic_compare_exchange_weak(&libraries, &first, made));
    pthread_once(&once, watch_forks);
    return made;
}

/* One more call of a change; false: it is another one. */
static bool join(_Atomic uint32_t *change, uint32_t there, unsigned threads)
{
    return there != changing && (there & mask) == threads &&
           there >> bits < most_calls &&
           exchange(change, there, there + one_call);
}

bool takt__threads_begin(struct takt_library_threads *library, unsigned threads)
{
    const uint32_t there = atomic_load(&library->change);

    if (threads == 0 || threads > mask)
        return false;
    if (there != 0)
        return join(&library->change, there, threads);
    if (!exchange(&library->change, 0, changing))
        return false;
    atomic_store(&library->before, (unsigned)library->get());
    library->set((int)threads);
    atomic_store(&library->change, one_call | threads);
    return true;
}

/* Takes one call off; true: it was the last one, and the word is `changing`. */
static bool leave(_Atomic uint32_t *change, unsigned *threads)
{
    uint32_t there = atomic_load(change);
    bool is_last;

    do {
        is_last = there >> bits <= 1;
        *threads = there & mask;
    } while (!atomic_compare_exchange_weak(
        change, &there, is_last ? changing : there - one_call));
    return is_last;
}

void takt__threads_end(struct takt_library_threads *library)
{
    unsigned threads;

    if (!leave(&library->change, &threads))
        return;
    if (library->get() == (int)threads)
        library->set((int)atomic_load(&library->before));
    atomic_store(&library->before, 0);
    atomic_store(&library->change, 0);
}

/* 0: nothing is changed now. */
static unsigned before_change(const struct takt_library_threads *library)
{
    const unsigned before = atomic_load(&library->before);

    return atomic_load(&library->change) != 0 ? before : 0;
}

unsigned takt__threads_of_program(const struct takt_library_threads *library)
{
    unsigned before = before_change(library);

    if (before != 0)
        return before;
    const int threads = library->get();
    before = before_change(library); /* one may have begun meanwhile */
    return before != 0 ? before : threads > 0 ? (unsigned)threads : 0;
}
