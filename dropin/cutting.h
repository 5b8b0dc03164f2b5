/* SPDX-License-Identifier: MIT */
/*
 * cutting.h - whether syrk calls of one kind are left whole, in the baseline
 * library, or cut into products that one of Takt's experts runs.
 *
 * syrk is no op of Takt's, so no model says what it takes. What counts is what
 * calls take in place. Now and then the other way is tried beside a call, on
 * memory of its own. A trial says little: it finds warm caches and pages, and
 * the spinning threads of the way before. So where trials are promising, calls
 * go the other way on probation, and back if they do not get faster.
 *
 * Threads: none waits for another. Of two that have something to add at the
 * same moment one is not heard.
 */
#ifndef TAKT_DROPIN_CUTTING_H
#define TAKT_DROPIN_CUTTING_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "route.h"
#include "triangular.h"

enum { TAKT_CUTTING_RECENT = 7, TAKT_CUTTING_KINDS = 64 };

/* The last few of some numbers. */
struct takt_recent {
    float number[TAKT_CUTTING_RECENT];
    unsigned count; /* of all there were */
};

struct takt_cutting_kind {
    const struct takt_route *route;
    uint8_t is_double, is_transposed, n_class, k_class;
};

struct takt_cutting {
    struct takt_cutting_kind kind;
    size_t expert;       /* that runs the products (takt_run_on()) */
    _Atomic bool is_cut; /* which way calls go */
    _Atomic float gain;  /* time whole / time cut, in place; 0: not known */
    atomic_flag is_busy; /* a thread reads or writes what follows */
    bool is_on_probation;
    struct takt_recent place[2]; /* ns per work of calls: whole, cut */
    struct takt_recent trial;    /* the other way's time / the call's */
    uint64_t way_ns;             /* of calls since the way changed */
    uint64_t patience_ns;        /* until it may change again */
};

/* The state of the call's kind. NULL: there is none, since Takt has no expert
 * for the products, or there are too many kinds. */
struct takt_cutting *takt__cutting_of(const struct takt_route *route,
                                      const struct takt_triangular *call);

/* A call that went one way. True: try the other one now. All trials together
 * have one percent of the time of all calls, and an advance of 2 ms. */
bool takt__cutting_ran(struct takt_cutting *cutting, bool was_cut, uint64_t ns,
                       double work);

/* The trial beside that call: its time, and what it cost in all. */
void takt__cutting_tried(struct takt_cutting *cutting, uint64_t call_ns,
                         uint64_t trial_ns, uint64_t cost_ns);

/* The first product that cutting makes. */
takt_shape takt__first_product(const struct takt_triangular *call);

#endif
