/* SPDX-License-Identifier: MIT */
/*
 * at_exit.h - threads are out of drivers and vendors' libraries when these are
 * taken down.
 *
 * Libraries of C++ register what ends them when they are loaded, and more of it
 * when they are first used. Of the handlers of exit() the last registered runs
 * first: so ours is registered again whenever there may be new ones. It waits
 * for the threads that are inside, with a limit, and no other gets in.
 */
#pragma once

#include <stdbool.h>

/* Around all that calls a driver. False: the program is ending, and nothing was
 * begun. */
bool takt__gpu_begin(void);
void takt__gpu_end(void);

/* After calls that may have registered handlers. */
void takt__gpu_watch_exit(void);

/* takt__library_open(), watched. NULL when the program is ending, too. */
void *takt__gpu_library_open(const char *file);

/* In a child of fork(), which has one thread. */
void takt__gpu_forget_threads(void);
