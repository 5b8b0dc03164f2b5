/* SPDX-License-Identifier: MIT */
/*
 * exit.h - what the handlers of exit() share.
 *
 * exit() may be called while other threads are inside of Takt, and from a
 * signal handler that interrupted Takt itself. So its handlers wait for nothing
 * without a limit, and what may take a lock that others have (of ours, of
 * malloc's, of SQLite's) is done by Takt's own threads, while exit() waits.
 * What is not done in time is left.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Called by each handler first, without a lock. Nothing new is begun from then
 * on: no trial, no thread. True: the thread was interrupted inside of a section
 * (base/lock.h), whose locks will not be released. */
bool takt__exit_begin(void);
bool takt__exit_has_begun(void);

/* Until when a handler waits, by CLOCK_MONOTONIC: for `usual_ns`, but not for
 * long where it is likely to be in vain. */
uint64_t takt__exit_deadline(bool is_interrupted, uint64_t usual_ns);

/* Some thread of Takt's was not done in time and is still at work: whatever it
 * uses must stay. */
void takt__exit_give_up(void);
bool takt__exit_gave_up(void);
