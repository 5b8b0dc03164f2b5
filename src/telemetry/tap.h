/* SPDX-License-Identifier: MIT */
/*
 * tap.h - the callers' side of telemetry: counters, and a ring of event
 * records.
 *
 * A context without a tap has no telemetry, and its calls look no further. With
 * one, every call adds to counters of its own thread. Unless its op is hot it
 * is timed, and it leaves an event record if it is to be emitted. Nothing here
 * waits, allocates or fails: what does not fit is counted.
 *
 * Threads: callers use count(), is_quiet(), emits() and push(); what is for the
 * dispatcher says so.
 */
#pragma once

#include "base/ring.h"
#include "base/worker.h"
#include "op/key.h"
#include "takt/telemetry.h"

enum {
    TAKT_TAP_SLOTS = 4096,
    TAKT_TAP_THREADS = 64 /* with counters of their own; the rest share */
};

/* What the calls of one thread, or of several, add up to. */
struct takt_thread_counters {
    _Alignas(64) _Atomic uintptr_t owner; /* a thread; 0: free */
    _Atomic uint64_t decisions[TAKT_REASONS];
    _Atomic uint64_t calls[TAKT_SERIES_COUNT];
};

/* What a caller leaves of a call that is emitted: numbers instead of names. The
 * dispatcher makes a takt_event of it. */
struct takt_event_record {
    const takt_op *op; /* NULL: the series says it */
    takt_shape shape;
    takt_work work;
    uint8_t kind; /* takt_event_kind */
    uint8_t told; /* why: TAKT_TOLD_... */
    uint8_t dtype;
    uint8_t expert;    /* the one that ran it, by its number */
    uint8_t runner_up; /* an expert; the same as `best`: not known */
    uint8_t best;      /* the expert that the model took for the best */
    uint8_t refused;   /* an expert; the same as `expert`: none refused */
    uint8_t reason, residency;
    uint8_t refusal, status; /* takt_status */
    bool has_history;
    uint16_t series;
    float confidence;
    double predicted_s;
    double actual_s;          /* of a change */
    uint64_t start, run, end; /* ticks */
    uint64_t thread_id;
    takt_span_context parent;
};

struct takt_tap_slot {
    _Alignas(64) takt__turn turn;
    struct takt_event_record record;
};

/* The state of a series: whether it is hot; and above that bit, how many of its
 * next calls are emitted because its speed has changed. */
enum {
    TAKT_SERIES_HOT = 1,
    TAKT_SERIES_DRIFT = 2,                            /* one such call ... */
    TAKT_SERIES_DRIFT_BEGINS = 16 * TAKT_SERIES_DRIFT /* ... and all of them */
};

struct takt_dispatcher;

struct takt_tap {
    uint64_t serial;            /* no two taps have the same */
    _Atomic uint64_t threshold; /* ticks: from here on a run is emitted */
    _Atomic uint64_t share;     /* of faster ones, in 2^-32 */
    _Atomic bool is_all;        /* a sink wants every call */
    void (*start)(struct takt_dispatcher *dispatcher); /* its thread */
    struct takt_dispatcher *dispatcher;
    struct takt_worker *worker; /* its thread; started anew after a fork() */
    _Atomic uint8_t series[TAKT_SERIES_COUNT];
    struct takt_thread_counters
        counters[TAKT_TAP_THREADS + 1]; /* the last is shared */
    struct takt_ring ring;
    struct takt_tap_slot slot[TAKT_TAP_SLOTS];
};

/* The tap that a thread last used, and the span that its calls belong to. */
struct takt_tap_thread {
    uint64_t serial; /* of the tap */
    struct takt_thread_counters *counters;
    uint64_t id; /* of the system; 0: not asked yet */
    takt_span_context parent;
};
extern _Thread_local struct takt_tap_thread takt__tap_thread
    __attribute__((tls_model("initial-exec")));

/* NULL: no memory. */
struct takt_tap *takt__tap_create(void);
void takt__tap_destroy(struct takt_tap *tap); /* NULL is allowed */

/* All counters 0 and no records: in the child of a fork(). */
void takt__tap_reset(struct takt_tap *tap);

/* Finds or takes counters for this thread. */
struct takt_thread_counters *takt__tap_register(struct takt_tap *tap);

static inline void
takt__counter_add(const struct takt_thread_counters *counters,
                  _Atomic uint64_t *counter, uint64_t n)
{
    /* Only their owner writes to counters that have one. */
    if (atomic_load_explicit(&counters->owner, memory_order_relaxed) != 0)
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
    struct takt_thread_counters *counters =
        takt__tap_thread.serial == tap->serial ? takt__tap_thread.counters
                                               : takt__tap_register(tap);

    takt__counter_add(counters, &counters->calls[series], n);
    takt__counter_add(counters, &counters->decisions[reason], n);
}

/* Whether calls of a series are in metrics alone. */
static inline bool takt__tap_is_quiet(const struct takt_tap *tap,
                                      unsigned series)
{
    return atomic_load_explicit(&tap->series[series], memory_order_relaxed) ==
               TAKT_SERIES_HOT &&
           !atomic_load_explicit(&tap->is_all, memory_order_relaxed);
}

/* Why a run of so many ticks is emitted (TAKT_TOLD_...); 0: it is not. `random`
 * is any 32 bits. */
unsigned takt__tap_emits(struct takt_tap *tap, unsigned series,
                         takt_reason reason, bool is_refused, uint64_t ticks,
                         uint32_t random);

/* Leaves an event record; the thread's number is filled in here. */
void takt__tap_push(struct takt_tap *tap, struct takt_event_record *record);

/* Counts an event record that could not be left. */
static inline void takt__tap_drop(struct takt_tap *tap)
{
    atomic_fetch_add_explicit(&tap->ring.dropped, 1, memory_order_relaxed);
}

/* ---- for the dispatcher -------------------------------------------------- */

/* Takes the oldest event record out; false: there is none. */
bool takt__tap_next(struct takt_tap *tap, struct takt_event_record *out);

/* Sums of all threads: calls by the number of their op (takt__series_op()),
 * decisions by reason. */
void takt__tap_sums(const struct takt_tap *tap, uint64_t calls[TAKT_OP_NUMBERS],
                    uint64_t decisions[TAKT_REASONS]);

/* How many ops are hot. From any thread. */
unsigned takt__tap_hot_ops(const struct takt_tap *tap);

/* Sets or clears a bit of all series of an op. */
void takt__tap_mark_op(struct takt_tap *tap, unsigned op, unsigned bit,
                       bool is_set);
