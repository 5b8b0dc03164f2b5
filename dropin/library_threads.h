/* SPDX-License-Identifier: MIT */
/*
 * library_threads.h - the number of threads of a library, changed for the time
 * of a call.
 *
 * The number belongs to the whole process. Calls with the same one share a
 * change; one with another runs with what there is. The last one restores
 * what the program had, unless the program has set something else meanwhile.
 * Nothing here waits.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct takt_library_threads {
    struct takt_library_threads *next;
    int (*get)(void);
    void (*set)(int);
    _Atomic uint32_t change; /* see library_threads.c */
    _Atomic unsigned before; /* what the program had before a change; 0: there
                              * is none, or it has just begun */
};

/* Those of a library with these two functions; NULL: no memory. */
struct takt_library_threads *takt__library_threads(int (*get)(void),
                                                   void (*set)(int));

/* False: it was not changed, and takt__threads_end() must not be called. */
bool takt__threads_begin(struct takt_library_threads *library,
                         unsigned threads);
void takt__threads_end(struct takt_library_threads *library);

/* What the program has: what the library says, or said before a change. */
unsigned takt__threads_of_program(const struct takt_library_threads *library);
