/* SPDX-License-Identifier: MIT */
/*
 * loader.h - asking the loader without harm to a child.
 *
 * The loader has locks that a fork() does not reset (glibc 2.36): if another
 * thread has one at that moment, the child waits for it for ever when it loads
 * something. A program whose threads only compute does not expect that; so a
 * fork() waits until none of them is in the loader because of us, for a moment
 * at most, since whoever forks may have the loader's lock itself.
 */
#ifndef TAKT_DROPIN_LOADER_H
#define TAKT_DROPIN_LOADER_H

#include <stdbool.h>

void takt__loader_enter(void);
void takt__loader_leave(void);

/* Whether a fork() is under way. What was loaded meanwhile has not been told of
 * it: its locks are not to be taken. */
bool takt__loader_is_forking(void);

#endif
