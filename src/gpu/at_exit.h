/* SPDX-License-Identifier: MIT */
/*
 * at_exit.h - threads are out of drivers and vendors' libraries when these are
 * taken down.
 *
 * Libraries of C++ register what ends them when they are loaded, and more of it
 * when they are first used. So exit() begins by waiting for the threads that
 * are inside, with a limit, and no other gets in: first of all where the main
 * thread exits (base/first_at_exit.h). For others there is a handler of
 * atexit(), which is registered again whenever there may be new ones: the last
 * registered runs first.
 */
#pragma once

#include <stdbool.h>

/* Around all that calls a driver. False: the program is ending, and nothing was
 * begun. */
bool takt__gpu_begin(void);
void takt__gpu_end(void);

/* The program is ending: waits for the threads inside. */
void takt__gpu_leave(void);

/* What takes long looks between its steps, and stops. */
bool takt__gpu_is_ending(void);

/* Before a thread is started that will call a driver. */
void takt__gpu_register_exit(void);

/* After calls that may have registered handlers. */
void takt__gpu_watch_exit(void);

/* takt__library_open(), watched. NULL when the program is ending, too. */
void *takt__gpu_library_open(const char *file);

/* In a child of fork(), which has one thread. */
void takt__gpu_forget_threads(void);
