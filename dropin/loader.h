/* SPDX-License-Identifier: MIT */
/*
 * loader.h - calling the dynamic loader without harm to a child of fork().
 *
 * The loader has locks that a fork() does not reset (glibc 2.36): if another
 * thread holds one at that moment, the child waits for it for ever when it
 * loads something. A program whose threads only compute does not expect that.
 * So a fork() waits until no thread is in the loader because of this library;
 * only for a moment, since the thread that forks may hold the loader's lock
 * itself.
 */
#pragma once

#include <stdbool.h>

void takt__loader_enter(void);
void takt__loader_leave(void);

/* dlopen(); NULL also if the program has more rights than its user (setuid) and
 * the library is not loaded yet and not named by an absolute path. */
void *takt__loader_open(const char *file, int flags);

/* Whether a fork() is under way. A library that was loaded meanwhile has not
 * prepared for it: its locks must not be taken. */
bool takt__loader_is_forking(void);

/* In a child of fork(): whether another thread was in the loader all the same
 * at that moment, since the fork did not wait any longer. */
bool takt__loader_was_torn(void);
