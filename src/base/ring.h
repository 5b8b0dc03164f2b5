/* SPDX-License-Identifier: MIT */
/*
 * ring.h - slots that many threads fill and one empties, without waiting.
 *
 * Each slot has a turn: the number of the push that may fill it, and one more
 * once it is filled. A push that finds its slot taken finds the ring full: it
 * is counted and nothing else happens. The slots are the owner's: an array
 * whose elements begin with their turn.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct takt_ring {
    _Alignas(64) _Atomic uint64_t head; /* next to be written */
    _Alignas(64) _Atomic uint64_t tail; /* next to be read */
    _Atomic uint64_t dropped;
};

typedef _Atomic uint64_t takt__turn;

/* Where the slots of a ring are. */
struct takt_slots_of {
    void *first;
    size_t stride;  /* bytes */
    uint64_t count; /* a power of two */
};

static inline takt__turn *takt__ring_slot(struct takt_slots_of slots,
                                          uint64_t at)
{
    return (takt__turn *)(void *)((char *)slots.first +
                                  (at & (slots.count - 1)) * slots.stride);
}

static inline void takt__ring_init(struct takt_ring *ring,
                                   struct takt_slots_of slots)
{
    atomic_init(&ring->head, 0);
    atomic_init(&ring->tail, 0);
    atomic_init(&ring->dropped, 0);
    for (uint64_t i = 0; i < slots.count; i++)
        atomic_init(takt__ring_slot(slots, i), i);
}

/* A slot to be filled, and then given to takt__ring_filled() with *at. NULL:
 * full; the drop was counted. */
static inline takt__turn *takt__ring_claim(struct takt_ring *ring,
                                           struct takt_slots_of slots,
                                           uint64_t *at)
{
    *at = atomic_load_explicit(&ring->head, memory_order_relaxed);
    for (;;) {
        takt__turn *slot = takt__ring_slot(slots, *at);
        const uint64_t turn = atomic_load_explicit(slot, memory_order_acquire);
        if (turn == *at) {
            if (atomic_compare_exchange_weak_explicit(&ring->head, at, *at + 1,
                                                      memory_order_seq_cst,
                                                      memory_order_relaxed))
                return slot;
        } else if ((int64_t)(turn - *at) < 0) {
            atomic_fetch_add_explicit(&ring->dropped, 1, memory_order_relaxed);
            return NULL;
        } else {
            *at = atomic_load_explicit(&ring->head, memory_order_relaxed);
        }
    }
}

static inline void takt__ring_filled(takt__turn *slot, uint64_t at)
{
    atomic_store_explicit(slot, at + 1, memory_order_release);
}

/* How many there are, those included that are being filled just now. By
 * the thread that empties it. */
static inline uint64_t takt__ring_count(const struct takt_ring *ring)
{
    return atomic_load(&ring->head) - atomic_load(&ring->tail);
}

/* The oldest slot that is filled, to be read and then given back; NULL: there
 * is none. One thread at a time. */
static inline takt__turn *takt__ring_oldest(struct takt_ring *ring,
                                            struct takt_slots_of slots)
{
    const uint64_t at = atomic_load_explicit(&ring->tail, memory_order_relaxed);
    takt__turn *slot = takt__ring_slot(slots, at);

    return atomic_load_explicit(slot, memory_order_acquire) == at + 1 ? slot
                                                                      : NULL;
}

static inline void takt__ring_emptied(struct takt_ring *ring,
                                      struct takt_slots_of slots,
                                      takt__turn *slot)
{
    const uint64_t at = atomic_load_explicit(&ring->tail, memory_order_relaxed);

    atomic_store_explicit(slot, at + slots.count, memory_order_release);
    atomic_store_explicit(&ring->tail, at + 1, memory_order_relaxed);
}
