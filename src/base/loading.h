/* SPDX-License-Identifier: MIT */
/*
 * loading.h - stretches in which a library is loaded and begins its work.
 *
 * A child of a fork() meanwhile would find it half done, and the destructors
 * that exit() runs would meet its constructors: so neither goes on before the
 * end of it (exit() waits two seconds at most, and fork() as base/fork.h says).
 * Pairs nest.
 */
#pragma once

void takt__loading_begin(void);
void takt__loading_end(void);

/* Why nothing is to be loaded any more, which is to be asked between the two;
 * NULL: it may be. */
const char *takt__loading_problem(void);
