/* SPDX-License-Identifier: MIT */
/*
 * journal.c - a ring in which every slot has a turn.
 *
 * Slot i is free for the writer whose position is its turn, and full for the
 * reader when the turn is one more. A writer claims a position by moving the
 * head, writes, and raises the turn; the reader raises it by a whole round, so
 * that the slot is free for the next one.
 *
 * The head moves in the order of all sequentially consistent accesses: whoever
 * pushes and then looks at something, and whoever sets that and then counts,
 * cannot miss each other (learn/learner.c).
 */
#include "observe/journal.h"

enum { mask = TAKT_JOURNAL_SLOTS - 1 };

_Static_assert((TAKT_JOURNAL_SLOTS & mask) == 0, "a power of two");

void takt__journal_init(struct takt_journal *journal)
{
    atomic_init(&journal->head, 0);
    atomic_init(&journal->tail, 0);
    atomic_init(&journal->dropped, 0);
    for (uint64_t i = 0; i < TAKT_JOURNAL_SLOTS; i++)
        atomic_init(&journal->slot[i].turn, i);
}

bool takt__journal_push(struct takt_journal *journal,
                        const struct takt_sample *sample)
{
    uint64_t at = atomic_load_explicit(&journal->head, memory_order_relaxed);

    for (;;) {
        struct takt_journal_slot *slot = &journal->slot[at & mask];
        const uint64_t turn =
            atomic_load_explicit(&slot->turn, memory_order_acquire);
        if (turn == at) {
            if (atomic_compare_exchange_weak_explicit(
                    &journal->head, &at, at + 1, memory_order_seq_cst,
                    memory_order_relaxed)) {
                slot->sample = *sample;
                atomic_store_explicit(&slot->turn, at + 1,
                                      memory_order_release);
                return true;
            }
        } else if ((int64_t)(turn - at) < 0) {
            atomic_fetch_add_explicit(&journal->dropped, 1,
                                      memory_order_relaxed);
            return false;
        } else {
            at = atomic_load_explicit(&journal->head, memory_order_relaxed);
        }
    }
}

uint64_t takt__journal_count(const struct takt_journal *journal)
{
    return atomic_load(&journal->head) - atomic_load(&journal->tail);
}

bool takt__journal_next(struct takt_journal *journal, struct takt_sample *out)
{
    const uint64_t at =
        atomic_load_explicit(&journal->tail, memory_order_relaxed);
    struct takt_journal_slot *slot = &journal->slot[at & mask];

    if (atomic_load_explicit(&slot->turn, memory_order_acquire) != at + 1)
        return false;
    *out = slot->sample;
    atomic_store_explicit(&slot->turn, at + TAKT_JOURNAL_SLOTS,
                          memory_order_release);
    atomic_store_explicit(&journal->tail, at + 1, memory_order_relaxed);
    return true;
}
