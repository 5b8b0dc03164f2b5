/* SPDX-License-Identifier: MIT */
/*
 * guard.h - code of the program's thread that has locks.
 *
 * A signal handler that jumps out of it (siglongjmp), or an asynchronous
 * cancellation, would leave them held. Both wait until the guard ends. It takes
 * two system calls at either end: it is for what takes microseconds.
 */
#pragma once

#include <signal.h>
#include <stdbool.h>

/* Cancellation as the program had it. */
struct takt_cancel {
    int state, type;
};

struct takt_cancel takt__cancel_off(void);
void takt__cancel_restore(struct takt_cancel before);

struct takt_guard {
    sigset_t signals;
    struct takt_cancel cancel;
};

void takt__guard_begin(struct takt_guard *guard);
void takt__guard_end(const struct takt_guard *guard);

/* Around calls of libtakt that have locks, which may take long. Signals are not
 * held back there: those to the process would go to another thread, such as one
 * of OpenBLAS's, which the program's handlers do not expect. If a handler has
 * jumped out of such a call, its locks are held for ever: false, and libtakt
 * must not be called. */
bool takt__guard_enter_libtakt(struct takt_cancel *cancel);
void takt__guard_leave_libtakt(struct takt_cancel cancel);
