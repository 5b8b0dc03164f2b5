/* SPDX-License-Identifier: MIT */
/*
 * writer.h - the name under which this process writes into a store.
 *
 * A writer belongs to a slot, so that there are only as many of them as ever
 * learned at once, however many processes there were.
 */
#pragma once

#include "store/database.h"

struct takt_writer {
    char name[TAKT_RECORD_WRITER];
    char machine[TAKT_SHA256_HEX];
    int slot;
    uint64_t epoch;
    bool is_known; /* to the database, with this epoch */
};

/* Takes a slot, and the name that belongs to it, or a new one; nothing is
 * written yet. TAKT_EIO: no slot is free. */
takt_status takt__writer_take(struct takt_database *database,
                              const char *machine, struct takt_writer *out);

/* Makes the writer known, in a transaction that is going to be committed. */
takt_status takt__writer_put(struct takt_database *database,
                             const struct takt_writer *writer);

/* Takes another name, whatever was stored under the one before. TAKT_EIO: the
 * system has no random bytes. */
takt_status takt__writer_rename(struct takt_writer *writer);

/* A record under that name came from elsewhere: a process that writes under it
 * has to take another one. In a transaction. */
takt_status takt__writer_retire(struct takt_database *database,
                                const char *name);

/* Whether the name of a writer that is known is still its own. */
takt_status takt__writer_check(struct takt_database *database,
                               const struct takt_writer *writer, bool *is_own);

/* The largest epoch of any record of the writer; 0: there is none.
 * *is_spent: its numbers are too large for later ones. */
takt_status takt__writer_last_epoch(struct takt_database *database,
                                    const char *name, uint64_t *epoch,
                                    bool *is_spent);
