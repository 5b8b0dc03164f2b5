/* SPDX-License-Identifier: MIT */
/*
 * detached.h - starts a program that the calling process never hears of again.
 *
 * It is no child of the caller: no SIGCHLD comes when it ends, wait() does not
 * find it, and it has no open file, no terminal and no blocked signal of the
 * caller's. Neither handlers of fork() nor the memory of a large process are
 * in the way: the caller's pages are not copied.
 */
#pragma once

#include <stdbool.h>

struct takt_detached {
    const char *path;        /* absolute */
    const char *const *argv; /* ended by NULL, and so is the next */
    const char *const *envp;
    unsigned limit_s; /* it is ended by SIGALRM after so long; 0: never */
};

/* Waits until the program is loaded, some milliseconds. False: it was not, and
 * *error is an errno. */
bool takt__start_detached(const struct takt_detached *what, int *error);
