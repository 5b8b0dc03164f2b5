/* SPDX-License-Identifier: MIT */
/*
 * opener.h - a thread for what is too much for the program's own.
 *
 * Opening a library and making a context take tens of KiB of stack, locks of
 * the loader and memory. A thread of the program may have a stack of 16 KiB, be
 * cancelled at any instruction, or be in a signal handler that jumps out.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>

struct takt_opener {
    void (*run)(void);
    _Atomic bool is_busy; /* set by the caller, and cleared by run() */
};

/* Whether the calling thread seems to be in a signal handler, in which no
 * thread can be started. A thread that always blocks a signal seems so too: the
 * answer is yes so many times only. */
bool takt__opener_is_bad_moment(void);

/* Runs it on a thread of its own, and waits while it is busy only where every
 * call is to be routed: calls go to the baseline library meanwhile. exit()
 * waits for it, too. False: no thread could be started, or the program is
 * ending, and nothing was run. `opener` must be static. */
bool takt__opener_run(struct takt_opener *opener);

/* exit() calls it before it waits, from any thread: the program is ending, and
 * what is being opened is not needed any more. The last one told is called
 * first; there is room for a few. */
void takt__opener_tell_at_exit(void (*handler)(void));

/* Has exit() wait. Before anything is opened: a handler that is added while the
 * program exits would run after the destructors of BLAS libraries, and threads
 * that are in them crash if the program does not end soon. */
void takt__opener_watch_exit(void);
