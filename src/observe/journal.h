/* SPDX-License-Identifier: MIT */
/*
 * journal.h - the fourth step of a call: leave a note of what it cost.
 *
 * A bounded ring. Any number of threads push, one at a time takes out. Pushing
 * neither waits nor allocates: when the ring is full the sample is dropped and
 * counted.
 */
#ifndef TAKT_OBSERVE_JOURNAL_H
#define TAKT_OBSERVE_JOURNAL_H

#include <stdatomic.h>
#include <stdbool.h>

#include "model/sample.h"

enum { TAKT_JOURNAL_SLOTS = 1024 };

struct takt_journal_slot {
    _Alignas(64) _Atomic uint64_t turn; /* says whose turn the slot is */
    struct takt_sample sample;
};

struct takt_journal {
    _Alignas(64) _Atomic uint64_t head; /* next to be written */
    _Alignas(64) _Atomic uint64_t tail; /* next to be read */
    _Atomic uint64_t dropped;
    struct takt_journal_slot slot[TAKT_JOURNAL_SLOTS];
};

void takt__journal_init(struct takt_journal *journal);

/* False: full; the drop was counted. */
bool takt__journal_push(struct takt_journal *journal,
                        const struct takt_sample *sample);

/* How many there are, those included that are being written just now. By
 * whoever takes them out. */
uint64_t takt__journal_count(const struct takt_journal *journal);

/* Takes the oldest sample out; false: there is none. One thread at a time. */
bool takt__journal_next(struct takt_journal *journal, struct takt_sample *out);

#endif
