/* SPDX-License-Identifier: MIT */
/* thread.h - how every thread of Takt's begins. Needs libc and libm alone. */
#pragma once

#include <pthread.h>
#include <stdbool.h>

/* All their names begin so. */
#define TAKT_THREAD_PREFIX "takt-"

/* Starts a thread that handles no signal: those are the program's. False: the
 * system has none to give. */
bool takt__thread_start(pthread_t *out, void *run(void *self), void *self);

/* What it calls first. A thread inherits the floating-point environment of its
 * creator, and any thread that knows its number could cancel it: neither is
 * wanted. The name, of at most 15 letters, is what debuggers show. */
void takt__thread_enter(const char *name);
