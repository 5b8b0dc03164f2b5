/* SPDX-License-Identifier: MIT */
/*
 * lockfile.h - the processes that write: the file PATH-writers and its locks.
 *
 * Byte i locked: writer slot i is taken. One more byte is the opening lock,
 * which a process holds while it opens the database. The locks are those of an
 * open file description, so they go with the last process that has it,
 * however it ends, and two stores of one process are two holders. The file
 * has no content, but for its size, which says what was found of the database.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "takt/status.h"

enum { TAKT_WRITER_SLOTS = 4096 };

/* Whether to go on waiting for another process. NULL: for as long as it is
 * usual. */
struct takt_patience {
    bool (*may_wait)(void *self);
    void *self;
};

static inline bool takt__may_wait(const struct takt_patience *patience)
{
    return patience == NULL || patience->may_wait(patience->self);
}

/* The descriptor of the file for the database at `path`, -1: it cannot be
 * had; errno EEXIST: that name has another file, which stays as it is.
 * `may_make`: also when there is none yet. */
int takt__lockfile_open(const char *path, bool may_make);

/* Closing it releases the opening lock and the slot, unless a process that
 * was forked still has it open. -1 is allowed. */
void takt__lockfile_close(int lockfile);

/* The opening lock. TAKT_EIO: another process has held it for seconds, or
 * patience has ended. */
takt_status takt__lockfile_lock(int lockfile,
                                const struct takt_patience *patience);
void takt__lockfile_unlock(int lockfile);

/* Takes the lowest slot that is free; -1: there is none. */
int takt__lockfile_take(int lockfile);

/* What is known of damage. Damage that shows while a store is used may be a
 * disk that failed once: the next process to open the store checks all of it.
 * If nothing is found then, but the same happens again before anything could be
 * written, it is damage that only writing shows. */
enum takt_damage {
    TAKT_DAMAGE_NONE,
    TAKT_DAMAGE_FOUND,      /* damage was found */
    TAKT_DAMAGE_CHECKED,    /* it was, and a check found none */
    TAKT_DAMAGE_FOUND_AGAIN /* and then it was found again */
};
void takt__lockfile_set_damage(int lockfile, enum takt_damage damage);
enum takt_damage takt__lockfile_damage(int lockfile);
