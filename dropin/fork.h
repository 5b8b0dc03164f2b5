/* SPDX-License-Identifier: MIT */
/*
 * fork.h - what this library does around a fork(), in one fixed order.
 *
 * Handlers before the fork run from the last part to the first, those after it
 * from the first to the last, as pthread_atfork() would have it if the parts
 * registered in this order.
 */
#pragma once

enum takt_fork_part {
    TAKT_FORK_LOADER,
    TAKT_FORK_THREADS,
    TAKT_FORK_ROUTER,
    TAKT_FORK_STATS,
    TAKT_FORK_REUSE,
    TAKT_FORK_LAPACK,
    TAKT_FORK_SWITCHBACK,
    TAKT_FORK_EFFECT,
    TAKT_FORK_PARTS
};

/* Registers the handlers of a part: before the fork, and after it in the parent
 * and in the child. Any of them may be NULL. Call it once for each part. */
void takt__at_fork(enum takt_fork_part part, void (*prepare)(void),
                   void (*parent)(void), void (*child)(void));
