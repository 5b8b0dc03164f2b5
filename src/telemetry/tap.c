/* SPDX-License-Identifier: MIT */
/* tap.c - counters of threads, and the ring of event records. */
#define _GNU_SOURCE /* syscall() */
#include "telemetry/tap.h"

#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/lock.h"

_Thread_local struct takt_tap_thread takt__tap_thread;

static _Atomic uint64_t last_serial;

static inline struct takt_slots_of slots_of(const struct takt_tap *tap)
{
    return (struct takt_slots_of){.first = (void *)tap->slot,
                                  .stride = sizeof tap->slot[0],
                                  .count = TAKT_TAP_SLOTS};
}

static inline struct takt_event_record *record_in(takt__turn *slot)
{
    return &((struct takt_tap_slot *)(void *)slot)->record;
}

struct takt_tap *takt__tap_create(void)
{
    struct takt_tap *tap = aligned_alloc(64, sizeof *tap);

    if (tap == NULL)
        return NULL;
    memset(tap, 0, sizeof *tap);
    takt__tap_reset(tap);
    return tap;
}

void takt__tap_destroy(struct takt_tap *tap)
{
    free(tap);
}

void takt__tap_reset(struct takt_tap *tap)
{
    tap->serial = atomic_fetch_add(&last_serial, 1) + 1;
    memset((void *)tap->counters, 0, sizeof tap->counters);
    memset((void *)tap->series, 0, sizeof tap->series);
    takt__ring_init(&tap->ring, slots_of(tap));
}

/* A thread that ended leaves its counters to the next one with its address:
 * what they count stays in the sums. */
struct takt_thread_counters *takt__tap_register(struct takt_tap *tap)
{
    const uintptr_t self = (uintptr_t)&takt__tap_thread;
    struct takt_thread_counters *found = &tap->counters[TAKT_TAP_THREADS];

    for (unsigned i = 0; i < TAKT_TAP_THREADS; i++) {
        uintptr_t owner = 0;
        if (atomic_load(&tap->counters[i].owner) != self &&
            !atomic_compare_exchange_strong(&tap->counters[i].owner, &owner,
                                            self) &&
            owner != self)
            continue;
        found = &tap->counters[i];
        break;
    }
    takt__tap_thread.serial = tap->serial;
    takt__tap_thread.counters = found;
    return found;
}

/* One of the first calls after a change of speed: more would flood the ring. */
static bool is_after_drift(struct takt_tap *tap, unsigned series)
{
    uint8_t state =
        atomic_load_explicit(&tap->series[series], memory_order_relaxed);

    while (state >= TAKT_SERIES_DRIFT)
        if (atomic_compare_exchange_weak_explicit(
                &tap->series[series], &state,
                (uint8_t)(state - TAKT_SERIES_DRIFT), memory_order_relaxed,
                memory_order_relaxed))
            return true;
    return false;
}

unsigned takt__tap_emits(struct takt_tap *tap, unsigned series,
                         takt_reason reason, bool is_refused, uint64_t ticks,
                         uint32_t random)
{
    unsigned why = 0;

    if (reason == TAKT_REASON_EXPLORE)
        why |= TAKT_TOLD_EXPLORED;
    if (is_refused || reason == TAKT_REASON_FALLBACK)
        why |= TAKT_TOLD_FALLBACK;
    if (is_after_drift(tap, series))
        why |= TAKT_TOLD_DRIFT;
    if (atomic_load_explicit(&tap->is_all, memory_order_relaxed))
        why |= TAKT_TOLD_ALL;
    if ((atomic_load_explicit(&tap->series[series], memory_order_relaxed) &
         TAKT_SERIES_HOT) != 0) /* no spans of a hot op */
        return why;
    if (ticks >= atomic_load_explicit(&tap->threshold, memory_order_relaxed))
        why |= TAKT_TOLD_SLOW;
    else if (random < atomic_load_explicit(&tap->share, memory_order_relaxed))
        why |= TAKT_TOLD_DRAWN;
    return why;
}

/* A dispatcher that is awake rests between two looks, which ends when half of
 * the slots are filled. */
static void wake(struct takt_tap *tap, bool is_half_full)
{
    const uint32_t state = atomic_load(&tap->worker->state);

    if (state == TAKT_WORKER_NONE)
        tap->start(tap->dispatcher);
    else if (state == TAKT_WORKER_ASLEEP)
        takt__worker_wake(tap->worker);
    else if (state == TAKT_WORKER_AWAKE && is_half_full)
        takt__worker_hurry(tap->worker);
}

/* False: there is no room. */
static bool put(struct takt_tap *tap, const struct takt_event_record *record,
                uint64_t *at)
{
    takt__turn *slot = takt__ring_claim(&tap->ring, slots_of(tap), at);

    if (slot == NULL)
        return false;
    *record_in(slot) = *record;
    takt__ring_filled(slot, *at);
    return true;
}

/* Not to be cancelled: nothing behind a slot that stays unfilled is read. */
void takt__tap_push(struct takt_tap *tap, struct takt_event_record *record)
{
    uint64_t at;

    if (takt__tap_thread.id == 0)
        takt__tap_thread.id = (uint64_t)syscall(SYS_gettid);
    record->thread_id = takt__tap_thread.id;
    const int cancel = takt__cancel_defer();
    if (put(tap, record, &at))
        wake(tap, at % (TAKT_TAP_SLOTS / 2) == 0);
    takt__cancel_undefer(cancel);
}

bool takt__tap_next(struct takt_tap *tap, struct takt_event_record *out)
{
    takt__turn *slot = takt__ring_oldest(&tap->ring, slots_of(tap));

    if (slot == NULL)
        return false;
    *out = *record_in(slot);
    takt__ring_emptied(&tap->ring, slots_of(tap), slot);
    return true;
}

/* ---- series and ops ------------------------------------------------------ */

void takt__tap_sums(const struct takt_tap *tap, uint64_t calls[TAKT_OP_NUMBERS],
                    uint64_t decisions[TAKT_REASONS])
{
    memset(calls, 0, TAKT_OP_NUMBERS * sizeof *calls);
    memset(decisions, 0, TAKT_REASONS * sizeof *decisions);
    for (unsigned t = 0; t <= TAKT_TAP_THREADS; t++) {
        const struct takt_thread_counters *counters = &tap->counters[t];
        if (t < TAKT_TAP_THREADS && atomic_load(&counters->owner) == 0)
            continue;
        for (unsigned r = 0; r < TAKT_REASONS; r++)
            decisions[r] += atomic_load_explicit(&counters->decisions[r],
                                                 memory_order_relaxed);
        for (unsigned series = 0; series < TAKT_SERIES_LINKS; series++) {
            const uint64_t count = atomic_load_explicit(
                &counters->calls[series], memory_order_relaxed);
            if (count > 0)
                calls[takt__series_op(series)] += count;
        }
    }
}

unsigned takt__tap_hot_ops(const struct takt_tap *tap)
{
    unsigned count = 0, last = TAKT_OP_NUMBERS;

    for (unsigned series = 0; series < TAKT_SERIES_LINKS; series++) {
        const unsigned op =
            takt__series_op(series); /* its series are in a row */
        if (op != last &&
            (atomic_load(&tap->series[series]) & TAKT_SERIES_HOT) != 0)
            count++;
        last = op;
    }
    return count;
}

void takt__tap_mark_op(struct takt_tap *tap, unsigned op, unsigned bit,
                       bool is_set)
{
    for (unsigned series = 0; series < TAKT_SERIES_LINKS; series++) {
        if (takt__series_op(series) != op)
            continue;
        if (is_set)
            atomic_fetch_or(&tap->series[series], (uint8_t)bit);
        else
            atomic_fetch_and(&tap->series[series], (uint8_t)~bit);
    }
}
