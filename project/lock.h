/* SPDX-License-Identifier: MIT */
/*
 * lock.h - one at a time in a project: a lock on a file in its folder, which
 * the system gives back when its holder ends, however that comes about.
 */
#pragma once

#include <stdbool.h>

#include <takt/status.h>
#include <takt/store.h>

struct takt_lock {
    int fd; /* -1: not held */
    char *path;
};

/* TAKT_EEXIST: another process has it; `diag` names it.
 * TAKT_EIO: the lock's file cannot be made or locked.  TAKT_ENOMEM. */
takt_status takt__lock_take(const char *folder, struct takt_lock *out,
                            takt_diag *diag);

/* Gives it back, and removes the file. */
void takt__lock_give(struct takt_lock *lock);

/* Whether a process holds it now. */
bool takt__lock_is_taken(const char *folder);
