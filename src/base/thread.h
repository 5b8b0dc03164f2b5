/* SPDX-License-Identifier: MIT */
/* thread.h - how every thread of Takt's begins. Needs libc and libm alone. */
#pragma once

#include <pthread.h>
#include <stdbool.h>

/* All their names begin so. */
#define TAKT_THREAD_PREFIX "takt-"

/* Starts a thread that handles no signal: those are the program's. It has a
 * megabyte of stack at least, whatever the program's own have. False: the
 * system has none to give. */
bool takt__thread_start(pthread_t *out, void *run(void *self), void *self);

/* What it calls first. A thread inherits the floating-point environment of its
 * creator, and any thread that knows its number could cancel it: neither is
 * wanted. The name, of at most 15 letters, is what debuggers show. */
void takt__thread_enter(const char *name);

/* Names the calling thread until takt__thread_name_back(): threads that other
 * people's code starts meanwhile keep that name, and count as Takt's. The
 * calling one does not. Where too many do this at once, it keeps its name. */
struct takt_thread_name {
    char text[16];
    int slot; /* negative: it has its own name */
};
struct takt_thread_name takt__thread_name_lend(const char *name);
void takt__thread_name_back(struct takt_thread_name before);

/* Whether that thread has such a name now; and how often one was lent or given
 * back: while that is the same, the answers are of one moment. */
bool takt__thread_has_lent(long thread);
unsigned takt__thread_lendings(void);
