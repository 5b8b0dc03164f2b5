/* SPDX-License-Identifier: MIT */
/*
 * journal.c - samples in a ring (base/ring.h).
 *
 * The head moves in the order of all sequentially consistent accesses: a caller
 * that pushes and then reads a flag, and a thread that sets the flag and then
 * counts, cannot miss each other (learn/learner.c).
 */
#include "observe/journal.h"

#include "base/lock.h"

_Static_assert((TAKT_JOURNAL_SLOTS & (TAKT_JOURNAL_SLOTS - 1)) == 0,
               "a power of two");

static inline struct takt_slots_of slots_of(struct takt_journal *journal)
{
    return (struct takt_slots_of){.first = journal->slot,
                                  .stride = sizeof journal->slot[0],
                                  .count = TAKT_JOURNAL_SLOTS};
}

static inline struct takt_journal_slot *journal_slot(takt__turn *turn)
{
    return (struct takt_journal_slot *)(void *)turn;
}

void takt__journal_init(struct takt_journal *journal)
{
    takt__ring_init(&journal->ring, slots_of(journal));
}

/* Not to be cancelled: nothing behind a slot that stays unfilled is read. */
bool takt__journal_push(struct takt_journal *journal,
                        const struct takt_sample *sample)
{
    const int cancel = takt__cancel_defer();
    uint64_t at;

    takt__turn *slot = takt__ring_claim(&journal->ring, slots_of(journal), &at);
    if (slot != NULL) {
        journal_slot(slot)->sample = *sample;
        takt__ring_filled(slot, at);
    }
    takt__cancel_undefer(cancel);
    return slot != NULL;
}

uint64_t takt__journal_count(const struct takt_journal *journal)
{
    return takt__ring_count(&journal->ring);
}

bool takt__journal_next(struct takt_journal *journal, struct takt_sample *out)
{
    takt__turn *slot = takt__ring_oldest(&journal->ring, slots_of(journal));

    if (slot == NULL)
        return false;
    *out = journal_slot(slot)->sample;
    takt__ring_emptied(&journal->ring, slots_of(journal), slot);
    return true;
}
