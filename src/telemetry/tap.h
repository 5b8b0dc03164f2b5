/* SPDX-License-Identifier: MIT */
/*
 * tap.h - what callers see of telemetry: counters, and a ring for notes.
 *
 * A context without a tap has no telemetry, and its calls look no further. With
 * one, every call adds to counters of its own thread; and unless its op is hot
 * it is timed and, if it is worth telling of, leaves a note. Nothing here
 * waits, allocates or fails: what has no room is counted.
 *
 * Threads: callers use count(), is_quiet(), told() and push(); what is for
 * Takt's own thread says so.
 */
#ifndef TAKT_TELEMETRY_TAP_H
#define TAKT_TELEMETRY_TAP_H

#include "base/ring.h"
#include "base/worker.h"
#include "op/key.h"
#include "telemetry/note.h"

enum {
    TAKT_TAP_SLOTS = 4096,
    TAKT_TALLIES = 64 /* threads with counters of their own; the rest share */
};

/* What the calls of one thread, or of several, add up to. */
struct takt_tally {
    _Alignas(64) _Atomic uintptr_t owner; /* a thread; 0: free */
    _Atomic uint64_t decisions[TAKT_REASONS];
    _Atomic uint64_t calls[TAKT_SERIES_COUNT];
};

struct takt_tap_slot {
    _Alignas(64) takt__turn turn;
    struct takt_note note;
};

/* What is known about a series: whether it is hot; and above that bit, how many
 * of its next calls are told of because its speed has changed. */
enum {
    TAKT_SERIES_HOT = 1,
    TAKT_SERIES_DRIFT = 2, /* one such call ... */
    TAKT_SERIES_DRIFT_BEGINS =
        16 * TAKT_SERIES_DRIFT /* ... and how many it are */
};

struct takt_tap {
    uint64_t serial;            /* no two taps have the same */
    _Atomic uint64_t threshold; /* ticks: from here on a run is told of */
    _Atomic uint64_t share;     /* of faster ones, in 2^-32 */
    _Atomic bool is_all;        /* somebody wants every call */
    struct takt_courier *courier;
    struct takt_worker *worker; /* the courier's */
    _Atomic uint8_t series[TAKT_SERIES_COUNT];
    struct takt_tally tally[TAKT_TALLIES + 1]; /* the last is shared */
    struct takt_ring ring;
    struct takt_tap_slot slot[TAKT_TAP_SLOTS];
};

/* Takes the notes out (courier.h); it has to be started after a fork(). */
struct takt_courier;
void takt__courier_start(struct takt_courier *courier);

/* What a thread knows of the tap it last used, and whose spans its calls
 * belong to. */
struct takt_tap_thread {
    uint64_t serial; /* of the tap */
    struct takt_tally *tally;
    uint64_t id; /* as the system counts; 0: not asked yet */
    takt_span_context parent;
};
extern _Thread_local struct takt_tap_thread takt__tap_thread
    __attribute__((tls_model("initial-exec")));

/* NULL: no memory. */
struct takt_tap *takt__tap_create(void);
void takt__tap_destroy(struct takt_tap *tap); /* NULL is allowed */

/* All counters 0 and no notes: in the child of a fork(). */
void takt__tap_reset(struct takt_tap *tap);

/* Finds or takes counters for this thread. */
struct takt_tally *takt__tap_meet(struct takt_tap *tap);

static inline void takt__tally_add(const struct takt_tally *tally,
                                   _Atomic uint64_t *counter, uint64_t n)
{
    /* Nobody else writes to counters that have an owner. */
    if (atomic_load_explicit(&tally->owner, memory_order_relaxed) != 0)
        atomic_store_explicit(
            counter, atomic_load_explicit(counter, memory_order_relaxed) + n,
            memory_order_relaxed);
    else
        atomic_fetch_add_explicit(counter, n, memory_order_relaxed);
}

/* Counts a call, which stands for n of them. */
static inline void takt__tap_count(struct takt_tap *tap, unsigned series,
                                   takt_reason reason, uint64_t n)
{
    struct takt_tally *tally = takt__tap_thread.serial == tap->serial
                                   ? takt__tap_thread.tally
                                   : takt__tap_meet(tap);

    takt__tally_add(tally, &tally->calls[series], n);
    takt__tally_add(tally, &tally->decisions[reason], n);
}

/* Whether calls of a series are told of in metrics alone. */
static inline bool takt__tap_is_quiet(const struct takt_tap *tap,
                                      unsigned series)
{
    return atomic_load_explicit(&tap->series[series], memory_order_relaxed) ==
               TAKT_SERIES_HOT &&
           !atomic_load_explicit(&tap->is_all, memory_order_relaxed);
}

/* Why a run of so many ticks is told of; 0: it is not. `random` is any 32
 * bits. */
unsigned takt__tap_told(struct takt_tap *tap, unsigned series,
                        takt_reason reason, bool is_refused, uint64_t ticks,
                        uint32_t random);

/* Leaves a note; the thread's number is filled in here. */
void takt__tap_push(struct takt_tap *tap, struct takt_note *note);

/* Counts a note that will not be left after all. */
static inline void takt__tap_drop(struct takt_tap *tap)
{
    atomic_fetch_add_explicit(&tap->ring.dropped, 1, memory_order_relaxed);
}

/* ---- for Takt's own thread -------------------------------------------------
 */

/* Takes the oldest note out; false: there is none. */
bool takt__tap_next(struct takt_tap *tap, struct takt_note *out);

/* Sums of all threads: calls by the number of their op (takt__series_op()),
 * decisions by reason. */
void takt__tap_sums(const struct takt_tap *tap, uint64_t calls[TAKT_OP_NUMBERS],
                    uint64_t decisions[TAKT_REASONS]);

/* How many ops are hot. From any thread. */
unsigned takt__tap_hot_ops(const struct takt_tap *tap);

/* Sets or clears a bit of all series of an op. */
void takt__tap_mark_op(struct takt_tap *tap, unsigned op, unsigned bit,
                       bool is_set);

#endif
