/* SPDX-License-Identifier: MIT */
/*
 * journal.h - samples of calls, on their way to the learner.
 *
 * A bounded ring. Any number of threads push, one at a time takes out. Pushing
 * neither waits nor allocates: when the ring is full the sample is dropped and
 * counted.
 */
#pragma once

#include "base/ring.h"
#include "model/sample.h"

enum { TAKT_JOURNAL_SLOTS = 1024 };

struct takt_journal_slot {
    _Alignas(64) takt__turn turn;
    struct takt_sample sample;
};

struct takt_journal {
    struct takt_ring ring;
    struct takt_journal_slot slot[TAKT_JOURNAL_SLOTS];
};

void takt__journal_init(struct takt_journal *journal);

/* False: full; the drop was counted. */
bool takt__journal_push(struct takt_journal *journal,
                        const struct takt_sample *sample);

/* How many there are, those included that are being written just now. To other
 * threads than the one that takes them out, about that many. */
uint64_t takt__journal_count(const struct takt_journal *journal);

/* Takes the oldest sample out; false: there is none. One thread at a time. */
bool takt__journal_next(struct takt_journal *journal, struct takt_sample *out);
